"""The callback TensorBoard: tags and steps as Keras 3.15 writes them, read by TensorBoard."""

import gc
import json
import shutil

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import InvalidArgumentError, MissingFileError
from framework.training.summaries.event_file import drop_later, sizes
from framework.training.summaries.weight_images import weight_images
from tests.training.event_files import events, scalars, summaries

RNG = np.random.default_rng(0)
X, Y = RNG.random((20, 8, 8, 1), "float32"), RNG.random((20, 2))
TensorBoard = keras.callbacks.TensorBoard


def network(*layers):
    keras.utils.set_random_seed(0)
    made = keras.Sequential(
        [keras.Input((8, 8, 1)), keras.layers.Conv2D(3, 3, name="conv"), *layers,
         keras.layers.Flatten(name="flatten"), keras.layers.Dense(2, name="dense")], name="net"
    )  # fmt: skip
    made.compile("adam", "mse", metrics=["mae"])
    return made


def fit(folder, model=None, epochs=2, board=None, **options):
    model = network() if model is None else model
    board = TensorBoard(folder, **options) if board is None else board
    history = model.fit(
        X, Y, batch_size=4, epochs=epochs, validation_data=(X, Y), verbose=0, callbacks=[board]
    )
    return history.history, model


def test_scalars_of_epochs(tmp_path):
    logs, _ = fit(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["train", "validation"]
    train, validation = scalars(tmp_path / "train"), scalars(tmp_path / "validation")
    assert sorted(train) == ["epoch_learning_rate", "epoch_loss", "epoch_mae"]
    assert train["epoch_learning_rate"] == [(0, np.float32(0.001)), (1, np.float32(0.001))]
    for folder, prefix in (train, ""), (validation, "val_"):
        for name in ("loss", "mae"):
            expected = [(n, float(np.float32(v))) for n, v in enumerate(logs[prefix + name])]
            assert folder[f"epoch_{name}"] == expected
    by_iteration = validation["evaluation_loss_vs_iterations"]
    assert [step for step, _ in by_iteration] == [5, 10]
    assert sorted(validation) == [
        "epoch_loss", "epoch_mae", "evaluation_loss_vs_iterations", "evaluation_mae_vs_iterations",
    ]  # fmt: skip


def test_scalars_of_batches_and_of_layers(tmp_path):
    class Watched(keras.layers.Layer):
        def call(self, x):
            tf.summary.scalar("inside", tf.reduce_mean(x))
            return x

    model = network(Watched())
    fit(tmp_path, model, update_freq=2, write_steps_per_second=True, write_graph=False)
    train = scalars(tmp_path / "train")
    for name in "batch_loss", "batch_mae", "batch_steps_per_second", "inside":
        assert [step for step, _ in train[name]] == [2, 4, 6, 8, 10]
    assert [step for step, _ in train["epoch_steps_per_second"]] == [0, 1]
    assert [step for step, _ in train["epoch_loss"]] == [0, 1]  # Keras drops the first
    inside = scalars(tmp_path / "validation")["inside"]
    assert [step for step, _ in inside] == [2, 4, 6, 8, 10]
    assert not tf.summary.should_record_summaries()


def test_evaluate_writes_to_the_folder_of_validation(tmp_path):
    board = TensorBoard(tmp_path, update_freq="batch")
    _, model = fit(tmp_path, board=board)
    model.evaluate(X, Y, verbose=0, callbacks=[board])
    found = scalars(tmp_path / "validation")["evaluation_loss_vs_iterations"]
    assert [step for step, _ in found] == [5, 10, 10]


def test_histograms_and_images_of_weights_and_gradients(tmp_path):
    _, model = fit(tmp_path, epochs=3, histogram_freq=2, write_images=True, write_gradients=True)
    found = {(s.step, s.tag): s for s in summaries(tmp_path / "train")}
    for variable in model.weights:
        for step in 0, 2:
            histogram = found[step, f"{variable.path}/histogram"]
            assert histogram.plugin == "histograms"
            assert histogram.value.shape == (30, 3)
            assert histogram.value[:, 2].sum() == np.size(variable.numpy())
            assert found[step, f"{variable.path}/image"].plugin == "images"
            gradient = found[step, f"{variable.path}/gradient"]
            assert gradient.value[:, 2].sum() == np.size(variable.numpy())
        assert (1, f"{variable.path}/histogram") not in found
    last = found[2, "net/dense/kernel/histogram"].value
    kernel = model.get_layer("dense").kernel.numpy()
    assert last[0, 0] == kernel.min()
    assert last[-1, 1] == kernel.max()
    assert len(found[0, "net/conv/kernel/image"].value) == 2 + 3  # a size and three filters


def test_images_of_weights_use_all_greys():
    image = weight_images(np.array([[-2.0, 0.0, 2.0]] * 2))
    assert image.shape == (1, 2, 3, 1)
    assert image[0, 0, :, 0].tolist() == [0, 0.5, 1]
    assert weight_images(np.zeros((2, 2, 2, 2))) is None
    assert weight_images(np.zeros((0,))) is None
    assert weight_images(np.float32(3.0)) is None
    assert weight_images(np.ones(2)).max() == 0


def test_the_graphs_of_layers_and_ops(tmp_path):
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.plugins.graph.keras_util import keras_model_to_graph_def

    fit(tmp_path)
    (config,) = [s for s in summaries(tmp_path / "train") if s.plugin == "graph_keras_model"]
    layers = keras_model_to_graph_def(json.loads(config.value.item()))
    assert [node.name for node in layers.node][1:] == ["net/conv", "net/flatten", "net/dense"]
    graphs = [e.graph_def for e in events(tmp_path / "train") if e.graph_def]
    (graph,) = map(GraphDef.FromString, graphs)
    names = [node.name for node in graph.node]
    assert "net/dense/matmul" in names
    assert "net/flatten/reshape" in names
    assert not any("None" in name for name in names)


def test_the_graph_of_a_subclassed_model(tmp_path):
    class Net(keras.Model):
        def __init__(self):
            super().__init__(name="own")
            self.inner = keras.layers.Dense(2)

        def call(self, x):
            return self.inner(keras.ops.reshape(x, (-1, 64)))

    model = Net()
    model.compile("sgd", "mse")
    fit(tmp_path, model)
    assert not [s for s in summaries(tmp_path / "train") if s.plugin == "graph_keras_model"]
    assert [e.graph_def for e in events(tmp_path / "train") if e.graph_def]


def test_a_table_of_a_profile(tmp_path):
    logs, _ = fit(tmp_path, profile_batch=(3, 4))
    (profile,) = [s for s in summaries(tmp_path / "train") if s.tag == "profile"]
    text = profile.value.item().decode()
    assert profile.step == 3
    assert profile.plugin == "text"
    assert "| net/conv | Conv2D |" in text
    assert "| total |" in text
    assert fit(tmp_path / "without")[0] == logs  # it changes nothing


def test_embeddings_for_the_projector(tmp_path):
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    model = keras.Sequential([
        keras.Input((3,)), keras.layers.Embedding(5, 2, name="words"), keras.layers.Flatten(),
        keras.layers.Dense(1),
    ])  # fmt: skip
    model.compile("sgd", "mse")
    (tmp_path / "words.tsv").write_text("a\nb\nc\nd\ne\n")
    board = TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"words": "words.tsv"})
    model.fit(np.ones((2, 3), "int32"), np.ones((2, 1)), verbose=0, callbacks=[board])
    config = ProjectorConfig()
    text_format.Parse((tmp_path / "train" / "projector_config.pbtxt").read_text(), config)
    (row,) = config.embeddings
    table = np.loadtxt(tmp_path / "train" / row.tensor_path, delimiter="\t", dtype="float32")
    np.testing.assert_array_equal(table, model.get_layer("words").embeddings.numpy())
    assert (tmp_path / "train" / row.metadata_path).read_text().startswith("a\n")
    for metadata, error in {"word": InvalidArgumentError, "words": MissingFileError}.items():
        board.embeddings_metadata = {metadata: "none.tsv"}
        with pytest.raises(error, match="embeddings_metadata"):
            model.fit(np.ones((2, 3), "int32"), np.ones((2, 1)), verbose=0, callbacks=[board])


