"""Operations, calls with given values of variables, and rematerialization."""

import numpy as np
import pytest

import framework as tf
from framework import keras

layers = keras.layers
X = np.random.default_rng(4).normal(size=(6, 3)).astype("float32")


def bits(tensors):
    return [np.asarray(t).tobytes() for t in tensors]


# ---- keras.Operation -----------------------------------------------------------------------------


@keras.saving.register_keras_serializable("test_operation")
class Affine(keras.Operation):
    def __init__(self, factor, name=None):
        super().__init__(name=name)
        self.factor = factor

    def call(self, x, shift=None):
        return x * self.factor if shift is None else [x * self.factor + shift, shift]


class OfSizes(keras.Operation):
    """Uses NumPy, so its outputs are inferred with stand-ins."""

    def call(self, x):
        return tf.constant(np.repeat(x.numpy(), 2, axis=1))


class Declared(OfSizes):
    def compute_output_spec(self, x):
        return keras.KerasTensor((x.shape[0], 2 * x.shape[1]), x.dtype)


def test_operations_are_calls_of_a_functional_model():
    inputs = keras.Input((3,), name="x")
    affine = Affine(2.0, name="double")
    outputs = Affine(3.0)(affine(inputs), shift=inputs)
    model = keras.Model(inputs, outputs)
    assert [o.name for o in model.operations] == ["x", "double", "affine"]
    assert affine.input is inputs
    assert affine.output.shape == (None, 3)
    copies = [model, keras.Model.from_config(model.get_config()), keras.models.clone_model(model)]
    for each in copies:
        np.testing.assert_allclose(each(X)[0], 7 * X, rtol=1e-6)
    model.summary(print_fn=lambda text: None)


@pytest.mark.parametrize("operation", [OfSizes(), Declared()])
def test_outputs_are_inferred_or_declared(operation):
    inputs = keras.Input((3,))
    outputs = operation(inputs)
    assert outputs.shape == (None, 6)
    np.testing.assert_array_equal(keras.Model(inputs, outputs)(X), np.repeat(X, 2, axis=1))
    np.testing.assert_array_equal(operation(tf.constant(X)), np.repeat(X, 2, axis=1))


def test_layers_are_operations_and_operations_no_layers():
    assert isinstance(layers.Dense(1), keras.Operation)
    assert issubclass(layers.ReLU, keras.Operation)
    assert not isinstance(Affine(1.0), keras.Layer)
    assert not issubclass(OfSizes, Affine)
    assert not isinstance(layers.Dense(1), Affine)


def test_configs_and_errors():
    assert Affine.from_config(Affine(2.0, name="a").get_config()).factor == 2.0
    with pytest.raises(NotImplementedError, match="get_config"):
        Affine(X).get_config()
    with pytest.raises(ValueError, match="cannot contain character"):
        Affine(1.0, name="a/b")
    with pytest.raises(AttributeError, match="no defined output"):
        Affine(1.0).output  # noqa: B018 (reading it raises)
    with pytest.raises(NotImplementedError, match="does not have a `call"):
        keras.Operation()(X)


# ---- values instead of variables -----------------------------------------------------------------


def make_model():
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            layers.Dense(4, "tanh", kernel_regularizer="l2"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(1, activity_regularizer="l2"),
        ]
    )
    model.build((None, 3))
    return model


def test_stateless_call_computes_what_a_call_does_and_changes_nothing():
    model = make_model()
    trainable = [v.value for v in model.trainable_variables]
    other = [v.value for v in model.non_trainable_variables]
    before = bits(model.variables)
    with tf.GradientTape() as tape:
        tape.watch(trainable)
        outputs, after, losses = model.stateless_call(
            trainable, other, X, training=True, return_losses=True
        )
        loss = tf.reduce_sum(outputs) + sum(losses)
    gradients = tape.gradient(loss, trainable)
    assert bits(model.variables) == before
    with tf.GradientTape() as tape:
        expected = model(X, training=True)
        loss = tf.reduce_sum(expected) + sum(model.losses)
    assert bits(losses) == bits(model.losses)
    np.testing.assert_array_equal(outputs, expected)
    assert bits(after) == bits(model.non_trainable_variables)
    assert bits(gradients) == bits(tape.gradient(loss, model.trainable_variables))


def test_values_are_arguments_of_a_function():
    model = make_model()
    other = [v.value for v in model.non_trainable_variables]
    call = tf.function(lambda values, x: model.stateless_call(values, other, x)[0])
    for factor in (1.0, 2.0, 3.0):
        values = [factor * v.value for v in model.trainable_variables]
        expected = model.stateless_call(values, other, X)[0]
        np.testing.assert_allclose(call(values, X), expected, rtol=1e-6)
    np.testing.assert_array_equal(call([v.value for v in model.trainable_variables], X), model(X))


