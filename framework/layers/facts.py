"""What the signatures of a layer class's `call` and `build` say, looked up once per class."""

import inspect


class Facts:
    """What the signatures of a class's `call` and `build` say, looked up once per class."""

    def __init__(self, cls, default_build):
        parameters = list(inspect.signature(cls.call).parameters.values())[1:]
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.names = [p.name for p in named]
        self.first = self.names[0] if self.names else None
        self.takes_training = "training" in self.names
        self.training = None  # what it is where the call and those around it do not say
        if self.takes_training:
            default = named[self.names.index("training")].default
            # Without a default, as Keras 2's layers have it, False where nothing else is said.
            self.training = False if default is inspect.Parameter.empty else default
        self.masks = [n for n in self.names if n == "mask" or n.endswith("_mask")]
        self.build_names = None
        if cls.build is not default_build:
            shapes = list(inspect.signature(cls.build).parameters.values())[1:]
            self.build_names = [p.name for p in shapes if p.kind is not p.VAR_KEYWORD]

    def bind(self, args, kwargs):
        """The arguments of a call by name."""
        return {**dict(zip(self.names, args)), **kwargs}


def facts_of(layer):
    """The facts of a layer's class."""
    record = type(layer)._framework
    if record.facts is None:
        record.facts = Facts(type(layer), record.default_build)
    return record.facts
