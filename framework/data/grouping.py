"""Pipeline stages that join elements into batches and windows, and split batches."""

from collections import deque
from itertools import count, cycle, islice

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.data.parallel import Parallel, threads
from framework.data.row_gathering import Rows, batched
from framework.data.shape_functions import ByShape
from framework.data.sparse_rows import SparseRows, joined_rows, stacked
from framework.data.stage import (
    END,
    UNKNOWN,
    Listed,
    Stage,
    common_spec,
    firsts,
    map_spec,
    resuming,
)
from framework.data.structure import DatasetSpec, array_in, boxed, like, names, packer
from framework.data.transform import call, run
from framework.ops.sparse_tensor import SparseTensor

# ---- batches -------------------------------------------------------------------------------------


class Batch(Stage):
    """A pipeline stage that yields batches: `size` elements stacked along a new first axis."""

    direct = True

    def __init__(self, parent, size, drop_remainder, workers=None, in_order=True):
        super().__init__(parent)
        self.size, self.drop_remainder = size, drop_remainder
        self.workers, self.in_order = threads(workers), in_order

    def length(self):
        n = self.parent.length()
        return n if n < 0 else n // self.size if self.drop_remainder else -(-n // self.size)

    def spec(self):
        size = self.size if self.drop_remainder else None
        return map_spec(lambda s: None if s.shape is None else (size, *s.shape), self.parent.spec())

    def elements(self):
        passes = self.parent.passes()
        if passes is None:
            return self._stacked(self.parent.iterate())
        return batched(passes, self.size, self.drop_remainder, self.parent.streams)

    def after(self, count):
        passes = self.parent.passes()
        if passes is None:
            return self._stacked(self.parent.after(count * self.size))
        rest = _rest(passes, count * self.size)
        return batched(rest, self.size, self.drop_remainder, self.parent.streams)

    def _stacked(self, source):
        def group():
            found = list(islice(source, self.size))
            return found if len(found) > (self.size - 1 if self.drop_remainder else 0) else END

        groups = resuming(group)
        if self.workers is None:
            return map(self.stack, groups)
        stack = lambda group, _: self.stack(group)
        return Parallel(stack, groups, count(), self.workers, self.in_order)

    def stack(self, group):
        """Return the elements of `group` stacked into one."""
        columns = zip(*map(nest.flatten, group))
        return packer(group[0])([_stacked(column) for column in columns])


def _rest(passes, skipped):
    """Yield the `Rows` in `passes`, without the first `skipped` rows in total."""
    for rows in passes:
        if skipped < len(rows):
            yield rows.select(slice(skipped, None)) if skipped else rows
        skipped = max(0, skipped - len(rows))


def _with_rows(leaf):
    return SparseRows(leaf) if type(leaf) is SparseTensor else leaf.array


def _stacked(column):
    if all(type(t) is SparseTensor for t in column):
        return stacked(column)
    return Tensor(_stack(_arrays(column)))


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
    """A pipeline stage that pads elements at their ends to a common shape and yields batches.

    `shapes` and `values` have the structure of an element. None in `shapes` means the largest size
    in the batch, None in `values` means 0.
    """

    def __init__(self, parent, size, shapes, values, drop_remainder):
        super().__init__(parent, size, drop_remainder)
        self.shapes, self.values = shapes, values

    def spec(self):
        specs = nest.flatten(spec := super().spec())
        shapes = _shapes_like(spec, self.shapes)
        padded = [
            map_spec(lambda s, w=w: _padded_shape(s.shape, w), s) for s, w in zip(specs, shapes)
        ]
        return packer(spec)(padded)

    def elements(self):
        return self._stacked(self.parent.iterate())

    def after(self, count):
        return self._stacked(self.parent.after(count * self.size))

    def stack(self, group):
        columns = map(_arrays, zip(*map(nest.flatten, group)))
        shapes = _shapes_like(group[0], self.shapes)
        values = like(group[0], self.values, "padded_batch: padding_values")
        padded = [_padded(*parts) for parts in zip(columns, shapes, values)]
        return packer(group[0])([Tensor(array) for array in padded])


def _shapes_like(structure, given):
    """Return the shape in `given` for each leaf of `structure`; None where there is none."""
    shapes = like(structure, given, "padded_batch: padded_shapes")
    for shape in shapes:
        if shape is not None and not np.iterable(shape):
            raise InvalidArgumentError(
                f"padded_batch: padded_shapes: expected a shape, such as [None], got {shape!r}."
            )
    return shapes


def _padded_shape(shape, wanted):
    """Return the shape of a batch with the sizes of `wanted`; sizes that vary by batch are None."""
    if wanted is None or shape is None:
        return shape
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
    if len(longest) == 1:
        for row, array in zip(out, arrays):
            row[: array.shape[0]] = array
        return out
    for i, array in enumerate(arrays):
        # the str object itself is stored, because NumPy would store a 0-d array of strings as an
        # object
        out[(i, *map(slice, array.shape))] = array if array.ndim else array[()]
    return out


class Unbatch(Stage):
    """A pipeline stage that yields the rows of each element."""

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
            arrays = nest.map_structure(_with_rows, element)
            yield from Rows.of(arrays, names(arrays, "unbatch: element"))


