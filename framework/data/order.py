"""Pipeline stages that select, order, repeat, cache or combine elements unchanged."""

import functools
from itertools import chain, count, islice

from framework.core import nest
from framework.core.random import drawing_at, place_key
from framework.data.prefetch import Ahead
from framework.data.row_gathering import (
    Rows,
    computed,
    shuffled,
    shuffled_order,
    shuffled_passes,
)
from framework.data.stage import INFINITE, UNKNOWN, IndexStage, Stage, common_spec
from framework.data.structure import packer


class Slice(IndexStage):
    """A pipeline stage for `take`, `skip` and `shard`: yields elements start, start + step, ..."""

    direct = True

    def __init__(self, parent, start, stop, step=1):
        super().__init__(parent)
        self.bounds = start, stop, step

    def length(self):
        n, (start, stop, step) = self.parent.length(), self.bounds
        if n == UNKNOWN or (n == INFINITE and stop is None):
            return n
        end = stop if n == INFINITE else n if stop is None else min(n, stop)
        return len(range(start, end, step))

    def rows(self):
        return self.parent.rows().select(slice(*self.bounds))

    def elements(self):
        return islice(self.parent.iterate(), *self.bounds)

    def after(self, count):
        if self.indexed:
            return super().after(count)
        start, stop, step = self.bounds
        begin = start + count * step
        return islice(
            self.parent.after(begin), 0, None if stop is None else max(stop - begin, 0), step
        )


class Shuffle(IndexStage):
    """A pipeline stage that shuffles elements; the order depends on a seed and the iteration."""

    def __init__(self, parent, buffer_size, seed, reshuffle):
        super().__init__(parent)
        self.buffer_size, self.seed, self.reshuffle = buffer_size, seed, reshuffle
        self.epoch = 0

    def _keys(self):
        epoch = self.epoch
        self.epoch += bool(self.reshuffle)
        return self.buffer_size, self.seed, epoch

    def rows(self):
        rows = self.parent.rows()
        return rows.select(shuffled_order(len(rows), *self._keys()))

    def elements(self):
        return shuffled(self.parent.iterate(), *self._keys())

    @property
    def streams(self):
        return self.parent.streams

    def passes(self):
        if not self.streams:
            return super().passes()
        return shuffled_passes(self.parent.passes(), *self._keys())


class Repeat(Stage):
    """A pipeline stage that repeats the elements `times` times, or infinitely if None.

    It ends when an iteration has no elements.
    """

    def __init__(self, parent, times):
        super().__init__(parent)
        self.times = times

    def _numbers(self):
        return count() if self.times is None else range(self.times)

    def length(self):
        n = self.parent.length()
        if self.times is None:
            return 0 if n == 0 else INFINITE
        return n * self.times if n >= 0 or self.times == 0 else n

    def elements(self):
        for _ in self._numbers():
            empty = True
            for element in self.parent.iterate():
                empty = False
                yield element
            if empty:
                return

    @property
    def streams(self):
        return self.parent.streams

    def passes(self):
        return self._passes() if self.parent.indexed or self.streams else None

    def _passes(self):
        for _ in self._numbers():
            empty = True
            for rows in self.parent.passes():
                empty &= not len(rows)
                yield rows
            if empty:
                return


class Cache(IndexStage):
    """A pipeline stage that keeps the elements in memory after the first complete iteration."""

    kept = None
    mapped = False  # cached rows are results, so no mapped function remains to be called

    def rows(self):
        if self.kept is None:
            rows = self.parent.rows()
            self.kept = computed(rows) if rows.maps else rows
        return self.kept

    def elements(self):
        return self._fill() if self.kept is None else iter(self.kept)

    def _fill(self):
        seen = []
        for element in self.parent.iterate():
            seen.append(element)
            yield element
        self.kept = seen


class Prefetch(IndexStage):
    """A pipeline stage that computes elements ahead in a thread, if user code computes them.

    Random draws of user code depend on the seed and the number of the iteration, not on the thread.
    """

    def __init__(self, parent, size, seed=None):
        super().__init__(parent)
        self.size = size
        if self.python and self.size:
            self.seed, self.epoch = seed, 0

    def elements(self):
        return self._ahead(self.parent.iterate)

    def after(self, count):
        return super().after(count) if self.indexed else self._ahead(self.parent.after, count)

    def _ahead(self, make, *args):
        if self.epoch is None:
            return make(*args)
        within = drawing_at(place_key(self.seed, self.epoch), sum(args))
        self.epoch += 1
        return Ahead(functools.partial(make, *args), self.size, within)

    @property
    def streams(self):
        return self.parent.streams

    def passes(self):
        return self._ahead(self.parent.passes) if self.streams else self.parent.passes()


class Zip(Stage):
    """A pipeline stage that yields nests of one element per dataset, until the shortest ends."""

    direct = True

    def __init__(self, structure):
        super().__init__(*nest.flatten(structure))
        self.pack = packer(structure)

    @property
    def indexed(self):
        return all(p.indexed for p in self.parents) and not any(p.mapped for p in self.parents)

    def length(self):
        lengths = [parent.length() for parent in self.parents]
        if UNKNOWN in lengths:
            return UNKNOWN
        return min((n for n in lengths if n != INFINITE), default=INFINITE)

    def spec(self):
        return self.pack([parent.spec() for parent in self.parents])

    def rows(self):
        sides = [parent.rows() for parent in self.parents]
        shortest = slice(min(len(side) for side in sides))
        sides = [side.select(shortest) for side in sides]
        return Rows(
            self.pack([side.structure for side in sides]),
            [array for side in sides for array in side.arrays],
            [order for side in sides for order in side.orders],
        )

    def elements(self):
        return map(self._together, zip(*(parent.iterate() for parent in self.parents)))

    def after(self, count):
        if self.indexed:
            return super().after(count)
        return map(self._together, zip(*(parent.after(count) for parent in self.parents)))

    def _together(self, parts):
        return self.pack(parts)


class Concatenation(Stage):
    """A pipeline stage that yields the elements of one dataset, then those of another."""

    def length(self):
        lengths = [parent.length() for parent in self.parents]
        for special in (INFINITE, UNKNOWN):
            if special in lengths:
                return special
        return sum(lengths)

    def spec(self):
        return nest.map_structure(common_spec, *(parent.spec() for parent in self.parents))

    def elements(self):
        return chain.from_iterable(parent.iterate() for parent in self.parents)

    def after(self, count):
        first, *others = self.parents
        length = first.length()
        if 0 <= length <= count and len(others) == 1:
            return others[0].after(count - length)
        return (
            chain(first.after(count), *(parent.iterate() for parent in others))
            if length == INFINITE or count < length
            else super().after(count)
        )


class WithOptions(IndexStage):
    """A pipeline stage that stores options; the elements stay the same."""

    direct = True

    def __init__(self, parent, options):
        super().__init__(parent)
        self.options = options

    def after(self, count):
        return self.parent.after(count)

    @property
    def streams(self):
        return self.parent.streams

    def passes(self):
        return self.parent.passes()
