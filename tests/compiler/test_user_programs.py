"""User programs: compiled and eager calls give equal results.

An entry builds a function and a list of calls. Checked are results, variables,
arguments, and results of earlier calls after later ones.
"""

import copy
import json
import math
import threading

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import nest

pytestmark = pytest.mark.usefixtures("kind")


def vector(*numbers):
    return tf.constant(numbers, tf.float32)


X, Y = vector(1.0, -2.0, 3.0), vector(0.5, 4.0, -1.0)
MATRIX = tf.constant(np.arange(6.0).reshape(2, 3), tf.float32)


# ---- Python's control flow on values of tensors ----


def branch():
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x * 2
        return -x

    return f, [(X,), (Y,), (-X,), (X - 10,), (Y,), (X - 20,), (X,)]


def nested_branches():
    def f(x):
        total = tf.reduce_sum(x)
        if total > 0:
            return x if total > 3 else x + 1
        return x - 1 if total > -3 else tf.zeros_like(x)

    return f, [(X * s,) for s in (1, 5, -1, -9, 2, 3, -1, -9, 1, 5)]


def while_on_a_value():
    def f(x):
        while tf.reduce_max(x) > 1.0:
            x = x / 2
        return x

    return f, [(X,), (X * 4,), (X,), (X * 4,), (X * 4,), (Y,)]


def for_over_int_of_a_tensor():
    def f(x, n):
        for _ in range(int(n)):
            x = tf.tanh(x)
        return x

    return f, [(X, tf.constant(n)) for n in (2, 3, 2, 3, 3, 2)]


def and_or_not():
    def f(x, y):
        if (x[0] > 0 and not y[0] > 1) or y[1] > 3:
            return x + y
        return x - y

    return f, [(X, Y), (Y, X), (X, Y), (-X, -Y), (-X, Y), (Y, X), (X, X)]


def early_return_in_a_loop():
    def f(x):
        for i in range(3):
            x = x * 2
            if x[0] > 5:
                return x + i
        return x

    return f, [(X * s,) for s in (1, 2, 3, 1, 2, 3, 0.1, 0.1, 0.1)]


def assertion_on_a_value():
    def f(x):
        assert tf.reduce_all(x > -100.0)
        return x + 1

    return f, [(X,), (Y,), (X,), (Y,)]


def float_of_a_tensor():
    def f(x):
        return x * float(x[0])

    return f, [(X,), (X,), (Y,), (Y,), (X,), (-Y,), (-Y,)]


def values_that_are_nan():
    def f(x):
        return x if x[0] == x[0] else tf.zeros_like(x)

    nan = vector(np.nan, 1.0, 2.0)
    return f, [(X,), (nan,), (X,), (nan,), (nan,), (X,)]


def tf_cond_and_while():
    def f(x):
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)
        _, z = tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, z * 0.5), (0, y))
        return z

    return f, [(X,), (-X,), (X,), (-X,), (Y,)]


# ---- shapes, dtypes, structures ----


def shapes_that_change():
    return (lambda x: tf.reduce_mean(x * x, axis=0)), [
        (tf.ones([n, 2]) * n,) for n in (1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4)
    ]


def dtypes_that_change():
    return (lambda x: x + x), [
        (tf.constant([1, 2], dtype),)
        for dtype in (tf.float32, tf.float64, tf.int32) * 3
    ]  # fmt: skip


def shape_as_a_number():
    return (lambda x: x / x.shape[0] + tf.cast(tf.shape(x)[0], tf.float32)), [
        (tf.ones([n]),) for n in (2, 3, 2, 3, 2)
    ]


def nests_in_and_out():
    def f(batch, scale=2.0):
        return {"sum": batch["a"] + batch["b"][0], "rest": (batch["b"][1] * scale, None)}

    args = {"a": X, "b": [Y, MATRIX]}
    return f, [(args,), (args,), ({"a": Y, "b": [X, -MATRIX]},), (args,)]


