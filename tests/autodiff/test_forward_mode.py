"""ForwardAccumulator: what it answers, what it nests and mixes with, what it refuses and frees."""

import functools
import gc
import weakref

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.autodiff import ForwardAccumulator
from framework.autodiff.batching import Batched, Level
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError

SOME = np.random.default_rng(5).normal(size=(2, 3)).astype(np.float32)


def jvp(f, primals, tangents):
    with ForwardAccumulator(primals, tangents) as acc:
        return acc.jvp(f(*primals), "zero")


def close(found, expected, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


# ---- jvp -----------------------------------------------------------------------------------------


def test_it_is_reachable_where_tensorflow_has_it():
    assert tf.autodiff.ForwardAccumulator is ForwardAccumulator
    assert "ForwardAccumulator" in dir(tf.autodiff)


def test_any_nest_of_results():
    x = tf.constant([1.0, 2.0])
    with ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        y, z = x * x, tf.reduce_sum(x)
    found = acc.jvp({"a": [y, z], "b": (x,), "c": tf.constant(3.0)})
    assert list(found) == ["a", "b", "c"]
    assert type(found["b"]) is tuple
    assert found["c"] is None
    np.testing.assert_array_equal(found["a"][0], [2, 40])
    np.testing.assert_array_equal(found["a"][1], 11)
    assert acc.jvp([]) == []


@pytest.mark.parametrize("option", ["zero", tf.UnconnectedGradients.ZERO])
def test_unconnected(option):
    x, v, w = tf.constant([[1.0]]), tf.Variable([[1.0]]), tf.Variable([[2.0, 3.0]])
    with ForwardAccumulator(x, tf.constant([[1.0]])) as acc:
        y = v * w
        z = tf.zeros_like(x)
    assert acc.jvp(y) is acc.jvp(v) is acc.jvp(w) is acc.jvp(z) is None
    assert acc.jvp(y, unconnected_gradients="none") is None
    assert acc.jvp(y, tf.UnconnectedGradients.NONE) is None
    np.testing.assert_array_equal(acc.jvp(v, unconnected_gradients=option), [[0.0]])
    np.testing.assert_array_equal(acc.jvp(w, option), [[0.0, 0.0]])
    np.testing.assert_array_equal(acc.jvp([x, y], option)[1], [[0.0, 0.0]])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        acc.jvp(x, "nonsense")


def test_tangents_may_be_numbers_and_arrays():
    for tangent in (3, 3.0, np.float32(3), np.array(3.0, np.float32), tf.Variable(3.0)):
        (found,) = jvp(lambda x: [x * x], [tf.constant(2.0)], [tangent])
        assert found.dtype == "float32"
        assert found.numpy() == 12.0


def test_a_primal_has_its_tangent_inside_and_after():
    x, t = tf.constant([1.0]), tf.constant([5.0])
    acc = ForwardAccumulator(x, t)
    assert acc.jvp(x) is t
    with acc:
        assert acc.jvp(x) is t
        y = x * 3
        np.testing.assert_array_equal(acc.jvp(y), [15])
    assert acc.jvp(x) is t
    np.testing.assert_array_equal(acc.jvp(y), [15])


def test_several_primals_and_an_unused_one():
    x, y, z = (tf.constant(v) for v in (2.0, 3.0, 4.0))
    with ForwardAccumulator({"x": x, "yz": (y, z)}, {"x": 1.0, "yz": (10.0, 100.0)}) as acc:
        product = x * y
    assert acc.jvp(product).numpy() == 3 + 20
    assert acc.jvp(z).numpy() == 100
    with ForwardAccumulator([x, z], [1.0, 1.0]) as acc:
        unused = y * y
    assert acc.jvp(unused) is None


def test_ops_without_derivative_pass_no_tangent():
    x = tf.constant([1.5, -2.5])
    with ForwardAccumulator(x, tf.constant([1.0, 1.0])) as acc:
        found = [
            tf.zeros_like(x), tf.ones_like(x), tf.floor(x), tf.stop_gradient(x) * 2, tf.argmax(x),
            tf.cast(x, tf.int32), tf.shape(x), x > 0,
        ]  # fmt: skip
        mixed = tf.stop_gradient(x) * x
    assert acc.jvp(found) == [None] * len(found)
    np.testing.assert_array_equal(acc.jvp(mixed), [1.5, -2.5])


def test_integers_have_no_derivatives():
    n = tf.constant(3)
    with ForwardAccumulator(n, 1) as acc:
        found = [n + n, n * 2, tf.cast(n, tf.float32), tf.reshape(n, (1,)), tf.reduce_sum(n)]
    assert acc.jvp(n).numpy() == 1
    assert acc.jvp(found) == [None] * len(found)
    assert acc.jvp(found[0], "zero").dtype == "int32"


def test_one_tensor_in_two_places_of_an_op():
    x, t = tf.constant([[0.2, 0.8]], tf.float64), tf.constant([[1.0, -2.0]], tf.float64)
    with ForwardAccumulator(x, t) as acc:
        fused = tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x)
        plain = -tf.reduce_sum(x * tf.nn.log_softmax(x), axis=1)
        square = tf.matmul(x, x, transpose_b=True)
    close(acc.jvp(fused), acc.jvp(plain), rtol=1e-12)
    close(acc.jvp(square), [[2 * (0.2 - 1.6)]], rtol=1e-12)


