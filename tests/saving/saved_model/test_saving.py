"""tf.saved_model.save and load: objects, functions, signatures, models, damaged folders."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import DamagedFileError, ExportError, LoadError, SaveError
from framework.saving.saved_model import signatures
from framework.saving.saved_model.saving import FILE, KIND
from framework.saving.states import read_state, write_state

ROWS = tf.TensorSpec([None, 3])


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(np.arange(6).reshape(3, 2), dtype=tf.float32, name="kernel")
        self.count = tf.Variable(0, trainable=False)
        self.parts = [tf.Variable(3.0), {"a": tf.Variable(4.0)}, tf.Module()]
        self.number = 7

    @tf.function
    def __call__(self, x, twice=False):
        y = x @ self.kernel
        return y * 2.0 if twice else y

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def add(self, n):
        self.count.assign_add(n)

    @tf.function(input_signature=[{"a": ROWS, "b": [tf.TensorSpec([None])]}])
    def nested(self, x):
        return {"sum": tf.reduce_sum(x["a"], 1) + x["b"][0], "pair": (x["a"], None)}

    @tf.function
    def never_called(self, x):
        return x


@pytest.fixture
def line():
    made = Line()
    made(tf.ones([4, 3]))
    made(tf.ones([4, 3]), twice=True)
    made.__call__.get_concrete_function(ROWS)
    return made


def through(made, folder, **options):
    tf.saved_model.save(made, folder, **options)
    assert tf.saved_model.contains_saved_model(folder)
    return tf.saved_model.load(folder)


def test_variables_and_objects(line, tmp_path):
    found = through(line, tmp_path)
    np.testing.assert_array_equal(found.kernel, line.kernel)
    assert found.kernel.name == "kernel:0"
    assert found.kernel.trainable
    assert not found.count.trainable
    assert found.count.dtype == tf.int32
    assert [found.parts[0].numpy(), found.parts[1]["a"].numpy()] == [3.0, 4.0]
    assert len(found.variables) == 4
    assert not hasattr(found, "number")  # as in TensorFlow, only what holds variables is saved


def test_calls(line, tmp_path):
    found = through(line, tmp_path)
    x = tf.constant(np.random.default_rng(0).normal(size=(5, 3)), tf.float32)
    np.testing.assert_array_equal(found(x), line(x))
    np.testing.assert_array_equal(found(x[:4], twice=True), line(x[:4], twice=True))
    np.testing.assert_array_equal(found(x.numpy().tolist()), line(x))
    for _ in range(3):  # plans
        np.testing.assert_array_equal(found(x), line(x))
    result = found.nested({"a": x, "b": [tf.ones([5])]})
    np.testing.assert_allclose(result["sum"], tf.reduce_sum(x, 1) + 1.0, rtol=1e-6)
    np.testing.assert_array_equal(result["pair"][0], x)
    assert result["pair"][1] is None


def test_state(line, tmp_path):
    found = through(line, tmp_path)
    found.add(tf.constant(2))
    found.add(3)
    assert found.count.numpy() == 5
    assert line.count.numpy() == 0
    found.kernel.assign(tf.zeros([3, 2]))
    assert not np.any(found(tf.ones([2, 3])))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(found(tf.ones([2, 3])))
    np.testing.assert_array_equal(tape.gradient(loss, found.kernel), np.full((3, 2), 2.0))


def test_a_loaded_object_is_saved_again(line, tmp_path):
    once = through(line, tmp_path / "a", signatures=line.__call__.get_concrete_function(ROWS))
    once.kernel.assign_add(tf.ones([3, 2]))
    twice = through(once, tmp_path / "b", signatures=once.signatures["serving_default"])
    x = tf.ones([2, 3])
    np.testing.assert_array_equal(twice(x), once(x))
    found = twice.signatures["serving_default"](x=x)
    np.testing.assert_array_equal(found["output_0"], once(x))


@pytest.mark.parametrize(("args", "options", "text"), [
    ([tf.ones([5, 4])], {}, "Could not find matching concrete function"),
    ([tf.ones([5, 3])], {"twice": True}, "Could not find matching concrete function"),
    ([tf.ones([5, 3], tf.float64)], {}, "Could not find matching"), ([], {}, "missing a required"),
    ([tf.ones([5, 3])], {"other": 1}, "unexpected"),
])  # fmt: skip
def test_calls_that_do_not_fit(line, tmp_path, args, options, text):
    found = through(line, tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        found(*args, **options)


def test_functions_without_a_signature(line, tmp_path):
    found = through(line, tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="saved without a signature"):
        found.never_called(tf.ones([2]))
    with pytest.raises(TypeError, match="not callable"):
        found.parts[2](1.0)


def test_signatures(line, tmp_path):
    named = line.__call__.get_concrete_function(tf.TensorSpec([None, 3], name="rows"))
    found = through(line, tmp_path, signatures={"call": named})
    call = found.signatures["call"]
    assert call.structured_input_signature == ((), {"rows": tf.TensorSpec([None, 3], name="rows")})
    assert list(call.structured_outputs) == ["output_0"]
    assert tuple(call.structured_outputs["output_0"].shape) == (None, 2)
    x = tf.ones([2, 3])
    np.testing.assert_array_equal(call(rows=x)["output_0"], line(x))
    np.testing.assert_array_equal(call(x)["output_0"], line(x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected the arguments"):
        call(x=x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 1 arguments, got 2"):
        call(x, x)
    assert "'rows'" in repr(call)


def test_bad_signatures(line, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dict of tensors"):
        tf.saved_model.save(line, tmp_path, signatures=line.nested)
    with pytest.raises(tf.errors.InvalidArgumentError, match="one signature, got 3"):
        tf.saved_model.save(line, tmp_path, signatures=line.__call__)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a tf"):
        tf.saved_model.save(line, tmp_path, signatures=len)
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds variables"):
        tf.saved_model.save(3, tmp_path)


def test_unknown_ranks(tmp_path):
    made = tf.Module()
    made.double = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec(None)])
    made.eye = tf.Variable(tf.eye(3))
    made.product = tf.function(lambda x: x @ made.eye, input_signature=[tf.TensorSpec(None)])
    found = through(made, tmp_path, signatures=made.double)
    for shape in ((), (3,), (2, 3), (1, 2, 1, 3)):
        x = tf.ones(shape)
        np.testing.assert_array_equal(found.double(x), made.double(x))
        np.testing.assert_array_equal(found.signatures["serving_default"](x)["output_0"], x * 2.0)
    assert found.product(tf.ones([2, 4, 3])).shape == (2, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="5 option"):
        found.double(tf.ones([1] * 5))


def test_open_sizes_that_only_those_of_variables_fit(tmp_path):
    made = tf.Module()
    made.mean, made.kernel = tf.Variable(tf.ones([30])), tf.Variable(tf.ones([16, 2]))
    made.shift = tf.function(lambda x: x - made.mean, input_signature=[tf.TensorSpec([None, None])])
    made.flat = tf.function(lambda x: tf.reshape(x, [-1, 16]) @ made.kernel,
                            input_signature=[tf.TensorSpec([None, None, None])])  # fmt: skip

    @tf.function(input_signature=[tf.TensorSpec([None, None])])
    def seven(x):
        codes = tf.one_hot(tf.cast(x[:, 6], tf.int32), 24)
        return tf.concat([x[:, :6], codes], axis=1) - made.mean

    made.seven = seven
    found = through(made, tmp_path)
    assert found.shift(tf.ones([7, 30])).shape == (7, 30)
    assert found.seven(tf.ones([5, 7])).shape == (5, 30)
    x = tf.constant(np.random.default_rng(0).normal(size=(5, 4, 4)), tf.float32)
    np.testing.assert_array_equal(found.flat(x), made.flat(x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not find matching"):
        found.shift(tf.ones([7, 5]))


def test_large_sizes_of_variables_are_not_tried(tmp_path, monkeypatch):
    counted = []
    filled = signatures.filled
    monkeypatch.setattr(
        signatures, "filled", lambda *a: (x := filled(*a), counted.append(x.size))[0]
    )
    made = tf.Module()
    made.kernels = [tf.Variable(tf.ones(shape)) for shape in ((784, 700), (700, 500), (500, 10))]

    @tf.function(input_signature=[tf.TensorSpec([None] * 4, tf.uint8)])
    def call(x):
        x = tf.reshape(x, [-1, 784]) / 255
        for kernel in made.kernels:
            x @= tf.cast(kernel, x.dtype)
        return x

    made.call = call
    found = through(made, tmp_path)
    x = np.random.default_rng(0).integers(0, 255, (3, 28, 28, 1), np.uint8)
    np.testing.assert_array_equal(found.call(x), made.call(x))
    assert sum(counted) < 2**28


def test_printing_and_custom_gradients(tmp_path, capsys):
    made = tf.Module()

    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda g: tf.clip_by_value(g, -1.0, 1.0)

    def call(x):
        print("tracing", x)
        return clipped(x)

    made.call = tf.function(call, input_signature=[tf.TensorSpec([])])
    with pytest.warns(UserWarning, match="custom gradient 'clipped'"):
        found = through(made, tmp_path)
    capsys.readouterr()
    assert found.call(3.0).numpy() == 9.0
    assert capsys.readouterr().out == ""


def test_default_signature(tmp_path):
    made = tf.Module()
    made.double = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None])])
    found = through(made, tmp_path)
    assert found.double([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    assert found.signatures["serving_default"](x=[1.0])["output_0"].numpy().tolist() == [2.0]


def test_functions_that_cannot_be_saved_warn(tmp_path):
    made = tf.Module()
    made.sign = tf.function(lambda x: x if x > 0 else -x)
    made.sign(tf.constant(1.0))
    with pytest.warns(UserWarning, match="'sign' is saved without 1 of its signatures"):
        found = through(made, tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Python reads the value"):
        found.sign(tf.constant(2.0))
    with pytest.raises(SaveError, match="Python reads the value"):
        tf.saved_model.save(made, tmp_path, signatures=made.sign)


def test_variables_that_no_attribute_holds(tmp_path):
    outside = tf.Variable(1.0)
    made = tf.Module()
    made.f = tf.function(lambda x: x + outside, input_signature=[tf.TensorSpec([])])
    with pytest.raises(SaveError, match="'Variable', which no attribute"):
        tf.saved_model.save(made, tmp_path, signatures=made.f)


def test_two_open_first_axes(tmp_path):
    made = tf.Module()
    two = [tf.TensorSpec([None, 2]), tf.TensorSpec([None, 2])]
    made.free = tf.function(lambda a, b: tf.matmul(a, b, transpose_b=True), input_signature=two)
    made.alike = tf.function(lambda a, b: a + b, input_signature=two)
    found = through(made, tmp_path)
    a, b = tf.ones([4, 2]), tf.ones([3, 2])
    assert found.free(a, b).shape == (4, 3)
    assert found.alike(a, a).shape == (4, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"same size of the first axis"):
        found.alike(a, b)


def test_generators_continue(tmp_path):
    made = tf.Module()
    made.generator = tf.random.Generator.from_seed(3)
    made.layer = keras.layers.Dropout(0.5, seed=1)
    spec = [tf.TensorSpec([8])]
    made.draw = tf.function(lambda: made.generator.normal([3]), input_signature=[])
    made.dropped = tf.function(lambda x: made.layer(x, training=True), input_signature=spec)
    made.draw()
    found = through(made, tmp_path)
    for _ in range(3):
        np.testing.assert_array_equal(found.draw(), made.draw())
        np.testing.assert_array_equal(found.dropped(tf.ones([8])), made.dropped(tf.ones([8])))
    np.testing.assert_array_equal(found.generator.state, made.generator.state)


def test_other_dtypes(tmp_path):
    made = tf.Module()
    made.half = tf.Variable(np.arange(3), dtype=tf.bfloat16)
    made.turn = tf.Variable([1 + 2j], dtype=tf.complex64)
    made.words = tf.Variable(["a", "bc"])
    made.flag = tf.Variable(True)
    made.open = tf.Variable([1.0, 2.0], shape=[None])
    found = through(made, tmp_path)
    assert found.half.dtype == tf.bfloat16
    assert found.turn.numpy().tolist() == [1 + 2j]
    assert found.words.numpy().tolist() == [b"a", b"bc"]
    assert found.flag.numpy()
    found.open.assign([1.0, 2.0, 3.0])


def test_assets(tmp_path):
    (tmp_path / "words.txt").write_text("a b")
    made = tf.Module()
    made.words = tf.saved_model.Asset(tmp_path / "words.txt")
    found = through(made, tmp_path / "saved")
    with open(found.words) as file:  # noqa: PTH123 (an Asset is a path)
        assert file.read() == "a b"
    assert found.words.asset_path.startswith(str(tmp_path / "saved"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="path of a file"):
        tf.saved_model.Asset(tmp_path / "none")


# ---- Keras ---------------------------------------------------------------------------------------


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.recurrent, self.dense = keras.layers.LSTM(4), keras.layers.Dense(2)

    def call(self, x, training=False):
        return self.dense(keras.layers.Dropout(0.5)(self.recurrent(x), training=training))


def functional():
    a, b = keras.Input((3,), name="a"), keras.Input((2,), name="b")
    both = keras.layers.Concatenate()([a, b])
    return keras.Model({"a": a, "b": b}, keras.layers.Dense(2, activation="gelu")(both))


def convolutional():
    return keras.Sequential([
        keras.Input((8, 8, 1)), keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.BatchNormalization(), keras.layers.MaxPooling2D(), keras.layers.Flatten(),
        keras.layers.Dense(3, activation="softmax"),
    ])  # fmt: skip


def attending():
    tokens = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(20, 8, mask_zero=True)(tokens)
    x = keras.layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    return keras.Model(tokens, keras.layers.GlobalAveragePooling1D()(x))


MODELS = {
    "functional": (
        functional,
        lambda r, n: {"a": r.normal(size=(n, 3)), "b": r.normal(size=(n, 2))},
    ),
    "convolutional": (convolutional, lambda r, n: r.normal(size=(n, 8, 8, 1))),
    "subclassed": (Subclassed, lambda r, n: r.normal(size=(n, 5, 3))),
    "attending": (attending, lambda r, n: r.integers(1, 20, (n, 4 + n))),
}


def in_32_bits(x):
    return tf.nest.map_structure(
        lambda a: tf.constant(a, tf.int32 if a.dtype.kind == "i" else tf.float32), x
    )


@pytest.mark.parametrize("name", MODELS)
def test_models(name, tmp_path):
    build, data = MODELS[name]
    model, random = build(), np.random.default_rng(0)
    model(in_32_bits(data(random, 2)))
    model.export(tmp_path / "export")
    served = tf.saved_model.load(tmp_path / "export")
    saved = through(model, tmp_path / "save")
    for rows in (1, 4):
        x = in_32_bits(data(random, rows))
        expected = model(x, training=False)
        np.testing.assert_allclose(served.serve(x), expected, rtol=1e-5, atol=1e-6)
        given = x if isinstance(x, dict) else {next(iter(_names(saved))): x}
        found = saved.signatures["serving_default"](**given)
        np.testing.assert_allclose(found["output_0"], expected, rtol=1e-5, atol=1e-6)


def _names(loaded):
    return loaded.signatures["serving_default"].structured_input_signature[1]


def test_export_says_what_it_wrote(tmp_path, capsys):
    functional().export(tmp_path / "folder", verbose=True)
    assert "takes ['a', 'b']" in capsys.readouterr().out
    with pytest.raises(ExportError, match=r"no further argument, got \['opset_version'\]"):
        functional().export(tmp_path / "folder", opset_version=20)
    with pytest.raises(ExportError, match="LiteRT"):
        functional().export(tmp_path / "folder", format="litert")


# ---- damaged and foreign folders -----------------------------------------------------------------


def test_folders_without_a_model(tmp_path):
    with pytest.raises(LoadError, match="SavedModel file does not exist"):
        tf.saved_model.load(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(LoadError, match="SavedModel of TensorFlow"):
        tf.saved_model.load(tmp_path)
    (tmp_path / FILE).write_bytes(b"nonsense")
    with pytest.raises(LoadError):
        tf.saved_model.load(tmp_path)


@pytest.mark.parametrize("change", [
    lambda v: v.pop("nodes"), lambda v: v["nodes"][0].update(kind="function"),
    lambda v: v["nodes"][0]["children"].update(x=99), lambda v: v["nodes"].clear(),
    lambda v: v["nodes"].append({"kind": "asset", "file": "../secret"}),
    lambda v: v["nodes"].append({"kind": "variable", "array": {"name": "no"}, "trainable": True,
                                 "name": "x", "shape": []}),
    lambda v: v["functions"]["0"]["__call__"].update(parameters=[["x", "NO_KIND", None]]),
    lambda v: v["functions"]["0"]["__call__"]["cases"][0].update(args=3),
])  # fmt: skip
def test_damaged_folders(line, tmp_path, change):
    tf.saved_model.save(line, tmp_path)
    with read_state(tmp_path / FILE, KIND) as file:
        arrays, values = file.arrays(), file.values
    change(values)
    write_state(tmp_path / FILE, KIND, arrays, values)
    with pytest.raises(DamagedFileError):
        tf.saved_model.load(tmp_path)


def test_options():
    assert (
        tf.saved_model.SaveOptions(experimental_io_device="/cpu").experimental_io_device == "/cpu"
    )
    assert tf.saved_model.LoadOptions().allow_partial_checkpoint is False
    assert tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY == "serving_default"
