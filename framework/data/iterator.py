"""Iterator: one iteration over a dataset, whose position can be saved and restored."""

import weakref
from typing import Any

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError, OutOfRangeError
from framework.core.variable import CoreVariable
from framework.data.stage import walk


class _Iteration:
    """One iteration: its elements, the number of elements taken, and the state of random stages."""

    __slots__ = ("begun", "elements", "position", "stage", "taken")

    def __init__(self, stage):
        self.stage, self.taken, self.elements, self.begun = stage, 0, None, None
        self.position = None  # the _Position, created when a checkpoint first needs it

    def start(self):
        self.begun = _random_state(self.stage)
        self.elements = self.stage.iterate()
        return self.elements


class Iterator:
    """One iteration over a Dataset, from `iter(dataset)`.

    `state()` returns the position; `restore(state)` sets it in an iterator over an equal pipeline,
    which can be in another process. Shuffles and other random stages continue with their seeds.
    To restore, stages with one result per element (`map`, `batch`, `zip`, `prefetch`, ...) do not
    recompute the elements before the position. All other stages do.

    >>> from framework.data import Dataset
    >>> data = Dataset.range(6).shuffle(6).map(lambda x: 10 * x).batch(2)
    >>> iterator = iter(data)
    >>> first, state = next(iterator), iterator.state()
    >>> rest = [batch.tolist() for batch in iterator]
    >>> other = iter(data)
    >>> other.restore(state)
    >>> [batch.tolist() for batch in other] == rest
    True
    """

    __slots__ = ("__weakref__", "_framework")

    def __init__(self, stage: Any):
        self._framework = _Iteration(stage)

    def __iter__(self):
        return self

    def __next__(self):
        own = self._framework
        elements = own.elements or own.start()
        own.taken += 1
        try:
            return next(elements)
        except StopIteration:
            own.taken -= 1
            raise

    @property
    def element_spec(self):
        """The nest of TensorSpecs of the elements."""
        return self._framework.stage.spec()

    def get_next(self):
        """Return the next element.

        Raises:
            OutOfRangeError: there are no more elements.
        """
        for element in self:
            return element
        raise OutOfRangeError("Iterator.get_next: the dataset has no more elements.")

    def get_next_as_optional(self):
        """Return the next element as an `Optional`, which is empty at the end."""
        for element in self:
            return Optional(element)
        return Optional()

    def state(self):
        """Return the position, a dict that JSON can hold.

        It does not include the random state of user functions called without `num_parallel_calls`.
        """
        own = self._framework
        begun = _random_state(own.stage) if own.elements is None else own.begun
        return {"taken": own.taken, "random": begun}

    def restore(self, state: Any):
        """Continue at a position that `state()` returned.

        Raises:
            InvalidArgumentError: the position is that of another pipeline.
        """
        own, stages = self._framework, _random_stages(self._framework.stage)
        if not isinstance(state, dict) or set(state) != {"taken", "random"}:
            raise InvalidArgumentError(
                f"Iterator.restore: state: expected what state() returned, got {state!r}."
            )
        if len(state["random"]) != len(stages):
            raise InvalidArgumentError(
                f"Iterator.restore: state: expected the seeds of {len(stages)} random stages, got "
                f"{len(state['random'])}. Is it the position of another pipeline?"
            )
        for stage, (seed, epoch) in zip(stages, state["random"]):
            stage.seed, stage.epoch = seed, epoch
        own.begun, own.taken = [list(pair) for pair in state["random"]], state["taken"]
        own.elements = own.stage.after(own.taken) if own.taken else own.stage.iterate()

    def _saved_parts(self):
        """Return {name: variable} for checkpoints, with the position as the only variable."""
        own = self._framework
        if own.position is None:
            own.position = _Position(self)
        return {"position": own.position}

    def close(self):
        """End the iteration and its threads."""
        own = self._framework
        if hasattr(own.elements, "close"):
            own.elements.close()
        own.elements = iter(())


class _Position(CoreVariable):
    """The position of an iterator as a variable, which checkpoints save and restore."""

    __slots__ = ("_iterator",)
    name = "position"

    def __init__(self, iterator):
        self._iterator = weakref.ref(iterator)
        super().__init__(None, trainable=False)

    @property
    def _array(self):
        state = self._iterator().state()
        return np.array([state["taken"], *np.ravel(state["random"])], np.uint64)

    @_array.setter
    def _array(self, array):
        if array is not None:
            taken, *random = array.tolist()
            pairs = [list(pair) for pair in zip(random[::2], random[1::2], strict=True)]
            self._iterator().restore({"taken": taken, "random": pairs})


def _random_stages(stage):
    return list({id(s): s for s in walk(stage) if s.epoch is not None}.values())


def _random_state(stage):
    return [[s.seed, s.epoch] for s in _random_stages(stage)]


class NumpyIterator:
    """An iterator over a dataset's elements as copied NumPy arrays."""

    __slots__ = ("_framework",)

    def __init__(self, dataset: Any):
        self._framework = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return nest.map_structure(_copied, next(self._framework))

    def next(self):
        """Return the next element."""
        return next(self)


def _copied(leaf):
    return leaf.as_numpy_iterator() if hasattr(leaf, "as_numpy_iterator") else leaf.numpy()


class Optional:
    """A value that may be missing."""

    __slots__ = ("_framework",)

    def __init__(self, *value):
        self._framework = value

    def has_value(self, name: str | None = None):
        """Return whether there is a value, as a bool."""
        return bool(self._framework)

    def get_value(self, name: str | None = None):
        """Return the value; raise InvalidArgumentError if there is none."""
        if not self._framework:
            raise InvalidArgumentError("Optional.get_value: there is no value.")
        return self._framework[0]
