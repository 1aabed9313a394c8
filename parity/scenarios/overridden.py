"""Models with methods of their own in place of the trainer's.

`compute_loss`, `compute_metrics` and `test_step` are the same code for every backend. A
`train_step` is not: with `framework` and with real Keras on TensorFlow it is the tutorials', with
a GradientTape inside; real Keras on JAX has another contract, a pure function of the state. Both
forms are below, written around one `loss_of(model, x, y, training)`.
"""

import numpy as np

from parity.scenarios.problems import Fit, compiled, inputs, regression, row_weights, seeded, sgd


def scenarios():
    yield "compute_loss", _own(_compute_loss)
    yield "compute_loss, sample weights", _own(_compute_loss, {"sample_weight": row_weights()})
    yield "compute_metrics", _own(_compute_metrics, metrics=["mae"])
    yield "test_step", _own(_test_step, {"validation_split": 0.25})
    yield "predict_step", _own(_predict_step, finish=_predicted)
    yield "train_step", _own(_train_step())
    yield "train_step, Adam", _own(_train_step(), optimizer=_adam)
    yield (
        "train_step, clipped optimizer",
        _own(_train_step(), optimizer=lambda keras: sgd(keras, global_clipnorm=0.2)),
    )
    yield (
        "train_step, accumulating optimizer",
        _own(_train_step(), optimizer=lambda keras: sgd(keras, gradient_accumulation_steps=2)),
    )
    yield (
        "train_step, averaging optimizer",
        _own(_train_step(), optimizer=lambda keras: sgd(keras, use_ema=True, ema_momentum=0.8)),
    )
    yield "train_step, validated", _own(_train_step(), {"validation_data": regression(11)})
    yield "train_step, metrics", _own(_train_step(), metrics=["mae", "mse"])
    yield "train_step, own loss", _own(_train_step(_own_loss))
    yield "train_step, two losses", _own(_train_step(_two_losses))
    yield "train_step, a loss of the input alone", _own(_train_step(_reconstruction))
    yield (
        "train_step, rate by a callback",
        _own(
            _train_step(),
            lambda keras: {
                "callbacks": [keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 * 0.7**epoch)]
            },
        ),
    )


def _own(methods, fit=None, finish=None, **compile_options):
    return Fit(compiled(**compile_options), model=_network(methods), fit=fit or {}, finish=finish)


def _network(methods):
    """A subclassed network with the methods that `methods(keras)` gives."""

    def model(keras):
        class Network(keras.Model):
            def __init__(self):
                super().__init__()
                self.hidden = keras.layers.Dense(8, activation="tanh")
                self.head = keras.layers.Dense(1)
                self.decoder = keras.layers.Dense(4)

            def call(self, x, training=None):
                hidden = self.hidden(x)
                return self.head(hidden) + 0 * keras.ops.sum(self.decoder(hidden))

        made = type("Own", (Network,), methods(keras))()
        made(inputs(2))
        return seeded(made)

    return model


def _adam(keras):
    return keras.optimizers.Adam(0.02)


# ---- the same for every backend ----


def _compute_loss(keras):
    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        rows = keras.ops.mean(keras.ops.abs(y - y_pred) ** 1.5, axis=-1)
        if sample_weight is not None:
            rows = rows * sample_weight
        return keras.ops.mean(rows) + 0.01 * sum(
            keras.ops.sum(keras.ops.square(v)) for v in self.trainable_variables
        )

    return {"compute_loss": compute_loss}


def _compute_metrics(keras):
    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        found = keras.Model.compute_metrics(self, x, 2 * y, y_pred, sample_weight)
        return {**found, "mae": found["mae"] * 2}

    return {"compute_metrics": compute_metrics}


