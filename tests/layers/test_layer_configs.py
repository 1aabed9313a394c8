"""Configs of layers: `keras.layers.serialize` and `deserialize`."""

import numpy as np
import pytest

from framework.keras import Model, layers, regularizers


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


def test_activity_regularizers_in_configs():
    """As in Keras: layers of one file write None differently."""
    assert "activity_regularizer" not in layers.Dense(2).get_config()
    assert layers.Dense(2, activity_regularizer="l2").get_config()["activity_regularizer"]
    assert layers.EinsumDense("ab,bc->ac", 2).get_config()["activity_regularizer"] is None


def test_trainable_is_a_boolean():
    with pytest.raises(ValueError, match="Expected `trainable` to be a boolean"):
        layers.Dense(2, trainable="yes")


def test_build_takes_shapes_of_masks():
    class Own(layers.Layer):
        def build(self, inputs_shape, attention_mask_shape=None):
            self.shapes = inputs_shape, attention_mask_shape

        def call(self, inputs, attention_mask=None):
            return inputs

    for mask in (None, np.ones((2, 1), "float32")):
        layer = Own()
        layer(np.ones((2, 3), "float32"), attention_mask=mask)
        assert layer.shapes == ((2, 3), mask if mask is None else (2, 1))


def test_tuples_of_outputs_stay_tuples():
    inputs = layers.Input((3,))
    model = Model(inputs, (layers.Dense(1)(inputs), layers.Dense(2)(inputs)))
    for each in (model, Model.from_config(model.get_config())):
        assert isinstance(each(np.ones((2, 3), "float32")), tuple)


def test_a_constructor_receives_the_name_of_the_policy():
    class Own(layers.Dense):
        def __init__(self, *args, dtype=None, **kwargs):
            self.given = dtype
            super().__init__(*args, dtype=dtype, **kwargs)

    layer = Own.from_config(layers.Dense(2, dtype="mixed_bfloat16").get_config())
    assert layer.given == "mixed_bfloat16"
    assert layer.compute_dtype == "bfloat16"
