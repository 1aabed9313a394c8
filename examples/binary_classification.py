"""Two moons, told apart twice from the same seed: by `fit`, and by a loop on the tape.

Both see the same batches in the same order, so they end with the same weights.

python examples/binary_classification.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

EPOCHS = 3 if SMALL else 60


def moons(n=600, noise=0.12):
    """Points on two interleaved half circles, and which circle each is on."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, n)
    label = rng.integers(0, 2, n)
    x = np.where(label, 1 - np.cos(angle), np.cos(angle))
    y = np.where(label, 0.5 - np.sin(angle), np.sin(angle))
    points = np.stack([x, y], 1) + noise * rng.standard_normal((n, 2))
    return points.astype("float32"), label.astype("float32")[:, None]


def make_model():
    keras.utils.set_random_seed(7)
    model = keras.Sequential(
        [keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.build((None, 2))
    return model


def by_fit(dataset):
    model = make_model()
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
    model.fit(dataset, epochs=EPOCHS, verbose=0)
    return model


def by_tape(dataset):
    model = make_model()
    optimizer = keras.optimizers.Adam(0.02)
    loss_fn = keras.losses.BinaryCrossentropy()
    for _ in range(EPOCHS):
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return model


def main():
    points, labels = moons()
    dataset = tf.data.Dataset.from_tensor_slices((points, labels)).batch(32)
    models = {"fit": by_fit(dataset), "tape": by_tape(dataset)}

    for name, model in models.items():
        accuracy = np.mean((model(points).numpy() > 0.5) == labels)
        print(f"{name}: accuracy {accuracy:.4f}")
    same = all(
        np.array_equal(a, b)
        for a, b in zip(models["fit"].get_weights(), models["tape"].get_weights(), strict=True)
    )
    print("The weights are", "the same to the last bit." if same else "different.")

    grid = np.stack(np.meshgrid(np.linspace(-1.5, 2.5, 80), np.linspace(-1, 1.5, 80)), -1)
    chance = models["fit"](grid.reshape(-1, 2).astype("float32")).numpy().reshape(80, 80)
    plt.contourf(grid[..., 0], grid[..., 1], chance, levels=20, cmap="RdBu", alpha=0.6)
    plt.scatter(*points.T, c=labels[:, 0], cmap="RdBu", s=6)
    plt.savefig("binary_classification.png", dpi=120)
    return accuracy, same


if __name__ == "__main__":
    main()