def test_stateless_call_checks_the_values():
    model = make_model()
    ours = model.trainable_variables, model.non_trainable_variables
    for i, name in enumerate(("`trainable_variables`", "`non_trainable_variables`")):
        wrong = [list(ours[0]), list(ours[1])]
        wrong[i] = wrong[i][:1]
        with pytest.raises(ValueError, match=f"{name} must be a list of tensors"):
            model.stateless_call(*wrong, X)
    with pytest.raises(ValueError, match="expected a value of shape"):
        model.stateless_call([v.value[None] for v in ours[0]], ours[1], X)
    with pytest.raises(ValueError, match="must be built"):
        layers.Dense(1).stateless_call([], [], X)


def test_a_scope_collects_updates():
    v, w = keras.Variable([1.0, 2.0]), keras.Variable(3.0)
    with keras.StatelessScope([(v, np.array([5.0, 6.0]))]) as scope:
        v.assign_add([1.0, 1.0])
        w.assign(w * 2.0)
        metric = keras.metrics.Mean()
        metric.update_state([1.0, 2.0])
        assert metric.result() == 1.5
        assert (float(w), v.numpy().tolist()) == (6.0, [6.0, 7.0])
        with keras.StatelessScope() as inner:
            w.assign(0.0)
        assert float(w) == 6.0
        assert inner.get_current_value(v) is None
    assert float(w) == 3.0
    assert v.numpy().tolist() == [1.0, 2.0]
    assert float(scope.get_current_value(w)) == 6.0
    with pytest.raises(ValueError, match="pairs"):
        keras.StatelessScope([(1.0, 2.0)])


def test_stateless_loss_and_update():
    model = make_model()
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    state = [[v.value for v in part] for part in _parts(model)]
    y = X[:, :1]
    loss, after = model.stateless_compute_loss(*state, X, y, y_pred=model(X))
    assert float(loss) == pytest.approx(float(model.compute_loss(X, y, model(X))), rel=1e-6)
    assert [len(part) for part in after] == [len(part) for part in state]
    grads = [tf.ones_like(v) for v in state[0]]
    before = bits(model.optimizer.variables)
    values = [v.value for v in model.optimizer.variables]
    new, slots = model.optimizer.stateless_apply(values, grads, state[0])
    assert bits(model.optimizer.variables) == before
    model.optimizer.apply(grads, model.trainable_variables)
    assert bits(new) == bits(model.trainable_variables)
    assert bits(slots) == bits(model.optimizer.variables)


def _parts(model):
    return model.trainable_variables, model.non_trainable_variables, model.metrics_variables


def test_state_trees():
    keras.utils.clear_session()
    model = keras.Sequential([layers.Dense(1, name="d"), layers.Dropout(0.5)], name="m")
    with pytest.raises(ValueError, match="value_format"):
        model.get_state_tree("arrays")
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, X[:, :1], verbose=0)
    tree = model.get_state_tree("numpy_array")
    # the keys that Keras has for this model
    assert {k: list(v) for k, v in tree.items()} == {
        "trainable_variables": ["m"],
        "non_trainable_variables": ["seed_generator"],
        "optimizer_variables": ["adam"],
        "metrics_variables": ["loss", "mean_absolute_error"],
    }
    assert list(tree["optimizer_variables"]["adam"])[:3] == [
        "iteration", "learning_rate", "m_d_kernel_momentum"
    ]  # fmt: skip
    model.fit(X, X[:, :1], verbose=0)
    model.set_state_tree(tree)
    again = model.get_state_tree()
    for group in tree:
        for old, new in zip(keras.tree.flatten(tree[group]), keras.tree.flatten(again[group])):
            np.testing.assert_array_equal(old, new)
    with pytest.raises(ValueError, match="expected keys among"):
        model.set_state_tree({"weights": {}})


# ---- recomputed values ---------------------------------------------------------------------------


def trained(mode):
    keras.utils.set_random_seed(0)
    with keras.RematScope(mode, output_size_threshold=3, layer_names=["named"]):
        inner = [
            layers.Dense(4, "tanh", name="named"), layers.BatchNormalization(), layers.Dropout(0.5)
        ]  # fmt: skip
    model = keras.Sequential([*inner, layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(X, X[:, :1], epochs=2, batch_size=3, verbose=0)
    return bits(model.get_weights()), inner


def test_rematerialized_layers_train_to_the_same_weights():
    plain, _ = trained(None)
    for mode in ("full", "activations", "larger_than", "list_of_layers"):
        weights, (dense, normalization, dropout) = trained(mode)
        assert weights == plain
        recomputes = [
            layer.rematerialized_call(layer.call, tf.ones((2, n))) != layer.call
            for layer, n in ((dense, 3), (normalization, 4), (dropout, 4))
        ]
        assert recomputes == [True, mode in ("full", "larger_than"), False]


def test_a_rematerialized_layer_runs_twice():
    calls = []

    class Counted(layers.Layer):
        def call(self, x, training=False):
            calls.append(training)
            return tf.tanh(x)

    with keras.RematScope():
        layer = Counted()
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = layer(x, training=True)
    np.testing.assert_allclose(tape.gradient(y, x), 1 - np.tanh(X) ** 2, rtol=1e-5)
    assert calls == [True, True]
    with pytest.raises(ValueError, match="RematScope: mode"):
        keras.RematScope("most")
