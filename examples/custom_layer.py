"""A layer of one's own: a dense layer whose inputs are first scaled by learned gates.

python examples/custom_layer.py
"""

from digits_or_mnist import SMALL

import framework as tf
from framework import keras


class GatedDense(keras.layers.Layer):
    """activation((inputs * sigmoid(gates)) @ kernel + bias)."""

    def __init__(self, units, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        features = input_shape[-1]
        self.gates = self.add_weight(shape=(features,), initializer="zeros", name="gates")
        self.kernel = self.add_weight(shape=(features, self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, inputs):
        gated = inputs * tf.sigmoid(self.gates)
        return self.activation(tf.matmul(gated, self.kernel) + self.bias)

    def get_config(self):
        activation = keras.activations.serialize(self.activation)
        return {**super().get_config(), "units": self.units, "activation": activation}


def main():
    keras.utils.set_random_seed(0)
    (x_train, y_train), (x_test, y_test) = keras.datasets.digits.load_data()
    x_train, x_test = x_train / 16.0, x_test / 16.0

    layer = GatedDense(64)
    model = keras.Sequential([keras.layers.Flatten(), layer, keras.layers.Dense(10)])
    model.compile(
        optimizer="adam",
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(x_train, y_train, epochs=2 if SMALL else 20, verbose=2)
    _, accuracy = model.evaluate(x_test, y_test, verbose=0)
    print(f"Test accuracy: {accuracy:.4f}")

    gates = tf.reshape(tf.sigmoid(layer.gates), (8, 8)).numpy()
    print("Gates of the 8x8 pixels (0.5 at the start):")
    print("\n".join(" ".join(f"{g:.2f}" for g in row) for row in gates))
    return accuracy


if __name__ == "__main__":
    main()
