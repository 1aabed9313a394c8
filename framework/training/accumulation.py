"""Accumulator: adds up gradients of several batches, to equal those of one large batch."""

import numpy as np

from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.losses.classification import SparseCategoricalCrossentropy
from framework.ops.elementwise import divide_no_nan, logical_and, not_equal
from framework.ops.losses import shape_of
from framework.ops.movement import reshape
from framework.ops.reduction import reduce_sum
from framework.ops.slices import IndexedSlices, joined, sliced
from framework.training.gradients import gathered, spread

_FLOAT64 = np.dtype(np.float64)


class Accumulator:
    """Adds the gradients of `every` batches; `take` returns the gradients of one large batch.

    A gradient of a mean loss is weighted by its batch's number of rows (or by the sum of its sample
    weights, if the loss divides by this sum); gradients of summed losses are added unweighted.

    An accumulator computes on arrays and sums in place. While a step is traced (`as_ops`), it
    computes by ops on tensors, because a plan takes and returns the accumulated gradients.
    """

    as_ops = False

    def __init__(self, every):
        if isinstance(every, bool) or not hasattr(every, "__index__") or every < 1:
            raise InvalidArgumentError(f"accumulate must be an int >= 1 or None, got {every!r}.")
        self.every = int(every)
        self.clear()

    def clear(self):
        """Drop all gradients."""
        self.count = 0
        # the variables with gradients, in the order in which they first appeared
        self.variables = []
        self._sums = {}  # maps a kind of loss to {index of the variable: sum of gradients}
        self._weights = {}  # maps a kind of loss to the sum of weights
        self._fresh = {}  # maps a kind of loss to (weight, unweighted gradients) of the first batch

    @property
    def full(self):
        return self.count >= self.every

    def add(self, parts, variables):
        """Add one batch's gradients: [(kind, weight, gradients)], one entry per kind of loss."""
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
        """Return (gradients, variables) of the accumulated batches, and clear the accumulator."""
        total = [None] * len(self.variables)
        for kind in list(self._weights):
            if kind in self._fresh:  # gradients of a single batch are returned without rounding
                gradients = dict(self._fresh[kind][1])
            else:
                gradients = self._sums[kind]
                if kind != "sum":
                    share = _inverse(self._weights[kind])
                    gradients = {i: self._scaled(g, share) for i, g in gradients.items()}
            for place, gradient in gradients.items():
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
        """Multiply the first batch's gradients by its weight when a second batch is added."""
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
            have += gradient  # summed in place, because only the accumulator refers to this array
        else:
            sums[place] = self._sum(have, gradient)

    # ---- the contents as an argument and a result of a plan ----

    def held(self):
        """Return the contents as a nest of tensors, arrays and strings."""
        contents = []
        for kind, weight in self._weights.items():
            fresh = kind in self._fresh
            sums = dict(self._fresh[kind][1]) if fresh else self._sums[kind]
            rows = spread([sums.get(place) for place in range(len(self.variables))])
            weight = weight if type(weight) is Tensor else Tensor(np.asarray(weight, np.float64))  # noqa: PLW2901
            contents.append((spelled(kind), "once" if fresh else "summed", weight, rows))
        return contents

    def hold(self, held, variables, count):
        """Set the contents to what `held()` returned: gradients of `variables`, `count` batches."""
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
        """Return `self.variables`, followed by the new ones among `variables`."""
        known = {id(v) for v in self.variables}
        return self.variables + [v for v in variables if id(v) not in known]

    # ---- saved state ----

    def state(self, variables):
        """Return the contents as {name: array}; names use positions in the list `variables`."""
        numbers = {id(v): i for i, v in enumerate(variables)}
        met = [numbers[id(v)] for v in self.variables]
        saved = {"count": np.int64(self.count), "variables": np.array(met, np.int64)}
        for number, kind in enumerate(self._weights):
            fresh = kind in self._fresh
            saved[f"{number}/kind"] = np.array(spelled(kind))
            saved[f"{number}/weight"] = np.float64(self._weights[kind])
            saved[f"{number}/fresh"] = np.bool_(fresh)
            sums = dict(self._fresh[kind][1]) if fresh else self._sums[kind]
            for place, gradient in sums.items():
                name = f"{number}/of {place}"
                if isinstance(gradient, IndexedSlices):
                    saved[f"{name}@values"] = np.array(_array(gradient.values))
                    saved[f"{name}@indices"] = np.array(_array(gradient.indices))
                elif gradient is not None:
                    saved[name] = np.array(_array(gradient))
        return {name: np.asarray(array) for name, array in saved.items()}

    def restore(self, state, variables):
        """Set the contents to what `state()` returned."""
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
    """Return a kind of loss as a string: ("weights", 2) as "weights:2"."""
    return kind if isinstance(kind, str) else f"{kind[0]}:{kind[1]}"


def kind_of(text):
    """Return the kind of loss that `spelled` converted to the string `text`."""
    name, colon, number = text.partition(":")
    return (name, int(number)) if colon else name


def _scaled(gradient, factor):
    """Return a gradient times a number, as an array of at least float32 or as IndexedSlices."""
    if isinstance(gradient, IndexedSlices):
        values = _scaled(gradient.values, factor)
        return sliced(values, _array(gradient.indices), gradient.dense_shape)
    array = _array(gradient)
    dtype = array.dtype if array.dtype.itemsize >= 4 else np.dtype(np.float32)
    return np.asarray(array * dtype.type(factor), dtype)


def _scaled_tensor(gradient, factor):
    """Return a gradient times a number, computed by ops, as a tensor or as IndexedSlices."""
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
    """Return the gradient as a tensor or IndexedSlices in the variable's dtype."""
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
    """Tell the recorder of an outer trace that Python keeps these gradients for a later call."""
    for *_, gradients in parts:
        for gradient in spread(gradients) or ():
            if type(gradient) is Tensor:
                gradient._read("accumulate")
                return


def weight_of(loss, i, y_true, y_pred, sample_weight):
    """Return (kind, weight) of one output's loss on a batch; see `CompiledLoss.parts`."""
    reduction = loss.reduction
    if reduction in ("sum", "none", None):
        return "sum", 1.0
    rows = float(shape_of(y_pred)[0])
    mask = getattr(y_pred, "_keras_mask", None)
    ignored = loss.ignore_class if isinstance(loss, SparseCategoricalCrossentropy) else None
    if ignored is not None:
        kept = not_equal(y_true, ignored)
        mask = kept if mask is None else logical_and(kept, reshape(mask, shape=kept.shape))
    if mask is None and sample_weight is None:
        return "rows", rows
    if reduction == "mean_with_sample_weight":
        weights = Tensor(np.ones((), np.float64))
        if sample_weight is not None:
            weights = cast(tensor(sample_weight), dtype=_FLOAT64)
        if mask is None:
            return ("weights", i), _total(weights)
        mask = cast(mask, dtype=_FLOAT64)
        extra = max(mask.ndim - weights.ndim, 0)
        weights = reshape(weights, shape=(*weights.shape, *(1,) * extra))
        return ("weights", i), _total(mask * weights)
    if mask is None:
        return "rows", rows
    return ("unmasked", i), _total(cast(mask, dtype=_FLOAT64))


def _total(x):
    return reduce_sum(x, axis=tuple(range(x.ndim)), keepdims=False)
