"""keras.ops: values against NumPy, dtypes as Keras 3.15 gives them, shapes of symbolic calls."""

import itertools

import numpy as np
import pytest
from scipy import special

import framework as tf
from framework import keras

ops = keras.ops
X = np.float32([[-2.0, -0.5, 0.5], [1.5, 2.0, 3.0]])
P = np.float32([[0.2, 0.5, 0.9], [1.5, 2.0, 3.0]])
I = np.int32([[3, 1, 2], [0, 5, 4]])  # noqa: E741

UNARY = [
    "absolute", "abs", "negative", "sign", "square", "floor", "ceil", "trunc", "exp", "exp2",
    "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh", "isnan", "isinf",
    "isfinite", "logical_not", "ravel", "transpose", "flip", "sort", "argsort", "mean", "sum",
    "max", "min", "amax", "amin", "prod", "std", "var", "all", "any", "ptp", "argmax", "argmin",
    "cumsum", "count_nonzero", "zeros_like", "ones_like", "copy", "nonzero",
]  # fmt: skip
POSITIVE = ["sqrt", "log", "log2", "log10", "log1p", "reciprocal"]
BINARY = [
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "mod", "power",
    "maximum", "minimum", "arctan2", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "logaddexp", "isclose", "outer",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY + POSITIVE)
def test_what_numpy_has_too(name):
    x = P if name in POSITIVE else X
    expected = getattr(np, name)(x)
    for given in (x, x.tolist(), tf.constant(x), keras.Variable(x)):
        found = getattr(ops, name)(given)
        if name == "nonzero":
            np.testing.assert_array_equal(np.stack([i.numpy() for i in found]), np.stack(expected))
            continue
        assert type(found) is tf.Tensor
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    expected = getattr(np, name)(P, P[::-1] if name != "outer" else P[0])
    other = P[::-1] if name != "outer" else P[0]
    for a, b in ((P, other), (tf.constant(P), other), (P.tolist(), keras.Variable(other))):
        np.testing.assert_allclose(getattr(ops, name)(a, b).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "std", "var", "any", "all",
                                  "logsumexp"])  # fmt: skip
def test_reductions(name, axis):
    reference = special.logsumexp if name == "logsumexp" else getattr(np, name)
    for keepdims in (False, True):
        found = getattr(ops, name)(X, axis=axis, keepdims=keepdims).numpy()
        np.testing.assert_allclose(found, reference(X, axis=axis, keepdims=keepdims), rtol=1e-5)