# ---- interrupted runs ----------------------------------------------------------------------------


class Interrupt(keras.callbacks.Callback):
    """Raises after some batches."""

    def __init__(self, after):
        self.after = after

    def on_train_batch_end(self, batch, logs=None):
        Interrupt.done += 1
        if Interrupt.done == self.after:
            raise KeyboardInterrupt


OPTIONS = {"update_freq": 1, "histogram_freq": 1, "write_graph": True}


def resumable(folder, state, interrupt=0, by_callback=False):
    callbacks = [Interrupt(interrupt)] if interrupt else []
    options = {"resume": state, "save_every": 3}
    if by_callback:
        callbacks.append(
            keras.callbacks.BackupAndRestore(state, save_freq=3, delete_checkpoint=False)
        )
        options = {}
    return network().fit(
        X, Y, batch_size=4, epochs=4, validation_data=(X, Y), verbose=0,
        callbacks=[TensorBoard(folder, **OPTIONS), *callbacks], **options,
    )  # fmt: skip


@pytest.mark.parametrize("by_callback", [False, True])
@pytest.mark.parametrize("after", [4, 11])
def test_a_resumed_run_has_each_value_once(after, by_callback, tmp_path):
    def found(folder):
        return [
            {(s.tag, s.step): s.value.tobytes() for s in summaries(tmp_path / folder / part)
             if s.plugin != "graph_keras_model"} for part in ("train", "validation")
        ]  # fmt: skip

    network().fit(
        X, Y, batch_size=4, epochs=4, validation_data=(X, Y), verbose=0,
        callbacks=[TensorBoard(tmp_path / "whole", **OPTIONS)],
    )  # fmt: skip
    Interrupt.done = 0
    with pytest.raises(KeyboardInterrupt):
        resumable(tmp_path / "parts", tmp_path / "state", after, by_callback)
    resumable(tmp_path / "parts", tmp_path / "state", 0, by_callback)
    whole, parts = found("whole"), found("parts")
    assert whole == parts
    listed = [s for part in ("train", "validation") for s in summaries(tmp_path / "parts" / part)
              if s.plugin != "graph_keras_model"]  # fmt: skip
    assert len(listed) == sum(map(len, whole))  # no value was written twice
    assert len([e for e in events(tmp_path / "parts" / "train") if e.graph_def]) == 1


