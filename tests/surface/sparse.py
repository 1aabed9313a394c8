"""Functions of sparse tensors: calls of every function, and what TensorFlow gives for them.

A name with a number is another call of the same function. A sparse tensor is written as its
indices, values and dense shape.
"""

import numpy as np

import framework as tf
from framework.core import nest
from tests.surface.strings import plain


def a(values=(1.0, 2.0, 3.0)):
    return tf.SparseTensor([[0, 0], [1, 2], [1, 3]], list(values), [3, 4])


def b():
    return tf.SparseTensor([[0, 0], [1, 1]], [5.0, -1.0], [3, 4])


def ints():
    return a((1, 2, 3))


def ids():
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 3, 0], [3, 2])


def weights():
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1.0, 3.0, 2.0], [3, 2])


def empty():
    return tf.SparseTensor(np.zeros((0, 2), "int64"), np.zeros(0, "float32"), [2, 3])


TABLE = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]


class Near:
    """What a call must give, numbers to 6 digits."""

    def __init__(self, value):
        self.value = value

    def check(self, found):
        found = tuple(found) if isinstance(found, list) else found
        found, expected = plain(found), self.value
        numbers = nest.flatten(found), nest.flatten(expected)
        assert len(numbers[0]) == len(numbers[1])
        nest.assert_same_structure(found, expected)
        if numbers[0] and not isinstance(numbers[0][0], bytes):
            pairs = [p for p in zip(*numbers) if not isinstance(p[1], bytes)]
            np.testing.assert_allclose(*zip(*pairs), rtol=2e-6)
        assert [x for x in numbers[0] if isinstance(x, bytes)] == [
            x for x in numbers[1] if isinstance(x, bytes)
        ]


