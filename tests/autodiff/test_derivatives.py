"""grad, value_and_grad, vjp, jvp, hessian, hvp: functions of functions."""

import numpy as np
import pytest

import framework as tf
from framework.autodiff import grad, hessian, hvp, jvp, value_and_grad, vectorized_map, vjp
from tests.autodiff.values import values

RNG = np.random.default_rng(11)
X, V = RNG.normal(size=(2, 4))
A = RNG.normal(size=(4, 4))  # of no symmetry


def quartic(x):
    return tf.reduce_sum(tf.linalg.matvec(tf.constant(A), x * x) ** 2)


def quartic_gradient(x):
    return 4 * x * (A.T @ (A @ (x * x)))


def quartic_hessian(x):
    """4 diag(AᵀA x²) + 8 diag(x) AᵀA diag(x)."""
    return 4 * np.diag(A.T @ (A @ (x * x))) + 8 * np.outer(x, x) * (A.T @ A)


def differences(f, x, step=1e-6):
    columns = [(np.asarray(f(x + step * e)) - f(x - step * e)) / (2 * step) for e in np.eye(len(x))]
    return np.stack(columns, -1)


def test_references_are_right():
    np.testing.assert_allclose(
        quartic_gradient(X), differences(lambda x: quartic(x).numpy(), X), rtol=1e-6
    )
    np.testing.assert_allclose(quartic_hessian(X), differences(quartic_gradient, X), rtol=1e-6)


# ---- grad and value_and_grad ---------------------------------------------------------------------


