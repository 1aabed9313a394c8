"""Users' subclasses may use every name that Keras leaves free: training gives the same bits."""

import inspect
import os
import tempfile
from functools import partial

import numpy as np
import pytest

import framework as tf
from framework import config, keras
from tests.core.keras_members import documented, litter, littered, shadowed, with_properties
from tests.looped import looped, try_all

X = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
Y = np.sin(X[:, :1]) + X[:, 1:2]

layers, callbacks, optimizers = keras.layers, keras.callbacks, keras.optimizers
losses, metrics, schedules = keras.losses, keras.metrics, optimizers.schedules


def make_model(last=None):
    """A small model with fixed weights."""
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [layers.Dense(4, "tanh", name="first"), last or layers.Dense(1, name="last")], name="net"
    )
    model.build((None, 3))
    return model


def bits(*arrays):
    return [np.asarray(a).tobytes() for a in arrays]


# ---- one function per kind of object: trains with one of the class, gives the numbers ----


def by_callback(cls, touch, *args, **kwargs):
    model = make_model()
    made = cls(*_fresh(args), **kwargs)
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    model.compile("sgd", "mse", metrics=["mae"])
    found = model.fit(
        X, Y, epochs=4, batch_size=8, verbose=0, validation_split=0.25, callbacks=[made, later]
    )
    return [*bits(*model.get_weights()), found.history, model.evaluate(X, Y, verbose=0)]


class Counting(callbacks.Callback):
    """Written the way users do, without a call of the base's `__init__`."""

    def __init__(self):
        self.seen_batches = 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen_batches += 1
        if self.seen_batches == 5:
            self.model.optimizer.learning_rate = 0.5 * float(logs["loss"])


class Fresh:
    """An argument that each object gets one of its own of."""

    def __init__(self, make):
        self.make = make

    def __call__(self):
        return self.make()


def _loops(model, optimizer, touch):
    """Losses of `fit`, of steps, and of a tape loop, one after another with one optimizer."""
    model.compile(optimizer, "mse")
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(optimizer))
    kept = model.fit(X, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later]).history
    step = model.training_step()
    steps = [step(X, Y) for _ in range(3)]
    for _ in range(3):
        touch(optimizer)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(X, training=True) - Y))
            target = optimizer.scale_loss(loss)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(target, variables), variables))
        steps.append(loss)
    return kept, bits(*steps)


def _fresh(args):
    return [a() if isinstance(a, Fresh) else a for a in args]


def by_optimizer(cls, touch, *args, **kwargs):
    model = make_model()
    made = cls(*_fresh(args), **kwargs)
    found = _loops(model, made, touch)
    state = [v.numpy().tobytes() for v in made.variables]
    return found, bits(*model.get_weights()), state, str(made.get_config())


class KerasMomentum(optimizers.Optimizer):
    """Written the way Keras's documentation shows."""

    def build(self, variables):
        super().build(variables)
        self.moments = [self.add_variable_from_reference(v, "m") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        moment = self.moments[self._get_variable_index(variable)]
        self.assign(moment, 0.9 * moment - learning_rate * gradient)
        self.assign_add(variable, moment)


class SignDescent(optimizers.Optimizer):
    """Written as this package's documentation shows."""

    learning_rate: float = 0.01
    beta: float = 0.9

    slots = ("mean",)

    def update(self, param, grad, slot, lr, step):
        slot.mean = self.beta * slot.mean + (1 - self.beta) * grad
        return param - lr * slot.mean / (tf.abs(slot.mean) + 1e-3)


def by_metric(cls, touch, *args, **kwargs):
    model, made = make_model(), cls(*args, **kwargs)
    alone = cls(*args, **kwargs)
    model.compile("sgd", "mse", metrics=[made])
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    found = model.fit(X, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later]).history
    for start in (0, 8):
        alone.update_state(Y[start:][:8], X[start:][:8, :1])
        touch(alone)
    alone(Y, X[:, :1], sample_weight=Y[:, 0] ** 2)
    kept = bits(*(v.numpy() for v in alone.variables), alone.result())
    alone.reset_state()
    return found, kept, bits(alone.result()), str(made.get_config())


