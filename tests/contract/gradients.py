"""Chapter 2 of TensorFlow's contract for tapes: gradient."""

import numpy as np

import framework as tf
from tests.contract.shared import NONE, ZERO, Tape, c, grad, raises, read, two_results, v


def structure(arrange):
    x1, x2, x3 = c(1.0), c(2.0), c(3.0)
    with Tape() as t:
        t.watch([x1, x2, x3])
        y = x1 * x2 * x3
    return t.gradient(y, arrange(x1, x2, x3))


def with_targets(targets, *, x=3.0, y=5.0):
    x, y = c(x), c(y)
    with Tape() as t:
        t.watch([x, y])
        targets = targets(x, y)
    return t.gradient(targets, [x, y])


def variable_as_target():
    w, u = v(3.0), v(2.0)
    with Tape(persistent=True) as t:
        pass
    return [t.gradient(w, w), t.gradient(w, u)]


def unconnected(option, source=None):
    source = v([[1.0, 2.0], [3.0, 4.0]]) if source is None else source
    x = c(1.0)
    with Tape() as t:
        t.watch(x)
        y = x * x
    return t.gradient(y, source, unconnected_gradients=option)


def weighted(seed):
    x, y = c(3.0), c(2.0)
    with Tape() as t:
        t.watch(x)
        targets = [x * y, x]
    return t.gradient(targets, x, output_gradients=seed)


def seed_of_vector(seed):
    x = c([1.0, 2.0])
    with Tape() as t:
        t.watch(x)
        y = x * x
    return t.gradient(y, x, output_gradients=seed)


def seed_is_differentiated():
    x, dy = c(3.0), c(2.0)
    with Tape() as outer:
        outer.watch(dy)
        with Tape() as t:
            t.watch(x)
            y = x * x
        g = t.gradient(y, x, output_gradients=dy)
    return outer.gradient(g, dy)


def seeds_kept():
    x = c(3.0)
    seeds = [c(1.0), c(2.0)]
    with Tape() as t:
        t.watch(x)
        y = [x * x, x * x]
    t.gradient(y, x, output_gradients=seeds)
    return seeds


def no_path(f):
    return lambda: grad(f, c([1.0, 2.0]))


def half_in_double():
    w = v(2.0, dtype=tf.float16)
    g = read(lambda w: tf.cast(w, tf.float64) ** 2.0, w)
    return [g.dtype, g]


def int_zeros():
    g = unconnected("zero", c([1, 2]))
    return [g, g.dtype]


def read_after_gradient():
    w, u = v(2.0), v(3.0)
    with Tape() as t:
        y = w * w
        t.gradient(y, w)
        _ = u * u
    return t.watched_variables() == (w,)


def one_of_split():
    return grad(lambda x: tf.split(x, 2)[1] * 3.0, c([1.0, 2.0]))


def labels():
    return grad(
        lambda p, z: tf.nn.softmax_cross_entropy_with_logits(p, z), c([[0.5, 0.5]]), c([[0.0, 0.0]])
    )


def intermediates():
    x = c(3.0)
    with Tape() as t:
        t.watch(x)
        y = x * x
        z = y * y
    return t.gradient(z, [x, y])


