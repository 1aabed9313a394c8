"""Small training runs that any Keras can do; what real Keras makes of them is pinned.

    KERAS_BACKEND=jax python tests/training/scenarios.py

writes keras_values.py anew, by the Keras that is installed there.
"""

import numpy as np

SCENARIOS = {}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def data(rows=23, features=5):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, features)).astype("float32")
    y = (x[:, :1] * 2 + np.sin(x[:, 1:2])).astype("float32")
    return x, y


def classes():
    x, _ = data()
    return x, np.argmax(x[:, :3] + 0.3 * x[:, 2:], axis=1)


def weighted(model, x):
    """The same weights in every Keras."""
    model(x[:2])
    rng = np.random.default_rng(2)
    model.set_weights(
        [rng.normal(size=w.shape).astype("float32") * 0.3 for w in model.get_weights()]
    )
    return model


def dense(keras, units=1, activation=None, **options):
    return weighted(
        keras.Sequential([
            keras.layers.Dense(4, activation="tanh", name="hidden", **options),
            keras.layers.Dense(units, activation=activation, name="out"),
        ]),
        data()[0],
    )  # fmt: skip


def two_outputs(keras, kind=list):
    x, _ = data()
    inputs = keras.Input((5,), name="features")
    hidden = keras.layers.Dense(4, activation="tanh", name="hidden")(inputs)
    a = keras.layers.Dense(1, name="a")(hidden)
    b = keras.layers.Dense(2, name="b")(hidden)
    outputs = {"p": a, "q": b} if kind is dict else [a, b]
    return weighted(keras.Model(inputs, outputs), x)


def two_targets():
    x, y = data()
    return x, y, np.concatenate([y * y, y + 1], axis=1)


def values_of(listed):
    return [float(value) for value in (listed if isinstance(listed, list) else [listed])]


def fit(model, x, y=None, **options):
    options = {"epochs": 3, "batch_size": 5, "shuffle": False, "verbose": 0, **options}
    history = model.fit(x, y, **options)
    found = {name: [float(v) for v in values] for name, values in history.history.items()}
    found["weights"] = [float(np.sum(w * w)) for w in model.get_weights()]
    return found


def plain(keras, fit_options=(), rate=0.1, **compile_options):
    model = dense(keras)
    options = {"optimizer": keras.optimizers.SGD(rate), "loss": "mse", **compile_options}
    model.compile(**options)
    return fit(model, *data(), **dict(fit_options))


@scenario
def uneven_batches(keras):
    return plain(keras, metrics=["mae", "mse"])


@scenario
def adam(keras):
    return plain(keras, optimizer=keras.optimizers.Adam(0.05))


@scenario
def sample_weight(keras):
    weights = np.linspace(0, 2, 23).astype("float32")
    return plain(
        keras, {"sample_weight": weights}, metrics=["mae"], weighted_metrics=["mae", "mse"]
    )


@scenario
def class_weight_of_numbers(keras):
    model = dense(keras, 3)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.2), loss, weighted_metrics=["accuracy"])
    return fit(model, *classes(), class_weight={0: 0.5, 2: 3.0})


@scenario
def class_weight_of_rows(keras):
    model = dense(keras, 3, "softmax")
    x, y = classes()
    model.compile(keras.optimizers.SGD(0.2), "categorical_crossentropy", metrics=["accuracy"])
    return fit(model, x, np.eye(3, dtype="float32")[y], class_weight={0: 2.0, 1: 1.0, 2: 0.25})


@scenario
def accuracy_of_one_unit(keras):
    model = dense(keras, 1, "sigmoid")
    x, y = classes()
    model.compile(keras.optimizers.SGD(0.2), "binary_crossentropy", metrics=["accuracy"])
    return fit(model, x, (y > 0).astype("float32")[:, None])


@scenario
def crossentropy_by_shape(keras):
    model = dense(keras, 3, "softmax")
    model.compile(keras.optimizers.SGD(0.2), "crossentropy", metrics=["acc"])
    return fit(model, *classes())


