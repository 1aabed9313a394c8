"""A recorder that makes a flat list of steps of one run, and runs the list on new data.

The compiler in miniature: it learns all it knows from the five events. Inputs are declared; any
other tensor that no event gave is a constant, as are numbers and attributes.
"""

import numpy as np

from framework.core import nest, recorders
from framework.core.tensor import Tensor


class MissError(Exception):
    """Python reads another value than in the recorded call."""


class Replay(recorders.Recorder):
    """Records `function(*inputs)`; `result` is its result."""

    replays = True

    def __init__(self, function, *inputs):
        self.steps, self._slots, self._alive = [], {}, []
        self._inputs = self._made(inputs)
        recorders.push(self)
        try:
            self.result = function(*inputs)
        finally:
            recorders.remove(self)

    def _made(self, tensors):
        """Return slots for new tensors, which are kept alive so that ids stay unique."""
        first = len(self._alive)
        self._alive.extend(tensors)
        self._slots.update((id(t), first + i) for i, t in enumerate(tensors))
        return list(range(first, len(self._alive)))

    def _slot(self, value):
        """Return the slot of a value, or a tuple with a constant."""
        constant = (value.array if type(value) is Tensor else value,)
        return self._slots.get(id(value), constant)

    # ---- the five events ----

    def op(self, op, args, attrs, outputs, saved):
        reads = [self._slot(a) for a in args]
        self.steps.append((self._op, op, reads, attrs, self._made((*outputs, *(saved or ())))))

    def _op(self, op, reads, attrs, makes):
        found = op.forward(*map(self._get, reads), **attrs)
        found, saved = found if op.saves else (found, ())
        arrays = map(np.asarray, (*((found,) if op.outputs == 1 else found), *saved))
        self._values.update(zip(makes, arrays, strict=True))

    def variable_read(self, variable, tensor):
        self.steps.append((self._variable_read, variable, *self._made([tensor])))

    def _variable_read(self, variable, slot):
        self._values[slot] = self._held.get(variable.serial, (None, variable.array))[1]

    def variable_assigned(self, variable, value):
        self.steps.append((self._variable_assigned, variable, self._slot(value)))

    def _variable_assigned(self, variable, slot):
        self._held[variable.serial] = variable, self._get(slot)

    def random_draw(self, draw, tensor):
        self.steps.append((self._random_draw, draw, *self._made([tensor])))

    def _random_draw(self, draw, slot):
        if hasattr(draw.source, "state"):
            self._drawn.append((draw.source.state, draw.source.state.array))
        self._values[slot] = draw()

    def value_read(self, tensor, how):
        if id(tensor) in self._slots:
            self.steps.append((self._value_read, tensor.array, self._slots[id(tensor)]))

    def _value_read(self, recorded, slot):
        if (self._values[slot] != recorded).any():
            raise MissError(f"recorded with {recorded}, now {self._values[slot]}")

    def _get(self, slot):
        return slot[0] if type(slot) is tuple else self._values[slot]

    def __call__(self, *inputs):
        """Return the result for new inputs. A MissError changes no variable or generator."""
        self._values = dict(zip(self._inputs, [t.array for t in inputs], strict=True))
        self._held, self._drawn = {}, []  # new values of variables; generators' states before
        try:
            for run, *step in self.steps:
                run(*step)
        except MissError:
            self._held = dict(enumerate(reversed(self._drawn)))
            raise
        finally:
            for variable, array in self._held.values():
                variable.hold(array)
        made = lambda leaf: Tensor(self._get(self._slot(leaf))) if type(leaf) is Tensor else leaf
        return nest.map_structure(made, self.result)
