"""The guide "TensorFlow GradientTape": from x * x to MNIST by a hand-written loop."""

import re

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.keras.datasets import mnist
from framework.keras.layers import Dense, Flatten

ONCE = "A non-persistent GradientTape can only be used to compute one set of gradients"


def test_the_derivative_of_a_square(capsys):
    # Create variables
    x = tf.Variable(3.0)

    # Record operations with GradientTape
    with tf.GradientTape() as tape:
        y = x * x

    # Calculate the gradient dy/dx
    dy_dx = tape.gradient(y, x)
    print(f"dy/dx at x = 3.0: {dy_dx.numpy()}")

    assert capsys.readouterr().out == "dy/dx at x = 3.0: 6.0\n"


def test_gradients_of_several_variables(capsys):
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)

    with tf.GradientTape() as tape:
        f = x * x * y + y * y

    # Get gradients df/dx and df/dy
    gradients = tape.gradient(f, [x, y])
    print(f"df/dx: {gradients[0].numpy()}")
    print(f"df/dy: {gradients[1].numpy()}")

    assert capsys.readouterr().out == "df/dx: 12.0\ndf/dy: 10.0\n"


def test_a_tape_is_used_once(capsys):
    x = tf.Variable(3.0)

    with tf.GradientTape() as tape:
        y = x * x
        z = x * x * x

    # First gradient computation works
    dy_dx = tape.gradient(y, x)
    print(f"dy/dx: {dy_dx.numpy()}")

    # This will raise an error
    try:
        dz_dx = tape.gradient(z, x)
    except RuntimeError as e:
        print(f"Error: {e}")

    assert capsys.readouterr().out.startswith(f"dy/dx: 6.0\nError: {ONCE}")


def test_a_persistent_tape(capsys):
    x = tf.Variable(3.0)

    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = x * x * x

    dy_dx = tape.gradient(y, x)
    dz_dx = tape.gradient(z, x)
    print(f"dy/dx: {dy_dx.numpy()}")
    print(f"dz/dx: {dz_dx.numpy()}")

    # Don't forget to delete the tape when done
    del tape

    assert capsys.readouterr().out == "dy/dx: 6.0\ndz/dx: 27.0\n"


def test_watching_a_tensor(capsys):
    x = tf.constant(3.0)  # Not a Variable

    with tf.GradientTape() as tape:
        tape.watch(x)  # Explicitly watch the tensor
        y = x * x

    dy_dx = tape.gradient(y, x)
    print(f"dy/dx: {dy_dx.numpy()}")

    assert capsys.readouterr().out == "dy/dx: 6.0\n"


def test_nested_tapes(capsys):
    x = tf.Variable(1.0)

    with tf.GradientTape() as tape_2:
        with tf.GradientTape() as tape_1:
            y = x * x * x

        # First derivative: dy/dx
        dy_dx = tape_1.gradient(y, x)

    # Second derivative: d²y/dx²
    d2y_dx2 = tape_2.gradient(dy_dx, x)

    print(f"dy/dx: {dy_dx.numpy()}")
    print(f"d²y/dx²: {d2y_dx2.numpy()}")

    assert capsys.readouterr().out == "dy/dx: 3.0\nd²y/dx²: 6.0\n"


def test_linear_regression(capsys):
    np.random.seed(0)

    # True parameters
    true_w = 2.0
    true_b = 1.0

    # Generate synthetic data with some noise
    x_data = np.random.randn(1000).astype(np.float32)
    y_data = true_w * x_data + true_b + 0.1 * np.random.randn(1000).astype(np.float32)

    # Create TensorFlow dataset
    dataset = tf.data.Dataset.from_tensor_slices((x_data, y_data))
    dataset = dataset.batch(32)

    # Initialize model parameters
    w = tf.Variable(0.0)
    b = tf.Variable(0.0)

    # Optimization parameters
    learning_rate = 0.1
    epochs = 100

    # Mean squared error loss function
    def loss_fn(y_pred, y_true):
        return tf.reduce_mean(tf.square(y_pred - y_true))

    # Training step
    for epoch in range(epochs):
        epoch_loss = 0.0
        for x_batch, y_batch in dataset:
            with tf.GradientTape() as tape:
                # Forward pass
                y_pred = w * x_batch + b
                # Compute loss
                batch_loss = loss_fn(y_pred, y_batch)

            # Get gradients
            gradients = tape.gradient(batch_loss, [w, b])

            # Update parameters using gradient descent
            w.assign_sub(learning_rate * gradients[0])
            b.assign_sub(learning_rate * gradients[1])

            epoch_loss += batch_loss

        if epoch % 10 == 0:
            print(f"Epoch {epoch}, Loss: {epoch_loss.numpy() / (len(x_data) / 32)}")
            print(f"Parameters: w = {w.numpy()}, b = {b.numpy()}")

    print("\nFinal parameters:")
    print(f"w = {w.numpy()}, true_w = {true_w}")
    print(f"b = {b.numpy()}, true_b = {true_b}")

    printed = capsys.readouterr().out
    assert re.findall(r"^Epoch (\d+), Loss: ", printed, re.MULTILINE) == [
        str(epoch) for epoch in range(0, 100, 10)
    ]
    losses = [float(loss) for loss in re.findall(r"Loss: (\S+)", printed)]
    assert losses[0] > 2 * losses[-1]
    assert losses[-1] == pytest.approx(0.01, abs=0.002)  # the noise's variance
    w, b = re.search(
        r"parameters:\nw = (\S+), true_w = 2.0\nb = (\S+), true_b = 1.0", printed
    ).groups()
    assert (float(w), float(b)) == pytest.approx((2.0, 1.0), abs=0.05)