class Largest(metrics.Metric):
    """Written the way Keras's documentation shows, with a metric inside."""

    def __init__(self, name="largest", **kwargs):
        super().__init__(name=name, **kwargs)
        self.largest = self.add_weight(name="largest", initializer="zeros")
        self.mean = metrics.Mean(name="inner")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.largest.assign(tf.maximum(self.largest, tf.reduce_max(tf.abs(y_pred - y_true))))
        self.mean.update_state(y_pred)

    def result(self):
        return self.largest * self.mean.result()


def metric(base, *args, more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    return by_metric, base, documented("Metric", more=f"{more} total count {fields}"), args, kwargs


def by_loss(cls, touch, *args, **kwargs):
    model, made = make_model(), cls(*args, **kwargs)
    model.compile("adam", made)
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    found = model.fit(
        X, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later], sample_weight=Y[:, 0] ** 2
    )
    values = [made(Y, X[:, :1]), made(Y, X[:, :1], Y[:, :1] ** 2)]
    return found.history, bits(*model.get_weights(), *values), str(made.get_config())


class FourthPower(losses.Loss):
    """Written the way Keras's documentation shows."""

    def call(self, y_true, y_pred):
        return tf.reduce_mean((y_true - y_pred) ** 4, axis=-1)


def loss(base, *args, more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    return by_loss, base, documented("Loss", more=f"{more} fn {fields}"), args, kwargs


def by_parts_of_layers(argument):
    """A kind of object that a layer takes under a name of an argument."""

    def use(cls, touch, *args, **kwargs):
        made = cls(*args, **kwargs)
        keras.utils.set_random_seed(5)
        model = make_model(layers.Dense(1, name="last", **{argument: made}))
        model.compile("sgd", "mse")
        later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
        found = model.fit(X, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later]).history
        return found, bits(*model.get_weights()), str(made.get_config())

    return use


def part(argument, base, *args, more="", **kwargs):
    kind = "Initializer" if argument == "kernel_initializer" else "Configured"
    fields = " ".join(inspect.signature(base).parameters)
    return (
        by_parts_of_layers(argument),
        base,
        documented(kind, more=f"{more} {fields}"),
        args,
        kwargs,
    )


class ConfiguredL2(keras.regularizers.Regularizer):
    def __call__(self, x):
        return 0.1 * tf.reduce_sum(tf.square(x))

    def get_config(self):
        return {}


class Halved(keras.constraints.Constraint):
    def __call__(self, w):
        return 0.5 * w


class Quarters(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None):
        return 0.25 * tf.ones(shape, dtype)


def by_schedule(cls, touch, *args, **kwargs):
    made = cls(*args, **kwargs)
    model = make_model()
    model.compile(optimizers.SGD(made), "mse")
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    found = model.fit(X, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later]).history
    return found, bits(*model.get_weights(), *(made(step) for step in range(9)))