CASES = {
    "arange": (lambda o: o.arange(5),), "arange 2": (lambda o: o.arange(1, 2, 0.25),),
    "eye": (lambda o: o.eye(3, 4, 1),), "identity": (lambda o: o.identity(2),),
    "tri": (lambda o: o.tri(3, k=-1),), "tril": (lambda o: o.tril(X, 1),),
    "triu": (lambda o: o.triu(X),), "full": (lambda o: o.full((2, 2), 3.0),),
    "full_like": (lambda o: o.full_like(X, 2.0),), "linspace": (lambda o: o.linspace(0, 1, 5),),
    "linspace open": (lambda o: o.linspace(0.0, 1.0, 4, endpoint=False),),
    "reshape": (lambda o: o.reshape(X, (3, -1)),),
    "swapaxes": (lambda o: o.swapaxes(X[None], 0, -1),),
    "moveaxis": (lambda o: o.moveaxis(X[None], [0, 2], [-1, 0]),),
    "expand_dims": (lambda o: o.expand_dims(X, (0, -1)),),
    "squeeze": (lambda o: o.squeeze(X[None], 0),),
    "broadcast_to": (lambda o: o.broadcast_to(X[0], (4, 3)),),
    "concatenate": (lambda o: o.concatenate([X, X], 1),), "stack": (lambda o: o.stack([X, X], -1),),
    "append": (lambda o: o.append(X, X),), "append axis": (lambda o: o.append(X, X, 0),),
    "hstack": (lambda o: o.hstack([X, X]),), "vstack": (lambda o: o.vstack([X[0], X[1]]),),
    "split": (lambda o: o.split(X, 3, axis=1)[2],),
    "split at": (lambda o: o.split(X, [1, 2], axis=1)[1],),
    "tile": (lambda o: o.tile(X, 2),), "tile 3": (lambda o: o.tile(X, (2, 1, 2)),),
    "repeat": (lambda o: o.repeat(X, 2),), "repeat axis": (lambda o: o.repeat(X, [1, 2], axis=0),),
    "flip": (lambda o: o.flip(X, 1),), "roll": (lambda o: o.roll(X, 1),),
    "roll axis": (lambda o: o.roll(X, -1, 1),), "pad": (lambda o: o.pad(X, 1),),
    "pad pair": (lambda o: o.pad(X, (1, 2)),),
    "pad value": (lambda o: o.pad(X, ((1, 0), (0, 1)), constant_values=5),),
    "pad reflect": (lambda o: o.pad(X, ((1, 0), (0, 1)), mode="reflect"),),
    "pad edge": (lambda o: o.pad(X, ((1, 0), (2, 1)), mode="edge"),),
    "pad wrap": (lambda o: o.pad(X, ((1, 4), (0, 1)), mode="wrap"),),
    "where": (lambda o: o.where(X > 0, X, 0.0),), "take": (lambda o: o.take(X, [0, -1], 1),),
    "take flat": (lambda o: o.take(X, [0, -1]),),
    "take_along_axis": (lambda o: o.take_along_axis(X, I % 2, 0),),
    "argsort axis": (lambda o: o.argsort(I, 0),), "sort axis": (lambda o: o.sort(I, 0),),
    "argmax axis": (lambda o: o.argmax(I, 1, keepdims=True),),
    "cumsum axis": (lambda o: o.cumsum(X, 1),), "clip": (lambda o: o.clip(X, -1.0, 1.0),),
    "round": (lambda o: o.round(X * 1.2345, 2),),
    "average": (lambda o: o.average(X, 1, weights=np.float32([1, 2, 3])),),
    "max initial": (lambda o: o.max(X, initial=10.0),),
    "dot": (lambda o: o.dot(X, X.T),), "dot vectors": (lambda o: o.dot(X[0], X[1]),),
    "inner": (lambda o: o.inner(X, X),), "vdot": (lambda o: o.vdot(X, X),),
    "tensordot": (lambda o: o.tensordot(X, X, [[1], [1]]),),
    "matmul": (lambda o: o.matmul(X, X.T),), "matmul vector": (lambda o: o.matmul(X, X[0]),),
    "matmul vectors": (lambda o: o.matmul(X[0], X[1]),),
    "matmul row": (lambda o: o.matmul(X[:, 0], X),),
    "meshgrid": (lambda o: o.meshgrid(X[0], X[1])[1],),
    "bitwise": (lambda o: o.bitwise_xor(o.bitwise_and(I, 3), o.bitwise_or(I, 1)),),
    "bitwise_not": (lambda o: o.bitwise_not(I),),
}  # fmt: skip


@pytest.mark.parametrize("call", [c for (c,) in CASES.values()], ids=CASES)
def test_the_same_call_on_numpy(call):
    found, expected = call(ops), call(np)
    assert tuple(found.shape) == np.shape(expected)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


DTYPES = {  # what Keras 3.15 gives
    "float32": [lambda: ops.mean([True, False]), lambda: ops.sqrt(I), lambda: ops.divide(I, I),
                lambda: ops.floor(np.int16([2])), lambda: ops.arange(3.0), lambda: ops.zeros((2,)),
                lambda: ops.linspace(0, 1), lambda: ops.add(np.int64([1]), 1.5),
                lambda: ops.convert_to_tensor(1.0), lambda: ops.one_hot([1], 2),
                lambda: ops.softmax(I), lambda: ops.floor_divide(5, 2.0),
                lambda: ops.relu6(I), lambda: ops.relu6([True]),
                lambda: ops.threshold(I, 0.5, 0.0)],
    "int32": [lambda: ops.sum(np.int8([1])), lambda: ops.prod(np.int16([2])), lambda: ops.arange(3),
              lambda: ops.argmax([1, 2]), lambda: ops.argsort([2, 1]), lambda: ops.size([1, 2]),
              lambda: ops.cumsum([True]), lambda: ops.add(1, 2), lambda: ops.nonzero([1])[0],
              lambda: ops.count_nonzero([1, 0]), lambda: ops.sum([True, False]),
              lambda: ops.hard_tanh(I), lambda: ops.hard_tanh([True]),
              lambda: ops.threshold(I, 2, 0)],
    "uint32": [lambda: ops.sum(np.uint8([1]))],
    "int16": [lambda: ops.max(np.int16([1])), lambda: ops.cumsum(np.int16([1])),
              lambda: ops.round(np.int16([1]))],
    "int8": [lambda: ops.absolute(np.int8([-1]))],
    "bool": [lambda: ops.equal(1, 2), lambda: ops.abs([True]), lambda: ops.logical_and(1, 0.5)],
    "float16": [lambda: ops.exp(np.float16([1])), lambda: ops.add(np.float16([1]), 1.5)],
    "float64": [lambda: ops.add(np.float64([1]), 1), lambda: ops.mean(np.float64([1]))],
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "call"), [(d, c) for d, calls in DTYPES.items() for c in calls])
def test_dtypes(dtype, call):
    assert call().dtype == dtype


