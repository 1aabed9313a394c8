"""Ragged tensors: forms, indices, functions of elements and rows, derivatives, plans, errors."""

import pickle

import numpy as np
import pytest

import framework as tf
from framework import keras
from tests.surface.ragged import CALLS, rows

LISTS = [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
RT = tf.RaggedTensor


def held(name):
    found = tf
    for part in name.partition(" ")[0].split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_the_value_of(name):
    call, expected = CALLS[name]
    found = call(held(name))
    assert (found.to_list() if hasattr(found, "to_list") else found.tolist()) == expected


FORMS = {
    "row_splits": lambda: RT.from_row_splits([3, 1, 4, 1, 5, 9, 2, 6], [0, 4, 4, 7, 8, 8]),
    "row_lengths": lambda: RT.from_row_lengths([3, 1, 4, 1, 5, 9, 2, 6], [4, 0, 3, 1, 0]),
    "row_starts": lambda: RT.from_row_starts([3, 1, 4, 1, 5, 9, 2, 6], [0, 4, 4, 7, 8]),
    "row_limits": lambda: RT.from_row_limits([3, 1, 4, 1, 5, 9, 2, 6], [4, 4, 7, 8, 8]),
    "value_rowids": lambda: RT.from_value_rowids(
        [3, 1, 4, 1, 5, 9, 2, 6], [0, 0, 0, 0, 2, 2, 2, 3], 5
    ),
    "tensor": lambda: RT.from_tensor(rows().to_tensor(), lengths=[4, 0, 3, 1, 0]),
    "padding": lambda: RT.from_tensor(rows().to_tensor(-1), padding=-1),
    "sparse": lambda: RT.from_sparse(rows().to_sparse()),
    "parts": lambda: pickle.loads(pickle.dumps(rows())),
}


@pytest.mark.parametrize("name", FORMS)
def test_made_from(name):
    made = FORMS[name]()
    assert made.to_list() == LISTS
    assert made.shape.as_list() == [5, None]
    assert made.row_splits.tolist() == [0, 4, 4, 7, 8, 8]
    assert made.value_rowids().tolist() == [0, 0, 0, 0, 2, 2, 2, 3]


def test_texts_are_tensorflows():
    assert repr(rows()) == "<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6], []]>"
    assert str(tf.ragged.constant([["a"], []])) == "<tf.RaggedTensor [[b'a'], []]>"


def test_parts_and_forms():
    x = tf.ragged.constant([[[1], [2, 3]], [[4, 5, 6]]])
    assert x.ragged_rank == 2
    assert x.shape.as_list() == [2, None, None]
    assert x.bounding_shape().tolist() == [2, 2, 3]
    assert x.row_lengths(2).to_list() == [[1, 2], [3]]
    assert [s.tolist() for s in x.nested_row_splits] == [[0, 2, 3], [0, 1, 3, 6]]
    assert x.to_tensor().tolist() == [[[1, 0, 0], [2, 3, 0]], [[4, 5, 6], [0, 0, 0]]]
    assert rows().to_tensor(shape=[None, 2]).tolist() == [[3, 1], [0, 0], [5, 9], [6, 0], [0, 0]]
    dense = tf.sparse.to_dense(x.to_sparse())
    np.testing.assert_array_equal(dense, x.to_tensor())
    assert RT.from_uniform_row_length([1, 2, 3, 4], 2).to_list() == [[1, 2], [3, 4]]


def test_indices():
    x = rows()
    assert x[0].tolist() == [3, 1, 4, 1]
    assert x[-2].tolist() == [6]
    assert x[1:3].to_list() == [[], [5, 9, 2]]
    assert x[:, :2].to_list() == [[3, 1], [], [5, 9], [6], []]
    assert x[:, -2:].to_list() == [[4, 1], [], [9, 2], [6], []]
    assert x[2, 1].item() == 9
    assert [row.tolist() for row in x] == LISTS
    assert tf.gather(x, [2, 0]).to_list() == [[5, 9, 2], [3, 1, 4, 1]]
    assert tf.gather(x, 2).tolist() == [5, 9, 2]
    assert tf.gather(x, [[2, 3], [3, 1]]).to_list() == [[[5, 9, 2], [6]], [[6], []]]
    places = tf.ragged.constant([[2], [], [0, 1]])
    assert tf.gather([10, 20, 30], places).to_list() == [[30], [], [10, 20]]
    assert tf.gather(x, places).to_list() == [[[5, 9, 2]], [], [[3, 1, 4, 1], []]]
    with pytest.raises(tf.errors.OutOfRangeError, match="indices"):
        tf.gather(x, [7])
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis=1"):
        tf.gather(x, [0], axis=1)
    with pytest.raises(tf.errors.OutOfRangeError, match="row 5"):
        x[5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a slice"):
        x[:, 0]


def test_functions_of_elements():
    x = rows()
    doubled = [[2 * v for v in row] for row in LISTS]
    for made in (x * 2, 2 * x, x + x, tf.add(x, x), tf.multiply(x, 2)):
        assert made.to_list() == doubled
    assert (x + tf.constant([[10], [20], [30], [40], [50]]))[2].tolist() == [35, 39, 32]
    assert (x > 3).to_list() == [[v > 3 for v in row] for row in LISTS]
    assert (-x)[0].tolist() == [-3, -1, -4, -1]
    assert tf.square(x)[3].tolist() == [36]
    assert tf.cast(x, tf.float32).dtype == "float32"
    words = tf.ragged.constant([["So", "long"], ["x"]])
    assert tf.strings.length(words).to_list() == [[2, 4], [1]]
    assert tf.strings.substr(words, 0, 1).to_list() == [[b"S", b"l"], [b"x"]]
    assert tf.strings.reduce_join(words, axis=-1, separator=" ").tolist() == [b"So long", b"x"]
    assert (tf.rank(x).item(), tf.size(x).item(), tf.size(x, tf.int64).dtype) == (2, 8, "int64")
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows of equal lengths"):
        x + tf.ragged.constant([[1], [2]])


DEEP = [[[1, 2], [3]], [], [[4]]]


@pytest.mark.parametrize(("multiples", "expected"), [
    ([1, 2, 1], [[[1, 2], [3], [1, 2], [3]], [], [[4], [4]]]),
    ([2, 1, 2], [[[1, 2, 1, 2], [3, 3]], [], [[4, 4]]] * 2),
    ([1, 0, 1], [[], [], []]),
    ([0, 3, 1], []),
    ([1, 1, 0], [[[], []], [], [[]]]),
])  # fmt: skip
def test_tiles(multiples, expected):
    assert tf.tile(tf.ragged.constant(DEEP), multiples).to_list() == expected


def test_tiles_and_reversed_rows_of_wide_elements():
    x = tf.ragged.constant([[[1, 2]], [], [[3, 4], [5, 6]]], ragged_rank=1)
    assert tf.tile(x, [1, 2, 2]).to_list() == [
        [[1, 2, 1, 2]] * 2, [], [[3, 4, 3, 4], [5, 6, 5, 6]] * 2,
    ]  # fmt: skip
    assert tf.tile(x, [1, 1, 0]).values.shape == (3, 0)
    assert tf.reverse(x, [1, -1]).to_list() == [[[2, 1]], [], [[6, 5], [4, 3]]]


@pytest.mark.parametrize(("axis", "expected"), [
    ([0], [[[4]], [], [[1, 2], [3]]]),
    ([1], [[[3], [1, 2]], [], [[4]]]),
    ([-1], [[[2, 1], [3]], [], [[4]]]),
    ([0, 1, 2], [[[4]], [], [[3], [2, 1]]]),
])  # fmt: skip
def test_reversed_rows(axis, expected):
    assert tf.reverse(tf.ragged.constant(DEEP), axis).to_list() == expected


def test_lookup_of_ragged_ids():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, tf.ragged.constant([[0, 1], [], [1]]))
        total = tf.reduce_sum(rows.flat_values)
    assert rows.to_list() == [[[1.0, 2.0], [3.0, 4.0]], [], [[3.0, 4.0]]]
    gradient = tf.convert_to_tensor(tape.gradient(total, table))
    assert gradient.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    few = tf.nn.embedding_lookup(table, tf.ragged.constant([[1]]), max_norm=1.0)
    assert few.values.tolist() == [pytest.approx([0.6, 0.8])]


def test_functions_of_rows():
    x = tf.ragged.constant([[3.0, 1.0, 4.0], [5.0], [9.0, 2.0]])
    assert tf.reduce_sum(x, axis=1).tolist() == [8.0, 5.0, 11.0]
    assert tf.reduce_mean(x, 1).tolist() == pytest.approx([8 / 3, 5.0, 5.5])
    assert tf.reduce_max(x, axis=0).tolist() == [9.0, 2.0, 4.0]
    assert tf.reduce_min(x, -1, keepdims=True).tolist() == [[1.0], [5.0], [2.0]]
    assert tf.reduce_prod(x).item() == 3 * 4 * 5 * 9 * 2
    assert tf.reduce_any(x > 4, 1).tolist() == [False, True, True]
    assert tf.reduce_all(x > 1, 1).tolist() == [False, True, True]
    assert tf.concat([x, [[0.0, 1.0]]], 0).to_list()[-1] == [0.0, 1.0]
    assert tf.concat([x, x], axis=1)[0].tolist() == [3.0, 1.0, 4.0] * 2


def test_derivatives_and_plans():
    splits = [0, 2, 2, 3]

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.reduce_sum(RT(x, splits) ** 2, axis=1) ** 2)

    tf.debugging.check_gradients(f, [np.array([1.0, -2.0, 3.0])])

    @tf.function
    def scaled(x):
        return x * 2.0, tf.reduce_sum(x, axis=1)

    for _ in range(4):
        found, total = scaled(tf.ragged.constant([[1.0, 2.0], [3.0]]))
    assert found.to_list() == [[2.0, 4.0], [6.0]]
    assert total.tolist() == [3.0, 3.0]
    found, total = scaled(tf.ragged.constant([[1.0], [2.0, 5.0], [3.0]]))  # other lengths
    assert found.to_list() == [[2.0], [4.0, 10.0], [6.0]]
    assert total.tolist() == [1.0, 7.0, 3.0]


