"""Chapter 5 of TensorFlow's contract for tapes: jacobian and batch_jacobian."""

import numpy as np

import framework as tf
from tests.contract.shared import Tape, c, raises, v


def jac(f, *xs, persistent=True, **kwargs):
    with Tape(persistent=persistent) as t:
        t.watch(xs)
        y = f(*xs)
    found = t.jacobian(y, list(xs), **kwargs)
    return found[0] if len(xs) == 1 else found


def batch(f, x, persistent=True, **kwargs):
    with Tape(persistent=persistent) as t:
        t.watch(x)
        y = f(x)
    return t.batch_jacobian(y, x, **kwargs)


def jacobian_inside():
    x = c(3.0)
    with Tape(persistent=True) as t:
        t.watch(x)
        y = x**4.0
        return t.jacobian(y, x)


def of_rows(pfor):
    found = jac(lambda x: tf.nn.embedding_lookup(x, [0, 2]), v(np.eye(3, dtype="f")),
                experimental_use_pfor=pfor)  # fmt: skip
    expected = np.zeros((2, 3, 3, 3))
    for i, row in enumerate((0, 2)):
        for j in range(3):
            expected[i, j, row, j] = 1
    return np.abs(np.asarray(found) - expected).max()


def sliced_after_repeat(x):
    y = tf.repeat(x[:, :, None], [2, 1], axis=1)
    return y[:, : tf.reduce_max([2, 1]), 0]


def within_function(method, **kwargs):
    persistent = kwargs.pop("persistent")

    @tf.function
    def f(x):
        with Tape(persistent=persistent) as t:
            t.watch(x)
            y = x * x
        return getattr(t, method)(y, x, **kwargs)

    return f(c([[1.0, 2.0]]))


X2 = c([[1.0, 2.0], [3.0, 4.0]])
DIAGONALS = [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
SENTENCES = {
    "5.1 by two vectors": (
        lambda: jac(lambda x, y: x * x * y, c([1.0, 2.0]), c([3.0, 4.0])),
        [np.diag([6.0, 16.0]), np.diag([1.0, 4.0])],
    ),
    "5.1 scalar by scalar": (lambda: jac(lambda x: x * x, c(3.0)), 6.0),
    "5.2 unconnected": (lambda: jac(lambda x, y: x * x, c(1.0), c(1.0)), [2.0, None]),
    "5.2 zeros": (
        lambda: jac(lambda x, y: x * x, c([1.0]), c([1.0, 2.0]), unconnected_gradients="zero"),
        [[[2.0]], [[0.0, 0.0]]],
    ),
    "5.3 zero sizes": (
        lambda: [jac(lambda x: tf.zeros([0, 7]) * x, c(1.0), experimental_use_pfor=p).shape
                 for p in (True, False)], [(0, 7), (0, 7)]
    ),
    "5.3 of zero by zero": (lambda: jac(lambda x: x * x, tf.zeros([0, 3])).shape, (0, 3, 0, 3)),
    "5.4 without pfor, not persistent": (
        lambda: jac(lambda x: x * x, c([1.0]), persistent=False, experimental_use_pfor=False),
        raises(RuntimeError, "persistent"),
    ),
    "5.4 with pfor, not persistent": (
        lambda: jac(lambda x: x * x, c([1.0]), persistent=False), [[2.0]]
    ),
    "5.4 all flags": (
        lambda: [jac(lambda x: x * x, c([3.0]), experimental_use_pfor=p, parallel_iterations=n)
                 for p in (True, False) for n in (None, 1, 8)], [[[6.0]]] * 6
    ),
    "5.5 inside the scope": (jacobian_inside, 4.0 * 27),
    "5.5 embeddings are dense": (lambda: [of_rows(True), of_rows(False)], [0.0, 0.0]),
    "5.6 batch_jacobian": (lambda: batch(lambda x: x * x, X2), DIAGONALS),
    "5.6 leading sizes differ": (
        lambda: batch(lambda x: tf.concat([x, x], 0), X2),
        raises(ValueError, "Need first dimension"),
    ),
    "5.6 rank 1": (lambda: batch(lambda x: x * x, c([1.0])),
                   raises(ValueError, "must have rank at least 2")),
    "5.6 a variable": (lambda: batch(lambda x: x * x, v([[1.0, 2.0], [3.0, 4.0]])), DIAGONALS),
    "5.7 unconnected is zeros": (
        lambda: [batch(lambda x: tf.ones([2, 3], x.dtype), tf.cast(X2, d), unconnected_gradients=u)
                 for d in (tf.float32, tf.float64) for u in ("none", "zero")],
        [np.zeros((2, 3, 2))] * 4,
    ),
    "5.8 degenerate": (
        lambda: [batch(f, tf.zeros([1, 0]), experimental_use_pfor=p).shape
                 for p in (True, False)
                 for f in (lambda x: x**2.0, tf.function(lambda x: x**2.0))], [(1, 0, 0)] * 4
    ),
    "5.9 parallel_iterations within a function": (
        lambda: within_function("batch_jacobian", parallel_iterations=3, persistent=False),
        raises(RuntimeError, "persistent=True"),
    ),
    "5.9 persistent": (
        lambda: within_function("batch_jacobian", parallel_iterations=3, persistent=True),
        [[[2.0, 0.0], [0.0, 4.0]]],
    ),
    "5.10 a slice after repeat": (
        lambda: batch(sliced_after_repeat, X2), [[[1.0, 0.0], [1.0, 0.0]]] * 2
    ),
}  # fmt: skip
