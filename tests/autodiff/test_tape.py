"""`GradientTape.gradient`: section 2 of TensorFlow's contract for tapes."""

import numpy as np
import pytest

import framework as tf
from tests.autodiff.values import values


def taped(function, *sources, persistent=True):
    """(tape, target) of `function(*sources)`, all sources watched."""
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(sources)
        target = function(*sources)
    return tape, target


# ---- structures ----------------------------------------------------------------------------------

STRUCTURES = {
    "tensor": (lambda a, b: a, 5.0),
    "list of one": (lambda a, b: [a], [5.0]),
    "list": (lambda a, b: [a, b], [5.0, 3.0]),
    "tuple": (lambda a, b: (a, b), (5.0, 3.0)),
    "dict": (lambda a, b: {"z": a, "a": b}, {"z": 5.0, "a": 3.0}),
    "list in a list": (lambda a, b: [a, [b]], [5.0, [3.0]]),
    "nest": (lambda a, b: (a, b, [a, {"b": b}]), (5.0, 3.0, [5.0, {"b": 3.0}])),
    "repeated": (lambda a, b: [a, a, b], [5.0, 5.0, 3.0]),
    "empty list": (lambda a, b: [], []),
    "empty tuple": (lambda a, b: (), ()),
    "empty in a list": (lambda a, b: [a, []], [5.0, []]),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_result_has_the_structure_of_the_sources(name):
    arrange, expected = STRUCTURES[name]
    a, b = tf.constant(3.0), tf.constant(5.0)
    tape, y = taped(lambda a, b: a * b, a, b)
    found = tape.gradient(y, arrange(a, b))
    assert values(found) == expected
    assert type(found) is type(arrange(a, b))
    assert list(found) == list(arrange(a, b)) if isinstance(found, dict) else True


# x = 3, y = 5
TARGETS = {
    "sum of a list": (lambda x, y: [x * y, x], [6.0, 3.0]),
    "dict": (lambda x, y: {"a": x * y, "b": [x]}, [6.0, 3.0]),
    "twice the same": (lambda x, y: [y * x] * 2, [10.0, 6.0]),
    "all elements": (lambda x, y: x * tf.constant([1.0, 2.0]), [3.0, None]),
    "the source itself": (lambda x, y: x, [1.0, None]),
    "the source twice": (lambda x, y: [x, x], [2.0, None]),
    "the source and more": (lambda x, y: [x, x * x], [7.0, None]),
    "both sources": (lambda x, y: [x, y, y * y], [1.0, 11.0]),
    "fan-out": (lambda x, y: x * x + x * y, [11.0, 3.0]),
    "two lines": (lambda x, y: (x, 2 * x), [3.0, None]),
    "one of several outputs": (lambda x, y: tf.split(tf.stack([x, y]) * x, 2)[1], [5.0, 3.0]),
    "one of an unstack": (lambda x, y: tf.unstack(tf.stack([x * x, y]))[0], [6.0, 0.0]),
    "a number": (lambda x, y: 2.0, [None, None]),
    "an array": (lambda x, y: np.ones(2), [None, None]),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets(name):
    function, expected = TARGETS[name]
    x, y = tf.constant(3.0), tf.constant(5.0)
    tape, target = taped(function, x, y)
    assert values(tape.gradient(target, [x, y])) == expected


def test_a_matrix_as_its_own_target():
    x = tf.ones([2, 2])
    tape, _ = taped(lambda x: x, x)
    assert values(tape.gradient(x, x)) == [[1.0, 1.0], [1.0, 1.0]]
    assert values(tape.gradient([x, x], x)) == [[2.0, 2.0], [2.0, 2.0]]


def test_variables_as_targets():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    assert values(tape.gradient(v, v)) == 1.0
    assert values(tape.gradient(w, w)) == 1.0  # never read
    assert tape.gradient(v, w) is None
    assert values(tape.gradient([v, y], v)) == 5.0


def test_an_unwatched_target_has_a_gradient_for_itself_only():
    x, other = tf.constant(2.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        pass
    assert values(tape.gradient(x, [x, other])) == [1.0, None]
    assert values(tape.gradient([x, 3.0], [x, other])) == [1.0, None]


def test_intermediate_values_are_sources():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert values(tape.gradient(z, [x, y])) == [108.0, 18.0]
    assert values(tape.gradient(z, y)) == 18.0
    assert values(tape.gradient([z, y], [y, x])) == [19.0, 114.0]


# ---- unconnected ---------------------------------------------------------------------------------


def test_the_enum_of_unconnected_gradients():
    assert tf.UnconnectedGradients.NONE.value == "none"
    assert tf.UnconnectedGradients.ZERO.value == "zero"
    assert tf.UnconnectedGradients("none") is tf.UnconnectedGradients.NONE


@pytest.mark.parametrize("option", ["zero", tf.UnconnectedGradients.ZERO])
def test_zeros_for_the_unconnected(option):
    x, matrix = tf.constant(2.0), tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    whole, wide = tf.constant([1, 2]), tf.constant(1.0, tf.float64)
    tape, y = taped(lambda x, *_: x * x, x, matrix, whole, wide)
    sources = [x, matrix, whole, wide]
    found = tape.gradient(y, sources, unconnected_gradients=option)
    assert values(found) == [4.0, [[0.0, 0.0], [0.0, 0.0]], [0, 0], 0.0]
    assert [g.dtype for g in found] == [s.dtype for s in sources]


@pytest.mark.parametrize("option", ["none", tf.UnconnectedGradients.NONE])
def test_none_for_the_unconnected(option):
    x, y = tf.constant(2.0), tf.Variable(1.0)
    tape, z = taped(lambda x: x * x, x)
    assert values(tape.gradient(z, [x, y], unconnected_gradients=option)) == [4.0, None]


@pytest.mark.parametrize("option", ["nonsense", None, 0])
def test_an_unknown_option_for_the_unconnected(option):
    x = tf.constant(2.0)
    tape, y = taped(lambda x: x * x, x)
    message = f"Unknown value for unconnected_gradients: {option!r}"
    with pytest.raises(ValueError, match=message):
        tape.gradient(y, x, unconnected_gradients=option)


NO_PATH = {
    "stop_gradient": lambda x: tf.stop_gradient(x),
    "cast to an integer": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0,
    "comparison": lambda x: tf.cast(x > 1.0, tf.float32),
    "argmax": lambda x: tf.cast(tf.argmax(x * [1.0, 2.0]), tf.float32),
    "argmax, then stop_gradient": lambda x: tf.stop_gradient(tf.argmax(x * [1.0, 2.0])),
    "zeros_like": lambda x: tf.zeros_like(x) * 2.0,
    "ones_like": lambda x: tf.ones_like(x) * 2.0,
    "shape": lambda x: tf.cast(tf.shape(x * [1.0, 2.0]), tf.float32),
    "floor": lambda x: tf.floor(x),
    "round": lambda x: tf.round(x),
}


@pytest.mark.parametrize("name", NO_PATH)
def test_no_gradient_passes(name):
    x = tf.constant(2.5)
    tape, y = taped(NO_PATH[name], x)
    assert tape.gradient(y, x) is None
    assert values(tape.gradient(y, x, unconnected_gradients="zero")) == 0.0


@pytest.mark.parametrize(
    ("x", "function"),
    [(2, lambda x: x + x), ("a", lambda x: tf.identity(x)), (True, lambda x: tf.logical_not(x))],
)
def test_only_numbers_with_a_fraction_have_gradients(x, function):
    x = tf.constant(x)
    tape, y = taped(function, x)
    assert tape.gradient(y, x) is None


def test_strings_among_targets_and_sources():
    x, y, z, s = tf.constant(3.0), tf.constant(5.0), tf.constant(5.0), tf.constant("text")
    tape, product = taped(lambda x, y, z, s: y * z, x, y, z, s)
    assert values(tape.gradient([x, product, y, s], [x, y, s])) == [1.0, 6.0, None]


def test_gradients_have_their_sources_dtype():
    narrow, wide = tf.Variable(2.0, dtype=tf.float16), tf.Variable(3.0, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = tf.cast(narrow, tf.float64) * wide
    found = tape.gradient(y, [narrow, wide])
    assert [g.dtype for g in found] == [tf.float16, tf.float64]
    assert values(found) == [3.0, 2.0]


# ---- complex numbers ---------------------------------------------------------------------------


@tf.custom_gradient
def own_square(z):
    return z * z, lambda dy: dy * 2 * tf.constant(np.conj(z.numpy()))


COMPLEX = {  # the gradient is the conjugate of the derivative
    "square": (lambda z: z * z, lambda z: np.conj(2 * z)),
    "tf.square": (lambda z: tf.square(z), lambda z: np.conj(2 * z)),
    "exp": (lambda z: tf.exp(z), lambda z: np.conj(np.exp(z))),
    "sin": (lambda z: tf.sin(z), lambda z: np.conj(np.cos(z))),
    "quotient": (lambda z: 1.0 / z, lambda z: np.conj(-1 / z**2)),
    "abs": (lambda z: tf.abs(z), lambda z: z / abs(z)),
    "abs of a square": (lambda z: tf.abs(z * z), lambda z: 2 * z),
    "an own gradient": (own_square, lambda z: np.conj(2 * z)),
    "an own gradient of another": (lambda z: own_square(z * z), lambda z: np.conj(4 * z**3)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_the_gradient_by_a_complex_number(name):
    function, expected = COMPLEX[name]
    z = tf.constant(1 + 2j, tf.complex128)
    tape, y = taped(function, z)
    np.testing.assert_allclose(tape.gradient(y, z).numpy(), expected(1 + 2j))


def test_second_derivatives_by_complex_numbers():
    z = tf.constant(1 + 2j, tf.complex128)
    with tf.GradientTape() as outer:
        outer.watch(z)
        tape, y = taped(lambda z: z * z * z, z)
        first = tape.gradient(y, z)
    np.testing.assert_allclose(first.numpy(), np.conj(3 * (1 + 2j) ** 2))
    # the gradient of the conjugate of 3 z² by z, of which TensorFlow conjugates the cotangent, 1
    np.testing.assert_allclose(outer.gradient(first, z).numpy(), np.conj(6 * (1 + 2j)))


# ---- output_gradients ----------------------------------------------------------------------------

SEEDS = {  # of the target [x * y, x], x = 3, y = 2
    "numbers": [1.0, 2.0],
    "tuple": (1.0, 2.0),
    "integers": [1, 2],
    "numpy": [np.float32(1), np.array(2.0)],
    "variables": [tf.Variable(1.0), tf.Variable(2.0)],
    "with none": [None, tf.constant(2.0)],
}


@pytest.mark.parametrize("name", SEEDS)
def test_output_gradients_are_converted(name):
    x, y = tf.constant(3.0), tf.constant(2.0)
    tape, target = taped(lambda x, y: [x * y, x], x, y)
    assert values(tape.gradient(target, x, output_gradients=SEEDS[name])) == 4.0


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (3.0, [6.0, 12.0]), ([1.0, 2.0], [2.0, 8.0]), (np.array([1.0, 2.0]), [2.0, 8.0]),
        ([tf.constant([1.0, 2.0])], [2.0, 8.0]), (tf.Variable([1.0, 2.0]), [2.0, 8.0]),
    ],
)  # fmt: skip
def test_output_gradients_of_one_vector(seed, expected):
    x = tf.constant([1.0, 2.0])
    tape, y = taped(lambda x: x * x, x)
    assert values(tape.gradient(y, x, output_gradients=seed)) == expected
    assert values(tape.gradient([y], x, output_gradients=[seed])) == expected


def test_output_gradients_of_a_dict():
    x = tf.constant(3.0)
    tape, y = taped(lambda x: {"b": x * x, "a": x}, x)
    assert values(tape.gradient(y, x, output_gradients={"b": 2.0, "a": 5.0})) == 17.0


@pytest.mark.parametrize(
    ("seed", "error", "named"),
    [
        (tf.ones([3]), ValueError, r"output_gradients: .* shape \(2,\), got \(3,\)"),
        ([1.0, 2.0, 3.0], ValueError, "output_gradients"),
        (tf.constant([1.0, 2.0], tf.float64), TypeError, "output_gradients.*float64"),
        ("text", (TypeError, ValueError), "output_gradients"),
    ],
)
def test_output_gradients_that_do_not_fit(seed, error, named):
    x = tf.constant([1.0, 2.0])
    tape, y = taped(lambda x: x * x, x)
    with pytest.raises(error, match=named):
        tape.gradient(y, x, output_gradients=seed)


def test_output_gradients_are_not_changed():
    x, seeds = tf.constant(3.0), [1.0, np.array([2.0, 3.0])]
    tape, y = taped(lambda x: [x * x, x * tf.ones([2])], x)
    tape.gradient(y, x, output_gradients=seeds)
    assert seeds[0] == 1.0
    assert seeds[1].tolist() == [2.0, 3.0]


def test_output_gradients_are_differentiable():
    """The transposition trick: a vjp is linear in its cotangent."""
    x, u = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(u)
        tape, y = taped(lambda x: x * x, x)
        vjp = tape.gradient(y, x, output_gradients=u)
    assert values(outer.gradient(vjp, u, output_gradients=tf.constant([1.0, 10.0]))) == [2.0, 40.0]


# ---- what is not there ---------------------------------------------------------------------------


def test_target_none():
    x = tf.constant(2.0)
    tape, _ = taped(lambda x: x * x, x)
    with pytest.raises(TypeError, match=r"Argument `target` should be .* but received None"):
        tape.gradient(None, x)


@pytest.mark.parametrize("source", [2.0, np.ones(2), "x"])
def test_sources_that_are_no_tensors(source):
    x = tf.constant(2.0)
    tape, y = taped(lambda x: x * x, x)
    with pytest.raises(ValueError, match=f"source.*{type(source).__name__}"):
        tape.gradient(y, [x, source])


def test_inputs_without_a_rule_beside_inputs_with_one():
    x, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.25, 0.75]])
    tape, y = taped(lambda x, p: tf.where(x > p, x * p, p), x, labels)
    assert values(tape.gradient(y, [x, labels])) == [[[0.25, 0.75]], [[1.0, 2.0]]]
    tape, y = taped(
        lambda x, p: tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=x), x, labels
    )
    to_logits, to_labels = tape.gradient(y, [x, labels])
    p = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    np.testing.assert_allclose(to_logits, [p - [0.25, 0.75]], rtol=1e-6)
    np.testing.assert_allclose(to_labels, [-np.log(p)], rtol=1e-6)
