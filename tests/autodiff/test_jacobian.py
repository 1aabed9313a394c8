"""GradientTape.jacobian and batch_jacobian."""

import numpy as np
import pytest

import framework as tf
from framework.autodiff import jacobian as module
from tests.autodiff.values import values

both = pytest.mark.parametrize("pfor", [True, False])


@pytest.fixture
def _loops():
    """The loop may step in."""


@pytest.fixture(autouse=True)
def _together(request, change):
    """No test that asks for all rows at once passes because of the loop that would step in."""
    if "_loops" in request.fixturenames:
        return
    at_once = module._at_once

    def strict(*args, careful=False):
        return at_once(*args, careful=False)

    change(module, _at_once=strict)


def taped(f, *args, persistent=True):
    """What `f` gives of the arguments as watched tensors; the tape, the result, the tensors."""
    xs = [tf.constant(a) for a in args]
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape, y, xs


def numerical(f, x, step=1e-5):
    """The jacobian of `f` at the float64 array `x` by central differences."""
    columns = []
    for place in np.ndindex(x.shape):
        by = np.zeros(x.shape)
        by[place] = step
        up, down = (np.asarray(f(tf.constant(x + sign * by))) for sign in (1, -1))
        columns.append((up - down) / (2 * step))
    stacked = np.stack(columns, -1) if columns else np.zeros((*np.shape(f(tf.constant(x))), 0))
    return stacked.reshape(*stacked.shape[:-1], *x.shape)


# ---- results -------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("parallel", [None, 1, 4])
def test_a_list_of_sources(pfor, parallel):
    tape, z, (x, y) = taped(lambda x, y: x * x * y, [1.0, 2.0], [3.0, 4.0])
    found = tape.jacobian(z, [x, y], parallel_iterations=parallel, experimental_use_pfor=pfor)
    assert values(found) == [[[6.0, 0.0], [0.0, 16.0]], [[1.0, 0.0], [0.0, 4.0]]]


@both
def test_the_structure_is_that_of_the_sources(pfor):
    tape, z, (x, y) = taped(lambda x, y: x * y, 2.0, [3.0, 4.0])
    found = tape.jacobian(z, {"a": (x,), "b": [y]}, experimental_use_pfor=pfor)
    assert values(found) == {"a": ([3.0, 4.0],), "b": [[[2.0, 0.0], [0.0, 2.0]]]}


@both
def test_scalar_by_scalar(pfor):
    tape, y, (x,) = taped(lambda x: x * x * x, 3.0)
    found = tape.jacobian(y, x, experimental_use_pfor=pfor)
    assert found.shape == ()
    assert values(found) == 27.0


FUNCTIONS = {  # without symmetry: a transposed result has another shape, or other values
    "square shapes": (lambda x: tf.matmul(x, np.array([[1.0, 2.0], [0.0, 3.0]])) * x[0], (2, 2)),
    "rank 3": (lambda x: tf.transpose(tf.sin(x) * x[:, :1], (2, 0, 1))[1:], (2, 3, 4)),
    "cumulative": (lambda x: tf.cumsum(x * tf.constant([1.0, 2.0, 3.0], tf.float64)), (3,)),
    "softmax": (lambda x: tf.nn.softmax(x * x, axis=0), (3, 2)),
    "to a scalar": (lambda x: tf.reduce_sum(x[0] * x[1] ** 2), (2, 3)),
    "gather": (lambda x: tf.gather(x, [2, 0, 2]) * x[1], (3, 2)),
    "several outputs": (lambda x: tf.concat(tf.split(x * x, [1, 2], 1)[::-1], 0 + 1), (2, 3)),
    "solve": (lambda x: tf.linalg.solve(x + 3 * np.eye(3), x[:, :2]), (3, 3)),
    "where": (lambda x: tf.where(x > 0, x * x, tf.exp(x)), (2, 3)),
    "max": (lambda x: tf.reduce_max(x, 1) * tf.reduce_min(x, 1), (3, 4)),
    "conv": (
        lambda x: tf.nn.conv2d(
            tf.reshape(x, (1, 3, 3, 1)), tf.reshape(x[:2, :2], (2, 2, 1, 1)), 1, "SAME"
        ),
        (3, 3),
    ),
}


