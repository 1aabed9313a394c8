"""Ties, kinks, infinities, control flow, clipping: sections 11 to 13 of TensorFlow's contract."""

import math

import numpy as np
import pytest

import framework as tf
from tests.autodiff.values import values

NAN, INF = math.nan, math.inf


def gradients(f, *args, dtype=tf.float32):
    """Of the sum of f(*args), by all arguments."""
    sources = [tf.constant(a, dtype) for a in args]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = f(*sources)
    return values(tape.gradient(y, sources))


def clip(x, low, high):
    return tf.clip_by_value(x, low, high)


PINNED = {  # (function, arguments, gradients)
    "where, below": (lambda x: tf.where(x < 10.0, x, x * x), [5.0], [1.0]),
    "where, above": (lambda x: tf.where(x < 10.0, x, x * x), [50.0], [100.0]),
    "reduce_max shares ties": (lambda x: tf.reduce_max(x), [[3.0, 1.0, 3.0]], [[0.5, 0.0, 0.5]]),
    "reduce_min shares ties": (lambda x: tf.reduce_min(x), [[1.0, 1.0, 3.0]], [[0.5, 0.5, 0.0]]),
    "maximum at a tie": (tf.maximum, [2.0, 2.0], [1.0, 0.0]),
    "minimum at a tie": (tf.minimum, [2.0, 2.0], [1.0, 0.0]),
    "abs at 0": (tf.abs, [[-2.0, 0.0, 2.0]], [[-1.0, 0.0, 1.0]]),
    "relu at 0": (lambda x: tf.nn.relu(x), [[-1.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]]),
    "clip at its bounds": (
        clip, [[0.0, 1.0, 2.0, 5.0], 1.0, 2.0], [[0.0, 1.0, 1.0, 0.0], 1.0, 1.0],
    ),
    "sign": (tf.sign, [[-1.0, 0.0, 2.0]], [[0.0, 0.0, 0.0]]),
    "sqrt at 0": (tf.sqrt, [[0.0, 4.0]], [[INF, 0.25]]),
    "x**0 at 0": (lambda x: x**0.0, [[0.0, 1.0]], [[NAN, 0.0]]),
    "x**2 at 0": (lambda x: tf.pow(x, 2.0), [[0.0, 3.0]], [[0.0, 6.0]]),
    "x**1 at 0": (lambda x: tf.pow(x, 1.0), [[0.0, 3.0]], [[1.0, 1.0]]),
    "norm at 0": (lambda x: tf.norm(x), [[0.0, 0.0]], [[NAN, NAN]]),
    "where keeps sqrt's infinity out": (
        lambda x: tf.where(x > 0.0, tf.sqrt(x), 0.0), [[0.0, 4.0]], [[0.0, 0.25]],
    ),
    "xlogy at 0": (lambda x, y: tf.math.xlogy(x, y), [0.0, 0.0], [0.0, 0.0]),
    "xlogy": (lambda x, y: tf.math.xlogy(x, y), [2.0, 1.0], [0.0, 2.0]),
    "xlog1py at 0": (lambda x, y: tf.math.xlog1py(x, y), [0.0, -1.0], [0.0, 0.0]),
    "xdivy at 0": (lambda x, y: tf.math.xdivy(x, y), [0.0, 0.0], [0.0, 0.0]),
    "xdivy": (lambda x, y: tf.math.xdivy(x, y), [3.0, 2.0], [0.5, -0.75]),
    "divide_no_nan at 0": (lambda x, y: tf.math.divide_no_nan(x, y), [2.0, 0.0], [0.0, 0.0]),
    "multiply_no_nan at 0": (lambda x, y: tf.math.multiply_no_nan(x, y), [INF, 0.0], [0.0, None]),
    "pow's exponent where x <= 0": (
        lambda x, c: tf.pow(x, c), [[-1.0, 0.0, 1.0], [3.0, 3.0, 3.0]],
        [[3.0, 0.0, 3.0], [0.0, 0.0, 0.0]],
    ),
    "floormod": (lambda x, y: tf.math.floormod(x, y), [7.0, 2.0], [1.0, -3.0]),
    "floormod of negatives": (lambda x, y: tf.math.floormod(x, y), [-7.0, 2.0], [1.0, 4.0]),
    "reduce_prod": (lambda x: tf.reduce_prod(x), [[2.0, 3.0, 4.0]], [[12.0, 8.0, 6.0]]),
    "reduce_prod with a zero": (lambda x: tf.reduce_prod(x), [[2.0, 0.0, 4.0]], [[0.0, 8.0, 0.0]]),
    "reduce_prod with two": (lambda x: tf.reduce_prod(x), [[0.0, 0.0, 4.0]], [[0.0, 0.0, 0.0]]),
    "reduce_prod, negative axis": (
        lambda x: tf.reduce_prod(x, axis=-1), [[[2.0, 0.0], [3.0, 5.0]]],
        [[[0.0, 2.0], [5.0, 3.0]]],
    ),
    "reduce_euclidean_norm at 0": (
        lambda x: tf.math.reduce_euclidean_norm(x), [[0.0, 0.0]], [[NAN, NAN]],
    ),
    "reduce_euclidean_norm": (
        lambda x: tf.math.reduce_euclidean_norm(x, axis=0), [[[3.0, 1.0], [4.0, 0.0]]],
        [[[0.6, 1.0], [0.8, 0.0]]],
    ),
    "a size-1 axis": (lambda x, y: x * y, [[[1.0], [2.0]], [[3.0, 4.0]]],
                      [[[7.0], [7.0]], [[3.0, 3.0]]]),
    "concat, negative axis": (
        lambda a, b: tf.concat([a, b], axis=-1) * [[1.0, 2.0, 3.0]], [[[1.0]], [[1.0, 1.0]]],
        [[[1.0]], [[2.0, 3.0]]],
    ),
    "gather": (
        lambda x: tf.gather(x, [0, 0, 1], axis=1), [[[1.0, 2.0, 3.0]]], [[[2.0, 1.0, 0.0]]],
    ),
    "gather with batch_dims": (
        lambda x: tf.gather(x, [[0, 0], [2, 1]], axis=1, batch_dims=1),
        [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], [[[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]],
    ),
    "pad": (lambda x: tf.pad(x, [[1, 2]]) ** 2.0, [[1.0, 2.0]], [[2.0, 4.0]]),
    "pad by reflection": (lambda x: tf.pad(x, [[1, 2]], "REFLECT"), [[1.0, 2.0, 3.0]],
                          [[2.0, 3.0, 1.0]]),
    "pad symmetrically": (lambda x: tf.pad(x, [[1, 2]], "SYMMETRIC"), [[1.0, 2.0, 3.0]],
                          [[2.0, 2.0, 2.0]]),
    "pad by nothing": (lambda x: tf.pad(x, [[0, 0]]), [[1.0, 2.0]], [[1.0, 1.0]]),
    "slice": (lambda x: tf.slice(x, [1], [2]) * 2.0, [[1.0, 2.0, 3.0]], [[0.0, 2.0, 2.0]]),
    "stack": (lambda a, b: tf.stack([a, b], axis=-1)[..., 1], [[1.0], [2.0]], [[0.0], [1.0]]),
    "unstack": (lambda x: tf.unstack(x, axis=1)[1], [[[1.0, 2.0]]], [[[0.0, 1.0]]]),
    "split": (lambda x: tf.split(x, [1, 2])[1] * 3.0, [[1.0, 2.0, 3.0]], [[0.0, 3.0, 3.0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", PINNED)
def test_pinned(name):
    function, args, expected = PINNED[name]
    found = gradients(function, *args)
    for each, wanted in zip(found, expected, strict=True):
        if wanted is not None:
            np.testing.assert_allclose(each, wanted, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 3, 2)])
@pytest.mark.parametrize("keepdims", [True, False])
def test_euclidean_norm_of_every_axis(shape, keepdims):
    x = np.random.default_rng(1).normal(size=shape)
    for axis in range(len(shape)):
        (found,) = gradients(
            lambda x, axis=axis: tf.math.reduce_euclidean_norm(x, axis, keepdims), x,
            dtype=tf.float64,
        )  # fmt: skip
        np.testing.assert_allclose(found, x / np.sqrt((x * x).sum(axis, keepdims=True)))


# ---- control flow --------------------------------------------------------------------------------


def branch(x):
    return x * x if x > 0.0 else -3.0 * x


def doubling(x):
    while x < 10.0:
        x = x * 2.0
    return x


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (branch, 3.0, 6.0), (branch, -3.0, -3.0), (doubling, 3.0, 4.0), (doubling, 11.0, 1.0),
        (lambda x: sum(x**n for n in range(4)), 2.0, 17.0),
    ],
)  # fmt: skip
def test_only_what_python_ran_counts(wrap, function, at, expected):
    assert gradients(wrap(function), at) == [expected]


def test_second_derivative_through_a_branch():
    x = tf.constant(1.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x if x > 0.0 else x
        first = inner.gradient(y, x)
    assert values(first) == 3.0
    assert values(outer.gradient(first, x)) == 6.0


def test_stop_gradient_through_functions():
    inner = tf.function(lambda x: tf.stop_gradient(x) * 2.0)
    outer = tf.function(lambda x: inner(x) + x)
    assert gradients(outer, 3.0) == [1.0]
    assert gradients(inner, 3.0) == [None]


# ---- clipping ------------------------------------------------------------------------------------


def test_clip_by_global_norm():
    tensors = [tf.constant([-2.0, 0.0, 0.0, 4.0, 0.0, 0.0]), None, tf.constant([1.0, -2.0])]
    clipped, norm = tf.clip_by_global_norm(tensors, 4.0)
    assert type(clipped) is list
    assert values(norm) == 5.0
    assert clipped[1] is None
    np.testing.assert_allclose(clipped[0], [-1.6, 0, 0, 3.2, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(clipped[2], [0.8, -1.6], rtol=1e-6)


@pytest.mark.parametrize("clip_norm", [4.0, tf.constant(4.0), np.float32(4.0)])
def test_clip_by_global_norm_takes_any_number(clip_norm):
    clipped, _ = tf.clip_by_global_norm((tf.constant([3.0, 4.0]),), clip_norm)
    np.testing.assert_allclose(clipped[0], [2.4, 3.2], rtol=1e-6)


def test_clip_by_global_norm_with_a_norm_given():
    clipped, norm = tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 4.0, use_norm=8.0)
    assert values(norm) == 8.0
    np.testing.assert_allclose(clipped[0], [1.5, 2.0], rtol=1e-6)


def test_clip_by_global_norm_leaves_small_ones_alone():
    clipped, norm = tf.clip_by_global_norm([tf.zeros([2]), tf.constant([0.0])], 4.0)
    assert values(norm) == 0.0
    assert values(clipped) == [[0.0, 0.0], [0.0]]


@pytest.mark.parametrize("bad", [INF, -INF, NAN])
def test_a_norm_that_is_not_finite_spoils_all(bad):
    clipped, norm = tf.clip_by_global_norm([tf.constant([1.0]), tf.constant([bad, 2.0])], 1.0)
    assert not np.isfinite(norm.numpy())
    assert all(np.isnan(c.numpy()).all() for c in clipped)
    if not math.isnan(bad):
        assert values(norm) == INF


def test_clip_by_global_norm_keeps_each_dtype():
    mixed = [tf.constant([3.0], tf.float16), tf.constant([4.0]), tf.constant([0.0], tf.float64)]
    clipped, norm = tf.clip_by_global_norm(mixed, 4.0)
    assert [c.dtype for c in clipped] == [tf.float16, tf.float32, tf.float64]
    assert values(norm) == 5.0
    np.testing.assert_allclose([c.numpy()[0] for c in clipped], [2.4, 3.2, 0.0], rtol=1e-3)


def test_clip_by_global_norm_of_no_sequence():
    with pytest.raises(TypeError, match="t_list"):
        tf.clip_by_global_norm(tf.constant([1.0]), 1.0)
    clipped, norm = tf.clip_by_global_norm([], 1.0)
    assert clipped == []
    assert values(norm) == 0.0


@pytest.mark.parametrize(
    ("x", "norm", "axes", "expected"),
    [
        ([3.0, 4.0], 10.0, None, [3.0, 4.0]), ([3.0, 4.0], 4.0, None, [2.4, 3.2]),
        ([0.0, 0.0], 1.0, None, [0.0, 0.0]),
        ([[3.0, 4.0], [0.3, 0.4]], 1.0, [1], [[0.6, 0.8], [0.3, 0.4]]),
        ([[3.0, 0.3], [4.0, 0.4]], 1.0, 0, [[0.6, 0.3], [0.8, 0.4]]),
    ],
)  # fmt: skip
def test_clip_by_norm(x, norm, axes, expected):
    np.testing.assert_allclose(tf.clip_by_norm(tf.constant(x), norm, axes), expected, rtol=1e-6)


def test_the_gradient_of_clip_by_norm_has_no_nan():
    (at_zero,) = gradients(lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0])
    assert at_zero == [1.0, 1.0]
    (inside,) = gradients(lambda x: tf.clip_by_norm(x, 10.0), [3.0, 4.0])
    np.testing.assert_allclose(inside, [1.0, 1.0], rtol=1e-6)
    # d/dx sum(x / |x|) = (1 - x̂ Σx̂) / |x|
    (outside,) = gradients(lambda x: tf.clip_by_norm(x, 1.0), [3.0, 4.0])
    np.testing.assert_allclose(outside, [(1 - 0.6 * 1.4) / 5, (1 - 0.8 * 1.4) / 5], rtol=1e-5)


def test_clip_by_value():
    assert values(tf.clip_by_value(tf.constant([-1, 0, 5]), 0, 3)) == [0, 0, 3]
    bounds = tf.constant([[1.0], [2.0]])
    assert values(tf.clip_by_value(tf.constant([[0.0], [5.0]]), bounds, 3.0)) == [[1.0], [3.0]]
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)|shape"):
        tf.clip_by_value(tf.ones([2]), tf.ones([3]), 4.0)
