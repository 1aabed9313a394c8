"""`Stage`, the base class of a pipeline's stages; the source stages; the base class of Dataset.

An `indexed` stage selects rows of arrays by number (`row_gathering.py`) and has `rows()` for one
iteration. Other stages yield elements one by one from `elements()`. `after(n)` skips n elements, to
restore a saved position (`iterator.py`). An iterator can continue after an error of the user's
function, so that `ignore_errors` can skip it. `resuming` creates such iterators; a generator would
end.
"""

from collections import deque
from itertools import count as numbered
from itertools import islice
from typing import Any

import numpy as np

from framework.core import dtypes, nest
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data.row_gathering import Rows, batched
from framework.data.structure import as_element, names, packer, spec_like, spec_of
from framework.ops.sparse_tensor import SparseTensor, SparseTensorSpec, as_sparse

INFINITE, UNKNOWN = -1, -2


class DatasetBase:
    """The base class of Dataset; recognizes Datasets without an import of all stages.

    Attributes:
        _framework: the last Stage.
    """

    def __init__(self, variant_tensor: Any):
        """Internal: users call the static methods of Dataset. Subclasses may use all other names.

        `variant_tensor` has TensorFlow's name, but its value is a `Stage`.
        """
        self._framework = variant_tensor


class Stage:
    """Base class: one stage of a pipeline; by default, it yields the first parent's elements."""

    indexed: Any = False
    # For stages that are not `indexed`: whether the `Rows` that `passes()` yields may be of
    # different arrays.
    streams: Any = False
    direct = False  # whether `after(n)` is as fast as `after(n)` of the parents
    calls_python = False  # whether this stage runs the user's Python code
    # the number of started iterations if the order depends on this number; otherwise None
    epoch = None
    seed = None  # the seed of the order, if it has one
    parent: Any = None  # the first parent stage; None for a source stage

    def __init__(self, *parents):
        self.parents = parents
        if parents:
            self.parent = parents[0]
        self.python = self.calls_python or any(parent.python for parent in parents)

    @property
    def mapped(self):
        """For `indexed` stages: whether `rows()` has mapped functions."""
        return any(parent.mapped for parent in self.parents)

    def length(self):
        """Return the number of elements per iteration, which may be INFINITE or UNKNOWN."""
        return self.parent.length()

    def spec(self):
        """Return the nest of TensorSpecs that all elements fit."""
        return self.parent.spec()

    @property
    def accessible(self):
        """Whether an element can be computed by its index, without the elements before it."""
        if self.epoch is not None:
            return False
        known = self.direct and bool(self.parents) and all(p.accessible for p in self.parents)
        return known or (bool(self.indexed) and not any(p.epoch is not None for p in walk(self)))

    def iterate(self):
        """Return an iterator over the elements."""
        return iter(self.rows()) if self.indexed else self.elements()

    def after(self, count):
        """Start an iteration; return an iterator over its elements without the first `count`."""
        if self.indexed:
            return iter(self.rows().select(slice(count, None)))
        return dropped(self.iterate(), count)

    def rows(self):
        """Return the Rows of one iteration; only if `indexed`."""
        return self.parent.rows()

    def elements(self):
        """Return an iterator over the elements; only if not `indexed`."""
        return self.parent.iterate()

    def passes(self):
        """Return an iterator over `Rows`, or None if elements are not rows of arrays."""
        return iter([self.rows()]) if self.indexed else None


class IndexStage(Stage):
    """Base class of stages that select or reorder elements without changing them."""

    @property
    def indexed(self):
        return self.parent.indexed


class _End:
    """The class of END, which the function passed to `resuming` returns at the end."""

    # `iter(step, END)` compares each element with END: by identity here, because `==` of tensors is
    # elementwise
    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


END = _End()


def resuming(step):
    """Return an iterator over the results of `step()` until END. It can continue after an error."""
    return iter(step, END)


def dropped(iterator, count):
    """Return an iterator without its first `count` elements."""
    deque(islice(iterator, count), maxlen=0)
    return iterator


def walk(stage):
    """Yield the stage and all stages before it."""
    yield stage
    for parent in stage.parents:
        yield from walk(parent)


_TRIES = 10  # the number of first elements to try, because the function may fail for some


def firsts(stage, count, function=lambda element: element):
    """Return `function(element)` for at most `count` first elements, without advancing any epoch.

    Elements for which `function` raises an error are left out. If the stage has no elements,
    `function` is called with zeros that fit its spec, to find the spec of the result.
    """
    found, failure = [], None
    epochs = [(s, s.epoch) for s in walk(stage) if s.epoch is not None]
    try:
        for element in islice(stage.iterate(), _TRIES):
            try:
                found.append(function(element))
            except Exception as error:
                failure = error
            if len(found) == count:
                break
    finally:
        for shuffle, epoch in epochs:
            shuffle.epoch = epoch
    if failure is not None and not found:
        raise failure
    return found or [function(nest.map_structure(_zeros, stage.spec()))]


def first_rows(stage, count):
    """Return a batch of `count` first rows or less, without advancing any epoch; None: no rows."""
    epochs = [(s, s.epoch) for s in walk(stage) if s.epoch is not None]
    try:
        for rows in stage.passes() or ():
            return next(batched([rows.select(slice(count))], count), None)
    finally:
        for shuffle, epoch in epochs:
            shuffle.epoch = epoch
    return None