@both
@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_against_differences(name, pfor):
    f, shape = FUNCTIONS[name]
    x = np.random.default_rng(5).normal(size=shape)
    tape, y, (source,) = taped(f, x)
    found = tape.jacobian(y, source, experimental_use_pfor=pfor)
    assert found.shape == (*y.shape, *x.shape)
    np.testing.assert_allclose(found, numerical(f, x), atol=1e-8)


@both
def test_variables(pfor):
    w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([5.0, 6.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.linalg.matvec(w, b) + b * b
    of_w, of_b = tape.jacobian(y, [w, b], experimental_use_pfor=pfor)
    assert values(of_w) == [[[5.0, 6.0], [0.0, 0.0]], [[0.0, 0.0], [5.0, 6.0]]]
    assert values(of_b) == [[11.0, 2.0], [3.0, 16.0]]


@both
def test_of_a_variable_by_itself(pfor):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v)
    assert values(tape.jacobian(v, v, experimental_use_pfor=pfor)) == [[1.0, 0.0], [0.0, 1.0]]


@both
def test_unconnected(pfor):
    tape, z, (x, y) = taped(lambda x, _: x * 2.0, [1.0, 2.0], [[3.0]])
    options = {"experimental_use_pfor": pfor}
    none = tape.jacobian(z, [x, y], **options)
    assert values(none) == [[[2.0, 0.0], [0.0, 2.0]], None]
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        _, found = tape.jacobian(z, [x, y], unconnected_gradients=zero, **options)
        assert found.shape == (2, 1, 1)
        assert found.dtype == tf.float32
        assert not np.any(found)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.jacobian(z, x, unconnected_gradients="nonsense", **options)


@both
def test_integers_have_no_jacobian(pfor):
    tape, z, (x,) = taped(lambda x: x + x, [1, 2])
    assert tape.jacobian(z, x, experimental_use_pfor=pfor) is None
    tape, z, (x,) = taped(lambda x: tf.cast(x, tf.float32) * 2.0, [1, 2])
    assert tape.jacobian(z, x, experimental_use_pfor=pfor) is None


@both
def test_zero_sizes(pfor):
    options = {"experimental_use_pfor": pfor}
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.zeros((0, 7)) * v
    assert tape.jacobian(y, v, **options).shape == (0, 7)
    tape, y, (x,) = taped(lambda x: x * x, np.zeros((0, 3), np.float32))
    assert tape.jacobian(y, x, **options).shape == (0, 3, 0, 3)
    tape, y, (x,) = taped(tf.reduce_sum, np.zeros((0, 3), np.float32))
    assert tape.jacobian(y, x, **options).shape == (0, 3)
    tape, y, (x, z) = taped(lambda x, _: x * x, np.zeros((0, 3), np.float32), 1.0)
    assert tape.jacobian(y, z, **options) is None


@both
def test_indexed_slices_become_dense(pfor):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.nn.embedding_lookup(table, [2, 0, 2])
    found = tape.jacobian(y, table, experimental_use_pfor=pfor)
    assert isinstance(found, tf.Tensor)
    expected = np.zeros((3, 2, 3, 2))
    for row, taken in enumerate([2, 0, 2]):
        expected[row, [0, 1], taken, [0, 1]] = 1
    np.testing.assert_array_equal(found, expected)


@both
def test_complex_numbers(pfor):
    """Each row is what `gradient` gives for that element: the conjugate of the derivative."""
    tape, y, (z,) = taped(lambda z: z * z * tf.constant([1j, 2.0]), np.array([1 + 2j, 3 - 1j]))
    found = tape.jacobian(y, z, experimental_use_pfor=pfor)
    rows = [tape.gradient(y, z, output_gradients=tf.constant(e + 0j)) for e in np.eye(2)]
    np.testing.assert_allclose(found, np.stack(rows))


# ---- the tape's life -----------------------------------------------------------------------------


def test_a_tape_that_is_not_persistent_gives_one():
    tape, y, (x,) = taped(lambda x: x * x, [[1.0]], persistent=False)
    assert values(tape.jacobian(y, x)) == [[[[2.0]]]]
    for again in (tape.jacobian, tape.batch_jacobian, tape.gradient):
        with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only"):
            again(y, [x])


def test_batch_jacobian_is_a_use_too():
    tape, y, (x,) = taped(lambda x: x * x, [[1.0]], persistent=False)
    tape.batch_jacobian(y, x)
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only"):
        tape.batch_jacobian(y, [x])


def test_the_loop_needs_a_persistent_tape():
    for name in ("jacobian", "batch_jacobian"):
        tape, y, (x,) = taped(lambda x: x * x, [[1.0]], persistent=False)
        with pytest.raises(RuntimeError, match="persistent"):
            getattr(tape, name)(y, x, experimental_use_pfor=False)


@pytest.mark.parametrize("name", ["jacobian", "batch_jacobian"])
def test_parallel_iterations_inside_a_function_need_a_persistent_tape(name):
    @tf.function
    def f(x, persistent):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = x * x
        return getattr(tape, name)(y, x, parallel_iterations=2)

    x = tf.constant([[1.0, 2.0]])
    with pytest.raises(RuntimeError, match=r"persistent=True.*parallel_iterations"):
        f(x, False)
    assert f(x, True).shape[-1] == 2
    tape, y, (x,) = taped(lambda x: x * x, [[1.0, 2.0]], persistent=False)
    assert getattr(tape, name)(y, x, parallel_iterations=2).shape[-1] == 2


def test_within_the_tapes_own_scope():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x**4
        assert values(tape.jacobian(y, x)) == 108.0
    with tf.GradientTape(persistent=True) as tape:
        y = x**4
        first = tape.jacobian(y, x)
        second = tape.jacobian(first, x)
    assert values(second) == 108.0
    assert values(tape.jacobian(second, x)) == 72.0


def test_the_record_is_given_back():
    tape, y, (x,) = taped(lambda x: x * x, [1.0, 2.0], persistent=False)
    tape.jacobian(y, x)
    assert tape.recorded_ops() == []


def test_one_tensor_is_the_target():
    tape, y, (x,) = taped(lambda x: x * x, [1.0])
    with pytest.raises(ValueError, match="target must be one tensor, got list"):
        tape.jacobian([y, y], x)
    with pytest.raises(ValueError, match="source must be a tf"):
        tape.jacobian(y, np.ones(1))


def test_blocks_of_rows_give_what_one_block_gives(change):
    x = np.random.default_rng(1).normal(size=(5, 20))
    tape, y, (source,) = taped(lambda x: tf.tanh(x @ tf.transpose(x)) * x[:, :5], x)
    whole = tape.jacobian(y, source)
    change(module, _BLOCK=1, _FEWEST=7)
    np.testing.assert_allclose(tape.jacobian(y, source), whole, rtol=1e-12)


@pytest.mark.usefixtures("_loops")
def test_what_a_rule_cannot_do_for_many_rows_a_loop_does():
    @tf.custom_gradient
    def stubborn(x):
        return x * 2.0, lambda dy: dy * float(tf.reduce_sum(dy))  # a value is read

    tape, y, (x,) = taped(lambda x: stubborn(x * x), [1.0, 2.0], persistent=False)
    assert values(tape.jacobian(y, x)) == [[2.0, 0.0], [0.0, 4.0]]


@pytest.mark.usefixtures("_loops")
def test_an_error_in_a_users_gradient_is_not_swallowed():
    @tf.custom_gradient
    def wrong(x):
        def grad(dy):
            raise KeyError("mine")

        return x * 2.0, grad

    tape, y, (x,) = taped(wrong, [1.0, 2.0])
    with pytest.raises(KeyError, match="mine"):
        tape.jacobian(y, x)


def test_custom_gradients_take_all_rows_at_once():
    calls = []

    @tf.custom_gradient
    def f(x, y):
        def grad(da, db):
            calls.append(1)
            return da * 3.0 + db, da * y

        return (x * y, x + 1.0), grad

    tape, z, (x, y) = taped(lambda x, y: tf.add(*f(x, y)), [1.0, 2.0], [3.0, 4.0])
    found = tape.jacobian(z, [x, y])
    assert len(calls) == 1
    assert values(found) == [[[4.0, 0.0], [0.0, 4.0]], [[3.0, 0.0], [0.0, 4.0]]]


def test_recompute_grad():
    f = tf.recompute_grad(lambda x: tf.sin(x) * x)
    tape, y, (x,) = taped(f, np.array([0.5, 1.0, 2.0]))
    a = x.numpy()
    np.testing.assert_allclose(tape.jacobian(y, x), np.diag(np.cos(a) * a + np.sin(a)))


# ---- higher order --------------------------------------------------------------------------------


@both
def test_a_jacobian_is_differentiable(pfor):
    x = tf.constant([1.0, 2.0], tf.float64)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x * x * x[0]
        first = inner.jacobian(y, x, experimental_use_pfor=pfor)
    second = outer.jacobian(first, x, experimental_use_pfor=pfor)
    f = lambda x: _first(lambda x: x * x * x[0], x, pfor)
    np.testing.assert_allclose(second, numerical(f, x.numpy()), atol=1e-7)


def _first(f, x, pfor):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    return tape.jacobian(y, x, experimental_use_pfor=pfor)


@both
def test_the_hessian_of_a_network(pfor):
    rng = np.random.default_rng(3)
    w = tf.Variable(rng.normal(size=(3, 2)))
    x = tf.constant(rng.normal(size=(4, 3)))
    loss = lambda w: tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits(
            labels=tf.constant(np.eye(2)[[0, 1, 1, 0]]), logits=tf.tanh(x @ w)
        )
    )
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = loss(w)
        g = inner.gradient(y, w)
    found = outer.jacobian(g, w, experimental_use_pfor=pfor)

    def gradient(w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            y = loss(w)
        return tape.gradient(y, w)

    np.testing.assert_allclose(found, numerical(gradient, w.numpy()), atol=1e-8)


@both
def test_of_a_squared_convolution(pfor):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(1, 4, 4, 1))
    kernel = tf.constant(rng.normal(size=(3, 3, 1, 2)))
    f = lambda x: tf.reduce_sum(tf.nn.conv2d(x, kernel, 1, "SAME") ** 2)
    with tf.GradientTape(persistent=True) as outer:
        source = tf.constant(x)
        outer.watch(source)
        with tf.GradientTape() as inner:
            inner.watch(source)
            y = f(source)
        g = inner.gradient(y, source)
    found = outer.jacobian(g, source, experimental_use_pfor=pfor)
    assert found.shape == (1, 4, 4, 1) * 2

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    np.testing.assert_allclose(found, numerical(gradient, x), atol=1e-7)


