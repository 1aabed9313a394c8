"""Training goes on with finite weights after a row, a kernel or a gradient of nothing but zeros."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from tests.samples.optimizers import SAMPLES


def batches():
    """Rows of zeros in inputs and labels; inputs of zeros; labels of zeros; at last none."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 6, 4)).astype("float32")
    x[0] = y[0] = 0
    return [(x, y), (np.zeros_like(x), y), (x, np.zeros_like(y)), (x[1:], y[1:])]


def model_of(*layers, optimizer=None, **compiled):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile(optimizer or keras.optimizers.SGD(1e-6), **compiled)
    return model


def assert_finite_after(model, given=None):
    before = [w.numpy() for w in model.weights]
    for x, y in given or batches():
        loss = model.fit(x, y, batch_size=len(x), epochs=3, verbose=0).history["loss"]
        assert np.isfinite(loss).all()
    after = [w.numpy() for w in model.weights]
    assert all(np.isfinite(w).all() for w in after)
    return any((a != b).any() for a, b in zip(before, after))


LOSSES = ["cosine_similarity", "mse", "mae", "mape", "msle", "kl_divergence", "poisson", "log_cosh"]
LOSSES += ["huber", "hinge", "squared_hinge", "categorical_hinge", "binary_crossentropy"]
LOSSES += ["categorical_crossentropy"]


@pytest.mark.parametrize("loss", LOSSES)
def test_losses(loss):
    """Without a bias a row of zeros gives zeros: both sides of the loss are dead there."""
    probabilities = "divergence" in loss or "crossentropy" in loss or loss == "poisson"
    layers = [keras.layers.Dense(4, use_bias=False)]
    if probabilities:
        layers.append(keras.layers.Activation("sigmoid" if "binary" in loss else "softmax"))
    metrics = [] if loss in ("log_cosh", "huber") else [loss]
    model = model_of(*layers, loss=loss, metrics=metrics)
    given = batches()
    if probabilities:
        given = [(x, np.minimum(np.abs(y), 1)) for x, y in given]
    assert_finite_after(model, given)


def test_cosine_similarity_learns_beside_a_dead_row():
    """One row of zeros made all weights NaN."""
    model = model_of(
        keras.layers.Dense(4, use_bias=False), optimizer=keras.optimizers.Adam(0.01),
        loss=keras.losses.CosineSimilarity(), metrics=[keras.metrics.CosineSimilarity()],
    )  # fmt: skip
    x, y = batches()[0]
    history = model.fit(x, y, batch_size=6, epochs=30, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert history["loss"][-1] < history["loss"][0] - 0.1
    assert history["cosine_similarity"][-1] > history["cosine_similarity"][0]


LAYERS = {
    "UnitNormalization": keras.layers.UnitNormalization,
    "LayerNormalization": keras.layers.LayerNormalization,
    "RMSNormalization": keras.layers.RMSNormalization,
    "BatchNormalization": keras.layers.BatchNormalization,
    "GroupNormalization": lambda: keras.layers.GroupNormalization(groups=2),
    "normalize": lambda: keras.layers.Lambda(keras.ops.normalize),
    "l2_normalize": lambda: keras.layers.Lambda(lambda x: tf.math.l2_normalize(x, axis=-1)),
    "std": lambda: keras.layers.Lambda(lambda x: x + keras.ops.std(x, axis=-1, keepdims=True)),
    "spectral": lambda: keras.layers.SpectralNormalization(
        keras.layers.Dense(4, kernel_initializer="zeros")
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    model = model_of(keras.layers.Dense(4), LAYERS[name](), keras.layers.Dense(4), loss="mse")
    assert assert_finite_after(model)


CONSTRAINTS = {
    "MaxNorm": keras.constraints.MaxNorm, "UnitNorm": keras.constraints.UnitNorm,
    "MinMaxNorm": lambda: keras.constraints.MinMaxNorm(0.5, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("regularizer", [None, keras.regularizers.OrthogonalRegularizer(0.1)])
def test_kernels_of_zeros(name, regularizer):
    dense = keras.layers.Dense(
        4, kernel_initializer="zeros", kernel_constraint=CONSTRAINTS[name](),
        kernel_regularizer=regularizer,
    )  # fmt: skip
    assert assert_finite_after(model_of(dense, optimizer="adam", loss="mse"))


@pytest.mark.parametrize("name", SAMPLES)
def test_optimizers_at_zero_gradients(name):
    optimizer = SAMPLES[name].create()
    v, zeros = tf.Variable([[0.0, 1.0], [2.0, 0.0]]), tf.Variable([[0.0, 0.0]])
    for gradient in (0.0, 0.0, 1.0, 0.0):
        optimizer.apply_gradients([(tf.fill((2, 2), gradient), v), (tf.zeros((1, 2)), zeros)])
        assert np.isfinite(v.numpy()).all()
        assert np.isfinite(zeros.numpy()).all()


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    if policy == "mixed_bfloat16":
        pytest.importorskip("ml_dtypes")
    keras.mixed_precision.set_global_policy(policy)
    try:
        model = model_of(
            keras.layers.Dense(4), keras.layers.UnitNormalization(),
            loss=keras.losses.CosineSimilarity(),
        )  # fmt: skip
        assert_finite_after(model)
    finally:
        keras.mixed_precision.set_global_policy(None)