def test_through_casts():
    x = tf.constant([1.5], tf.float64)
    with ForwardAccumulator(x, tf.constant([2.0], tf.float64)) as acc:
        y = tf.cast(tf.cast(x, tf.float32) ** 2, tf.float16)
    assert acc.jvp(y).dtype == "float16"
    np.testing.assert_array_equal(acc.jvp(y), [6])


def test_complex_numbers_are_not_conjugated():
    x = tf.constant([1 + 2j, 3 - 1j], tf.complex128)
    t = tf.constant([1j, 2 + 1j], tf.complex128)
    with ForwardAccumulator(x, t) as acc:
        outputs = [x * x, tf.exp(x) / x, tf.reduce_sum(x), tf.abs(x), x**3.0]
    a, u = np.asarray(x), np.asarray(t)
    expected = [
        2 * a * u, np.exp(a) * (1 / a - 1 / a**2) * u, u.sum(),
        np.real(np.conj(a) * u) / abs(a), 3 * a**2 * u,
    ]  # fmt: skip
    for found, right in zip(acc.jvp(outputs), expected):
        close(found, right, rtol=1e-12)


def test_one_argument_broadcast_over_the_other():
    x, y = tf.constant([[1.0], [2.0]]), tf.constant([1.0, 2.0, 3.0])
    tangents = [tf.constant([[1.0], [0.0]]), tf.constant([0.0, 0.0, 1.0])]
    with ForwardAccumulator([x, y], tangents) as acc:
        z, w = x * y, x + y
        u = x / y
    np.testing.assert_array_equal(acc.jvp(z), [[1, 2, 4], [0, 0, 2]])
    np.testing.assert_array_equal(acc.jvp(w), [[1, 1, 2], [0, 0, 1]])
    close(acc.jvp(u), [[1, 0.5, 1 / 3 - 1 / 9], [0, 0, -2 / 9]])


@pytest.mark.parametrize("index", [0, [0, 0, 2], [[1], [2]]])
def test_gather(index):
    x, t = tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])
    with ForwardAccumulator(x, t) as acc:
        y = tf.gather(x, index)
    np.testing.assert_array_equal(acc.jvp(y), np.asarray(t)[np.asarray(index)])


# ---- what is refused -----------------------------------------------------------------------------


def test_a_primal_given_twice():
    x, v = tf.constant(1.0), tf.Variable(1.0)
    for twice in ([x, x], [v, v], {"a": x, "b": [x]}):
        tangents = tf.nest.map_structure(lambda _: 1.0, twice)
        with pytest.raises(ValueError, match="multiple times"):
            ForwardAccumulator(twice, tangents)
    ForwardAccumulator([x, tf.constant(1.0)], [1.0, 1.0])  # equal, and not the same


