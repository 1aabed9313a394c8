"""Accumulator: gradients of several batches, added up to those of one batch as large as all."""

import numpy as np

from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.ops.elementwise import divide_no_nan
from framework.ops.slices import IndexedSlices, joined, sliced
from framework.training.gradients import gathered, spread


class Accumulator:
    """Adds up the gradients of `every` batches; `take` gives what one large batch would have given.

    A gradient of mean losses counts by the rows of its batch (or by the sum of its weights, where
    that is what its loss divides by); gradients of summed losses simply add up.

    It computes on arrays, sums in place; on tensors, by ops, in a recorded run that is given what
    it holds as an argument and returns what it holds then: `as_ops`.
    """

    as_ops = False

    def __init__(self, every):
        if isinstance(every, bool) or not hasattr(every, "__index__") or every < 1:
            raise InvalidArgumentError(f"accumulate must be an int >= 1 or None, got {every!r}.")
        self.every = int(every)
        self.clear()

    def clear(self):
        """Forget what was added."""
        self.count = 0
        self.variables = []  # in the order in which they were met
        self._sums = {}  # kind -> {index of the variable: gradient}
        self._weights = {}  # kind -> the sum of weights
        self._fresh = {}  # kind -> (weight, gradients) of a first batch, not multiplied yet

    @property
    def full(self):
        return self.count >= self.every

    def add(self, parts, variables):
        """Add one batch's gradients: [(kind, weight, gradients)], a list for each kind."""
        if not self.as_ops and thread.stack and replaying():
            _leave(parts)
        places = self._places(variables)
        for kind, weight, gradients in parts:
            weight = 1.0 if kind == "sum" else self._number(weight)  # noqa: PLW2901
            if kind not in self._weights:
                self._weights[kind], self._sums[kind] = weight, {}
                self._fresh[kind] = weight, list(zip(places, gradients, strict=True))
                continue
            self._settle(kind)
            self._weights[kind] += weight
            for place, gradient in zip(places, gradients, strict=True):
                self._add(self._sums[kind], place, gradient, weight)
        self.count += 1

    def take(self):
        """(gradients, variables) of all that was added; forgets it."""
        total = [None] * len(self.variables)
        for kind in list(self._weights):
            if kind in self._fresh:  # one batch alone: its own gradients, to the last bit
                found = dict(self._fresh[kind][1])
            else:
                found = self._sums[kind]
                if kind != "sum":
                    share = _inverse(self._weights[kind])
                    found = {place: self._scaled(g, share) for place, g in found.items()}
            for place, gradient in found.items():
                total[place] = self._sum(total[place], gradient)
        variables = self.variables
        self.clear()
        finished = _finished_tensor if self.as_ops else _finished
        return [finished(g, v) for g, v in zip(total, variables, strict=True)], variables

    def _places(self, variables):
        known = {id(v): i for i, v in enumerate(self.variables)}
        for variable in variables:
            if id(variable) not in known:
                known[id(variable)] = len(self.variables)
                self.variables.append(variable)
        return [known[id(v)] for v in variables]

    def _settle(self, kind):
        """Multiply the first batch's gradients by its weight, now that there is a second."""
        if kind in self._fresh:
            weight, rows = self._fresh.pop(kind)
            for place, gradient in rows:
                self._add(self._sums[kind], place, gradient, weight)

    def _number(self, weight):
        return weight if self.as_ops and type(weight) is Tensor else float(weight)

    def _scaled(self, gradient, factor):
        return (_scaled_tensor if self.as_ops else _scaled)(gradient, factor)

    def _sum(self, a, b):
        return _sum(a, b, _itself if self.as_ops else _array)

    def _add(self, sums, place, gradient, weight):
        if gradient is None:
            return
        gradient = self._scaled(gradient, weight)
        have = sums.get(place)
        if type(have) is np.ndarray and type(gradient) is np.ndarray and have.ndim:
            have += gradient  # its own buffer: `_scaled` has made it
        else:
            sums[place] = self._sum(have, gradient)

    # ---- as the argument and the result of a run ----

    def held(self):
        """What was added, a nest of tensors, arrays and texts."""
        found = []
        for kind, weight in self._weights.items():
            fresh = kind in self._fresh
            sums = dict(self._fresh[kind][1]) if fresh else self._sums[kind]
            rows = spread([sums.get(place) for place in range(len(self.variables))])
            weight = weight if type(weight) is Tensor else Tensor(np.asarray(weight, np.float64))  # noqa: PLW2901
            found.append((spelled(kind), "once" if fresh else "summed", weight, rows))
        return found

    def hold(self, held, variables, count):
        """Hold what `held` gave again: gradients of `variables`, of `count` batches."""
        self.clear()
        self.variables, self.count = variables, count
        for text, how, weight, rows in held:
            kind, weight = kind_of(text), self._number(weight)  # noqa: PLW2901
            self._weights[kind], self._sums[kind] = weight, {}
            sums = [(i, g) for i, g in enumerate(gathered(rows, variables)) if g is not None]
            if how == "once":
                self._fresh[kind] = weight, sums
            else:
                self._sums[kind] = dict(sums)

    def met(self, variables):
        """The variables met so far and those of these that are new."""
        known = {id(v) for v in self.variables}
        return self.variables + [v for v in variables if id(v) not in known]

    # ---- saved state ----

    def state(self, variables):
        """{name: array} of what was added; `variables` give numbers to those it belongs to."""
        numbers = {id(v): i for i, v in enumerate(variables)}
        met = [numbers[id(v)] for v in self.variables]
        found = {"count": np.int64(self.count), "variables": np.array(met, np.int64)}
        for number, kind in enumerate(self._weights):
            fresh = kind in self._fresh
            found[f"{number}/kind"] = np.array(spelled(kind))
            found[f"{number}/weight"] = np.float64(self._weights[kind])
            found[f"{number}/fresh"] = np.bool_(fresh)
            sums = dict(self._fresh[kind][1]) if fresh else self._sums[kind]
            for place, gradient in sums.items():
                name = f"{number}/of {place}"
                if isinstance(gradient, IndexedSlices):
                    found[f"{name}@values"] = np.array(_array(gradient.values))
                    found[f"{name}@indices"] = np.array(_array(gradient.indices))
                elif gradient is not None:
                    found[name] = np.array(_array(gradient))
        return {name: np.asarray(array) for name, array in found.items()}

    def restore(self, state, variables):
        """Hold what `state` gave again."""
        self.clear()
        self.variables = [variables[i] for i in state["variables"]]
        self.count = int(state["count"])
        for number in range(sum(name.endswith("/kind") for name in state)):
            kind = kind_of(str(state[f"{number}/kind"]))
            self._weights[kind] = float(state[f"{number}/weight"])
            self._sums[kind] = {}
            sums = {}
            for place, variable in enumerate(self.variables):
                gradient = _stored(state, f"{number}/of {place}", variable)
                if gradient is not None:
                    sums[place] = gradient
            if state[f"{number}/fresh"]:
                self._fresh[kind] = self._weights[kind], list(sums.items())
            else:
                self._sums[kind] = sums


