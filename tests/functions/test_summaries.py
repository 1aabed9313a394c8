"""tf.summary: what TensorBoard's reader finds; values and errors as TensorFlow's were recorded."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import framework as tf
from framework import keras
from framework.core.errors import DTypeError, InvalidArgumentError, SaveError, ShapeError
from tests.training.event_files import events, summaries

summary = tf.summary


@pytest.fixture
def writer(tmp_path):
    made = summary.create_file_writer(tmp_path)
    yield made
    made.close()


def written(writer, tmp_path):
    writer.flush()
    return summaries(tmp_path)


def test_scalars_have_tags_steps_and_descriptions(writer, tmp_path):
    with writer.as_default():
        assert summary.scalar("a", 1.5, step=1)
        with tf.name_scope("s"):
            summary.scalar("b", 2, step=np.int64(2), description="**d**")
        summary.scalar("c", tf.constant(3.0, tf.float64), step=tf.Variable(3))
        summary.scalar("d", tf.Variable(4.0), step=tf.constant(1, tf.int64))
        summary.scalar("e", True, step=1)
    found = [(s.step, s.tag, float(s.value), s.description) for s in written(writer, tmp_path)]
    assert found == [
        (1, "a", 1.5, ""), (2, "s/b", 2.0, "**d**"), (3, "c", 3.0, ""), (1, "d", 4.0, ""),
        (1, "e", 1.0, ""),
    ]  # fmt: skip
    assert {s.value.dtype for s in summaries(tmp_path)} == {np.dtype("float32")}
    assert {s.plugin for s in summaries(tmp_path)} == {"scalars"}


def test_files_have_tensorflows_names_and_first_event(writer, tmp_path):
    (file,) = tmp_path.iterdir()
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+\.v2", file.name)
    assert events(tmp_path)[0].file_version == "brain.Event:2"
    other = summary.create_file_writer(tf.constant(str(tmp_path)), filename_suffix=".mine")
    other.close()
    assert [p.name[-5:] for p in tmp_path.iterdir() if p != file] == [".mine"]


HISTOGRAMS = {  # data, buckets: TensorFlow's rows
    "even": (np.arange(10.0), 4, [[0, 2.25, 3], [2.25, 4.5, 2], [4.5, 6.75, 2], [6.75, 9, 3]]),
    "one value": ([2.0, 2.0, 2.0], 3, [[2, 2, 0], [2, 2, 0], [2, 2, 3]]),
    "empty": ([], 2, [[0, 0, 0], [0, 0, 0]]),
    "no buckets": ([1, 2], 0, np.zeros((0, 3))),
    "large": ([-1e308, 1e308], 2, [[-1e308, 0, 1], [0, 1e308, 1]]),
}


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms(name, writer, tmp_path):
    data, buckets, rows = HISTOGRAMS[name]
    with writer.as_default(step=0):
        summary.histogram("h", data, buckets=buckets)
    (found,) = written(writer, tmp_path)
    assert found.plugin == "histograms"
    np.testing.assert_allclose(found.value, np.reshape(rows, (-1, 3)))


def test_a_histogram_has_30_buckets_and_counts_all_elements(writer, tmp_path):
    data = np.random.default_rng(0).normal(size=(40, 25)).astype("float32")
    with writer.as_default(step=0):
        summary.histogram("h", tf.constant(data))
    (found,) = written(writer, tmp_path)
    counts, edges = np.histogram(data.astype("float64"), 30)
    np.testing.assert_array_equal(found.value[:, 2], counts)
    np.testing.assert_allclose(found.value[:, 0], edges[:-1])


def test_a_histogram_leaves_out_what_is_not_finite_and_says_so(writer, tmp_path):
    with writer.as_default(step=0), pytest.warns(UserWarning, match="2 of 4 elements"):
        summary.histogram("h", [1.0, np.nan, 3.0, np.inf], buckets=2)
    assert written(writer, tmp_path)[0].value.tolist() == [[1, 2, 1], [2, 3, 1]]


PIXELS = {
    "uint8": (np.arange(12, dtype="uint8"), np.arange(12)),
    "float32": (np.linspace(-0.1, 1.1, 12, dtype="float32"),
                [0, 2, 30, 58, 85, 113, 141, 169, 197, 225, 253, 255]),
    "uint16": (np.arange(12, dtype="uint16") * 5000, np.arange(12) * 5000 // 256),
    "int8": (np.arange(-4, 8, dtype="int8"), np.maximum(np.arange(-4, 8) * 2, 0)),
    "bool": (np.arange(12) % 2 == 1, np.arange(12) % 2 * 255),
}  # fmt: skip


@pytest.mark.parametrize("name", PIXELS)
def test_images_are_png_files_of_8_bits(name, writer, tmp_path):
    data, expected = PIXELS[name]
    with writer.as_default(step=0):
        summary.image("i", np.stack([data.reshape(2, 2, 3)] * 3), max_outputs=2)
    (found,) = written(writer, tmp_path)
    assert found.plugin == "images"
    assert found.value.tolist()[:2] == [b"2", b"2"]
    assert len(found.value) == 4
    pixels = np.asarray(Image.open(io.BytesIO(found.value[2])))
    np.testing.assert_array_equal(pixels.reshape(-1), expected)


def test_sounds_are_the_bytes_of_tensorflow(writer, tmp_path):
    with writer.as_default(step=0):
        data = np.linspace(-1.2, 1.2, 10, dtype="float32").reshape(2, 5, 1)
        summary.audio("a", data, 8000)
    (found,) = written(writer, tmp_path)
    assert found.plugin == "audio"
    assert found.value[:, 1].tolist() == [b"", b""]
    head = b"RIFF.\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\n\0\0\0"
    assert found.value[0, 0] == head + b"\0\x80\x89\x88\xab\xaa\xcd\xcc\xef\xee"
    assert found.value[1, 0] == head + b"\x11\x1133UUww\xff\x7f"


def test_texts_and_any_tensors(writer, tmp_path):
    with writer.as_default(step=0):
        summary.text("t", "# title")
        summary.text("u", tf.constant([["a", "b"]]))
        summary.write("w", lambda: tf.constant([1, 2]))
        metadata = _metadata("mine")
        summary.write("x", np.array(["s"]), metadata=metadata)
        summary.write("y", 1.0, metadata=metadata.SerializeToString())
    t, u, w, x, y = written(writer, tmp_path)
    assert (t.plugin, t.value.item(), u.value.tolist()) == ("text", b"# title", [[b"a", b"b"]])
    assert (w.plugin, w.value.tolist(), w.value.dtype) == ("", [1, 2], np.dtype("int32"))
    assert (x.plugin, x.value.tolist(), y.plugin) == ("mine", [b"s"], "mine")


def _metadata(plugin):
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin))


def test_default_writers_steps_and_conditions(tmp_path, writer):
    assert not summary.should_record_summaries()
    assert not summary.scalar("a", 1.0)  # without a writer no step is needed
    other = summary.create_file_writer(tmp_path / "other")
    step = tf.Variable(7, dtype=tf.int64)
    with writer.as_default(step=4):
        with other.as_default(step):
            summary.scalar("a", 1.0)
            step.assign_add(1)
            summary.scalar("a", 1.0)
        with summary.record_if(False):
            assert not summary.scalar("b", lambda: 1 / 0)
            with summary.record_if(lambda: tf.constant(True)):
                summary.scalar("c", 1.0)
        with summary.create_noop_writer().as_default():
            assert not summary.should_record_summaries()
            assert not summary.scalar("d", 1.0)
        assert summary.should_record_summaries()
        assert summary.experimental.get_step() == 4
        summary.experimental.set_step(9)
        summary.scalar("e", 1.0)
    assert summary.experimental.get_step() is None
    other.close()
    assert [s.step for s in summaries(tmp_path / "other")] == [7, 8]
    assert [(s.tag, s.step) for s in written(writer, tmp_path)] == [("c", 4), ("e", 9)]


def test_set_as_default_and_close(tmp_path):
    writer = summary.create_file_writer(tmp_path, max_queue=1)
    try:
        writer.init()
        writer.set_as_default(step=2)
        summary.scalar("a", 1.0)
        summary.scalar("a", 1.0)
        assert len(summaries(tmp_path)) == 2  # the queue was full
        summary.scalar("a", 2.0)
        summary.flush()
        assert len(summaries(tmp_path)) == 3
        writer.close()
        writer.close()
        with pytest.raises(RuntimeError, match="closed"):
            summary.scalar("a", 1.0)
        with pytest.raises(RuntimeError, match="closed"), writer.as_default():
            pass
    finally:
        tf.summary.create_noop_writer().set_as_default()
        summary.experimental.set_step(None)


BAD = {
    "no step": (lambda: summary.scalar("x", 1.0), InvalidArgumentError, "no step"),
    "shape": (lambda: summary.scalar("x", [1, 2], step=0), ShapeError, r"expected shape \(\)"),
    "a word": (lambda: summary.scalar("x", "s", step=0), DTypeError, "expected numbers"),
    "complex": (lambda: summary.scalar("x", 1j, step=0), DTypeError, "complex128"),
    "steps": (lambda: summary.scalar("x", 1, step=[1, 2]), InvalidArgumentError, "step: expected"),
    "half": (lambda: summary.scalar("x", 1, step=1.5), InvalidArgumentError, "got 1.5"),
    "name": (lambda: summary.scalar(3, 1, step=1), InvalidArgumentError, "name: expected"),
    "rank": (lambda: summary.image("x", np.zeros((3, 3, 1)), step=0), ShapeError, "height"),
    "channels": (lambda: summary.image("x", np.zeros((1, 3, 3, 5)), step=0), ShapeError, "4"),
    "outputs": (lambda: summary.image("x", np.zeros((1, 2, 2, 1)), step=0, max_outputs=-1),
                InvalidArgumentError, "max_outputs"),
    "sound": (lambda: summary.audio("x", np.zeros((3, 3)), 8000, step=0), ShapeError, "samples"),
    "encoding": (lambda: summary.audio("x", np.zeros((1, 3, 1)), 8000, step=0, encoding="mp3"),
                 InvalidArgumentError, "mp3"),
    "text": (lambda: summary.text("x", 3, step=1), DTypeError, "strings"),
    "buckets": (lambda: summary.histogram("x", [1.0], step=0, buckets=1.5),
                InvalidArgumentError, "buckets"),
    "metadata": (lambda: summary.write("x", 1, step=0, metadata=3), DTypeError, "metadata"),
    "raw": (lambda: summary.experimental.write_raw_pb(3, step=0), InvalidArgumentError, "bytes"),
    "graph": (lambda: summary.graph(3), InvalidArgumentError, "GraphDef"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_errors_name_the_argument_and_write_nothing(name, writer, tmp_path):
    call, error, match = BAD[name]
    with writer.as_default(), pytest.raises(error, match=match):
        call()
    assert written(writer, tmp_path) == []


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SaveError, match="Cannot write"):
        summary.create_file_writer(tmp_path / "file" / "logs")
    with pytest.raises(ValueError, match="logdir"):
        summary.create_file_writer(None)


def test_a_traced_function_writes_at_every_call(writer, tmp_path):
    @tf.function
    def square(x):
        summary.scalar("constant", 1.0, step=0)
        return x * x

    with writer.as_default():
        for n in range(6):
            assert square(tf.constant(float(n))).numpy() == n * n
    assert len(written(writer, tmp_path)) == 6
    assert "tf.summary runs in Python" in square.explain()


def test_a_traced_function_prints_at_every_call(capsys):
    @tf.function
    def square(x):
        tf.print("constant", output_stream=sys.stdout)
        return x * x

    for n in range(6):
        square(tf.constant(float(n)))
    assert capsys.readouterr().out == "constant\n" * 6


def test_a_model_with_summaries_is_built_and_trained(writer, tmp_path):
    @keras.saving.register_keras_serializable("summaries")
    class Watched(keras.layers.Layer):
        def call(self, x):
            summary.scalar("mean", tf.reduce_mean(x))
            return x

    with writer.as_default(step=3):
        model = keras.Sequential([keras.Input((2,)), Watched(), keras.layers.Dense(1)])
        assert written(writer, tmp_path) == []  # there are no values yet
        step = model.training_step(loss="mse", optimizer="sgd")
        for n in range(4):
            step(np.full((2, 2), n, "float32"), np.zeros((2, 1), "float32"))
    assert [float(s.value) for s in written(writer, tmp_path)] == [0, 1, 2, 3]


def test_the_graph_of_a_model_has_its_ops_and_edges(writer, tmp_path):
    inputs = keras.Input((4,), name="x")
    hidden = keras.layers.Dropout(0.5, name="drop")(keras.layers.Dense(3, name="d")(inputs))
    model = keras.Model(inputs, hidden + keras.layers.Dense(3, name="e")(inputs), name="net")
    before = [v.numpy() for v in model.variables]
    with writer.as_default():
        assert summary.graph(model)
    assert all((a == v.numpy()).all() for a, v in zip(before, model.variables))
    writer.flush()
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    graph = GraphDef.FromString(next(e.graph_def for e in events(tmp_path) if e.graph_def))
    nodes = {node.name: list(node.input) for node in graph.node}
    assert nodes["inputs/input_0"] == []
    assert nodes["net/d/kernel"] == []
    assert nodes["net/d/matmul"] == ["inputs/input_0", "net/d/kernel"]
    assert all(name in nodes for inputs in nodes.values() for name in inputs)
    (end,) = nodes["outputs/output_0"]
    assert len(nodes[end]) == 2


def test_without_tensorboard_the_error_says_what_to_install(tmp_path):
    program = (
        "import sys; sys.modules['tensorboard'] = None\n"
        "import framework as tf\n"
        "for call in (lambda: tf.summary.create_file_writer('logs'), "
        "tf.keras.callbacks.TensorBoard, lambda: tf.summary.hparams.HParam('a')):\n"
        "    try: call()\n"
        "    except ImportError as error: print(error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert found.stdout.count("pip install 'framework[tensorboard]'") == 3, found.stdout
    assert list(tmp_path.iterdir()) == []
