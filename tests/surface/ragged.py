"""Functions of ragged tensors: calls of every function, and what TensorFlow gives for them."""

import framework as tf
from tests.surface.strings import Equal


def rows():
    return tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])


CALLS = {
    "RaggedTensor": (lambda f: f.from_row_splits([1, 2, 3], [0, 2, 2, 3]), [[1, 2], [], [3]]),
    "RaggedTensorSpec": (
        lambda f: tf.function(
            lambda x: tf.reverse(x, [1]), input_signature=[f([5, None], tf.int32)]
        )(rows()), [[1, 4, 1, 3], [], [2, 9, 5], [6], []],
    ),
    "ragged.boolean_mask": (
        lambda f: f(rows(), rows() > 3), [[4], [], [5, 9], [6], []],
    ),
    "ragged.constant": (lambda f: f([["Hi"], ["How", "you"]]), [[b"Hi"], [b"How", b"you"]]),
    "ragged.constant 2": (
        lambda f: f([[[1, 2]], [], [[3, 4]]], ragged_rank=1), [[[1, 2]], [], [[3, 4]]],
    ),
    "ragged.constant 3": (lambda f: f([[[1], [2, 3]], []]), [[[1], [2, 3]], []]),
    "ragged.map_flat_values": (
        lambda f: f(tf.add, rows(), 1), [[4, 2, 5, 2], [], [6, 10, 3], [7], []],
    ),
    "ragged.range": (lambda f: f([3, 0, 2]), [[0, 1, 2], [], [0, 1]]),
    "ragged.range 2": (lambda f: f([0, 3], [5, 6], 2), [[0, 2, 4], [3, 5]]),
    "ragged.row_splits_to_segment_ids": (
        lambda f: f([0, 3, 3, 5, 6, 9]), [0, 0, 0, 2, 2, 3, 4, 4, 4],
    ),
    "ragged.segment_ids_to_row_splits": (
        lambda f: f([0, 0, 0, 2, 2, 3, 4, 4, 4]), [0, 3, 3, 5, 6, 9],
    ),
    "ragged.stack": (lambda f: f([[1, 2], [3]]), [[1, 2], [3]]),
    "ragged.stack 2": (
        lambda f: f([tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4, 5, 6]])]),
        [[[1], [2, 3]], [[4, 5, 6]]],
    ),
}  # fmt: skip

VALUES = {name: (call, Equal(value)) for name, (call, value) in CALLS.items() if " " not in name}
