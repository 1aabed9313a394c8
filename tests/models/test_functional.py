"""Functional models: graphs of calls, their order, their inputs and outputs."""

import copy
import gc
import weakref

import numpy as np
import pytest

import framework as tf
from framework import activations, keras
from framework.core.auto_names import forget_names
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.core.variable import KerasVariable
from framework.layers import Add, Concatenate, Dense, Dropout, Input, InputLayer, Layer, Permute
from framework.models import Functional, Model, Sequential, clone_model

X = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


def branched():
    forget_names()
    i = Input((4,))
    a, b = Dense(3, name="a")(i), Dense(3, name="b")(i)
    c = Dense(3, name="c")(b)
    shared = Dense(3, name="s")
    return Model(i, [shared(a) + shared(c), Dense(1, name="e")(a)])


def test_model_of_inputs_and_outputs_is_a_functional():
    i = Input((4,))
    model = Model(i, Dense(2)(i))
    assert type(model) is Functional
    assert isinstance(model, Model)
    assert type(Model(inputs=i, outputs=Dense(2)(i), name="m")) is Functional
    assert Model(i, Dense(2)(i), name="m").name == "m"
    np.testing.assert_allclose(
        model(X), X @ model.layers[1].kernel.numpy() + model.layers[1].bias.numpy(), rtol=1e-5
    )
    assert (model.input_shape, model.output_shape) == ((None, 4), (None, 2))


def test_layers_and_weights_are_in_keras_order():
    """Real Keras 3.15 gives the same for this graph."""
    model = branched()
    assert [layer.name for layer in model.layers] == ["input_layer", "b", "a", "c", "s", "e"]
    assert [v.path for v in model.variables] == [
        f"{name}/{weight}" for name in "bacse" for weight in ("kernel", "bias")
    ]
    assert [op.name for op in model.operations] == ["input_layer", "b", "a", "c", "s", "add", "e"]
    assert model.name == "functional"


def test_a_layer_read_by_several_layers_precedes_them():
    i = Input((4,))
    near = Dense(4, name="near")(i)
    far = Dense(4, name="far2")(Dense(4, name="far1")(near))
    model = Model(i, [near, Concatenate(name="both")([near, far])])
    assert [layer.name for layer in model.layers][1:] == ["near", "far1", "far2", "both"]


def test_a_branched_graph_computes_what_its_layers_do():
    model = branched()
    a, b, c, s, e = (model.get_layer(name) for name in "abcse")
    for x in (X, tf.constant(X), tf.constant(X)):
        first, second = model(x)
        np.testing.assert_allclose(first, s(a(X)) + s(c(b(X))), rtol=1e-6)
        np.testing.assert_allclose(second, e(a(X)), rtol=1e-6)


def test_gradients():
    model = branched()
    with tf.GradientTape() as tape:
        first, second = model(X)
        loss = tf.reduce_sum(first * first) + tf.reduce_sum(second)
    grads = tape.gradient(loss, model.trainable_variables)
    kernel = model.get_layer("s").kernel
    place = next(i for i, v in enumerate(model.trainable_variables) if v is kernel)
    value, index = kernel.numpy(), (1, 2)
    ends = []
    for step in (1e-3, -1e-3):
        moved = value.copy()
        moved[index] += step
        kernel.assign(moved)
        first, second = model(X)
        ends.append(float(tf.reduce_sum(first * first) + tf.reduce_sum(second)))
    assert grads[place][index].numpy() == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-2)