def numbers_as_arguments():
    return (lambda x, n: x * n), [(X, n) for n in (2.0, 2.0, 3.0, 2, 2, True, 2.0, 3.0, 3.0)]


def arrays_as_arguments():
    return (lambda x: tf.sin(x)), [(np.arange(3.0) + i,) for i in range(4)]


def the_same_tensor_twice():
    return (lambda x, y: x * 2 + y), [(X, X), (X, Y), (Y, X), (X, X), (X, Y)]


def strided_arrays():
    whole = np.arange(24.0, dtype="float32").reshape(4, 6)
    parts = [whole[:, ::2], whole[::-1, :3], whole.T[:4, :3], whole[:, 3:]]
    return (lambda x: tf.reduce_sum(tf.tanh(x) * 2 + x, axis=0)), [(p,) for p in parts + parts]


def empty_arrays():
    return (lambda x: (x + 1) * 2), [(tf.zeros([0, 3]),)] * 3 + [(MATRIX,)] * 3


def many_operands():
    """More arrays than a loop can have."""

    def f(*xs):
        y, total = xs[0], 0.0
        for x in xs[1:]:
            y = y + x
            total = total + tf.reduce_sum(y)
        return y, total

    return f, [tuple(X * (i + s) for i in range(70)) for s in (0.0, 0.5, 1.0, 2.0)]


def scalars_only():
    return (lambda x, y: tf.sqrt(x * x + y * y)), [
        (tf.constant(a), tf.constant(b)) for a, b in [(3.0, 4.0), (6.0, 8.0), (5.0, 12.0)]
    ]


# ---- closures, objects, Python state ----


def closure_over_a_tensor():
    weight = vector(1.0, 2.0, 3.0)
    return (lambda x: tf.reduce_sum(x * weight)), [(X,), (Y,), (X,)]


def methods():
    class Line:
        def __init__(self, slope):
            self.slope = tf.Variable(slope)

        @tf.function
        def __call__(self, x):
            return self.slope * x

    lines = Line(2.0), Line(3.0)
    return (lambda x, i: lines[i](x)), [(X, 0), (X, 1), (Y, 0), (Y, 1), (X, 1)]


def counter_of_python():
    """TensorFlow freezes the value; here the change is noticed and the function runs eagerly."""
    calls = []

    def f(x):
        calls.append(None)
        return x * float(len(calls))

    return f, [(X,)] * 7


def random_of_numpy():
    rng = np.random.default_rng(3)
    return (lambda x: x * rng.normal()), [(X,)] * 6


def function_in_a_function():
    inner = tf.function(lambda x: tf.tanh(x) + 1)
    return (lambda x: inner(x) * inner(x * 2)), [(X,), (Y,), (X,)]


def default_and_keyword_arguments():
    return (lambda x, *, power=2, shift=None: x**power if shift is None else x + shift), [
        ((X,), {}), ((X,), {"power": 3}), ((Y,), {"shift": X}), ((X,), {"shift": Y}),
        ((X,), {"power": 3}), ((Y,), {"power": 3}), ((Y,), {}), ((X,), {"shift": X}),
    ]  # fmt: skip


# ---- Python numbers as inputs ----

FLOATS = 0.1, 0.25, 1e-3, 0.1, -2.5, 0.0, -0.0, 3.0, 1e30, 1e-44, 1e37, float("inf"), 7.1, 0.3
INTS = 1, 2, 3, 2, -4, 0, 7, 100000, 2**31, 2**31 - 1, 16777217, 2**70, 5, 6


def learning_rate_as_a_float():
    w = tf.Variable([1.0, -2.0, 3.0])

    def f(x, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x - 1.0) ** 2)
        w.assign_sub(rate * tape.gradient(loss, w))
        return loss

    return f, [(X, 0.1 / (n + 1)) for n in range(12)], [w]