def test_specs_in_signatures(tmp_path):
    spec = tf.RaggedTensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[spec])
    def largest(x):
        return tf.reduce_max(x, axis=-1)

    x, y = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[5], [6, 7], [8]])
    for call in (largest, largest.get_concrete_function(), largest):
        assert call(x).tolist() == [2, 3]
        assert call(y).tolist() == [5, 7, 8]
    for wrong in (tf.constant([[1]]), tf.cast(x, tf.float32), tf.ragged.constant(DEEP)):
        with pytest.raises(TypeError, match=r"'x' is .*expects RaggedTensorSpec\(TensorShape"):
            largest(wrong)
    with pytest.raises(TypeError, match="'x' was expected to be RaggedTensorSpec"):
        largest.get_concrete_function()(tf.constant([[1]]))
    made = tf.Module()
    made.largest = largest
    with pytest.warns(UserWarning, match="largest cannot be saved for RaggedTensorSpec"):
        tf.saved_model.save(made, tmp_path)


def test_specs():
    made = tf.RaggedTensorSpec.from_value(tf.ragged.constant(DEEP))
    text = "RaggedTensorSpec(TensorShape([3, None, None]), tf.int32, 2, tf.int64)"
    assert repr(made) == text
    assert made == tf.RaggedTensorSpec([3, None, None], tf.int32) == pickle.loads(
        pickle.dumps(made)
    ) == tf.RaggedTensorSpec.from_spec(made)  # fmt: skip
    assert made != tf.RaggedTensorSpec([3, None, None], tf.int32, ragged_rank=1)
    assert (made.ragged_rank, made.row_splits_dtype, made.value_type) == (2, tf.int64, RT)
    whole = tf.RaggedTensorSpec(dtype=tf.int32, ragged_rank=2)
    assert whole.is_compatible_with(tf.ragged.constant(DEEP))
    assert made.is_subtype_of(whole)
    assert not made.is_subtype_of(tf.TensorSpec(None, tf.int32))
    assert not whole.is_compatible_with(rows())


