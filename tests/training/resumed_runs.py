"""Training runs by name that are interrupted and continued: each returns (model, fit arguments).

Run as a program, it trains one of them with a saved state and writes its result:
`python resumed_runs.py NAME FOLDER EVERY EPOCHS`.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np

import framework as tf
from framework import keras

RUNS = {}


def run(function):
    RUNS[function.__name__] = function
    return function


def data(rows=44):
    r = np.random.default_rng(0)
    return r.normal(size=(rows, 6)).astype("float32"), r.integers(0, 3, rows)


def classifier(optimizer="adam", **options):
    made = keras.Sequential([
        keras.layers.Dense(16, "relu"), keras.layers.Dropout(0.3),
        keras.layers.BatchNormalization(), keras.layers.Dense(3, "softmax"),
    ])  # fmt: skip
    options = {"metrics": ["accuracy"], **options}
    made.compile(optimizer, "sparse_categorical_crossentropy", **options)
    return made


def rows(**options):
    x, y = data()
    return {"x": x, "y": y, "batch_size": 8, **options}


@run
def averages_and_a_schedule(folder):
    rate = keras.optimizers.schedules.CosineDecay(0.01, 20)
    return classifier(keras.optimizers.Adam(rate, use_ema=True)), rows(validation_split=0.2)


@run
def accumulated(folder):
    return classifier(accumulate=3), rows()


@run
def accumulated_by_the_optimizer(folder):
    adam = keras.optimizers.Adam(gradient_accumulation_steps=3, clipnorm=0.1)
    return classifier(adam), rows(shuffle="batch")


@run
def loss_scaling(folder):
    keras.config.set_dtype_policy("mixed_float16")
    try:
        inner = keras.optimizers.SGD(0.05, momentum=0.9)
        scaled = keras.optimizers.LossScaleOptimizer(inner, 2.0**17, dynamic_growth_steps=3)
        return classifier(scaled), rows()
    finally:
        keras.config.set_dtype_policy(None)  # floatx decides again


@run
def loss_scaling_and_accumulated(folder):
    sgd = keras.optimizers.SGD(0.05, momentum=0.9)
    scaled = keras.optimizers.LossScaleOptimizer(sgd, 2.0**3, dynamic_growth_steps=3)
    return classifier(scaled, accumulate=4), rows()


@run
def a_dataset(folder):
    dataset = tf.data.Dataset.from_tensor_slices(data()).shuffle(20).batch(8)
    return classifier(), {"x": dataset, "validation_data": dataset}


@run
def a_dataset_in_pieces(folder):
    dataset = tf.data.Dataset.from_tensor_slices(data()).shuffle(20).batch(8).repeat(2)
    return classifier(), {"x": dataset, "steps_per_epoch": 4}


@run
def an_endless_dataset_with_draws(folder):
    def noisy(x, y):
        return x + tf.random.normal(x.shape, stddev=0.1), y

    dataset = tf.data.Dataset.from_tensor_slices(data()).map(noisy).shuffle(20).repeat().batch(8)
    return classifier(), {"x": dataset, "steps_per_epoch": 5}


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        x, y = data()
        return x[8 * i : 8 * i + 8], y[8 * i : 8 * i + 8]


@run
def a_pydataset(folder):
    return classifier(), {"x": Batches()}


@run
def an_iterator(folder):
    def endless():
        while True:
            for i in range(5):
                yield Batches()[i]

    made = classifier()
    made.build((None, 6))
    return made, {"x": endless(), "steps_per_epoch": 4}


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense, self.drop = keras.layers.Dense(3, "softmax"), keras.layers.Dropout(0.2)
        self.seen = keras.metrics.Mean(name="seen")

    def call(self, x, training=False):
        return self.dense(self.drop(x, training=training))

    def train_step(self, batch):
        x, y = batch
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
        self.seen.update_state(loss)
        return {"seen": self.seen.result()}


@run
def an_own_train_step(folder):
    made = Own()
    made.compile("rmsprop", "sparse_categorical_crossentropy")
    return made, rows()


@run
def two_outputs(folder):
    x = keras.Input((6,))
    made = keras.Model(x, {"a": keras.layers.Dense(3, "softmax")(x), "b": keras.layers.Dense(1)(x)})
    losses = {"a": "sparse_categorical_crossentropy", "b": "mse"}
    made.compile("nadam", losses, metrics={"a": ["accuracy"], "b": ["mae"]})
    inputs, y = data()
    return made, {"x": inputs, "y": {"a": y, "b": y[:, None]}, "batch_size": 8}


class Counting(keras.callbacks.Callback):
    def __init__(self):
        self.count, self.kept = 0, {"last": (0, [np.zeros(2)])}

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        self.kept["last"] = batch, [np.full(2, logs["loss"])]

    def on_train_end(self, logs=None):
        self.model.counted = self.count, float(self.kept["last"][1][0][0])


@run
def callbacks(folder):
    return classifier("sgd", steps_per_execution=2), rows(
        validation_split=0.2,
        callbacks=[
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
            keras.callbacks.ReduceLROnPlateau(patience=1, min_delta=10.0),
            keras.callbacks.EarlyStopping(patience=4, min_delta=0.5, restore_best_weights=True),
            keras.callbacks.CSVLogger(Path(folder, "log.csv")), keras.callbacks.History(batch=True),
            keras.callbacks.ModelCheckpoint(Path(folder, "best.weights.h5"), save_best_only=True,
                                            save_weights_only=True),
            Counting(),
        ],
    )  # fmt: skip


@run
def swapped_averages(folder):
    adam = keras.optimizers.Adam(0.05, use_ema=True, ema_momentum=0.8)
    save = keras.callbacks.ModelCheckpoint(Path(folder, "{epoch}.keras"))
    swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    return classifier(adam), rows(validation_split=0.2, callbacks=[swap, save])


def digest(model, history, folder):
    """Return a text that differs if any bit of the result does."""
    seen = hashlib.sha256()
    for variable in (*model.variables, *model.optimizer.variables):
        seen.update(np.array(variable).tobytes())
    log = Path(folder, "log.csv")
    text = [seen.hexdigest(), repr(history.history), repr(history.epoch), repr(history.batches)]
    text += [repr(getattr(model, "counted", None)), log.read_text() if log.exists() else ""]
    for file in sorted(Path(folder).glob("*.keras")):
        saved = keras.models.load_model(file)
        text += [file.name, *(repr(np.array(v).tobytes()) for v in saved.weights)]
    text.append(repr(tf.random.uniform([2]).numpy()))
    return "\n".join(text)


def train(name, folder, extra=(), epochs=4, **options):
    """Return the digest of one run."""
    keras.utils.set_random_seed(3)
    model, arguments = RUNS[name](folder)
    own = [*arguments.pop("callbacks", ()), *extra]
    history = model.fit(**arguments, epochs=epochs, verbose=0, callbacks=own, **options)
    return digest(model, history, folder)


if __name__ == "__main__":
    _, run_name, place, every, count = sys.argv
    interval = int(every) if every.isdigit() else every
    result = train(run_name, place, epochs=int(count), resume=place, save_every=interval)
    Path(place, "result.new").write_text(result)
    Path(place, "result.new").replace(Path(place, "result"))