SENTENCES = {
    "2.1 a tensor": (lambda: structure(lambda a, b, c: a), 6.0),
    "2.1 a list": (lambda: structure(lambda a, b, c: [a, b]), [6.0, 3.0]),
    "2.1 a tuple": (lambda: type(structure(lambda a, b, c: (a, b))), tuple),
    "2.1 a dict": (lambda: list(structure(lambda a, b, c: {"p": a, "q": b}).items()),
                   [("p", 6.0), ("q", 3.0)]),
    "2.1 nested": (lambda: structure(lambda a, b, c: (a, b, [a, c])), (6.0, 3.0, [6.0, 2.0])),
    "2.1 nested with a dict": (
        lambda: structure(lambda a, b, c: [a, {"x2": b, "x3": c}])[1]["x3"], 2.0
    ),
    "2.1 nothing": (lambda: structure(lambda a, b, c: []), []),
    "2.1 a source twice": (lambda: structure(lambda a, b, c: [a, a]), [6.0, 6.0]),
    "2.2 a nest of targets is added": (lambda: with_targets(lambda x, y: [x * y, x]), [6.0, 3.0]),
    "2.2 dict targets": (lambda: with_targets(lambda x, y: {"a": x * y, "b": x}), [6.0, 3.0]),
    "2.2 a target twice": (lambda: with_targets(lambda x, y: [x * y] * 2), [10.0, 6.0]),
    "2.3 a target that is a source": (lambda: with_targets(lambda x, y: x), [1.0, None]),
    "2.3 twice": (lambda: with_targets(lambda x, y: [x, x]), [2.0, None]),
    "2.3 and more": (lambda: with_targets(lambda x, y: [x, x * x], x=2.0), [5.0, None]),
    "2.3 both": (lambda: with_targets(lambda x, y: [x, y, y * y]), [1.0, 11.0]),
    "2.3 a matrix": (lambda: grad(lambda x: x, tf.ones([2, 2])), np.ones((2, 2))),
    "2.3 a matrix twice": (lambda: grad(lambda x: [x, x], tf.ones([2, 2])), 2 * np.ones((2, 2))),
    "2.3 variables": (variable_as_target, [1.0, None]),
    "2.4 None by default": (lambda: unconnected("none"), None),
    "2.4 the enum's None": (lambda: unconnected(NONE), None),
    "2.4 zeros": (lambda: unconnected("zero"), np.zeros((2, 2))),
    "2.4 the enum's zeros": (lambda: unconnected(ZERO), np.zeros((2, 2))),
    "2.4 through stop_gradient": (
        lambda: grad(tf.stop_gradient, c([1.0, 2.0]), unconnected_gradients="zero"), [0.0, 0.0]
    ),
    "2.4 through a function": (
        lambda: grad(tf.function(tf.stop_gradient), c(1.0), unconnected_gradients="zero"), 0.0
    ),
    "2.4 an unknown option": (
        lambda: unconnected("nonsense"),
        raises(ValueError, "Unknown value for unconnected_gradients: 'nonsense'"),
    ),
    "2.4 a path exists": (lambda: grad(lambda x: x * x, c(3.0), unconnected_gradients=ZERO), 6.0),
    "2.4 the enum": (lambda: [NONE.value, ZERO.value, tf.UnconnectedGradients("none") is NONE],
                     ["none", "zero", True]),
    "2.5 output_gradients": (lambda: weighted([1.0, 2.0]), 4.0),
    "2.5 arrays and variables": (lambda: weighted([np.float32(1), v(2.0)]), 4.0),
    "2.5 lists": (lambda: seed_of_vector([1.0, 10.0]), [2.0, 40.0]),
    "2.5 a scalar broadcasts": (lambda: seed_of_vector(2.0), [4.0, 8.0]),
    "2.5 a wrong shape": (lambda: seed_of_vector([1.0, 2.0, 3.0]),
                          raises(tf.errors.InvalidArgumentError)),
    "2.5 is differentiable": (seed_is_differentiated, 6.0),
    "2.5 a list is not changed": (seeds_kept, [1.0, 2.0]),
    "2.6 integers": (lambda: grad(lambda x: x + x, c(3)), None),
    "2.6 strings in lists": (
        lambda: with_targets(lambda x, y: [x, y, y * y, c("s")]), [1.0, 11.0]
    ),
    "2.6 zeros of an int": (
        int_zeros, [[0, 0], "int32"]
    ),
    "2.7 a cast to int": (no_path(lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32)), None),
    "2.7 comparisons": (no_path(lambda x: tf.cast(x > 1.0, tf.float32)), None),
    "2.7 argmax": (no_path(lambda x: tf.cast(tf.argmax(x), tf.float32)), None),
    "2.7 argmax, then stop": (no_path(lambda x: tf.stop_gradient(tf.argmax(x))), None),
    "2.7 zeros_like": (no_path(lambda x: tf.zeros_like(x) * 2.0), None),
    "2.7 ones_like": (no_path(lambda x: tf.ones_like(x) * 2.0), None),
    "2.7 shape": (no_path(lambda x: tf.cast(tf.shape(x), tf.float32)), None),
    "2.7 stop_gradient": (no_path(tf.stop_gradient), None),
    "2.8 the source's dtype": (half_in_double, ["float16", 4.0]),
    "2.9 no target": (lambda: Tape(persistent=True).gradient(None, c(1.0)),
                      raises((TypeError, RuntimeError))),
    "2.9 never entered": (lambda: Tape().gradient(c(1.0), c(1.0)),
                          raises(RuntimeError, "A non-persistent GradientTape can only")),
    "2.9 reads after gradient": (read_after_gradient, True),
    "2.10 fan-out": (lambda: with_targets(lambda x, y: x * x + x * y), [11.0, 3.0]),
    "2.10 two lines": (lambda: with_targets(lambda x, y: (x, 2.0 * x)), [3.0, None]),
    "2.10 one of a split": (one_of_split, [0.0, 3.0]),
    "2.10 one of an unstack": (lambda: grad(lambda x: tf.unstack(x)[0], c([1.0, 2.0])), [1.0, 0.0]),
    "2.10 one of two results": (lambda: grad(lambda x: two_results(x)[1], c(1.0)), 3.0),
    "2.10 labels have a gradient": (labels, [[[np.log(2)] * 2], [[0.0, 0.0]]]),
    "2.10 a condition has none": (
        lambda: grad(lambda x: tf.where(x > 1.0, x, x * x), c([0.5, 2.0])), [1.0, 1.0]
    ),
    "2.11 intermediates are sources": (intermediates, [108.0, 18.0]),
    "2.12 a complex square": (lambda: grad(lambda x: x * x, c(1 + 2j)), 2 - 4j),
}  # fmt: skip