@scenario
def validation_split(keras):
    return plain(keras, {"validation_split": 0.3}, metrics=["mae"])


@scenario
def validation_data_with_weights(keras):
    x, y = data()
    held_out = (x[:7], y[:7], np.arange(7, dtype="float32"))
    return plain(keras, {"validation_data": held_out, "validation_batch_size": 3})


@scenario
def validation_freq(keras):
    x, y = data()
    return plain(keras, {"validation_data": (x, y), "validation_freq": 2, "epochs": 4})


@scenario
def validation_freq_list(keras):
    x, y = data()
    return plain(keras, {"validation_data": (x, y), "validation_freq": [1, 3]})


@scenario
def validation_steps(keras):
    x, y = data()
    return plain(keras, {"validation_data": (x, y), "validation_steps": 2, "epochs": 1})


@scenario
def initial_epoch(keras):
    return plain(keras, {"initial_epoch": 1})


@scenario
def losses_by_list(keras):
    x, y, z = two_targets()
    model = two_outputs(keras)
    model.compile(keras.optimizers.SGD(0.05), ["mse", "mae"], metrics=[["mae"], ["mse", "mae"]])
    return fit(model, x, [y, z])


@scenario
def losses_by_layer(keras):
    x, y, z = two_targets()
    model = two_outputs(keras)
    model.compile(
        keras.optimizers.SGD(0.05), {"a": "mse", "b": "mae"}, loss_weights={"a": 2.0, "b": 0.5},
        metrics={"b": "mae"}, weighted_metrics={"a": ["mse"]},
    )  # fmt: skip
    return fit(model, x, {"a": y, "b": z})


@scenario
def losses_by_key(keras):
    x, y, z = two_targets()
    model = two_outputs(keras, dict)
    model.compile(
        keras.optimizers.SGD(0.05), {"p": "mse", "q": "mae"}, loss_weights={"p": 0.3, "q": 1.5},
        metrics={"p": ["mae"], "q": ["mse"]},
    )  # fmt: skip
    return fit(model, x, {"p": y, "q": z})


@scenario
def one_loss_for_both(keras):
    x, y, z = two_targets()
    model = two_outputs(keras)
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return fit(model, x, [y, z])


@scenario
def an_output_without_loss(keras):
    x, y, _ = two_targets()
    model = two_outputs(keras, dict)
    model.get_layer("b").trainable = False
    model.compile(keras.optimizers.SGD(0.05), {"p": "mse"})
    return fit(model, x, {"p": y, "q": two_targets()[2]})


@scenario
def weights_for_each_output(keras):
    x, y, z = two_targets()
    model = two_outputs(keras)
    model.compile(keras.optimizers.SGD(0.05), ["mse", "mse"], weighted_metrics=[["mae"], ["mae"]])
    first = np.linspace(0, 1, 23).astype("float32")
    return fit(model, x, [y, z], sample_weight=[first, 1 - first])


@scenario
def regularizers(keras):
    model = dense(keras, kernel_regularizer=keras.regularizers.L2(0.1))
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    return fit(model, *data())


@scenario
def frozen_layer(keras):
    model = dense(keras)
    model.layers[0].trainable = False
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return fit(model, *data())


@scenario
def summed_loss(keras):
    return plain(keras, loss=keras.losses.MeanSquaredError(reduction="sum"), rate=0.01)


@scenario
def function_loss(keras):
    return plain(keras, loss=lambda a, b: keras.ops.mean(keras.ops.abs(a - b), axis=-1))


@scenario
def global_clipping(keras):
    return plain(keras, optimizer=keras.optimizers.SGD(0.5, global_clipnorm=0.3))


@scenario
def optimizer_accumulates(keras):
    return plain(keras, optimizer=keras.optimizers.SGD(0.3, gradient_accumulation_steps=2))


@scenario
def moving_average(keras):
    return plain(keras, optimizer=keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.7))


@scenario
def loss_scale_factor(keras):
    return plain(keras, optimizer=keras.optimizers.SGD(0.1, loss_scale_factor=1024.0))