def test_a_tensor_and_a_python_float():
    """The result is that with the float as an array of the tensor's dtype."""
    names = [*BINARY[:-2], "fmod", "hypot", "nextafter"]
    for dtype, number in itertools.product(("float16", "float32"), (2.5, -0.0, 0.1, np.nan)):
        x = tf.constant([-1.5, 0.5, 3.0, np.nan], dtype)
        for name in names:
            found = getattr(ops, name)(x, number)
            expected = getattr(ops, name)(x, tf.constant(number, dtype))
            assert found.dtype == expected.dtype, name
            np.testing.assert_array_equal(found.numpy(), expected.numpy(), f"{name} {dtype}")


def test_integers_and_booleans():
    x = ops.batch_normalization(I, np.int32([1, 2, 3]), np.int32([3, 3, 3]), -1, epsilon=1.0)
    np.testing.assert_array_equal(x.numpy(), (I - np.int32([1, 2, 3])) / 2)
    np.testing.assert_array_equal(ops.full_like([True, False], 3.0).numpy(), [True, True])
    for function, expected in ((ops.floor_divide, [1, 0]), (ops.mod, [0, 0]), (ops.power, [1, 0])):
        found = function([True, False], [True, True])
        assert found.dtype == "int32"
        np.testing.assert_array_equal(found.numpy(), expected)
    rows, ids = [[True], [False], [False]], [0, 0, 1]
    np.testing.assert_array_equal(ops.segment_max(rows, ids).numpy(), [[True], [False]])
    np.testing.assert_array_equal(ops.segment_min(rows, ids).numpy(), [[False], [False]])


SHAPES = {
    "dense": (lambda x: ops.relu(ops.matmul(x, np.ones((4, 5), "f4")) + 1.0), (None, 3, 5)),
    "mean": (lambda x: ops.mean(x, axis=1), (None, 4)),
    "std keepdims": (lambda x: ops.std(x, axis=(1, 2), keepdims=True), (None, 1, 1)),
    "reshape": (lambda x: ops.reshape(x, (-1, 12)), (None, 12)),
    "transpose": (lambda x: ops.transpose(x, (0, 2, 1)), (None, 4, 3)),
    "concatenate": (lambda x: ops.concatenate([x, x], -1), (None, 3, 8)),
    "stack": (lambda x: ops.stack([x, x], 1), (None, 2, 3, 4)),
    "take": (lambda x: ops.take(x, [0, -1], axis=1), (None, 2, 4)),
    "softmax": (lambda x: ops.softmax(x), (None, 3, 4)),
    "argmax": (lambda x: ops.argmax(x, -1), (None, 3)),
    "where": (lambda x: ops.where(x > 0, x, 0), (None, 3, 4)),
    "expand": (lambda x: ops.expand_dims(x, 0), (1, None, 3, 4)),
    "cast": (lambda x: ops.cast(x, "int8"), (None, 3, 4)),
    "normalize": (lambda x: ops.normalize(x), (None, 3, 4)),
    "one_hot": (lambda x: ops.one_hot(ops.argmax(x, -1), 7), (None, 3, 7)),
    "zeros_like": (lambda x: ops.zeros_like(x), (None, 3, 4)),
    "top_k": (lambda x: ops.top_k(x, 2)[0], (None, 3, 2)),
    "split": (lambda x: ops.split(x, 2, axis=-1)[0], (None, 3, 2)),
}


@pytest.mark.parametrize(("call", "shape"), SHAPES.values(), ids=SHAPES)
def test_symbolic_shapes(call, shape):
    made = call(keras.KerasTensor((None, 3, 4)))
    assert isinstance(made, keras.KerasTensor)
    assert made.shape == shape
    real = call(np.ones((2, 3, 4), "f4"))
    assert made.dtype == real.dtype
    assert all(n in (None, m) for n, m in zip(made.shape, real.shape, strict=True))


# ---- what is no array function -------------------------------------------------------------------


