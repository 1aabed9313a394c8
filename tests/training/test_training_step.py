"""The one train step and its faces: the same numbers to the last bit."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.kernels import tier

ROWS, FEATURES, CLASSES = 96, 6, 3


def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, FEATURES)).astype("float32")
    y = (x @ rng.normal(size=(FEATURES, CLASSES))).argmax(1)
    return x, y


def batches():
    return tf.data.Dataset.from_tensor_slices(data()).batch(20)  # the last one has 16 rows


def make_model(kind=keras.Sequential):
    keras.utils.set_random_seed(11)
    model = kind(
        [
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(CLASSES),
        ]
    )
    model.build((None, FEATURES))
    return model


def loss_fn():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


class BatchLosses(keras.callbacks.Callback):
    """The mean so far is what logs hold; the first batch's is that batch's own loss."""

    def __init__(self):
        self.means = []

    def on_train_batch_end(self, batch, logs=None):
        self.means.append(logs["loss"])


class OwnStep(keras.Sequential):
    """`train_step` overridden as in Keras's guide."""

    def train_step(self, data):
        x, y = data[:2]
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


EPOCHS = 3


def by_fit(kind=keras.Sequential):
    model = make_model(kind)
    model.compile(keras.optimizers.Adam(0.01), loss_fn(), metrics=["accuracy"])
    history = model.fit(batches(), epochs=EPOCHS, verbose=0)
    return model, history


def by_training_step():
    model = make_model()
    step = model.training_step(loss=loss_fn(), optimizer=keras.optimizers.Adam(0.01))
    losses = [[step(x, y) for x, y in batches()] for _ in range(EPOCHS)]
    return model, losses


def by_parts():
    model = make_model()
    step = model.training_step(loss=loss_fn(), optimizer=keras.optimizers.Adam(0.01))
    losses = []
    for _ in range(EPOCHS):
        losses.append([])
        for x, y in batches():
            loss, gradients = step.gradients(x, y)
            step.apply(gradients)
            losses[-1].append(loss)
    return model, losses


