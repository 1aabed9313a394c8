"""Adversarial examples: digits changed a little, each pixel in the direction that hurts.

The fast gradient sign method (Goodfellow et al. 2014, arXiv:1412.6572).

python examples/fgsm.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train():
    keras.utils.set_random_seed(0)
    (x_train, y_train), test = keras.datasets.digits.load_data()
    model = keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.Rescaling(1 / 16),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(optimizer="adam", loss=LOSS)
    model.fit(x_train, y_train, epochs=3 if SMALL else 30, verbose=0)
    return model, test


def attack(model, images, labels, strength):
    """The images, each pixel `strength` up or down, whichever makes the loss larger."""
    images = tf.convert_to_tensor(images, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(images)
        loss = LOSS(labels, model(images))
    step = strength * tf.sign(tape.gradient(loss, images))
    return tf.clip_by_value(images + step, 0.0, 16.0)


def noise(images, strength):
    """The images, each pixel `strength` up or down by chance: as large a change as an attack."""
    step = strength * np.random.default_rng(0).choice([-1.0, 1.0], images.shape)
    return np.clip(images + step, 0.0, 16.0).astype("float32")


def accuracy(model, images, labels):
    return float(np.mean(np.argmax(model(images), axis=1) == labels))


def main():
    model, (images, labels) = train()
    strengths = [0.0, 0.5, 1.0, 2.0, 3.0]  # of 16 levels of grey
    attacked = [attack(model, images, labels, s) for s in strengths]
    fooled = [accuracy(model, x, labels) for x in attacked]
    unlucky = [accuracy(model, noise(images, s), labels) for s in strengths]
    for s, under_attack, under_noise in zip(strengths, fooled, unlucky, strict=True):
        print(f"{s:.1f} levels: accuracy {under_attack:.4f}, with noise {under_noise:.4f}")

    _, axes = plt.subplots(1, 4, figsize=(11, 3))
    axes[0].plot(strengths, fooled, label="attack", marker="o")
    axes[0].plot(strengths, unlucky, label="noise", marker="o")
    axes[0].legend()
    was, now = (np.argmax(model(x), axis=1) for x in (images, attacked[-1]))
    wrong = np.flatnonzero((was == labels) & (now != labels))[:3]
    for axis, i in zip(axes[1:], wrong):
        axis.imshow(np.hstack([images[i], attacked[-1][i]]), cmap="gray", vmin=0, vmax=16)
        axis.set(title=f"{was[i]}, then {now[i]}", xticks=[], yticks=[])
    plt.savefig("fgsm.png", dpi=120)
    return fooled, unlucky


if __name__ == "__main__":
    main()