def _stored(state, name, variable):
    if f"{name}@values" in state:
        values, indices = (np.array(state[f"{name}@{part}"]) for part in ("values", "indices"))
        return sliced(values, indices, variable.array.shape)
    return np.array(state[name]) if name in state else None


def spelled(kind):
    """A kind of loss as a text."""
    return kind if isinstance(kind, str) else f"{kind[0]}:{kind[1]}"


def kind_of(text):
    """The kind that was spelled so."""
    name, colon, number = text.partition(":")
    return (name, int(number)) if colon else name


def _scaled(gradient, factor):
    """A gradient times a number, as an array of at least float32, or slices of one."""
    if isinstance(gradient, IndexedSlices):
        values = _scaled(gradient.values, factor)
        return sliced(values, _array(gradient.indices), gradient.dense_shape)
    array = _array(gradient)
    dtype = array.dtype if array.dtype.itemsize >= 4 else np.dtype(np.float32)
    return np.asarray(array * dtype.type(factor), dtype)


def _scaled_tensor(gradient, factor):
    """The same by ops."""
    if isinstance(gradient, IndexedSlices):
        values = _scaled_tensor(gradient.values, factor)
        return sliced(values, gradient.indices, gradient.dense_shape)
    dtype = gradient.array.dtype if gradient.array.dtype.itemsize >= 4 else np.dtype(np.float32)
    factor = cast(factor, dtype=dtype) if type(factor) is Tensor else factor
    return cast(gradient, dtype=dtype) * factor


def _inverse(weight):
    if type(weight) is Tensor:
        return divide_no_nan(1.0, weight)
    return 1.0 / weight if weight else 0.0


def _sum(a, b, form):
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        return joined(a, b)
    a, b = (g.dense() if isinstance(g, IndexedSlices) else g for g in (a, b))
    return form(a) + form(b)


def _itself(value):
    return value


def _array(value):
    return value.array if isinstance(value, Tensor) else value


def _finished(gradient, variable):
    """As an optimizer takes it: a tensor, or slices of one, in the variable's dtype."""
    if gradient is None:
        return None
    dtype = variable.array.dtype
    if isinstance(gradient, IndexedSlices):
        values = Tensor(np.asarray(_array(gradient.values), dtype))
        indices = Tensor(np.asarray(_array(gradient.indices)))
        return sliced(values, indices, gradient.dense_shape)
    return Tensor(np.asarray(_array(gradient), dtype))


def _finished_tensor(gradient, variable):
    if gradient is None:
        return None
    dtype = variable.array.dtype
    if isinstance(gradient, IndexedSlices):
        values = cast(gradient.values, dtype=dtype)
        return sliced(values, gradient.indices, gradient.dense_shape)
    return cast(gradient, dtype=dtype)


def _leave(parts):
    """Tell a recorder of somebody else's function that gradients leave it for another call."""
    for *_, gradients in parts:
        for gradient in spread(gradients) or ():
            if type(gradient) is Tensor:
                gradient._read("accumulate")
                return
