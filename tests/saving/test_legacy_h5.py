import json

import h5py
import numpy as np
import pytest

from framework import keras
from framework.core.errors import DamagedFileError, LoadError, SaveError
from framework.saving import legacy_h5_writing
from framework.saving.hdf5_texts import check_lengths
from parity.scenarios.file_models import inputs


def dense(name, units, **more):
    return {"class_name": "Dense", "config": {
        "name": name, "trainable": True, "dtype": "float32", "units": units, **more}}  # fmt: skip


def start(**more):
    config = {"name": "x", "dtype": "float32", "sparse": False, "ragged": False}
    return {
        "class_name": "InputLayer",
        "config": {**config, "batch_input_shape": [None, 4], **more},
    }


SEQUENTIAL = {"class_name": "Sequential", "config": {
    "name": "m", "layers": [start(), dense("a", 3, activation="relu"), dense("b", 2)]}}  # fmt: skip

FUNCTIONAL = {"class_name": "Functional", "config": {
    "name": "m", "layers": [
        {**start(), "name": "x", "inbound_nodes": []},
        {**dense("a", 3, activation="relu"), "name": "a", "inbound_nodes": [[["x", 0, 0, {}]]]},
        {**dense("b", 2), "name": "b", "inbound_nodes": [[["a", 0, 0, {}]]]},
    ],
    "input_layers": [["x", 0, 0]], "output_layers": [["b", 0, 0]]}}  # fmt: skip

TRAINING = {
    "loss": "mse", "metrics": ["mae"], "weighted_metrics": None, "loss_weights": None,
    "optimizer_config": {"class_name": "SGD", "config": {
        "name": "SGD", "learning_rate": 0.25, "decay": 0.0, "momentum": 0.5, "nesterov": False}},
}  # fmt: skip


def write(path, config, training=TRAINING, change=None):
    """Write a file in Keras 2's layout; return the weights in it."""
    weights = [inputs(4, 3), inputs(3), inputs(3, 2), inputs(2)]
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = "2.15.0", "tensorflow"
        file.attrs["model_config"] = json.dumps(config)
        if training:
            file.attrs["training_config"] = json.dumps(training)
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"x", b"a", b"b"]
        group.create_group("x").attrs["weight_names"] = np.array([], "S1")
        for name, arrays in (("a", weights[:2]), ("b", weights[2:])):
            layer = group.create_group(name)
            names = [f"{name}/kernel:0", f"{name}/bias:0"]
            layer.attrs["weight_names"] = [n.encode() for n in names]
            for full, array in zip(names, arrays, strict=True):
                layer.create_dataset(full, data=array)
        if change:
            change(file)
    return weights


@pytest.mark.parametrize("config", [SEQUENTIAL, FUNCTIONAL], ids=["sequential", "functional"])
def test_a_file_of_keras_2(config, tmp_path):
    weights = write(tmp_path / "m.h5", config)
    model = keras.models.load_model(tmp_path / "m.h5")
    for a, b in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(a, b)
    x = inputs(5, 4)
    hidden = np.maximum(x @ weights[0] + weights[1], 0)
    np.testing.assert_allclose(model(x), hidden @ weights[2] + weights[3], rtol=1e-5, atol=1e-6)
    assert (float(model.optimizer.learning_rate), model.optimizer.momentum) == (0.25, 0.5)
    assert len(model.train_on_batch(x, inputs(5, 2))) == 2
    assert not keras.models.load_model(tmp_path / "m.h5", compile=False).compiled


def test_weights_alone(tmp_path):
    weights = write(tmp_path / "m.h5", SEQUENTIAL)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    model.load_weights(tmp_path / "m.h5")
    np.testing.assert_array_equal(model.get_weights()[2], weights[2])


def _remove_config(file):
    del file.attrs["model_config"]


def _remove_layer(file):
    file["model_weights"].attrs["layer_names"] = [b"x", b"a"]


def _link(file):
    file["model_weights/c"] = h5py.ExternalLink("/etc/passwd", "/")


@pytest.mark.parametrize(("config", "training", "change"), [
    (SEQUENTIAL, TRAINING, _remove_config), (SEQUENTIAL, TRAINING, _remove_layer),
    (SEQUENTIAL, TRAINING, _link), (SEQUENTIAL, {"loss": "mse"}, None),
    (SEQUENTIAL, {**TRAINING, "loss": "system"}, None), ({"class_name": "os"}, TRAINING, None),
    ({"class_name": "Sequential", "config": {"name": "m", "layers": [
        start(), {"class_name": "Lambda", "config": {
            "name": "l", "function": ["4wAA", None, None], "function_type": "lambda"}}]}},
     TRAINING, None),
])  # fmt: skip
def test_a_hostile_file_is_one_clear_error(config, training, change, tmp_path):
    """CVE-2025-9905: Keras did not check files of this format."""
    write(tmp_path / "m.h5", config, training, change)
    with pytest.raises(LoadError):
        keras.models.load_model(tmp_path / "m.h5", safe_mode=False)


