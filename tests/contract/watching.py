"""Chapter 1 of TensorFlow's contract for tapes: watching."""

import numpy as np

import framework as tf
from tests.contract.shared import Tape, c, grad, raises, read, v


def not_retroactive():
    x = c(3.0)
    with Tape() as t:
        y = x * x
        t.watch(x)
    return t.gradient(y, x)


def never_watched():
    x = c(3.0)
    with Tape() as t:
        y = x * x
    return t.gradient(y, x)


def watch_a_nest():
    a, b, w = c(1.0), c(2.0), v(3.0, trainable=False)
    with Tape() as t:
        t.watch([a, {"b": (b, w)}])
        y = a * b * w
    return t.gradient(y, [a, b, w])


def slices_watched():
    s = tf.IndexedSlices([1.0], [0], [2])
    with Tape() as t:
        t.watch(s)
        y = tf.convert_to_tensor(s) * 2.0
    return t.gradient(y, s.values)


def not_trainable(watch):
    w = v(3.0, trainable=False)
    with Tape() as t:
        if watch:
            t.watch(w)
        y = w * w
    return t.gradient(y, w)


def automatic_off(watch):
    w = v(3.0)
    with Tape(watch_accessed_variables=False) as t:
        if watch:
            t.watch(w)
        y = w * w
    return t.gradient(y, w)


def unused_read():
    w = v(3.0)
    with Tape() as t:
        w.read_value()
    return t.watched_variables()[0] is w


def int_variable():
    w = v(3)
    with Tape() as t:
        y = w * w
    return [t.watched_variables() == (w,), t.gradient(y, w)]


def order_of_creation():
    first, second = v(1.0), v(2.0)
    with Tape() as t:
        empty = t.watched_variables()
        _ = second * first * second
    return [empty, t.watched_variables() == (first, second), type(t.watched_variables()) is tuple]


def after_reset():
    first, second = v(1.0), v(2.0)
    with Tape() as t:
        y = first * second
        t.reset()
        empty = t.watched_variables()
        y = second * 1.0
    after = t.watched_variables() == (second,)
    t.gradient(y, second)
    return [empty, after, t.watched_variables() == (second,)]


def fresh_tape():
    w = v(1.0)
    with Tape() as t:
        _ = w * w
    with Tape() as t:
        return t.watched_variables()


def lists_of_two_tapes():
    x1, x2 = v(2.0, trainable=False), v(2.0, trainable=False)
    with Tape() as outer:
        outer.watch(x1)
        with Tape() as inner:
            inner.watch([x1, x2])
            y, z = x1**3.0, x2**2.0
        dy, dz = inner.gradient([y, z], [x1, x2])
    return [dy, dz, *outer.gradient([dy, dz], [x1, x2])]


def equal_constants():
    x1, x2 = c(3.0), c(3.0)
    with Tape() as t:
        t.watch(x1)
        y = x1 + x2
    return t.gradient(y, x1)


def constants_as_variables():
    def both(a, b):
        with Tape() as t:
            t.watch([a, b])
            y = a**3.0 + b**2.0
        return t.gradient(y, [a, b])

    return [both(c(2.0), c(2.0)), both(v(2.0), v(2.0))]


def copies():
    x = c(1.0)
    with Tape() as t:
        t.watch(x)
        made = [tf.identity(x), x + 0.0, x - 0.0, x * 1.0]
        t.watch(made)
        y = 2.0 * x + 3.0 * (made[0] + made[1] + made[2] + made[3])
    alias = x
    return [*t.gradient(y, [x, *made])[1:], alias is x]


SENTENCES = {
    "1.1 nothing is retroactive": (not_retroactive, None),
    "1.1 a constant never watched": (never_watched, None),
    "1.2 watch takes a nest": (watch_a_nest, [6.0, 3.0, 2.0]),
    "1.2 watch refuses arrays, entered or not": (
        lambda: Tape().watch(np.ones(2)), raises(ValueError, "ndarray")
    ),
    "1.3 an int may be watched": (lambda: grad(lambda x: x + x, c(3)), None),
    "1.3 a string may be watched": (lambda: grad(lambda x: x, c("a")), None),
    "1.3 slices are watched by their values": (slices_watched, [2.0]),
    "1.4 v*v": (lambda: read(lambda w: w * w, v(3.0)), 6.0),
    "1.4 value()": (lambda: read(lambda w: w.value() * 2.0, v(3.0)), 2.0),
    "1.4 read_value()": (lambda: read(lambda w: w.read_value() * 2.0, v(3.0)), 2.0),
    "1.4 v+1": (lambda: read(lambda w: w + 1.0, v(3.0)), 1.0),
    "1.4 a slice": (lambda: read(lambda w: w[1:] * 2.0, v([3.0, 4.0])), [0.0, 2.0]),
    "1.4 gather": (
        lambda: read(lambda w: tf.gather(w, [1]), v([3.0, 4.0])).dense(), [0.0, 1.0]
    ),
    "1.4 max": (
        lambda: read(lambda *w: max(w), v(0.0), v(1.0), v(2.0)), [None, None, 1.0]
    ),
    "1.4 not trainable": (lambda: not_trainable(False), None),
    "1.4 not trainable, watched": (lambda: not_trainable(True), 6.0),
    "1.4 automatic watching off": (lambda: automatic_off(False), None),
    "1.4 off, watched": (lambda: automatic_off(True), 6.0),
    "1.4 a read whose value is unused": (unused_read, True),
    "1.4 an int variable": (int_variable, [True, None]),
    "1.5 in order of creation, empty at entry": (order_of_creation, [(), True, True]),
    "1.5 after reset, and after gradient": (after_reset, [(), True, True]),
    "1.5 of this tape only": (fresh_tape, ()),
    "1.6 watching is local to one tape": (lists_of_two_tapes, [12.0, 4.0, 12.0, None]),
    "1.7 equal constants are two tensors": (equal_constants, 1.0),
    "1.7 constants as variables": (constants_as_variables, [[12.0, 4.0], [12.0, 4.0]]),
    "1.7 copies are new tensors": (copies, [3.0, 3.0, 3.0, 3.0, True]),
}  # fmt: skip
