"""Images flipped and moved by copies of slices: the bits of the ops."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import pixel_copies
from framework.layers.images import geometry
from framework.ops import warping
from tests import kernel_forms
from tests.changed import changed

RNG = np.random.default_rng(0)


@pytest.fixture(params=kernel_forms.FORMS, autouse=True)
def copying(request, change):
    kernel_forms.use(request.param, pixel_copies, change)


MODES = ["horizontal", "vertical", "horizontal_and_vertical"]


def by_both(compute):
    """Return the results of the copies and of the ops; assert that there were copies."""
    copies, without = [], lambda *args: None
    spied = {
        name: lambda *args, f=f: copies.append(f(*args)) or copies[-1]
        for name, f in {
            "shifted": warping.shifted, "flipped_where": geometry.flipped_where
        }.items()
    }  # fmt: skip
    with (
        changed(warping, shifted=spied["shifted"]),
        changed(geometry, flipped_where=spied["flipped_where"]),
    ):
        one = compute()
    with changed(warping, shifted=without), changed(geometry, flipped_where=without):
        other = compute()
    return one, other, copies


def assert_equal(one, other):
    assert (one.shape, one.dtype) == (other.shape, other.dtype)
    assert one.numpy().tobytes() == other.numpy().tobytes()


@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_layers(dtype, data_format):
    for trial in range(30):
        shape = RNG.integers(1, 9, 4)
        x = (RNG.normal(size=shape) * 50).astype(dtype)

        def augmented(trial=trial, x=x):
            how = {"seed": trial, "data_format": data_format}
            flip = keras.layers.RandomFlip(MODES[trial % 3], **how)
            factors = (0.1 * (trial % 10), 0.9 - 0.1 * (trial % 8))
            move = keras.layers.RandomTranslation(
                *factors, "constant", "nearest", fill_value=3.0, **how
            )
            return flip(x, training=True), move(x, training=True)

        one, other, copies = by_both(augmented)
        assert len(copies) == 2
        assert None not in copies
        for a, b in zip(one, other):
            assert_equal(a, b)


@pytest.mark.parametrize("shift", [0, 0.5, 1, 1.5, -0.5, -2.5, 7, 100, 1e9])
def test_whole_and_half_pixels(shift):
    table = np.zeros((3, 8), np.float32)
    table[:, 0] = table[:, 4] = 1
    table[:, 2], table[1, 5] = shift, -shift
    x = tf.constant(RNG.normal(size=(3, 6, 5, 2)).astype("float32"))
    how = {"order": 0, "mode": "constant", "fill": 1.5, "affine": True, "straight": True}
    one, other, _ = by_both(lambda: warping.projected(x, tf.constant(table), size=(7, 4), **how))
    assert_equal(one, other)


def test_offsets_near_halves_of_pixels():
    rng, how = np.random.default_rng(1), {"mode": "constant", "fill": -1.0, "affine": True}
    for size in (3, 33, 1000):
        x = tf.constant(rng.normal(size=(40, size, 1, 1)).astype("float32"))
        table = np.zeros((40, 8), np.float32)
        table[:, 0] = table[:, 4] = 1
        halves = rng.integers(-size, size, 40) + 0.5
        table[:, 5] = halves + rng.choice([-1, 1], 40) * 10.0 ** rng.uniform(-9, -1, 40)
        rows = np.split(np.arange(40), 20)  # a row halfway leaves all others to the ops
        for two in rows:
            one, other, _ = by_both(
                lambda two=two, x=x, table=table, size=size: warping.projected(
                    tf.gather(x, two), tf.constant(table[two]), size=(size, 1), order=0,
                    straight=True, **how,
                )
            )  # fmt: skip
            assert_equal(one, other)


def test_gradients_and_traces_take_the_ops():
    layers = [
        keras.layers.RandomFlip("horizontal", seed=1),
        keras.layers.RandomTranslation(0.3, 0.3, "constant", "nearest", seed=1),
    ]
    x = tf.constant(RNG.normal(size=(4, 6, 5, 1)).astype("float32"))
    for layer in layers:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        assert set(np.unique(tape.gradient(y, x).numpy())) <= {0.0, 1.0}


def test_other_transforms_take_the_ops():
    how = {"fill_mode": "constant", "interpolation": "nearest", "seed": 1}
    x = RNG.normal(size=(4, 6, 5, 1)).astype("float32")
    one, other, copies = by_both(lambda: keras.layers.RandomZoom(0.5, **how)(x, training=True))
    assert copies == [None]
    assert_equal(one, other)