def test_structures_must_match():
    x = tf.constant([1.0, 2.0])
    for tangents in ([tf.constant([1.0, 2.0])], [1.0, 2.0], {"a": x}):
        with pytest.raises(ValueError, match=r"expected the structure of primals\. The two"):
            ForwardAccumulator(x, tangents)
    with pytest.raises(ValueError, match="expected the structure of primals"):
        ForwardAccumulator([x], [x, x])


def test_shapes_and_dtypes_must_match():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ShapeError, match=r"tangent has shape \(\), expected \(2,\)"):
        ForwardAccumulator(x, 1.0)
    with pytest.raises(DTypeError, match=r"tangents: .*float32.*float64"):
        ForwardAccumulator(x, tf.constant([1.0, 2.0], tf.float64))


def test_only_tensors_and_variables_have_tangents():
    for wrong in (np.array([1.0]), 1.0, "x"):
        with pytest.raises(InvalidArgumentError, match=type(wrong).__name__):
            ForwardAccumulator(wrong, 1.0)
        with pytest.raises(InvalidArgumentError, match=type(wrong).__name__):
            ForwardAccumulator(tf.constant(1.0), 1.0).jvp(wrong)


def test_entering_twice():
    acc = ForwardAccumulator(tf.constant(1.0), 1.0)
    with acc, pytest.raises(ValueError, match="already recording"), acc:
        pass
    assert tf.constant(1.0) * 2 == 2.0


def test_re_entering_goes_on_with_what_is_known():
    x = tf.constant([3.0])
    acc = ForwardAccumulator(x, tf.constant([2.0]))
    with acc:
        y = x * x
    between = y * y
    with acc:
        yy = y * y
        untracked = between * 1.0
    np.testing.assert_array_equal(acc.jvp(yy), [4 * 27 * 2])
    assert acc.jvp(between) is acc.jvp(untracked) is None


def test_an_exception_closes_it():
    acc = ForwardAccumulator(tf.constant(1.0), 1.0)
    with pytest.raises(KeyError), acc:
        raise KeyError
    with acc:
        pass


def test_watch_adds_up():
    x = tf.constant(-2.0)
    with ForwardAccumulator(x, 3.0) as acc:
        assert acc.jvp(x).numpy() == 3.0
        acc._watch(x, tf.constant(10.0))
        assert acc.jvp(x).numpy() == 13.0
        acc._watch(x, 11.0)
        assert acc.jvp(x).numpy() == 24.0
        y = 3.0 * x
    assert acc.jvp(x).numpy() == 24.0
    assert acc.jvp(y).numpy() == 72.0


# ---- nesting -------------------------------------------------------------------------------------


def test_nested_accumulators():
    x = tf.constant(2.0)
    with ForwardAccumulator(x, 3.0) as outer:
        with ForwardAccumulator(x, 5.0) as inner:
            y = x**3
        first = inner.jvp(y)
    assert first.numpy() == 12 * 5
    assert outer.jvp(y).numpy() == 12 * 3
    assert outer.jvp(first).numpy() == 12 * 3 * 5
    assert inner.jvp(outer.jvp(y)) is None


def test_the_tangent_of_a_tangent_within_the_blocks():
    x = tf.constant([2.0])
    one = tf.constant([1.0])
    with ForwardAccumulator(x, one) as outer, ForwardAccumulator(x, one) as inner:
        y = tf.exp(x)
        close(outer.jvp(inner.jvp(y)), np.exp([2.0]))
        assert inner.jvp(outer.jvp(y)) is None


def test_three_orders_of_a_power():
    def derivatives(f, x, order):
        if not order:
            return [f(x)]
        with ForwardAccumulator(x, 1.0) as acc:
            found = derivatives(f, x, order - 1)
        return [*found, acc.jvp(found[-1])]

    x = tf.constant(1.1, tf.float64)
    found = derivatives(lambda x: x**3.5, x, 3)
    expected = [1.1**3.5, 3.5 * 1.1**2.5, 3.5 * 2.5 * 1.1**1.5, 3.5 * 2.5 * 1.5 * 1.1**0.5]
    close(found, expected, rtol=1e-12)
    found = derivatives(lambda x: x**3.5, tf.constant(1.1), 3)
    close(found, expected, rtol=1e-6)


