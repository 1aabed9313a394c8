import inspect

import numpy as np
import pytest

import framework as tf
from framework import initializers, keras
from framework.core import random
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.initializers import compute_fans

# name -> (shape, what the standard deviation is, what the largest magnitude may be)
SHAPE = (200, 100)
SPREAD = {
    "RandomNormal": (0.05, np.inf),
    "RandomUniform": (0.1 / np.sqrt(12), 0.05),
    "TruncatedNormal": (0.05 * 0.8796, 0.1),
    "VarianceScaling": (np.sqrt(1 / 200), np.inf),
    "GlorotUniform": (np.sqrt(2 / 300), np.sqrt(6 / 300)),
    "GlorotNormal": (np.sqrt(2 / 300), 2 * np.sqrt(2 / 300) / 0.8796),
    "HeUniform": (np.sqrt(2 / 200), np.sqrt(6 / 200)),
    "HeNormal": (np.sqrt(2 / 200), 2 * np.sqrt(2 / 200) / 0.8796),
    "LecunUniform": (np.sqrt(1 / 200), np.sqrt(3 / 200)),
    "LecunNormal": (np.sqrt(1 / 200), 2 * np.sqrt(1 / 200) / 0.8796),
    "Orthogonal": (1 / np.sqrt(200), np.inf),
}
PLAIN = {"Zeros", "Ones", "Constant", "Identity", "STFT"}


def test_every_initializer_is_tested():
    assert set(initializers.initializers.by_name) == set(SPREAD) | PLAIN


@pytest.mark.parametrize("name", SPREAD)
def test_spread(name):
    values = np.asarray(getattr(initializers, name)(seed=1)(SHAPE))
    deviation, largest = SPREAD[name]
    assert values.dtype == np.float32
    assert values.mean() == pytest.approx(0, abs=4 * deviation / np.sqrt(values.size))
    assert values.std() == pytest.approx(deviation, rel=0.012)
    assert np.abs(values).max() <= largest * 1.0001


@pytest.mark.parametrize("name", SPREAD)
def test_seeds(name):
    cls = getattr(initializers, name)
    one = cls(seed=3)
    assert np.array_equal(one(SHAPE), one(SHAPE))  # stateless
    assert np.array_equal(one(SHAPE), cls(seed=3)(SHAPE))
    assert not np.array_equal(one(SHAPE), cls(seed=4)(SHAPE))
    moving = cls(seed=random.SeedGenerator(3))
    assert not np.array_equal(moving(SHAPE), moving(SHAPE))
    random.set_seed(5)
    first, other = cls()(SHAPE), cls()(SHAPE)
    assert not np.array_equal(first, other)
    random.set_seed(5)
    assert np.array_equal(first, cls()(SHAPE))


@pytest.mark.parametrize("name", sorted({*SPREAD, *PLAIN}))
def test_config_round_trip(name):
    cls = getattr(initializers, name)
    made = cls(seed=7) if "seed" in inspect.signature(cls).parameters else cls()
    again = initializers.deserialize(initializers.serialize(made))
    assert again.get_config() == made.get_config() == made.clone().get_config()
    shape = (3, 1, 3) if name == "STFT" else (3, 3)
    assert np.array_equal(again(shape, "float64"), made(shape, "float64"))
    assert made(shape, "float64").dtype == "float64"


def test_plain_ones():
    assert initializers.Zeros()((2,)).numpy().tolist() == [0, 0]
    assert initializers.Ones()((2,), "int32").numpy().tolist() == [1, 1]
    assert initializers.Constant(2.5)((2,)).numpy().tolist() == [2.5, 2.5]
    assert initializers.Constant([1.0, 2.0])((2, 2)).numpy().tolist() == [[1, 2], [1, 2]]
    assert np.array_equal(initializers.Identity(2.0)((2, 3)), 2 * np.eye(2, 3))
    with pytest.raises(ShapeError, match=r"two axes, got \(2,\)"):
        initializers.Identity()((2,))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 3, 4)])
def test_orthogonal_rows_or_columns(shape):
    q = np.asarray(initializers.Orthogonal(gain=2.0, seed=1)(shape, "float64"))
    q = q.reshape(-1, shape[-1]) / 2
    small = q.T @ q if q.shape[0] >= q.shape[1] else q @ q.T
    np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "axes", "fans"),
    [
        ((), (), (1, 1)),
        ((7,), (), (7, 7)),
        ((3, 5), (), (3, 5)),
        ((3, 3, 4, 8), (), (36, 72)),
        ((4, 2, 3), ([0], [1, 2]), (4, 6)),
    ],
)
def test_fans(shape, axes, fans):
    assert compute_fans(shape, *axes) == fans


def test_get():
    assert initializers.get(None) is None
    assert type(initializers.get("glorot_uniform")) is initializers.GlorotUniform
    assert type(initializers.get(initializers.Ones)) is initializers.Ones
    given = initializers.get(np.eye(2))
    assert given((2, 2), "float32").numpy().tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ShapeError, match="the array given has shape"):
        given((3, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: initializers.get("glorot"), "Unknown initializer: 'glorot'; did you mean"),
        (lambda: initializers.RandomNormal(seed="a"), "RandomNormal: argument seed='a'"),
        (lambda: initializers.VarianceScaling(scale=0), "scale=0: expected a number > 0"),
        (lambda: initializers.VarianceScaling(mode="fan"), "mode='fan'.*did you mean 'fan_"),
        (lambda: initializers.VarianceScaling(distribution="x"), "distribution='x'"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(InvalidArgumentError, match=message):
        make()


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("scaling", "order"), [("density", 2), ("spectrum", 1), (None, None)])
def test_stft_kernels_transform_windows(scaling, order, periodic):
    """Both kernels together give NumPy's transform of the windowed signal."""
    window = np.hanning(9)[:8] if periodic else np.hanning(8)
    real, imag = (
        np.asarray(initializers.STFT(side, "hann", scaling, periodic)((8, 1, 5), "float64"))
        for side in ("real", "imag")
    )
    x = np.random.default_rng(1).normal(size=8)
    expected = np.fft.rfft(x * window) / (np.linalg.norm(window, order) if order else 1)
    np.testing.assert_allclose(x @ real[:, 0] + 1j * (x @ imag[:, 0]), expected, atol=1e-12)


def test_stft_takes_the_values_of_a_window():
    own, named = (initializers.STFT(window=w)((6, 1, 4)) for w in (np.hamming(6), "hamming"))
    np.testing.assert_array_equal(own, named)
    with pytest.raises(ShapeError, match=r"window of shape \(6,\)"):
        initializers.STFT(window=[1.0, 2.0])((6, 1, 4))


def test_names_of_tensorflow():
    listed = [name for name in dir(keras.initializers) if name[0].islower()]
    classes = {name: getattr(keras.initializers, name) for name in listed}
    classes = {name: c for name, c in classes.items() if isinstance(c, type)}
    assert len(classes) == 16
    assert all(getattr(tf.initializers, name) is c for name, c in classes.items())