def step_as_an_int():
    def f(x, step):
        return x * step + tf.cast(step, tf.float32) / (step + 1) - 0.5 ** min(step, 20)

    return f, [(X, n) for n in range(12)] + [(Y, 30), (Y, 40)]


def floats_beside_everything():
    def f(x, wide, n):
        return x * n, n - x, x / n, n / x, wide + n, x > n, tf.constant(n), -n + x[0], x * (n / 2.5)

    return f, [(X, tf.cast(Y, tf.float64), n) for n in FLOATS]


def ints_beside_everything():
    whole, long = tf.constant([1, -2, 3]), tf.constant([5, 6, 7], tf.int64)

    def f(x, n):
        n = n if abs(n) < 2**31 else 9
        divided = whole // (n or 1), x / (n or 1)
        return x * n, whole + n, n - long, divided, tf.constant(n), x - n * 3

    return f, [(X, n) for n in INTS]


def half_floats():
    return (lambda x, n: x * n + tf.cast(n, tf.float16)), [
        (tf.constant([1.5, 2.5], tf.float16), n) for n in (0.1, 0.7, 1e4, 0.7, 3.3)
    ]


def number_in_a_shape():
    return (lambda x, n: tf.reshape(tf.tile(x, [n]), [n, -1]) + n), [
        (X, n) for n in (1, 2, 3, 2, 3, 1, 4, 4, 4, 5, 6, 7, 8, 9, 10, 3)
    ]  # fmt: skip


def range_of_a_number():
    def f(x, n):
        for i in range(n):
            x = tf.tanh(x) * i
        return x

    return f, [(X, n) for n in (1, 2, 3, 2, 2, 3, 3, 1, 0, 4, 4)]


def number_as_an_index():
    return (lambda x, n: (x[n], x[n:], (10.0, 20.0, 30.0)[n] * x)), [
        (X, n) for n in (0, 1, 2, 1, 2, 0, 1, 2, 0)
    ]  # fmt: skip


def number_as_an_exponent():
    return (lambda x, n: (x**n, tf.pow(tf.abs(x), n), (n + 1.5) ** x)), [
        (X * 1.1, n) for n in (2, 2.0, 3.0, 3, 0.5, -1, -1.0, 2, 2.0, 0.5, 1.7, 1.9, 2.1, 3, 4)
    ]  # fmt: skip


def rate_of_an_optimizer():
    w = tf.Variable([1.0, -2.0, 3.0])
    optimizer = keras.optimizers.Adam(0.1)

    def f(x, rate):
        optimizer.learning_rate.assign(rate)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    return f, [(X, 0.1 / (n + 1)) for n in range(8)], [w]


def conditions_on_a_number():
    def f(x, n):
        if n > 1.5 or n == 0.25:
            return x * n
        return x + 1 / n if n else x

    return f, [(X, n) for n in (0.5, 2.5, 0.25, 1.25, 3.5, 0.0, 0.25, 4.5, 0.7, 0.0, 9.0, 0.25)]


def arithmetic_of_numbers():
    def f(x, rate, step):
        rate = rate * 0.97**step / max(step, 2) + abs(-rate) % 0.3 - step // 3
        return x * round(rate, 3), x - (step & 3), x - divmod(step, 4)[1], x * sum([rate, step])

    return f, [(X, 0.37 * n, n) for n in range(1, 14)]


def divided_by_a_number():
    def f(x, n):
        try:
            return x * (1 / n)
        except ZeroDivisionError:
            return -x

    return f, [(X, n) for n in (1.0, 2.0, 3.0, 0.0, 4.0, 0.0, 0.0, 5.0)]


def numbers_for_numpy_and_math():
    def f(x, n):
        ones = np.ones(3, "float32") * len(f"{n}")
        return x * math.sin(n) + float(np.float32(n)) + np.sqrt(n) * ones

    return f, [(X, n) for n in (1.0, 2.0, 3.0, 1.0, 2.0, 2.0, 1.0, 3.0)]


