"""Chapter 4 of TensorFlow's contract for tapes: higher order."""

import framework as tf
from tests.contract.shared import Tape, c, grad, nth


def watched_intermediate():
    x = c(3.0)
    with Tape(persistent=True) as outer:
        outer.watch(x)
        y = x * x
        with Tape(persistent=True) as inner:
            inner.watch(y)
            z = 2.0 * y
        g, again = inner.gradient(z, y), inner.gradient(z, y)
        y += g
    return [g, again, outer.gradient(y, x), outer.gradient(z, x)]


def one_class():
    return nth(lambda x: tf.nn.softmax_cross_entropy_with_logits([[1.0]], x), c([[3.0]]), 2)


def nested_batch_jacobian():
    x = c([[1.0, 2.0], [3.0, 4.0]])
    with Tape() as g:
        g.watch(x)
        with Tape() as gg:
            gg.watch(x)
            y = tf.reduce_sum(x**3.0)
        d = gg.gradient(y, x)
    return g.batch_jacobian(d, x)


def conv_jacobian():
    x, k = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1])
    with Tape() as t:
        t.watch(k)
        y = tf.reduce_sum(tf.nn.conv2d(x, k, 1, "VALID") ** 2.0)
    return tf.reshape(t.jacobian(y, k), [4])


def through_function():
    @tf.function
    def inner(x):
        with Tape() as t:
            t.watch(x)
            y = x * x * x
        return t.batch_jacobian(y, x)

    return grad(lambda x: tf.reduce_sum(inner(x)), c([[1.0, 2.0]]))


SENTENCES = {
    "4.1 the second derivative of exp at 0": (lambda: nth(tf.exp, c(0.0), 2), 1.0),
    "4.1 of a square": (lambda: nth(lambda x: x * x, c(3.0), 2), 2.0),
    "4.1 three levels": (lambda: nth(lambda x: x**4.0, c(1.0), 3), 24.0),
    "4.2 an inner tape watches an intermediate": (watched_intermediate, [2.0, 2.0, 6.0, 12.0]),
    "4.3 cross-entropy of one class": (one_class, [[0.0]]),
    "4.4 batch_jacobian of a gradient": (
        nested_batch_jacobian, [[[6.0, 0.0], [0.0, 12.0]], [[18.0, 0.0], [0.0, 24.0]]]
    ),
    "4.4 jacobian of a squared convolution": (conv_jacobian, [32.0] * 4),
    "4.5 through a function with its own tape": (through_function, [[6.0, 12.0]]),
}  # fmt: skip