def test_nested_inputs_and_outputs_keep_their_structure():
    inputs = {"b": Input((2,), name="b"), "a": [Input((2,), name="a0"), Input((2,), name="a1")]}
    total = inputs["b"] * 1.0 + inputs["a"][0] * 10.0 + inputs["a"][1] * 100.0
    model = Model(inputs, {"out": total, "list": [total + 1.0], "tuple": (total, total)})
    ones = np.ones((1, 2), "float32")
    out = model({"b": ones, "a": [2 * ones, 3 * ones]})
    assert list(out) == ["out", "list", "tuple"]
    np.testing.assert_array_equal(out["out"], 321 * ones)
    np.testing.assert_array_equal(out["list"][0], 322 * ones)
    assert isinstance(out["tuple"], tuple)
    assert model.input_names == ["a0", "a1", "b"]  # walked by sorted key
    assert model.input_shape == [(None, 2)] * 3
    i = Input((2,))
    assert not isinstance(Model(i, [i * 2.0])(ones), list)  # one output comes alone, as in Keras


def test_inputs_are_matched_by_name():
    i, j = Input((2,), name="i"), Input((2,), name="j")
    model = Model([i, j], i - j)
    ones = np.ones((1, 2), "float32")
    np.testing.assert_array_equal(model({"j": ones, "i": 3 * ones, "other": 1}), 2 * ones)
    with pytest.raises(InvalidArgumentError, match="Missing data for input 'j'"):
        model({"i": ones})
    with pytest.raises(
        InvalidArgumentError, match=r"expects 2 input\(s\) \['i', 'j'\].*received 1"
    ):
        model(ones)


def test_inputs_are_brought_to_the_inputs_dtype_and_rank():
    i, j = Input((3,), dtype="float64"), Input((1,))
    seen = []

    class Looks(Layer):
        def call(self, x):
            if not isinstance(x, KerasTensor):
                seen.append((x.dtype, tuple(x.shape)))
            return x

    model = Model([i, j], [Looks(dtype="float64")(i), Looks()(j)])
    model([np.ones((2, 3, 1), "uint8"), [1, 2]])
    assert seen == [("float64", (2, 3)), ("float32", (2, 1))]
    assert Model(i, i * 2.0)([[1, 2, 3]]).numpy().tolist() == [[2, 4, 6]]
    assert Model(i, i * 2.0)([np.ones((2, 3))]).shape == (2, 3)
    with pytest.raises(ShapeError, match=r"expected shape=\(None, 3\), found shape=\(2, 4\)"):
        model([np.ones((2, 4)), np.ones((2, 1))])
    with pytest.raises(ShapeError, match=r"found shape=\(2, 3, 2\)"):
        model([np.ones((2, 3, 2)), np.ones((2, 1))])
    fixed = Input((3,), batch_size=2)
    assert Model(fixed, fixed * 2.0)(np.ones((5, 3))).shape == (5, 3)


def test_an_optional_input_may_be_none():
    class Either(Layer):
        def call(self, x, y=None):
            return x if y is None else x + y

    i, j = Input((2,)), Input((2,), optional=True)
    model = Model([i, j], Either()(i, y=j))
    ones = np.ones((1, 2), "float32")
    np.testing.assert_array_equal(model([ones, None]), ones)
    np.testing.assert_array_equal(model([ones, ones]), 2 * ones)
    with pytest.raises(InvalidArgumentError, match="is not optional, but None was passed"):
        model([None, ones])


def test_ops_keywords_constants_and_several_outputs_become_steps():
    class Halves(Layer):
        def call(self, x, scale=1.0, add=None):
            return x[:, :2] * scale + add, {"rest": x[:, 2:]}

    i = Input((4,))
    first, rest = Halves()(i, scale=3.0, add=i[:, :2])
    y = activations.relu(1.0 - first / 2.0) + np.float32(2.0)
    merged = Concatenate()([y, rest["rest"]])
    model = Model(i, [merged, Permute((1,))(first)])
    out, half = model(X)
    expected = X[:, :2] * 4
    np.testing.assert_allclose(half, expected, rtol=1e-6)
    np.testing.assert_allclose(out[:, :2], np.maximum(1 - expected / 2, 0) + 2, rtol=1e-6)
    np.testing.assert_array_equal(out[:, 2:], X[:, 2:])