@scenario
def scheduler_callback(keras):
    callback = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    return plain(keras, {"callbacks": [callback]})


@scenario
def plateau_callback(keras):
    callback = keras.callbacks.ReduceLROnPlateau(
        monitor="loss", factor=0.5, patience=1, min_delta=0.5, cooldown=1, min_lr=0.01
    )
    return plain(keras, {"callbacks": [callback], "epochs": 7})


@scenario
def early_stopping(keras):
    callback = keras.callbacks.EarlyStopping(
        monitor="loss", patience=1, min_delta=0.05, restore_best_weights=True
    )
    return plain(keras, {"callbacks": [callback], "epochs": 12})


@scenario
def early_stopping_with_baseline(keras):
    callback = keras.callbacks.EarlyStopping(monitor="loss", patience=2, baseline=0.01)
    return plain(keras, {"callbacks": [callback], "epochs": 12})


@scenario
def early_stopping_restores_unstopped(keras):
    callback = keras.callbacks.EarlyStopping(
        monitor="loss", patience=9, mode="max", restore_best_weights=True
    )
    return plain(keras, {"callbacks": [callback], "epochs": 4})


@scenario
def averages_for_validation(keras):
    optimizer = keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.7)
    held_out = data()
    options = {"callbacks": [keras.callbacks.SwapEMAWeights()], "validation_data": held_out}
    return plain(keras, options, optimizer=optimizer)


@scenario
def averages_at_epoch_ends(keras):
    optimizer = keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.7)
    callback = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    options = {"callbacks": [callback], "validation_data": data()}
    return plain(keras, options, optimizer=optimizer)


@scenario
def generator(keras):
    x, y = data()

    def batches():
        while True:
            for i in range(0, 20, 5):
                yield x[i : i + 5], y[i : i + 5]

    model = dense(keras)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return fit(model, batches(), batch_size=None, steps_per_epoch=3)


@scenario
def py_dataset(keras):
    x, y = data()

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return x[5 * i : 5 * i + 5], y[5 * i : 5 * i + 5]

    model = dense(keras)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return fit(model, Batches(), batch_size=None)


@scenario
def steps_go_on(keras):
    return plain(keras, {"steps_per_epoch": 2, "epochs": 2})


@scenario
def evaluation(keras):
    x, y, z = two_targets()
    model = two_outputs(keras)
    model.compile("sgd", ["mse", "mae"], loss_weights=[2.0, 1.0], metrics=[["mae"], ["mse"]])
    listed = model.evaluate(x, [y, z], batch_size=4, verbose=0)
    named = model.evaluate(x, [y, z], batch_size=4, verbose=0, return_dict=True)
    return {"list": values_of(listed), **{k: values_of(v) for k, v in named.items()}}


@scenario
def order_of_evaluation(keras):
    x, y, z = two_targets()
    inputs = keras.Input((5,))
    outputs = [keras.layers.Dense(n, name=name)(inputs) for name, n in (("z", 1), ("a", 2))]
    model = weighted(keras.Model(inputs, outputs), x)
    model.compile("sgd", "mse", metrics=[["mse", "mae"], ["mae"]])
    listed = model.evaluate(x, [y, z], batch_size=4, verbose=0)
    return {"list": values_of(listed), "single": values_of(model.test_on_batch(x, [y, z]))}


@scenario
def on_batch_methods(keras):
    x, y = data()
    model = dense(keras)
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    found = [model.train_on_batch(x[:8], y[:8]) for _ in range(3)]
    found.append(model.test_on_batch(x, y))
    return {
        "values": [float(v) for row in found for v in row],
        "outputs": [float(v) for v in model.predict_on_batch(x[:3])[:, 0]],
    }