def test_the_order_of_entering_decides_not_that_of_creation():
    x = tf.constant(2.0)
    first, second = ForwardAccumulator(x, 1.0), ForwardAccumulator(x, 1.0)
    with second, first:  # first is the inner one
        y = x**3
        assert second.jvp(first.jvp(y)).numpy() == 12.0
        assert first.jvp(second.jvp(y)) is None


# ---- with tapes ----------------------------------------------------------------------------------


def test_forward_over_reverse():
    x = tf.constant([2.0, 3.0])
    with ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_prod(x) ** 2
        g = tape.gradient(y, x)
    np.testing.assert_array_equal(g, [36, 24])
    # the Hessian of (x0 x1)^2 is [[2 x1^2, 4 x0 x1], [4 x0 x1, 2 x0^2]]
    np.testing.assert_array_equal(acc.jvp(g), [18 + 240, 24 + 80])


def test_reverse_over_forward():
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
            y = tf.reduce_prod(x) ** 2
        along = acc.jvp(y)
    np.testing.assert_array_equal(tape.gradient(along, x), [18 + 240, 24 + 80])


def test_a_tape_inside_does_not_see_the_tangents():
    x = tf.constant(2.0)
    with ForwardAccumulator(x, 1.0) as acc, tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        along = acc.jvp(y)
    assert tape.gradient(along, x) is None
    assert tape.gradient(y, x).numpy() == 4.0


def test_with_tapes_the_order_of_entering_decides():
    x = tf.constant(2.0)
    acc, tape = ForwardAccumulator(x, 1.0), tf.GradientTape()
    with tape:
        tape.watch(x)
        with acc:
            y = x**3
        along = acc.jvp(y)
    assert tape.gradient(along, x).numpy() == 12.0


def test_tape_accumulator_tape():
    x = tf.constant(1.5, tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with ForwardAccumulator(x, 1.0) as acc:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.sin(x) * x**2
            g = inner.gradient(y, x)
        second = acc.jvp(g)
    third = outer.gradient(second, x)
    s, c, x = np.sin(1.5), np.cos(1.5), 1.5
    close(second, 2 * s + 4 * x * c - x**2 * s, rtol=1e-12)
    close(third, 6 * c - 6 * x * s - x**2 * c, rtol=1e-12)


def mlp(weights, x, y):
    for w, b in weights[:-1]:
        x = tf.tanh(tf.matmul(x, w) + b)
    w, b = weights[-1]
    logits = tf.matmul(x, w) + b
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))


def test_hessian_vector_products_of_a_network():
    rng = np.random.default_rng(1)
    sizes = [(3, 4), (4, 3)]
    weights = [(tf.Variable(rng.normal(size=s)), tf.Variable(rng.normal(size=s[1]))) for s in sizes]
    flat = tf.nest.flatten(weights)
    x, y = tf.constant(rng.normal(size=(5, 3))), tf.constant([0, 2, 1, 1, 0])
    directions = [rng.normal(size=v.shape) for v in flat]

    rows = []
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as tape:
            loss = mlp(weights, x, y)
        grads = tape.gradient(loss, flat)
        elements = [g[i] for g in grads for i in np.ndindex(*g.shape)]
    for element in elements:
        row = outer.gradient(element, flat, unconnected_gradients="zero")
        rows.append(np.concatenate([np.ravel(r.numpy()) for r in row]))
    hessian = np.array(rows)
    assert np.abs(hessian - hessian.T).max() < 1e-12 < np.abs(hessian).max()
    expected = hessian @ np.concatenate([np.ravel(d) for d in directions])

    with ForwardAccumulator(flat, [tf.constant(d) for d in directions]) as acc:
        with tf.GradientTape() as tape:
            loss = mlp(weights, x, y)
        grads = tape.gradient(loss, flat)
    found = np.concatenate([np.ravel(t.numpy()) for t in acc.jvp(grads)])
    close(found, expected, rtol=1e-9, atol=1e-12)

    with tf.GradientTape() as tape:
        with ForwardAccumulator(flat, [tf.constant(d) for d in directions]) as acc:
            loss = mlp(weights, x, y)
        along = acc.jvp(loss)
    found = np.concatenate([np.ravel(g.numpy()) for g in tape.gradient(along, flat)])
    close(found, expected, rtol=1e-9, atol=1e-12)