@both
def test_three_orders_of_a_fold(pfor):
    f = lambda x: tf.foldl(lambda a, b: tf.cos(a + b), tf.stack([x, x * 2.0, x * x]))
    x = np.array([0.3, 0.8])
    for _ in range(3):
        expected = numerical(f, x)
        np.testing.assert_allclose(_first(f, tf.constant(x), pfor), expected, atol=1e-7)
        f = lambda x, f=f: _first(f, x, pfor)


# ---- batch_jacobian ------------------------------------------------------------------------------

BATCHES = {  # f of (b, ...), each example by itself
    "mlp": (lambda x: tf.tanh(x @ tf.constant(np.arange(12.0).reshape(3, 4) / 10)), (5, 3)),
    "rank 3": (lambda x: tf.sin(x) * x[:, ::-1, :1], (2, 3, 4)),
    "other rank": (lambda x: x[:, :, 0] * x[:, :, 1] ** 2, (4, 2, 3)),
    "softmax": (lambda x: tf.nn.softmax(x * x), (4, 3)),
}


@both
@pytest.mark.parametrize("name", BATCHES)
def test_row_by_row_it_is_the_jacobian(name, pfor):
    f, shape = BATCHES[name]
    x = np.random.default_rng(6).normal(size=shape)
    tape, y, (source,) = taped(f, x)
    found = tape.batch_jacobian(y, source, experimental_use_pfor=pfor)
    assert found.shape == (*y.shape, *shape[1:])
    for k in range(shape[0]):
        np.testing.assert_allclose(found[k], numerical(lambda r: f(r[None])[0], x[k]), atol=1e-8)


