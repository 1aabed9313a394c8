"""Handwritten digits with `model.fit`.

python examples/mnist_fit.py [--seed 0]
"""

import argparse

from digits_or_mnist import epochs_for, load

from framework import keras


def main(seed=0):
    keras.utils.set_random_seed(seed)
    (x_train, y_train), (x_test, y_test), name = load()

    model = keras.Sequential(
        [
            keras.layers.Flatten(),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    batch_size = 64 if name == "MNIST" else 32
    model.fit(x_train, y_train, batch_size=batch_size, epochs=epochs_for(name))
    model.summary()

    _, accuracy = model.evaluate(x_test, y_test, verbose=0)
    print(f"Test accuracy on {name}: {accuracy:.4f}")
    return accuracy


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args().seed)
