"""Generator: a random number generator with its own state."""

from typing import Any

import numpy as np

from framework.core import dtypes, random
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.operations import always, operation
from framework.functions.creation import sizes
from framework.functions.distributions import binomial_numbers
from framework.functions.sampling import between, located


class Generator:
    """A random number generator with its own state.

    >>> import framework as tf
    >>> a, b = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    >>> bool(tf.reduce_all(a.normal([2]) == b.normal([2])))
    True
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None):
        if copy_from is None and state is None:
            raise InvalidArgumentError(
                "Generator: expected `copy_from` or `state`, got neither. "
                "Use Generator.from_seed(seed)."
            )
        if copy_from is not None:
            state = copy_from.state
        self._generator = random.SeedGenerator(0)
        self.reset(state)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None):
        """Return a generator whose numbers `seed` determines."""
        _check_algorithm(alg)
        return cls(state=(int(seed) % 2**32, 0))

    @classmethod
    def from_state(cls, state: Any, alg: Any):
        """Return a generator that continues from `state`."""
        _check_algorithm(alg)
        return cls(state=state)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None):
        """Return a generator seeded by the operating system."""
        return cls.from_seed(int(np.random.SeedSequence().generate_state(1)[0]))

    @classmethod
    def from_key_counter(cls, key: TensorLike, counter: Any, alg: Any):
        """Return a generator seeded by `key` that skips `counter` draws, an int or (int, 0)."""
        _check_algorithm(alg)
        return cls(state=_state_of(key, counter))

    @property
    def state(self):
        """The variable that holds (seed, number of draws)."""
        return self._generator.state

    @property
    def algorithm(self):
        """The number 1, TensorFlow's code for the Philox algorithm."""
        return _PHILOX

    @property
    def key(self):
        """The seed, as a 0-d tensor."""
        return self._generator.state.read()[0]

    def reset(self, state: Any) -> None:
        """Continue from `state`."""
        self._generator.state.assign(cast(tensor(np.asarray(state)), dtype=np.dtype(np.uint32)))

    def reset_from_seed(self, seed: Any) -> None:
        """Restart from `seed`."""
        self.reset((int(seed) % 2**32, 0))

    def reset_from_key_counter(self, key: TensorLike, counter: Any) -> None:
        """Restart from the seed `key`, and skip `counter` draws, an int or a pair (int, 0)."""
        self.reset(_state_of(key, counter))

    def skip(self, delta: TensorLike) -> None:
        """Skip `delta` draws."""
        seed, number = np.asarray(self.state).tolist()
        self.reset((seed, number + int(delta)))

    @operation
    def make_seeds(self, count: Any = 1):
        """Return seeds for stateless functions: an int64 tensor of shape (2, count)."""
        return random.draw(self._generator, "integers", (2, int(count)), dtypes.int64, 0, 2**31)

    def split(self, count: Any = 1):
        """Return `count` new generators, independent of this one and of each other."""
        seeds = np.asarray(self.make_seeds(count))[0]
        return [type(self).from_seed(int(seed)) for seed in seeds]

    @operation
    def normal(
        self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32, name: str | None = None,
    ):  # fmt: skip
        """Draw normally distributed numbers."""
        return located(self._generator, "normal", shape, dtype, mean, stddev, "normal")

    @operation
    def truncated_normal(
        self, shape: ShapeLike, mean: TensorLike = 0.0, stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32, name: str | None = None,
    ):  # fmt: skip
        """Draw normal numbers within two standard deviations of the mean."""
        what = "truncated_normal"
        return located(self._generator, what, shape, dtype, mean, stddev, what)

    @operation
    def uniform(
        self, shape: ShapeLike, minval: TensorLike = 0, maxval: TensorLike = None,
        dtype: DTypeLike = dtypes.float32, name: str | None = None,
    ):  # fmt: skip
        """Draw uniform numbers from `minval` to below `maxval`."""
        return between(self._generator, shape, dtype, minval, maxval, "uniform")

    @operation
    def uniform_full_int(
        self, shape: ShapeLike, dtype: DTypeLike = dtypes.uint64, name: str | None = None,
    ):  # fmt: skip
        """Draw uniform integers over the whole range of `dtype`."""
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_integer:
            raise DTypeError(f"uniform_full_int: expected an integer dtype, got {dtype}.")
        return random.draw(self._generator, "bits", sizes(shape, "uniform_full_int"), dtype)

    @always
    def binomial(
        self, shape: ShapeLike, counts: TensorLike, probs: TensorLike,
        dtype: DTypeLike = dtypes.int32, name: str | None = None,
    ):  # fmt: skip
        """Draw the numbers of successes in `counts` trials with probability `probs`.

        Args:
            shape: the shape of the result, to which `counts` and `probs` broadcast.
            dtype: the dtype of the result.
        """
        return binomial_numbers(self._generator, shape, counts, probs, dtype, "binomial")


def _check_algorithm(alg):
    if alg not in (None, _PHILOX, "philox", "auto_select", 3):
        raise InvalidArgumentError(f"Generator: `alg` must be 'philox', got {alg!r}.")


def _state_of(key, counter):
    counter = np.atleast_1d(np.asarray(counter))
    if counter.dtype.kind not in "iu" or counter.size not in (1, 2) or counter[1:].any():
        raise InvalidArgumentError(
            f"Generator: `counter` must be an integer, or a pair (number, 0), got {counter}."
        )
    return int(key) % 2**32, int(counter[0])


_PHILOX = 1
_global = []


def get_global_generator() -> Generator:
    """Return the global generator."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Any) -> None:
    """Make `generator` the global generator."""
    _global[:] = [generator]
