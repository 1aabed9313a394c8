"""What a tape keeps, what it computes and what it lets go of."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import framework as tf
from framework.core.op import Op
from tests.autodiff.values import values


@pytest.fixture
def no_collector():
    """Without the cyclic collector only reference counts free memory: cycles would show."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def counting(name, calls, **options):
    """An op of two inputs whose rules count their calls: a * b."""

    def rule_a(g, b):
        calls.append("a")
        return g * b

    def rule_b(g, a):
        calls.append("b")
        return g * a

    return Op(name, np.multiply, rule_a, rule_b, inputs=("a", "b"), listed=False, **options)


# ---- what is recorded ----------------------------------------------------------------------------


def test_nothing_is_recorded_when_nothing_is_watched():
    x, fixed = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0], trainable=False)
    with tf.GradientTape() as tape:
        y = tf.exp(x * fixed) + fixed
    assert tape.recorded_ops() == []
    assert y.serial is None


def test_only_what_descends_from_the_watched_is_recorded():
    x, other = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        aside = tf.exp(other) * other
        tf.exp(x) * aside
    assert [op.name for op in tape.recorded_ops()] == ["exp", "multiply"]


def test_ops_without_derivative_are_not_recorded():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.floor(x)
        tf.argmax(x)
        tf.greater(x, 0.0)
        tf.stop_gradient(x)
    assert tape.recorded_ops() == []


# ---- what is kept --------------------------------------------------------------------------------


def test_values_that_no_rule_reads_are_not_kept(no_collector):
    """A sum's rule needs shapes only, exp's its output only, a product's the other factor only."""
    x = tf.constant(np.ones(100))
    w = tf.constant(np.ones(100))
    with tf.GradientTape() as tape:
        tape.watch(x)
        shifted = x + w
        y = tf.exp(shifted)
        product = y * w
        total = tf.reduce_sum(product)
        gone = [weakref.ref(each) for each in (shifted, product)]
        kept = [weakref.ref(each) for each in (y, w)]
        del shifted, y, product, w
        assert [r() is None for r in gone] == [True, True]
        assert [r() is None for r in kept] == [False, False]
    np.testing.assert_allclose(tape.gradient(total, x), np.exp(2.0) * np.ones(100))
    assert [r() is None for r in kept] == [True, True]  # the walk back has freed them


@pytest.mark.parametrize("watched", [True, False])
def test_tensors_die_with_their_last_use(no_collector, watched):
    class Probe:
        pass

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        if watched:
            tape.watch(x)
        y = x * x
        reference = weakref.ref(y)
        del y
        assert reference() is None
    reference = weakref.ref(x)
    del x
    assert (reference() is not None) == watched  # the product's rule reads x
    del tape
    assert reference() is None


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_tapes_form_no_reference_cycles(no_collector, persistent, used):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=persistent) as tape:
        parts = tf.split(tf.tanh(v * v), 2)
        y = tf.reduce_sum(parts[0] * parts[1])
    if used:
        tape.gradient(y, v)
    references = [weakref.ref(tape), weakref.ref(y), weakref.ref(parts[0])]
    del tape, y, parts
    assert [r() for r in references] == [None, None, None]


def test_nested_tapes_and_own_gradients_form_no_reference_cycles(no_collector):
    @tf.custom_gradient
    def f(x):
        y = tf.exp(x)
        return y, lambda dy: dy * y

    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(f(v) * v)
        first = inner.gradient(y, v)
    second = outer.gradient(first, v)
    references = [weakref.ref(each) for each in (outer, inner, y, first, second)]
    del outer, inner, y, first, second
    assert [r() for r in references] == [None] * 5


def test_the_walk_back_frees_as_it_goes():
    """Each of 40 layers keeps a megabyte for its rule; at the walk's end only a few are left."""
    x = tf.constant(np.ones(125_000))

    def peak_of_backward(persistent):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = x
            for _ in range(40):
                y = tf.tanh(y)
            total = tf.reduce_sum(y)
            del y
        before = tracemalloc.get_traced_memory()[0]
        tape.gradient(total, x)
        return before, tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before, after = peak_of_backward(persistent=False)
        assert before > 40e6
        assert after < 5e6
        before, after = peak_of_backward(persistent=True)
        assert before > 40e6
        assert after > 40e6
    finally:
        tracemalloc.stop()


def test_records_are_freed_while_the_walk_is_under_way(no_collector):
    seen = []

    @tf.custom_gradient
    def probe(x):
        def grad(dy):
            seen.append([r() is None for r in references])
            return dy

        return tf.identity(x), grad

    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, references = probe(x), []
        for _ in range(3):
            y = tf.exp(y)
            references.append(weakref.ref(y))
        y = tf.reduce_sum(y)
    tape.gradient(y, x)
    assert seen == [[True, True, True]]


