"""Arguments of compiled functions: keys, conversion, and no memory shared with results."""

import collections
from typing import NamedTuple

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.call_arguments import CallArguments
from framework.core.errors import DTypeError

pytestmark = pytest.mark.usefixtures("kind")
CALLS = 5


@pytest.fixture(params=["compiled", "off"])
def wrap(request):
    """`tf.function`, with plans and without."""
    if request.param == "off":
        tf.config.set_compile("off")
    return tf.function


# ---- arrays of the caller ------------------------------------------------------------------------

VARIABLE = tf.Variable(np.zeros((2, 3), "float32"))


def put(x):
    VARIABLE.assign(x)
    return VARIABLE.read_value()


def nested(x):
    return {"y": (tf.reshape(x, [-1]), x * 2.0)}


SHARING = {
    "itself": lambda x: x,
    "reshaped": lambda x: tf.reshape(x, [3, 2]),
    "a row": lambda x: x[0],
    "transposed, in a tuple": lambda x: (tf.transpose(x), x * 2.0),
    "in a nest": nested,
    "a variable's value": put,
}


def first(result):
    return np.asarray(tf.nest.flatten(result)[0])


@pytest.mark.parametrize("name", SHARING)
def test_results_do_not_share_memory_with_arrays_of_the_caller(name, wrap):
    f, array = wrap(SHARING[name]), np.empty((2, 3), "float32")
    for _ in range(CALLS):
        array[...] = 1.0
        result = f(array)
        array[...] = 77.0
        assert 77.0 not in first(result)
        assert 77.0 not in VARIABLE.numpy()


def test_results_do_not_share_memory_with_arrays_beside_numbers(wrap):
    f, array = wrap(lambda x, n: (x, x * n)), np.empty(3, "float32")
    for n in range(8):
        array[...] = n
        y, z = f(array, float(n))
        array[...] = 77.0
        assert first(y).tolist() == [n] * 3
        assert first(z).tolist() == [n * n] * 3


def test_results_under_a_tape_do_not_share_memory_with_arrays_of_the_caller(wrap):
    w = tf.Variable(np.ones((3, 1), "float32"))
    f, array = wrap(lambda x: (tf.reshape(x, [-1]), x @ w)), np.empty((2, 3), "float32")
    for _ in range(CALLS):
        array[...] = 1.0
        with tf.GradientTape() as tape:
            same, y = f(array)
        array[...] = 77.0
        assert first(same).max() == 1.0
        assert first(tape.gradient(y, w)).tolist() == [[2.0]] * 3


def test_arrays_that_no_result_shares_are_not_copied(change):
    f, array = tf.function(lambda x: x * 2.0), np.ones(3, "float32")
    for _ in range(3):
        f(array)
    change(CallArguments, own=None)
    assert first(f(array)).tolist() == [2.0] * 3


def test_batches_of_arrays_are_not_shared():
    class Kept(keras.layers.Layer):
        def build(self, shape):
            self.last = self.add_weight(shape=(4, 3), trainable=False)
            self.scale = self.add_weight(shape=(1,))

        def call(self, x):
            self.last.assign(x)
            return x * self.scale

    model = keras.Sequential([Kept()])
    step = model.training_step(loss="mse", optimizer="sgd")
    x, y = np.empty((4, 3), "float32"), np.ones((4, 3), "float32")
    for n in range(CALLS):
        x[...] = n
        step(x, y)
        x[...] = 77.0
        assert model.layers[0].last.numpy().tolist() == [[n] * 3] * 4


# ---- kinds of arrays -----------------------------------------------------------------------------


def mapped(folder):
    return np.memmap(folder / "array", "float32", "w+", shape=(4,))


KINDS = {
    "mapped file": mapped,
    "records": lambda _: np.ones(4, "float32").view(np.recarray),
    "masked": lambda _: np.ma.masked_array(np.ones(4, "float32"), [True, False, False, False]),
    "another byte order": lambda _: np.ones(4, ">f4"),
    "in a list": lambda _: np.ones(4, "float32").view(np.recarray),
}


@pytest.mark.parametrize("name", KINDS)
def test_other_array_types(name, wrap, tmp_path):
    array = KINDS[name](tmp_path)
    given = [array] if name == "in a list" else array
    f = wrap(lambda x: (x[0] if name == "in a list" else x) * 2.0)
    for n in (1.0, 1.0, 1.0, 3.0, 4.0):
        array[...] = n
        y = f(given)
        with tf.GradientTape():
            z = f(given)
        assert y.dtype == tf.float32
        assert first(y).tolist() == first(z).tolist() == [2 * n] * 4


TEXTS = np.array(["a", "bc"])


def test_strings_become_string_tensors(wrap):
    f = wrap(lambda x: (x == tf.constant(["a", "b"]), tf.identity(x)))
    for _ in range(CALLS):
        equal, same = f(TEXTS)
        assert first(equal).tolist() == [True, False]
        assert (same.dtype, first(same).tolist()) == (tf.string, [b"a", b"bc"])


@pytest.mark.parametrize("dtype", ["longdouble", "M8[D]", "f4,i4"])
def test_unsupported_dtypes_raise(dtype, wrap):
    f = wrap(lambda x: x)
    for _ in range(CALLS):
        with pytest.raises(DTypeError, match="is not a dtype that tensors can have"):
            f(np.zeros(2, dtype))


@pytest.mark.parametrize("number", [np.float64(0.5), np.float32(0.5), np.complex128(0.5)])
def test_numpy_scalars_become_tensors(number, wrap):
    f = wrap(lambda x: (x, type(x) is tf.Tensor))
    for _ in range(CALLS):
        y, is_tensor = f(number)
        assert (y.dtype, bool(is_tensor)) == (number.dtype.name, True)


# ---- values --------------------------------------------------------------------------------------


def test_equal_values_of_different_types(wrap):
    root = wrap(lambda c: tf.sqrt(tf.constant(c, tf.complex64)))
    for c in [complex(-1, 0.0)] * 3 + [complex(-1, -0.0)] * 2:
        assert first(root(c)).item() == np.sqrt(np.complex64(c))
    kinds = wrap(lambda d: tf.constant([type(key).__name__ for key in d]))
    for keys in [(1,)] * 3 + [(True,), (1.0,), ((1,),), ((True,),)]:
        found = first(kinds(dict.fromkeys(keys, 2.0)))
        assert found.tolist() == [type(key).__name__.encode() for key in keys]


def test_shapes_stay_shapes(wrap):
    seen = []
    f = wrap(lambda x, s: seen.append(type(s)) or tf.reshape(x, s) * 1.0)
    x = tf.ones([2, 3])
    for shape in [x.shape] * 3 + [tf.TensorShape([3, 2]), tf.TensorShape([6])]:
        assert f(x, shape).shape == shape
    assert set(seen) == {tf.TensorShape}
    y = wrap(lambda x: x.shape)(x)
    assert (y.dtype, first(y).tolist()) == (tf.int32, [2, 3])


class Pair(NamedTuple):
    a: object
    b: object


class Names(list):
    """A user-defined container type."""

    title = "names"


def test_nests_keep_their_types():
    seen = []

    @tf.function
    def f(pair, names, settings):
        seen.append((type(pair), type(names), names.title, type(settings)))
        return pair.a * len(names) + pair.b[0]

    for n in range(CALLS):
        pair = Pair(tf.constant([1.0]), [np.float32(n)])
        y = f(pair, Names(["x", "y"]), collections.OrderedDict(a=np.ones(1)))
        assert first(y).tolist() == [2.0 + n]
    assert set(seen) == {(Pair, Names, "names", collections.OrderedDict)}
