"""Sparse tensors: every function on several calls, derivatives, plans, layers, data, errors."""

import pickle

import numpy as np
import pytest

import framework as tf
from framework import keras
from tests.surface.sparse import CALLS, TABLE, Near, a, b, ids, ints, weights

DENSE = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 3.0], [0.0] * 4], "float32")


def held(name):
    found = tf
    for part in name.partition(" ")[0].split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_the_value_of(name):
    call, expected = CALLS[name]
    found = call(held(name))
    if isinstance(expected, bool):
        assert found == expected
    else:
        Near(expected).check(found)


# ---- the class -----------------------------------------------------------------------------------


def test_the_text_is_tensorflows():
    assert repr(tf.SparseTensor([[1]], [2], [3])) == (
        "SparseTensor(indices=tf.Tensor([[1]], shape=(1, 1), dtype=int64), values=tf.Tensor([2], "
        "shape=(1,), dtype=int32), dense_shape=tf.Tensor([3], shape=(1,), dtype=int64))"
    )


def test_operators_at_its_elements():
    column = np.array([[2.0], [4.0], [8.0]], "float32")
    np.testing.assert_array_equal(tf.sparse.to_dense(a() * column), DENSE * column)
    np.testing.assert_array_equal(tf.sparse.to_dense(a() / column), DENSE / column)
    assert (ints() / 2).dtype == "float64"
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        a() * np.ones((2, 3, 4), "float32")


def test_elementwise_functions_that_keep_zeros_are_sparse():
    made = tf.square(a())
    assert isinstance(made, tf.SparseTensor)
    np.testing.assert_array_equal(tf.sparse.to_dense(made), DENSE**2)
    np.testing.assert_allclose(tf.exp(a()), np.exp(DENSE), rtol=1e-6)


def test_nests_treat_it_as_one_value_or_as_its_tensors():
    assert tf.nest.flatten({"x": a()})[0].shape == (3, 4)
    assert len(tf.nest.flatten(a(), expand_composites=True)) == 2
    assert not tf.nest.is_nested(a())
    doubled = tf.nest.map_structure(lambda t: t + t, a(), expand_composites=True)
    np.testing.assert_array_equal(doubled.values, a().values + a().values)


def test_pickled():
    np.testing.assert_array_equal(tf.sparse.to_dense(pickle.loads(pickle.dumps(a()))), DENSE)


def test_spec():
    spec = tf.SparseTensorSpec([None, 4], tf.float32)
    assert spec == tf.SparseTensorSpec([None, 4]) != tf.TensorSpec([None, 4])
    assert spec.is_compatible_with(a())
    assert not spec.is_compatible_with(tf.constant(DENSE))
    assert not tf.SparseTensorSpec([None, 4], tf.int32).is_compatible_with(a())


# ---- derivatives and plans -----------------------------------------------------------------------

W = np.arange(8.0).reshape(4, 2) - 3


def _product(values, w):
    x = tf.SparseTensor(a().indices, values, [3, 4])
    return tf.reduce_sum(tf.sparse.sparse_dense_matmul(x, w) ** 2)


def _adjoint(values, w):
    x = tf.SparseTensor(a().indices, values, [3, 4])
    return tf.reduce_sum(tf.sparse.sparse_dense_matmul(w, x, True, True) ** 3)


def _lookup(values, w):
    weights = tf.SparseTensor(ids().indices, values, [3, 2])
    return tf.reduce_sum(tf.nn.embedding_lookup_sparse(w, ids(), weights, "sqrtn") ** 2)


def _of_values(function):
    return lambda values, w: tf.reduce_sum(
        tf.sparse.to_dense(function(tf.SparseTensor(a().indices, values, [3, 4]))) ** 2 * w[:3, :1]
    )


