"""Decoding by connectionist temporal classification, and edit distances, beside TensorFlow's."""

import numpy as np
import pytest

import framework as tf

LOGITS = np.float32(np.random.default_rng(0).normal(size=(5, 2, 4)))


def dense(sparse):
    return tf.sparse.to_dense(sparse, -1).numpy().tolist()


def test_greedy_paths():  # TensorFlow's
    (decoded,), scores = tf.nn.ctc_greedy_decoder(LOGITS, [5, 4])
    assert dense(decoded) == [[2, 0, 1], [2, 1, -1]]
    assert decoded.dtype == tf.int64
    np.testing.assert_allclose(scores.numpy(), [[-3.168578], [-2.671867]], rtol=1e-5)
    (decoded,), _ = tf.nn.ctc_greedy_decoder(LOGITS, [5, 4], False, blank_index=0)
    assert dense(decoded) == [[2, 3, 3, 1], [2, 1, 1, 1]]


def test_most_likely_paths():  # TensorFlow's
    decoded, scores = tf.nn.ctc_beam_search_decoder(LOGITS, [5, 4], top_paths=2)
    assert [dense(d) for d in decoded] == [[[2, 0], [2, 1]], [[2, 0, 1], [1, -1, -1]]]
    np.testing.assert_allclose(
        scores.numpy(), [[-2.6803193, -2.7772124], [-1.4859186, -1.8960692]], rtol=1e-5
    )


def sequences(rows):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [x for row in rows for x in row]
    return tf.SparseTensor(
        np.reshape(indices, (-1, 2)), np.array(values), [len(rows), max(map(len, rows))]
    )


@pytest.mark.parametrize("seed", range(3))
def test_edit_distances(seed):
    rng = np.random.default_rng(seed)
    pairs = [[rng.integers(0, 3, rng.integers(0, 7)).tolist() for _ in range(8)] for _ in "ab"]

    def distance(a, b):
        if not a or not b:
            return len(a) + len(b)
        change = distance(a[1:], b[1:]) + (a[0] != b[0])
        return min(change, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)

    expected = [distance(a, b) for a, b in zip(*pairs, strict=True)]
    mine, true = map(sequences, pairs)
    assert tf.edit_distance(mine, true, normalize=False).numpy().tolist() == expected


def test_shares_of_the_true_length():
    mine = sequences([[1, 2], [], [1]])
    found = tf.edit_distance(mine, sequences([[1, 2, 3, 4], [], []]))
    assert found.numpy().tolist() == [0.5, 0.0, np.inf]


def test_bad_arguments():
    with pytest.raises(TypeError, match="expected two SparseTensors, got list"):
        tf.edit_distance([[1]], [[1]])
    with pytest.raises(ValueError, match=r"expected `inputs` \(time, batch, classes\)"):
        tf.nn.ctc_greedy_decoder([[1.0]], [1])
