"""Configs of layers: `keras.layers.serialize` and `deserialize`."""

import pytest

from framework.keras import layers, regularizers


def test_a_layer_comes_back_from_its_config():
    layer = layers.Dense(3, "relu", kernel_regularizer=regularizers.L2(0.1), name="hidden")
    copy = layers.deserialize(layers.serialize(layer))
    assert type(copy) is layers.Dense
    assert copy.get_config() == layer.get_config()


def test_a_class_of_the_user_comes_from_custom_objects():
    class Twice(layers.Layer):
        def call(self, inputs):
            return inputs * 2

    config = layers.serialize(Twice())
    assert type(layers.deserialize(config, {"Twice": Twice})) is Twice
    with pytest.raises(ValueError, match="Twice"):
        layers.deserialize(config)


@pytest.mark.parametrize("config", ["Dense", {"units": 3}, None])
def test_what_is_no_layer_is_refused(config):
    with pytest.raises(ValueError, match=r"expected the dict that keras\.layers\.serialize"):
        layers.deserialize(config)
