"""Chapters 10 and 11 of TensorFlow's contract for tapes: recompute_grad and control flow."""

import functools

import framework as tf
from tests.contract.shared import Tape, c, grad, nth, read, v


def called_again():
    calls = []

    def f(x):
        calls.append(1)
        return x * x

    x = c(3.0)
    with Tape(persistent=True) as t:
        t.watch(x)
        y = tf.recompute_grad(f)(x)
    forward = len(calls)
    t.gradient(y, x)
    return [forward, len(calls)]


def both_ways(f, *args, **kwargs):
    """The gradients through recompute_grad less the plain ones, as numbers."""
    found = []
    for g in (f, tf.recompute_grad(f)):
        with Tape() as t:
            t.watch([a for a in tf.nest.flatten(args) if tf.is_tensor(a)])
            y = g(*args)
        sources = [a for a in tf.nest.flatten(args) if tf.is_tensor(a)]
        found.append(t.gradient(y, sources, unconnected_gradients="zero", **kwargs))
    return [float(tf.reduce_max(tf.abs(tf.cast(a, tf.float64) - tf.cast(b, tf.float64))))
            for a, b in zip(*found)]  # fmt: skip


def closed_over():
    w = v(3.0)
    return read(lambda w: tf.recompute_grad(lambda x: x * w)(c(2.0)), w)


def by_ref():
    ws = [v(2.0), v([1.0, 2.0])]
    held = {w.ref(): w for w in ws}
    f = tf.recompute_grad(lambda x: sum(tf.reduce_sum(w * x) for w in held.values()))
    return read(lambda *ws: f(c(3.0)), *ws)


def doubled(x):
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + y), (0, x))[1]


@tf.function(input_signature=[tf.TensorSpec(None)])
def signed(x):
    return x * x


class WithMethod:
    @tf.function
    def method(self, x):
        return x * x


def partial():
    return grad(tf.function(functools.partial(lambda k, x: k * x * x, 2.0)), c(3.0))


SENTENCES = {
    "10.1 __wrapped__": (lambda: tf.recompute_grad(called_again).__wrapped__ is called_again, True),
    "10.1 called once more for each gradient": (called_again, [1, 2]),
    "10.2 one tensor": (lambda: both_ways(tf.sin, c(1.0)), [0.0]),
    "10.2 a tuple": (lambda: both_ways(lambda x: (x * x, x), c(3.0)), [0.0]),
    "10.2 the same tensor twice": (
        lambda: grad(lambda x: tf.recompute_grad(lambda a, b: a * b)(x, x), c(3.0)),
        6.0,
    ),
    "10.2 an argument that is ignored": (
        lambda: both_ways(lambda a, b: a, c(1.0), c(2.0)), [0.0] * 2
    ),
    "10.2 ints and floats": (
        lambda: both_ways(lambda i, x: x * tf.cast(i, tf.float32), c(2), c(3.0)), [0.0] * 2
    ),
    "10.2 nothing inside": (lambda: both_ways(lambda x: x * 1.0, tf.zeros([0, 2]) + 0.0)[:0], []),
    "10.2 closed over": (closed_over, 2.0),
    "10.2 keyed by ref": (by_ref, [3.0, [3.0, 3.0]]),
    "10.2 with a loop in a function": (
        lambda: grad(tf.recompute_grad(tf.function(doubled)), c(3.0)), 4.0
    ),
    "10.2 orders": (
        lambda: [nth(tf.recompute_grad(lambda x: x**4.0), c(1.0), n) for n in (1, 2, 3)],
        [4.0, 12.0, 24.0],
    ),
    "11.1 stop_gradient": (lambda: grad(tf.stop_gradient, c(3.0)), None),
    "11.1 with zero": (lambda: grad(tf.stop_gradient, c(3.0), unconnected_gradients="zero"), 0.0),
    "11.1 in a product": (lambda: grad(lambda x: tf.stop_gradient(x) * x, c(3.0)), 3.0),
    "11.1 of ints": (lambda: tf.stop_gradient(c(3)), 3),
    "11.1 in nested functions": (
        lambda: grad(tf.function(lambda x: tf.function(tf.stop_gradient)(x) * x), c(3.0)), 3.0
    ),
    "11.2 if": (lambda: grad(lambda x: x * x if x > 1.0 else x, c(3.0)), 6.0),
    "11.2 cond": (lambda: grad(lambda x: tf.cond(x > 1.0, lambda: x * x, lambda: x), c(3.0)), 6.0),
    "11.2 while_loop": (lambda: grad(doubled, c(3.0)), 4.0),
    "11.2 foldl": (
        lambda: grad(lambda x: tf.foldl(lambda a, b: a * b, x), c([2.0, 3.0, 4.0])),
        [12.0, 8.0, 6.0],
    ),
    "11.2 map_fn": (lambda: grad(lambda x: tf.map_fn(tf.square, x), c([2.0, 3.0])), [4.0, 6.0]),
    "11.2 vectorized_map": (
        lambda: grad(lambda x: tf.vectorized_map(tf.square, x), c([2.0, 3.0])), [4.0, 6.0]
    ),
    "11.2 within function": (lambda: grad(tf.function(doubled), c(3.0)), 4.0),
    "11.2 reduce_retracing": (
        lambda: grad(tf.function(lambda x: x * x, reduce_retracing=True), c(3.0)), 6.0
    ),
    "11.2 input_signature": (lambda: grad(signed, c(3.0)), 6.0),
    "11.2 a partial": (partial, 12.0),
    "11.2 a method": (lambda: grad(WithMethod().method, c(3.0)), 6.0),
    "11.3 second derivative of a cond": (
        lambda: nth(lambda x: tf.cond(x > 0.0, lambda: x**3.0, lambda: x), c(1.0), 2), 6.0
    ),
    "11.3 dtype": (
        lambda: grad(
            lambda x: tf.cond(x > 0.0, lambda: x * x, lambda: x), c(1.0, tf.float64)
        ).dtype,
        "float64",
    ),
}  # fmt: skip