class Warmup(schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.01 * tf.minimum(tf.cast(step, "float32") / 5.0, 1.0)


def schedule(base, *args, more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    return by_schedule, base, documented("Configured", more=f"{more} {fields}"), args, kwargs


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return X[8 * index :][:8], Y[8 * index :][:8]


def by_dataset(cls, touch, *args, **kwargs):
    model, made = make_model(), cls(*args, **kwargs)
    model.compile("sgd", "mse")
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    found = model.fit(made, epochs=3, verbose=0, shuffle=False, callbacks=[later]).history
    return found, model.evaluate(made, verbose=0), bits(model.predict(made, verbose=0))


def dataset(base, *args, **kwargs):
    return by_dataset, base, documented("PyDataset"), args, kwargs


class Rows(tf.data.Dataset):
    """A Dataset as users extend it: by what another one has."""

    def __init__(self):
        rows = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(24, seed=1).batch(8)
        super().__init__(rows._framework)


def by_rows(cls, touch):
    model, made = make_model(), cls()
    model.compile("sgd", "mse")
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    found = model.fit(made, epochs=3, verbose=0, callbacks=[later]).history
    touch(made)
    chained = made.map(lambda x, y: (x * 2.0, y)).unbatch().take(5).batch(2, drop_remainder=True)
    elements = [bits(x, y) for x, y in chained]
    return found, elements, model.evaluate(made, verbose=0), int(made.cardinality()), len(made)


def by_layer(shape, cls, touch, *args, **kwargs):
    """In models of every kind, with weights of its own, by every kind of loop."""
    keras.utils.set_random_seed(7)
    inner, alone = (cls(*_fresh(args), **kwargs) for _ in range(2))
    inputs = keras.Input(shape, name="inputs")
    outputs = layers.Dense(1, name="last")(layers.Flatten(name="flat")(inner(inputs)))
    functional = keras.Model(inputs, outputs, name="functional")
    stacked = keras.Sequential(
        [alone, layers.Flatten(name="flatten"), layers.Dense(1, name="final")], name="stacked"
    )
    x = np.random.default_rng(1).normal(size=(24, *shape)).astype("float32")
    found = []
    for model, made in ((functional, inner), (stacked, alone)):
        model.compile("sgd", "mse")
        later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))  # noqa: B023
        found.append(model.fit(x, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later]).history)
        touch(made)
        found.append(bits(model.predict(x, verbose=0), *model.get_weights()))
        found.append([v.path for v in model.variables])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(alone(tf.constant(x), training=True)))
    grads = tape.gradient(loss, alone.trainable_variables)
    alone.trainable = False
    found.append([w.name for w in alone.trainable_weights])
    return found, bits(*grads), alone.count_params()


def by_inputs(shape, feed, cls, touch, *args, **kwargs):
    """In a functional model and in a tape, called by `feed(layer, x)`."""
    keras.utils.set_random_seed(7)
    inner, alone = cls(*args, **kwargs), cls(*args, **kwargs)
    inputs = keras.Input(shape, name="inputs")
    outputs = layers.Dense(1, name="last")(layers.Flatten(name="flat")(feed(inner, inputs)))
    model = keras.Model(inputs, outputs, name="functional")
    x = np.random.default_rng(1).normal(size=(24, *shape)).astype("float32")
    model.compile("sgd", "mse", run_eagerly=False)
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(inner))
    found = [model.fit(x, Y, epochs=3, batch_size=8, verbose=0, callbacks=[later]).history]
    found.append(bits(model.predict(x, verbose=0), *model.get_weights()))
    touch(alone)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(feed(alone, tf.constant(x))))
    grads = tape.gradient(loss, alone.trainable_variables)
    again = cls.from_config(alone.get_config())
    return found, bits(loss, *grads), [w.path for w in alone.weights], again.get_config()


