"""Building a layer: the names of its variables, and the wrapper around the user's `build`."""

import functools

from framework.core import deferred
from framework.core.recorders import pause_all, thread
from framework.core.symbolic import calling
from framework.layers.call_signature import signature_of


class naming:
    """A context manager in which the names of new variables start with the layer's path."""

    def __init__(self, layer):
        self._layer = layer

    def __enter__(self):
        self._saved = thread.scope, thread.scope_of
        innermost, known = thread.scope_of
        names, link = [], thread.call
        while link is not None and link is not known:
            names.append(link[0].name)
            link = link[2]
        if names:
            innermost = thread.call[0]
        names.reverse()
        if innermost is not self._layer:
            names.append(self._layer.name)
        thread.scope = (*thread.scope, *names)
        thread.scope_of = (self._layer, thread.call)
        return "/".join(thread.scope)

    def __exit__(self, *_):
        thread.scope, thread.scope_of = self._saved


class making_variables:
    """A context manager for creating variables: it suspends symbolic calls, tapes and traces."""

    def __init__(self):
        self._contexts = calling(None), pause_all()

    def __enter__(self):
        for context in self._contexts:
            context.__enter__()

    def __exit__(self, *_):
        for context in reversed(self._contexts):
            context.__exit__(None, None, None)


def around(build):
    """Wrap `build`: variable names get the layer's path; then the layer is built and locked."""

    @functools.wraps(build)
    def wrapper(self, *args, **kwargs):
        record = self._framework
        # this is `super().build()`, called by an overriding `build` that is wrapped too
        if record.building:
            return build(self, *args, **kwargs)
        record.building = True
        try:
            with naming(self) as path, calling(None):
                record.path = path
                build(self, *args, **kwargs)
        finally:
            record.building = False
        names = signature_of(self).build_names or ["input_shape"]
        return finish_build(self, {**dict(zip(names, args)), **kwargs})

    return wrapper


def finish_build(layer, shapes):
    """Mark a layer as built; `shapes` holds its input shapes by argument name, or is None."""
    if shapes is not None:
        layer._framework.build_shapes = shapes
    layer.built = True
    lock(layer)
    if deferred.waiting:
        deferred.fill()


def lock(layer):
    """Forbid new variables and inner layers, except in functional and Sequential models."""
    if type(layer)._framework.locks:
        layer._framework.locked = True
