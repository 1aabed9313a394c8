"""A user's program. tests/typing/test_typing.py runs pyright on it in strict mode.

Lines with `# error: text` are mistakes; type checkers must report them and nothing else.
"""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers
from framework.keras.layers import Conv2D, Dense

# ---- tensors -------------------------------------------------------------------------------------

x = tf.constant([[1.0, 2.0]])
w = tf.Variable(np.ones((2, 2), "float32"), name="w")
with tf.GradientTape() as tape:
    loss: tf.Tensor = tf.reduce_sum(tf.square(tf.matmul(x, w)), axis=-1)
gradient = tape.gradient(loss, w)
w.assign_sub(0.1 * gradient)

total: tf.Tensor = tf.exp(x) + tf.math.lgamma(x) * 2.0 - tf.nn.relu(x)
swapped: tf.Tensor = tf.transpose(tf.concat([total, total], axis=0))
array = swapped.numpy()
mean: tf.Tensor = keras.ops.mean(keras.ops.add(x, 1), axis=0, keepdims=True)
tf.exp(y=x)  # error: No parameter named "y"
tf.reduce_sum(x, axes=0)  # error: No parameter named "axes"
tf.reduce_sun(x)  # error: "reduce_sun" is not a known attribute of module "framework"
keras.ops.concatenate([x, x], axis=0, name="both")  # error: No parameter named "name"

# ---- layers and models ---------------------------------------------------------------------------


class Block(layers.Layer):
    def __init__(self, units: int, rate: float = 0.1):
        super().__init__()
        self.dense = Dense(units, activation="relu", kernel_initializer="he_normal")
        self.dropout = layers.Dropout(rate)

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        return self.dropout(self.dense(inputs), training=training)


inputs = keras.Input((28, 28, 1))
features = Conv2D(8, 3, padding="same", activation=tf.nn.relu)(inputs)
features = layers.MaxPooling2D(2)(layers.BatchNormalization(momentum=0.9)(features))
outputs = Dense(10, name="logits")(Block(32)(layers.Flatten()(features)))
model = keras.Model(inputs, outputs)
sequence = keras.Sequential([layers.LSTM(16, return_sequences=True), layers.GRU(4), Dense(1)])
Dense(unit=3)  # error: No parameter named "unit"
Dense("3")  # error: "Literal['3']" is not assignable to "int"
Conv2D(8, kernel_size=3, padings="same")  # error: No parameter named "padings"
layers.Dens(3)  # error: "Dens" is not a known attribute of module "framework.keras.layers"

# ---- training ------------------------------------------------------------------------------------

schedule = keras.optimizers.schedules.CosineDecay(0.01, decay_steps=100)
crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(schedule, clipnorm=1.0), crossentropy, metrics=["accuracy"])
images, labels = np.zeros((8, 28, 28, 1), "float32"), np.zeros(8, "int64")
stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2)
history = model.fit(images, labels, epochs=2, batch_size=4, callbacks=[stop], verbose=0)
losses = history.history["loss"]
results = model.evaluate(images, labels, verbose=0)
predicted = model.predict(images)
running = keras.metrics.Mean(name="loss")
running.update_state(1.0)
keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)
keras.optimizers.Adam(lr=1)  # error: No parameter named "lr"
keras.losses.Huber(beta=1.0)  # error: No parameter named "beta"
keras.metrics.MeanSquaredError(nme="mse")  # error: No parameter named "nme"
model.fit(images, labels, epoch=3)  # error: No parameter named "epoch"
model.compile("adam", lss="mse")  # error: No parameter named "lss"
