"""The form of an op's samples, and the arrays they are built from."""

import zlib
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Sample:
    """Arguments and attributes of one call.

    `any_batch`: whether the call fits a leading dimension of another size; or the positions of the
    arguments that have one.
    `other_floats`: whether the same call works on float32 and float16.
    `symmetric`: the arguments are symmetric matrices, and derivatives are taken among such.
    """

    args: tuple
    attrs: dict = field(default_factory=dict)
    any_batch: bool | tuple = True
    other_floats: str = "float32 float16"
    symmetric: bool = False


def generator(name):
    """Return a random generator that is the same in every run, another one for each name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


_rng = generator("samples")


def restart(name):
    """Start the random numbers of a sample file, so that they do not depend on other files."""
    global _rng
    _rng = generator(name)


def real(*shape, low=-2.0, high=2.0, off=0.15):
    """Random numbers, none nearer to zero than `off`, nor to each other than a hundredth of it."""
    n = int(np.prod(shape))
    spread = np.linspace(low, high, n + 2)[1:-1] if n else np.zeros(0)
    values = _rng.permutation(spread).reshape(shape)
    return np.asarray(values + np.where(values < 0, -off, off) if low < 0 < high else values)


def integers(*shape, below):
    return _rng.integers(0, below, shape)


def booleans(*shape):
    return np.asarray(_rng.random(shape) < 0.5)


def call(*args, any_batch=True, other_floats="float32 float16", **attrs):
    return Sample(args, attrs, any_batch, other_floats)


def fixed_size(*args, **attrs):
    """A call whose attributes fit this leading dimension only."""
    return Sample(args, attrs, any_batch=False)


def no_float16(*args, **attrs):
    """A call that NumPy computes in float32 and float64 only."""
    return Sample(args, attrs, other_floats="float32")


def well_conditioned(n):
    return np.eye(n) * 3 + real(n, n, low=-0.5, high=0.5)
