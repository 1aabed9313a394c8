"""keras.config: the order of axes, limits of training, and where messages go."""

import inspect
import logging
import warnings

import numpy as np
import pytest

from framework import keras
from framework.core import program_settings

config, layers = keras.config, keras.layers
X = np.random.default_rng(2).normal(size=(20, 3)).astype("float32")


@pytest.fixture(autouse=True)
def restored():
    held = dict(vars(program_settings._Settings))
    yield
    for name in ("image_data_format", "flash_attention", "interactive", "max_epochs", "max_steps"):
        setattr(program_settings._Settings, name, held[name])


VALUES = {"filters": 2, "kernel_size": 2, "rate": 0.5, "pool_size": 2, "output_size": 2}


def layers_with_a_data_format():
    for name in dir(layers):
        if not inspect.isclass(getattr(layers, name)):
            continue
        parameters = inspect.signature(getattr(layers, name)).parameters
        if "data_format" in parameters:
            needed = [k for k, p in parameters.items() if p.default is p.empty]
            if all(k in VALUES for k in needed):
                yield name, {k: VALUES[k] for k in needed}


def test_every_layer_has_the_default_data_format():
    found = dict(layers_with_a_data_format())
    assert len(found) > 50
    for data_format in ("channels_first", "channels_last"):
        config.set_image_data_format(data_format.upper())
        assert keras.backend.image_data_format() == data_format
        for name, arguments in found.items():
            assert getattr(layers, name)(**arguments).data_format == data_format, name


def test_functions_have_the_default_data_format():
    config.set_image_data_format("channels_first")
    x, kernel = np.ones((1, 3, 5, 6), "float32"), np.ones((2, 2, 3, 4), "float32")
    assert keras.ops.conv(x, kernel).shape == (1, 4, 4, 5)
    assert keras.ops.max_pool(x, 2).shape == (1, 3, 2, 3)
    assert keras.utils.img_to_array(np.ones((4, 5, 3))).shape == (3, 4, 5)
    assert layers.Conv2D(4, 2)(x).shape == (1, 4, 4, 5)
    assert layers.Conv2D(4, 2, data_format="channels_last")(x).shape == (1, 2, 4, 4)
    with pytest.raises(ValueError, match="must be one of 'channels_first', 'channels_last'"):
        config.set_image_data_format("NHWC")


def make_model():
    model = keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def test_limits_of_training():
    model = make_model()
    config.set_max_epochs(2)
    config.set_max_steps_per_epoch(3)
    assert (config.max_epochs(), config.max_steps_per_epoch()) == (2, 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = model.fit(X, X[:, :1], batch_size=2, epochs=5, verbose=0)
    messages = [str(w.message) for w in caught]
    assert messages == ["Limiting epochs to 2", "Limiting steps_per_epoch to 3"]
    assert len(history.epoch) == 2
    assert int(model.optimizer.iterations) == 6
    with pytest.warns(UserWarning, match="Limiting steps_per_epoch to 3"):
        assert len(model.predict(X, batch_size=2, verbose=0)) == 6
    config.set_max_steps_per_epoch(None)
    assert len(model.predict(X, batch_size=2, verbose=0)) == 20


def test_messages_go_to_a_logger(capsys, caplog):
    keras.utils.disable_interactive_logging()
    assert not config.is_interactive_logging_enabled()
    model = make_model()
    with caplog.at_level(logging.INFO, "framework"):
        model.fit(X, X[:, :1], verbose=1)
        model.summary()
    assert "Epoch 1/1" in caplog.messages[0]
    assert "Total params" in caplog.messages[1]
    assert not capsys.readouterr().out
    keras.utils.enable_interactive_logging()
    model.summary()
    assert "Total params" in capsys.readouterr().out


def test_flags_without_effect():
    assert config.is_flash_attention_enabled() is None
    config.disable_flash_attention()
    assert config.is_flash_attention_enabled() is False
    config.enable_flash_attention()
    assert config.is_flash_attention_enabled() is None
    config.enable_unsafe_deserialization()
