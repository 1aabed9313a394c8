"""16-bit training of the digits network: accuracy, dtypes, and the memory of its activations."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.datasets import digits


@pytest.fixture
def policy():
    yield keras.mixed_precision.set_global_policy
    keras.mixed_precision.set_global_policy(None)


def make_model():
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(10),
        ]
    )


def data():
    (x_train, y_train), (x_test, y_test) = digits.load_data()
    return x_train / 16.0, y_train, x_test / 16.0, y_test


def loss_fn():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def accuracy_by_fit():
    x_train, y_train, x_test, y_test = data()
    model = make_model()
    model.compile("adam", loss_fn(), metrics=["accuracy"])
    model.fit(x_train, y_train, epochs=12, verbose=0)
    return model, model.evaluate(x_test, y_test, verbose=0)[1]


@pytest.mark.parametrize("name", ["mixed_float16", "mixed_bfloat16"])
def test_accuracy_is_within_a_point_of_float32(name, policy):
    if name == "mixed_bfloat16":
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
    _, full = accuracy_by_fit()
    policy(name)
    model, mixed = accuracy_by_fit()
    assert abs(full - mixed) <= 0.01
    assert {v.dtype for v in model.trainable_variables} == {"float32"}
    assert model(data()[2][:2]).dtype == name.removeprefix("mixed_")


def test_hand_written_loop_with_loss_scaling(policy):
    policy("mixed_float16")
    x_train, y_train, x_test, y_test = data()
    model, loss = make_model(), loss_fn()
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())
    dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(2000).batch(32)
    for _ in range(10):
        for x, y in dataset:
            with tf.GradientTape() as tape:
                scaled = optimizer.scale_loss(loss(y, model(x, training=True)))
            gradients = tape.gradient(scaled, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    found = np.argmax(model.predict(x_test), 1)
    assert np.mean(found == y_test) > 0.94


def kept_bytes(dtype):
    """What the record of a deep forward pass keeps of its activations."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [keras.layers.Dense(64, activation="relu", dtype=dtype) for _ in range(8)]
    )
    x = np.ones((512, 64), "float32")
    model(x[:1])
    with tf.GradientTape() as tape:
        model(x)
    kept = {id(t): t.array.nbytes for t in activations_on(tape) if t.array.shape[0] == 512}
    return sum(kept.values())


def activations_on(tape):
    for *_, read in tape._edges:
        for value in read if isinstance(read, (tuple, list)) else (read,):
            if isinstance(value, tf.Tensor):
                yield value


def test_activations_take_at_most_six_tenths():
    assert 0 < kept_bytes("mixed_float16") <= 0.6 * kept_bytes("float32")


def test_a_layer_alone_and_layers_by_pattern():
    policies = keras.dtype_policies.DTypePolicyMap("float32", {".*hidden.*": "mixed_float16"})
    model = keras.Sequential(
        [
            keras.layers.Dense(4, name="hidden_1", dtype=policies),
            keras.layers.Dense(2, name="out", dtype=policies),
        ]
    )
    y = model(np.ones((3, 5), "float32"))
    assert y.dtype == "float32"
    assert [layer.compute_dtype for layer in model.layers] == ["float16", "float32"]
