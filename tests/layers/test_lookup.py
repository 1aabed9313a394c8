"""Layers of classes, words and texts: values of real Keras, vocabularies, models, errors."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.symbolic import KerasTensor

layers = keras.layers
NUMBERS = np.array([[12, 36, 7], [42, 36, 36]])
WORDS = {"vocabulary": [12, 36, 42]}
TOKENS = {"vocabulary": ["cat", "sat"]}
ROWS = [[0, 1, 1], [2, 3, 0]]
LETTERS = [["A"], ["B"], ["C"], ["D"], ["E"]]
BINS = {"bin_boundaries": [0.0, 1.0]}
FLOATS = np.array([[-1.5, 0.0, 1.0], [3.4, 0.5, 0.2]])


def vectors(*rows):
    return np.eye(4)[list(rows)]


CASES = {  # the layer, its arguments, inputs, what real Keras makes of them
    "integers": ("IntegerLookup", WORDS, NUMBERS, [[1, 2, 0], [3, 2, 2]]),
    "one hot": ("IntegerLookup", {**WORDS, "output_mode": "one_hot"}, NUMBERS,
                [vectors(1, 2, 0), vectors(3, 2, 2)]),
    "multi hot": ("IntegerLookup", {**WORDS, "output_mode": "multi_hot"}, NUMBERS,
                  [[1, 1, 1, 0], [0, 0, 1, 1]]),
    "count": ("IntegerLookup", {**WORDS, "output_mode": "count"}, NUMBERS,
              [[1, 1, 1, 0], [0, 0, 2, 1]]),
    "tf-idf": ("IntegerLookup",
               {**WORDS, "output_mode": "tf_idf", "idf_weights": [0.5, 0.25, 1.0]}, NUMBERS,
               [[0.58333331, 0.5, 0.25, 0.0], [0.0, 0.0, 0.5, 1.0]]),
    "masked": ("IntegerLookup", {**WORDS, "mask_token": 0}, [[0, 12, 5]], [[0, 2, 1]]),
    "masked multi hot": ("IntegerLookup", {**WORDS, "mask_token": 0, "output_mode": "multi_hot"},
                         [[0, 12, 5]], [[1, 1, 0, 0]]),
    "two unknown": ("IntegerLookup", {**WORDS, "num_oov_indices": 2}, [[3, 12, 4]], [[1, 2, 0]]),
    "inverted": ("IntegerLookup", {**WORDS, "invert": True}, [[0, 1, 3, 9]], [[-1, 12, 42, -1]]),
    "padded": ("IntegerLookup", {"vocabulary": [12, 36], "max_tokens": 5, "pad_to_max_tokens": True,
                                 "output_mode": "count"}, NUMBERS,
               [[1, 1, 1, 0, 0], [1, 0, 2, 0, 0]]),
    "strings": ("StringLookup", {"vocabulary": ["a", "b"]}, [["a", "c"], ["b", "b"]],
                [[1, 0], [2, 2]]),
    "strings of an array": ("StringLookup", {"vocabulary": ["a", "b"]}, np.array(["a", "z"]),
                            [1, 0]),
    "strings multi hot": ("StringLookup", {"vocabulary": ["a", "b"], "output_mode": "multi_hot"},
                          [["a", "c"], ["b", "b"]], [[1, 1, 0], [0, 0, 1]]),
    "texts": ("TextVectorization", {**TOKENS, "output_sequence_length": 4},
              [["Cat sat!"], ["x cat cat sat sat"]], [[2, 3, 0, 0], [1, 2, 2, 3]]),
    "texts multi hot": ("TextVectorization", {**TOKENS, "output_mode": "multi_hot"},
                        [["Cat sat!"], ["x cat cat sat sat"]], [[0, 1, 1], [1, 1, 1]]),
    "texts count": ("TextVectorization", {**TOKENS, "output_mode": "count"},
                    ["Cat sat!", "x cat cat sat sat"], [[0, 1, 1], [1, 2, 2]]),
    "groups": ("TextVectorization", {"vocabulary": ["cat", "cat sat"], "ngrams": 2},
               ["Cat sat!", "x cat cat sat sat"],
               [[2, 1, 3, 0, 0, 0, 0, 0, 0], [1, 2, 2, 1, 1, 1, 1, 3, 1]]),
    "characters": ("TextVectorization",
                   {"vocabulary": ["c", "a"], "split": "character", "standardize": "lower"},
                   ["Cat", "a b"], [[2, 3, 1], [3, 1, 1]]),
    "texts tf-idf": ("TextVectorization", {"vocabulary": ["c", "a"], "output_mode": "tf_idf",
                                           "idf_weights": [1.0, 2.0]},
                     ["c a a z"], [[1.5, 1.0, 4.0]]),
    "one text": ("TextVectorization", {"vocabulary": ["c", "a"]}, "c a a z", [2, 3, 3, 1]),
    "split before": ("TextVectorization",
                     {"vocabulary": ["c", "a"], "split": None, "standardize": None},
                     [["c", "z"]], [[2, 1]]),
    "unknown hashed": (
        "StringLookup",
        {"vocabulary": ["a"], "num_oov_indices": 3},
        ["a", "q", "r", "s", "tt"],
        [3, 2, 1, 1, 0],
    ),
    "unknown salted": (
        "StringLookup",
        {"vocabulary": ["a"], "num_oov_indices": 3, "salt": 5},
        ["a", "q", "r", "s", "tt"],
        [3, 1, 1, 0, 1],
    ),
    "unknown integers hashed": (
        "IntegerLookup",
        {"vocabulary": [1], "num_oov_indices": 3, "oov_method": "farmhash"},
        np.array([1, 4, 5, 6]),
        [3, 2, 1, 2],
    ),
    "unknown integers salted": (
        "IntegerLookup",
        {"vocabulary": [1], "num_oov_indices": 3, "oov_method": "farmhash", "salt": [1, 2]},
        np.array([1, 4, 5, 6]),
        [3, 2, 0, 0],
    ),
    "hashed": ("Hashing", {"num_bins": 3}, LETTERS, [[1], [0], [1], [1], [2]]),
    "hashed and masked": (
        "Hashing",
        {"num_bins": 3, "mask_value": ""},
        [["A"], ["B"], [""], ["C"]],
        [[1], [1], [0], [2]],
    ),
    "salted": ("Hashing", {"num_bins": 3, "salt": 133}, LETTERS, [[0], [0], [2], [1], [0]]),
    "salted twice": (
        "Hashing",
        {"num_bins": 3, "salt": [133, 137]},
        LETTERS,
        [[1], [2], [1], [0], [2]],
    ),
    "integers hashed": ("Hashing", {"num_bins": 5}, np.array([[1, 2, 300]]), [[4, 4, 0]]),
    "floats hashed": ("Hashing", {"num_bins": 5}, np.array([1.7, -2.2]), [4, 0]),
    "hashed one hot": (
        "Hashing",
        {"num_bins": 3, "output_mode": "one_hot"},
        LETTERS,
        np.eye(3)[[1, 0, 1, 1, 2]],
    ),
    "hashed and counted": (
        "Hashing",
        {"num_bins": 3, "output_mode": "count"},
        [["A", "B", "A"]],
        [[1, 2, 0]],
    ),
    "ranges": ("Discretization", {"bin_boundaries": [0.0, 1.0, 2.0]},
               np.array([[-1.5, 0.0, 1.0, 3.4, 0.5]]), [[0, 1, 2, 3, 1]]),
    "ranges one hot": ("Discretization", {**BINS, "output_mode": "one_hot"}, FLOATS,
                       [np.eye(3)[[0, 1, 2]], np.eye(3)[[2, 1, 1]]]),
    "ranges count": ("Discretization", {**BINS, "output_mode": "count"}, FLOATS,
                     [[1, 1, 1], [0, 2, 1]]),
    "classes one hot": ("CategoryEncoding", {"num_tokens": 4, "output_mode": "one_hot"},
                        np.array(ROWS), [vectors(0, 1, 1), vectors(2, 3, 0)]),
    "classes in a column": ("CategoryEncoding", {"num_tokens": 4, "output_mode": "one_hot"},
                            np.array([[1], [2]]), vectors(1, 2)),
    "one class": ("CategoryEncoding", {"num_tokens": 4, "output_mode": "one_hot"}, 2, vectors(2)),
    "classes multi hot": ("CategoryEncoding", {"num_tokens": 4}, np.array(ROWS),
                          [[1, 1, 0, 0], [1, 0, 1, 1]]),
    "one row": ("CategoryEncoding", {"num_tokens": 4}, np.array([3, 0, 1]), [1, 1, 0, 1]),
    "three axes": ("CategoryEncoding", {"num_tokens": 4}, np.array([[[0, 1], [2, 2]]]),
                   [[[1, 0, 1, 0], [0, 1, 1, 0]]]),
    "classes count": ("CategoryEncoding", {"num_tokens": 4, "output_mode": "count"},
                      np.array(ROWS), [[1, 2, 0, 0], [1, 0, 1, 1]]),
    "class outside": ("CategoryEncoding", {"num_tokens": 4}, np.array([[0, 7]]), [[1, 0, 0, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_of_keras(name):
    kind, arguments, inputs, expected = CASES[name]
    layer = getattr(layers, kind)(**arguments)
    np.testing.assert_allclose(layer(inputs), np.asarray(expected), rtol=1e-6)
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    np.testing.assert_array_equal(again(inputs), layer(inputs))


@pytest.mark.parametrize("name", [n for n in CASES if "one " not in n])
def test_symbolic_calls(name):
    kind, arguments, inputs, expected = CASES[name]
    x = tf.constant(inputs)
    symbolic = getattr(layers, kind)(**arguments)(KerasTensor((None, *x.shape[1:]), x.dtype))
    shape = np.shape(expected)
    assert all(m in (None, n) for m, n in zip(symbolic.shape, shape, strict=True))
    assert symbolic.dtype == getattr(layers, kind)(**arguments)(x).dtype


def test_counts_with_weights():
    layer = layers.CategoryEncoding(4, output_mode="count")
    found = layer(np.array([[0, 1, 1]]), count_weights=np.array([[0.5, 1.0, 2.0]]))
    np.testing.assert_array_equal(found, [[0.5, 3.0, 0.0, 0.0]])


def test_strings_come_back():
    layer = layers.StringLookup(vocabulary=["a", "é"], invert=True)
    found = layer(np.array([[0, 1, 2, 5]])).numpy().tolist()
    assert [[w.decode() for w in row] for row in found] == [["[UNK]", "a", "é", "[UNK]"]]


# ---- crossing ------------------------------------------------------------------------------------

CODES = np.array([101, 102, 101, -5, 2**31 - 1])
NAMES = ["A", "B", "A", "", "long string of words"]
CROSSES = {  # Keras's buckets on TensorFlow
    "strings and integers": (5, (NAMES, CODES), [1, 1, 1, 0, 3]),
    "columns": (1000, (np.array(NAMES)[:, None], CODES[:, None].astype(np.int32)),
                [[891], [576], [891], [885], [453]]),
    "three": (97, (CODES, CODES, NAMES), [64, 13, 64, 59, 66]),
    "single values": (1000, ("A", 101), 891),
}  # fmt: skip


@pytest.mark.parametrize("name", CROSSES)
def test_crosses_of_keras(name):
    bins, inputs, expected = CROSSES[name]
    layer = layers.HashedCrossing(bins)
    found = layer(inputs)
    assert found.dtype == "int64"
    np.testing.assert_array_equal(found, expected)
    one_hot = layers.HashedCrossing(bins, output_mode="one_hot")(inputs).numpy()
    flat = np.reshape(expected, -1 if np.ndim(expected) else ())
    assert one_hot.dtype == "float32"
    np.testing.assert_array_equal(one_hot.reshape(*flat.shape, bins), np.eye(bins)[flat])
    config = {"num_bins": bins, "output_mode": "int", "sparse": False, "name": layer.name,
              "dtype": "int64"}  # fmt: skip
    assert layer.get_config() == config
    again = layers.HashedCrossing.from_config(config)
    np.testing.assert_array_equal(tf.function(again)([tf.constant(x) for x in inputs]), found)


def test_crosses_in_a_model():
    given = [tf.keras.Input((1,), dtype="string"), tf.keras.Input((1,), dtype="int64")]
    crossed = layers.HashedCrossing(50, output_mode="one_hot")(given)
    assert tuple(crossed.shape) == (None, 50)
    model = tf.keras.Model(given, crossed)
    inputs = [tf.constant(np.array(NAMES)[:, None]), tf.constant(CODES[:, None])]
    expected = layers.HashedCrossing(50, output_mode="one_hot")(inputs)
    np.testing.assert_array_equal(model(inputs), expected)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (CODES, "at least two inputs"),
        ([CODES], "at least two inputs"),
        ([CODES, CODES[:2]], "equal shape"),
        ([np.ones((2, 3), int)] * 2, "equal shape"),
        ([CODES, CODES * 1.0], "integer or string"),
    ],
)
def test_crosses_refuse(inputs, words):
    with pytest.raises(ValueError, match=words):
        layers.HashedCrossing(5)(inputs)
    with pytest.raises(ValueError, match="num_bins"):
        layers.HashedCrossing(0)


# ---- adapting ------------------------------------------------------------------------------------


def test_vocabularies_have_the_frequent_first():
    layer = layers.IntegerLookup()
    layer.adapt(np.array([[5, 5, 3], [3, 5, 9]]))
    assert layer.get_vocabulary() == [-1, 5, 3, 9]
    assert layer.vocabulary_size() == 4
    np.testing.assert_array_equal(layer(np.array([[9, 3, 5, 1]])), [[3, 2, 1, 0]])
    layer.adapt(np.array([7, 8, 8]))  # anew
    assert layer.get_vocabulary(include_special_tokens=False) == [8, 7]
    np.testing.assert_array_equal(layer(np.array([7, 9])), [2, 0])
    layer = layers.IntegerLookup(max_tokens=3, mask_token=0)
    layer.adapt(np.array([[5, 5, 3], [3, 0, 9]]))
    assert layer.get_vocabulary() == [0, -1, 5]
    layer = layers.StringLookup(mask_token="")
    layer.adapt(["b", "a", "a", "c", ""])
    assert layer.get_vocabulary() == ["", "[UNK]", "a", "c", "b"]


def test_weights_of_documents():
    layer = layers.IntegerLookup(output_mode="tf_idf")
    layer.adapt(np.array([[5, 5, 3], [3, 5, 9]]))
    expected = [[0.57159948, 0.510825634, 0.510825634, 0.69314718]]
    np.testing.assert_allclose(layer(np.array([[9, 3, 5, 1]])), expected, rtol=1e-6)
    layer = layers.TextVectorization(output_mode="tf_idf")
    layer.adapt(["a b b", "b c", "b"])
    assert layer.get_vocabulary() == ["[UNK]", "b", "c", "a"]
    expected = [[0.7973991, 1.11923158, 0.0, 0.91629076]]
    np.testing.assert_allclose(layer(["a b b q"]), expected, rtol=1e-6)


def test_texts_in_batches():
    whole = layers.TextVectorization()
    whole.adapt(["The cat, sat.", "a cat  ran"])
    assert whole.get_vocabulary() == ["", "[UNK]", "cat", "the", "sat", "ran", "a"]
    np.testing.assert_array_equal(whole(["the cat sat", "dog"]), [[3, 2, 4], [1, 0, 0]])
    parts = layers.TextVectorization()
    parts.adapt(iter([["The cat, sat."], ["a cat  ran"], ["not this"]]), steps=2)
    assert parts.get_vocabulary() == whole.get_vocabulary()
    data = tf.data.Dataset.from_tensor_slices(np.array(["The cat, sat.", "a cat  ran"])).batch(1)
    parts.adapt(data)
    assert parts.get_vocabulary() == whole.get_vocabulary()


def test_ranges_with_equal_shares():
    layer = layers.Discretization(num_bins=4, epsilon=0.01)
    layer.adapt(np.arange(100.0) ** 1.5)
    np.testing.assert_allclose(layer.bin_boundaries, [117.575378, 342.999817, 636.571899])
    again = layers.Discretization.from_config(layer.get_config())
    assert again.bin_boundaries == layer.bin_boundaries
    layer = layers.Discretization(num_bins=3)
    layer.adapt(np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]]))
    np.testing.assert_allclose(layer.bin_boundaries, [0.0, 1.1])


def test_functions_for_standard_and_split():
    layer = layers.TextVectorization(
        standardize=lambda x: np.char.replace(x, "-", " "),
        split=lambda x: [s.split(" ") for s in x.tolist()], vocabulary=["a", "b"],
    )  # fmt: skip
    np.testing.assert_array_equal(layer(["a-b", "c"]), [[2, 3], [1, 0]])


def test_vocabularies_in_files(tmp_path):
    (tmp_path / "words.txt").write_text("cat\nsat\n", encoding="utf-8")
    layer = layers.TextVectorization(vocabulary=str(tmp_path / "words.txt"))
    assert layer.get_vocabulary() == ["", "[UNK]", "cat", "sat"]
    assert layer.get_config()["vocabulary"] is None
    layer.save_assets(tmp_path)
    again = layers.TextVectorization.from_config(layer.get_config())
    again.load_assets(tmp_path)
    assert again.get_vocabulary() == layer.get_vocabulary()


def test_a_model_on_texts_trains():
    words = layers.TextVectorization(output_sequence_length=3)
    texts = np.array([["a b"], ["b c"], ["c"], ["a a b"]])
    words.adapt(texts)
    inputs = keras.Input((1,), dtype="string")
    hidden = layers.Embedding(words.vocabulary_size(), 4, mask_zero=True)(words(inputs))
    model = keras.Model(inputs, layers.Dense(1)(layers.GlobalAveragePooling1D()(hidden)))
    ranges = layers.Discretization([0.5])
    numbers = keras.Sequential([ranges, layers.CategoryEncoding(2, "one_hot"), layers.Dense(1)])
    for net, x in ((model, texts), (numbers, np.array([[0.1], [0.7], [0.2], [0.9]]))):
        net.compile("sgd", "mse")
        losses = net.fit(x, np.array([[0.0], [1.0], [0.0], [1.0]]), epochs=4, verbose=0)
        assert losses.history["loss"][-1] < losses.history["loss"][0]


# ---- mistakes ------------------------------------------------------------------------------------

MISTAKES = {
    "num_tokens must be set": lambda: layers.CategoryEncoding(),
    "num_tokens=0": lambda: layers.CategoryEncoding(0),
    "`count_weights` is not used": lambda: layers.CategoryEncoding(3)(NUMBERS, count_weights=[1.0]),
    "`sparse` may only be true": lambda: layers.IntegerLookup(vocabulary=[1], sparse=True),
    "expected num_bins": lambda: layers.Discretization(),
    "call `adapt.dataset.`": lambda: layers.Discretization(num_bins=3)(FLOATS),
    "Cannot adapt a Discretization": lambda: layers.Discretization([0.0]).adapt(FLOATS),
    "found OOV values .7.": lambda: layers.IntegerLookup(**WORDS, num_oov_indices=0)(NUMBERS),
    "expected max_tokens > 1": lambda: layers.IntegerLookup(max_tokens=1),
    "needs max_tokens": lambda: layers.IntegerLookup(pad_to_max_tokens=True),
    "with invert=True, expected output_mode='int'": lambda: layers.IntegerLookup(
        **WORDS, invert=True, output_mode="count"
    ),
    "a vocabulary needs its idf_weights": lambda: layers.IntegerLookup(
        **WORDS, output_mode="tf_idf"
    ),
    "same length as vocabulary": lambda: layers.IntegerLookup(
        **WORDS, output_mode="tf_idf", idf_weights=[1.0]
    ),
    "empty vocabulary": lambda: layers.IntegerLookup(vocabulary=[]),
    "repeated terms are: .1.": lambda: layers.IntegerLookup(vocabulary=[1, 2, 1]),
    "reserved mask token": lambda: layers.IntegerLookup(vocabulary=[1, 2], mask_token=2),
    "larger than the maximum": lambda: layers.IntegerLookup(**WORDS, max_tokens=2),
    "static vocabulary": lambda: layers.IntegerLookup(**WORDS).adapt(NUMBERS),
    "set the layer's vocabulary": lambda: layers.IntegerLookup(output_mode="count")(NUMBERS),
    "expected strings": lambda: layers.StringLookup(vocabulary=["a"])(NUMBERS),
    "salt needs oov_method": lambda: layers.IntegerLookup(salt=1),
    "argument salt=.1, 2, 3.": lambda: layers.Hashing(3, salt=(1, 2, 3)),
    "num_bins=0": lambda: layers.Hashing(0),
    "an integer type": lambda: layers.Hashing(3, dtype="float32"),
    "ragged=True is not supported": lambda: layers.TextVectorization(ragged=True),
    "expected one of .'whitespace'": lambda: layers.TextVectorization(split="x"),
    "last shape dimension must be 1": lambda: layers.TextVectorization(**TOKENS)([["a", "b"]]),
    "must not be set if": lambda: layers.TextVectorization(
        output_mode="count", output_sequence_length=3
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_have_one_clear_error(message):
    with pytest.raises((ValueError, TypeError), match=message):
        MISTAKES[message]()


# ---- texts, however they come --------------------------------------------------------------------


class Column:
    """A value that converts to an array of objects, like a data frame column."""

    def __init__(self, values):
        self._values = np.array(values, object)

    def __array__(self, dtype=None, copy=None):
        return self._values

    def __iter__(self):
        return iter(self._values)


TEXTS = {
    "objects": lambda words: np.array(words, object),
    "objects of bytes": lambda words: np.array([w.encode() for w in words], object),
    "array": np.array,
    "tensor": tf.constant,
    "column": Column,
}


@pytest.mark.parametrize("form", TEXTS)
def test_texts_in_every_form_are_found(form):
    """As in real Keras; an array of `str` objects once gave 0 for every word."""
    made, column = TEXTS[form], lambda values: np.reshape(np.asarray(values, object), (-1, 1))
    lookup = layers.StringLookup(vocabulary=["a", "é"])
    assert lookup(made(["a", "é", "z"])).numpy().tolist() == [1, 2, 0]
    texts = layers.TextVectorization(vocabulary=["a", "é"], output_sequence_length=3)
    sentences = made(["a É", "é x"])
    found = texts(sentences).numpy().tolist()
    assert found == [[2, 1, 0], [3, 1, 0]]  # bytes: É has no small form, as with TensorFlow's lower
    adapted = layers.StringLookup()
    adapted.adapt(made(["é", "a", "é"]))
    assert adapted.get_vocabulary() == ["[UNK]", "é", "a"]
    inputs = keras.Input((1,), dtype="string")
    model = keras.Model(inputs, lookup(inputs))
    data = made(["a", "é", "z"])
    rows = tf.constant(column(data.numpy() if form == "tensor" else data))
    for run in (model, model.predict, model.predict_on_batch):
        assert np.asarray(run(rows)).tolist() == [[1], [2], [0]]
    assert np.asarray(model.predict(rows.numpy(), verbose=0)).tolist() == [[1], [2], [0]]


def test_a_model_of_texts_trains_on_arrays_of_objects():
    texts = layers.TextVectorization(vocabulary=["good", "bad"], output_sequence_length=2)
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [keras.Input((1,), dtype="string"), texts, layers.Embedding(4, 1),
         layers.GlobalAveragePooling1D(), layers.Dense(1)]
    )  # fmt: skip
    model.compile(keras.optimizers.Adam(0.1), "mse")
    x, y = np.array([["good"], ["bad"]] * 4, object), np.array([[1.0], [-1.0]] * 4)
    for data in (
        (x, y),
        (tf.constant(x), y),
        (tf.data.Dataset.from_tensor_slices((x, y)).batch(4),),
    ):
        model.fit(*data, epochs=40, verbose=0)
    assert model.evaluate(x, y, verbose=0) < 0.01
    assert model.predict(np.array([["good"], ["bad"]], object), verbose=0)[
        :, 0
    ].round() == pytest.approx([1, -1])


def test_adapt_sees_whole_sentences():
    """As in real Keras, `output_sequence_length` limits the outputs, not the counted words."""
    layer = layers.TextVectorization(max_tokens=4, output_sequence_length=2)
    layer.adapt(["The cat sat", "the dog. THE cat!"])
    assert layer.get_vocabulary() == ["", "[UNK]", "the", "cat"]
    assert layer(["the cat sat", "dog"]).numpy().tolist() == [[2, 3], [1, 0]]


def test_sentences_that_are_not_split():
    layer = layers.TextVectorization(split=None, vocabulary=["a b"])
    assert layer(["A b", "c"]).numpy().tolist() == [2, 1]
    assert layer([["A b", "c"]]).numpy().tolist() == [[2, 1]]
    assert layer(KerasTensor((None,), "string")).shape == (None,)


@pytest.mark.parametrize("given", [[[1.0, 3.0]], [1, 3], 3.0, [np.array([1.0, 3.0])]])
def test_lists_of_numbers_where_data_are_prepared(given):
    """As in real Keras, whose other layers raise an error."""
    normalized = layers.Normalization(axis=None)
    normalized.adapt(np.array([1.0, 3.0]))
    np.testing.assert_allclose(normalized(given), np.array(given) - 2)
    np.testing.assert_allclose(layers.Rescaling(0.5)(given), np.array(given) / 2)
    bins = layers.Discretization([2.0])(given)
    np.testing.assert_array_equal(bins, np.array(given) > 2)
    assert bins.dtype == "int32"


def test_columns_are_adapted_to_as_a_whole():
    numbers = [4.0, 1.0, 3.0, 2.0]
    by_column, by_array = (layers.Normalization(axis=None) for _ in range(2))
    by_column.adapt(Numbers(numbers))
    by_array.adapt(np.array(numbers))
    np.testing.assert_array_equal(by_column(numbers), by_array(numbers))
    by_column, by_array = (layers.Discretization(num_bins=2, epsilon=0.5) for _ in range(2))
    by_column.adapt(Numbers(numbers))
    by_array.adapt(np.array(numbers))
    assert by_column.bin_boundaries == by_array.bin_boundaries
    texts = layers.TextVectorization(output_mode="tf_idf")
    texts.adapt(Column(["a b b", "b c", "b"]))
    np.testing.assert_allclose(texts(["c"]), [[0, 0, 0.91629076, 0]], rtol=1e-6)


class Numbers(Column):
    def __array__(self, dtype=None, copy=None):
        return self._values.astype(float)


def test_a_sequential_model_that_begins_with_words():
    """Its inputs are texts, also behind another model; indices for an inverted lookup."""
    encoder = layers.TextVectorization(vocabulary=["a", "b"], output_sequence_length=2)
    inner = keras.Sequential([encoder, layers.Embedding(4, 3), layers.Flatten(), layers.Dense(1)])
    assert inner.predict(np.array(["a b", "c"]), verbose=0).shape == (2, 1)
    outer = keras.Sequential([inner, layers.Activation("sigmoid")])
    assert outer(tf.constant(["a", "b b"])).shape == (2, 1)
    assert outer.inputs[0].dtype == inner.inputs[0].dtype == "string"
    words = keras.Sequential([layers.StringLookup(vocabulary=["x", "y"], invert=True)])
    assert words.predict(np.array([[1, 2]]), verbose=0).tolist() == [[b"x", b"y"]]
