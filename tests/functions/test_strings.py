"""tf.strings, tf.sets and tf.bitwise: TensorFlow's values, plans, models, datasets, mistakes."""

import numpy as np
import pytest

import framework as tf
from tests.surface.strings import CALLS, plain

strings = tf.strings


def named(key):
    home, name = key.split(" ")[0].split(".")
    return getattr(getattr(tf, home), name)


@pytest.mark.parametrize("key", CALLS)
def test_values_of_tensorflow(key):
    call, expected = CALLS[key]
    assert plain(call(named(key))) == expected


@pytest.mark.parametrize("key", [k for k in CALLS if "tf.s" not in k and " " not in k])
def test_plans(key):
    """The same in a function that is traced, also when a plan runs."""
    call, expected = CALLS[key]
    function = named(key)
    traced = tf.function(lambda: call(function))
    for _ in range(4):
        assert plain(traced()) == expected


def test_words_of_a_dataset():
    data = tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(strings.split)
    assert [words.numpy().tolist() for words in data] == [[b"a", b"b"], [b"c"]]
    data = tf.data.Dataset.from_tensor_slices(["a b", "c"]).batch(2)
    found = [strings.split(x).to_tensor().numpy().tolist() for x in data]
    assert found == [[[b"a", b"b"], [b"c", b""]]]


def test_plans_follow_new_strings():
    @tf.function
    def numbers(x):
        return strings.to_number(strings.substr(strings.lower(x), 1, 2))

    for texts in (["A12", "b34"], ["C56", "d78"], ["E90", "f11"], ["g22", "h33"]):
        np.testing.assert_array_equal(numbers(tf.constant(texts)), [int(t[1:]) for t in texts])


def test_rows_of_different_lengths():
    rows = strings.split([["a b", "c"], ["", "d"]])
    assert rows.to_list() == [[[b"a", b"b"], [b"c"]], [[], [b"d"]]]
    assert rows.dtype == "string"
    assert rows.flat_values.numpy().tolist() == [b"a", b"b", b"c", b"d"]
    assert [s.numpy().tolist() for s in rows.nested_row_splits] == [[0, 2, 4], [0, 2, 3, 3, 4]]
    assert rows.values.row_lengths().numpy().tolist() == [2, 1, 0, 1]
    assert rows.to_tensor("-").numpy().tolist() == [
        [[b"a", b"b"], [b"c", b"-"]], [[b"-", b"-"], [b"d", b"-"]],
    ]  # fmt: skip
    points = strings.unicode_decode(["né", ""], "UTF-8")
    np.testing.assert_array_equal(points.to_tensor(), [[110, 233], [0, 0]])
    assert strings.unicode_encode(points, "UTF-8").numpy().tolist() == ["né".encode(), b""]
    nested = strings.unicode_encode(strings.unicode_decode([["a"], ["b"]], "UTF-8"), "UTF-8")
    assert nested.to_list() == [[b"a"], [b"b"]]


def test_wrong_bytes():
    wrong = [b"a\xffb"]
    with pytest.raises(ValueError, match="Invalid formatting"):
        strings.unicode_decode(wrong, "UTF-8", errors="strict")
    with pytest.raises(ValueError, match="out of range"):
        strings.unicode_encode([0x110000], "UTF-8", errors="strict")
    replaced = strings.unicode_transcode(wrong, "UTF-8", "UTF-8", replacement_char=63)
    assert replaced.numpy().tolist() == [b"a?b"]
    assert strings.regex_replace(wrong, "a", "c").numpy().tolist() == [b"c\xffb"]


def test_sets_of_sets():
    first = tf.sets.union([[1, 2], [3, 4]], [[2, 5], [4, 3]])
    assert first.shape == (2, 3)
    assert first.dtype == "int32"
    again = tf.sets.intersection(first, [[5, 1], [4, 9]])
    assert plain(again)[1] == [1, 5, 4]
    empty = tf.sets.intersection([[1]], [[2]])
    assert plain(empty) == ([], [], [1, 0])
    assert tf.sets.size(empty).numpy().tolist() == [0]
    with pytest.raises(ValueError, match="empty set"):
        tf.sets.union(tf.sets.difference([[1], [2]], [[1], [3]]), [[1], [2]])


MISTAKES = {
    "numbers": (lambda: strings.lower([1]), "expected strings"),
    "a unit": (lambda: strings.length("a", "CHAR"), "`unit`"),
    "a position": (lambda: strings.substr("ab", 3, 1), "out of range"),
    "an encoding": (lambda: strings.lower("a", "latin-1"), "`encoding`"),
    "no number": (lambda: strings.to_number("1x"), "could not correctly convert"),
    "a large number": (lambda: strings.to_number("3000000000", tf.int32), "could not"),
    "a type": (lambda: strings.to_number("1", tf.int8), "`out_type`"),
    "digits of ints": (lambda: strings.as_string([1], precision=2), "floats"),
    "two forms": (lambda: strings.as_string([1.0], scientific=True, shortest=True), "exclude"),
    "a fill": (lambda: strings.as_string([1.0], fill="*"), "`fill`"),
    "a pattern": (lambda: strings.regex_replace("a", "(", ""), "`pattern`"),
    "a group": (lambda: strings.regex_replace("a", "(a)", r"\2"), "`rewrite`"),
    "buckets": (lambda: strings.to_hash_bucket_fast("a", 0), "num_buckets"),
    "a key": (lambda: strings.to_hash_bucket_strong("a", 3, [1]), "two ints"),
    "no strings": (lambda: strings.join([]), "at least one"),
    "shapes": (lambda: strings.join([["a"], ["b", "c"]]), "the same shape"),
    "places": (lambda: strings.format("{} {}", [1]), "one input for each"),
    "a segment": (lambda: strings.unsorted_segment_join(["a"], [3], 3), "from 0 to 2"),
    "a width": (lambda: strings.ngrams(["a"], 0), "ngram_width"),
    "a rank": (lambda: strings.ngrams("a", 1), "rank 1 or 2"),
    "rows to join": (
        lambda: strings.join([tf.ragged.constant([["a"], []]), tf.ragged.constant([["b", "c"]])]),
        "equal lengths",
    ),
    "scripts of strings": (lambda: strings.unicode_script("a"), "expected ints"),
    "a codec": (lambda: strings.unicode_decode("a", "none"), "unknown encoding"),
    "an output": (lambda: strings.unicode_encode([1], "latin-1"), "`output_encoding`"),
    "errors": (lambda: strings.unicode_decode("a", "UTF-8", errors="skip"), "`errors`"),
    "floats as code points": (lambda: strings.unicode_encode([1.0], "UTF-8"), "expected ints"),
    "sets of floats": (lambda: tf.sets.union([[1.0]], [[2.0]]), "integers or strings"),
    "rows of sets": (lambda: tf.sets.union([[1]], [[2], [3]]), "shapes"),
    "the size of a tensor": (lambda: tf.sets.size([[1]]), "sparse"),
    "bits of floats": (lambda: tf.bitwise.invert([1.0]), "integers"),
    "bits of a float": (lambda: tf.bitwise.left_shift([1.0], [1.0]), "integers"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, words = MISTAKES[name]
    with pytest.raises((ValueError, TypeError), match=words):
        call()