def _test_step(keras):
    def far(y, y_pred):
        return keras.ops.max(keras.ops.abs(y - y_pred))

    def stateless(self, state, data):
        trainable, others, metrics = state
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        y_pred, others = self.stateless_call(trainable, others, x, training=False)
        logs, metrics = _tracked(self, metrics, far(y, y_pred), y, y_pred)
        return logs, (trainable, others, metrics)

    def test_step(self, data):
        x, y, _ = keras.utils.unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)
        return _track(self, far(y, y_pred), y, y_pred)

    return {"test_step": stateless if keras.backend.backend() == "jax" else test_step}


def _predict_step(keras):
    if keras.backend.backend() == "jax":

        def predict_step(self, state, data):
            x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
            y_pred, rest = self.stateless_call(*state, x, training=False)
            return keras.ops.tanh(y_pred), rest

    else:

        def predict_step(self, data):
            x, _, _ = keras.utils.unpack_x_y_sample_weight(data)
            return keras.ops.tanh(self(x, training=False))

    return {"predict_step": predict_step}


def _predicted(model):
    return {"predicted": np.asarray(model.predict(inputs(11), batch_size=4, verbose=0))}


# ---- losses for train_step: (loss, predictions) ----


def _compiled_loss(keras, model, x, y):
    y_pred = model(x, training=True)
    return model.compute_loss(x=x, y=y, y_pred=y_pred), y_pred


def _own_loss(keras, model, x, y):
    y_pred = model(x, training=True)
    return keras.ops.mean(keras.ops.logaddexp(0.0, 3 * keras.ops.abs(y - y_pred))), y_pred


def _two_losses(keras, model, x, y):
    hidden = model.hidden(x)
    y_pred = model.head(hidden)
    loss = keras.ops.mean(keras.ops.square(y_pred - y))
    return loss + 0.3 * keras.ops.mean(keras.ops.square(model.decoder(hidden) - x)), y_pred


def _reconstruction(keras, model, x, y):
    hidden = model.hidden(x)
    return keras.ops.mean(keras.ops.square(model.decoder(hidden) - x)), model.head(hidden)


# ---- train_step, two forms ----


def _train_step(loss_of=_compiled_loss):
    def methods(keras):
        form = _pure if keras.backend.backend() == "jax" else _taped
        return {"train_step": form(keras, loss_of)}

    return methods


def _taped(keras, loss_of):
    if keras.backend.backend() == "framework":
        import framework as tf
    else:
        import tensorflow as tf

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss, y_pred = loss_of(keras, self, x, y)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return _track(self, loss, y, y_pred)

    return train_step


def _track(model, loss, y, y_pred):
    for metric in model.metrics:
        if metric.name == "loss":
            metric.update_state(loss)
        else:
            metric.update_state(y, y_pred)
    return {metric.name: metric.result() for metric in model.metrics}


def _pure(keras, loss_of):
    import jax

    def loss_and_rest(model, trainable, others, x, y):
        pairs = [
            *zip(model.trainable_variables, trainable),
            *zip(model.non_trainable_variables, others),
        ]
        with keras.StatelessScope(state_mapping=pairs) as scope:
            loss, y_pred = loss_of(keras, model, x, y)
        others = [scope.get_current_value(v) for v in model.non_trainable_variables]
        return loss, (others, y_pred)

    def train_step(self, state, data):
        trainable, others, slots, metrics = state
        x, y = data

        def target(values):
            return loss_and_rest(self, values, others, x, y)

        (loss, (others, y_pred)), gradients = jax.value_and_grad(target, has_aux=True)(trainable)
        trainable, slots = self.optimizer.stateless_apply(slots, gradients, trainable)
        logs, metrics = _tracked(self, metrics, loss, y, y_pred)
        return logs, (trainable, others, slots, metrics)

    return train_step


def _tracked(model, values, loss, y, y_pred):
    """`_track` without a state: the logs, and the new values of the metrics' variables."""
    logs, made = {}, []
    for metric in model.metrics:
        own = values[len(made) : len(made) + len(metric.variables)]
        arguments = (loss,) if metric.name == "loss" else (y, y_pred)
        own = metric.stateless_update_state(own, *arguments)
        logs[metric.name] = metric.stateless_result(own)
        made += own
    return logs, made