def test_a_variable_beside_a_keras_tensor_is_read_anew_at_each_call():
    v = KerasVariable(2.0)
    i = Input((4,))
    model = Model(i, i * v)
    np.testing.assert_array_equal(model(X), 2 * X)
    v.assign(3.0)
    with tf.GradientTape() as tape:
        y = model(X)
    np.testing.assert_array_equal(y, 3 * X)
    assert tape.gradient(y, v).numpy() == pytest.approx(X.sum(), rel=1e-5)


def test_the_same_call_twice_is_two_steps():
    drop = Dropout(0.5, seed=1)
    i = Input((100,))
    model = Model(i, [drop(i), drop(i)])
    a, b = model(np.ones((1, 100)), training=True)
    assert not np.array_equal(a, b)
    assert len(model._framework.sequence.calls) == 2


def test_training_reaches_the_layers():
    i = Input((50,))
    model = Model(i, [Dropout(0.5)(i), Dropout(0.5)(i, training=True)])
    ones = np.ones((1, 50), "float32")
    plain, always = model(ones)
    assert plain.numpy().all()
    assert not always.numpy().all()
    assert not model(ones, training=True)[0].numpy().all()


def test_models_inside_models_and_parts_of_models():
    model = branched()
    part = Model(model.input, model.get_layer("c").output)
    np.testing.assert_array_equal(part(X), model.get_layer("c")(model.get_layer("b")(X)))
    assert [layer.name for layer in part.layers] == ["input_layer", "b", "c"]
    i = Input((4,))
    outer = Model(i, Add()([*model(i)[:1], Dense(3)(i)]))
    assert len(outer.trainable_variables) == 12
    assert outer.layers[1] in (model, outer.layers[1])
    assert outer(X).shape == (5, 3)
    middle = Model(model.get_layer("b").output, model.get_layer("c").output)
    np.testing.assert_array_equal(middle(model.get_layer("b")(X)), part(X))
    assert isinstance(middle.layers[0], InputLayer)


def test_deep_models_need_no_recursion():
    i = x = Input((2,))
    for _ in range(3000):
        x = x + 0.5
    assert Model(i, x)(np.zeros((1, 2), "float32")).numpy()[0, 0] == 1500


def test_values_no_longer_needed_are_let_go():
    alive = []

    class Watches(Layer):
        def call(self, x):
            if not isinstance(x, KerasTensor):
                gc.collect()
                alive.append(sum(r() is not None for r in refs))
                y = x + 1.0
                refs.append(weakref.ref(y))
                return y
            return x

    refs = []
    i = x = Input((2,))
    for _ in range(6):
        x = Watches()(x)
    Model(i, x)(np.ones((1, 2)))
    assert max(alive) <= 1


def test_errors_of_graphs():
    i, j = Input((2,), name="i"), Input((2,), name="j")
    with pytest.raises(InvalidArgumentError, match=r"Graph disconnected: cannot find parent.*'add"):
        Model(i, Add()([i, j]))
    with pytest.raises(InvalidArgumentError, match='The name "same" is used 2 times'):
        Model(i, Dense(2, name="same")(Dense(2, name="same")(i)))
    with pytest.raises(InvalidArgumentError, match="All `outputs` values must be KerasTensors"):
        Model(i, X)
    with pytest.raises(InvalidArgumentError, match="All `inputs` values must be KerasTensors"):
        Model([i, 3], i)
    unused = Model([i, j], i * 2.0)
    assert len(unused.layers) == 2
    np.testing.assert_array_equal(unused([X[:, :2], X[:, 2:]]), 2 * X[:, :2])


def test_operations_and_layers_share_no_name():
    forget_names()
    x = y = Input((4,))
    for _ in range(2):
        y = y + Dense(4)(y)  # the operation "add"
        y = Add()([y, Dense(4)(y)])  # the layers "add" and "add_1"
    config = Model(x, y).get_config()
    names = [layer["name"] for layer in config["layers"]]
    assert len(set(names)) == len(names)
    assert {"add", "add_1", "add_2", "add_3"} <= set(names)
    Model.from_config(config)