CALLS = {
    "sparse.SparseTensor": (lambda f: f([[0, 1]], [2], [1, 3]), ([[0, 1]], [2], [1, 3])),
    "sparse.add": (
        lambda f: f(a(), b()),
        ([[0, 0], [1, 1], [1, 2], [1, 3]], [6.0, -1.0, 2.0, 3.0], [3, 4]),
    ),
    "sparse.add 2": (
        lambda f: f(a(), tf.ones([3, 4])),
        [[2.0, 1.0, 1.0, 1.0], [1.0, 1.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0]],
    ),
    "sparse.add 3": (
        lambda f: f(a(), b(), threshold=7.0),
        ([[1, 1], [1, 2], [1, 3]], [-1.0, 2.0, 3.0], [3, 4]),
    ),
    "sparse.add 4": (lambda f: f(tf.ones([2, 3]), empty()), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    "sparse.bincount": (lambda f: f(ints()), ([[1], [2], [3]], [1, 1, 1], [4])),
    "sparse.bincount 2": (
        lambda f: f([[1, 2], [2, 2]], axis=-1),
        ([[0, 1], [0, 2], [1, 2]], [1, 1, 2], [2, 3]),
    ),
    "sparse.bincount 3": (
        lambda f: f(ints(), axis=-1, binary_output=True),
        ([[0, 1], [1, 2], [1, 3]], [1, 1, 1], [3, 4]),
    ),
    "sparse.bincount 4": (
        lambda f: f([[1, 2], [2, 2]], axis=-1, maxlength=2),
        ([[0, 1]], [1], [2, 2]),
    ),
    "sparse.bincount 5": (
        lambda f: f(np.array([[1, 2], [2, 2]]), weights=[[1.0, 2.0], [3.0, 4.0]], axis=-1),
        ([[0, 1], [0, 2], [1, 2]], [1.0, 2.0, 7.0], [2, 3]),
    ),
    "sparse.bincount 6": (lambda f: f([1, 1, 5], minlength=9), ([[1], [5]], [2, 1], [9])),
    "sparse.concat": (
        lambda f: f(1, [a(), b()]),
        ([[0, 0], [0, 4], [1, 2], [1, 3], [1, 5]], [1.0, 5.0, 2.0, 3.0, -1.0], [3, 8]),
    ),
    "sparse.concat 2": (
        lambda f: f(
            0, [ints(), tf.SparseTensor([[0, 5]], [9], [1, 6])], expand_nonconcat_dims=True
        ),
        ([[0, 0], [1, 2], [1, 3], [3, 5]], [1, 2, 3, 9], [4, 6]),
    ),
    "sparse.concat 3": (lambda f: f(-1, [empty(), empty()]), ([], [], [2, 6])),
    "sparse.cross": (
        lambda f: f(
            [
                tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]),
                tf.constant([["d"], ["e"]]),
            ]
        ),
        ([[0, 0], [1, 0], [1, 1]], [b"a_X_d", b"b_X_e", b"c_X_e"], [2, 2]),
    ),
    "sparse.cross 2": (
        lambda f: f([tf.constant([["a"]]), tf.constant([[7]])], separator="_Y_"),
        ([[0, 0]], [b"a_Y_7"], [1, 1]),
    ),
    "sparse.expand_dims": (
        lambda f: f(ints(), 1),
        ([[0, 0, 0], [1, 0, 2], [1, 0, 3]], [1, 2, 3], [3, 1, 4]),
    ),
    "sparse.expand_dims 2": (
        lambda f: f(ints()),
        ([[0, 0, 0], [1, 2, 0], [1, 3, 0]], [1, 2, 3], [3, 4, 1]),
    ),
    "sparse.expand_dims 3": (
        lambda f: f(ints(), 0),
        ([[0, 0, 0], [0, 1, 2], [0, 1, 3]], [1, 2, 3], [1, 3, 4]),
    ),
    "sparse.eye": (lambda f: f(2, 3), ([[0, 0], [1, 1]], [1.0, 1.0], [2, 3])),
    "sparse.eye 2": (lambda f: f(3, dtype=tf.int32), ([[0, 0], [1, 1], [2, 2]], [1, 1, 1], [3, 3])),
    "sparse.fill_empty_rows": (
        lambda f: f(ints(), 9),
        (([[0, 0], [1, 2], [1, 3], [2, 0]], [1, 2, 3, 9], [3, 4]), [False, False, True]),
    ),
    "sparse.fill_empty_rows 2": (
        lambda f: f(empty(), 7.0),
        (([[0, 0], [1, 0]], [7.0, 7.0], [2, 3]), [True, True]),
    ),
    "sparse.from_dense": (lambda f: f([[0, 3, 0], [0, 0, 4]]), ([[0, 1], [1, 2]], [3, 4], [2, 3])),
    "sparse.from_dense 2": (
        lambda f: f([["a", ""], ["", "b"]]),
        ([[0, 0], [1, 1]], [b"a", b"b"], [2, 2]),
    ),
    "sparse.from_dense 3": (lambda f: f([0.0, 2.5]), ([[1]], [2.5], [2])),
    "sparse.from_dense 4": (lambda f: f([False, True]), ([[1]], [True], [2])),
    "sparse.map_values": (
        lambda f: f(tf.multiply, a(), 2.0),
        ([[0, 0], [1, 2], [1, 3]], [2.0, 4.0, 6.0], [3, 4]),
    ),
    "sparse.map_values 2": (
        lambda f: f(tf.add, a(), a()),
        ([[0, 0], [1, 2], [1, 3]], [2.0, 4.0, 6.0], [3, 4]),
    ),
    "sparse.maximum": (
        lambda f: f(a(), b()),
        ([[0, 0], [1, 1], [1, 2], [1, 3]], [5.0, 0.0, 2.0, 3.0], [3, 4]),
    ),
    "sparse.minimum": (
        lambda f: f(a(), b()),
        ([[0, 0], [1, 1], [1, 2], [1, 3]], [1.0, -1.0, 0.0, 0.0], [3, 4]),
    ),
    "sparse.reduce_max": (lambda f: f(ints(), 1), [1, 3, 0]),
    "sparse.reduce_max 2": (lambda f: f(ints(), 0), [1, 0, 2, 3]),
    "sparse.reduce_max 3": (lambda f: f(b(), 1, keepdims=True), [[5.0], [-1.0], [0.0]]),
    "sparse.reduce_max 4": (
        lambda f: f(ints(), 1, output_is_sparse=True),
        ([[0], [1]], [1, 3], [3]),
    ),
    "sparse.reduce_max 5": (lambda f: f(empty(), 1), [0.0, 0.0]),
    "sparse.reduce_max 6": (lambda f: f(a()), 3.0),
    "sparse.reduce_sum": (lambda f: f(ints(), 1), [1, 5, 0]),
    "sparse.reduce_sum 2": (lambda f: f(a()), 6.0),
    "sparse.reduce_sum 3": (lambda f: f(a(), [0, 1]), 6.0),
    "sparse.reduce_sum 4": (lambda f: f(ints(), [-1], keepdims=True), [[1], [5], [0]]),
    "sparse.reduce_sum 5": (
        lambda f: f(ints(), 1, output_is_sparse=True),
        ([[0], [1]], [1, 5], [3]),
    ),
    "sparse.reorder": (
        lambda f: f(tf.SparseTensor([[1, 0], [0, 2]], [1, 2], [2, 3])),
        ([[0, 2], [1, 0]], [2, 1], [2, 3]),
    ),
    "sparse.reset_shape": (
        lambda f: f(ints(), [5, 6]),
        ([[0, 0], [1, 2], [1, 3]], [1, 2, 3], [5, 6]),
    ),
    "sparse.reset_shape 2": (lambda f: f(ints()), ([[0, 0], [1, 2], [1, 3]], [1, 2, 3], [2, 4])),
    "sparse.reshape": (lambda f: f(ints(), [-1, 6]), ([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 6])),
    "sparse.reshape 2": (
        lambda f: f(ints(), [2, 3, 2]),
        ([[0, 0, 0], [1, 0, 0], [1, 0, 1]], [1, 2, 3], [2, 3, 2]),
    ),
    "sparse.retain": (lambda f: f(ints(), [True, False, True]), ([[0, 0], [1, 3]], [1, 3], [3, 4])),
    "sparse.sampled_addmm": (
        lambda f: f(
            [[0, 0], [1, 1]],
            [1.0, 2.0],
            [2, 2],
            [[1.0, 2.0], [3.0, 4.0]],
            [[5.0, 6.0], [7.0, 8.0]],
            beta=0.5,
            alpha=2.0,
        ),
        ([[0, 0], [1, 1]], [38.5, 101.0], [2, 2]),
    ),
    "sparse.segment_mean": (
        lambda f: f([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1, 2], [0, 0, 2], num_segments=4),
        [[2.0, 3.0], [0.0, 0.0], [5.0, 6.0], [0.0, 0.0]],
    ),
    "sparse.segment_sqrt_n": (
        lambda f: f([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1, 2], [0, 0, 1]),
        [[2.828427, 4.24264], [5.0, 6.0]],
    ),
    "sparse.segment_sum": (
        lambda f: f([[1, 2], [3, 4], [5, 6]], [0, 1, 2], [0, 0, 1]),
        [[4, 6], [5, 6]],
    ),
    "sparse.segment_sum 2": (
        lambda f: f([[1, 2], [3, 4], [5, 6]], [2, 2], [0, 2]),
        [[5, 6], [0, 0], [5, 6]],
    ),
    "sparse.slice": (lambda f: f(ints(), [1, 1], [5, 2]), ([[0, 1]], [2], [2, 2])),
    "sparse.slice 2": (lambda f: f(ints(), [2, 0], [1, 4]), ([], [], [1, 4])),
    "sparse.softmax": (
        lambda f: f(a()),
        ([[0, 0], [1, 2], [1, 3]], [1.0, 0.2689414, 0.7310586], [3, 4]),
    ),
    "sparse.softmax 2": (lambda f: f(empty()), ([], [], [2, 3])),
    "sparse.sparse_dense_matmul": (
        lambda f: f(a(), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]),
        [[1.0, 2.0], [31.0, 36.0], [0.0, 0.0]],
    ),
    "sparse.sparse_dense_matmul 2": (
        lambda f: f(tf.constant([[1.0, 2.0, 3.0]]), a()),
        [[1.0, 0.0, 4.0, 6.0]],
    ),
    "sparse.sparse_dense_matmul 3": (
        lambda f: f(a(), [[1.0, 2.0, 3.0]], adjoint_a=True, adjoint_b=True),
        [[1.0], [0.0], [4.0], [6.0]],
    ),
    "sparse.split": (
        lambda f: f(sp_input=ints(), num_split=3, axis=1),
        (([[0, 0]], [1], [3, 2]), ([[1, 0]], [2], [3, 1]), ([[1, 0]], [3], [3, 1])),
    ),
    "sparse.split 2": (
        lambda f: f(sp_input=ints(), num_split=2, axis=0),
        (([[0, 0], [1, 2], [1, 3]], [1, 2, 3], [2, 4]), ([], [], [1, 4])),
    ),
    "sparse.to_dense": (
        lambda f: f(a()),
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0]],
    ),
    "sparse.to_dense 2": (
        lambda f: f(ints(), default_value=-1),
        [[1, -1, -1, -1], [-1, -1, 2, 3], [-1, -1, -1, -1]],
    ),
    "sparse.to_dense 3": (
        lambda f: f(tf.SparseTensor([[0, 0]], ["a"], [1, 2]), default_value="z"),
        [[b"a", b"z"]],
    ),
    "sparse.to_dense 4": (lambda f: f(tf.SparseTensor([[0, 1]], [True], [1, 2])), [[False, True]]),
    "sparse.to_dense 5": (
        lambda f: f(tf.SparseTensor([[2], [0]], [1, 5], [3]), validate_indices=False),
        [5, 0, 1],
    ),
    "sparse.to_dense 6": (lambda f: f(empty()), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    "sparse.to_indicator": (
        lambda f: f(tf.SparseTensor([[0, 0], [1, 0]], [2, 4], [2, 3]), 6),
        [[False, False, True, False, False, False], [False, False, False, False, True, False]],
    ),
    "sparse.transpose": (lambda f: f(ints()), ([[0, 0], [2, 1], [3, 1]], [1, 2, 3], [4, 3])),
    "sparse.transpose 2": (
        lambda f: f(tf.sparse.expand_dims(ints(), 0), [2, 0, 1]),
        ([[0, 0, 0], [2, 0, 1], [3, 0, 1]], [1, 2, 3], [4, 1, 3]),
    ),
    "nn.embedding_lookup_sparse": (
        lambda f: f(tf.constant(TABLE), ids(), None),
        [[6.0, 7.0, 8.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]],
    ),
    "nn.embedding_lookup_sparse 2": (
        lambda f: f(tf.constant(TABLE), ids(), weights(), combiner="sqrtn"),
        [[9.486833, 10.75174, 12.01665], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]],
    ),
    "nn.embedding_lookup_sparse 3": (
        lambda f: f(tf.constant(TABLE), ids(), weights(), combiner="mean"),
        [[7.5, 8.5, 9.5], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]],
    ),
    "nn.embedding_lookup_sparse 4": (
        lambda f: f(tf.constant(TABLE), ids(), weights(), combiner="sum"),
        [[30.0, 34.0, 38.0], [0.0, 0.0, 0.0], [0.0, 2.0, 4.0]],
    ),
    "nn.safe_embedding_lookup_sparse": (
        lambda f: f(
            tf.constant(TABLE), tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, -1, 0], [4, 2])
        ),
        [[3.0, 4.0, 5.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 0.0, 0.0]],
    ),
    "nn.safe_embedding_lookup_sparse 2": (
        lambda f: f(
            tf.constant(TABLE),
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, -1, 0], [4, 2]),
            default_id=2,
            combiner="sum",
        ),
        [[3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [0.0, 1.0, 2.0], [6.0, 7.0, 8.0]],
    ),
    "nn.safe_embedding_lookup_sparse 3": (
        lambda f: f(
            tf.constant(TABLE),
            tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 1, 0]], [1, 2, 0], [2, 2, 2]),
            combiner="sum",
        ),
        [[[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]], [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]],
    ),
    "abs sparse": (
        lambda f: f(a((-1.0, 2.0, 3.0))),
        ([[0, 0], [1, 2], [1, 3]], [1.0, 2.0, 3.0], [3, 4]),
    ),
    "cast sparse": (
        lambda f: f(ints(), tf.float32),
        ([[0, 0], [1, 2], [1, 3]], [1.0, 2.0, 3.0], [3, 4]),
    ),
    "shape sparse": (lambda f: f(a()), [3, 4]),
    "sparse.mask": (lambda f: f(tf.IndexedSlices([1.0, 2.0], [3, 5], [9]), [3]).indices, [5]),
    "SparseTensorSpec": (
        lambda f: f([None, 3]).is_compatible_with(tf.SparseTensor([[0, 1]], [2.0], [1, 3])),
        True,
    ),
}

VALUES = {name: (call, Near(value)) for name, (call, value) in CALLS.items() if " " not in name}