def test_conversions():
    x = ops.convert_to_tensor([1, 2], dtype="float16")
    assert (type(x), x.dtype) == (tf.Tensor, "float16")
    assert type(ops.convert_to_numpy(x)) is np.ndarray
    assert ops.convert_to_numpy([x, x]).shape == (2, 2)
    assert ops.is_tensor(x)
    assert not ops.is_tensor(np.ones(2))
    assert (ops.shape(X), ops.ndim(X), ops.dtype(keras.Variable(1.0))) == ((2, 3), 2, "float32")
    batch, columns = ops.shape(keras.KerasTensor((None, 2)))
    assert (type(batch).__name__, columns) == ("SymbolicNumber", 2)
    assert ops.saturate_cast([300.0, -1.0], "uint8").numpy().tolist() == [255, 0]
    assert ops.get_item(X, (0, 1)).numpy() == X[0, 1]
    assert ops.slice(X, (0, 1), (2, 2)).numpy().tolist() == X[:, 1:].tolist()
    assert [float(v) for v in ops.unstack([1.0, 2.0])] == [1, 2]


def test_top_k():
    values, indices = ops.top_k([[1.0, 3.0, 2.0, 3.0]], 3)
    assert values.numpy().tolist() == [[3, 3, 2]]
    assert indices.numpy().tolist() == [[1, 3, 2]]
    with pytest.raises(ValueError, match="k=5"):
        ops.top_k([1.0], 5)


def test_gradients_pass_and_stop():
    v = keras.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = ops.sum(ops.square(v) * ops.stop_gradient(v))
        z = ops.sum(ops.take(v, [0, 0, 1]))
    assert tape.gradient(y, v).numpy().tolist() == [2, 8]
    assert tape.gradient(z, v).numpy().tolist() == [2, 1]


def test_cross_entropies():
    p, onehot = np.float32([[0.2, 0.8], [0.6, 0.4]]), np.float32([[0, 1], [1, 0]])
    expected = -np.log([0.8, 0.6])
    np.testing.assert_allclose(ops.categorical_crossentropy(onehot, p).numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(
        ops.sparse_categorical_crossentropy([1, 0], p).numpy(), expected, rtol=1e-5
    )
    logits = np.log(p / (1 - p))
    np.testing.assert_allclose(
        ops.binary_crossentropy(onehot, logits, from_logits=True).numpy(),
        ops.binary_crossentropy(onehot, p).numpy(), rtol=1e-4,
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"binary_crossentropy.*\(2,\) and \(2, 2\)"):
        ops.binary_crossentropy([0.0, 1.0], p)


def test_normalization():
    x = np.random.default_rng(0).normal(2, 3, (5, 6)).astype("f4")
    gamma, beta = np.arange(6, dtype="f4"), np.ones(6, "f4")
    centred = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-7)
    np.testing.assert_allclose(
        ops.layer_normalization(x, gamma, beta).numpy(),
        centred * gamma + beta,
        rtol=1e-4,
        atol=1e-5,
    )
    mean, variance = ops.moments(x, axes=0)
    np.testing.assert_allclose(
        ops.batch_normalization(x, mean, variance, -1, beta, gamma).numpy(),
        (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3) * gamma + beta, rtol=1e-4, atol=1e-5,
    )  # fmt: skip
    np.testing.assert_allclose(
        ops.normalize(x, axis=0, order=1).numpy(), x / np.abs(x).sum(0), rtol=1e-5
    )
    with pytest.raises(ValueError, match=r"normalize: `order` must be an integer .* got inf"):
        ops.normalize(x, order=np.inf)


def test_utils():
    assert keras.utils.to_categorical([1, 0], 3).tolist() == [[0, 1, 0], [1, 0, 0]]
    assert keras.utils.to_categorical([[2], [0]]).shape == (2, 3)
    with pytest.raises(IndexError, match="labels go from 0 to 3, expected 0 to 1"):
        keras.utils.to_categorical([0, 3], 2)
    np.testing.assert_allclose(keras.utils.normalize([[3.0, 4.0], [0, 0]]), [[0.6, 0.8], [0, 0]])
    v = tf.Variable([[3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = keras.utils.normalize(v)[0, 0]
    np.testing.assert_allclose(tape.gradient(y, v), [[16 / 125, -12 / 125]], rtol=1e-5)
    assert keras.utils.normalize(keras.Input((3,))).shape == (None, 3)
    assert keras.utils.unpack_x_y_sample_weight((1, 2)) == (1, 2, None)
    assert keras.utils.unpack_x_y_sample_weight([1]) == (1, None, None)
    assert keras.utils.pack_x_y_sample_weight(1, 2) == (1, 2)


def test_backend():
    assert keras.backend.standardize_dtype(np.float64) == "float64"
    assert keras.backend.standardize_dtype(None) == "float32"
    assert keras.backend.is_float_dtype("float16")
    assert keras.backend.is_int_dtype("uint8")
    assert keras.backend.result_type("int32", "float16") == "float16"
    assert keras.backend.is_keras_tensor(keras.KerasTensor((1,)))
    assert keras.config.image_data_format() == "channels_last"
