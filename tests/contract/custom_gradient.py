"""Chapter 6 of TensorFlow's contract for tapes: custom_gradient."""

import numpy as np

import framework as tf
from tests.contract.shared import Accumulator, Tape, c, grad, own, raises, read, two_results, v


@tf.custom_gradient
def same(x):
    return x, lambda dy: 2.0 * dy


@tf.custom_gradient
def tripled(x):
    return x, lambda dy: 3.0 * dy


class Owner:
    @tf.custom_gradient
    def method(self, x):
        return x * 2.0, lambda dy: dy * 7.0


def with_keyword():
    @tf.custom_gradient
    def f(x, k=1.0):
        return x * k, lambda dy: dy * k * 10.0

    return grad(lambda x: f(x, k=2.0), c(3.0))


def no_arguments():
    w = v(2.0)

    @tf.custom_gradient
    def f():
        def g(dy, variables=None):
            return (), [dy * 5.0]

        return w * 3.0, g

    return read(lambda w: f(), w)


def wrong_count(given):
    return lambda: grad(own(lambda x: x * 1.0, lambda dy: given), c(1.0))


def raising(error):
    def backward(dy):
        raise error

    return lambda: grad(own(lambda x: x * 1.0, backward), c(1.0))


def raising_forward(error):
    def backward(dy):
        raise error

    x = c(1.0)
    with Accumulator(x, c(1.0)):
        return own(lambda x: x * 1.0, backward)(x)


def variables_used(keyword, result=lambda dy, n: (dy, [dy * 10.0] * n)):
    w = v(2.0)

    def f(x):
        if keyword:
            return x * w, lambda dy, variables=None: result(dy, len(variables))
        return x * w, lambda dy: dy

    x = c(3.0)
    with Tape() as t:
        t.watch(x)
        y = tf.custom_gradient(f)(x)
    return t.gradient(y, [x, w])


def the_very_variables():
    w, fixed, seen = v(2.0), v(1.0, trainable=False), []

    @tf.custom_gradient
    def f(x):
        def g(dy, *, variables):
            seen.extend(variables)
            return dy, [dy]

        return x * w * fixed, g

    grad(f, c(1.0))
    return len(seen) == 1 and seen[0] is w


def variable_as_argument():
    x = v(3.0)

    @tf.custom_gradient
    def f(given):
        return given * given + given, lambda dr: 2.0 * dr * given + 1.0

    with Tape() as t:
        y = f(x)
    return [t.gradient(y, x), len(t.watched_variables())]


def nests():
    @tf.custom_gradient
    def f(a, b):
        return {"s": a + b, "t": [(a, ())]}, lambda s, t: (s + t, s)

    a, b = c(1.0), c(2.0)
    with Tape() as t:
        t.watch([a, b])
        y = f(a, b)
    return [type(y), type(y["t"][0]), y["t"][0][1], t.gradient(y, [a, b])]


def second_order():
    @tf.custom_gradient
    def f(x):
        @tf.custom_gradient
        def slope(x):
            return -1.1, lambda ddz: -2.1 * ddz

        return x + 10.0, lambda dz: dz * slope(x)

    x = c(1.0)
    with Tape() as outer:
        outer.watch(x)
        with Tape() as inner:
            inner.watch(x)
            y = f(x) ** 4.0
        d = inner.gradient(y, x)
    return [d, outer.gradient(d, x)]


def first_order_inside():
    @tf.custom_gradient
    def first(x, dz):
        return c(2.1) + 0.0 * x, lambda dg: (2.2 * dg, 3.1 * dg)

    @tf.custom_gradient
    def f(x):
        return x + 10.0, lambda dz: first(x, dz)

    x, dz = c(1.0), c(1.0)
    with Tape(persistent=True) as outer:
        outer.watch([x, dz])
        with Tape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x, output_gradients=dz)
    return [g, outer.gradient(g, x), outer.gradient(g, dz)]


def tape_inside():
    @tf.custom_gradient
    def f(x):
        with Tape() as t:
            t.watch(x)
            y = x * x
        d = t.gradient(y, x)
        return d, lambda dy: dy * 9.0

    return grad(f, c(3.0))


def never_run():
    calls = []

    @tf.custom_gradient
    def f(x):
        def g(dy):
            calls.append(dy)
            raise RuntimeError("backward pass")

        return x * 1.0, g

    x = c(1.0)
    with Tape() as t:
        t.watch(x)
        y = f(tf.stop_gradient(x))
    return [t.gradient(y, x), calls]