def test_only_later_files_of_the_interrupted_process_are_dropped(tmp_path):
    (tmp_path / "train").mkdir()
    name = "train/events.out.tfevents.1000000000.my.host.77.{}.v2"
    other = "train/events.out.tfevents.1000000000.my.host.78.9.v2"
    for file in (name.format(1), name.format(3), other, "train/notes.txt"):
        (tmp_path / file).write_bytes(b"12345678")
    (tmp_path / "outside").write_bytes(b"12345678")
    known = {name.format(1): 4, "../outside": 0, "train/../../outside": 0, "train/notes.txt": 0}
    drop_later(tmp_path, ["train"], known)
    assert sizes(tmp_path, ["train"]) == {name.format(1): 4, other: 8}
    assert (tmp_path / "outside").read_bytes() == (tmp_path / "train/notes.txt").read_bytes()


# ---- mistakes, and what it costs -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "name"),
    [({"update_freq": 0}, "update_freq"), ({"update_freq": "week"}, "update_freq"),
     ({"histogram_freq": -1}, "histogram_freq"), ({"embeddings_freq": 0.5}, "embeddings_freq"),
     ({"profile_batch": (3, 2)}, "profile_batch"), ({"profile_batch": "x"}, "profile_batch"),
     ({"write_gradients": True}, "histogram_freq")],
)  # fmt: skip
def test_bad_arguments(options, name):
    with pytest.raises(InvalidArgumentError, match=name):
        TensorBoard("logs", **options)


def test_files_are_closed_after_an_error(tmp_path):
    class Fails(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            raise KeyboardInterrupt

    board = TensorBoard(tmp_path, update_freq=1)
    with pytest.raises(KeyboardInterrupt):
        network().fit(X, Y, verbose=0, callbacks=[board, Fails()])
    assert not tf.summary.should_record_summaries()
    assert "batch_loss" in scalars(tmp_path / "train")
    shutil.rmtree(tmp_path / "train")
    gc.collect()  # a file that is still open would warn


def test_values_of_epochs_need_no_hook_of_batches(tmp_path):
    board = TensorBoard(tmp_path)
    listeners = keras.callbacks.CallbackList([board], model=network()).listeners
    assert not listeners("on_train_batch_begin")
    assert not listeners("on_train_batch_end")


def test_the_hooks_called_by_hand(tmp_path):
    model = network()
    callbacks = keras.callbacks.CallbackList([TensorBoard(tmp_path)], model=model)
    callbacks.on_train_begin()
    for epoch in range(2):
        callbacks.on_epoch_begin(epoch)
        loss = model.train_on_batch(X, Y)[0]
        callbacks.on_epoch_end(epoch, {"loss": float(loss), "val_loss": 1.0})
    callbacks.on_train_end()
    assert [step for step, _ in scalars(tmp_path / "train")["epoch_loss"]] == [0, 1]
    assert scalars(tmp_path / "validation")["epoch_loss"] == [(0, 1.0), (1, 1.0)]
