import json

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import LoadError, SaveError, UnknownObjectError
from parity.scenarios.file_models import inputs

serialize = keras.saving.serialize_keras_object
deserialize = keras.saving.deserialize_keras_object


def again(obj, **options):
    return deserialize(json.loads(json.dumps(serialize(obj))), **options)


def test_records_are_those_of_keras():
    layer = keras.layers.Dense(3, name="d")
    layer.build((None, 4))
    record = serialize(layer)
    assert (record["module"], record["class_name"], record["registered_name"]) == (
        "keras.layers", "Dense", None,
    )  # fmt: skip
    assert record["build_config"] == {"input_shape": (None, 4)}
    assert record["config"]["dtype"] == {
        "module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
        "registered_name": None,
    }  # fmt: skip
    for obj, module, name in (
        (keras.optimizers.schedules.CosineDecay(0.1, 10), "keras.optimizers.schedules", None),
        (keras.regularizers.L2(), "keras.regularizers", None),
        (keras.Sequential(), "keras", None),
        (keras.losses.Huber(), "keras.losses", None),
        (keras.metrics.Mean(), "keras.metrics", None),
        (keras.constraints.NonNeg(), "keras.constraints", None),
        (keras.initializers.Zeros(), "keras.initializers", None),
    ):  # fmt: skip
        record = serialize(obj)
        assert (record["module"], record["registered_name"]) == (module, name)


@pytest.mark.parametrize("value", [
    None, True, 3, 2.5, "relu", [1, [2]], {"a": {"b": 1}}, b"bytes", ..., slice(1, None, 2),
])  # fmt: skip
def test_plain_values(value):
    assert again(value) == value


def test_arrays_and_tensors():
    array = again(np.array([[1, 2]], "int16"))
    assert (array.dtype, array.tolist()) == (np.int16, [[1, 2]])
    tensor = again(tf.constant([0.5, 1.5]))
    assert isinstance(tensor, tf.Tensor)
    assert tensor.numpy().tolist() == [0.5, 1.5]
    assert again(np.float32(0.5)) == 0.5


@keras.saving.register_keras_serializable("tests")
class Block(keras.layers.Layer):
    def __init__(self, units, inner=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = inner or keras.layers.Dense(units)

    def build(self, input_shape):
        self.inner.build(input_shape)
        self.scale = self.add_weight(shape=(self.units,), initializer="ones", name="scale")

    def call(self, x):
        return self.inner(x) * self.scale

    def get_config(self):
        return {**super().get_config(), "units": self.units, "inner": serialize(self.inner)}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "inner": deserialize(config["inner"])})


@keras.saving.register_keras_serializable("tests", name="twice")
def double(x):
    return 2 * x


def test_registered_objects():
    record = serialize(Block(3))
    assert record["registered_name"] == "tests>Block"
    assert record["module"] is None
    assert isinstance(again(Block(3)), Block)
    assert keras.saving.get_registered_name(double) == "tests>twice"
    assert keras.utils.get_registered_object("tests>twice") is double
    assert keras.saving.get_custom_objects()["tests>Block"] is Block
    assert again(double) is double
    layer = again(keras.layers.Dense(2, activation=double))
    assert layer.activation is double
    with pytest.raises(ValueError, match="get_config"):
        keras.saving.register_keras_serializable()(int)


def test_passed_objects():
    class Mine(keras.layers.Dense):
        pass

    record = serialize(Mine(2, name="m"))
    with pytest.raises(UnknownObjectError, match="Unknown class 'Mine'"):
        deserialize(record)
    with pytest.raises(TypeError):  # as in Keras
        deserialize(record)
    assert type(deserialize(record, custom_objects={"Mine": Mine})) is Mine
    with keras.saving.custom_object_scope({"Mine": Mine}):
        assert type(deserialize(record)) is Mine
    with pytest.raises(LoadError):
        deserialize(record)


def test_a_subclassed_model_with_registered_layers(tmp_path):
    @keras.saving.register_keras_serializable("tests")
    class Net(keras.Model):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.blocks = [Block(units), Block(units)]
            self.parts = {"head": keras.layers.Dense(1), "more": [keras.layers.Dense(units)]}

        def call(self, x):
            for block in self.blocks:
                x = block(x)
            return self.parts["head"](self.parts["more"][0](x))

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    model, x = Net(3), inputs(5, 4)
    model(x)
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_array_equal(model(x), loaded(x))
    model.save_weights(tmp_path / "m.weights.h5")
    other = Net(3)
    other(x)
    other.load_weights(tmp_path / "m.weights.h5")
    np.testing.assert_array_equal(model(x), other(x))


def test_a_shared_object_stays_one(tmp_path):
    @keras.saving.register_keras_serializable("tests")
    class Twice(keras.Model):
        def __init__(self, first, second, **kwargs):
            super().__init__(**kwargs)
            self.first, self.second = first, second

        def call(self, x):
            return self.second(self.first(x))

        def get_config(self):
            return {"name": self.name, "first": serialize(self.first),
                    "second": serialize(self.second)}  # fmt: skip

        @classmethod
        def from_config(cls, config):
            first, second = deserialize(config["first"]), deserialize(config["second"])
            return cls(first, second, name=config["name"])

    dense = keras.layers.Dense(4)
    model, x = Twice(dense, dense), inputs(3, 4)
    model(x)
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert loaded.first is loaded.second
    np.testing.assert_array_equal(model(x), loaded(x))


def test_json_texts():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, "relu")])
    loaded = keras.models.model_from_json(model.to_json(indent=2))
    assert loaded.get_config() == model.get_config()
    with pytest.raises(LoadError, match="not a JSON text"):
        keras.models.model_from_json("{")


def test_lambdas(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(lambda x: x + 1)])
    with pytest.raises(SaveError, match="lambda cannot be saved"):
        model.save(tmp_path / "m.keras")
    assert list(tmp_path.iterdir()) == []
    named = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(double)])
    named.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert loaded(np.ones((1, 2))).numpy().tolist() == [[2.0, 2.0]]
    copy = keras.models.clone_model(model)
    assert copy(np.ones((1, 2))).numpy().tolist() == [[2.0, 2.0]]


def test_operations_that_files_cannot_hold():
    x = keras.Input((4,))
    model = keras.Model(x, keras.ops.sort(x))
    with pytest.raises(SaveError, match=r"argsort.*registered layer"):
        model.get_config()
    model = keras.Model(x, x * tf.Variable(2.0))
    with pytest.raises(SaveError, match="variable as an argument"):
        model.get_config()


def test_arguments_that_a_version_does_not_have():
    record = serialize(keras.layers.Dense(2))
    record["config"]["of_a_later_version"] = None
    assert deserialize(record).units == 2
    record["config"]["of_a_later_version"] = 3
    with pytest.raises(ValueError, match="of_a_later_version"):
        deserialize(record)
