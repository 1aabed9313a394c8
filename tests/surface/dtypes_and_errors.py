"""Values of dtypes and errors; assertions: what passes, and what does not."""

import numpy as np

import framework as tf

BYTES = {
    "float16": 2, "float32": 4, "float64": 8, "bfloat16": 2, "int8": 1, "int16": 2, "int32": 4,
    "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex64": 8,
    "complex128": 16,
}  # fmt: skip

DTYPES = {
    name: (lambda f: [f.name, f.size, tf.cast([1, 0], f).dtype is f], [name, size, True])
    for name, size in BYTES.items()
}

PASSES, FAILS = True, False
CHECKS = {  # what passes, what fails
    "assert_equal": (([1, 2], [1, 2]), ([1, 2], [1, 3])),
    "assert_greater": (([3, 4], [1, 2]), ([1, 2], [1, 1])),
    "assert_less": (([1, 2], [3, 4]), ([1, 2], [2, 2])),
    "assert_rank": (([[1]], 2), ([1], 2)),
    "debugging.Assert": ((True, ["told"]), (False, ["told"])),
    "debugging.assert_all_finite": (([1.0, 2.0], "told"), ([1.0, np.nan], "told")),
    "debugging.assert_greater_equal": (([1, 3], [1, 2]), ([1, 1], [1, 2])),
    "debugging.assert_integer": (([1, 2],), ([1.0, 2.0],)),
    "debugging.assert_less_equal": (([1, 2], [1, 3]), ([1, 2], [1, 1])),
    "debugging.assert_near": (([1.0], [1.0 + 1e-7]), ([1.0], [1.1])),
    "debugging.assert_negative": (([-1.0],), ([0.0],)),
    "debugging.assert_non_negative": (([0.0],), ([-1.0],)),
    "debugging.assert_non_positive": (([0.0],), ([1.0],)),
    "debugging.assert_none_equal": (([1, 2], [2, 1]), ([1, 2], [2, 2])),
    "debugging.assert_positive": (([1.0],), ([0.0],)),
    "debugging.assert_proper_iterable": (([1, 2],), ("text",)),
    "debugging.assert_rank_at_least": (([[1]], 1), ([1], 2)),
    "debugging.assert_rank_in": (([[1]], [1, 2]), ([[1]], [0, 1])),
    "debugging.assert_same_float_dtype": (([np.float32(1)],), ([np.int32(1)],)),
    "debugging.assert_scalar": ((3.0,), ([3.0],)),
    "debugging.assert_shapes": (
        ([(np.ones((2, 3)), ("n", 3)), (np.ones(2), ("n",))],),
        ([(np.ones((2, 3)), ("n", 3)), (np.ones(4), ("n",))],),
    ),
    "debugging.assert_type": ((np.float32(1), tf.float32), (np.float32(1), tf.int32)),
    "debugging.check_numerics": (([1.0], "told"), ([np.inf], "told")),
}


def passes(f, args):
    try:
        f(*args)
    except (ValueError, TypeError):
        return False
    return True


def told(good, bad):
    return lambda f: [passes(f, good), passes(f, bad)]


def makes_nan():
    tf.math.log([-1.0])


def with_numerics_checked(switch_on, switch_off):
    switch_on()
    found = passes(makes_nan, ())
    switch_off()
    return [found, passes(makes_nan, ())]


def raised(error, builtin):
    def call(f):
        made = f(None, None, "told")
        return [isinstance(made, builtin), made.message, f.__name__ == error]

    return call, [True, "told", True]


VALUES = {
    **DTYPES,
    **{name: (told(*args), [PASSES, FAILS]) for name, args in CHECKS.items()},
    "DType": (lambda f: [f(1), f("int32")], [tf.float32, tf.int32]),
    "as_dtype": (lambda f: [f("float32"), f(np.int8), f(bool)], [tf.float32, tf.int8, tf.bool]),
    "debugging.enable_check_numerics": (
        lambda f: with_numerics_checked(f, tf.debugging.disable_check_numerics), [FAILS, PASSES]
    ),
    "debugging.disable_check_numerics": (
        lambda f: with_numerics_checked(tf.debugging.enable_check_numerics, f), [FAILS, PASSES]
    ),
    "debugging.is_numeric_tensor": (
        lambda f: [f(tf.constant(1)), f(tf.constant(True))], [True, False]
    ),
    "errors.DataLossError": raised("DataLossError", ValueError),
    "errors.InvalidArgumentError": raised("InvalidArgumentError", ValueError),
    "errors.NotFoundError": raised("NotFoundError", KeyError),
    "errors.OutOfRangeError": raised("OutOfRangeError", IndexError),
    "errors.OperatorNotAllowedInGraphError": raised("SymbolicValueError", TypeError),
}  # fmt: skip