FUNCTIONS = {
    "product": _product,
    "adjoints": _adjoint,
    "lookup": _lookup,
    "softmax": _of_values(tf.sparse.softmax),
    "add": _of_values(lambda x: tf.sparse.add(x, tf.cast(b(), tf.float64))),
    "transposed": _of_values(lambda x: tf.sparse.transpose(tf.sparse.transpose(x))),
    "reshaped": _of_values(lambda x: tf.sparse.reshape(x, [3, 4])),
    "sum": lambda v, w: tf.reduce_sum(
        tf.sparse.reduce_sum(tf.SparseTensor(a().indices, v, [3, 4]), 1) ** 2
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    tf.debugging.check_gradients(FUNCTIONS[name], [np.array([1.0, 2.0, -3.0]), W])


def test_a_plan_of_functions_of_sparse_tensors():
    w = tf.Variable(W.astype("float32"))

    @tf.function
    def step(x):
        return tf.sparse.sparse_dense_matmul(x, w), x.with_values(2 * x.values)

    for _ in range(4):
        product, doubled = step(a())
    assert "1 plan" in step.explain()
    np.testing.assert_allclose(product, DENSE @ W, rtol=1e-6)
    np.testing.assert_array_equal(tf.sparse.to_dense(doubled), 2 * DENSE)
    wider = tf.sparse.reset_shape(a(), [5, 4])
    assert step(wider)[0].shape == (5, 2)


# ---- layers, models, data ------------------------------------------------------------------------


def _data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.2)
    return x.astype("float32"), rng.normal(size=(40, 1)).astype("float32")


def _model():
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((12,), sparse=True),
            keras.layers.Dense(4, activation="tanh"),
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("layer", ["Dense", "LayerNormalization", "Flatten"])
def test_layers_compute_as_on_dense_inputs(layer):
    x, _ = _data()
    made = keras.layers.Dense(3) if layer == "Dense" else getattr(keras.layers, layer)()
    np.testing.assert_allclose(made(tf.sparse.from_dense(x)), made(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["tensor", "scipy", "dataset"])
def test_fit_evaluate_and_predict_as_on_dense_inputs(form):
    x, y = _data()
    sparse = tf.sparse.from_dense(x)
    model, other = _model(), _model()
    expected = other.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0).history["loss"]
    if form == "dataset":
        data = tf.data.Dataset.from_tensor_slices((sparse, y)).batch(16)
        found = model.fit(data, epochs=2, verbose=0)
        predicted = model.predict(data.map(lambda x, _: x), verbose=0)
    else:
        if form == "scipy":
            sparse = pytest.importorskip("scipy.sparse").csr_matrix(x)
        found = model.fit(sparse, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
        predicted = model.predict(sparse, verbose=0)
        loss = model.evaluate(sparse, y, verbose=0)
        np.testing.assert_allclose(loss, other.evaluate(x, y, verbose=0), rtol=1e-5)
    np.testing.assert_allclose(found.history["loss"], expected, rtol=1e-5)
    np.testing.assert_allclose(predicted, other.predict(x, verbose=0), rtol=1e-4, atol=1e-6)


def test_a_functional_model_keeps_sparse_in_its_config():
    x = keras.Input((12,), sparse=True, name="x")
    model = keras.Model(x, keras.layers.Dense(2)(x))
    assert model.inputs[0].sparse
    copy = keras.Model.from_config(model.get_config())
    assert copy.inputs[0].sparse
    copy.set_weights(model.get_weights())
    data = tf.sparse.from_dense(_data()[0])
    np.testing.assert_array_equal(copy(data), model(data))


def test_datasets_of_sparse_tensors():
    x, y = _data()
    data = tf.data.Dataset.from_tensor_slices((tf.sparse.from_dense(x), y))
    assert data.element_spec[0] == tf.SparseTensorSpec([12])
    whole = tf.data.Dataset.from_tensors((tf.sparse.from_dense(x), y))
    assert whole.element_spec[0] == tf.SparseTensorSpec([40, 12])
    np.testing.assert_array_equal(tf.sparse.to_dense(next(iter(whole))[0]), x)
    row = next(iter(data))[0]
    assert row.shape == (12,)
    for batches in (data.batch(7), data.map(lambda a, b: (a, b)).batch(7)):
        assert batches.element_spec[0] == tf.SparseTensorSpec([None, 12])
        parts = [tf.sparse.to_dense(part) for part, _ in batches]
        np.testing.assert_array_equal(tf.concat(parts, 0), x)
    again = data.batch(7).unbatch().batch(40)
    np.testing.assert_array_equal(tf.sparse.to_dense(next(iter(again))[0]), x)
    parts = [tf.sparse.to_dense(part) for part, _ in data.batch(7).rebatch(9)]
    np.testing.assert_array_equal(tf.concat(parts, 0), x)
    shuffled = data.shuffle(40, seed=3).batch(40)
    found, labels = next(iter(shuffled))
    order = [int(np.flatnonzero(y == label)[0]) for label in labels.numpy()[:, 0]]
    np.testing.assert_array_equal(tf.sparse.to_dense(found), x[order])


ENCODERS = {
    "one_hot": lambda **k: keras.layers.CategoryEncoding(4, "one_hot", **k),
    "multi_hot": lambda **k: keras.layers.CategoryEncoding(4, "multi_hot", **k),
    "count": lambda **k: keras.layers.CategoryEncoding(4, "count", **k),
    "lookup": lambda **k: keras.layers.IntegerLookup(
        vocabulary=[1, 3], output_mode="multi_hot", **k
    ),
    "tf_idf": lambda **k: keras.layers.IntegerLookup(
        vocabulary=[1, 3], idf_weights=[0.5, 2.0], output_mode="tf_idf", **k
    ),
    "hashing": lambda **k: keras.layers.Hashing(3, output_mode="count", **k),
    "bins": lambda **k: keras.layers.Discretization([1.0, 2.0], output_mode="multi_hot", **k),
    "text": lambda **k: keras.layers.TextVectorization(
        vocabulary=["a", "b"], output_mode="count", **k
    ),
}
NUMBERS = [[0, 1, 1], [3, 3, 2]]


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_with_sparse_outputs(name):
    data = [["a b a"], ["c"]] if name == "text" else np.array(NUMBERS)
    sparse, dense = ENCODERS[name](sparse=True), ENCODERS[name]()
    found = sparse(data)
    assert isinstance(found, tf.SparseTensor)
    assert found.dtype == dense(data).dtype
    np.testing.assert_array_equal(tf.sparse.to_dense(found), dense(data))
    x = keras.Input((1 if name == "text" else 3,), dtype="string" if name == "text" else "int64")
    encoded = sparse(x)
    assert encoded.sparse
    model = keras.Model(x, encoded)
    np.testing.assert_array_equal(tf.sparse.to_dense(model(tf.constant(data))), dense(data))


# ---- errors --------------------------------------------------------------------------------------

SWAPPED = tf.SparseTensor([[1, 0], [0, 2]], [1, 2], [2, 3])
ERRORS = {
    "out of order": lambda: tf.sparse.to_dense(SWAPPED),
    "repeated": lambda: tf.sparse.to_dense(tf.SparseTensor([[1], [1]], [1, 2], [3])),
    "out of range": lambda: tf.sparse.to_dense(tf.SparseTensor([[3]], [1], [3])),
    "one row of indices per value": lambda: tf.SparseTensor([[1]], [1, 2], [3]),
    "one column per size": lambda: tf.SparseTensor([[1]], [1], [3, 4]),
    "shape \\(n, rank\\)": lambda: tf.SparseTensor([1], [1], [3]),
    "expected int64": lambda: tf.SparseTensor([[1.5]], [1], [3]),
    "expected a SparseTensor": lambda: tf.sparse.to_dense(tf.constant([1])),
    "inner sizes differ": lambda: tf.sparse.sparse_dense_matmul(a(), tf.ones([3, 2])),
    "sizes >= those of": lambda: tf.sparse.reset_shape(a(), [1, 1]),
    "does not fit": lambda: tf.sparse.reshape(a(), [5]),
    "one per element": lambda: tf.sparse.retain(a(), [True]),
    "differ in axis 0": lambda: tf.sparse.concat(0, [a(), tf.sparse.eye(2)]),
    "equal indices": lambda: tf.sparse.map_values(tf.add, a(), b()),
    "one weight per id": lambda: tf.nn.embedding_lookup_sparse(
        tf.constant(TABLE), ids(), tf.SparseTensor([[0, 0]], [1.0], [3, 2])
    ),
    "combiner": lambda: tf.nn.embedding_lookup_sparse(tf.constant(TABLE), ids(), weights(), "max"),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError, TypeError,
                        ValueError), match=message):  # fmt: skip
        ERRORS[message]()