def numbers_in_vectorized_maps():
    def f(x, n):
        return tf.vectorized_map(lambda row: row * n + tf.tanh(n - row) / n, x), np.where(n, n, 1)

    return f, [(MATRIX, 0.1 * n) for n in range(1, 7)]


def ranges_of_numpy():
    def f(x, n):
        return x * np.arange(n)[:3], tf.range(n)

    return f, [(X, n) for n in (3.0, 4.0, 5.0, 3, 4, 5)]


def numbers_that_numpy_chooses():
    def f(n):
        return tf.constant(np.where([True, False, True], np.float32([1, 2, 3]), n))

    return f, [(0.1 * n,) for n in range(1, 5)]


def counter_beside_a_number():
    calls = []

    def f(x, n):
        calls.append(None)
        return x * (n * len(calls))

    return f, [(X, 0.1 * n) for n in range(1, 7)]


def ops_that_take_numbers_their_own_way():
    def f(x, n):
        return tf.math.xlogy(tf.abs(x), n), tf.math.multiply_no_nan(x, n), tf.math.xlog1py(x, n)

    return f, [(X, 0.1 * n) for n in range(1, 12)]


def types_of_numbers():
    def f(x, n):
        assert isinstance(n, (int, float))
        return x * n if type(n) is float else x - n

    return f, [(X, n) for n in (1.0, 2.0, 3.0, 4, 5, 6)]


def numbers_that_open_ones_are_not():
    calls = tf.Variable(0.0)

    def f(x, n):
        calls.assign_add(1.0)
        noise = tf.random.normal([3], seed=3)
        return x * float.__add__(n, 1.0) + float(json.dumps(n)) + noise

    return f, [(X, n) for n in (1.0, 2.0, 3.0, 4.0)], [calls]


def numbers_in_nests():
    return (lambda c: {"y": X * c["rate"], "z": [c["rate"] * X, c["by"][0] + X]}), [
        ({"rate": 0.1 * n, "by": (n, "text")},) for n in range(6)
    ]  # fmt: skip


def number_and_another_way_of_tensors():
    def f(x, n):
        return x * n if tf.reduce_sum(x) > 2 else x - n

    return f, [(x, 0.1 * i) for i, x in enumerate([X, Y] * 6)]


def numbers_in_keras_ops():
    layer = keras.layers.Dropout(0.5, seed=3)

    def f(x, n):
        y = keras.ops.add(x, n) * keras.ops.maximum(n, x) + tf.clip_by_value(x, -n, n)
        return keras.ops.leaky_relu(y, n), tf.fill([2], n), layer(x, training=True), tf.abs(n)

    return f, [(X, 0.1 * n) for n in range(1, 8)]


# ---- derivatives ----


def tape_inside():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sin(x) * x)
        return y, tape.gradient(y, x)

    return f, [(X,), (Y,), (X,)]


def second_derivative():
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.exp(x) * x**3)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    return f, [(X,), (Y,), (X,)]


def persistent_tape_and_jacobian():
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = x * x, tf.tanh(x)
        return tape.gradient(y, x), tape.gradient(z, x), tape.jacobian(y * 1.0, x) is None

    return f, [(X,), (Y,), (X,)]


def tape_around():
    g = tf.function(lambda x: tf.sin(x) * x)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        return y, tape.gradient(y, x)

    return f, [(X,), (Y,), (X,), (Y,)]


def custom_gradient():
    @tf.custom_gradient
    def clipped(x):
        return x * 1.0, lambda g: tf.clip_by_value(g, -0.1, 0.1)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(clipped(x) ** 2)
        return tape.gradient(y, x)

    return f, [(X,), (Y,), (X,)]


def missing_gradient():
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.round(x) * 2
        return tape.gradient(y, x)

    return f, [(X,)] * 4


# ---- variables ----


