"""Values of TensorFlow's functions that make, move, look up and choose; and of control flow."""

import numpy as np

import framework as tf

M = [[1, 2, 3], [4, 5, 6]]
N = np.arange(24).reshape(2, 3, 4)
V = [4, 3, 1, 7]
PLACES = [[0], [2]]


def written(ta):
    return ta.write(1, 5).write(0, 3).stack()


def squared_within(scope, x):
    with scope:
        return x * x


def doubled_by_tape(f):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def squared(x):
    return x * x, lambda dy: dy * 100.0


VALUES = {
    "boolean_mask": (lambda f: f(V, [True, False, True, False]), [4, 1]),
    "broadcast_to": (lambda f: f([1, 2], [3, 2]), [[1, 2]] * 3),
    "concat": (lambda f: f([M, M], 1), np.concatenate([M, M], 1)),
    "constant": (lambda f: f([1, 2, 3, 4], tf.float32, [2, 2]), [[1.0, 2.0], [3.0, 4.0]]),
    "convert_to_tensor": (lambda f: f([1.5, 2.0], tf.float64), np.array([1.5, 2.0])),
    "dynamic_partition": (lambda f: f(V, [0, 1, 0, 1], 2), [[4, 1], [3, 7]]),
    "dynamic_stitch": (lambda f: f([[0, 2], [1]], [[10, 30], [20]]), [10, 20, 30]),
    "ensure_shape": (lambda f: f(M, [None, 3]), M),
    "expand_dims": (lambda f: f(V, 1), [[4], [3], [1], [7]]),
    "eye": (lambda f: f(2, 3), np.eye(2, 3)),
    "fill": (lambda f: f([2, 2], 7), [[7, 7], [7, 7]]),
    "gather": (lambda f: f(M, [2, 0], axis=1), [[3, 1], [6, 4]]),
    "gather_nd": (lambda f: f(M, [[1, 2], [0, 0]]), [6, 1]),
    "identity": (lambda f: f(M), M),
    "identity_n": (lambda f: f([M, V]), [M, V]),
    "is_tensor": (lambda f: [f(tf.constant(1)), f(tf.Variable(1.0)), f(1)], [True, True, False]),
    "linspace": (lambda f: f(0.0, 1.0, 5), np.linspace(0, 1, 5)),
    "meshgrid": (lambda f: f([1, 2], [3, 4, 5]), np.meshgrid([1, 2], [3, 4, 5])),
    "one_hot": (lambda f: f([2, 0, -1], 3), [[0, 0, 1], [1, 0, 0], [0, 0, 0]]),
    "ones": (lambda f: f([2, 3]), np.ones((2, 3))),
    "ones_like": (lambda f: f(M), [[1, 1, 1], [1, 1, 1]]),
    "pad": (lambda f: f(V, [[1, 2]], constant_values=9), [9, 4, 3, 1, 7, 9, 9]),
    "range": (lambda f: f(3, 10, 3), [3, 6, 9]),
    "rank": (lambda f: f(N), 3),
    "repeat": (lambda f: f([1, 2], [2, 3]), [1, 1, 2, 2, 2]),
    "reshape": (lambda f: f(M, [3, -1]), [[1, 2], [3, 4], [5, 6]]),
    "reverse": (lambda f: f(M, [1]), [[3, 2, 1], [6, 5, 4]]),
    "roll": (lambda f: f(V, 1, 0), [7, 4, 3, 1]),
    "scatter_nd": (lambda f: f(PLACES, [5, 6], [4]), [5, 0, 6, 0]),
    "searchsorted": (lambda f: f([1, 3, 5], [0, 3, 9]), [0, 1, 3]),
    "sequence_mask": (lambda f: f([1, 3], 3), [[True, False, False], [True] * 3]),
    "shape": (lambda f: f(N), [2, 3, 4]),
    "size": (lambda f: f(N), 24),
    "slice": (lambda f: f(M, [0, 1], [2, 2]), [[2, 3], [5, 6]]),
    "split": (lambda f: f(V, [1, 3]), [[4], [3, 1, 7]]),
    "squeeze": (lambda f: f([[[1], [2]]], 0), [[1], [2]]),
    "stack": (lambda f: f([[1, 2], [3, 4]], 1), [[1, 3], [2, 4]]),
    "strided_slice": (lambda f: f(V, [3], [0], [-2]), [7, 3]),
    "tensor_scatter_nd_add": (lambda f: f(V, PLACES, [10, 20]), [14, 3, 21, 7]),
    "tensor_scatter_nd_max": (lambda f: f(V, PLACES, [3, 20]), [4, 3, 20, 7]),
    "tensor_scatter_nd_min": (lambda f: f(V, PLACES, [3, 20]), [3, 3, 1, 7]),
    "tensor_scatter_nd_sub": (lambda f: f(V, PLACES, [10, 20]), [-6, 3, -19, 7]),
    "tensor_scatter_nd_update": (lambda f: f(V, PLACES, [10, 20]), [10, 3, 20, 7]),
    "tile": (lambda f: f([[1, 2]], [2, 2]), [[1, 2, 1, 2]] * 2),
    "transpose": (lambda f: f(N, [2, 0, 1]), np.transpose(N, [2, 0, 1])),
    "unique": (lambda f: f([5, 3, 5]), ([5, 3], [0, 1, 0])),
    "unique_with_counts": (lambda f: f([5, 3, 5]), ([5, 3], [0, 1, 0], [2, 1])),
    "unravel_index": (lambda f: f([5, 2], [2, 3]), np.stack(np.unravel_index([5, 2], (2, 3)))),
    "unstack": (lambda f: f(M, axis=1), [[1, 4], [2, 5], [3, 6]]),
    "where": (lambda f: f([True, False], [1, 2], [3, 4]), [1, 4]),
    "zeros": (lambda f: f([2, 1]), [[0.0], [0.0]]),
    "zeros_like": (lambda f: f(M), [[0, 0, 0], [0, 0, 0]]),
    "newaxis": (lambda f: tf.constant(V)[f], [V]),
    # control flow
    "case": (
        lambda f: f([(False, lambda: 1), (tf.constant(True), lambda: 2)], default=lambda: 3),
        2,
    ),
    "cond": (lambda f: [f(tf.constant(b), lambda: 1, lambda: 2) for b in (True, False)], [1, 2]),
    "foldl": (lambda f: f(lambda a, x: a - x, tf.constant([10, 3, 2])), 5),
    "foldr": (lambda f: f(lambda a, x: a - x, tf.constant([10, 3, 2])), -11),
    "map_fn": (lambda f: f(lambda x: x * x, tf.constant([1, 2, 3])), [1, 4, 9]),
    "scan": (lambda f: f(lambda a, x: a + x, tf.constant([1, 2, 3])), [1, 3, 6]),
    "switch_case": (lambda f: f(1, [lambda: 10, lambda: 20]), 20),
    "vectorized_map": (lambda f: f(lambda x: tf.reduce_sum(x * x), tf.constant(M)), [14, 77]),
    "while_loop": (lambda f: f(lambda i: i < 10, lambda i: (2 * i,), (1,)), (16,)),
    "batch_to_space": (
        lambda f: f([[[[1]]], [[[3]]], [[[2]]], [[[6]]]], [2, 2], [[0, 0], [0, 1]]),
        [[[[1]], [[2]]]],
    ),
    "bitcast": (lambda f: f([1.0, -2.0], tf.uint32), [0x3F800000, 0xC0000000]),
    "control_dependencies": (
        lambda f: doubled_by_tape(lambda x: x * squared_within(f([x]), x)), (27, 27)
    ),
    "edit_distance": (
        lambda f: f(tf.sparse.from_dense([[1, 2, 3]]), tf.sparse.from_dense([[1, 3, 0]]), False),
        [1.0],
    ),
    "extract_volume_patches": (
        lambda f: f(np.arange(8.0).reshape(1, 2, 2, 2, 1), [1, 2, 2, 1, 1], [1] * 5, "VALID"),
        np.array([[0, 2, 4, 6], [1, 3, 5, 7]]).reshape(1, 1, 1, 2, 4),
    ),
    "get_static_value": (lambda f: [f(tf.constant([1, 2])), f(tf.Variable(1)), f("a")],
                         [[1, 2], None, "a"]),
    "group": (lambda f: f(tf.constant(1)), None),
    "histogram_fixed_width": (lambda f: f([-1.0, 0.5, 2.5, 9.0], [0.0, 5.0], 5), [2, 0, 1, 0, 1]),
    "histogram_fixed_width_bins": (lambda f: f([-1.0, 2.5, 9.0], [0.0, 5.0], 5), [0, 2, 4]),
    "no_op": (lambda f: f(), None),
    "reverse_sequence": (
        lambda f: f([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1), [[2, 1, 3], [6, 5, 4]]
    ),
    # functions of functions
    "custom_gradient": (lambda f: doubled_by_tape(f(squared)), (9.0, 100.0)),
    "function": (lambda f: doubled_by_tape(f(lambda x: x * x)), (9.0, 6.0)),
    "grad_pass_through": (lambda f: doubled_by_tape(f(lambda x: x * x)), (9.0, 1.0)),
    "numpy_function": (lambda f: f(np.cumsum, [tf.constant([1.0, 2.0])], tf.float32), [1.0, 3.0]),
    "py_function": (
        lambda f: doubled_by_tape(lambda x: f(lambda x: x * x, [x], tf.float32)), (9.0, 6.0)
    ),
    "recompute_grad": (lambda f: doubled_by_tape(f(lambda x: x * x)), (9.0, 6.0)),
    "stop_gradient": (lambda f: doubled_by_tape(lambda x: f(x) * x), (9.0, 3.0)),
    "executing_eagerly": (lambda f: f(), True),
    "debugging.get_log_device_placement": (lambda f: f(), False),
    "debugging.set_log_device_placement": (lambda f: f(False), None),
    "version": (lambda v: v.VERSION == v.GIT_VERSION == tf.__version__, True),
    "device": (lambda f: doubled_by_tape(lambda x: x * squared_within(f("CPU:0"), x)), (27, 27)),
    "init_scope": (lambda f: doubled_by_tape(lambda x: x * squared_within(f(), x)), (27, 9)),
    # classes
    "TensorArray": (lambda f: written(f(tf.int32, size=2)), [3, 5]),
    "TensorShape": (lambda f: f([2, None, 3]).as_list(), [2, None, 3]),
    "TensorSpec": (
        lambda f: [f([None, 2]).is_compatible_with(x) for x in (tf.ones([3, 2]), tf.ones([2]))],
        [True, False],
    ),
    "IndexedSlices": (
        lambda f: tf.convert_to_tensor(f([1.0, 2.0, 3.0], [0, 2, 0], [3])),
        [4.0, 0.0, 2.0],
    ),
    # initializers
    "constant_initializer": (lambda f: f(3.0)([2]), [3.0, 3.0]),
    "ones_initializer": (lambda f: f()([2]), [1.0, 1.0]),
    "zeros_initializer": (lambda f: f()([2]), [0.0, 0.0]),
    # nests
    "nest.assert_same_structure": (lambda f: f([1, (2,)], [3, (4,)]), None),
    "nest.flatten": (lambda f: f({"b": [1, 2], "a": 3}), [3, 1, 2]),
    "nest.is_nested": (lambda f: [f([]), f({}), f(1)], [True, True, False]),
    "nest.map_structure": (lambda f: f(lambda a, b: a + b, [1, 2], [3, 4]), [4, 6]),
    "nest.pack_sequence_as": (lambda f: f([1, (2, 3)], [4, 5, 6]), [4, (5, 6)]),
}  # fmt: skip
