"""Handwritten digits with every control of a training step in one hand-written loop.

Mixed precision with loss scaling, accumulation over parts of a batch, clipping by the norm of all
gradients together, and a learning rate for each group of layers.

python examples/custom_loop_controls.py
"""

from digits_or_mnist import epochs_for, load

import framework as tf
from framework import keras

BATCH, PART = 256, 128  # an update for each batch, of which a part at a time is in memory
CLIP = 1.0


def make_model():
    body = keras.Sequential(
        [keras.layers.Flatten(), keras.layers.Dense(128, activation="relu")], name="body"
    )
    return keras.Sequential([body, keras.layers.Dense(10, name="head")])


def main():
    keras.utils.set_random_seed(0)
    (x_train, y_train), (x_test, y_test), name = load()
    dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    dataset = dataset.shuffle(len(x_train)).batch(BATCH)

    before = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy("mixed_float16")  # of the layers made from here on
    model = make_model()
    keras.mixed_precision.set_global_policy(before)
    model.build((None, *x_train.shape[1:]))

    epochs = epochs_for(name)
    slow, fast = (
        keras.optimizers.schedules.CosineDecay(rate, decay_steps=epochs * len(dataset))
        for rate in (5e-3, 1e-2)
    )
    adam = keras.optimizers.Adam(slow, groups={"head/*": {"learning_rate": fast}})
    optimizer = keras.optimizers.LossScaleOptimizer(adam)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    variables = model.trainable_variables

    def train_step(images, labels):
        total_loss, total = 0.0, [tf.zeros_like(v) for v in variables]
        for start in range(0, len(images), PART):
            x, y = images[start : start + PART], labels[start : start + PART]
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True)) * (len(x) / len(images))
                scaled = optimizer.get_scaled_loss(loss)
            gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, variables))
            total = [a + b for a, b in zip(total, gradients)]
            total_loss += loss
        total, norm = tf.clip_by_global_norm(total, CLIP)
        optimizer.apply_gradients(zip(total, variables))  # skipped if a gradient has overflown
        return total_loss, norm

    for epoch in range(epochs):
        losses = keras.metrics.Mean()
        clipped = 0
        for images, labels in dataset:
            loss, norm = train_step(images, labels)
            losses.update_state(loss)
            clipped += float(norm) > CLIP
        print(f"Epoch {epoch + 1}/{epochs}: loss {losses.result():.4f}, {clipped} updates clipped")

    scale, skipped = float(optimizer.dynamic_scale), int(optimizer.skipped_steps)
    print(f"loss scale {scale:.1f}, {int(optimizer.iterations)} updates, {skipped} skipped")
    predicted = tf.argmax(model(x_test), axis=1)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(predicted, y_test), tf.float32))
    print(f"Test accuracy on {name}: {accuracy:.4f}")
    return float(accuracy)


if __name__ == "__main__":
    main()
