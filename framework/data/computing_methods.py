"""Methods of Dataset that call the user's functions."""

from typing import Any

import numpy as np

from framework.core import random
from framework.core.errors import InvalidArgumentError
from framework.data import grouping, mixing, transform
from framework.data.arguments import at_least, made, stage_of, workers
from framework.data.parallel import AUTOTUNE
from framework.data.purity import is_pure
from framework.data.structure import array_in, as_element

# The default cycle_length of `interleave` is constant, so that all machines have the same order.
_CYCLE = 8


class ComputingMethods:
    """Methods of Dataset that call the user's functions."""

    def map(
        self, map_func: Any, num_parallel_calls: Any = None, deterministic: Any = None,
        synchronous: Any = None, use_unbounded_threadpool: bool = False, name: str | None = None,
        use_multiprocessing: bool = False,
    ):  # fmt: skip
        """Return a dataset of `map_func(element)`, a tensor or a nest of them, for each element.

        An error of `map_func` names the element and the stage where it happened. Before `batch`, a
        function of arrays in memory without side effects is called once for all rows of a batch, if
        that gives the same bits.

        Args:
            map_func: a function of an element; a tuple's components are separate arguments.
            num_parallel_calls: the number of threads; None for none. AUTOTUNE begins with one per
                CPU, measures more and fewer threads while the consumer waits, and keeps the fastest
                number. Results and random draws do not depend on this number.
            deterministic: False to return results in the order of completion.
            synchronous, use_unbounded_threadpool: accepted, without effect.
            use_multiprocessing: use processes instead of threads, one per CPU if
                `num_parallel_calls` is None. Processes speed up Python code, which threads do not.
                Each process has a copy of the function and of what it reads, so that it cannot
                change objects of this process. Elements and results travel in shared memory, and
                keep their order. A process that ends raises a WorkerError.
        """
        if use_multiprocessing and num_parallel_calls is None:
            num_parallel_calls = AUTOTUNE
        count = workers("map", num_parallel_calls)
        seed = None if count is None else random.make_seed()
        in_order = deterministic is None or bool(deterministic)
        how = count, in_order, seed, bool(use_multiprocessing)
        return made(transform.Map(self._framework, map_func, *how))

    def filter(self, predicate: Any, name: str | None = None):
        """Return a dataset of the elements for which `predicate` returns True (a bool tensor)."""
        return made(transform.Filter(self._framework, predicate))

    def take_while(self, predicate: Any, name: str | None = None):
        """Return a dataset of the elements before the first for which `predicate` is False."""
        return made(transform.Filter(self._framework, predicate, ends=True))

    def flat_map(self, map_func: Any, name: str | None = None):
        """Return the concatenation of the datasets `map_func(element)` for all elements."""
        return made(transform.Interleave(self._framework, map_func))

    def interleave(
        self, map_func: Any, cycle_length: Any = None, block_length: Any = None,
        num_parallel_calls: Any = None, deterministic: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset that takes elements in turn from the datasets `map_func(element)`.

        Args:
            map_func: a function that returns a Dataset.
            cycle_length: the number of datasets that are open at the same time; 8 by default, on
                every machine.
            block_length: the number of elements of one dataset before those of the next; 1 if None.
            num_parallel_calls: any value but None lets threads compute the elements of the open
                datasets in advance; the order is the same.
            deterministic: accepted; elements keep their order.

        >>> from framework.data import Dataset
        >>> data = Dataset.range(1, 4).interleave(
        ...     lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
        ... )
        >>> [x.item() for x in data]
        [1, 1, 2, 2, 1, 2, 3, 3, 3]
        """
        cycle = _CYCLE if cycle_length in (None, -1) else cycle_length
        cycle = at_least(1, "interleave", "cycle_length", cycle)
        block = 1 if block_length is None else block_length
        block = at_least(1, "interleave", "block_length", block)
        ahead = workers("interleave", num_parallel_calls) is not None
        seed = random.make_seed() if ahead else None
        how = cycle, block, ahead, seed, "interleave"
        return made(transform.Interleave(self._framework, map_func, *how))

    def scan(self, initial_state: Any, scan_func: Any, name: str | None = None):
        """Return a dataset of the outputs of `state, output = scan_func(state, element)`.

        >>> from framework.data import Dataset
        >>> sums = Dataset.range(1, 5).scan(np.int64(0), lambda total, x: (total + x, total + x))
        >>> [x.item() for x in sums]
        [1, 3, 6, 10]
        """
        state = as_element(initial_state, "initial_state")
        return made(transform.Scan(self._framework, state, scan_func))

    def group_by_window(
        self, key_func: Any, reduce_func: Any, window_size: Any = None,
        window_size_func: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of the elements of `reduce_func(key, dataset of a group)`.

        A group consists of successive elements with the same key; elements with other keys may lie
        between them.

        Args:
            key_func: a function of an element that returns one int.
            reduce_func: a function of a key and a Dataset that returns a Dataset.
            window_size: the largest number of elements of a group.
            window_size_func: a function that returns the window size of a key, instead of
                `window_size`.

        >>> from framework.data import Dataset
        >>> pairs = Dataset.range(6).group_by_window(
        ...     lambda x: x % 2, lambda key, group: group.batch(2), window_size=2
        ... )
        >>> [x.tolist() for x in pairs]
        [[0, 2], [1, 3], [4], [5]]
        """
        if (window_size is None) == (window_size_func is None):
            raise InvalidArgumentError(
                "group_by_window: expected one of window_size and window_size_func, got "
                f"{'none' if window_size is None else 'both'}."
            )
        size = window_size_func or (lambda key: window_size)
        how = key_func, reduce_func, size, made, is_pure(key_func)
        return made(grouping.GroupByWindow(self._framework, *how))

    def rejection_resample(
        self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: Any = None,
        name: str | None = None,
    ):  # fmt: skip
        """Return a dataset of pairs (class, element) in which the classes have given frequencies.

        Elements are left out at random; no element is repeated.

        Args:
            class_func: a function of an element that returns its class, an int.
            target_dist: the frequencies of the classes, an array.
            initial_dist: their frequencies in this dataset; estimated while it is read if None.
            seed: an int; drawn from the global generator if None.
        """
        target = _frequencies(target_dist, "target_dist")
        initial = None if initial_dist is None else _frequencies(initial_dist, "initial_dist")
        if initial is not None and len(initial) != len(target):
            raise InvalidArgumentError(
                f"rejection_resample: initial_dist: expected {len(target)} classes as in "
                f"target_dist, got {len(initial)}."
            )
        seed = random.make_seed() if seed is None else seed
        return made(mixing.Resample(self._framework, class_func, target, initial, seed))

    def apply(self, transformation_func: Any):
        """Return `transformation_func(self)`, which must be a Dataset."""
        result = transformation_func(self)
        stage_of(result, "apply: the result of transformation_func")
        return result

    def reduce(self, initial_state: Any, reduce_func: Any, name: str | None = None):
        """Return the final state after `state = reduce_func(state, element)` for each element.

        >>> from framework.data import Dataset
        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).item()
        10
        """
        state = as_element(initial_state, "initial_state")
        for element in self:
            state = as_element(reduce_func(state, element), "reduce_func's result")
        return state


def _frequencies(value, name):
    array = np.asarray(array_in(value, name), np.float64)
    if array.ndim != 1 or not array.size or (array < 0).any() or not array.sum() > 0:
        raise InvalidArgumentError(
            f"rejection_resample: {name}: expected frequencies of classes, got {value!r}."
        )
    return array / array.sum()