def by_tape():
    model, loss, optimizer = make_model(), loss_fn(), keras.optimizers.Adam(0.01)
    losses = []
    for _ in range(EPOCHS):
        losses.append([])
        for x, y in batches():
            with tf.GradientTape() as tape:
                value = loss(y, model(x, training=True))
            gradients = tape.gradient(value, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            losses[-1].append(value)
    return model, losses


def weights_of(model):
    return np.concatenate([w.ravel() for w in model.get_weights()])


@pytest.fixture(params=["off", "numpy", "numba"])
def each_tier(request):
    if request.param == "numba":
        pytest.importorskip("numba")
    tier.set_tier(request.param)
    yield
    tier.set_tier(None)


BLAS_CORES = ["Haswell", "Prescott"]  # AVX2 and SSE3: sums in other orders than with AVX-512


@pytest.mark.parametrize("core", BLAS_CORES)
def test_four_apis_end_with_the_same_bits_with_other_blas_kernels(core):
    pytest.importorskip("numba")
    code = """
import test_training_step
test_training_step.tier.set_tier("numba")
test_training_step.test_four_apis_end_with_the_same_bits()
"""
    paths = [str(Path(__file__).parent), *sys.path]
    env = dict(os.environ, OPENBLAS_CORETYPE=core, PYTHONPATH=os.pathsep.join(paths))
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("each_tier")
def test_four_apis_end_with_the_same_bits():
    fitted, history = by_fit()
    for other in (by_training_step, by_parts, by_tape):
        model, losses = other()
        np.testing.assert_array_equal(weights_of(model), weights_of(fitted))
        for epoch, values in enumerate(losses):
            mean = keras.metrics.Mean()
            for value, (x, _) in zip(values, batches(), strict=True):
                mean.update_state(value, sample_weight=len(x))
            assert float(mean.result()) == history.history["loss"][epoch]


def test_an_overridden_train_step_gives_the_same_bits():
    fitted, history = by_fit()
    model, own = by_fit(OwnStep)
    np.testing.assert_array_equal(weights_of(model), weights_of(fitted))
    assert own.history["accuracy"] == history.history["accuracy"]


def test_training_lowers_the_loss():
    _, history = by_fit()
    assert history.history["loss"][-1] < history.history["loss"][0]


def test_the_compiled_loss_and_optimizer_serve_training_step():
    model = make_model()
    model.compile("adam", loss_fn())
    x, y = data()
    step = model.training_step()
    first = float(step(x, y))
    for _ in range(30):
        last = float(step(x, y))
    assert last < first
    assert int(model.optimizer.iterations) == 31


def test_gradients_read_like_a_mapping_of_paths():
    model = make_model()
    step = model.training_step(loss=loss_fn(), optimizer="sgd")
    _, gradients = step.gradients(*data())
    assert list(gradients) == [v.path for v in model.trainable_variables]
    assert gradients[model.layers[0].kernel.path].shape == (FEATURES, 16)
    with pytest.raises(KeyError):
        gradients["nothing"]
    halved = {path: g * 0.5 for path, g in gradients.items()}
    before = model.layers[0].kernel.numpy()
    step.apply(halved)
    moved = before - model.layers[0].kernel.numpy()
    np.testing.assert_allclose(
        moved, 0.005 * gradients[model.layers[0].kernel.path].numpy(), atol=1e-7
    )
    with pytest.raises(ValueError, match="no trainable variable has the path 'nothing'"):
        step.apply({"nothing": halved[model.layers[0].kernel.path]})


def test_gradients_alone_change_nothing():
    model = make_model()
    step = model.training_step(loss=loss_fn(), optimizer="sgd")
    before = weights_of(model)
    step.gradients(*data())
    np.testing.assert_array_equal(weights_of(model), before)


def test_sample_weights_weigh():
    model = make_model()
    model.layers[1].rate = 0.0
    step = model.training_step(loss=loss_fn(), optimizer="sgd")
    x, y = data()
    weights = np.zeros(ROWS, "float32")
    weights[:10] = 2.0
    weighted, _ = step.gradients(x, y, sample_weight=weights)
    alone, _ = step.gradients(x[:10], y[:10])
    np.testing.assert_allclose(float(weighted), 2.0 * float(alone) * 10 / ROWS, rtol=1e-5)


def test_losses_of_layers_are_part_of_it():
    keras.utils.set_random_seed(0)
    x, y = data()
    plain = keras.Sequential([keras.layers.Dense(CLASSES)])
    plain(x)
    regular = keras.Sequential([keras.layers.Dense(CLASSES, kernel_regularizer="l2")])
    regular(x)
    regular.set_weights(plain.get_weights())
    a, _ = plain.training_step(loss=loss_fn(), optimizer="sgd").gradients(x, y)
    b, _ = regular.training_step(loss=loss_fn(), optimizer="sgd").gradients(x, y)
    penalty = 0.01 * np.square(plain.get_weights()[0]).sum()
    np.testing.assert_allclose(float(b) - float(a), penalty, rtol=1e-4)


def test_metrics_given_to_training_step_are_updated():
    model = make_model()
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    step = model.training_step(loss=loss_fn(), optimizer="sgd", metrics=[accuracy])
    x, y = data()
    step(x, y)
    assert 0 < float(accuracy.result()) < 1


def test_several_losses_by_name_are_added():
    inputs = keras.Input((FEATURES,))
    outputs = {
        "a": keras.layers.Dense(1, name="a")(inputs),
        "b": keras.layers.Dense(1, name="b")(inputs),
    }
    model = keras.Model(inputs, outputs)
    x, _ = data()
    targets = {"a": x[:, :1], "b": x[:, 1:2]}
    both, _ = model.training_step(loss={"a": "mse", "b": "mae"}, optimizer="sgd").gradients(
        x, targets
    )
    predicted = model(x)
    mse = np.mean((predicted["a"].numpy() - targets["a"]) ** 2)
    mae = np.mean(np.abs(predicted["b"].numpy() - targets["b"]))
    np.testing.assert_allclose(float(both), mse + mae, rtol=1e-5)