def test_grad():
    np.testing.assert_allclose(grad(quartic)(X), quartic_gradient(X), rtol=1e-12)
    value, gradient = value_and_grad(quartic)(tf.constant(X))
    np.testing.assert_allclose(value, quartic(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, quartic_gradient(X), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_grad_nests(order):
    f = tf.sin
    for _ in range(order):
        f = grad(f)
    cycle = [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin]
    np.testing.assert_allclose(f(tf.constant(0.7, tf.float64)), cycle[order - 1](0.7))


def test_argnums():
    f = lambda x, y, z: x * y**2 * z
    assert values(grad(f)(2.0, 3.0, 4.0)) == 36.0
    assert values(grad(f, argnums=1)(2.0, 3.0, 4.0)) == 48.0
    assert values(grad(f, argnums=(2, 0))(2.0, 3.0, 4.0)) == (18.0, 36.0)
    assert values(grad(f, argnums=-1)(2.0, 3.0, 4.0)) == 18.0
    assert values(grad(f, argnums=(1,))(2.0, 3.0, 4.0)) == (48.0,)
    with pytest.raises(ValueError, match="no argument number 3; <lambda> was called with 3"):
        grad(f, argnums=3)(2.0, 3.0, 4.0)


def test_nests_of_arguments_and_keywords():
    def loss(weights, x, scale=1.0):
        return tf.reduce_sum(tf.tanh(x * weights["w"] + weights["b"][0])) * scale

    weights = {"w": tf.constant([1.0, 2.0]), "b": [tf.constant(0.0)]}
    found = grad(loss)(weights, np.zeros(2, np.float32), scale=3.0)
    assert values(found) == {"w": [0.0, 0.0], "b": [6.0]}


def test_has_aux():
    f = lambda x: (x * x, {"seen": x + 1.0})
    assert values(grad(f, has_aux=True)(3.0)) == (6.0, {"seen": 4.0})
    (value, aux), gradient = value_and_grad(f, has_aux=True)(3.0)
    assert (float(value), values(aux), float(gradient)) == (9.0, {"seen": 4.0}, 6.0)
    with pytest.raises(ValueError, match="has_aux: <lambda> must return a pair"):
        grad(lambda x: x, has_aux=True)(3.0)


def test_variables_are_differentiated_by_as_they_are():
    w = tf.Variable(3.0)
    seen = []

    def f(v):
        seen.append(v)
        return v * v * w

    assert values(grad(f)(w)) == 27.0  # both places are the same variable
    assert seen == [w]
    assert seen[0] is w


def test_a_tensor_in_the_closure_is_a_constant():
    x = tf.constant(3.0)
    assert values(grad(lambda a: a * a * x)(x)) == 18.0


def test_the_same_tensor_twice():
    x = tf.constant(3.0)
    assert values(grad(lambda a, b: a * b * b, argnums=(0, 1))(x, x)) == (9.0, 18.0)


def test_what_it_does_not_depend_on_is_zero():
    assert values(grad(lambda x, y: y * 2.0)([1.0, 2.0], 3.0)) == [0.0, 0.0]
    assert values(grad(lambda x: tf.constant(1.0))(tf.ones((2,)))) == [0.0, 0.0]


def test_grad_refuses_with_a_reason():
    with pytest.raises(TypeError, match=r"Argument 0 .* has dtype int32.*Write 3.0 instead of 3"):
        grad(lambda x: x * x)(3)
    with pytest.raises(ValueError, match=r"return a scalar; <lambda> returned shape \(2,\)"):
        grad(lambda x: x * x)(tf.ones(2))
    with pytest.raises(ValueError, match="<lambda> returned None"):
        grad(lambda x: None)(1.0)


def test_within_a_tape():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = grad(lambda a: a**3 * x)(x) * 2.0  # 6 x³ at a = x... of both places
    expected = tape.gradient(y, x)
    np.testing.assert_allclose(expected, 2 * (4 * 3) * 4.0)  # d/dx of 2 · 4x³ is 24 x²


# ---- vjp and jvp ---------------------------------------------------------------------------------

JACOBIAN = A * 2 * X  # of A x²


def product(x):
    return tf.linalg.matvec(tf.constant(A), x * x)


def test_vjp():
    value, pull = vjp(product, X)
    np.testing.assert_allclose(value, A @ (X * X))
    np.testing.assert_allclose(pull(V)[0], V @ JACOBIAN)
    np.testing.assert_allclose(pull(tf.constant(X))[0], X @ JACOBIAN)  # more than once


def test_vjp_of_nests():
    f = lambda a, b: {"sum": a["x"] + b, "product": a["x"] * b}
    value, pull = vjp(f, {"x": tf.constant(2.0)}, 3.0)
    assert values(value) == {"sum": 5.0, "product": 6.0}
    assert values(pull({"sum": 1.0, "product": 10.0})) == ({"x": 31.0}, 21.0)


def test_vjp_with_aux():
    value, pull, aux = vjp(lambda x: (x * x, "more"), 3.0, has_aux=True)
    assert (float(value), values(pull(2.0)), aux) == (9.0, (12.0,), "more")


def test_jvp():
    value, tangent = jvp(product, (X,), (V,))
    np.testing.assert_allclose(value, A @ (X * X))
    np.testing.assert_allclose(tangent, JACOBIAN @ V)


def test_jvp_is_kerass():
    value, tangent = tf.keras.ops.jvp(tf.sin, (tf.constant(0.1),), (tf.constant(0.2),))
    np.testing.assert_allclose([value, tangent], [0.09983342, 0.19900084], rtol=1e-6)


def test_jvp_of_nests_with_aux():
    f = lambda a, b: ([a * b, a], "more")
    value, tangent, aux = jvp(f, [2.0, 3.0], [1.0, 10.0], has_aux=True)
    assert (values(value), values(tangent), aux) == ([6.0, 2.0], [23.0, 1.0], "more")
    _, tangent = jvp(lambda x: tf.constant(1.0), (2.0,), (1.0,))
    assert values(tangent) == 0.0
    with pytest.raises(TypeError, match="primals must be a tuple or list"):
        jvp(tf.sin, tf.constant(1.0), (1.0,))


def test_jvp_and_vjp_are_transposes():
    f = lambda x: tf.concat([tf.cumsum(x * x), tf.sin(x[:2]) * x[2]], 0)
    _, tangent = jvp(f, (X,), (V,))
    u = RNG.normal(size=6)
    _, pull = vjp(f, X)
    np.testing.assert_allclose(u @ tangent.numpy(), pull(u)[0].numpy() @ V)


# ---- second derivatives --------------------------------------------------------------------------


def test_hessian():
    np.testing.assert_allclose(hessian(quartic)(X), quartic_hessian(X), rtol=1e-10)


def test_hessian_of_a_matrix_argument():
    f = lambda w: tf.reduce_sum(tf.sin(w @ tf.constant(A[:3, :2])) * w[:, :2])
    w = RNG.normal(size=(2, 3))
    found = hessian(f)(w)
    assert found.shape == (2, 3, 2, 3)
    flat = lambda v: f(tf.reshape(v, (2, 3)))
    by_differences = differences(lambda v: np.asarray(grad(flat)(v)), w.reshape(-1))
    np.testing.assert_allclose(found.numpy().reshape(6, 6), by_differences, atol=1e-7)


def test_hessian_in_blocks():
    def f(x, y):
        return tf.reduce_sum(x["a"] ** 2 * y) + x["b"] ** 3 * y[0]

    x = {"a": tf.constant([1.0, 2.0]), "b": tf.constant(3.0)}
    y = tf.constant([4.0, 5.0])
    blocks = hessian(f)(x, y)
    assert values(blocks["a"]["a"]) == [[8.0, 0.0], [0.0, 10.0]]
    assert values(blocks["b"]["b"]) == 72.0
    assert values(blocks["a"]["b"]) == [0.0, 0.0]
    of_x, of_y = hessian(f, argnums=(0, 1))(x, y)
    assert values(of_x["a"][0]) == values(blocks["a"])
    assert values(of_x["a"][1]) == [[2.0, 0.0], [0.0, 4.0]]
    assert values(of_x["b"][1]) == [27.0, 0.0]
    assert values(of_y[0]["b"]) == [27.0, 0.0]
    assert values(of_y[1]) == [[0.0, 0.0], [0.0, 0.0]]


def test_hvp():
    expected = quartic_hessian(X) @ V
    np.testing.assert_allclose(hvp(quartic, X, V), expected, rtol=1e-10)
    (found,) = hvp(quartic, (X,), (V,))
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    by_jvp = jvp(grad(quartic), (X,), (V,))[1]
    np.testing.assert_allclose(by_jvp, expected, rtol=1e-10)


def test_hvp_of_several_arguments():
    f = lambda x, y: tf.reduce_sum(x * x) * y
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    by_x, by_y = hvp(f, (x, y), (tf.constant([1.0, 0.0]), tf.constant(10.0)))
    assert values(by_x) == [6.0 + 20.0, 40.0]
    assert values(by_y) == 2.0
    with pytest.raises(ValueError, match="structure"):
        hvp(f, (x, y), (x,))


# ---- vectorized_map ------------------------------------------------------------------------------


@pytest.fixture
def _no_loop(change):
    def never(*_):
        raise AssertionError("the function was called for each row")

    change(vectorized_map, _one_by_one=never)


ROWS = tf.constant(RNG.normal(size=(5, 4)))


@pytest.mark.usefixtures("_no_loop")
@pytest.mark.parametrize(
    "f",
    [
        quartic,
        grad(quartic),
        hessian(quartic),
        lambda x: jvp(product, (x,), (x,))[1],
        lambda x: hvp(quartic, x, x),
        lambda x: vjp(product, x)[1](x)[0],
    ],
)
def test_derivatives_of_all_rows_at_once(f):
    found = tf.vectorized_map(f, ROWS)
    np.testing.assert_allclose(found, np.stack([f(row) for row in ROWS]), rtol=1e-10)


@pytest.mark.usefixtures("_no_loop")
def test_the_documented_outer_product():
    a = tf.ones((10, 3, 2))
    assert tf.vectorized_map(lambda a: tf.tensordot(a, a, 0), a).shape == (10, 3, 2, 3, 2)


@pytest.mark.usefixtures("_no_loop")
def test_the_documented_per_example_gradients():
    layer = tf.keras.layers.Dense(1)

    def model_fn(arg):
        with tf.GradientTape() as g:
            inp, label = arg
            inp = tf.expand_dims(inp, 0)
            label = tf.expand_dims(label, 0)
            prediction = layer(inp)
            loss = tf.nn.l2_loss(label - prediction)
        return g.gradient(loss, (layer.kernel, layer.bias))

    inputs = tf.random.uniform([10, 32])
    labels = tf.random.uniform([10, 1])
    found = tf.vectorized_map(model_fn, (inputs, labels))
    assert [g.shape for g in found] == [(10, 32, 1), (10, 1)]
    for k in range(10):
        kernel, bias = model_fn((inputs[k], labels[k]))
        np.testing.assert_allclose(found[0][k], kernel, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[1][k], bias, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("_no_loop")
def test_structures_and_shared_rows():
    elems = {"x": tf.constant([1.0, 2.0, 3.0]), "y": tf.constant([[10.0]])}  # y serves all rows
    found = tf.vectorized_map(lambda e: [e["x"] * e["y"], (e["y"], 7.0)], elems)
    assert values(found) == [[[10.0], [20.0], [30.0]], ([[10.0]] * 3, [7.0] * 3)]


@pytest.mark.usefixtures("_no_loop")
def test_maps_nest():
    f = lambda row: tf.vectorized_map(lambda x: x * row[0] + row, row)
    x = ROWS.numpy()
    expected = x[:, :, None] * x[:, :1, None] + x[:, None, :]
    np.testing.assert_allclose(tf.vectorized_map(f, ROWS), expected)


@pytest.mark.usefixtures("_no_loop")
def test_a_map_is_differentiable():
    w = tf.Variable(2.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(ROWS)
        y = tf.vectorized_map(lambda row: tf.reduce_sum(row * row) * w, ROWS)
    by_rows, by_w = tape.gradient(y, [ROWS, w])
    np.testing.assert_allclose(by_rows, 4 * ROWS.numpy())
    np.testing.assert_allclose(by_w, np.sum(ROWS.numpy() ** 2))


@pytest.mark.usefixtures("_no_loop")
def test_dropout_saves_its_mask_for_a_tape_within():
    from framework.ops.random import dropout

    noise = tf.constant(RNG.uniform(size=(5, 4)))

    def f(arg):
        x, noise = arg
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = dropout(x, noise, rate=0.5)
        return tape.gradient(y, x)

    found = tf.vectorized_map(f, (ROWS, noise))
    np.testing.assert_array_equal(found, np.where(noise.numpy() >= 0.5, 2.0, 0.0))


@pytest.mark.usefixtures("_no_loop")
def test_a_loss_with_a_composite_for_a_tape_within():
    labels = tf.constant([0, 1, 2, 3, 0])

    def f(arg):
        x, label = arg
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=x)
        return tape.gradient(y, x)

    found = tf.vectorized_map(f, (ROWS, labels))
    expected = tf.nn.softmax(ROWS).numpy() - np.eye(4)[labels.numpy()]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.usefixtures("_no_loop")
def test_no_rows():
    assert tf.vectorized_map(tf.reduce_sum, tf.zeros((0, 3))).shape == (0,)


def test_it_loops_with_a_warning_where_rows_must_be_read():
    f = lambda x: x * 2.0 if x > 0 else -x
    x = tf.constant([1.0, -2.0, 3.0])
    with pytest.warns(UserWarning, match="vectorized_map calls the function for each row"):
        assert values(tf.vectorized_map(f, x)) == [2.0, 2.0, 6.0]
    assert values(tf.vectorized_map(f, x, warn=False)) == [2.0, 2.0, 6.0]
    with pytest.raises(ValueError, match=r"cannot be computed together .BatchedValueError"):
        tf.vectorized_map(f, x, fallback_to_while_loop=False)


def test_each_row_draws_and_assigns_for_itself():
    drawn = tf.vectorized_map(lambda x: x + tf.random.normal(()), tf.zeros(4), warn=False)
    assert len(set(values(drawn))) == 4
    count = tf.Variable(0)

    def counted(x):
        count.assign_add(1)
        return x

    tf.vectorized_map(counted, tf.zeros(4), warn=False)
    assert int(count) == 4


def test_an_error_of_the_function_is_the_users():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        tf.vectorized_map(f, tf.zeros(3))
    with pytest.raises(ValueError, match=r"incompatible|broadcast|shape"):
        tf.vectorized_map(lambda x: x + tf.zeros(7), tf.zeros((3, 2)))


def test_what_cannot_be_mapped():
    with pytest.raises(ValueError, match=r"the same size, or size 1; got \[2, 3\]"):
        tf.vectorized_map(lambda e: e[0], [tf.zeros(2), tf.zeros(3)])
    with pytest.raises(ValueError, match="0-d"):
        tf.vectorized_map(lambda e: e, tf.constant(1.0))
    with pytest.raises(ValueError, match="contains no tensor"):
        tf.vectorized_map(lambda e: e, [])


def test_kerass_map():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = tf.keras.ops.vectorized_map(lambda e: e[0] * e[1], [x, x])
    assert values(found) == [[1.0, 4.0], [9.0, 16.0]]
