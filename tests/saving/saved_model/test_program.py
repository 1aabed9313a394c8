"""Programs of saved models: every op of the table, sizes that stay open, values in JSON."""

import json

import numpy as np
import pytest

import framework as tf
from framework.core import dtypes
from framework.core.errors import DamagedFileError, SaveError
from framework.core.op import table
from framework.saving.saved_model.arrays import restored
from framework.saving.saved_model.literals import decoded, encoded
from framework.saving.saved_model.program import Program, ProgramWriter
from framework.saving.saved_model.signatures import SavedSignature, all_traced
from tests.samples.ops import NAMES, samples


class File:
    """The arrays of a file, as `read_state` gives them."""

    name = "file"

    def __init__(self, arrays):
        self._arrays = arrays
        self.shapes = {name: array.shape for name, array in arrays.items()}

    def array(self, name):
        return self._arrays[name]


def loaded(function, specs, variables=()):
    """Return a function as a program that went through JSON."""
    arrays = {}
    numbers = {id(v): i for i, v in enumerate(variables)}
    writer = ProgramWriter(arrays, lambda v: numbers.get(id(v)))
    (found,) = all_traced(function, SavedSignature(specs, {}), "f")
    description = json.loads(json.dumps(writer.described(found.graph)))
    file = File(arrays)
    return Program(description, lambda d: restored(d, file), dict(enumerate(variables))).run


def spec_of(array):
    return tf.TensorSpec(array.shape, dtypes.as_dtype(array.dtype))


_OWN = "the sample's table is a class of the tests"
WITHOUT = {
    "look_up": _OWN, "look_up_all": _OWN,
    "ctc_loss": "labels must be below the number of classes", "ctc_back": "as ctc_loss",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_op(name):
    op = table[name]
    if op.sized_by_values:
        pytest.skip("the sizes of results depend on values: refused, see below")
    if name in WITHOUT:
        pytest.skip(WITHOUT[name])
    for sample in samples(name)[:3]:
        places = [i for i, a in enumerate(sample.args) if isinstance(a, np.ndarray)]
        arrays = [sample.args[i] for i in places]

        def call(*tensors, sample=sample, places=places):
            args = list(sample.args)
            for place, tensor in zip(places, tensors, strict=True):
                args[place] = tensor
            return op(*args, **sample.attrs)

        tensors = [tf.Tensor(a) for a in arrays]
        expected = call(*tensors)
        if type(expected) not in (tf.Tensor, tuple):
            continue  # a call without tensors
        try:
            run = loaded(call, [spec_of(a) for a in arrays])
        except tf.errors.InvalidArgumentError:
            continue  # the op refuses the contents that it is traced with
        found = run(*tensors)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_tables_in_ops():
    from framework.ops.tables import look_up

    with_table = loaded(lambda x: look_up(x, table=table_op), [tf.TensorSpec([None], tf.string)])
    (found,) = with_table(tf.constant(["b", "z", "a"]))
    assert found.numpy().tolist() == [2, -1, 1]
    assert found.dtype == tf.int64


table_op = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], value_dtype=tf.int64), -1
)._table


OPEN_SIZES = {  # functions of open sizes: x has the shape (rows, columns)
    "arange": lambda x: x + tf.cast(tf.range(tf.shape(x)[1]), tf.float32),
    "triangle": lambda x: x @ tf.linalg.band_part(tf.ones([tf.shape(x)[1]] * 2), -1, 0),
    "mean by size": lambda x: tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32),
    "reshape": lambda x: tf.reshape(x, [tf.shape(x)[1], tf.shape(x)[0]]),
    "flat": lambda x: tf.reshape(x, [-1]),
    "half": lambda x: x[:, : tf.shape(x)[1] // 2],
    "all but one": lambda x: x[:, 1:] - x[:, :-1],
    "zeros": lambda x: tf.concat([x, tf.zeros([tf.shape(x)[0], 1])], axis=1),
    "tile": lambda x: tf.tile(x, [1, 2]),
    "shape": lambda x: tf.shape(x),
    "number of rows": lambda x: x * tf.cast(tf.shape(x)[0], tf.float32),
    "pad": lambda x: tf.pad(x, [[0, 0], [1, 2]]),
    "reversed": lambda x: x[::-1, ::2],
    "one hot": lambda x: tf.one_hot(tf.argmax(x, axis=1), 3),
    "softmax": lambda x: tf.nn.softmax(x, axis=0),
}


