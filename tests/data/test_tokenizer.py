"""Tokenizer and TimeseriesGenerator of older Keras programs."""

import math

import numpy as np
import pytest

import framework as tf
from framework.keras.preprocessing import sequence, text

TEXTS = ["The cat sat on the mat.", "The dog, the cat & the end!"]


def fitted(**options):
    made = text.Tokenizer(**options)
    made.fit_on_texts(TEXTS)
    return made


def test_numbers_follow_frequency_then_the_order_of_words():
    made = fitted()
    assert made.word_index == {"the": 1, "cat": 2, "sat": 3, "on": 4, "mat": 5, "dog": 6, "end": 7}
    assert made.index_word[6] == "dog"
    assert made.word_counts["the"] == 5
    assert dict(made.word_docs)["the"] == made.index_docs[1] == made.document_count == 2
    made.fit_on_texts(["dog dog dog"])
    assert made.word_index["dog"] == 2


@pytest.mark.parametrize(
    ("options", "numbers", "back"),
    [
        ({}, [1, 6, 4], "the dog on"),
        ({"num_words": 5}, [1, 4], "the on"),
        ({"oov_token": "?"}, [2, 7, 1, 5], "the dog ? on"),
        ({"oov_token": "?", "num_words": 4}, [2, 1, 1, 1], "the ? ? ?"),
    ],
)
def test_unknown_and_rare_words(options, numbers, back):
    made = fitted(**options)
    assert made.texts_to_sequences(["The dog ran on"]) == [numbers]
    assert made.sequences_to_texts([numbers]) == [back]


def test_characters_lists_and_analyzers():
    assert fitted(char_level=True, lower=False).word_index["t"] > 1
    assert fitted().texts_to_sequences([["THE", "cat"], ""]) == [[1, 2], []]
    made = text.Tokenizer(analyzer=lambda s: s.split("-"))
    made.fit_on_texts(["a-b-a"])
    assert made.texts_to_sequences(["b-a"]) == [[2, 1]]


def test_matrices():
    made = fitted(num_words=4)
    sequences = [[1, 1, 2], [], [3, 7]]
    rows = {
        "binary": [0, 1, 1, 0], "count": [0, 2, 1, 0], "freq": [0, 2 / 3, 1 / 3, 0],
        "tfidf": [0, (1 + math.log(2)) * math.log(1 + 2 / 3), math.log(1 + 2 / 3), 0],
    }  # fmt: skip
    for mode, row in rows.items():
        found = made.sequences_to_matrix(sequences, mode)
        assert found.shape == (3, 4)
        np.testing.assert_allclose(found[0], row)
        assert not found[1].any()
    np.testing.assert_array_equal(made.texts_to_matrix(["cat cat"], "count"), [[0, 0, 2, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="'freq' or 'tfidf', got 'sum'"):
        made.sequences_to_matrix(sequences, "sum")
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs num_words, or a call of"):
        text.Tokenizer().sequences_to_matrix(sequences)
    other = text.Tokenizer(num_words=4)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="'tfidf' needs a call of fit_on_texts"
    ):
        other.sequences_to_matrix(sequences, "tfidf")
    other.fit_on_sequences([[1, 1, 2], [1]])
    assert dict(other.index_docs) == {1: 2, 2: 1}
    assert other.document_count == 2


def test_json():
    made = fitted(oov_token="?", num_words=5)
    again = text.tokenizer_from_json(made.to_json())
    for name in ("word_index", "index_word", "word_counts", "word_docs", "index_docs", "num_words"):
        assert getattr(again, name) == getattr(made, name)
    np.testing.assert_array_equal(
        again.texts_to_matrix(TEXTS, "tfidf"), made.texts_to_matrix(TEXTS, "tfidf")
    )


def test_hashes_of_words():
    assert text.hashing_trick(TEXTS[0], 50, "md5") == [43, 32, 29, 3, 43, 29]
    assert text.hashing_trick("aa b", 7, len) == [3, 2]
    assert set(text.one_hot(TEXTS[0], 5)) <= {1, 2, 3, 4}
    assert text.text_to_word_sequence("A-b c", "-", lower=False) == ["A", "b", "c"]


@pytest.mark.parametrize(
    ("options", "count", "x", "y"),
    [
        ({"length": 3, "batch_size": 4}, 2, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]],
         [3, 4, 5, 6]),
        ({"length": 4, "sampling_rate": 2, "stride": 3}, 1, [[0, 2], [3, 5]], [4, 7]),
        ({"length": 2, "reverse": True, "start_index": 3, "end_index": 6}, 1,
         [[4, 3], [5, 4]], [5, 6]),
    ],
)  # fmt: skip
def test_windows_of_a_series(options, count, x, y):
    series = np.arange(8)
    made = sequence.TimeseriesGenerator(series, series, **options)
    assert len(made) == count
    assert made[0][0].tolist() == x
    assert made[0][1].tolist() == y


def test_windows_at_random_places_and_bad_lengths():
    series = np.arange(8)
    x, y = sequence.TimeseriesGenerator(series, series, 3, shuffle=True, batch_size=20)[0]
    assert x.shape == (20, 3)
    np.testing.assert_array_equal(x[:, -1] + 1, y)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no window of 8 rows"):
        sequence.TimeseriesGenerator(series, series, 8)
    with pytest.raises(tf.errors.InvalidArgumentError, match="targets: expected 8 rows"):
        sequence.TimeseriesGenerator(series, series[1:], 3)
