"""The chapter "Automatic Differentiation": tapes, and what custom training loops are made of.

Its programs use a model, data and losses that the reader has; `make_model` and the lines over each
program's first comment stand for these.
"""

import numpy as np
import pytest

import framework as tf
from framework import keras

ONCE = "A non-persistent GradientTape can only"


def make_model(*units, activation=None):
    """Dense layers on three features, the same weights each time."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(n, activation="tanh") for n in units[:-1]]
    model = keras.Sequential([*layers, keras.layers.Dense(units[-1], activation=activation)])
    model.build((None, 3))
    return model


def rows(n):
    return np.random.default_rng(0).standard_normal((n, 3)).astype(np.float32)


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# ---- GradientTape --------------------------------------------------------------------------------


def test_a_variable():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x**2  # Forward pass recorded on the tape
    dy_dx = tape.gradient(y, x)  # dy/dx = 2x = 6.0

    assert dy_dx.numpy() == 6.0


def test_a_tensor():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    dy_dx = tape.gradient(y, x)

    assert dy_dx.numpy() == 6.0


def test_higher_order_derivatives():
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        dy_dx = inner.gradient(y, x)  # First derivative: 3x²
    d2y_dx2 = outer.gradient(dy_dx, x)  # Second derivative: 6x

    assert (dy_dx.numpy(), d2y_dx2.numpy()) == (27.0, 18.0)


# ---- custom training loops -----------------------------------------------------------------------


def test_the_standard_pattern():
    model = make_model(16, 2, activation="softmax")
    x = rows(64)
    dataset = tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 0).astype(np.int64))).batch(16)
    num_epochs = 200

    optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy()

    @tf.function  # Compile to a graph for speed
    def train_step(x_batch, y_batch):
        with tf.GradientTape() as tape:
            predictions = model(x_batch, training=True)
            loss = loss_fn(y_batch, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    losses = []
    for epoch in range(num_epochs):
        for x_batch, y_batch in dataset:
            loss = train_step(x_batch, y_batch)
        losses.append(float(loss))

    assert int(optimizer.iterations) == 4 * num_epochs
    assert losses[-1] < 0.3 * losses[0]
    assert np.mean(np.argmax(model(x), axis=1) == (x[:, 0] > 0)) > 0.95


def test_gradient_clipping():
    model = make_model(4, 1)
    optimizer = tf.keras.optimizers.SGD(1.0)
    before = model.get_weights()
    with tf.GradientTape() as tape:
        loss = 100.0 * tf.reduce_sum(model(rows(8)))
    gradients = raw = tape.gradient(loss, model.trainable_variables)

    gradients, _ = tf.clip_by_global_norm(gradients, clip_norm=1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    norm = np.sqrt(sum(np.sum(np.square(g)) for g in raw))
    assert norm > 1.0
    assert_same(model.get_weights(), [w - g / norm for w, g in zip(before, raw)])


def test_gradient_accumulation():
    """Four small batches make the step of one large batch."""
    model, reference = make_model(4, 1), make_model(4, 1)
    optimizer = tf.keras.optimizers.SGD(0.1)
    loss_fn = tf.keras.losses.MeanSquaredError()
    x, labels, num_micro_batches = rows(32), tf.ones((8, 1)), 4
    micro_batches = np.split(x, num_micro_batches)

    accumulated_gradients = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]

    for micro_batch in micro_batches:
        with tf.GradientTape() as tape:
            loss = loss_fn(model(micro_batch), labels) / num_micro_batches
        grads = tape.gradient(loss, model.trainable_variables)
        for acc_grad, grad in zip(accumulated_gradients, grads):
            acc_grad.assign_add(grad)

    optimizer.apply_gradients(zip(accumulated_gradients, model.trainable_variables))

    with tf.GradientTape() as tape:
        loss = loss_fn(tf.ones((32, 1)), reference(x))
    gradients = tape.gradient(loss, reference.trainable_variables)
    before = reference.get_weights()
    assert_same(model.get_weights(), [w - 0.1 * g.numpy() for w, g in zip(before, gradients)])


class TwoParts(keras.Model):
    def __init__(self):
        super().__init__()
        self.backbone = keras.layers.Dense(4, activation="tanh")
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.backbone(x))


@pytest.mark.parametrize("persistent", [False, True])
def test_custom_per_layer_learning_rates(persistent):
    """As printed the second gradient call fails, in TensorFlow too; then with `persistent=True`."""
    keras.utils.set_random_seed(0)
    model, x, y = TwoParts(), rows(8), tf.ones((8, 1))
    model(x)
    before = model.get_weights()

    def compute_loss(predictions, y):
        return tf.reduce_mean(tf.square(predictions - y))

    # Different learning rates for different layer groups
    optimizer_backbone = tf.keras.optimizers.Adam(1e-5)
    optimizer_head = tf.keras.optimizers.Adam(1e-3)

    backbone_vars = model.backbone.trainable_variables
    head_vars = model.head.trainable_variables

    with tf.GradientTape(persistent=persistent) as tape:
        loss = compute_loss(model(x), y)

    backbone_grads = tape.gradient(loss, backbone_vars)
    if not persistent:
        with pytest.raises(RuntimeError, match=ONCE):
            head_grads = tape.gradient(loss, head_vars)
        return
    head_grads = tape.gradient(loss, head_vars)

    optimizer_backbone.apply_gradients(zip(backbone_grads, backbone_vars))
    optimizer_head.apply_gradients(zip(head_grads, head_vars))

    # Adam's first step is the learning rate in size, against the gradient
    rates, gradients = [1e-5, 1e-5, 1e-3, 1e-3], backbone_grads + head_grads
    expected = [w - r * np.sign(g) for w, r, g in zip(before, rates, gradients)]
    assert_same(model.get_weights(), expected)


def test_a_persistent_tape():
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.layer_a = keras.layers.Dense(4)
            self.layer_b = keras.layers.Dense(1)

        def call(self, x):
            return self.layer_b(self.layer_a(x))

    def compute_loss(predictions, y):
        return tf.reduce_sum(predictions - y)

    model, x, y = Model(), rows(8), tf.ones((8, 1))

    with tf.GradientTape(persistent=True) as tape:
        loss = compute_loss(model(x), y)

    grad_a = tape.gradient(loss, model.layer_a.trainable_variables)
    grad_b = tape.gradient(loss, model.layer_b.trainable_variables)
    del tape  # Manually release resources

    a, _, b, _ = model.get_weights()
    ones = np.ones((8, 1), np.float32)
    assert_same(grad_a, [x.T @ ones @ b.T, 8.0 * b[:, 0]])
    assert_same(grad_b, [(x @ a).T @ ones, [8.0]])


# ---- practical notes -----------------------------------------------------------------------------


def test_unconnected_gradients():
    v, other = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(v * v)

    assert tape.gradient(y, other) is None
    zeros = tape.gradient(y, other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zeros.numpy().tolist() == [0.0]