def _zeros(spec):
    """Return a tensor of zeros that fits `spec`; unknown sizes are 1."""
    if not isinstance(spec, TensorSpec):
        # imported here because `dataset` imports this module
        from framework.data.arguments import made

        return made(Listed([], spec.element_spec))
    shape = tuple(1 if n is None else n for n in spec.shape or ())
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor(np.zeros((0, len(shape))), Tensor(np.zeros(0, spec.dtype.np)), shape)
    empty = b"" if spec.dtype.np.kind == "O" else 0
    return Tensor(np.full(shape, empty, spec.dtype.np))


def map_spec(shape_of, spec):
    """Return the nest of specs with each shape replaced by `shape_of(spec)`."""
    return nest.map_structure(lambda s: type(s)(shape_of(s), s.dtype), spec)


def common_spec(a, b):
    """Return the most specific TensorSpec that both specs fit."""
    if not isinstance(a, TensorSpec) or not isinstance(b, TensorSpec):
        return a
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return type(a)(None, a.dtype)
    return type(a)([m if m == n else None for m, n in zip(a.shape, b.shape)], a.dtype)


class Slices(Stage):
    """A source stage that yields the rows of arrays of equal length."""

    indexed = True

    def __init__(self, structure):
        super().__init__()
        self.all = Rows.of(structure, names(structure, "tensors"))

    def length(self):
        return len(self.all)

    def spec(self):
        specs = [spec_like(a)(a.shape[1:], a.dtype) for a in self.all.arrays]
        return packer(self.all.structure)(specs)

    def rows(self):
        return self.all


class Counter(Stage):
    """A source stage that endlessly yields the integers start, start + step, ..."""

    def __init__(self, start, step, dtype):
        super().__init__()
        self.start, self.step, self.dtype = start, step, dtype

    def length(self):
        return INFINITE

    def spec(self):
        return TensorSpec((), self.dtype)

    def elements(self):
        return self.after(0)

    def after(self, count):
        numbers = numbered(self.start + count * self.step, self.step)
        return (Tensor(np.array(i, self.dtype.np)) for i in numbers)


class Listed(Stage):
    """A source stage that yields the elements of a list, such as those of a window."""

    def __init__(self, held, spec):
        super().__init__()
        self.held, self._spec = held, spec

    def length(self):
        return len(self.held)

    def spec(self):
        return self._spec

    def elements(self):
        return iter(self.held)


class GeneratorStage(Stage):
    """A source stage that yields the elements of `make()`, converted to the signature's specs."""

    calls_python = True

    def __init__(self, make, signature=None, length=UNKNOWN):
        super().__init__()
        self.make, self.signature, self._length = make, signature, length

    def length(self):
        return self._length

    def spec(self):
        return spec_of(_only(self)) if self.signature is None else self.signature

    def elements(self):
        if type(self.signature) is TensorSpec:
            for array in self.arrays():
                # the array is copied, because the generator may change it afterwards
                yield Tensor(array.copy())
            return
        for value in self.make():
            if self.signature is None:
                yield as_element(value, "element")
            else:
                yield _fitted(value, self.signature, "element")

    def arrays(self):
        """Yield the elements as arrays. The signature must be a single TensorSpec."""
        # arrays of strings can hold str objects, which must become bytes
        dtype, fitting = self.signature.dtype.np, set()
        dtype = None if dtype.kind == "O" else dtype
        for value in self.make():
            if type(value) is np.ndarray and value.dtype is dtype and value.shape in fitting:
                yield value
            else:
                array = _fitted(value, self.signature, "element").array
                fitting.add(array.shape)
                yield array


def _only(stage):
    """Return the first element of a generator stage, from which the element spec is inferred."""
    for value in stage.elements():
        return value
    raise InvalidArgumentError(
        "element_spec needs a first element, but the generator yields none. Pass output_signature."
    )


def _fitted(value, spec, name):
    """Return a generator's value converted to an element that fits `spec`."""
    if isinstance(spec, TensorSpec):
        return _fitted_leaf(value, spec, name)
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise InvalidArgumentError(
                f"from_generator: {name} must be a dict with keys {list(spec)}, got {value!r}."
            )
        return {key: _fitted(value[key], s, f"{name}[{key!r}]") for key, s in spec.items()}
    if not isinstance(value, (tuple, list)) or len(value) != len(spec):
        raise InvalidArgumentError(
            f"from_generator: {name} must be a tuple of {len(spec)} components, got {value!r}."
        )
    return tuple(_fitted(v, s, f"{name}[{i}]") for i, (v, s) in enumerate(zip(value, spec)))


def _fitted_leaf(value, spec, name):
    try:
        if isinstance(spec, SparseTensorSpec):
            return as_sparse(value, f"from_generator: {name}")
        text = spec.dtype == dtypes.string
        element = tensor(value, spec.dtype) if text else Tensor(np.array(value, spec.dtype.np))
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"from_generator: {name} cannot be converted to {spec.dtype}: {error}"
        ) from None
    if not spec.is_compatible_with(element):
        raise ShapeError(
            f"from_generator: {name}: expected shape {spec.shape}, got {element.shape}."
        )
    return element