def test_the_tangent_of_slices_and_of_no_gradient():
    table = tf.Variable([1.0, 2.0, 3.0])
    with ForwardAccumulator(table, tf.constant([1.0, 10.0, 100.0])) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [2, 0, 2]) ** 3)
        g = tape.gradient(y, table)
    found = acc.jvp(g)
    assert type(found) is tf.IndexedSlices
    np.testing.assert_array_equal(tf.convert_to_tensor(found), [6, 0, 2 * 18 * 100])
    assert acc.jvp([None, g])[0] is None


# ---- variables -----------------------------------------------------------------------------------


def test_variables_as_primals():
    v, t = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    with ForwardAccumulator(v, t) as acc:
        read, y, z = v.read_value(), v * v, tf.gather(v, [1])
        assert acc.jvp(v) is t
        v.assign_sub([1.0, 1.0])
        after = v * 2
    assert acc.jvp(v) is t
    np.testing.assert_array_equal(acc.jvp(read), [3, 4])
    np.testing.assert_array_equal(acc.jvp(y), [6, 16])
    np.testing.assert_array_equal(acc.jvp(z), [4])
    np.testing.assert_array_equal(acc.jvp(after), [6, 8])


def test_a_variable_that_is_no_primal_and_one_not_trainable():
    v, w = tf.Variable(3.0, trainable=False), tf.Variable(2.0)
    with ForwardAccumulator(v, 1.0) as acc:
        y, z = v * w, w * w
    assert acc.jvp(y).numpy() == 2.0
    assert acc.jvp(z) is None


def test_a_layer():
    x = tf.constant([[2.0, 3.0], [1.0, 4.0]])
    targets = tf.constant([[1.0], [-1.0]])
    dense = keras.layers.Dense(1, kernel_initializer="ones")
    dense.build([None, 2])
    with ForwardAccumulator(dense.kernel, tf.constant([[1.0], [0.0]])) as acc:
        loss = tf.reduce_sum((dense(x) - targets) ** 2.0)
    assert acc.jvp(loss).numpy() == 2 * (4 * 2 + 6 * 1)


def test_training_within_the_block():
    v = keras.Variable([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5)
    with ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(v.value))
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    assert acc.jvp(loss).numpy() == 2.0
    np.testing.assert_array_equal(v, [0, 0])


# ---- gradients of one's own ----------------------------------------------------------------------


@tf.custom_gradient
def sine(x):
    return tf.sin(x), lambda dy: dy * cosine(x)


@tf.custom_gradient
def cosine(x):
    y = tf.cos(x)
    return y, lambda dy: -dy * sine(x)


def nth(f, x, order):
    if not order:
        return f(x)
    with ForwardAccumulator(x, 1.0) as acc:
        y = nth(f, x, order - 1)
    return acc.jvp(y)


def test_custom_gradients_are_transposed_to_order_three():
    x = tf.constant(0.7, tf.float64)
    expected = [np.sin(0.7), np.cos(0.7), -np.sin(0.7), -np.cos(0.7)]
    for order in range(4):
        close(nth(sine, x, order), expected[order], rtol=1e-12)


def test_the_custom_gradient_counts_not_the_function():
    @tf.custom_gradient
    def f(x, y):
        return (x * y, x + y), lambda dz, dw: (10 * dz + dw, 100 * dz)

    x, y = tf.constant(2.0), tf.constant(3.0)
    with ForwardAccumulator([x, y], [1.0, 7.0]) as acc:
        z, w = f(x, y)
    assert acc.jvp(z).numpy() == 710
    assert acc.jvp(w).numpy() == 1


def test_a_custom_gradient_with_variables():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables):
            assert variables[0] is w
            return 2.0 * dy, [5.0 * dy]

        return x * w, grad

    x = tf.constant(4.0)
    with ForwardAccumulator([x, w], [1.0, 10.0]) as acc:
        y = f(x)
    assert acc.jvp(y).numpy() == 52.0