def test_lookup_layers_keep_rows():
    characters = tf.strings.unicode_split(["abc", "b"], "UTF-8")
    look_up = keras.layers.StringLookup(vocabulary=["a", "b", "c"], mask_token=None)
    ids = look_up(characters)
    assert ids.to_list() == [[1, 2, 3], [2]]
    back = keras.layers.StringLookup(
        vocabulary=look_up.get_vocabulary(), invert=True, mask_token=None
    )
    assert tf.strings.reduce_join(back(ids), axis=-1).tolist() == [b"abc", b"b"]


@pytest.mark.parametrize(("call", "message"), [
    (lambda: RT.from_row_splits([1, 2], [0, 1]), "expected ascending integers from 0 to 2"),
    (lambda: RT.from_value_rowids([1, 2], [1, 0]), "expected ascending ids"),
    (lambda: tf.ragged.constant(["one", ["two"]]), "same nesting depth"),
    (lambda: tf.ragged.stack([[1]], axis=1), "expected 0"),
    (lambda: tf.concat([rows(), rows()[:2]], 1), "equal numbers of rows"),
    (lambda: tf.shape(rows()), r"Use x\.shape, x\.row_lengths\(\)"),
    (lambda: tf.tile(rows(), [2]), "one entry for each of the 2 axes"),
    (lambda: tf.RaggedTensorSpec([None]), "ragged_rank: expected at least 1"),
    (lambda: tf.RaggedTensorSpec(), "Must specify ragged_rank or a shape"),
    (lambda: tf.RaggedTensorSpec([1, None], row_splits_dtype=tf.int32), "expected int64"),
    (lambda: tf.RaggedTensorSpec([1, None], flat_values_spec=1), "flat_values_spec: expected N"),
    (lambda: RT.from_sparse(tf.SparseTensor([[0, 1]], [1], [1, 2])), "not right-ragged"),
])  # fmt: skip
def test_errors(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()