def of_inputs(feed, base, *args, shape=(4, 6), more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    taken = documented("Layer", more=f"{more} {fields}")
    return partial(by_inputs, shape, feed), base, taken, args, kwargs


def by_words(data, words, cls, touch, *args, **kwargs):
    """Adapted where the layer can be, then called, saved and made again."""
    found = []
    for made in (cls(*args, **kwargs), cls(*args, **kwargs)):
        touch(made)
        if hasattr(made, "adapt"):
            made.adapt(data)
        touch(made)
        found.append(bits(made(words)) if not found else made(words).numpy().tolist())
        found += [made.get_vocabulary()] if hasattr(made, "get_vocabulary") else []
        if kwargs.get("output_mode") != "tf_idf":
            again = cls.from_config(made.get_config())
            if hasattr(made, "get_vocabulary"):
                again.set_vocabulary(made.get_vocabulary())
            found.append(np.asarray(again(words)).tolist())
    return found


def of_words(data, words, base, *args, more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    taken = documented("Layer", more=f"{ADAPTED} {more} {fields}")
    return partial(by_words, data, words), base, taken, args, kwargs


ADAPTED = """
    adapt finalize_state get_vocabulary load_assets lookup_table reset_state save_assets
    set_vocabulary update_state vocabulary_size input_idf_weights input_vocabulary
"""
TEXTS = np.array(["a b c", "b c", "c c a", "d"])
CELL = """
    bias get_dropout_mask get_initial_state get_recurrent_dropout_mask implementation kernel
    output_size recurrent_kernel reset_dropout_mask reset_recurrent_dropout_mask seed_generator
    state_size dropout_mask_count
"""
LORA = "enable_lora lora_alpha lora_enabled lora_rank _kernel"
DROPS = "seed_generator noise_shape"
HEADS = """
    key_dense output_dense query_dense value_dense num_repeats _compute_attention
    _compute_attention_mask _query_dense _key_dense _value_dense _output_dense _gate_dense
    _softmax _dropout_layer
"""
IMAGES = """
    bounding_box_format data_format factor generator get_random_transformation height_axis
    interpolation seed transform_bounding_boxes transform_images transform_labels
    transform_segmentation_masks transform_single_bounding_box transform_single_image
    transform_single_label transform_single_segmentation_mask value_range width_axis
    _get_seed_generator _transform_images
"""
SCORES = "scale concat_score_weight seed_generator score_mode seed _calculate_scores _apply_scores"


class Scale(layers.Layer):
    """Written the way Keras's documentation shows, with a layer, a metric and dropout inside."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense, self.drop = layers.Dense(3, name="inner"), layers.Dropout(0.5, name="drop")
        self.seen, self.several = metrics.Mean(name="seen"), [layers.Dense(3, name="listed")]

    def build(self, input_shape):
        self.factor = self.add_weight(
            shape=(input_shape[-1],), initializer="ones", name="factor", regularizer="l2"
        )

    def call(self, inputs, training=None):
        self.seen.update_state(inputs)
        self.add_loss(0.01 * tf.reduce_sum(tf.square(inputs)))
        return self.several[0](self.drop(self.dense(inputs * self.factor), training=training))


def layer(base, *args, shape=(3,), more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    taken = documented("Layer", more=f"{more} {fields}")
    return partial(by_layer, shape), base, taken, args, kwargs


def by_model(cls, touch, *args, **kwargs):
    keras.utils.set_random_seed(9)
    made = cls(*args, **kwargs)
    made.compile(
        optimizers.Adam(0.01), "mse", metrics=["mae", metrics.RootMeanSquaredError(name="rms")]
    )
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    found = [
        made.fit(
            X, Y, epochs=3, batch_size=8, verbose=0, validation_split=0.25, callbacks=[later],
            sample_weight=Y[:, 0] ** 2,
        ).history
    ]  # fmt: skip
    found.append(made.evaluate(X, Y, verbose=0, return_dict=True))
    touch(made)
    found.append(bits(made.predict(X, verbose=0), made.predict_on_batch(X)))
    found += [made.train_on_batch(X, Y), made.test_on_batch(X, Y)]
    step = keras.Model.training_step(made)
    found.append(bits(*[step(X, Y) for _ in range(3)]))
    with tf.GradientTape() as tape:
        target = made.compute_loss(X, Y, made(X, training=True))
    variables = made.trainable_variables
    made.optimizer.apply_gradients(zip(tape.gradient(target, variables), variables))
    lines = []
    made.summary(print_fn=lines.append)
    found += [bits(*made.get_weights()), lines, [each.name for each in made.layers]]
    return found, str(made.get_compile_config())


class Net(keras.Model):
    """Written the way Keras's documentation shows."""

    def __init__(self, **kwargs):
        super().__init__(name="net", **kwargs)
        self.first, self.last = layers.Dense(4, "tanh", name="first"), layers.Dense(1, name="last")

    def call(self, inputs, training=None):
        return self.last(self.first(inputs))


class OwnStep(Net):
    def train_step(self, data):
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for metric in self.metrics:
            metric.update_state(loss) if metric.name == "loss" else metric.update_state(y, self(x))
        return {m.name: m.result() for m in self.metrics if m.name == "loss"}


def _functional_arguments():
    inputs = keras.Input((3,), name="inputs")
    return inputs, layers.Dense(1, name="last")(layers.Dense(4, "tanh", name="first")(inputs))


class Functional(keras.Model):
    """A subclass that gives its base inputs and outputs."""

    def __init__(self):
        super().__init__(*_functional_arguments(), name="made")


class Stack(keras.Sequential):
    def __init__(self, start=()):
        super().__init__(
            [*start, layers.Dense(4, "tanh", name="first"), layers.Dense(1, name="last")], name="st"
        )


class StackWithInput(Stack):
    def __init__(self):
        super().__init__([keras.Input((3,), name="inputs")])


def model(base, *kinds, more=""):
    return by_model, base, documented("Layer", "Model", *kinds, more=more), (), {}


def by_module(cls, touch, *args, **kwargs):
    made = cls(*args, **kwargs)
    optimizer, found = optimizers.Adam(0.1), []
    for _ in range(4):
        touch(made)
        with tf.GradientTape() as tape:
            found.append(tf.reduce_mean(tf.square(made(X) - Y)))
        variables = made.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(found[-1], variables), variables))
    names = [v.name for v in made.variables], made.name, len(made.submodules)
    return names, bits(*found, *(v.numpy() for v in made.variables))


