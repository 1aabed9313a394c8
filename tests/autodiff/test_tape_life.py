"""The life of a tape, and tapes around tapes: sections 3 and 4 of TensorFlow's contract."""

import threading
import warnings

import numpy as np
import pytest

import framework as tf
from tests.autodiff.values import values

ONCE = "A non-persistent GradientTape can only"


# ---- once or often -------------------------------------------------------------------------------


def test_a_tape_is_used_once():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert values(tape.gradient(y, x)) == 6.0
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=ONCE):  # before anything else is looked at
        tape.gradient(None, [np.ones(2)])


def test_a_tape_never_entered():
    x = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match=ONCE):
        tf.GradientTape().gradient(x, x)


def test_a_persistent_tape_gives_the_same_answers_again():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * y
    for _ in range(3):
        assert values(tape.gradient(z, [x, y])) == [108.0, 18.0]
        assert values(tape.gradient(y, x)) == 6.0


def test_gradient_inside_the_block():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        assert values(tape.gradient(2 * v, v)) == 2.0
        v * v  # recorded no more
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(v, v)


def test_a_persistent_tape_records_its_own_backward_pass():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tape.watch(x)
        y = x**3
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    third = tape.gradient(second, x)
    assert values([first, second, third]) == [27.0, 18.0, 6.0]


def test_an_active_tape_is_not_entered_again():
    tape = tf.GradientTape()
    with tape, pytest.raises(ValueError, match="Tape is still recording"), tape:
        pass


def test_a_tape_goes_on_when_it_is_entered_again():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 2 * x
    with tape:
        z = 2 * y
    assert values(tape.gradient(z, x)) == 4.0


def test_a_tape_used_up_starts_anew_when_it_is_entered_again():
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    tape = tf.GradientTape()
    for variable, other in ((v, w), (w, v)):
        with tape:
            y = variable * variable
        assert (variable,) == tape.watched_variables()
        assert values(tape.gradient(y, [variable, other])) == [2 * float(variable), None]


# ---- stop_recording and reset --------------------------------------------------------------------


def test_stop_recording():
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        x2 = 2 * x
        with tape.stop_recording():
            y = x2 * x2
        z = x2 * x2
        later = y * x
    assert tape.gradient(y, x2) is None
    assert values(tape.gradient(z, x2)) == 4.0
    assert values(tape.gradient(later, x)) == 4.0  # what was made meanwhile is a constant


def test_stop_recording_suspends_one_tape_only():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer, tf.GradientTape(persistent=True) as inner:
        outer.watch(x)
        inner.watch(x)
        with inner.stop_recording():
            y = x * x
        with outer.stop_recording():
            z = x * x
    assert (values(outer.gradient(y, x)), inner.gradient(y, x)) == (6.0, None)
    assert (outer.gradient(z, x), values(inner.gradient(z, x))) == (None, 6.0)


def test_stop_recording_of_a_tape_that_does_not_record():
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
        pass
    with tape:
        pass
    with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
        pass


def test_an_exception_ends_stop_recording():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError("of the user")
        y = x * x
    assert values(tape.gradient(y, x)) == 6.0


def test_gradients_taken_while_not_recording_are_not_recorded():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        with tape.stop_recording():
            first = tape.gradient(y, x)
    assert tape.gradient(first, x) is None


def test_reset():
    v, c = tf.Variable(1.0), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        loss = v * v
        tape.reset()
        loss += v * v
        other = c * c
    assert values(tape.gradient(loss, v)) == 2.0
    assert tape.gradient(other, c) is None


def test_reset_of_a_tape_that_does_not_record():
    tape = tf.GradientTape()
    with pytest.raises(ValueError, match="while the tape records"):
        tape.reset()


# ---- exceptions and threads ----------------------------------------------------------------------


def test_an_exception_in_the_block_leaves_no_tape_behind():
    x = tf.Variable(3.0)
    broken = tf.GradientTape()

    def failing():
        with broken:
            x * x
            raise KeyError("of the user")

    with pytest.raises(KeyError):
        failing()
    with tf.GradientTape() as tape:
        y = x * x
    assert values(tape.gradient(y, x)) == 6.0
    assert (x,) == broken.watched_variables()
    assert broken.gradient(y, x) is None  # it was closed by the exception


def test_an_exception_in_a_backward_pass_leaves_the_outer_tape_as_it_was():
    @tf.custom_gradient
    def failing(x):
        def grad(dy):
            raise KeyError("of the user")

        return x * x, grad

    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = failing(x)
        with pytest.raises(KeyError):
            inner.gradient(y, x)
        z = x * x
    assert values(outer.gradient(z, x)) == 6.0


def test_each_thread_has_its_own_tapes():
    """Eight threads record at once around a barrier; none sees another's work."""
    shared, barrier, found = tf.Variable(2.0), threading.Barrier(9), {}

    def work(k):
        x = tf.constant(float(k))
        with tf.GradientTape() as tape:
            tape.watch(x)
            barrier.wait()
            y = x * 1.0
            for _ in range(200):
                y = y * x / x + shared * 0.0
            y = y * shared
            barrier.wait()
        found[k] = values(tape.gradient(y, [x, shared])), tape.watched_variables()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 9)]
    for thread in threads:
        thread.start()
    with tf.GradientTape() as tape:  # open in this thread all the while
        barrier.wait()
        barrier.wait()
    for thread in threads:
        thread.join()
    assert tape.watched_variables() == ()
    for k in range(1, 9):
        (to_x, to_shared), variables = found[k]
        assert to_x == pytest.approx(2.0, rel=1e-4)
        assert to_shared == pytest.approx(k, rel=1e-4)
        assert (shared,) == variables


