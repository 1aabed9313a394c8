"""Chapters 7 and 8 of TensorFlow's contract for tapes: variables and slices."""

import framework as tf
from tests.contract.shared import Tape, c, pushed, read, v


def assigned():
    x, z = v(1.0), c(3.0)
    with Tape(persistent=True) as t:
        t.watch(z)
        y = x.assign(z**2.0)
        w = x.assign_add(z)
    return [t.gradient(y, z), t.gradient(w, z)]


def read_after_assign():
    x = v(1.0)
    with Tape() as t:
        y = x.assign_add(3.0) * 2.0
    return t.gradient(y, x)


def value_at_the_read():
    x = v(2.0)
    with Tape() as t:
        y = x * x
        x.assign(5.0)
        z = y + x * x
    return t.gradient(z, x)


def slices_of(f, x=None):
    x = v([[1.0], [2.0], [3.0]]) if x is None else x
    with Tape() as t:
        t.watch(x)
        y = f(x)
    return t.gradient(y, x)


def parts(s):
    return [type(s) is tf.IndexedSlices, s.indices, s.values]


def plus_one(x):
    return x + 1.0


def fresh_reads():
    w = v(1.0)
    return w.value() is w.value()


def by_reference():
    w = v(1.0)
    return {w.ref(): w}[w.ref()].ref().deref() is w


def clipped_slices():
    s = tf.clip_by_global_norm([ROWS], 1.0)[0][0]
    return [s.values, s.dense_shape is ROWS.dense_shape]


def applied(make):
    x, y = v([[1.0], [2.0]]), v([[1.0], [2.0]])
    s = tf.IndexedSlices(c([[1.0], [2.0]]), c([1, 1]), [2, 1])
    for variable, g in ((x, s), (y, tf.convert_to_tensor(s))):
        make().apply_gradients([(g, variable)])
    return x - y


ROWS = tf.IndexedSlices(c([[3.0], [4.0]]), c([0, 1]), (3, 1))
SENTENCES = {
    "7.1 reads are fresh": (fresh_reads, False),
    "7.1 gradient by value()": (lambda: read(lambda w: w.value(), v(1.0)), 1.0),
    "7.1 gradient by read_value()": (lambda: read(lambda w: w.read_value(), v(1.0)), 1.0),
    "7.1 gradient by convert_to_tensor": (lambda: read(tf.convert_to_tensor, v(1.0)), 1.0),
    "7.2 assigning is not differentiable": (assigned, [None, None]),
    "7.2 its result is": (read_after_assign, 2.0),
    "7.3 values at the time of the read": (value_at_the_read, 14.0),
    "7.4 ref": (by_reference, True),
    "8.1 gather": (
        lambda: parts(slices_of(lambda x: tf.gather(x, [0, 0, 2]))),
        [True, [0, 0, 2], [[1.0]] * 3],
    ),
    "8.1 embedding_lookup of a tensor": (
        lambda: parts(slices_of(lambda x: tf.nn.embedding_lookup(x, [1]), c([[1.0], [2.0]]))),
        [True, [1], [[1.0]]],
    ),
    "8.1 another axis is dense": (
        lambda: type(slices_of(lambda x: tf.gather(x, [0], axis=1))) is tf.Tensor, True
    ),
    "8.1 slicing and gather_nd are dense": (
        lambda: [type(slices_of(f)) is tf.Tensor
                 for f in (lambda x: x[:1], lambda x: tf.gather_nd(x, [[0, 0]]))], [True, True]
    ),
    "8.2 several in program order": (
        lambda: parts(slices_of(lambda x: [tf.gather(x, [0, 0]), tf.gather(x, [1])]))[1], [0, 0, 1]
    ),
    "8.2 with a dense part": (
        lambda: slices_of(lambda x: [tf.gather(x, [0]), x * x]), [[3.0], [4.0], [6.0]]
    ),
    "8.2 of an op's output": (
        lambda: slices_of(lambda x: tf.gather(plus_one(x), [0]), c([5.0])), [1.0]
    ),
    "8.3 converting adds": (
        lambda: tf.convert_to_tensor(tf.IndexedSlices(c([1.0, 2.0]), c([1, 1], tf.int64), [3])),
        [0.0, 3.0, 0.0],
    ),
    "8.3 arithmetic": (lambda: tf.multiply(ROWS, 1.0), [[3.0], [4.0], [0.0]]),
    "8.3 stack": (lambda: tf.stack([ROWS, ROWS]).shape, (2, 3, 1)),
    "8.4 optimizers": (
        lambda: [applied(lambda: tf.keras.optimizers.SGD(0.5)),
                 applied(lambda: tf.keras.optimizers.Adam(0.5))], [[[0.0], [0.0]]] * 2
    ),
    "8.4 clip_by_norm": (
        lambda: tf.convert_to_tensor(tf.clip_by_norm(ROWS, 1.0)), [[0.6], [0.8], [0.0]]
    ),
    "8.4 clip_by_value": (
        lambda: tf.convert_to_tensor(tf.clip_by_value(ROWS, -3.5, 3.5)), [[3.0], [3.5], [0.0]]
    ),
    "8.4 clip_by_global_norm": (clipped_slices, [[[0.6], [0.8]], True]),
    "8.5 forward": (
        lambda: pushed(lambda x: tf.gather(x, 0), c([1.0, 2.0]), c([5.0, 6.0])), 5.0
    ),
}  # fmt: skip
