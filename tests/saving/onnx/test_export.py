"""Exported files compute in onnxruntime what the model computes here."""

import contextlib
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import framework as tf
from framework import keras
from framework.core import nest
from framework.core.errors import ExportError, SaveError
from framework.saving.onnx import export as export_module
from framework.saving.onnx import proto
from framework.saving.onnx.export import export_onnx
from framework.saving.onnx.signature import of
from tests.saving.onnx.models import MODELS

L = keras.layers


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options)


def outputs(runtime, inputs):
    """The outputs of the runtime for inputs in the order of the file."""
    names = [node.name for node in runtime.get_inputs()]
    return runtime.run(None, dict(zip(names, inputs, strict=True)))


def expected(model, signature, inputs):
    arrays = [np.char.encode(x.astype(str)) if x.dtype.kind == "O" else x for x in inputs]
    return [t.numpy() for t in nest.flatten(signature.function(*map(as_tensor, arrays)))]


def as_tensor(array):
    return keras.ops.convert_to_tensor(array)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_computes_the_same(name, tmp_path):
    keras.utils.set_random_seed(1)
    model, inputs, specs = MODELS[name]()
    path = tmp_path / "model.onnx"
    export_onnx(model, path, specs)
    runtime, signature = session(path), of(model, specs)
    tolerance = {"mixed_precision": 5e-3}.get(name, 1e-4)
    for rows in (2, 1):
        given = inputs(rows)
        want = expected(model, signature, given)
        got = outputs(runtime, given)
        assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
        for g, w in zip(got, want, strict=True):
            scale = max(1.0, float(np.abs(w).max()))
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * scale)


# ---- what the file says --------------------------------------------------------------------------


def loaded(path):
    return onnx.load(str(path))


def names_and_shapes(values):
    def size(dim):
        return dim.dim_param or dim.dim_value

    return {v.name: [size(d) for d in v.type.tensor_type.shape.dim] for v in values}


def test_names_and_sizes_are_those_of_the_model(tmp_path):
    left, right = keras.Input((3,), name="left"), keras.Input((None, 2), name="right")
    made = keras.Model([left, right], [L.Dense(4, name="d")(left), L.Dense(1, name="e")(right)])
    made.export(tmp_path / "m.onnx", opset_version=19)
    graph = loaded(tmp_path / "m.onnx").graph
    assert names_and_shapes(graph.input) == {
        "left": ["batch", 3], "right": ["batch", "right_dim1", 2],
    }  # fmt: skip
    assert names_and_shapes(graph.output) == {"d": ["batch", 4], "e": ["batch", "right_dim1", 1]}
    assert {i.name for i in graph.initializer} >= {v.path for v in made.weights}
    assert [(o.domain, o.version) for o in loaded(tmp_path / "m.onnx").opset_import] == [("", 19)]


def test_a_network_keeps_one_transpose_of_its_input(tmp_path):
    layers = (
        L.Conv2D(4, 3, padding="same"), L.BatchNormalization(), L.ReLU(6.0), L.MaxPooling2D(),
        L.ZeroPadding2D(1), L.DepthwiseConv2D(3, 2), L.GlobalAveragePooling2D(), L.Dense(2),
    )  # fmt: skip
    made = keras.Sequential([keras.Input((8, 8, 3)), *layers])
    made.export(tmp_path / "m.onnx")
    nodes = loaded(tmp_path / "m.onnx").graph.node
    assert [n.op_type for n in nodes].count("Transpose") == 1
    assert nodes[0].op_type == "Transpose"


def test_masked_layers_loop_and_others_use_onnx_operators(tmp_path):
    x = keras.Input((5, 3))
    keras.Model(x, L.GRU(2)(L.LSTM(2, return_sequences=True)(x))).export(tmp_path / "a.onnx")
    kinds = {n.op_type for n in loaded(tmp_path / "a.onnx").graph.node}
    assert kinds & {"GRU", "LSTM", "Scan"} == {"GRU", "LSTM"}
    keras.Model(x, L.LSTM(2)(L.Masking()(x))).export(tmp_path / "b.onnx")
    kinds = {n.op_type for n in loaded(tmp_path / "b.onnx").graph.node}
    assert kinds & {"GRU", "LSTM", "Scan"} == {"Scan"}


def test_a_subclassed_model_is_exported_for_inputs_as_in_its_first_call(tmp_path):
    class Network(keras.Model):
        def __init__(self):
            super().__init__()
            self.words, self.last = L.Embedding(9, 4), L.Dense(2)

        def call(self, ids, more):
            return self.last(keras.ops.mean(self.words(ids), 1)) + more

    made = Network()
    made(np.ones((1, 3), np.int64), np.zeros((1, 2), np.float32))
    made.export(tmp_path / "m.onnx")
    found = [(i.name, i.type, i.shape) for i in session(tmp_path / "m.onnx").get_inputs()]
    assert found == [
        ("ids", "tensor(int64)", ["batch", 3]),
        ("more", "tensor(float)", ["batch", 2]),
    ]


def test_verbose_prints_what_was_written(tmp_path, capsys):
    made = keras.Sequential([keras.Input((2,)), L.Dense(3, name="d")])
    made.export(tmp_path / "m.onnx", verbose=True)
    assert "opset 20): 2 nodes, 9 weights, inputs ['input_layer" in capsys.readouterr().out
    made.export(tmp_path / "m.onnx")
    assert capsys.readouterr().out == ""