class Line(tf.Module):
    def __init__(self):
        super().__init__("line")
        with self.name_scope:
            self.w, self.b = tf.Variable(tf.ones((3, 1)), name="w"), tf.Variable([0.0], name="b")

    def __call__(self, x):
        return tf.matmul(x, self.w) + self.b


def module(base):
    return by_module, base, documented("Module", more="w b"), (), {}


def optimizer(base, *args, more="", **kwargs):
    fields = " ".join(inspect.signature(base).parameters)
    taken = documented("Optimizer", more=f"{more} {fields}") - {"groups"}
    return by_optimizer, base, taken, args, kwargs


def callback(base, *args, more=""):
    fields = " ".join(inspect.signature(base).parameters)
    return by_callback, base, documented("Callback", more=f"{more} {fields}"), args, {}


MONITOR = "monitor mode min_delta monitor_op patience verbose wait best "
CASES: dict[str, tuple] = {
    "Callback": callback(callbacks.Callback),
    "Callback of a user": callback(Counting, more="seen_batches"),
    "History": callback(callbacks.History, True, more="epoch history batches"),
    "EarlyStopping": callback(
        callbacks.EarlyStopping, "loss", 10.0, 1,
        more=MONITOR + "best_epoch best_weights stopped_epoch",
    ),
    "ReduceLROnPlateau": callback(
        callbacks.ReduceLROnPlateau, "loss", 0.5, 1, 0, "min", 10.0,
        more=MONITOR + "cooldown_counter in_cooldown",
    ),
    "LearningRateScheduler": callback(
        callbacks.LearningRateScheduler, lambda epoch, rate: rate * 0.5
    ),
    "ModelCheckpoint": callback(
        callbacks.ModelCheckpoint, os.devnull + "/{loss}.keras", "loss", 0, True, False, "max", 2,
        1e9, more=MONITOR,
    ),
    "TensorBoard": callback(
        callbacks.TensorBoard, Fresh(tempfile.mkdtemp), 1, True, True, True, 1,
        more="log_dir histogram_freq write_graph write_images write_steps_per_second update_freq"
        " embeddings_freq embeddings_metadata write_gradients",
    ),
    "CSVLogger": callback(callbacks.CSVLogger, "/dev/null", ",", False, True, more="sep keys"),
    "SGD": optimizer(optimizers.SGD, 0.1, momentum=0.9, nesterov=True),
    "SGD with everything": optimizer(
        optimizers.SGD, optimizers.schedules.ExponentialDecay(0.1, 5, 0.9), momentum=0.5,
        weight_decay=0.01, clipnorm=0.5, use_ema=True, ema_overwrite_frequency=2,
        gradient_accumulation_steps=2,
    ),
    "groups": optimizer(
        optimizers.Adam, 0.01,
        groups={"first/*": {"learning_rate": 0.1}, "*/bias": {"trainable": False}},
    ),
    "Adam": optimizer(optimizers.Adam, 0.01, global_clipnorm=1.0, amsgrad=True),
    "Nadam": optimizer(optimizers.Nadam, 0.01),
    "Muon": optimizer(optimizers.Muon, 0.01),
    "Adafactor": optimizer(optimizers.Adafactor, 0.01),
    "Ftrl": optimizer(optimizers.Ftrl, 0.1),
    "Optimizer of a user, Keras's way": optimizer(KerasMomentum, 0.05, more="moments"),
    "Optimizer of a user, this package's way": optimizer(SignDescent, 0.05),
    "MultiOptimizer": optimizer(
        optimizers.MultiOptimizer,
        Fresh(lambda: optimizers.OptimizerMap(
            optimizers.SGD(0.1), {".*kernel": optimizers.Adam(0.01)}
        )),
    ),
    "LossScaleOptimizer": optimizer(
        optimizers.LossScaleOptimizer, Fresh(lambda: optimizers.Adam(0.01)), 8.0, 2,
        more="dynamic_scale step_counter skipped_steps check_finite get_scaled_loss"
        " get_unscaled_gradients",
    ),
    "Metric of a user": metric(Largest, more="largest mean"),
    "Mean": metric(metrics.MeanMetricWrapper, losses.mean_absolute_error, "mae"),
    "MeanSquaredError": metric(metrics.MeanSquaredError),
    "RootMeanSquaredError": metric(metrics.RootMeanSquaredError),
    "BinaryAccuracy": metric(metrics.BinaryAccuracy, threshold=0.1),
    "CosineSimilarity": metric(metrics.CosineSimilarity),
    "Loss of a user": loss(FourthPower),
    "Huber": loss(losses.Huber, delta=0.5),
    "LogCosh": loss(losses.LogCosh, reduction="sum"),
    "Regularizer of a user": part("kernel_regularizer", ConfiguredL2),
    "L1L2": part("kernel_regularizer", keras.regularizers.L1L2, 0.1, 0.2),
    "Constraint of a user": part("kernel_constraint", Halved),
    "MaxNorm": part("kernel_constraint", keras.constraints.MaxNorm, 0.5),
    "MinMaxNorm": part("kernel_constraint", keras.constraints.MinMaxNorm, 0.1, 0.5),
    "Initializer of a user": part("kernel_initializer", Quarters),
    "GlorotUniform": part(
        "kernel_initializer", keras.initializers.GlorotUniform, seed=1,
        more="scale mode distribution",
    ),
    "RandomNormal": part("kernel_initializer", keras.initializers.RandomNormal, seed=1),
    "Orthogonal": part("kernel_initializer", keras.initializers.Orthogonal, seed=1),
    "Schedule of a user": schedule(Warmup),
    "CosineDecay": schedule(schedules.CosineDecay, 0.1, 7, warmup_target=0.2, warmup_steps=2),
    "ExponentialDecay": schedule(schedules.ExponentialDecay, 0.1, 5, 0.5),
    "PiecewiseConstantDecay": schedule(
        schedules.PiecewiseConstantDecay, [2, 4], [0.1, 0.01, 0.001]
    ),
    "Layer of a user": layer(Scale, more="dense drop seen several factor"),
    "Dense": layer(layers.Dense, 4, "tanh", more=f"kernel bias {LORA}"),
    "Dropout": layer(layers.Dropout, 0.5, seed=3, shape=(6,), more="seed_generator"),
    "BatchNormalization": layer(
        layers.BatchNormalization, shape=(6,),
        more="""beta gamma moving_mean moving_variance""",
    ),
    "LayerNormalization": layer(layers.LayerNormalization, shape=(6,), more="beta gamma"),
    "GroupNormalization": layer(layers.GroupNormalization, 3, shape=(6,), more="beta gamma"),
    "Conv2D": layer(
        layers.Conv2D, 3, 2, shape=(6, 6, 2),
        more=f"bias convolution_op kernel rank {LORA}",
    ),
    "DepthwiseConv2D": layer(layers.DepthwiseConv2D, 2, shape=(6, 6, 2), more="bias kernel rank"),
    "SeparableConv2D": layer(
        layers.SeparableConv2D, 3, 2, shape=(6, 6, 2),
        more="""bias depthwise_kernel pointwise_kernel rank""",
    ),
    "Conv2DTranspose": layer(
        layers.Conv2DTranspose, 3, 2, shape=(6, 6, 2),
        more="""bias kernel rank""",
    ),
    "MaxPooling2D": layer(layers.MaxPooling2D, shape=(6, 6, 2), more="pool_mode"),
    "GlobalAveragePooling2D": layer(layers.GlobalAveragePooling2D, shape=(6, 6, 2)),
    "ZeroPadding2D": layer(layers.ZeroPadding2D, shape=(6, 6, 2)),
    "UpSampling2D": layer(layers.UpSampling2D, shape=(6, 6, 2)),
    "LSTM": layer(
        layers.LSTM, 4, dropout=0.2, seed=1, shape=(5, 3),
        more="""cell get_initial_state inner_loop reset_state reset_states single_state state_size
        states""",
    ),
    "GRU": layer(
        layers.GRU, 4, shape=(5, 3),
        more="""cell get_initial_state inner_loop reset_state reset_states single_state state_size
        states""",
    ),
    "Reshape": layer(layers.Reshape, (3, 2), shape=(6,)),
    "PReLU": layer(layers.PReLU, shape=(6,), more="alpha"),
    "Attention": of_inputs(
        lambda layer, x: layer([x, x * 2.0]), layers.Attention, use_scale=True, score_mode="concat",
        more=SCORES,
    ),
    "AdditiveAttention": of_inputs(
        lambda layer, x: layer([x, x]), layers.AdditiveAttention, more=SCORES
    ),
    "MultiHeadAttention": of_inputs(
        lambda layer, x: layer(x, x, use_causal_mask=True), layers.MultiHeadAttention, 2, 3,
        use_gate=True, more=HEADS,
    ),
    "MultiHeadAttention by scores": of_inputs(
        lambda layer, x: layer(x, x, return_attention_scores=True)[0], layers.MultiHeadAttention,
        2, 3, sliding_window=2, more=HEADS,
    ),
    "GroupQueryAttention": of_inputs(
        lambda layer, x: layer(x, x), layers.GroupQueryAttention, 3, 4, 2, more=HEADS
    ),
    **{
        name: of_inputs(lambda layer, x: layer([x, x * 2.0]), getattr(layers, name))
        for name in ("Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract", "Concatenate")
    },
    "Dot": of_inputs(lambda layer, x: layer([x, x * 2.0]), layers.Dot, axes=1),
    **{
        name: of_inputs(
            lambda layer, x: layers.RNN(layer, name="rnn")(x), getattr(layers, name), units=3,
            more=CELL,
        )
        for name in ("SimpleRNNCell", "GRUCell", "LSTMCell")
    },
    "Embedding": of_inputs(
        lambda layer, x: layer(tf.cast(x * 0.0 + 1.0, "int32")), layers.Embedding, 5, 3,
        shape=(3,), more="embeddings enable_lora lora_alpha lora_enabled lora_rank _embeddings",
    ),
    "RandomRotation": layer(
        layers.RandomRotation, 0.1, seed=1, shape=(5, 3, 2), more=f"fill_mode fill_value {IMAGES}"
    ),
    "CutMix": layer(layers.CutMix, seed=1, shape=(5, 3, 2), more=IMAGES),
    "RandomColorJitter": layer(
        layers.RandomColorJitter, (0, 1), 0.1, 0.1, hue_factor=0.2, seed=1, shape=(5, 3, 3),
        more=f"""
            brightness_factor contrast_factor hue_factor saturation_factor random_brightness
            random_contrast random_hue random_saturation {IMAGES}
        """
    ),
    "Cropping1D": layer(layers.Cropping1D, 1, shape=(5, 3)),
    "SpatialDropout1D": layer(layers.SpatialDropout1D, 0.5, seed=1, shape=(5, 3), more=DROPS),
    "SpatialDropout2D": layer(layers.SpatialDropout2D, 0.5, seed=1, shape=(5, 3, 2), more=DROPS),
    "GaussianNoise": layer(layers.GaussianNoise, 0.5, seed=1, shape=(5, 3), more=DROPS),
    "EinsumDense": layer(
        layers.EinsumDense, "abc,cd->abd", (None, 2), shape=(5, 3),
        more=f"bias kernel partial_output_shape {LORA}",
    ),
    "TimeDistributed": layer(
        layers.TimeDistributed, Fresh(lambda: layers.Dense(2, name="inner")), shape=(5, 3)
    ),
    "Bidirectional": layer(
        layers.Bidirectional, Fresh(lambda: layers.GRU(2, name="inner")), shape=(5, 3),
        more="""forward_layer backward_layer reset_state reset_states return_sequences return_state
        stateful states""",
    ),
    "StringLookup": of_words(
        TEXTS, TEXTS, layers.StringLookup, num_oov_indices=2, more="oov_method vocabulary_dtype"
    ),
    "StringLookup of tf_idf": of_words(
        TEXTS[:, None], TEXTS[:, None], layers.StringLookup, output_mode="tf_idf",
        more="oov_method vocabulary_dtype",
    ),
    "IntegerLookup": of_words(
        np.array([3, 5, 5, 7]), np.array([5, 1, 9, 7]), layers.IntegerLookup, num_oov_indices=3
    ),
    "TextVectorization": of_words(
        TEXTS, TEXTS, layers.TextVectorization, ngrams=2, more="_lookup_layer"
    ),
    "Hashing": of_words(TEXTS, TEXTS, layers.Hashing, num_bins=5, salt=3, more="strong_hash"),
    "HashedCrossing": of_words(
        (), [TEXTS, TEXTS], layers.HashedCrossing, num_bins=5, more="supports_jit"
    ),
    "CategoryEncoding": of_words((), np.array([1, 2]), layers.CategoryEncoding, num_tokens=4),
    "Normalization": of_words(
        X, X, layers.Normalization,
        more="""adapt_mean adapt_variance count input_mean input_variance mean variance
        _build_input_shape _keep_axis _reduce_axis _broadcast_shape""",
    ),
    "Discretization": of_words(
        X, X, layers.Discretization, num_bins=3, more="output_dtype summary bin_boundaries"
    ),
    "Model of a user": model(Net, more="first last"),
    "Model with its own step": model(OwnStep, more="first last"),
    "Functional": model(Functional, "Functional"),
    "Sequential": model(Stack, "Sequential"),
    "Sequential with Input": model(StackWithInput, "Sequential"),
    "Module of a user": module(Line),
    "PyDataset": dataset(Batches),
    "PyDataset with workers": dataset(Batches, workers=2),
    "Dataset": (by_rows, Rows, documented("Dataset"), (), {}),
}  # fmt: skip


