"""Gradients: the gradients of a training step, readable and editable by variable path."""

from collections.abc import MutableMapping

import numpy as np

from framework.core.conversion import tensor
from framework.core.errors import NotFoundError, ShapeError, suggest
from framework.core.tensor import Tensor
from framework.ops.slices import IndexedSlices, coalesced, finished, sliced


class Gradients(MutableMapping):
    """Gradients by variable path, in the order of the model's trainable variables.

    A dict of tensors (None if the loss does not depend on the variable). It can be edited before
    `step.apply(grads)`: `grads["dense/kernel"] = ...` replaces a gradient, None or `del` removes
    it. `copy()` returns a copy to edit. `tensors` and `variables` are lists in the same order.

    Args:
        tensors, variables: lists of equal length.
        weight: the weight of the batch if gradients are accumulated: its number of rows.
        parts: [(kind, weight, tensors)], one gradient list per kind of loss reduction, if a model
            has losses of several kinds, such as sums and means.
    """

    def __init__(self, tensors, variables, weight=1.0, parts=None):
        self.tensors, self.variables = list(tensors), list(variables)
        self.weight, self._parts = weight, parts

    def parts(self):
        """Return [(kind, weight, tensors)], which an accumulator adds up separately by kind."""
        return self._parts or [("rows", self.weight, self.tensors)]

    def __getitem__(self, path):
        return self.tensors[self._index(path)]

    def __setitem__(self, path, gradient):
        i = self._index(path)
        variable = self.variables[i]
        if gradient is not None and not hasattr(gradient, "_as_tensor"):
            gradient = tensor(gradient, variable.dtype) if not _is_tensor(gradient) else gradient
            if gradient.array.shape != variable.array.shape:
                raise ShapeError(
                    f"grads[{path!r}]: expected a gradient of the variable's shape "
                    f"{variable.array.shape}, got shape {gradient.array.shape}."
                )
        self.tensors[i] = gradient
        if self._parts is not None:
            kind, weight, _ = self._parts[0]
            kind, weight = (kind, weight) if len(self._parts) == 1 else ("rows", self.weight)
            self._parts = [(kind, weight, self.tensors)]

    def __delitem__(self, path):
        self[path] = None

    def __iter__(self):
        return (variable.path for variable in self.variables)

    def __len__(self):
        return len(self.variables)

    def _index(self, path):
        for i, variable in enumerate(self.variables):
            if variable.path == path:
                return i
        raise NotFoundError(f"no gradient has the path {path!r}{suggest(path, list(self))}")

    def copy(self):
        """Return a copy of the mapping, with the same tensors."""
        parts = None if self._parts is None else [(k, w, list(t)) for k, w, t in self._parts]
        return Gradients(self.tensors, self.variables, self.weight, parts)

    def map(self, function):
        """Return a new mapping of `function(path, gradient)`; None stays None."""
        mapped = self.copy()
        for i, (path, gradient) in enumerate(zip(self, self.tensors, strict=True)):
            if gradient is not None:
                mapped.tensors[i] = function(path, gradient)
        if mapped._parts is not None:
            mapped._parts = [("rows", self.weight, mapped.tensors)]
        return mapped

    # ---- norms and display ----

    def norms(self):
        """Return the L2 norm of each gradient, a float by path; None if there is no gradient."""
        return {
            path: None if g is None else _norm(g)
            for path, g in zip(self, self.tensors, strict=True)
        }

    def norm(self):
        """Return the joint L2 norm of all gradients, a float."""
        return float(np.sqrt(sum(n * n for n in self.norms().values() if n is not None)))

    def is_finite(self):
        """Return whether no gradient contains inf or nan."""
        return all(np.isfinite(_values(g)).all() for g in self.tensors if g is not None)

    def __repr__(self):
        rows = [
            f"  {path}: " + ("None" if n is None else f"{tuple(v.array.shape)}, norm {n:.4g}")
            for v, (path, n) in zip(self.variables, self.norms().items(), strict=False)
        ]
        return "Gradients(\n" + "\n".join(rows) + "\n)"


def spread(gradients):
    """Return gradients as a nest of tensors, with IndexedSlices as pairs (values, indices).

    None if a gradient is neither a tensor, an array nor IndexedSlices.
    """
    rows = [(g.values, g.indices) if type(g) is IndexedSlices else g for g in gradients]
    plain = all(type(g) in (Tensor, np.ndarray, tuple) or g is None for g in rows)
    return rows if plain else None


def gathered(rows, variables):
    """Return the gradients of `variables` that `spread` converted to `rows`."""
    return [
        sliced(*row, variable.array.shape) if type(row) is tuple else row
        for row, variable in zip(rows, variables, strict=True)
    ]


def finished_gradients(gradients):
    """Return gradients for users: in IndexedSlices, the dense shape becomes a tensor."""
    return [finished(g) if type(g) is IndexedSlices else g for g in gradients]


def _is_tensor(value):
    return type(value) is Tensor


def _values(gradient):
    """Return a gradient's elements as an array; for IndexedSlices, one row per distinct index."""
    if hasattr(gradient, "_as_tensor"):
        gradient = coalesced(gradient).values
    return gradient.array if isinstance(gradient, Tensor) else np.asarray(gradient)


def _norm(gradient):
    values = _values(gradient)
    values = values if values.dtype.itemsize >= 4 else values.astype(np.float32)
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.sum(np.square(values))))