@pytest.mark.parametrize("name", OPEN_SIZES)
@pytest.mark.parametrize("shape", [(3, 4), (1, 6), (8, 1), (20, 30)])
def test_open_sizes(name, shape):
    function = OPEN_SIZES[name]
    x = tf.constant(np.random.default_rng(0).normal(size=shape), tf.float32)
    (found,) = loaded(function, [tf.TensorSpec([None, None])])(x)
    expected = function(x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


VALUES = [
    None, True, 3, -1.5, float("inf"), "text", b"\xff", 1 + 2j, slice(1, None, 2), ..., (1, (2, 3)),
    [1, [None]], {"a": 1, 2: (3,)}, np.float32(1.5), np.int64(3), np.dtype("float32"), tf.int32,
    range(1, 5), tf.TensorSpec([None, 2], tf.int32, "x"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_in_json(value):
    found = decoded(json.loads(json.dumps(encoded(value))))
    assert found == value
    assert type(found) is type(value)


def test_nan_in_json():
    assert np.isnan(decoded(json.loads(json.dumps(encoded(float("nan"))))))


@pytest.mark.parametrize("value", [{"python": "print"}, {"call": []}, {"a": 1, "b": 2}])
def test_unknown_values_in_files(value):
    with pytest.raises(DamagedFileError, match="unsupported kind"):
        decoded(value)


def test_strings_and_complex_constants():
    words = loaded(lambda x: tf.stack([x, tf.constant("!")]), [tf.TensorSpec([], tf.string)])
    turned = loaded(
        lambda x: tf.constant([1j, 2.0], tf.complex64) * x, [tf.TensorSpec([2], tf.complex64)]
    )
    assert words(tf.constant("a"))[0].numpy().tolist() == [b"a", b"!"]
    assert turned(tf.constant([1j, 1j], tf.complex64))[0].numpy().tolist() == [-1, 2j]


def test_assignments_and_gradients():
    v = tf.Variable([1.0, 2.0])

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v * x)
        v.assign_sub(tape.gradient(loss, v) * 0.25)
        return loss, v * 1.0

    run = loaded(step, [tf.TensorSpec([2])], [v])
    x = tf.constant([1.0, 1.0])
    found = run(x)
    assert [t.numpy().tolist() for t in found] == [5.0, [0.5, 1.0]]
    assert v.numpy().tolist() == [0.5, 1.0]


def test_draws():
    run = loaded(lambda x: x + tf.random.normal(tf.shape(x)), [tf.TensorSpec([None])])
    fixed = loaded(lambda x: x + tf.random.stateless_normal([3], [1, 2]), [tf.TensorSpec([3])])
    x = tf.zeros([3])
    assert run(tf.zeros([7]))[0].shape == (7,)
    assert run(x)[0].numpy().tolist() != run(x)[0].numpy().tolist()
    expected = tf.random.stateless_normal([3], [1, 2]).numpy().tolist()
    assert fixed(x)[0].numpy().tolist() == expected == fixed(x)[0].numpy().tolist()


REFUSED = {  # function -> what the message says
    "Python reads a value": (lambda x: x if x[0] > 0 else -x, "Python reads the value"),
    "NumPy": (lambda x: tf.constant(np.sin(x.numpy())), "reads|numpy"),
    "sizes by values": (lambda x: tf.boolean_mask(x, x > 0.0), "cannot be|read|differ"),
    "strings": (lambda x: tf.strings.as_string(x), "look_up.*cannot be saved"),
    "unknown variable": (lambda x: x + STRANGE, "which no attribute of the saved object holds"),
    "Python code": (lambda x: tf.numpy_function(np.sin, [x], tf.float32), "Python|py_function"),
}
STRANGE = tf.Variable(1.0)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function, text = REFUSED[name]
    with pytest.raises(SaveError, match=text):
        loaded(function, [tf.TensorSpec([3])])


@pytest.mark.parametrize("change", [
    lambda d: d["steps"][0].update(op="no_such_op"), lambda d: d.pop("results"),
    lambda d: d["steps"][0].update(args=[{"value": "x"}, {"x": 1}]),
    lambda d: d["results"].append({"code": "print"}), lambda d: d.update(steps=[3]),
    lambda d: d["assigned"].append([7, {"value": 0}]),
])  # fmt: skip
def test_damaged_programs(change):
    writer = ProgramWriter({}, lambda v: None)
    description = writer.described(
        all_traced(lambda x: x * 2.0, SavedSignature([tf.TensorSpec([2])], {}), "f")[0].graph
    )
    change(description)
    with pytest.raises(DamagedFileError):
        Program(description, lambda d: np.zeros(1), {})
