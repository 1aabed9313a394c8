"""Stages that compute new elements: the user's functions, batches, windows."""

from collections import deque
from itertools import islice

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.data.row_gathering import Rows, batches
from framework.data.stage import UNKNOWN, Listed, Stage, first, map_spec
from framework.data.structure import DatasetSpec, as_element, like, names, packer, spec_of

# ---- the user's functions ------------------------------------------------------------------------


def call(function, element):
    """Return `function(element)`; a tuple's components are separate arguments."""
    return function(*element) if type(element) is tuple else function(element)


class Map(Stage):
    """`function(element)` for each element."""

    calls_python = True

    def __init__(self, parent, function):
        super().__init__(parent)
        self.function = function

    def spec(self):
        element = first(self.parent, "element_spec of a mapped dataset")
        spec = spec_of(as_element(call(self.function, element), "map_func's result"))
        return _with_unknown_batch_size(spec, element, self.parent.spec())

    def elements(self):
        function = self.function
        for element in self.parent.iterate():
            yield as_element(call(function, element), "map_func's result")


def _with_unknown_batch_size(spec, argument, argument_spec):
    """Return `spec` with first sizes None where they equal the argument's unknown batch size."""
    pairs = zip(nest.flatten(argument), nest.flatten(argument_spec))
    sizes = {t.shape[0] for t, s in pairs if getattr(s, "shape", None) and s.shape[0] is None}
    return nest.map_structure(
        lambda s: map_spec(lambda s: (None, *s.shape[1:]), s)
        if getattr(s, "shape", None) and s.shape[0] in sizes else s, spec
    )  # fmt: skip


class Filter(Stage):
    """The elements for which `predicate` is true; with `ends`, only up to the first false one."""

    calls_python = True

    def __init__(self, parent, predicate, ends=False):
        super().__init__(parent)
        self.predicate, self.ends = predicate, ends

    def length(self):
        return 0 if self.parent.length() == 0 else UNKNOWN

    def elements(self):
        for element in self.parent.iterate():
            if _truth(call(self.predicate, element)):
                yield element
            elif self.ends:
                return


def _truth(value):
    result = as_element(value, "predicate's result")
    if type(result) is not Tensor or result.ndim or not result.dtype.is_bool:
        raise InvalidArgumentError(f"predicate must return one bool, got {result!r}.")
    return bool(result)


class FlatMap(Stage):
    """The elements of the datasets `function(element)`."""

    calls_python = True

    def __init__(self, parent, function):
        super().__init__(parent)
        self.function = function

    def length(self):
        return 0 if self.parent.length() == 0 else UNKNOWN

    def spec(self):
        return self._dataset(first(self.parent, "element_spec of a mapped dataset")).element_spec

    def elements(self):
        for element in self.parent.iterate():
            yield from self._dataset(element)

    def _dataset(self, element):
        dataset = call(self.function, element)
        if not hasattr(dataset, "element_spec"):
            raise InvalidArgumentError(
                f"flat_map: map_func must return a Dataset, got {type(dataset).__name__}. Use map "
                "for functions that return tensors."
            )
        return dataset


# ---- batches -------------------------------------------------------------------------------------


class Batch(Stage):
    """Batches of `size` elements, stacked."""

    def __init__(self, parent, size, drop_remainder):
        super().__init__(parent)
        self.size, self.drop_remainder = size, drop_remainder

    def length(self):
        n = self.parent.length()
        return n if n < 0 else n // self.size if self.drop_remainder else -(-n // self.size)

    def spec(self):
        size = self.size if self.drop_remainder else None
        return map_spec(lambda s: None if s.shape is None else (size, *s.shape), self.parent.spec())

    def elements(self):
        passes = self.parent.passes()
        if passes is None:
            return self._stacked()
        return batches(passes, self.size, self.drop_remainder)

    def _stacked(self):
        source = self.parent.iterate()
        while group := list(islice(source, self.size)):
            if len(group) == self.size or not self.drop_remainder:
                yield self.stack(group)

    def stack(self, group):
        """Return the elements of `group` stacked into one."""
        columns = zip(*map(nest.flatten, group))
        return packer(group[0])([Tensor(_stack(_arrays(column))) for column in columns])


def _arrays(tensors):
    if not all(type(t) is Tensor for t in tensors):
        raise InvalidArgumentError(
            "batch: expected elements of tensors, got elements with datasets (as from window). Use "
            "flat_map first."
        )
    return [t.array for t in tensors]


