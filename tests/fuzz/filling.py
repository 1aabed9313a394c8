"""Fill expressions in from the values that there are."""

import re

import numpy as np

_PLACE = re.compile(r"\{(\w+)\}")


class MisfitError(Exception):
    """No value fits a place."""


class Filler:
    """Fills in an expression from the values that there are.

    Args:
        rng: `random.Random`.
        values: name -> tensor.
        states: texts of plain values.
    """

    def __init__(self, rng, values, states=()):
        self.rng, self.values, self.states = rng, values, states

    def fill(self, template):
        self.first, self.known = None, {}
        return _PLACE.sub(lambda found: self.place(found[1]), template)

    def place(self, name):
        if name not in self.known:
            known = getattr(self, f"_{name}", None)
            self.known[name] = known() if known else self.value(name)
        return self.known[name]

    def value(self, place):
        letter = place[0]
        fits = [n for n, v in self.values.items() if self.fitting(letter, v)]
        if not fits:
            raise MisfitError(place)
        if self.rng.random() < 0.6:
            fits = fits[-3:]
        name = self.rng.choice(fits)
        if self.first is None:
            self.first = self.values[name]
        return name

    def fitting(self, letter, value):
        kind = value.dtype
        floating = kind.is_floating
        if letter == "v":
            return floating and hasattr(value, "assign")
        if letter in "FNAM" and self.first is not None and kind != self.first.dtype:
            return False
        if letter in "mM":
            return floating and len(value.shape) >= 2
        if letter == "s":
            return floating and len(value.shape) >= 1 and value.shape[0] > 0
        return {
            "f": floating, "F": floating, "n": floating or kind.is_integer, "i": kind.is_integer,
            "N": True, "b": kind == "bool", "c": kind.is_complex,
        }.get(letter, True)  # fmt: skip

    # ---- what follows from the first value ----

    @property
    def shape(self):
        return tuple(self.first.shape) if self.first is not None else (2,)

    def _axis(self):
        rank = len(self.shape)
        if not rank:
            raise MisfitError("axis")
        return str(self.rng.randrange(-rank, rank))

    def _leading(self):
        return str(list(range(len(self.shape) - 1)))

    def _number(self):
        if self.first is not None and self.first.dtype.is_integer:
            return str(self.rng.choice([1, 2, 3, 0, -1]))
        return str(self.rng.choice([0.5, 2.0, -1.5, 1.0, 0.0, 3.0, 0.1, 1e-3]))

    def _whole(self):
        return str(self.rng.choice([2, 3, 1, 0, -1]))

    def _nonzero(self):
        return str(self.rng.choice([2, 3]))

    def _perm(self):
        axes = list(range(len(self.shape)))
        self.rng.shuffle(axes)
        return str(axes)

    def _reshaped(self):
        size = int(np.prod(self.shape))
        fits = [[-1, n] for n in (1, 2, 3, 4, 5) if size and size % n == 0] or [[size]]
        return str(self.rng.choice([*fits, [size, 1], [1, size]]))

    def _wider(self):
        shape = [3 if n == 1 and self.rng.random() < 0.7 else n for n in self.shape]
        return str([2, *shape] if self.rng.random() < 0.5 else shape)

    def _ones_or_twos(self):
        return str([self.rng.choice([1, 2]) for _ in self.shape])

    def _pads(self):
        return str([[self.rng.choice([0, 1]), self.rng.choice([0, 1])] for _ in self.shape])

    def _zeros(self):
        return str([0] * len(self.shape))

    def _minus_ones(self):
        return str([-1] * len(self.shape))

    def _ids(self):
        return str([self.rng.randrange(3) for _ in range(self.shape[0] if self.shape else 2)])

    def _slices(self):
        kinds = ["0", "-1", ":1", "1:", "::2", "::-1", ":", "None", "1:3", ":-1", "..."]
        count = self.rng.randint(1, max(1, min(2, len(self.shape))))
        return ", ".join(self.rng.choice(kinds) for _ in range(count))

    def _state(self):
        if not self.states:
            raise MisfitError("state")
        return self.rng.choice(self.states)