def test_a_damaged_heap_of_texts_is_not_read(tmp_path):
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = "{}"
        file.attrs["keras_version"] = "abcdef"
    data = path.read_bytes()
    at = data.index(b"abcdef") - 8  # the size of the text; with 0 the library does not return
    path.write_bytes(data[:at] + b"\0" * 16 + data[at + 16 :])
    with pytest.raises(DamagedFileError):
        keras.models.load_model(path)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_groups_may_have_different_numbers_of_texts(libver, tmp_path):
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver=libver) as file:
        for count in (0, 3, 1, 0, 2):
            group = file.create_group(f"g{len(file)}")
            group.attrs["weight_names"] = ["kernel"] * count
            group.attrs["noise"] = np.full(50, 0x7FFFFFFF)
            group.attrs["one"] = "text"
    with path.open("rb") as file:
        for name in ("weight_names", "one"):
            check_lengths(file, name, "m.h5")


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("text", ["x" * 77, ["x" * 77, "abc"]])
def test_a_text_that_is_longer_than_the_file_is_not_read(libver, text, tmp_path):
    path = tmp_path / "m.h5"
    with h5py.File(path, "w", libver=libver) as file:
        file.attrs["model_config"] = text
    data = path.read_bytes()
    at = data.index(b"model_config\0")
    at = data.index(b"M\0\0\0", at + 12)  # the length of the first text: 77
    path.write_bytes(data[:at] + b"\0\0\0\x94" + data[at + 4 :])
    with pytest.raises(DamagedFileError, match="longer than the file"), path.open("rb") as file:
        check_lengths(file, "model_config", "m.h5")
    with pytest.raises(LoadError):
        keras.models.load_model(path)


def test_a_damaged_type_of_texts_is_not_read(tmp_path):
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = "{}"
    data = path.read_bytes()
    at = data.index(b"\x19\x01", data.index(b"model_config\0"))
    path.write_bytes(data[: at + 1] + b"\xe4" + data[at + 2 :])
    with pytest.raises(DamagedFileError, match="damaged type"):
        keras.models.load_model(path)


# ---- writing -------------------------------------------------------------------------------------


def functional_model():
    x = keras.Input((4,))
    a, b = keras.layers.Dense(3, name="a")(x), keras.layers.Dense(3, name="b")(x)
    y = keras.layers.BatchNormalization(name="n")(keras.layers.Add()([a, b]))
    return keras.Model(x, keras.layers.Dense(2)(y))


def sequential_model():
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, name="a")], name="inner")
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="a"), inner,
                             keras.layers.Dropout(0.5), keras.layers.Dense(2)])  # fmt: skip


@pytest.mark.parametrize("build", [functional_model, sequential_model])
@pytest.mark.parametrize("ending", ["h5", "hdf5"])
def test_a_saved_model_is_loaded_with_its_state(build, ending, tmp_path):
    model, x, y = build(), inputs(8, 4), inputs(8, 2)
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, epochs=2, verbose=0)
    model.save(tmp_path / f"m.{ending}")
    again = keras.models.load_model(tmp_path / f"m.{ending}")
    np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))
    for a, b in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        np.testing.assert_array_equal(a, b)
    assert again.evaluate(x, y, verbose=0) == model.evaluate(x, y, verbose=0)


def test_the_layout_is_that_of_keras(tmp_path):
    model = functional_model()
    model.compile(keras.optimizers.SGD(0.25, momentum=0.5), "mse")
    model.fit(inputs(8, 4), inputs(8, 2), verbose=0)
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5") as file:
        assert json.loads(file.attrs["model_config"])["class_name"] == "Functional"
        training = json.loads(file.attrs["training_config"])
        assert training["optimizer_config"]["class_name"] == "SGD"
        assert training["loss"] == "mse"
        layers = [n.decode() for n in file["model_weights"].attrs["layer_names"]]
        assert layers == [layer.name for layer in model.layers]
        group = file["model_weights/n"]
        names = [n.decode() for n in group.attrs["weight_names"]]
        assert [n.rpartition("/")[2] for n in names] == [
            "gamma", "beta", "moving_mean", "moving_variance",
        ]  # fmt: skip
        np.testing.assert_array_equal(group[names[0]], model.get_layer("n").gamma)
        assert len(file["optimizer_weights"].attrs["weight_names"]) == len(
            model.optimizer.variables
        )


def test_long_lists_of_names_are_split(tmp_path, change):
    change(legacy_h5_writing, _MOST=40)
    model = functional_model()
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5") as file:
        assert "layer_names0" in file["model_weights"].attrs
    again = keras.models.load_model(tmp_path / "m.h5")
    np.testing.assert_array_equal(again(inputs(3, 4)), model(inputs(3, 4)))


def test_subclassed_models_are_refused(tmp_path):
    class Own(keras.Model):
        def call(self, x):
            return x

    model = Own()
    model(inputs(2, 2))
    (tmp_path / "m.h5").write_bytes(b"before")
    with pytest.raises(SaveError, match="Sequential and functional models only"):
        model.save(tmp_path / "m.h5")
    assert (tmp_path / "m.h5").read_bytes() == b"before"
