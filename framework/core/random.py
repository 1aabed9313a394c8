"""Random numbers: each draw uses Philox with the seed as key and the draw's number as counter.

A draw does not depend on the sizes of earlier draws or on threads. All draws except `permutation`
and `buffer_slots` go through `draw`, which notifies recorders.
"""

import contextlib
import itertools
import math
import threading
from typing import Any, ClassVar

import numpy as np

from framework.core import dtypes, parallel_run
from framework.core.auto_names import auto_name
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor, drawn_as_zeros
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable

_MANY = 1 << 17  # Draws of at least this many values (0.4 ms on one thread) use several threads.
_SHARE = 1 << 16

# Second word of Philox's key. It makes draws, shuffles and shuffle-buffer positions of one seed
# independent.
_DRAWS, _SHUFFLES, _SLOTS = 0, 1, 2


class _Bits(threading.local):
    """One Philox per thread; setting its key and counter for each draw is 10 times faster than
    creating a new one."""

    place = None  # the `drawing_at` context that is open in this thread, or None
    philox: Any = None

    def begin(self):
        """Create this thread's Philox; `numpy.random` is loaded at its first use."""
        self.philox = np.random.Philox(key=[0, 0])
        self.generator = np.random.Generator(self.philox)
        self.state = self.philox.state

    def at(self, seed, number, use=_DRAWS, counted=0):
        """Set the generator to the start of a draw, or `counted` steps of four 64-bit words after
        it, and return the generator."""
        if self.philox is None:
            self.begin()
        state = self.state
        state["state"]["key"][:] = (seed, use)
        # Each draw has its own range of 2**128 counter values.
        state["state"]["counter"][:] = (counted, 0, number, 0)
        state["buffer_pos"], state["has_uint32"] = 4, 0
        self.philox.state = state
        return self.generator


_bits = _Bits()

# This lock is held while a generator advances, so that no two threads get the same draw.
_turn = threading.Lock()


class SeedGenerator:
    """A seed and the number of draws made with it, as a saved variable `state`.

    Args:
        seed: an int; drawn from the global generator if None.
        name: a string.
    """

    def __init__(self, seed: Any = None, name: str | None = None, **_kwargs: Any):
        if seed is None:
            seed = make_seed()
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InvalidArgumentError(
                f"SeedGenerator: seed must be an int >= 0 or None, got {seed!r}."
            )
        self.name = name or auto_name("SeedGenerator")
        self._initial_seed = int(seed)
        state = np.array([int(seed) % 2**32, 0], np.uint32)
        self.state = KerasVariable(
            state, trainable=False, autocast=False, name="seed_generator_state"
        )
        self.state.path = "/".join([*thread.scope, self.name, "seed_generator_state"])

    def advance(self):
        """Return (seed, number) of the next draw and advance the counter."""
        if thread.stateless is not None:
            seed, number = self.state.read().array.tolist()
            self.state.assign(np.array([seed, number + 1], np.uint32))
            return seed, number
        if _bits.place is not None:
            return _bits.place.next_of(int(self.state.array[0]))
        with _turn:
            seed, number = self.state.array.tolist()
            self.state._array = np.array([seed, number + 1], np.uint32)
        return seed, number

    def next(self, ordered: bool = True):
        """Return the next (seed, number) as a uint32 tensor of shape (2,)."""
        return Tensor(np.array(self.advance(), np.uint32))

    def get_config(self) -> dict[str, Any]:
        return {"seed": self._initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config: Any):
        return cls(**config)


def generator_with(state):
    """Return a SeedGenerator whose state is the given variable.

    Raises:
        ValueError: the variable does not hold a seed and a number of draws.
    """
    if state.array.shape != (2,) or state.array.dtype != np.uint32:
        raise ValueError("expected two uint32 numbers as the state of a generator")
    made = object.__new__(SeedGenerator)
    made.name, made._initial_seed, made.state = state.name, int(state.array[0]), state
    return made


class drawing_at:
    """Context in which this thread's draws depend on a position instead of on earlier draws.

    So functions on several threads draw the same numbers, whatever the order of the threads.

    Args:
        key: an int, such as `place_key(seed, epoch)`.
        number: the position, such as the number of an element.
    """

    def __init__(self, key, number=0):
        self._key, self._drawn = key, (number << 24) % 2**64
        self._outer = None

    def next_of(self, seed):
        """Return (seed, number) of the next draw of a generator with this seed."""
        self._drawn += 1
        return seed ^ self._key, self._drawn

    def __enter__(self):
        self._outer, _bits.place = _bits.place, self
        return self

    def __exit__(self, *_):
        _bits.place = self._outer