@scenario
def own_loss_and_metrics(keras):
    class Own(keras.Model):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner
            self.extra = keras.metrics.Mean(name="extra")

        def call(self, x):
            return self.inner(x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            loss = keras.ops.mean(keras.ops.square(y - y_pred)) + 0.1
            self.extra.update_state(loss)
            return loss

        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            results = super().compute_metrics(x, y, y_pred, sample_weight)
            return {**results, "constant": 3.0}

    model = Own(dense(keras))
    model.compile(keras.optimizers.SGD(0.1), metrics=["mae"])
    found = fit(model, *data())
    return {**found, "evaluated": values_of(model.evaluate(*data(), verbose=0))}


@scenario
def metrics_that_give_other_values(keras):
    class Own(keras.Sequential):
        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            results = super().compute_metrics(x, y, y_pred, sample_weight)
            return {**results, "mae": 2 * results["mae"]}

    model = Own(dense(keras).layers)
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    single = model.train_on_batch(*data())
    return {**fit(model, *data()), "single": values_of(single)}


@scenario
def own_loss_by_position(keras):
    class Own(keras.Sequential):
        def compute_loss(self, inputs, targets, outputs, weights=None):
            return keras.ops.mean(keras.ops.abs(targets - outputs))

    model = Own(dense(keras).layers)
    model.compile(keras.optimizers.SGD(0.1))
    return fit(model, *data())


@scenario
def own_metrics_property(keras):
    class Own(keras.Model):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner
            self.total = keras.metrics.Mean(name="total")

        def call(self, x):
            return self.inner(x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            loss = keras.ops.mean(keras.ops.square(y - y_pred))
            self.total.update_state(loss)
            return loss

        @property
        def metrics(self):
            return [self.total]

    model = Own(dense(keras))
    model.compile(keras.optimizers.SGD(0.1), metrics=["mae"])
    return fit(model, *data())


@scenario
def metric_functions(keras):
    def isClose(y, y_pred):  # noqa: N802
        """The same for all rows at first."""
        return keras.ops.cast(keras.ops.abs(y - y_pred) < 0.5, "float32")

    def MAX(y, y_pred):  # noqa: N802
        return keras.ops.max(keras.ops.abs(y - y_pred), axis=-1)

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(0.02), "mse", metrics=[isClose], weighted_metrics=[MAX])
    x, y = np.ones((64, 4), "float32"), np.full((64, 1), 3, "float32")
    return fit(model, x, y, batch_size=8, epochs=4, validation_data=(x, y))


@scenario
def losses_of_rows_from_a_layer(keras):
    class Penalty(keras.layers.Layer):
        def call(self, x):
            self.add_loss(0.05 * keras.ops.square(x[:, 0]))
            return x

    model = keras.Sequential([*dense(keras).layers, Penalty()])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return fit(model, *data())


@scenario
def steps_without_a_batch_size(keras):
    held_out = {"validation_data": data(), "validation_steps": 3}
    found = plain(keras, {"steps_per_epoch": 4, "batch_size": None, **held_out})
    model = dense(keras)
    model.compile("sgd", "mse")
    found["evaluated"] = values_of(model.evaluate(*data(), steps=2, verbose=0))
    found["predicted"] = [float(len(model.predict(data()[0], steps=1, verbose=0)))]
    return found


@scenario
def outputs_without_names(keras):
    def someDistance(y, y_pred):  # noqa: N802
        return keras.ops.mean(keras.ops.abs(y - y_pred), axis=-1)

    class Own(keras.Model):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def call(self, x):
            return [self.inner(x), self.inner(x) * 2, self.inner(x) + 1]

    model, (x, y) = Own(dense(keras)), data()
    model.compile(keras.optimizers.SGD(0.05), ["mse", someDistance, keras.losses.LogCosh()])
    return fit(model, x, [y, y, y])


def main():
    import keras

    lines = ['"""What Keras makes of the scenarios: written by scenarios.py."""\n\nVALUES = {']
    for name, run in SCENARIOS.items():
        lines.append(f"    {name!r}: {{")
        for key, values in run(keras).items():
            lines.append(f"        {key!r}: [{', '.join(f'{v:.6g}' for v in values)}],")
        lines.append("    },")
    text = "\n".join([*lines, "}"]) + "\n"
    from pathlib import Path

    Path(__file__).with_name("keras_values.py").write_text(text.replace("'", '"'))


if __name__ == "__main__":
    main()
