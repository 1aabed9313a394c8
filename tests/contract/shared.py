"""What the chapters of the contract share."""

import framework as tf

Tape = tf.GradientTape
Accumulator = tf.autodiff.ForwardAccumulator
ZERO, NONE = tf.UnconnectedGradients.ZERO, tf.UnconnectedGradients.NONE


class raises:
    """As an outcome: the call raises `error`, with `words` in its message."""

    def __init__(self, error, words=""):
        self.error, self.words = error, words


def c(value, dtype=None):
    return tf.constant(value, dtype)


def v(value, **kwargs):
    return tf.Variable(value, **kwargs)


def grad(f, *xs, tape=None, **kwargs):
    """The gradients by `xs`, constants that are watched; alone where there is one."""
    with tape or Tape() as t:
        t.watch(xs)
        y = f(*xs)
    found = t.gradient(y, list(xs), **kwargs)
    return found[0] if len(xs) == 1 else found


def read(f, *variables, **kwargs):
    """The gradients by variables, which `f` is given and reads."""
    with Tape() as t:
        y = f(*variables)
    found = t.gradient(y, list(variables), **kwargs)
    return found[0] if len(variables) == 1 else found


def nth(f, x, order):
    if not order:
        return f(x)
    with Tape() as t:
        t.watch(x)
        y = nth(f, x, order - 1)
    return t.gradient(y, x)


def own(forward, backward):
    return tf.custom_gradient(lambda *xs: (forward(*xs), backward))


def pushed(f, x, tangent, **kwargs):
    with Accumulator(x, tangent) as acc:
        y = f(x)
    return acc.jvp(y, **kwargs)


@tf.custom_gradient
def two_results(x):
    return (x * 2.0, x * 3.0), lambda a, b: 2.0 * a + 3.0 * b