def pass_through_assign():
    x, z = v(1.0), v(3.0)
    with Tape() as t:
        y = tf.grad_pass_through(x.assign)(z**2.0)
    return [t.gradient(y, z), x]


def pass_through_reads():
    w, x = v(2.0), c(3.0)
    with Tape() as t:
        t.watch(x)
        y = tf.grad_pass_through(lambda x: tf.round(x * w))(x)
    return t.gradient(y, [x, w])


SENTENCES = {
    "6.1 a function": (lambda: grad(own(tf.exp, lambda dy: dy * 5.0), c(1.0)), 5.0),
    "6.1 a method": (lambda: grad(lambda x: Owner().method(x), c(1.0)), 7.0),
    "6.1 inside function": (
        lambda: grad(tf.function(own(tf.exp, lambda dy: dy * 5.0)), c(1.0)), 5.0
    ),
    "6.1 keyword arguments": (with_keyword, 20.0),
    "6.1 arrays and numbers": (
        lambda: [own(lambda x: x * 2.0, lambda dy: dy)(a) for a in (np.float32(1.5), 1.5)],
        [3.0] * 2,
    ),
    "6.1 no arguments": (no_arguments, 5.0),
    "6.2 numbers and arrays as results": (
        lambda: [own(lambda x: 1.0, lambda dy: dy)(c(1.0)),
                 own(lambda x: np.sin(x.numpy()), lambda dy: dy)(c(0.0))], [1.0, 0.0]
    ),
    "6.2 an input as result is no pass-through": (lambda: grad(same, c(1.0)), 2.0),
    "6.2 nested": (lambda: grad(lambda x: tripled(tripled(x)), c(1.0)), 9.0),
    "6.3 one gradient": (wrong_count(c(3.0)), 3.0),
    "6.3 in a list": (wrong_count([c(3.0)]), 3.0),
    "6.3 in a tuple": (wrong_count((c(3.0),)), 3.0),
    "6.3 None": (wrong_count(None), None),
    "6.3 too many": (wrong_count([c(1.0), c(2.0)]),
                     raises(ValueError, "expected to return 1 gradients, but returned 2 instead")),
    "6.3 none": (wrong_count([]),
                 raises(ValueError, "expected to return 1 gradients, but returned 0 instead")),
    "6.3 an unused output gets zeros": (
        lambda: grad(lambda x: two_results(x)[0], c(1.0)), 2.0
    ),
    "6.4 RuntimeError": (raising(RuntimeError("told")), raises(RuntimeError, "told")),
    "6.4 ValueError": (raising(ValueError("told")), raises(ValueError, "told")),
    "6.4 forward": (lambda: raising_forward(ValueError("told")), raises(ValueError, "told")),
    "6.5 without the keyword": (
        lambda: variables_used(False),
        raises(TypeError, "must accept keyword argument 'variables', since function uses "),
    ),
    "6.5 both": (lambda: variables_used(True), [1.0, 10.0]),
    "6.5 a wrong count": (
        lambda: variables_used(True, lambda dy, n: (dy, [])),
        raises(ValueError, "Must return gradient for each variable from @custom_gradient grad_fn"),
    ),
    "6.5 a place for none": (
        lambda: grad(own(lambda x: x * 1.0, lambda dy, variables=None: dy * 4.0), c(1.0)), 4.0
    ),
    "6.5 the very variables": (the_very_variables, True),
    "6.6 a variable as argument": (variable_as_argument, [7.0, 1]),
    "6.7 nests": (nests, [dict, tuple, (), [2.0, 1.0]]),
    "6.8 second order": (
        second_order, [4 * 11.0**3 * -1.1, 12 * 11.0**2 * 1.21 + 4 * 11.0**3 * -2.1]
    ),
    "6.9 by output_gradients": (first_order_inside, [2.1, 2.2, 3.1]),
    "6.10 a tape inside": (tape_inside, 9.0),
    "6.11 swapped": (
        lambda: grad(own(lambda a, b: a * b, lambda dy: (dy * 2.0, dy * 3.0)), c(2.0), c(3.0)),
        [2.0, 3.0],
    ),
    "6.11 never run": (never_run, [None, []]),
    "6.12 grad_pass_through of an assign": (pass_through_assign, [6.0, 9.0]),
    "6.12 variables read get None": (pass_through_reads, [1.0, None]),
}  # fmt: skip