@pytest.mark.parametrize("error", [RuntimeError, ValueError])
def test_an_exception_of_a_custom_gradient_is_raised_by_the_call(error):
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            raise error("my own text")

        return x, grad

    x = tf.constant(1.0)
    assert f(x).numpy() == 1.0
    with ForwardAccumulator(x, 1.0), pytest.raises(error, match="my own text"):
        f(x)
    assert tf.constant(1.0) * 2 == 2.0


def test_recompute_grad_is_not_for_forward_mode():
    f = tf.recompute_grad(lambda x: tf.sin(x))
    x = tf.constant(1.0)
    with ForwardAccumulator(x, 1.0):
        with pytest.raises(NotImplementedError, match="recompute_grad tried to transpose"):
            f(x)
        assert f(tf.constant(2.0)).numpy() == pytest.approx(np.sin(2.0))  # no tangent, no question
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    close(tape.gradient(y, x), np.cos(1.0))


def test_grad_pass_through():
    x = tf.constant(2.0)
    with ForwardAccumulator(x, 3.0) as acc:
        y = tf.grad_pass_through(tf.round)(x * 1.2)
    close(acc.jvp(y), 3.6)


# ---- control flow, functions and layers of batches -----------------------------------------------


def test_through_a_function_and_python_loops():
    @tf.function
    def f(x, n):
        for _ in range(n):
            x = x * x if x < 10.0 else x + 1.0
        return x

    x = tf.constant(2.0)
    with ForwardAccumulator(x, 1.0) as acc:
        y = f(x, 4)  # 4, 16, 17, 18
    assert acc.jvp(y).numpy() == 32.0


def test_an_accumulator_within_a_function():
    @tf.function
    def f(x, t):
        with ForwardAccumulator(x, t) as acc:
            y = x**3
        return acc.jvp(y)

    assert f(tf.constant(2.0), tf.constant(1.0)).numpy() == 12.0


def test_several_directions_at_once():
    rng = np.random.default_rng(3)
    x, w = tf.constant(rng.normal(size=(3, 4))), tf.Variable(rng.normal(size=(4, 2)))
    ts = [tf.constant(rng.normal(size=(5, *v.shape))) for v in (x, w)]

    def f(x, w):
        y = tf.nn.softmax(tf.tanh(tf.matmul(x, w)))
        z = tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(y), y)
        return [y, z, tf.reduce_max(x, axis=0), tf.split(x, 2, axis=1), tf.sort(x)]

    with ForwardAccumulator._batch_accumulator([x, w], ts) as acc:
        outputs = f(x, w)
    together = tf.nest.flatten(acc.jvp(outputs))
    assert acc.jvp(w) is ts[1]
    assert acc.jvp(tf.constant([1.0])) is None
    assert acc.jvp(tf.constant([1.0]), "zero").shape == (5, 1)
    for k in range(5):
        with ForwardAccumulator([x, w], [t[k] for t in ts]) as acc:
            outputs = f(x, w)
        for all_rows, row in zip(together, tf.nest.flatten(acc.jvp(outputs)), strict=True):
            close(all_rows[k], row, rtol=1e-12, atol=1e-14)


def test_no_direction_at_all():
    x = tf.constant([1.0, 2.0])
    with ForwardAccumulator._batch_accumulator(x, tf.zeros((0, 2))) as acc:
        y, z = tf.reduce_sum(tf.exp(x)), tf.nn.softmax(x)
    assert acc.jvp(y).shape == (0,)
    assert acc.jvp(z).shape == (0, 2)


def test_within_a_map_over_rows():
    xs, ts = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.5, 1.0]])
    level = Level()
    x = Batched(tf.constant(xs), level)
    with ForwardAccumulator(x, Batched(tf.constant(ts), level)) as acc:
        y = x * x
        z = tf.nn.softmax(y)
    along, of_z = acc.jvp([y, z])
    assert type(along) is Batched
    np.testing.assert_array_equal(along.value, 2 * xs * ts)
    for k in range(2):
        a = tf.constant(xs[k])
        with ForwardAccumulator(a, tf.constant(ts[k])) as row:
            b = tf.nn.softmax(a * a)
        close(of_z.value[k], row.jvp(b), rtol=1e-12)


