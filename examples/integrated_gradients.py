"""Which pixels made a network say what digit it sees: saliency, and integrated gradients.

Saliency is the gradient at the image. Integrated gradients (Sundararajan et al. 2017,
arXiv:1703.01365) average it along the straight line from a blank image, times the way: the
attributions of all pixels add up to what the score has gained on that way.

python examples/integrated_gradients.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras


def train():
    """A trained network, and the images that it has not seen with their digits."""
    keras.utils.set_random_seed(0)
    (x_train, y_train), (x_test, y_test) = keras.datasets.digits.load_data()
    x_train, x_test = x_train.astype("float32") / 16, x_test.astype("float32") / 16
    model = keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="tanh"),
            keras.layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss)
    model.fit(x_train, y_train, epochs=3 if SMALL else 30, verbose=0)
    return model, x_test, y_test


def gradient(model, images, digit):
    """The gradient of the digit's score at each image, and the scores."""
    images = tf.convert_to_tensor(images)
    with tf.GradientTape() as tape:
        tape.watch(images)
        scores = model(images)[:, digit]
    return tape.gradient(scores, images), scores


def saliency(model, image, digit):
    g, _ = gradient(model, image[None], digit)
    return tf.abs(g)[0].numpy()


def integrated_gradients(model, image, digit, baseline, steps=128):
    """The attribution of each pixel: the integral by the midpoint rule, one batch of `steps`."""
    way = image - baseline
    at = (np.arange(steps, dtype="float32") + 0.5) / steps
    g, _ = gradient(model, baseline + at[:, None, None] * way, digit)
    return (way * tf.reduce_mean(g, axis=0)).numpy()


def main():
    model, images, digits = train()
    chosen = [int(np.argmax(digits == digit)) for digit in (0, 3, 4, 7)]
    _, axes = plt.subplots(3, len(chosen), figsize=(8, 6))
    largest = 0.0
    for column, i in zip(axes.T, chosen, strict=True):
        image, digit, blank = images[i], int(digits[i]), np.zeros((8, 8), "float32")
        attributions = integrated_gradients(model, image, digit, blank)
        _, (score, at_blank) = gradient(model, np.stack([image, blank]), digit)
        gain = float(score - at_blank)
        error = abs(attributions.sum() - gain)
        assert error < 1e-3, "completeness: the attributions add up to f(x) - f(baseline)"
        largest = max(largest, error)
        print(f"digit {digit}: attributions add up to {attributions.sum():.4f}, gain {gain:.4f}")

        bound = np.abs(attributions).max()
        column[0].imshow(image, cmap="gray")
        column[1].imshow(saliency(model, image, digit), cmap="magma")
        column[2].imshow(attributions, cmap="RdBu", vmin=-bound, vmax=bound)
    for axis, name in zip(axes[:, 0], ["image", "saliency", "integrated"], strict=True):
        axis.set_ylabel(name)
    plt.setp(axes, xticks=[], yticks=[])
    plt.savefig("integrated_gradients.png", dpi=120)
    return largest


if __name__ == "__main__":
    main()