class Rebatch(Stage):
    """A pipeline stage that yields batches of the sizes in `sizes`, used cyclically."""

    def __init__(self, parent, sizes, drop_remainder):
        super().__init__(parent)
        self.sizes, self.drop_remainder = sizes, drop_remainder

    def length(self):
        return UNKNOWN

    def spec(self):
        size = self.sizes[0] if len(set(self.sizes)) == 1 else None

        def shape_of(spec):
            if not spec.shape:
                return spec.shape
            old, *rest = spec.shape
            whole = size and old is not None and old % size == 0
            return (size if whole or self.drop_remainder else None, *rest)

        return map_spec(shape_of, self.parent.spec())

    def elements(self):
        held, rows, sizes = [], 0, cycle(self.sizes)
        size = next(sizes)
        for element in self.parent.iterate():
            arrays = nest.map_structure(_with_rows, element)
            rest = Rows.of(arrays, names(arrays, "rebatch: element"))
            while rows + len(rest) >= size:
                taken = size - rows
                yield _joined([*held, rest.select(slice(taken))])
                held, rows, rest = [], 0, rest.select(slice(taken, None))
                size = next(sizes)
            if len(rest):
                held, rows = [*held, rest], rows + len(rest)
        if rows and not self.drop_remainder:
            yield _joined(held)


def _joined(parts):
    """Return the rows of all parts as one element."""
    columns = zip(*([a[o.start : o.stop] for a, o in zip(p.arrays, p.orders)] for p in parts))
    arrays = [column[0] if len(column) == 1 else _concatenated(column) for column in columns]
    return packer(parts[0].structure)(list(map(boxed, arrays)))


def _concatenated(column):
    sparse = type(column[0]) is SparseTensor
    return joined_rows(column) if sparse else np.concatenate(column)


# ---- windows -------------------------------------------------------------------------------------


class _Failed:
    """A placeholder for an element whose computation raised an error."""

    def __init__(self, error):
        self.error = error


def _tried(source):
    """Yield the elements of an iterator; an error is replaced by a `_Failed` at its position."""
    while True:
        try:
            element = next(source, END)
        except Exception as error:
            element = _Failed(error)
        if element is END:
            return
        yield element


class Window(Stage):
    """A pipeline stage that yields windows, which are datasets of `size` elements.

    Windows begin `shift` elements apart; the elements of a window are `stride` apart.

    As in tf.data, an element's error is raised by each window that contains the element.
    """

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
        source, held, spec = self.parent.iterate(), [], None

        def step():
            nonlocal spec
            held.extend(islice(_tried(source), self.reach - len(held)))
            if not held or (self.drop_remainder and len(held) < self.reach):
                return END
            window = held[:: self.stride]
            # if shift > size, the elements between two windows are skipped
            deque(islice(_tried(source), max(0, self.shift - len(held))), maxlen=0)
            del held[: self.shift]
            for element in window:
                if type(element) is _Failed:
                    raise element.error
            spec = self.parent.spec() if spec is None else spec
            return self._datasets(window, spec)

        return resuming(step)

    def _datasets(self, window, spec):
        columns = zip(*map(nest.flatten, window))
        pairs = zip(columns, nest.flatten(spec))
        return packer(spec)([self.dataset(Listed(column, s)) for column, s in pairs])


class GroupByWindow(Stage):
    """A pipeline stage that yields the elements of `reduce(key, dataset of a group)`.

    A group holds elements of one key; it ends when it has `size(key)` elements, or at the end of
    the data. Groups left at the end are reduced in the order of their keys.
    """

    calls_python = True

    def __init__(self, parent, key, reduce, size, dataset, pure):
        super().__init__(parent)
        self.key, self.reduce, self.size, self.dataset = key, reduce, size, dataset
        self.pure = pure  # whether a call of `key` has no side effects

    def length(self):
        return UNKNOWN

    def spec(self):
        # The spec is computed from empty groups of two keys: the sizes of batches may differ
        # between keys.
        found, spec = None, self.parent.spec()
        for key in range(2):
            try:
                other = self._reduced(key, [], spec).element_spec
            except Exception:  # noqa: S112 (a function may need elements, or have no such key)
                continue
            found = other if found is None else nest.map_structure(common_spec, found, other)
        if found is not None:
            return found
        element = firsts(self.parent, 1)[0]
        key = _key(call(self.key, element), "key_func")
        return self._reduced(key, [element], spec).element_spec

    def elements(self):
        groups, sizes, spec = {}, {}, None
        key_of = ByShape(self._key_of) if self.pure else self._key_of
        for number, element in enumerate(self.parent.iterate()):
            spec = self.parent.spec() if spec is None else spec
            key = key_of(element, number)
            group = groups.setdefault(key, [])
            group.append(element)
            if len(group) == 1:
                sizes[key] = _key(self.size(_int64(key)), "window_size_func")
                if sizes[key] < 1:
                    raise InvalidArgumentError(
                        f"group_by_window: expected a window size of at least 1, got {sizes[key]}."
                    )
            if len(group) == sizes[key]:
                yield from self._reduced(key, groups.pop(key), spec)
        for key in sorted(groups):
            yield from self._reduced(key, groups[key], spec)

    def _key_of(self, element, number):
        return _key(run(self, "key_func", self.key, element, number), "key_func")

    def _reduced(self, key, group, spec):
        dataset = self.reduce(_int64(key), self.dataset(Listed(group, spec)))
        if not hasattr(dataset, "element_spec"):
            raise InvalidArgumentError(
                f"group_by_window: reduce_func must return a Dataset, got {type(dataset).__name__}."
            )
        return dataset


def _int64(value):
    return Tensor(np.array(value, np.int64))


def _key(value, what):
    if type(value) is int:
        return value
    array = array_in(value, what)
    if array.ndim or array.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{what} must return one int64, got {value!r}.")
    return int(array)
