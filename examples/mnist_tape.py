"""Handwritten digits with a hand-written loop: clipping, and two learning rates by two optimizers.

The first layer learns slowly, as a pretrained backbone would; the head learns fast.

python examples/mnist_tape.py
"""

from digits_or_mnist import epochs_for, load

import framework as tf
from framework import keras


def main():
    keras.utils.set_random_seed(0)
    (x_train, y_train), (x_test, y_test), name = load()
    dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train)).batch(64)

    backbone = keras.Sequential(
        [keras.layers.Flatten(), keras.layers.Dense(128, activation="relu")]
    )
    head = keras.layers.Dense(10)
    slow, fast = keras.optimizers.Adam(3e-4), keras.optimizers.Adam(3e-3)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, head(backbone(images)))
        variables = backbone.trainable_variables + head.trainable_variables
        gradients = tape.gradient(loss, variables)
        gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
        n = len(backbone.trainable_variables)
        slow.apply_gradients(zip(gradients[:n], variables[:n]))
        fast.apply_gradients(zip(gradients[n:], variables[n:]))
        return loss, norm

    epochs = epochs_for(name)
    for epoch in range(epochs):
        losses = keras.metrics.Mean()
        largest = 0.0
        for images, labels in dataset:
            loss, norm = train_step(images, labels)
            losses.update_state(loss)
            largest = max(largest, float(norm))
        print(f"Epoch {epoch + 1}/{epochs}: loss {losses.result():.4f}, largest norm {largest:.2f}")

    predicted = tf.argmax(head(backbone(x_test)), axis=1)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(predicted, y_test), tf.float32))
    print(f"Test accuracy on {name}: {accuracy:.4f}")
    return float(accuracy)


if __name__ == "__main__":
    main()
