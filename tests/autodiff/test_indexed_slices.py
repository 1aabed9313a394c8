"""IndexedSlices: where the tape gives them, what they are, and what functions make of them."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.ops.slices import aggregate

ROWS = np.arange(12.0).reshape(4, 3).astype(np.float32)


def slices(values, indices, dense_shape=None):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), dense_shape)


def check(found, indices, values, shape):
    assert type(found) is tf.IndexedSlices
    assert type(found.indices) is type(found.values) is type(found.dense_shape) is tf.Tensor
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.dense_shape, shape)
    assert found.shape == shape


def gradient(f, x, **kwargs):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, **kwargs)


def dense(g):
    return tf.convert_to_tensor(g).numpy()


# ---- where the tape gives them -------------------------------------------------------------------

SOURCES = pytest.mark.parametrize("make", [tf.constant, tf.Variable], ids=["tensor", "variable"])
LOOK_UPS = pytest.mark.parametrize("look_up", [tf.gather, tf.nn.embedding_lookup])


@SOURCES
@LOOK_UPS
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_looking_up_rows_of_a_source(make, look_up, dtype):
    ids = tf.constant([0, 0, 2], dtype)
    found = gradient(lambda x: look_up(x, ids), make([1.0, 2.0, 3.0]))
    check(found, [0, 0, 2], [1, 1, 1], (3,))
    assert found.indices.dtype == dtype
    assert found.values.dtype == found.dtype == "float32"


@SOURCES
@LOOK_UPS
def test_ids_of_any_rank_become_one_row_of_them(make, look_up):
    weights = tf.constant(np.arange(12.0).reshape(2, 2, 3).astype(np.float32))
    found = gradient(lambda x: look_up(x, [[3, 0], [0, 1]]) * weights, make(ROWS))
    check(found, [3, 0, 0, 1], np.arange(12.0).reshape(4, 3), (4, 3))
    found = gradient(lambda x: look_up(x, 2), make(ROWS))
    check(found, [2], np.ones((1, 3)), (4, 3))
    found = gradient(lambda x: look_up(x, np.zeros((0, 2), np.int32)), make(ROWS))
    check(found, [], np.ones((0, 3)), (4, 3))


@SOURCES
@pytest.mark.parametrize(
    "f",
    [
        lambda x: tf.gather(x, [0, 0], axis=1),
        lambda x: tf.gather(x, [[0], [1], [1], [0]], batch_dims=1),
        lambda x: tf.gather_nd(x, [[0, 1], [0, 1]]),
        lambda x: x[:2],
        lambda x: tf.repeat(x, 2, axis=0),
        lambda x: tf.sort(x),
        lambda x: tf.boolean_mask(x, [True, False, True, True]),
        lambda x: tf.gather(x + 1, [0]),
        lambda x: tf.gather(tf.identity(x), [0]),
        lambda x: tf.gather(x, [0, 0]) + tf.reduce_sum(x),
        lambda x: tf.reduce_sum(x) + tf.gather(x, [0, 0]),
    ],
)
def test_everything_else_is_dense(make, f):
    found = gradient(f, make(ROWS))
    assert type(found) is tf.Tensor
    expected = np.zeros((4, 3))
    for at in np.ndindex(4, 3):
        step = np.zeros((4, 3), np.float32)
        step[at] = 0.5  # f is linear, and halves keep the order of the elements
        ends = [np.sum(np.asarray(f(tf.constant(ROWS + h * step)), np.float64)) for h in (1, -1)]
        expected[at] = ends[0] - ends[1]
    np.testing.assert_array_equal(found, expected)


@SOURCES
def test_several_look_ups_are_joined_in_the_order_of_the_program(make):
    def f(x):
        return tf.reduce_sum(tf.gather(x, [0, 0])) * 2 + tf.reduce_sum(tf.gather(x, [1])) * 3

    check(gradient(f, make([1.0, 2.0])), [0, 0, 1], [2, 2, 3], (2,))


def test_through_a_computed_tensor_they_become_dense():
    found = gradient(lambda x: tf.gather(x + 1, [0]), tf.constant([5.0]))
    np.testing.assert_array_equal(found, [1])


@pytest.mark.parametrize("persistent", [False, True])
def test_a_computed_source_gets_slices_and_passes_a_dense_gradient_on(persistent):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = x * x
        parts = tf.split(y, 2)
        z = tf.gather(y, [1, 1])
    of_x, of_y = tape.gradient([z, parts[0]], [x, y])
    np.testing.assert_array_equal(of_x, [2, 8])
    np.testing.assert_array_equal(dense(of_y), [1, 2])
    if persistent:
        of_x, of_y = tape.gradient(z, [x, y])
        np.testing.assert_array_equal(of_x, [0, 8])
        check(of_y, [1, 1], [1, 1], (2,))


def test_a_computed_source_passes_a_dense_gradient_through_a_sum():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x + 1
        z = tf.gather(y, [1, 1])
    of_x, of_y = tape.gradient(z, [x, y])
    assert type(of_x) is tf.Tensor
    np.testing.assert_array_equal(of_x, [0, 2])
    check(of_y, [1, 1], [1, 1], (2,))


def test_a_computed_source_of_several_outputs():
    x = tf.constant(ROWS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        top, bottom = tf.split(x, 2)
        z = tf.gather(top, [1, 1])
    of_x, of_top = tape.gradient(z, [x, top])
    check(of_top, [1, 1], np.ones((2, 3)), (2, 3))
    np.testing.assert_array_equal(of_x, [[0] * 3, [2] * 3, [0] * 3, [0] * 3])
    assert bottom.shape == (2, 3)


def test_a_persistent_tape_gives_them_every_time():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.gather(v, [0, 0]) + tf.gather(v, [1])
        z = y + v[2]
    for _ in range(2):
        check(tape.gradient(y, v), [0, 0, 1], [1, 1, 2], (3,))
        np.testing.assert_array_equal(tape.gradient(z, v), [2, 2, 2])


def test_two_sources_and_one_asked_twice():
    v, w = tf.Variable(ROWS), tf.Variable([2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [1]) * w
    of_v, of_w, again = tape.gradient(y, [v, w, v])
    check(of_v, [1], [[2, 3, 4]], (4, 3))
    check(again, [1], [[2, 3, 4]], (4, 3))
    np.testing.assert_array_equal(of_w, ROWS[1])


def test_a_read_shared_by_a_look_up_and_other_uses():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        read = v.value()
        y = tf.reduce_sum(tf.gather(read, [0, 0])) + tf.reduce_sum(read * read)
    np.testing.assert_array_equal(tape.gradient(y, v), [4, 4])


def test_complex_slices_are_conjugated_like_any_gradient():
    x = tf.constant([1 + 2j, 3 - 1j], tf.complex64)
    found = gradient(lambda x: tf.gather(x, [0]) * tf.gather(x, [0]), x)
    np.testing.assert_allclose(found.values, [1 - 2j, 1 - 2j])
    np.testing.assert_allclose(dense(found), dense(gradient(lambda x: x[:1] * x[:1], x)))


def test_an_int_source_still_gets_none():
    assert gradient(lambda x: tf.gather(x, [0]), tf.constant([1, 2])) is None


def test_output_gradients():
    x = tf.constant([1.0, 2.0])
    found = gradient(lambda x: tf.gather(x, [1, 1]), x, output_gradients=[3.0, 4.0])
    check(found, [1, 1], [3, 4], (2,))
    found = gradient(lambda x: x * 2, x, output_gradients=slices([1.0, 1.0], [0, 0], (2,)))
    np.testing.assert_array_equal(found, [4, 0])


# ---- higher order --------------------------------------------------------------------------------


def cubes(x):
    return tf.reduce_sum(tf.gather(x, [0, 0, 1]) ** 3)


@SOURCES
def test_under_an_outer_tape_the_slices_are_recorded(make):
    x = make([2.0, 3.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cubes(x)
        g = tape.gradient(y, x)
        squares = tf.reduce_sum(tf.convert_to_tensor(g) ** 2)
    check(g, [0, 0, 1], [12, 12, 27], (2,))
    np.testing.assert_array_equal(dense(outer.gradient(g.values, x)), [24, 18])
    np.testing.assert_array_equal(dense(outer.gradient(g, x)), [24, 18])
    # d/dx (6 x0^2)^2 = 144 x0^3, d/dx (3 x1^2)^2 = 36 x1^3
    np.testing.assert_array_equal(dense(outer.gradient(squares, x)), [144 * 8, 36 * 27])


def test_slices_as_target_with_output_gradients():
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        g = gradient(cubes, x)
    assert type(g) is tf.IndexedSlices
    found = outer.gradient(g, x, output_gradients=tf.constant([1.0, 10.0]))
    np.testing.assert_array_equal(dense(found), [24, 180])


def test_watching_slices_watches_their_values():
    s = slices([1.0, 2.0], [0, 0], (3,))
    with tf.GradientTape() as tape:
        tape.watch(s)
        y = s * tf.constant([3.0, 4.0, 5.0])
    np.testing.assert_array_equal(tape.gradient(y, s.values), [3, 3])


# ---- what they are -------------------------------------------------------------------------------


def test_attributes():
    s = slices([[1.0, 2.0]], [3], (5, 2))
    assert s.dense_shape == (5, 2)
    assert s.shape == (5, 2)
    assert s.dtype == "float32"
    assert s.device == s.values.device
    assert "indices=<tf.Tensor" in repr(s)
    assert tf.is_tensor(s)
    np.testing.assert_array_equal((-s).values, [[-1, -2]])
    assert (-s).dense_shape is s.dense_shape


def test_converting_adds_repeated_slices_up():
    for dtype in (np.int32, np.int64):
        s = slices([1.0, 2.0, 4.0], np.array([1, 1, 0], dtype), (3,))
        np.testing.assert_array_equal(tf.convert_to_tensor(s), [4, 3, 0])
        np.testing.assert_array_equal(np.asarray(s), [4, 3, 0])
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(slices([1.0], [0]))


def test_arithmetic_makes_them_dense():
    s, d = slices([1.0, 2.0, 4.0], [1, 1, 0], (3,)), np.array([4, 3, 0], np.float32)
    x = np.array([1.0, 2, 3], np.float32)
    v = tf.Variable(x)
    for found, expected in [
        (tf.multiply(s, 1.0), d), (tf.multiply(2.0, s), 2 * d), (s * 2, 2 * d), (2 * s, 2 * d),
        (s + s, 2 * d), (s - tf.constant(x), d - x), (tf.constant(x) - s, x - d), (v + s, x + d),
        (s + v, x + d), (x - s, x - d), (s / 2.0, d / 2), (1.0 / (s + 1), 1 / (d + 1)),
        (tf.square(s), d * d), (tf.reduce_sum(s), 7), (tf.stack([s, s]), [d, d]),
        (tf.add_n([s, tf.constant(x)]), d + x), (keras.ops.sum(s), 7), (s**2, d * d),
    ]:  # fmt: skip
        assert type(found) is tf.Tensor
        np.testing.assert_allclose(found, expected)


def test_bad_slices():
    with pytest.raises(DTypeError, match="indices must be integers, got float32"):
        slices([1.0], [0.0])
    with pytest.raises(ShapeError, match="one index for each slice"):
        slices([1.0], [0, 1])
    with pytest.raises(ShapeError, match=r"indices of shape \(1, 1\)"):
        slices([1.0], [[0]])


def test_aggregate():
    s, t = slices([1.0, 2.0], [1, 1], (3,)), slices([4.0], [0], (3,))
    assert aggregate([]) is None
    assert aggregate([None, None]) is None
    assert aggregate([None, s]) is s
    both = aggregate([s, None, t])
    np.testing.assert_array_equal(both.indices, [1, 1, 0])
    np.testing.assert_array_equal(both.values, [1, 2, 4])
    x = tf.constant([1.0, 1.0, 1.0])
    for mixed in ([s, x, None], [x, s]):
        assert type(aggregate(mixed)) is tf.Tensor
        np.testing.assert_array_equal(aggregate(mixed), [1, 4, 1])


# ---- clipping ------------------------------------------------------------------------------------

REPEATED = ([[3.0, 4.0], [1.0, 0.0], [0.5, 0.5]], [2, 2, 0], (4, 2))


@pytest.mark.parametrize("axes", [None, 0, 1, [0, 1], -1])
@pytest.mark.parametrize("limit", [2.0, 100.0])
@pytest.mark.parametrize("case", [REPEATED, ([[3.0, 4.0], [6.0, 8.0]], [3, 0], (4, 2))])
def test_clip_by_norm_is_that_of_the_dense_tensor(case, limit, axes):
    found = tf.clip_by_norm(slices(*case), limit, axes)
    assert type(found) is tf.IndexedSlices
    assert found.dense_shape is case[2]
    expected = tf.clip_by_norm(tf.convert_to_tensor(slices(*case)), limit, axes)
    np.testing.assert_allclose(dense(found), expected, rtol=1e-6)


def test_clip_by_value_is_that_of_the_dense_tensor():
    found = tf.clip_by_value(slices(*REPEATED), -1.0, 3.5)
    assert type(found) is tf.IndexedSlices
    expected = tf.clip_by_value(tf.convert_to_tensor(slices(*REPEATED)), -1.0, 3.5)
    np.testing.assert_array_equal(dense(found), expected)
    np.testing.assert_array_equal(found.indices, [0, 2])


def test_clip_by_global_norm_scales_the_values():
    shape = (4, 2)
    s = slices([[3.0, 0.0], [0.0, 4.0]], [1, 2], shape)
    (found, none, x), norm = tf.clip_by_global_norm([s, None, tf.constant([12.0])], 6.5)
    assert norm.numpy() == 13.0
    assert found.dense_shape is shape
    assert none is None
    np.testing.assert_array_equal(found.values, [[1.5, 0], [0, 2]])
    np.testing.assert_array_equal(found.indices, s.indices)
    np.testing.assert_array_equal(x, [6])


# ---- training ------------------------------------------------------------------------------------

OPTIMIZERS = [
    lambda: keras.optimizers.SGD(0.1), lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    lambda: keras.optimizers.Adam(0.1), lambda: keras.optimizers.Adam(0.1, weight_decay=0.1),
    lambda: keras.optimizers.Adam(0.1, clipnorm=0.5),
    lambda: keras.optimizers.SGD(0.1, global_clipnorm=0.5),
    lambda: keras.optimizers.SGD(0.1, clipvalue=0.5),
]  # fmt: skip


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_optimizers_apply_them_as_the_dense_gradient(make):
    by_slices, by_dense, scale = keras.Variable(ROWS), keras.Variable(ROWS), tf.Variable(2.0)
    optimizers = make(), make()
    for _ in range(3):
        for optimizer, variable in zip(optimizers, (by_slices, by_dense)):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(variable, [1, 3, 1]) ** 2) * scale
            g = tape.gradient(loss, variable)
            assert type(g) is tf.IndexedSlices
            if variable is by_slices:
                optimizer.apply_gradients([(g, variable)])
            else:
                optimizer.apply([tf.convert_to_tensor(g)], [variable])
    np.testing.assert_array_equal(by_slices, by_dense)
    assert not np.array_equal(by_slices.numpy()[1], ROWS[1])
    optimizers[0].apply([g], [by_slices])  # `apply` accepts them too


def test_an_optimizer_refuses_slices_of_another_shape():
    v = keras.Variable(ROWS, name="table")
    with pytest.raises(InvalidArgumentError, match=r"'table' has shape \(4, 2\)"):
        keras.optimizers.SGD().apply_gradients([(slices(*REPEATED), v)])