def place_key(seed, epoch):
    """Return the `key` argument of `drawing_at` for one iteration over a dataset, an epoch."""
    return int(np.random.SeedSequence([int(seed) % 2**64, epoch]).generate_state(1, np.uint64)[0])


class Stateless:
    """A source whose draws are all the same, as with an int `seed=` argument in Keras."""

    def __init__(self, seed, number=0):
        self._at = int(seed) % 2**64, int(number)

    def advance(self):
        return self._at


class _Global:
    generator = None
    seeded: ClassVar = {}  # op seed -> its generator; cleared by set_seed


def set_seed(seed):
    """Seed the global generator, on which initializers, shuffles and draws without a seed
    depend."""
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    _Global.generator = SeedGenerator(int(seed), "global_seed_generator")
    _Global.seeded = {}


@contextlib.contextmanager
def temporary_seed(seed):
    """Seed the global generator in a `with` block, and restore it afterwards; None: no change."""
    if seed is None:
        yield
        return
    before = _Global.generator, _Global.seeded
    set_seed(seed)
    try:
        yield
    finally:
        _Global.generator, _Global.seeded = before


def global_generator():
    """Return the generator of draws without a seed."""
    if _Global.generator is None:
        set_seed(None)
    return _Global.generator


def seeded(seed):
    """Return the generator for an op seed of TensorFlow's functions; each seed has its own.

    Its draws depend on that seed and the last `set_seed`; each call continues the sequence.
    """
    found = _Global.seeded.get(seed)
    if found is None:
        base = 0 if _Global.generator is None else _Global.generator._initial_seed
        mixed = np.random.SeedSequence([base, int(seed)]).generate_state(1)[0]
        found = _Global.seeded[seed] = SeedGenerator(int(mixed), f"seed_generator_{seed}")
    return found


def seeded_by():
    """Return {op seed: generator} for the generators that `seeded` created since `set_seed`."""
    return dict(_Global.seeded)


def seeded_generators():
    """Return the generators that `seeded` created since the last `set_seed`."""
    return list(_Global.seeded.values())


def make_seed():
    """Return a new seed, drawn from the global generator."""
    return int(_bits.at(*global_generator().advance()).integers(2**31))


def own_generator(seed, epoch):
    """Return a NumPy generator whose numbers depend on (seed, epoch) alone."""
    return np.random.Generator(np.random.Philox(key=place_key(seed, epoch)))


# ---- random draws --------------------------------------------------------------------------------


def draw(source, distribution, shape, dtype="float32", a=0.0, b=1.0) -> Any:
    """Return a tensor of random numbers.

    Args:
        source: a SeedGenerator or Stateless.
        distribution: a key of `DISTRIBUTIONS`; `a` and `b` are its parameters, numbers or arrays.
        shape: a tuple of ints; a symbolic call, which draws nothing, may have None in it.
        dtype: the dtype of the result.
    """
    dtype = dtypes.as_dtype(dtype)
    if thread.symbolic is not None:
        if type(thread.symbolic) is drawn_as_zeros:
            return Tensor(np.zeros(shape, dtype.np))
        return KerasTensor(shape, dtype)
    again = Draw(source, distribution, tuple(shape), dtype, a, b)
    tensor = Tensor(again())
    for recorder in thread.stack:
        recorder.random_draw(again, tensor)
    return tensor


class Draw:
    """A repeatable draw: each call returns the next draw of its source, as an array."""

    __slots__ = ("a", "b", "distribution", "dtype", "shape", "source")

    def __init__(self, source, distribution, shape, dtype, a, b):
        self.source, self.distribution, self.shape = source, distribution, shape
        self.dtype, self.a, self.b = dtype, a, b

    def __call__(self):
        at = self.source.advance()
        if self.distribution == "uniform" and math.prod(self.shape) >= _MANY:
            generator = _Shared(at)
        else:
            generator = _bits.at(*at)
        array = DISTRIBUTIONS[self.distribution](generator, self.shape, self.dtype, self.a, self.b)
        return np.asarray(array, self.dtype.np)


