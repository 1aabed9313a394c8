"""Fine-tuning: head and backbone at different rates, by groups on one optimizer.

A network learns the digits 0 to 4. Then it gets a new head for the digits 5 to 9, and its backbone
is frozen, or follows slowly, or learns as fast as the head. What it still knows of the old digits
is measured with the old head.

python examples/finetune_groups.py
"""

import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras
from framework.datasets import digits

HEAD_RATE = 1e-2
BACKBONES = {
    "frozen": {"trainable": False},
    "slow": {"learning_rate": HEAD_RATE / 100},
    "as the head": {},
}


def load():
    """[(x, y) of 0 to 4, (x, y) of 5 to 9] for training, the same for testing; labels from 0."""
    return [
        [(x[rows] / np.float32(16), y[rows] % 5) for rows in (y < 5, y >= 5)]
        for x, y in digits.load_data()
    ]


def accuracy(backbone, head, x, y):
    return float(np.mean(tf.argmax(head(backbone(x)), axis=1).numpy() == y))


def train(backbone, head, x, y, optimizer, epochs):
    """How much an update changes backbone and head, on average: its norm by that of the weights."""
    model = keras.Sequential([backbone, head])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    step = model.training_step(loss=loss, optimizer=optimizer)
    kernels = [backbone.layers[-1].kernel, head.kernel]
    ratios = []
    for _ in range(epochs):
        for images, labels in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(32):
            before = [kernel.numpy() for kernel in kernels]
            step(images, labels)
            ratios.append(
                [
                    np.linalg.norm(kernel.numpy() - old) / np.linalg.norm(old)
                    for kernel, old in zip(kernels, before)
                ]
            )
    return np.mean(ratios, axis=0)


def main():
    keras.utils.set_random_seed(0)
    epochs = 3 if SMALL else 30
    (old, new), (old_test, new_test) = load()

    backbone = keras.Sequential(
        [keras.layers.Flatten(), keras.layers.Dense(64, "relu")], name="backbone"
    )
    backbone.build((None, 8, 8))
    old_head = keras.layers.Dense(5)
    old_head.build((None, 64))
    train(backbone, old_head, *old, keras.optimizers.Adam(HEAD_RATE), epochs)
    print(f"digits 0 to 4: accuracy {accuracy(backbone, old_head, *old_test):.4f}")
    pretrained = backbone.get_weights()

    found = {}
    for name, settings in BACKBONES.items():
        backbone.set_weights(pretrained)
        head = keras.layers.Dense(5, kernel_initializer=keras.initializers.GlorotUniform(seed=1))
        head.build((None, 64))
        optimizer = keras.optimizers.Adam(HEAD_RATE, groups={"backbone/*": settings})
        ratios = train(backbone, head, *new, optimizer, epochs)
        found[name] = accuracy(backbone, head, *new_test), accuracy(backbone, old_head, *old_test)
        print(
            f"backbone {name}: update ratios {ratios[0]:.6f} and {ratios[1]:.6f} (head), "
            "accuracy on 5 to 9 {:.4f}, on 0 to 4 {:.4f}".format(*found[name])
        )
    return found


if __name__ == "__main__":
    main()