# ---- higher order --------------------------------------------------------------------------------


def derivatives(function, x, order):
    """[f(x), f'(x), ...] by tapes around tapes."""
    if order == 0:
        return [function(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        lower = derivatives(function, x, order - 1)
    return [*lower, tape.gradient(lower[-1], x, unconnected_gradients="zero")]


def cube_in_a_loop(x):
    y = x
    for _ in range(2):
        y = y * x
    return y


HIGHER = {  # at 0.6: f, f', f'', f''', f''''
    "exp": (tf.exp, [np.exp(0.6)] * 5),
    "square": (tf.square, [0.36, 1.2, 2.0, 0.0, 0.0]),
    "cube": (cube_in_a_loop, [0.216, 1.08, 3.6, 6.0, 0.0]),
    "power": (lambda x: x**3.5, [
        0.6**3.5, 3.5 * 0.6**2.5, 8.75 * 0.6**1.5, 13.125 * 0.6**0.5, 6.5625 * 0.6**-0.5,
    ]),
    "sin": (tf.sin, [np.sin(0.6), np.cos(0.6), -np.sin(0.6), -np.cos(0.6), np.sin(0.6)]),
    "reciprocal": (lambda x: 1.0 / x, [
        0.6**-1, -(0.6**-2), 2 * 0.6**-3, -6 * 0.6**-4, 24 * 0.6**-5,
    ]),
    "log": (lambda x: tf.math.log(x), [
        np.log(0.6), 0.6**-1, -(0.6**-2), 2 * 0.6**-3, -6 * 0.6**-4,
    ]),
    "tanh": (tf.tanh, None),
    "sigmoid": (tf.sigmoid, None),
}  # fmt: skip


def by_tanh(x):
    t = np.tanh(x)
    s = 1 - t * t
    return [t, s, -2 * t * s, s * (6 * t * t - 2), t * s * (16 - 24 * t * t)]


def by_sigmoid(x):
    """sigmoid(x) = (1 + tanh(x / 2)) / 2"""
    t = by_tanh(x / 2)
    return [(1 + t[0]) / 2, *(t[n] / 2 ** (n + 1) for n in range(1, 5))]


@pytest.mark.parametrize("name", HIGHER)
def test_derivatives_up_to_the_fourth(name):
    function, expected = HIGHER[name]
    expected = expected or {"tanh": by_tanh, "sigmoid": by_sigmoid}[name](0.6)
    x = tf.constant(0.6, tf.float64)
    found = [d.numpy() for d in derivatives(function, x, 4)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_persistent_tape_around_two():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as middle:
            middle.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**4
            first = inner.gradient(y, x)
        second = middle.gradient(first, x)
    assert values([first, second]) == [32.0, 48.0]
    assert values(outer.gradient(second, x)) == 48.0
    assert values(outer.gradient(first, x)) == 48.0
    assert values(outer.gradient(y, x)) == 32.0


def test_an_inner_tape_that_watches_an_intermediate():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        y = x * x
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(y)
            z = 2 * y
        for _ in range(2):
            assert values(inner.gradient(z, y)) == 2.0
        y += inner.gradient(z, y)
    assert values(outer.gradient(y, x)) == 6.0
    assert values(outer.gradient(z, x)) == 12.0


def test_mixed_derivatives():
    """f = x² y³: ∂²f/∂x∂y = 6 x y², whichever comes first."""
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            f = x**2 * y**3
        by_x, by_y = inner.gradient(f, [x, y])
    assert values(outer.gradient(by_x, [x, y])) == [54.0, 108.0]
    assert values(outer.gradient(by_y, [x, y])) == [108.0, 72.0]


def test_cross_entropy_of_one_class_has_a_second_derivative():
    logits, labels = tf.constant([[0.5]]), tf.constant([[1.0]])
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        first = inner.gradient(loss, logits)
    assert values(outer.gradient(first, logits)) == [[0.0]]


def test_the_gradient_flows_through_a_taped_function():
    @tf.function
    def inner(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    assert values(y) == 12.0
    assert values(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize("seed", range(3))
def test_second_derivatives_of_a_small_network_against_differences(seed):
    """A gradient penalty: d/dw of |d loss/dx|², against central differences in float64."""
    random = np.random.default_rng(seed)
    x, w, u = (tf.constant(random.normal(size=shape)) for shape in ((4, 3), (3, 5), (5, 1)))

    def penalty(w):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sigmoid(tf.tanh(x @ w) @ u))
        return tf.reduce_sum(tape.gradient(loss, x) ** 2.0)

    with tf.GradientTape() as tape:
        tape.watch(w)
        value = penalty(w)
    found = tape.gradient(value, w).numpy()
    for index in np.ndindex(3, 5):
        step = np.zeros((3, 5))
        step[index] = 1e-5
        difference = (penalty(w + step) - penalty(w - step)).numpy() / 2e-5
        assert found[index] == pytest.approx(difference, rel=1e-6, abs=1e-9)
