import numpy as np
import pytest

import framework as tf
from framework import keras
from parity.scenarios.file_models import inputs, table

MODELS = table()


def arrays(outputs):
    return [np.asarray(x) for x in tf.nest.flatten(outputs)]


def assert_same(model, again, x):
    for a, b in zip(arrays(model(x)), arrays(again(x)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_computes_the_same(name, tmp_path):
    make, x = MODELS[name]
    model = make(keras)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert type(again) is type(model)
    assert [v.name for v in again.variables] == [v.name for v in model.variables]
    assert again.get_config() == model.get_config()
    assert_same(model, again, x)


@pytest.mark.parametrize("name", MODELS)
def test_weights_move_between_models(name, tmp_path):
    make, x = MODELS[name]
    model, again = make(keras), make(keras)
    model.save_weights(tmp_path / "m.weights.h5")
    again.load_weights(tmp_path / "m.weights.h5")
    assert_same(model, again, x)


def trained():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(2)])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(inputs(8, 4), inputs(8, 2), verbose=0)
    return model


def test_training_goes_on_where_it_stopped(tmp_path):
    model = trained()
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert again.optimizer.iterations == 1
    for a, b in zip(again.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(a, b)
    x, y = inputs(8, 4), inputs(8, 2)
    assert model.train_on_batch(x, y) == again.train_on_batch(x, y)
    np.testing.assert_array_equal(model.get_weights()[0], again.get_weights()[0])


@pytest.mark.parametrize("mode", ["multi_hot", "count", "tf_idf"])
@pytest.mark.parametrize("kind", ["TextVectorization", "StringLookup", "IntegerLookup"])
def test_adapted_vocabularies(mode, kind, tmp_path):
    words = np.array([[1, 2], [1, 3], [1, 4]])
    if kind != "IntegerLookup":
        words = words.astype(str)
    if kind == "TextVectorization":
        words = np.array([[" ".join(row)] for row in words])
    layer = getattr(keras.layers, kind)(output_mode=mode)
    layer.adapt(words)
    x = keras.Input(words.shape[1:], dtype="int64" if kind == "IntegerLookup" else "string")
    counts = layer(x)
    model = keras.Model(x, keras.layers.Dense(2)(keras.ops.cast(counts, "float32")))
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_array_equal(model(words), loaded(words))
    assert counts.shape[1] == layer.vocabulary_size() == 5
    assert getattr(keras.layers, kind)(output_mode=mode)(x).shape == (None, None)