def read_assign_read():
    v = tf.Variable([1.0, 2.0, 3.0])

    def f(x):
        before = v * 1.0
        v.assign_add(x)
        middle = v * 1.0
        v.assign(v * 2.0)
        return before, middle, v + 0.0

    return f, [(X,), (Y,), (X,), (Y,)], [v]


def value_handed_out_before_an_assignment():
    v = tf.Variable([1.0, 2.0, 3.0])

    def f(x):
        before = v.read_value()
        v.assign(v + x)
        return before

    return f, [(X,), (Y,), (X,), (Y,), (X,)], [v]


def assigned_under_a_condition():
    v = tf.Variable(0.0)

    def f(x):
        if tf.reduce_sum(x) > v:
            v.assign(tf.reduce_sum(x))
        return v * 1.0

    return f, [(X * s,) for s in (1, 2, 1, 3, 3, 1, 4, 5, 1)], [v]


def two_variables_swap():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    def f():
        old = a.read_value()
        a.assign(b)
        b.assign(old)
        return a + 0.0

    return f, [()] * 6, [a, b]


def one_value_to_two_variables():
    a, b = tf.Variable([0.0] * 3), tf.Variable([0.0] * 3)

    def f(x):
        y = tf.tanh(x) + a
        a.assign(y)
        b.assign(y)
        return y

    return f, [(X,), (Y,), (X,), (Y,)], [a, b]


def variable_made_at_the_first_call():
    made = []

    def f(x):
        if not made:
            made.append(tf.Variable([1.0, 1.0, 1.0]))
        made[0].assign_add(x)
        return made[0] * 2.0

    return f, [(X,), (Y,), (X,), (Y,)]


def variable_as_an_argument():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    return (lambda v: v * 2.0), [(a,), (b,), (a,), (b,), (a,), (b,)], [a, b]


def training_by_hand():
    w = tf.Variable([[0.5], [-0.5], [0.1]])
    optimizer = keras.optimizers.Adam(0.1)

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ w - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
        return loss

    data = MATRIX, tf.constant([[1.0], [2.0]])
    return f, [data] * 6, [w]


def two_optimizers_in_turn():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([0.5, -1.0])
    optimizers = keras.optimizers.SGD(0.1, momentum=0.9), keras.optimizers.RMSprop(0.01)

    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum((a * x - b) ** 2)
        optimizers[0].apply_gradients([(tape.gradient(loss, a), a)])
        optimizers[1].apply_gradients([(tape.gradient(loss, b), b)])
        return loss

    return f, [(vector(1.0, 2.0),), (vector(0.5, 1.0),)] * 3, [a, b]


# ---- results, random numbers ----


def argument_as_a_result():
    return (lambda x: (x, x + 1, x)), [(X,), (Y,), (X,)]


def views_as_results():
    def f(x):
        y = tf.reshape(x * 2, [3, 2])
        return y, tf.transpose(y), y[0], y[:, 1]

    return f, [(MATRIX,), (-MATRIX,), (MATRIX,)]


def constant_results():
    return (lambda x: (tf.zeros([2]), tf.constant(3.0), None)), [(X,)] * 4


def random_numbers():
    def f(x):
        noise = tf.random.normal(tf.shape(x), seed=4)
        if noise[0] > 0:  # a draw before a failing guard must be undone
            return x + noise
        return x - tf.random.uniform(tf.shape(x), seed=5)

    return f, [(X,)] * 12


def dropout_masks():
    layer = keras.layers.Dropout(0.5, seed=7)
    return (lambda x: layer(x, training=True)), [(tf.ones([4, 5]),)] * 6


def numbers_from_seeds_of_their_own():
    return (lambda x: x + tf.random.stateless_normal([3], [1, 2])), [(X,), (Y,)] * 3


# ---- sizes that depend on values ----


def different_elements():
    def f(x):
        found = tf.unique(x).y * 2.0 + 1.0
        return found, tf.reduce_sum(found)

    return f, [(vector(*x),) for x in [(1, 2, 2)] * 3 + [(5, 5, 5)] * 4 + [(1, 2, 3), (4, 5, 4)]]