def _stack(arrays):
    try:
        return np.stack(arrays, dtype=arrays[0].dtype, casting="no")
    except (TypeError, ValueError):
        differing = dict.fromkeys(f"{a.dtype}{list(a.shape)}" for a in arrays)
        raise ShapeError(
            f"batch: expected elements of equal shape and dtype, got {', '.join(differing)}. Use "
            "padded_batch, or convert the elements by map first."
        ) from None


class PaddedBatch(Batch):
    """Elements of different sizes, each padded at its ends to a common shape, and stacked.

    `shapes` and `values` are nests like an element. None in `shapes` is the largest size in the
    batch; None in `values` is 0.
    """

    def __init__(self, parent, size, shapes, values, drop_remainder):
        super().__init__(parent, size, drop_remainder)
        self.shapes, self.values = shapes, values

    def spec(self):
        specs = nest.flatten(spec := super().spec())
        shapes = like(spec, self.shapes)
        padded = [map_spec(lambda s, w=w: _open(s.shape, w), s) for s, w in zip(specs, shapes)]
        return packer(spec)(padded)

    def elements(self):
        return self._stacked()

    def stack(self, group):
        columns = map(_arrays, zip(*map(nest.flatten, group)))
        shapes, values = like(group[0], self.shapes), like(group[0], self.values)
        padded = [_padded(*parts) for parts in zip(columns, shapes, values)]
        return packer(group[0])([Tensor(array) for array in padded])


def _open(shape, wanted):
    """Return a batch's shape with the sizes of `wanted`; None for a size that varies by batch."""
    wanted = [None] * (len(shape) - 1) if wanted is None else wanted
    return (shape[0], *(None if n in (None, -1) else n for n in wanted))


def _padded(arrays, shape, value):
    ranks = {a.ndim for a in arrays}
    if len(ranks) > 1:
        raise ShapeError(
            f"padded_batch: expected elements of equal rank, got ranks {sorted(ranks)}."
        )
    longest = [max(sizes) for sizes in zip(*(a.shape for a in arrays))]
    if shape is not None:
        wanted = [m if n in (None, -1) else int(n) for m, n in zip(longest, shape)]
        if len(shape) != len(longest) or any(m > n for m, n in zip(longest, wanted)):
            raise ShapeError(
                f"padded_batch: expected elements within padded_shapes {tuple(shape)}, got shape "
                f"{tuple(longest)}."
            )
        longest = wanted
    if value is None:
        value = b"" if arrays[0].dtype.kind == "O" else 0
    out = np.full((len(arrays), *longest), value, arrays[0].dtype)
    for i, array in enumerate(arrays):
        out[(i, *map(slice, array.shape))] = array
    return out


class Unbatch(Stage):
    """The rows of each element."""

    def length(self):
        n = self.parent.length()
        if n == 0 or self.python:
            return 0 if n == 0 else UNKNOWN
        sizes = {s.shape[0] for s in nest.flatten(self.parent.spec()) if s.shape}
        return n * sizes.pop() if n > 0 and len(sizes) == 1 and None not in sizes else UNKNOWN

    def spec(self):
        return map_spec(lambda s: s.shape and s.shape[1:], self.parent.spec())

    def elements(self):
        for element in self.parent.iterate():
            arrays = nest.map_structure(lambda t: t.array, element)
            yield from Rows.of(arrays, names(arrays, "unbatch: element"))


# ---- windows -------------------------------------------------------------------------------------


class Window(Stage):
    """Datasets of `size` elements: starts are `shift` apart, elements `stride` apart."""

    def __init__(self, parent, size, shift, stride, drop_remainder, dataset):
        super().__init__(parent)
        self.size, self.shift, self.stride = size, shift, stride
        self.drop_remainder, self.dataset = drop_remainder, dataset
        self.reach = (size - 1) * stride + 1

    def length(self):
        n = self.parent.length()
        if n < 0:
            return n
        if self.drop_remainder:
            return max(0, (n - self.reach) // self.shift + 1)
        return -(-n // self.shift)

    def spec(self):
        return nest.map_structure(DatasetSpec, self.parent.spec())

    def elements(self):
        source = self.parent.iterate()
        held = list(islice(source, self.reach))
        spec = self.parent.spec() if held else None
        while held and (len(held) == self.reach or not self.drop_remainder):
            yield self._datasets(held[:: self.stride], spec)
            # skip the elements between two windows
            deque(islice(source, max(0, self.shift - len(held))), maxlen=0)
            held = held[self.shift :]
            held += islice(source, self.reach - len(held))

    def _datasets(self, window, spec):
        columns = zip(*map(nest.flatten, window))
        pairs = zip(columns, nest.flatten(spec))
        return packer(spec)([self.dataset(Listed(column, s)) for column, s in pairs])