def test_a_users_class_on_inputs_and_outputs():
    class Custom(Model):
        def train_step(self, data):
            return {"mine": 1.0}

    i = Input((4,))
    model = Custom(i, Dense(2)(i))
    assert isinstance(model, Custom)
    assert isinstance(model, Functional)
    assert type(model).__name__ == "Custom"
    assert model.train_step(None) == {"mine": 1.0}
    assert model(X).shape == (5, 2)

    class Own(Custom):
        def __init__(self, units):
            i = Input((4,))
            super().__init__(inputs=i, outputs=Dense(units)(i), name="own")
            self.extra = Dense(1)

    model = Own(3)
    assert (model(X).shape, model.name) == ((5, 3), "own")
    assert type(model) is type(Own(2))
    assert model.extra in model._layers


def test_copies_and_clones():
    model = branched()
    copied, cloned = copy.deepcopy(model), clone_model(model)
    for other in (copied, cloned):
        assert [v.path for v in other.variables] == [v.path for v in model.variables]
        assert other.get_layer("a") is not model.get_layer("a")
        other.set_weights(model.get_weights())
        for mine, theirs in zip(model(X), other(X), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    copied.get_layer("a").kernel.assign(np.zeros((4, 3)))
    assert np.any(model.get_layer("a").kernel.numpy())
    stack = Sequential([Input((4,)), Dense(2), Sequential([Dense(3)])])
    bare = clone_model(
        stack, clone_function=lambda layer: Dense(layer.units, use_bias=False), recursive=True
    )
    assert [layer.count_params() for layer in bare.layers] == [8, 6]
    assert [layer.count_params() for layer in clone_model(stack).layers] == [10, 9]
    assert not clone_model(stack).compiled
    stack.compile("adam", "mse")
    assert clone_model(stack).optimizer is not stack.optimizer
    assert (clone_model(stack).loss, clone_model(stack).optimizer.name) == ("mse", "adam")
    with pytest.raises(InvalidArgumentError, match="expected a functional or Sequential"):
        clone_model(type("Mine", (Model,), {})())


def test_a_model_is_let_go():
    reference = weakref.ref(branched())
    gc.collect()
    assert reference() is None


def test_model_makes_a_functional_model_of_its_config():
    class Scale(Layer):
        def __init__(self, factor=2.0):
            super().__init__()
            self.factor = factor

        def call(self, inputs):
            return inputs * self.factor

        def get_config(self):
            return {"factor": self.factor}

    inputs = Input((4,))
    model = Model(inputs, Dense(3)(Scale(3.0)(inputs)))
    again = Model.from_config(model.get_config(), custom_objects={"Scale": Scale})
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again(X), model(X))

    class Mine(Model):
        def __init__(self, size=3):
            super().__init__()
            self.size = size

        def get_config(self):
            return {"size": self.size}

    assert Mine.from_config(Mine(5).get_config()).size == 5


def test_structures_of_inputs_that_differ():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    x = np.arange(6, dtype="float32").reshape(2, 3)
    by_name = keras.Model({"a": a, "b": b}, a - 2 * b)
    told = "The structure of `inputs` doesn't match the expected structure"
    with pytest.warns(UserWarning, match=told):
        np.testing.assert_array_equal(by_name({"a": x, "b": x, "c": x}), -x)
    with pytest.warns(UserWarning, match=told):
        np.testing.assert_array_equal(by_name([x, x]), -x)
    with pytest.raises(ValueError, match=r"expects 2 named input\(s\) with keys"):
        by_name(x)
    unsorted = keras.Model({"b": b, "a": a}, a - 2 * b)
    with pytest.raises(ValueError, match=told):
        unsorted([x, x])
    listed = keras.Model([a, b], a - 2 * b)
    np.testing.assert_array_equal(listed({"b": x, "a": x, "more": x}), -x)
    for model in (by_name, keras.Sequential([keras.layers.ReLU()])):
        with pytest.raises(AttributeError, match="attribute is reserved"):
            model.layers = []