def test_several_directions_need_a_common_leading_axis():
    x = tf.constant([1.0, 2.0])
    batch = ForwardAccumulator._batch_accumulator
    with pytest.raises(ShapeError, match="same leading axis"):
        batch([x, tf.constant(1.0)], [tf.zeros((3, 2)), tf.zeros((2,))])
    with pytest.raises(ShapeError, match="same leading axis"):
        batch(x, tf.constant(1.0))
    with pytest.raises(ShapeError, match=r"expected \(3, 2\)"):
        batch(x, tf.zeros((3, 4)))


def test_the_reverse_pass_over_several_directions():
    x = tf.constant([1.0, 2.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with ForwardAccumulator._batch_accumulator(x, tf.eye(2, dtype=tf.float64)) as acc:
            y = tf.reduce_sum(x**3) + tf.reduce_prod(x)
        slopes = acc.jvp(y)
    close(tape.jacobian(slopes, x), [[6, 1], [1, 12]])


# ---- memory --------------------------------------------------------------------------------------


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_dead_tensors_and_their_tangents_are_freed():
    x, t = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with ForwardAccumulator(x, t) as acc:
        y = tf.matmul([[1.0, 0.0], [0.0, 1.0]], tf.tanh(x * x)[:, None])
        dead = [weakref.ref(each) for each in (x, t, y, acc.jvp(y))]
        assert all(ref() is not None for ref in dead)
        del t
        assert dead[1]() is not None  # the primal lives
        del x, y
        assert [ref() for ref in dead] == [None] * 4
        assert not acc._tangents


@pytest.mark.usefixtures("no_collector")
def test_an_accumulator_leaves_no_cycles():
    x, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])

    def use():
        with ForwardAccumulator([x, v], [tf.ones(2), tf.ones(2)]) as acc:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.nn.softmax(x * v))
                z = sine(x) * tf.gather(v, [0, 1])
            g = tape.gradient([y, z], v)
        made = acc.jvp(y), acc.jvp(g), acc._tangents
        return [weakref.ref(each) for each in (acc, tape, y, z, g, *made)]

    assert [ref() for ref in use()] == [None] * 8


# ---- the functions that the contract names -------------------------------------------------------


def batch_norm(x, scale, offset):
    mean = tf.reduce_mean(x, axis=0)
    variance = tf.reduce_mean((x - mean) ** 2, axis=0)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)


FUNCTIONS = {
    "elu": (tf.nn.elu, [(2, 3)]), "swish": (tf.nn.swish, [(2, 3)]), "tanh": (tf.tanh, [(2, 3)]),
    "sin": (tf.sin, [(2, 3)]), "tan": (tf.tan, [(2, 3)]),
    "reduce_prod": (lambda x: tf.reduce_prod(x, axis=1), [(2, 3)]),
    "matmul": (functools.partial(tf.matmul, transpose_b=True), [(2, 3), (4, 3)]),
    "batch_norm": (batch_norm, [(4, 3), (3,), (3,)]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "shapes"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_to_order_three_against_differences_and_the_tape(f, shapes):
    rng = np.random.default_rng(11)
    args = [rng.uniform(-0.9, 0.9, size=s) for s in shapes]
    directions = [rng.normal(size=s) for s in shapes]
    tangents = [tf.constant(d) for d in directions]

    def pushed(order, *args):
        if not order:
            return f(*args)
        return jvp(functools.partial(pushed, order - 1), list(args), tangents)

    def at(order, h):
        moved = [tf.constant(a + h * d) for a, d in zip(args, directions)]
        return pushed(order, *moved).numpy()

    for order in (1, 2, 3):
        numeric = (at(order - 1, 1e-5) - at(order - 1, -1e-5)) / 2e-5
        np.testing.assert_allclose(at(order, 0), numeric, rtol=1e-6, atol=1e-7)

    tensors = [tf.constant(a) for a in args]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = f(*tensors)
    weights = rng.normal(size=y.shape)
    grads = tape.gradient(y, tensors, output_gradients=tf.constant(weights))
    back = sum(np.sum(g.numpy() * d) for g, d in zip(grads, directions))
    assert back == pytest.approx(np.sum(weights * at(1, 0)), abs=1e-6)
