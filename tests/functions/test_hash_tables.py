"""tf.lookup: TensorFlow's values, files, plans, models, tables that change, mistakes."""

import numpy as np
import pytest

import framework as tf

lookup = tf.lookup
PAIRS = lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
LETTERS = ["a", "z", "q", "b"]
STATIC = {  # by TensorFlow
    "words": (lookup.StaticHashTable(PAIRS, -1), LETTERS, [0, -1, -1, 1]),
    "a matrix": (lookup.StaticHashTable(PAIRS, -1), [["a"], ["z"]], [[0], [-1]]),
    "a word": (lookup.StaticHashTable(PAIRS, -1), "b", 1),
    "buckets": (lookup.StaticVocabularyTable(PAIRS, 3), LETTERS, [0, 3, 4, 1]),
    "buckets alone": (lookup.StaticVocabularyTable(None, 4), LETTERS, [3, 1, 1, 2]),
    "buckets of integers": (
        lookup.StaticVocabularyTable(
            lookup.KeyValueTensorInitializer([10, 20], [0, 1], tf.int64, tf.int64), 3
        ), np.array([10, 7, 8, 9]), [0, 3, 3, 4],
    ),
    "strings of numbers": (
        lookup.StaticHashTable(lookup.KeyValueTensorInitializer([1, 2], ["x", "y"]), "-"),
        np.array([2, 3], np.int32), [b"y", b"-"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATIC)
def test_tables_that_do_not_change(name):
    table, keys, expected = STATIC[name]
    found = table.lookup(tf.constant(keys))
    assert found.dtype == table.value_dtype
    assert found.numpy().tolist() == expected
    assert table[tf.constant(keys)].numpy().tolist() == expected
    traced = tf.function(table.lookup)
    for _ in range(3):
        assert traced(tf.constant(keys)).numpy().tolist() == expected


def test_sizes_and_pairs():
    table = STATIC["words"][0]
    assert (int(table.size()), int(table.default_value), table.key_dtype) == (2, -1, tf.string)
    assert [x.numpy().tolist() for x in table.export()] == [[b"a", b"b"], [0, 1]]
    assert int(STATIC["buckets"][0].size()) == 5
    twice = lookup.KeyValueTensorInitializer(["a", "a"], [1, 1])
    assert int(lookup.StaticHashTable(twice, 0).size()) == 1


def test_text_files(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("apple 3\nbanana 5\ncherry 7\n")
    index = lookup.TextFileIndex

    def found(keys, key_index, value_index, **more):
        made = lookup.TextFileInitializer(
            path, tf.string, key_index, tf.int64, value_index, delimiter=" ", **more
        )
        return lookup.StaticHashTable(made, -1).lookup(tf.constant(keys)).numpy().tolist()

    assert found(["banana", "x"], 0, 1, vocab_size=3) == [5, -1]
    assert found(["banana 5", "x"], index.WHOLE_LINE, index.LINE_NUMBER) == [1, -1]
    assert found(["cherry"], 0, index.LINE_NUMBER, value_index_offset=10) == [12]
    for wrong in ((0, 2), (0, 0)):
        with pytest.raises(ValueError, match=r"words\.txt"):
            found(["a"], *wrong)
    with pytest.raises(ValueError, match="4 lines, got 3"):
        found(["a"], 0, 1, vocab_size=4)
    with pytest.raises(ValueError, match="cannot be read"):
        lookup.TextFileInitializer(tmp_path / "none", tf.string, 0, tf.int64, 1)


def test_a_model_and_a_dataset():
    table = STATIC["buckets"][0]
    given = tf.keras.Input((1,), dtype="string")
    model = tf.keras.Model(given, tf.keras.layers.Lambda(table.lookup)(given))
    words = tf.constant([[word] for word in LETTERS])
    assert model(words).numpy().tolist() == [[0], [3], [4], [1]]
    data = tf.data.Dataset.from_tensor_slices(LETTERS).map(table.lookup)
    assert [int(x) for x in data] == [0, 3, 4, 1]


@pytest.mark.parametrize("kind", ["MutableHashTable", "DenseHashTable"])
def test_tables_that_change(kind):
    marks = {"empty_key": "", "deleted_key": "-"} if kind == "DenseHashTable" else {}
    table = getattr(lookup.experimental, kind)(tf.string, tf.float32, [-1.0, -1.0], **marks)
    table.insert(["x", "y"], [[1.0, 2.0], [3.0, 4.0]])
    keys = tf.constant([["y"], ["n"]])
    assert table.lookup(keys).numpy().tolist() == [[[3.0, 4.0]], [[-1.0, -1.0]]]
    other = table.lookup(["n", "x"], dynamic_default_values=[[7.0, 8.0], [9.0, 9.0]])
    assert other.numpy().tolist() == [[7.0, 8.0], [1.0, 2.0]]
    assert int(table.size()) == 2
    table.remove(["x", "none"])
    keys, values = table.export()
    assert (keys.numpy().tolist(), values.numpy().tolist()) == ([b"y"], [[3.0, 4.0]])
    if marks:
        table.insert_or_assign(["y"], [[0.0, 0.0]])
        table.erase(["y"])
        assert int(table.size()) == 0
        with pytest.raises(ValueError, match="empty_key"):
            table.insert([""], [[0.0, 0.0]])


def test_a_function_sees_changes():
    table = lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)

    @tf.function
    def count(x):
        table.insert(x, table.lookup(x) + 1)
        return table.lookup(x)

    for n in range(1, 8):
        assert count(tf.constant([5], tf.int64)).numpy().tolist() == [n]


MISTAKES = {
    "another dtype": (lambda: STATIC["words"][0].lookup([1]), "keys of dtype"),
    "two values": (
        lambda: lookup.StaticHashTable(lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0),
        "different value",
    ),
    "two lengths": (lambda: lookup.KeyValueTensorInitializer(["a"], [1, 2]), "equal length"),
    "no buckets": (lambda: lookup.StaticVocabularyTable(PAIRS, 0), "oov_buckets"),
    "other indices": (
        lambda: lookup.StaticVocabularyTable(lookup.KeyValueTensorInitializer(["a"], [0.5]), 1),
        "int64",
    ),
    "shapes": (
        lambda: lookup.experimental.MutableHashTable(tf.string, tf.int64, 0).insert(["a"], [1, 2]),
        "values of shape",
    ),
    "equal marks": (
        lambda: lookup.experimental.DenseHashTable(tf.int64, tf.int64, 0, 1, 1), "different values"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, words = MISTAKES[name]
    with pytest.raises((ValueError, TypeError), match=words):
        call()