def rows_in_parts():
    def f(x, parts):
        few, many = tf.dynamic_partition(x, parts, 2)
        return few * 2.0 + 1.0, tf.reduce_sum(many * 3.0 + 1.0)

    ways = [[0, 0, 1]] * 3 + [[0, 1, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    return f, [(X, tf.constant(parts)) for parts in ways]


def rows_put_together():
    def f(indices, x):
        return tf.dynamic_stitch([indices], [x]) * 2.0 + 1.0

    ways = [[0, 1, 2]] * 3 + [[2, 0, 1], [0, 1, 1], [0, 2, 4], [0, 2, 4], [4, 2, 0], [0, 1, 1]]
    return f, [(tf.constant(indices), X) for indices in ways]


def assigned_after_a_size():
    v = tf.Variable([1.0, 2.0, 3.0])

    def f(x):
        v.assign_add(x)
        return tf.unique(x).y * 2.0

    return f, [(vector(*x),) for x in [(1, 2, 2)] * 4 + [(5, 5, 5), (1, 2, 3), (4, 5, 4)]], [v]


PROGRAMS = [
    branch, nested_branches, while_on_a_value, for_over_int_of_a_tensor, and_or_not,
    early_return_in_a_loop, assertion_on_a_value, float_of_a_tensor, values_that_are_nan,
    tf_cond_and_while, shapes_that_change, dtypes_that_change, shape_as_a_number, nests_in_and_out,
    numbers_as_arguments, arrays_as_arguments, the_same_tensor_twice, strided_arrays, empty_arrays,
    many_operands, scalars_only, closure_over_a_tensor, methods, counter_of_python, random_of_numpy,
    function_in_a_function, default_and_keyword_arguments, tape_inside, second_derivative,
    persistent_tape_and_jacobian, tape_around, custom_gradient, missing_gradient, read_assign_read,
    value_handed_out_before_an_assignment, assigned_under_a_condition, two_variables_swap,
    one_value_to_two_variables, variable_made_at_the_first_call, variable_as_an_argument,
    training_by_hand, two_optimizers_in_turn, argument_as_a_result, views_as_results,
    constant_results, random_numbers, dropout_masks, learning_rate_as_a_float, step_as_an_int,
    floats_beside_everything, ints_beside_everything, half_floats, number_in_a_shape,
    range_of_a_number, number_as_an_index, number_as_an_exponent, rate_of_an_optimizer,
    conditions_on_a_number, arithmetic_of_numbers, divided_by_a_number, numbers_for_numpy_and_math,
    types_of_numbers, numbers_that_open_ones_are_not, numbers_in_nests,
    number_and_another_way_of_tensors, numbers_in_keras_ops, numbers_in_vectorized_maps,
    ranges_of_numpy, numbers_that_numpy_chooses, counter_beside_a_number,
    ops_that_take_numbers_their_own_way, numbers_from_seeds_of_their_own, different_elements,
    rows_in_parts, rows_put_together, assigned_after_a_size,
]  # fmt: skip


def numbers(result):
    return [None if v is None else np.array(v) for v in nest.flatten(result)]


def run(program, compiles):
    """Return all effects of the calls, at the end: later calls must not change earlier results."""
    tf.random.set_seed(11)
    function, calls, *held = program()
    if compiles:
        function = tf.function(function)
    before = copy.deepcopy([c for c in calls if not held])
    seen, handed_out = [], []
    for call in calls:
        args, kwargs = call if len(call) == 2 and isinstance(call[1], dict) else (call, {})
        result = function(*args, **kwargs)
        handed_out.append(result)
        seen.append(numbers(result))
    for result, numbers_then in zip(handed_out, seen, strict=True):
        compare(numbers(result), numbers_then, 0.0)
    if not held:
        for old, new in zip(nest.flatten(before), nest.flatten(list(calls)), strict=True):
            if isinstance(old, (tf.Tensor, np.ndarray)):
                np.testing.assert_array_equal(old, new)
    return seen + [[v.numpy() for v in variables] for variables in held]


def compare(found, expected, tolerance):
    for a, b in zip(found, expected, strict=True):
        if a is None or b is None:
            assert a is b
        elif a.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            assert a.dtype == b.dtype
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_compiled_is_eager(program, kind):
    for a, b in zip(run(program, True), run(program, False), strict=True):
        compare(a, b, 0.0 if kind == "numpy" else 2e-6)


# ---- further tests -------------------------------------------------------------------------------


def test_exceptions_of_users_propagate_and_are_not_kept_alive():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        v.assign_add(x)
        if tf.reduce_sum(x) > 10:
            raise KeyError("too much")
        return v * 1.0

    small = vector(1.0, 1.0)
    for _ in range(3):
        f(small)
    with pytest.raises(KeyError, match="too much"):
        f(small * 20)
    np.testing.assert_array_equal(v.numpy(), [24.0, 25.0])  # as in Python: assigned, then raised
    f(small)
    np.testing.assert_array_equal(v.numpy(), [25.0, 26.0])


CHECKED = {  # (function of integers, accepted ones, rejected ones, message)
    "a loss": (
        lambda y: keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, MATRIX),
        [0, 1], [0, 7], "label 7"),
    "a label too large": (
        lambda y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, MATRIX),
        [0, 2], [0, 3], "labels must lie from 0 to 2, got 3"),
    "a label below 0": (
        lambda y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, MATRIX),
        [0, 2], [-1, 2], "labels must lie from 0 to 2, got -1"),
    "gather": (lambda i: tf.gather(X, i), [0, 2], [0, -1], "`indices` must lie from 0 to 2"),
    "gather on axis 1": (
        lambda i: tf.gather(MATRIX, i, axis=1), [0, 2], [0, 3], "`indices` must lie from 0 to 2"),
    "gather in a batch": (
        lambda i: tf.gather(MATRIX, i, batch_dims=1), [0, 2], [-1, 2], "must lie from 0 to 2"),
    "embedding_lookup": (
        lambda i: tf.nn.embedding_lookup(MATRIX, i), [0, 1], [-1, 1], "ids must lie from 0 to 1"),
    "unsorted_segment_sum": (
        lambda i: tf.math.unsorted_segment_sum(X, i, 3), [0, -1, 2], [0, 3, 1],
        "`segment_ids` must lie below 3, got 3"),
    "dynamic_partition": (
        lambda i: tf.dynamic_partition(X, i, 2)[0], [0, 1, 1], [0, 2, 1], "must lie from 0 to 1"),
    "dynamic_stitch": (
        lambda i: tf.dynamic_stitch([i], [X]), [0, 2, 1], [0, -1, 1], "must not be negative"),
    "division by 0": (lambda i: 7 // i, [1, 2], [1, 0], "cannot be divided"),
    "the remainder by 0": (lambda i: i % i, [1, 2], [1, 0], "cannot be divided"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKED)
def test_an_error_within_a_plan_is_that_of_the_op(name):
    function, good, bad, said = CHECKED[name]
    f = tf.function(function)
    expected = function(tf.constant(good)).numpy()
    for _ in range(3):
        np.testing.assert_array_equal(f(tf.constant(good)).numpy(), expected)
    for refusing in (function, f):
        with pytest.raises(ValueError, match=said):
            refusing(tf.constant(bad))
    np.testing.assert_array_equal(f(tf.constant(good)).numpy(), expected)


def test_printed_values_are_those_of_each_call(capsys):
    @tf.function
    def f(x):
        y = x + 1
        tf.print(y)
        return y

    for n in range(4):
        f(tf.constant(n))
    printed = capsys.readouterr()
    assert (printed.out + printed.err).split() == list("1234")


def test_a_new_seed_restarts_draws():
    f = tf.function(lambda: tf.random.uniform([3]))
    found = []
    for _ in range(2):
        tf.random.set_seed(5)
        found.append([f().numpy() for _ in range(4)])
    np.testing.assert_array_equal(*found)
    tf.random.set_seed(5)
    np.testing.assert_array_equal([tf.random.uniform([3]).numpy() for _ in range(4)], found[0])


def test_threads_agree_with_one_after_another():
    v = tf.Variable(0.0)

    @tf.function
    def pure(x):
        return tf.reduce_sum(tf.tanh(x) * 2 + x * x)

    @tf.function
    def counting(x):
        v.assign_add(x)
        return v * 1.0

    for _ in range(3):
        pure(X)
        counting(tf.constant(0.0))
    inputs = [X * float(i) for i in range(40)]
    expected = [pure(x).numpy() for x in inputs]
    wrong = []

    def work():
        for _ in range(10):
            for x, y in zip(inputs, expected, strict=True):
                if pure(x).numpy() != y:
                    wrong.append(x)
            counting(tf.constant(1.0))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert v.numpy() == 40.0


def test_plans_are_dropped_with_their_objects():
    @tf.function
    def f(model, x):
        return model.slope * x

    class Line:
        slope = 2.0

    for _ in range(3):
        line = Line()
        for _ in range(3):
            f(line, X)
        del line
    assert f.explain().startswith("f has 0 plans")


# ---- settings inherited from the surrounding layer call ------------------------------------------


def test_training_is_inherited_from_the_surrounding_layer():
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.drop = keras.layers.Dropout(0.5)

        def call(self, x):
            return self.helper(x)

        @tf.function
        def helper(self, x):
            return self.drop(x)

    model = Model()
    for _ in range(3):
        assert 0.0 in model(tf.ones([4, 8]), training=True).numpy()
    for _ in range(3):
        np.testing.assert_array_equal(model(tf.ones([4, 8]), training=False), np.ones([4, 8]))
    assert "training, Model, float32[4, 8]" in model.helper.explain()


def test_masks_of_arguments_and_results_are_those_of_the_call():
    rows = keras.layers.Embedding(10, 4, mask_zero=True)
    sums = keras.layers.LSTM(3, return_sequences=True)
    f = tf.function(lambda x: sums(x))
    inner = tf.function(lambda i: {"rows": rows(i), "count": tf.reduce_sum(i)})
    for ids in ([1, 2, 0], [1, 0, 0], [1, 2, 3], [1, 0, 0], [1, 2, 0]):
        x = rows(tf.constant([ids]))
        y = f(x)
        np.testing.assert_allclose(y, sums(x), rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(y._keras_mask, [[i > 0 for i in ids]])
        found = inner(tf.constant([ids]))
        np.testing.assert_array_equal(found["rows"]._keras_mask, [[i > 0 for i in ids]])
    bare = tf.ones([1, 3, 4])
    np.testing.assert_allclose(f(bare), sums(bare), rtol=1e-6)
    assert "(float32[1, 3, 4], masked by, bool[1, 3]): 1 plan." in f.explain()


def test_losses_that_layers_keep_are_those_of_the_call(caplog):
    layer = keras.layers.Dense(2, activity_regularizer="l2")
    layer(MATRIX)
    f = tf.function(lambda x: layer(x))
    inside = tf.function(lambda x: tf.reduce_sum(layer(x)) + sum(layer.losses))
    for n in range(5):
        x = MATRIX * float(n)
        f(x)
        (found,) = layer.losses
        np.testing.assert_allclose(found, 0.01 * np.sum(layer(x).numpy() ** 2) / 2, rtol=1e-5)
        np.testing.assert_allclose(
            inside(x), tf.reduce_sum(layer(x)) + sum(layer.losses), rtol=1e-5
        )
    assert "1 plan" in inside.explain()
    (record,) = caplog.records
    assert "adds a loss that the function does not use" in record.getMessage()