class _Shared:
    """A generator that computes the numbers of `_bits.at(*at)` on several threads."""

    def __init__(self, at):
        self._at = at

    def random(self, shape, dtype):
        """Return uniform random numbers from 0 to 1."""
        numbers = np.empty(shape, dtype)
        flat = numbers.reshape(-1)
        in_count = 32 // numbers.itemsize

        def part(start):
            generator = _bits.at(*self._at, counted=start // in_count)
            generator.random(out=flat[start : start + _SHARE], dtype=dtype)

        parallel_run.run(part, range(0, flat.size, _SHARE))
        return numbers


def _float(dtype):
    """Return the dtype to draw floats in: float32 for 16-bit floats, which NumPy cannot draw."""
    return np.float64 if dtype == "float64" else np.float32


def _uniform(generator, shape, dtype, low, high):
    unit = generator.random(shape, dtype=_float(dtype))
    numbers = unit if (low, high) == (0.0, 1.0) else unit * _float(dtype)(high - low) + low
    return _below(np.asarray(numbers, dtype.np), low, high) if dtype.size < 4 else numbers


def _below(numbers, low, high):
    """Return the numbers as 16-bit floats below `high`; one that was rounded up to `high` becomes
    the next smaller float."""
    low, high = (np.asarray(bound, numbers.dtype) for bound in (low, high))
    return np.where(numbers == high, np.nextafter(high, low), numbers)


def _normal(generator, shape, dtype, mean, stddev):
    unit = generator.standard_normal(shape, dtype=_float(dtype))
    return unit if (mean, stddev) == (0.0, 1.0) else unit * _float(dtype)(stddev) + mean


def _truncated_normal(generator, shape, dtype, mean, stddev):
    """Draw from a normal distribution; redraw values beyond two standard deviations."""
    unit = np.asarray(generator.standard_normal(shape, dtype=_float(dtype)))
    while (beyond := np.abs(unit) > 2).any():
        unit[beyond] = generator.standard_normal(int(beyond.sum()), dtype=_float(dtype))
    return unit * _float(dtype)(stddev) + mean


def _integers(generator, shape, dtype, low, high):
    return generator.integers(low, high, shape, dtype=np.int64)


def _gamma(generator, shape, dtype, alpha, _):
    return generator.standard_gamma(alpha, shape)


def _beta(generator, shape, dtype, alpha, beta):
    return generator.beta(alpha, beta, shape)


def _poisson(generator, shape, dtype, rate, _):
    return generator.poisson(rate, shape)


def _binomial(generator, shape, dtype, counts, probabilities):
    return generator.binomial(np.asarray(counts).astype(np.int64), probabilities, shape)


def _whole_range(generator, shape, dtype, _low, _high):
    limits = np.iinfo(dtype.np)
    return generator.integers(limits.min, limits.max, shape, dtype.np, endpoint=True)


def _classes(generator, shape, dtype, edges, unique):
    """Draw class indices; the last element of the result is the number of draws that were needed.

    Args:
        edges: the cumulative probabilities of the classes, up to 1.
        unique: whether the classes must differ; draws continue until enough of them do.
    """
    wanted = shape[0] - 1
    drawn = np.zeros(0, np.int64)
    while True:
        unit = generator.random(max(wanted, len(drawn)))
        drawn = np.concatenate([drawn, np.searchsorted(edges, unit, "right")])
        if not unique:
            return np.append(drawn[:wanted], wanted)
        first = np.sort(np.unique(drawn, return_index=True)[1])
        if len(first) >= wanted:
            kept = first[:wanted]
            return np.append(drawn[kept], kept[-1] + 1)


DISTRIBUTIONS = {
    "uniform": _uniform,
    "normal": _normal,
    "truncated_normal": _truncated_normal,
    "integers": _integers,
    "gamma": _gamma,
    "beta": _beta,
    "poisson": _poisson,
    "binomial": _binomial,
    "bits": _whole_range,
    "classes": _classes,
}


def permutation(seed, epoch, n):
    """Return a random order of `n` rows, which depends only on (seed, epoch, n)."""
    return _bits.at(int(seed) % 2**64, int(epoch), _SHUFFLES).permutation(n)


def buffer_slots(seed, epoch, size):
    """Yield random positions in a shuffle buffer; they depend only on (seed, epoch, size)."""
    for block in itertools.count():
        bits = _bits.at(int(seed) % 2**64, (int(epoch) << 32) + block, _SLOTS)
        yield from bits.integers(size, size=1024).tolist()
