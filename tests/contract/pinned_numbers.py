"""Chapters 12 and 13 of TensorFlow's contract for tapes: numbers pinned, clipping."""

import numpy as np

import framework as tf
from tests.contract.shared import c, grad, raises


def at(f, *values):
    return lambda: grad(f, *[c(x) for x in values])


NAN, INF = np.nan, np.inf
HELD = tf.constant(1.0)
SENTENCES = {
    "12.1 where": (at(lambda x: tf.where(x < 10.0, x, x * x), [5.0, 50.0]), [1.0, 100.0]),
    "12.2 reduce_max ties": (at(tf.reduce_max, [3.0, 1.0, 3.0]), [0.5, 0.0, 0.5]),
    "12.2 maximum ties": (at(tf.maximum, 1.0, 1.0), [1.0, 0.0]),
    "12.2 minimum ties": (at(tf.minimum, 1.0, 1.0), [1.0, 0.0]),
    "12.2 abs": (at(tf.abs, 0.0), 0.0),
    "12.2 relu": (at(tf.nn.relu, 0.0), 0.0),
    "12.2 clip_by_value": (at(lambda x: tf.clip_by_value(x, 0.0, 1.0), [0.0, 1.0]), [1.0, 1.0]),
    "12.3 sqrt": (at(tf.sqrt, 0.0), INF),
    "12.3 x**0": (at(lambda x: x**0.0, 0.0), NAN),
    "12.3 pow": (at(lambda x: tf.pow(x, 2.0), 0.0), 0.0),
    "12.3 norm": (at(tf.norm, [0.0, 0.0]), [NAN, NAN]),
    "12.3 where sqrt": (at(lambda x: tf.where(x > 0.0, tf.sqrt(x), 0.0), [-1.0, 0.0]), [0.0, 0.0]),
    "12.3 xlogy": (at(tf.math.xlogy, 0.0, 0.0), [0.0, 0.0]),
    "12.4 reduce_euclidean_norm": (
        at(lambda x: tf.math.reduce_euclidean_norm(x, 1), [[0.0, 0.0], [3.0, -4.0]]),
        [[NAN, NAN], [0.6, -0.8]],
    ),
    "12.5 reduce_prod": (at(lambda x: tf.reduce_prod(x, -1), [[2.0, 0.0, 3.0]]), [[0.0, 6.0, 0.0]]),
    "12.5 xlog1py": (at(tf.math.xlog1py, 0.0, -1.0), [0.0, 0.0]),
    "12.5 xdivy": (at(tf.math.xdivy, 0.0, 0.0), [0.0, 0.0]),
    "12.5 div_no_nan": (at(tf.math.divide_no_nan, 1.0, 0.0), [0.0, 0.0]),
    "12.5 mul_no_nan": (at(tf.math.multiply_no_nan, 3.0, 0.0), [0.0, 3.0]),
    "12.5 pow of a negative": (lambda: grad(tf.pow, c(-2.0), c(2.0))[1], 0.0),
    "12.5 floormod": (at(tf.math.floormod, 7.0, 2.0), [1.0, -3.0]),
    "12.5 segment_max": (
        at(lambda x: tf.math.segment_max(x, [0, 0, 1]), [1.0, 2.0, 3.0]), [0.0, 1.0, 1.0]
    ),
    "12.5 segment_prod": (
        at(lambda x: tf.math.segment_prod(x, [0, 0, 1]), [0.0, 2.0, 3.0]), [2.0, 0.0, 1.0]
    ),
    "12.5 concat": (at(lambda x: tf.concat([x, 2.0 * x], -1)[:, 1:], [[1.0, 2.0]]), [[2.0, 3.0]]),
    "12.5 gather": (
        at(lambda x: tf.gather(x, [[1], [0]], axis=1, batch_dims=1), [[1.0, 2.0], [3.0, 4.0]]),
        [[0.0, 1.0], [1.0, 0.0]],
    ),
    "12.5 pad": (
        lambda: [grad(lambda x, m=m: tf.pad(x, [[1, 1]], m), c([1.0, 2.0, 3.0]))
                 for m in ("CONSTANT", "REFLECT", "SYMMETRIC")],
        [[1.0, 1.0, 1.0], [1.0, 3.0, 1.0], [2.0, 1.0, 2.0]],
    ),
    "12.5 stack and unstack": (
        at(lambda x: tf.stack(tf.unstack(x, axis=1)[::-1], axis=1)[:, 0], [[1.0, 2.0]]),
        [[0.0, 1.0]],
    ),
    "12.5 einsum": (
        at(lambda a, b: tf.einsum("...i,ij->...j", a, b), [[1.0, 2.0]], [[1.0, 0.0], [2.0, 1.0]]),
        [[[1.0, 3.0]], [[1.0, 1.0], [2.0, 2.0]]],
    ),
    "12.6 broadcasting": (
        at(lambda a, b: a * b, [[1.0], [2.0]], [3.0, 4.0]), [[[7.0], [7.0]], [3.0, 3.0]]
    ),
    "12.6 sizes of one and none": (
        lambda: [g.shape for g in grad(lambda a, b: a * b, tf.ones([1, 1]), tf.ones([0, 3]))],
        [(1, 1), (0, 3)],
    ),
    "13.1 clip_by_global_norm": (
        lambda: tf.clip_by_global_norm([c([-3.0, 0.0]), None, c([4.0])], 2.5),
        ([[-1.5, 0.0], None, [2.0]], 5.0),
    ),
    "13.1 use_norm": (lambda: tf.clip_by_global_norm([c(4.0)], 2.0, use_norm=8.0), ([1.0], 8.0)),
    "13.1 zero": (lambda: tf.clip_by_global_norm([c([0.0, 0.0])], 1.0), ([[0.0, 0.0]], 0.0)),
    "13.1 not finite": (lambda: tf.clip_by_global_norm([c([INF, 1.0])], 1.0), ([[NAN, NAN]], INF)),
    "13.1 no sequence": (lambda: tf.clip_by_global_norm(c(1.0), 1.0), raises(TypeError, "t_list")),
    "13.1 nothing": (lambda: tf.clip_by_global_norm([], 1.0), ([], 0.0)),
    "13.2 within": (lambda: tf.clip_by_norm(c([0.3, 0.4]), 1.0), [0.3, 0.4]),
    "13.2 zero, and its gradient": (
        lambda: [tf.clip_by_norm(c([0.0, 0.0]), 1.0),
                 grad(lambda x: tf.clip_by_norm(x, 1.0), c([0.0, 0.0]))], [[0.0, 0.0], [1.0, 1.0]]
    ),
    "13.2 per axis": (
        lambda: tf.clip_by_norm(c([[3.0, 4.0], [0.3, 0.4]]), 1.0, axes=1), [[0.6, 0.8], [0.3, 0.4]]
    ),
    "13.3 clip_by_value": (
        at(tf.clip_by_value, [0.0, 1.0, 2.0, 5.0], 1.0, 2.0), [[0.0, 1.0, 1.0, 0.0], 1.0, 1.0]
    ),
    "13.3 ints": (lambda: tf.clip_by_value(c([-5, 5]), -1, 1), [-1, 1]),
    "13.3 shapes that do not fit": (
        lambda: tf.clip_by_value(c([1.0, 2.0]), c([0.0, 0.0, 0.0]), 1.0), raises(ValueError)
    ),
    "14 convert_to_tensor": (
        lambda: [tf.convert_to_tensor(HELD) is HELD, tf.identity(HELD) is HELD],
        [True, False],
    ),
    "14 gradients_function": (
        lambda: tf.contrib.eager.gradients_function(lambda a, b: a * b)(2.0, 3.0), [3.0, 2.0]
    ),
    "14 value_and_gradients_function": (
        lambda: tf.contrib.eager.value_and_gradients_function(lambda a: a * a)(3.0), (9.0, [6.0])
    ),
    "14 make_vjp": (
        lambda: tf.contrib.eager.make_vjp(lambda a: a * a)(c(3.0))[1](c(2.0)), [12.0]
    ),
}  # fmt: skip
