"""The parameters of a layer class's `call` and `build`, inspected once per class."""

import inspect


class CallSignature:
    """The parameters of a layer class's `call` and `build`."""

    def __init__(self, cls, default_build):
        parameters = list(inspect.signature(cls.call).parameters.values())[1:]
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.names = [p.name for p in named]
        self.first = self.names[0] if self.names else None
        self.takes_training = "training" in self.names
        # the value of `training` if neither this call nor an outer call passes one
        self.training = None
        if self.takes_training:
            default = named[self.names.index("training")].default
            # Layers written for Keras 2 may declare `training` without a default, which means
            # False.
            self.training = False if default is inspect.Parameter.empty else default
        self.required = [
            p.name for p in named if p.default is p.empty and p.name not in ("training", "mask")
        ]
        self.masks = [n for n in self.names if n == "mask" or n.endswith("_mask")]
        self.build_names = None
        if cls.build is not default_build:
            shapes = list(inspect.signature(cls.build).parameters.values())[1:]
            self.build_names = [p.name for p in shapes if p.kind is not p.VAR_KEYWORD]

    def bind(self, args, kwargs):
        """Return the arguments of a call by name."""
        return {**dict(zip(self.names, args)), **kwargs}


def signature_of(layer):
    """Return the CallSignature of a layer's class."""
    record = type(layer)._framework
    if record.signature is None:
        record.signature = CallSignature(type(layer), record.default_build)
    return record.signature