# ---- what is computed ----------------------------------------------------------------------------


def test_the_gradient_of_the_first_layers_input_is_never_computed():
    calls = []
    multiply = counting("counted", calls)
    data, w1, w2 = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0]), tf.Variable([5.0, 6.0])
    with tf.GradientTape() as tape:
        hidden = multiply(data, w1.value())
        y = multiply(hidden, w2.value())
    found = tape.gradient(y, [w1, w2])
    assert values(found) == [[5.0, 12.0], [3.0, 8.0]]
    assert sorted(calls) == ["a", "b", "b"]


def test_unasked_gradients_are_never_computed():
    calls = []
    multiply = counting("counted", calls)
    a, b, c = tf.constant(2.0), tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b, c])
        aside = multiply(multiply(b, b), b)  # leads to b only
        y = multiply(multiply(a, c), aside)
    assert values(tape.gradient(y, a)) == 108.0
    assert calls == ["a", "a"]
    calls.clear()
    assert values(tape.gradient(y, b)) == 8.0 * 27.0
    assert sorted(calls) == ["a", "a", "b", "b", "b"]
    calls.clear()
    assert tape.gradient(y, tf.constant(1.0)) is None
    assert calls == []


def test_a_source_that_no_tape_met_asks_for_nothing():
    calls = []
    multiply = counting("counted", calls)
    joint = Op("joint", np.multiply, backward=lambda g, a, b: (g * b, g * a), inputs=("a", "b"),
               listed=False)  # fmt: skip
    a, stranger = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = multiply(joint(a, stranger), a)
    assert tape.gradient(y, tf.constant(1.0)) is None
    assert calls == []


def test_records_after_the_target_and_beside_it_are_not_walked():
    calls = []
    multiply = counting("counted", calls)
    a = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = multiply(a, a)
        multiply(y, a)
        multiply(a, a)
    assert values(tape.gradient(y, a)) == 4.0
    assert sorted(calls) == ["a", "b"]


def test_a_joint_rule_receives_which_gradients_are_needed():
    asked = []

    def backward(g, a, b, needed):
        asked.append(needed)
        return g * b, g * a

    multiply = Op(
        "joint", np.multiply, backward=backward, inputs=("a", "b"), broadcasts=True, listed=False
    )
    a, b, c = tf.constant([2.0, 3.0]), tf.constant(5.0), tf.constant(7.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = multiply(a, b)
        z = multiply(a, c)
    assert values(tape.gradient(y, [a, b])) == [[5.0, 5.0], 5.0]
    assert values(tape.gradient(y, b)) == 5.0
    assert values(tape.gradient(z, [a, b])) == [[7.0, 7.0], None]
    assert tape.gradient(z, b) is None
    assert asked == [(True, True), (False, True), (True, False)]


def test_first_derivatives_run_on_arrays_and_higher_ones_on_tensors():
    kinds = []

    def rule(g, x):
        kinds.append((type(g), type(x)))
        return g * 2 * x

    square = Op("kinds", np.square, rule, inputs=("x",), listed=False)
    x = tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    tape.gradient(y, x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = square(x)
        g = inner.gradient(y, x)
    assert values(outer.gradient(g, x)) == [2.0]
    assert kinds == [(np.ndarray, np.ndarray), (tf.Tensor, tf.Tensor)]


@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [
        ((), (3,)), ((3,), (2, 3)), ((1, 3), (2, 1)), ((2, 1, 3), (4, 1)), ((1, 1), (0, 5)),
        ((0,), ()),
    ],
)  # fmt: skip
def test_broadcast_gradients_are_summed_back(shape_a, shape_b):
    random = np.random.default_rng(0)
    a, b = tf.constant(random.normal(size=shape_a)), tf.constant(random.normal(size=shape_b))
    ones = np.ones(np.broadcast_shapes(shape_a, shape_b))

    def total(array, shape):
        lead = array.ndim - len(shape)
        axes = (*range(lead), *(i + lead for i, n in enumerate(shape) if n == 1))
        return array.sum(axes, keepdims=True).reshape(shape)

    with tf.GradientTape() as outer:
        outer.watch([a, b])
        with tf.GradientTape() as inner:
            inner.watch([a, b])
            y = a * b * b
        to_a, to_b = inner.gradient(y, [a, b])
    np.testing.assert_allclose(to_a, total(ones * b.numpy() ** 2, shape_a))
    np.testing.assert_allclose(to_b, total(2 * a.numpy() * b.numpy() * ones, shape_b))
    mixed = outer.gradient(to_a, b)
    np.testing.assert_allclose(mixed, 2 * b.numpy() * total(ones, shape_b))