def nothing(_thing):
    """The plain run."""


def numbers(case, cls, touch=nothing):
    """What the case's kind of training gives with this class."""
    use, _, _, args, kwargs = CASES[case]
    keras.backend.clear_session()  # names count from one again
    return use(cls, touch, *args, **kwargs)


@looped("mode", ["off", "numpy", "auto"])
@pytest.mark.parametrize("case", CASES)
def test_names_of_a_users_own(case, mode):
    _, base, taken, _, _ = CASES[case]
    made, later = [], type(base.__name__, (base,), {})
    config.set_compile(mode)
    try:
        expected = numbers(case, base, made.append)
        classes = {  # what has names of its own: the class, what is done to an instance later
            "attributes": (littered(base, taken), nothing),
            "later attributes": (later, lambda thing: litter(thing, taken)),
        }
        if mode == "auto":
            classes["methods"] = shadowed(base, taken, made[0]), nothing
            classes["properties"] = with_properties(base, taken, made[0]), nothing

        def trains_as_the_base(cls, touch):
            assert numbers(case, cls, touch) == expected

        try_all(trains_as_the_base, {k: {"cls": c, "touch": t} for k, (c, t) in classes.items()})
    finally:
        config.set_compile()


def test_a_callback_counts_its_own_steps():
    class Own(callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.step, self.needs = 0, "attention"

        def on_train_batch_end(self, batch, logs=None):
            self.step += 1

    model, made = make_model(), Own()
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, batch_size=8, verbose=0, callbacks=[made])
    assert (made.step, made.needs) == (6, "attention")


def test_a_callback_reads_the_step_that_its_class_declares_or_it_asks_for():
    class Declares(callbacks.Callback):
        needs = ("loss",)

        def on_train_batch_end(self, batch, logs=None):
            seen.append(self.step.loss)

    class Asks(Declares):
        needs = None

        def __init__(self):
            self.needs = {"loss"}

    for cls in (Declares, Asks):
        seen, model = [], make_model()
        model.compile("sgd", "mse")
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[cls()])
        assert len(seen) == 3