def test_random_draws_are_made_by_the_runtime(tmp_path):
    def noise(x):
        return tf.random.normal(tf.shape(x), 3.0, 2.0) + x * 0

    export_onnx(noise, tmp_path / "m.onnx", [tf.TensorSpec([None, 500])])
    (y,) = outputs(session(tmp_path / "m.onnx"), [np.zeros((40, 500), np.float32)])
    assert y.mean() == pytest.approx(3, abs=0.1)
    assert y.std() == pytest.approx(2, abs=0.1)


def test_an_export_leaves_the_state_as_it_was(tmp_path):
    made = keras.Sequential([keras.Input((3,)), L.Dense(2), L.Dropout(0.5, seed=1)])
    before = [v.numpy() for v in made.variables]
    made.export(tmp_path / "m.onnx")
    keras.utils.set_random_seed(4)
    first = keras.random.normal((3,)).numpy()
    keras.utils.set_random_seed(4)
    export_onnx(lambda x: x + keras.random.normal((3,)), tmp_path / "f.onnx", [tf.TensorSpec([3])])
    assert (keras.random.normal((3,)).numpy() == first).all()
    assert all((v.numpy() == a).all() for v, a in zip(made.variables, before, strict=True))


# ---- errors: nothing is written ------------------------------------------------------------------


def branch(x):
    return x if tf.reduce_sum(x) > 0 else -x


COUNT = tf.Variable(0.0, name="count")


def counted(x):
    COUNT.assign_add(1.0)
    return x + COUNT


def by_size(x):
    return x if x.shape[0] > 4 else tf.exp(x)


def as_array(x):
    return x * float(np.mean(x.numpy()))


def table_of_sizes(x):
    return x + np.array([p**2 % 7 for p in range(x.shape[0])], np.float32)[:, None]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (branch, r"reads the value of a tensor \(bool\), at .*test_export.py:\d+.*Use tf.where"),
        (counted, "assigns the variable 'count'.*no state"),
        (by_size, "different sizes call different ops.*input_signature"),
        (as_array, "as an array.*test_export.py"),
        (table_of_sizes, "Python computes an array of float32.*Give fixed sizes"),
        (lambda x: {"a": 1.5}, "returns dict, not a nest of tensors"),
        (lambda x: tf.linalg.inv(x @ tf.transpose(x)), "op 'inverse', at .*: ONNX has no such"),
        (lambda x: tf.signal.rfft(x), "op 'rfft'.*complex"),
    ],
)
def test_an_error_names_what_cannot_be_expressed(function, message, tmp_path):
    with pytest.raises(ExportError, match=message):
        export_onnx(function, tmp_path / "m.onnx", [tf.TensorSpec([None, 3])])
    assert list(tmp_path.iterdir()) == []


def test_an_error_names_the_layer(tmp_path):
    x = keras.Input((1,), dtype="string")
    made = keras.Model(x, L.Hashing(4, name="hashes")(x))
    with pytest.raises(ExportError, match=r"in layer 'hashes'.*export the model after it"):
        made.export(tmp_path / "m.onnx")


def test_wrong_arguments_are_named(tmp_path):
    made = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    path = tmp_path / "m.onnx"
    for arguments, message in [
        ({"format": "litert"}, "LiteRT.*expected 'onnx'.*model.save"),
        ({"format": "xml"}, "'xml' is not supported"),
        ({"opset_version": 9}, "opset_version from 18 to 23, got 9"),
        ({"options": 1}, r"expected only opset_version as a further argument, got \['options'\]"),
        ({"input_signature": ["x"]}, "expected specs with a shape.*got 'x' for argument 0"),
    ]:
        with pytest.raises(ExportError, match=message):
            made.export(path, **arguments)
    with pytest.raises(ExportError, match=r"ends in '.onnx', got '.*m.pb'"):
        made.export(tmp_path / "m.pb", format="onnx")
    with pytest.raises(ExportError, match=r"shapes of the inputs are not known. Call the model"):
        keras.Sequential([L.Dense(2)]).export(path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        made.export(path, input_signature=[tf.TensorSpec([None, 4])])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    made = keras.Sequential([keras.Input((3,)), L.Dense(2)])
    with pytest.raises(ExportError, match=r"pip install onnx, or framework\[onnx\]"):
        made.export(tmp_path / "m.onnx")


# ---- files ---------------------------------------------------------------------------------------


def test_large_weights_lie_in_a_second_file_that_is_replaced_as_a_whole(tmp_path, change):
    change(proto, EXTERNAL=1000)
    made = keras.Sequential([keras.Input((30,)), L.Dense(20), L.Dense(2)])
    x = np.ones((2, 30), np.float32)
    for _ in range(2):
        made.layers[0].kernel.assign_add(np.ones((30, 20), np.float32))
        made.export(tmp_path / "m.onnx")
        assert len(list(tmp_path.iterdir())) == 2
        (y,) = outputs(session(tmp_path / "m.onnx"), [x])
        np.testing.assert_allclose(y, made(x).numpy(), rtol=1e-4, atol=1e-4)
    onnx.checker.check_model(str(tmp_path / "m.onnx"))


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path, change):
    made = keras.Sequential([keras.Input((30,)), L.Dense(20)])
    made.export(tmp_path / "m.onnx")
    before = (tmp_path / "m.onnx").read_bytes()

    real = export_module.replacing

    @contextlib.contextmanager
    def full(path):
        if path.suffix == ".onnx":
            raise SaveError("the disk is full")
        with real(path) as file:
            yield file

    change(export_module, replacing=full)
    for threshold in (1 << 30, 1000):
        change(proto, EXTERNAL=threshold)
        with pytest.raises(SaveError, match="the disk is full"):
            made.export(tmp_path / "m.onnx")
        assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]
        assert (tmp_path / "m.onnx").read_bytes() == before