def test_stop_gradient_as_printed():
    """The page's tape is not persistent: its second gradient call fails, in TensorFlow too."""
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)

    with tf.GradientTape() as tape:
        # f will be treated as a constant for gradient computation
        f = tf.stop_gradient(x * y)
        g = x * f

    dg_dx = tape.gradient(g, x)
    with pytest.raises(RuntimeError, match=ONCE):
        dg_dy = tape.gradient(g, y)
    assert dg_dx.numpy() == 6.0


def test_stop_gradient(capsys):
    """With `persistent=True` put in; and None has no `.numpy()`."""
    x = tf.Variable(2.0)
    y = tf.Variable(3.0)

    with tf.GradientTape(persistent=True) as tape:
        # f will be treated as a constant for gradient computation
        f = tf.stop_gradient(x * y)
        g = x * f

    dg_dx = tape.gradient(g, x)
    dg_dy = tape.gradient(g, y)

    print(f"dg/dx: {dg_dx.numpy()}")  # Equal to f (or x*y)
    print(f"dg/dy: {dg_dy}")  # Equal to 0 (since y only appears in stop_gradient)

    assert capsys.readouterr().out == "dg/dx: 6.0\ndg/dy: None\n"


@pytest.mark.mnist
def test_mnist(capsys):
    keras.utils.set_random_seed(0)

    # Load and preprocess the data
    (x_train, y_train), (x_test, y_test) = mnist.load_data()
    x_train, x_test = x_train / 255.0, x_test / 255.0  # Normalize

    # Convert labels to one-hot encoding
    y_train = tf.one_hot(y_train, 10)
    y_test = tf.one_hot(y_test, 10)

    # Create training dataset
    train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    train_dataset = train_dataset.shuffle(10000).batch(64)

    # Create model
    class SimpleNN(tf.Module):
        def __init__(self):
            super(SimpleNN, self).__init__()
            self.flatten = Flatten()
            self.dense1 = Dense(128, activation="relu")
            self.dense2 = Dense(10)

        def __call__(self, x):
            x = self.flatten(x)
            x = self.dense1(x)
            return self.dense2(x)

    # Initialize model and optimizer
    model = SimpleNN()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)

    # Loss function
    loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True)

    # Training loop
    @tf.function  # Optional: Compile for better performance
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            # Forward pass
            predictions = model(images)
            loss = loss_fn(labels, predictions)

        # Get gradients
        gradients = tape.gradient(loss, model.trainable_variables)

        # Update weights
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

        return loss

    # Train the model
    epochs = 5
    for epoch in range(epochs):
        total_loss = 0
        num_batches = 0

        for images, labels in train_dataset:
            batch_loss = train_step(images, labels)
            total_loss += batch_loss
            num_batches += 1

        avg_loss = total_loss / num_batches
        print(f"Epoch {epoch + 1}/{epochs}, Loss: {avg_loss:.4f}")

    # Evaluate model
    @tf.function
    def test_accuracy():
        predictions = model(x_test)
        predicted_classes = tf.argmax(predictions, axis=1)
        true_classes = tf.argmax(y_test, axis=1)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(predicted_classes, true_classes), tf.float32))
        return accuracy  # noqa: RET504 (as printed)

    print(f"Test accuracy: {test_accuracy().numpy():.4f}")

    printed = capsys.readouterr().out
    losses = re.findall(r"^Epoch (\d)/5, Loss: (\d\.\d{4})$", printed, re.MULTILINE)
    assert [epoch for epoch, _ in losses] == ["1", "2", "3", "4", "5"]
    assert [float(loss) for _, loss in losses] == pytest.approx(
        [0.3098, 0.1432, 0.1062, 0.0859, 0.0731], rel=0.3
    )
    assert float(re.search(r"^Test accuracy: (0\.\d{4})$", printed, re.MULTILINE)[1]) >= 0.97


def test_gradient_clipping():
    def compute_loss(model, x, y):
        return 1000.0 * tf.reduce_mean(tf.square(model(x) - y))

    keras.utils.set_random_seed(0)
    model = keras.Sequential([Dense(3, activation="tanh"), Dense(1)])
    optimizer = tf.keras.optimizers.SGD(1.0)
    x, y = tf.ones((4, 2)), tf.zeros((4, 1))
    model.build((None, 2))
    before = model.get_weights()

    with tf.GradientTape() as tape:
        loss = compute_loss(model, x, y)

    gradients = tape.gradient(loss, model.trainable_variables)

    # Clip gradients
    clipped_gradients, _ = tf.clip_by_global_norm(gradients, clip_norm=1.0)

    optimizer.apply_gradients(zip(clipped_gradients, model.trainable_variables))

    steps = [b - a for b, a in zip(before, model.get_weights(), strict=True)]
    norm = np.sqrt(sum(np.sum(g.numpy() ** 2) for g in gradients))
    assert norm > 1.0
    for step, gradient in zip(steps, gradients, strict=True):
        np.testing.assert_allclose(step, gradient.numpy() / norm, atol=1e-6)