@both
def test_batch_jacobian_by_a_variable(pfor):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    found = tape.batch_jacobian(y, v, experimental_use_pfor=pfor)
    assert values(found) == [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]


@both
def test_batch_jacobian_checks_shapes(pfor):
    options = {"experimental_use_pfor": pfor}
    tape, y, (x,) = taped(lambda x: x[:1] * 2.0, [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="Need first dimension"):
        tape.batch_jacobian(y, x, **options)
    tape, y, (x, z) = taped(lambda x, _: x * x, [1.0, 2.0], [[1.0], [2.0]])
    for target, source in ((y, x), (z, x), (y, z)):
        with pytest.raises(ValueError, match="must have rank at least 2"):
            tape.batch_jacobian(target, source, **options)
    with pytest.raises(ValueError, match="source must be one tensor, got list"):
        tape.batch_jacobian(z, [z], **options)


@both
@pytest.mark.parametrize("unconnected", ["none", "zero"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batch_jacobian_unconnected_is_zeros(unconnected, dtype, pfor):
    tape, y, (_, z) = taped(
        lambda x, _: x * x, np.ones((2, 3), dtype), np.ones((2, 1, 4), np.float32)
    )
    found = tape.batch_jacobian(y, z, unconnected_gradients=unconnected, experimental_use_pfor=pfor)
    assert found.shape == (2, 3, 1, 4)
    assert found.dtype == dtype
    assert not np.any(found)


@both
def test_batch_jacobian_of_nothing(pfor):
    options = {"experimental_use_pfor": pfor}
    tape, y, (x,) = taped(lambda x: x * x, np.zeros((1, 0), np.float32))
    assert tape.batch_jacobian(y, x, **options).shape == (1, 0, 0)
    tape, y, (x,) = taped(lambda x: x * x, np.zeros((0, 2), np.float32))
    assert tape.batch_jacobian(y, x, **options).shape == (0, 2, 2)
    tape, y, (x,) = taped(tf.function(lambda x: x**2), np.zeros((1, 0), np.float32))
    assert tape.batch_jacobian(y, x, **options).shape == (1, 0, 0)


@both
def test_batch_jacobian_nests_and_is_differentiable(pfor):
    options = {"experimental_use_pfor": pfor}
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.batch_jacobian(y, x, **options)
    second = outer.batch_jacobian(first, x, **options)
    assert second.shape == (2, 2, 2, 2)
    expected = np.zeros((2, 2, 2, 2))
    for b, i in np.ndindex(2, 2):
        expected[b, i, i, i] = 6 * x[b, i]
    np.testing.assert_allclose(second, expected)


@both
def test_a_slice_after_repeat_with_a_tensors_bound(pfor):
    def f(x):
        lengths = tf.constant([2, 3])
        y = tf.repeat(tf.expand_dims(x, 1), 4, axis=1)
        return y[:, : tf.reduce_max(lengths), :] * 2.0

    tape, y, (x,) = taped(f, [[1.0, 2.0], [3.0, 4.0]])
    found = tape.batch_jacobian(y, x, experimental_use_pfor=pfor)
    assert found.shape == (2, 3, 2, 2)
    np.testing.assert_array_equal(found, np.broadcast_to(2 * np.eye(2), (2, 3, 2, 2)))


# ---- as TensorFlow documents it; the numbers are TensorFlow's ------------------------------------


def test_the_documented_jacobian():
    with tf.GradientTape() as g:
        x = tf.constant([1.0, 2.0])
        g.watch(x)
        y = x * x
    assert values(g.jacobian(y, x)) == [[2.0, 0.0], [0.0, 4.0]]


def test_the_documented_batch_jacobian():
    with tf.GradientTape() as g:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
        g.watch(x)
        y = x * x
    found = g.batch_jacobian(y, x)
    assert values(found) == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]


def test_the_guides_newton_step():
    """The Hessian of a layer, reshaped to a matrix, as the guide on advanced differentiation."""
    x = tf.constant(np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32))
    layer1 = tf.keras.layers.Dense(8, activation=tf.nn.relu)
    layer2 = tf.keras.layers.Dense(6, activation=tf.nn.relu)
    with tf.GradientTape() as t2:
        with tf.GradientTape() as t1:
            y = layer2(layer1(x))
            loss = tf.reduce_mean(y**2)
        g = t1.gradient(loss, layer1.kernel)
    h = t2.jacobian(g, layer1.kernel)
    assert layer1.kernel.shape == (5, 8)
    assert h.shape == (5, 8, 5, 8)
    n_params = tf.reduce_prod(layer1.kernel.shape)
    matrix = tf.reshape(h, [n_params, n_params])
    np.testing.assert_allclose(matrix, tf.transpose(matrix), atol=1e-6)
    update = tf.linalg.solve(matrix + tf.eye(int(n_params)) * 1e-3, tf.reshape(g, [n_params, 1]))
    assert np.all(np.isfinite(update))
