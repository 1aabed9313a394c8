"""Chapter 9 of TensorFlow's contract for tapes: ForwardAccumulator."""

import gc
import weakref

import framework as tf
from tests.contract.shared import ZERO, Accumulator, Tape, c, nth, own, pushed, raises, v


def own_tangent():
    x = c(3.0)
    with Accumulator(x, 2.0) as acc:
        within = acc.jvp(x)
    return [within, acc.jvp(x)]


def again():
    x = c(3.0)
    acc = Accumulator(x, 1.0)
    with acc:
        y = x * x
    between = y * 2.0
    with acc:
        z = y * y
    return [acc.jvp(z), acc.jvp(between)]


def primal_twice():
    x = c(1.0)
    return Accumulator([x, x], [1.0, 1.0])


def twice_active():
    acc = Accumulator(c(1.0), 1.0)
    with acc, acc:
        pass


def added_tangents():
    x = c(1.0)
    with Accumulator(x, 3.0) as acc:
        acc._watch(x, c(10.0))
        first = acc.jvp(x)
        acc._watch(x, c(11.0))
        return [first, acc.jvp(x)]


def two_accumulators():
    x = c(1.1, tf.float64)
    one = tf.ones_like(x)
    with Accumulator(x, one) as outer, Accumulator(x, one) as inner:
        y = x**3.5
        first, wrong = inner.jvp(y), outer.jvp(y)
    return [first, outer.jvp(first), inner.jvp(wrong)]


def forward_over_back():
    x, t = c([1.0, 2.0]), c([1.0, 10.0])
    with Accumulator(x, t) as acc:
        with Tape() as tape:
            tape.watch(x)
            f = tf.reduce_prod(x) ** 2.0
        g = tape.gradient(f, x)
    return acc.jvp(g)


def back_over_forward(tape_outside):
    x = c(3.0)
    tape, acc = Tape(), Accumulator(x, 1.0)
    first, second = (tape, acc) if tape_outside else (acc, tape)
    with first, second:
        tape.watch(x)
        d = x**3.0
        t = acc.jvp(d)
    return tape.gradient(t, x)


def variables_as_primals():
    w = v(3.0)
    with Accumulator(w, 2.0) as acc:
        y = w * w
        z = w.read_value()
        w.assign_sub(1.0)
    return [acc.jvp(y), acc.jvp(z)]


def dead_tensors():
    gc.disable()
    try:
        x, t = c(1.0), c(1.0)
        with Accumulator(x, t) as acc:
            y = x * x
            refs = [weakref.ref(o) for o in (x, t, y)]
            del x, t, y
            found = [r() is None for r in refs]
        del acc
        return found
    finally:
        gc.enable()


def batch_of_tangents():
    x = c([1.0, 2.0])
    with Accumulator._batch_accumulator(x, c([[1.0, 0.0], [0.0, 1.0]])) as acc:
        y = x * x
    return acc.jvp(y)


def third(f, x):
    def nested(x, order):
        if not order:
            return f(x)
        with Accumulator(x, tf.ones_like(x)) as acc:
            y = nested(x, order - 1)
        return acc.jvp(y)

    return [nested(x, order) - nth(f, x, order) for order in (1, 2, 3)]


SIXES = c([0.5, 1.2], tf.float64)
SMOOTH = {
    "elu": tf.nn.elu, "swish": tf.nn.swish, "tanh": tf.tanh, "sin": tf.sin, "tan": tf.tan,
    "reduce_prod": lambda x: tf.reduce_prod(tf.stack([x, x * x]), 0),
    "matmul": lambda x: tf.linalg.diag_part(tf.matmul(x[:, None], (x * x)[:, None],
                                                     transpose_b=True)),
}  # fmt: skip

SENTENCES = {
    "9.1 any nest": (
        lambda: pushed(lambda x: [x * x, {"a": x}], c(3.0), 1.0), [6.0, {"a": 1.0}]
    ),
    "9.1 unconnected": (lambda: pushed(lambda x: c(1.0), c(3.0), 1.0), None),
    "9.1 zeros": (
        lambda: [pushed(lambda x: c([[1.0]]), c(3.0), 1.0, unconnected_gradients=u)
                 for u in ("zero", ZERO)], [[[0.0]]] * 2
    ),
    "9.2 a primal's own": (own_tangent, [2.0, 2.0]),
    "9.3 a primal twice": (
        primal_twice,
        raises(ValueError, "multiple times"),
    ),
    "9.3 entered twice": (twice_active, raises(ValueError, "already recording")),
    "9.3 entered again": (again, [108.0, None]),
    "9.4 tangents add": (added_tangents, [13.0, 24.0]),
    "9.4 structures must match": (
        lambda: Accumulator([c(1.0)], {"a": c(1.0)}), raises((ValueError, TypeError))
    ),
    "9.5 nested": (two_accumulators, [3.5 * 1.1**2.5, 3.5 * 2.5 * 1.1**1.5, None]),
    "9.6 forward over back": (forward_over_back, [2 * 4 * 1 + 8 * 10, 80 / 10 + 2 * 10]),
    "9.6 back over forward": (lambda: back_over_forward(True), 18.0),
    "9.6 a tape inside": (lambda: back_over_forward(False), None),
    "9.7 variables": (variables_as_primals, [12.0, 2.0]),
    "9.7 no differentiable result": (lambda: pushed(tf.zeros_like, c(3.0), 1.0), None),
    "9.8 custom gradients": (
        lambda: pushed(own(tf.exp, lambda dy: dy * 5.0), c(1.0), 2.0), 10.0
    ),
    "9.8 recompute_grad": (
        lambda: pushed(tf.recompute_grad(lambda x: x * x), c(1.0), 1.0),
        raises(NotImplementedError, "recompute_grad tried to transpose"),
    ),
    "9.9 function": (lambda: pushed(tf.function(lambda x: x * x), c(3.0), 1.0), 6.0),
    "9.9 while_loop": (
        lambda: pushed(
            lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x),
                                    (0, x))[1], c(2.0), 1.0), 32.0
    ),
    "9.9 cond": (lambda: pushed(lambda x: tf.cond(x > 1.0, lambda: x * x, lambda: x), c(3.0), 1.0),
                 6.0),
    "9.9 vectorized_map": (
        lambda: pushed(lambda x: tf.vectorized_map(tf.square, x), c([1.0, 2.0]), tf.ones([2])),
        [2.0, 4.0],
    ),
    "9.9 a batch": (batch_of_tangents, [[2.0, 0.0], [0.0, 4.0]]),
    "9.10 dead tensors are freed": (dead_tensors, [True] * 3),
    **{f"9.11 {name}": (lambda f=f: third(f, SIXES), [[0.0, 0.0]] * 3)
       for name, f in SMOOTH.items()},
}  # fmt: skip
