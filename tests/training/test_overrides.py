"""Methods that users override, as Keras's guides do, and what data reach them."""

import numpy as np
import pytest

import framework as tf
from framework import keras

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = X[:, :1] * 2


def made(kind, *args, **options):
    keras.utils.set_random_seed(0)
    model = kind([keras.layers.Dense(1, name="only")])
    model.compile(*(args or ("sgd", "mse")), **options)
    return model


def seen_by_train_step(*fit_args, **fit_options):
    seen = []

    class Own(keras.Sequential):
        def train_step(self, data):
            seen.append(data)
            return {"loss": 0.5}

    history = made(Own).fit(*fit_args, verbose=0, shuffle=False, **fit_options)
    return seen, history.history


def test_the_data_come_as_they_are_given():
    (first, *_), logs = seen_by_train_step(X, Y)
    x, y = first
    assert (x.shape, y.shape) == ((20, 4), (20, 1))
    assert logs == {"loss": [0.5]}
    (only,), _ = seen_by_train_step(X)
    assert only.shape == (20, 4)
    ((x, y, w),), _ = seen_by_train_step(X, Y, sample_weight=np.ones(20))
    assert w.shape == (20,)
    ((x, y, w),), _ = seen_by_train_step(X, np.zeros(20, int), class_weight={0: 2.0})
    np.testing.assert_array_equal(w, np.full(20, 2.0))


@pytest.mark.parametrize(
    "element", [(X, Y), (X,), {"image": X}, (X, Y, Y, Y), ((X, X), (Y, {"a": Y}))]
)
@pytest.mark.parametrize("source", ["dataset", "generator"])
def test_elements_of_any_structure(element, source):
    data = iter([element]) if source == "generator" else tf.data.Dataset.from_tensors(element)
    (found,), _ = seen_by_train_step(data)
    tf.nest.assert_same_structure(found, element)
    assert all(tf.is_tensor(leaf) for leaf in tf.nest.flatten(found))


def test_a_batch_of_a_list_is_a_tuple():
    (found,), _ = seen_by_train_step(iter([[X, Y]]))
    assert type(found) is tuple


def test_logs_that_train_step_returns_are_the_history():
    class Own(keras.Sequential):
        def train_step(self, data):
            return {"loss": tf.constant(2.0), "more": {"deep": np.float32(3)}}

    assert made(Own).fit(X, Y, verbose=0).history == {"loss": [2.0], "deep": [3.0]}


def test_make_train_function():
    calls = []

    class Own(keras.Sequential):
        def make_train_function(self, force=False):
            inner = super().make_train_function(force)

            def function(iterator):
                calls.append("train")
                return inner(iterator)

            self.train_function = function

        def make_test_function(self, force=False):
            self.test_function = lambda iterator: (
                calls.append("test") or self.test_step(next(iterator))
            )

        def make_predict_function(self, force=False):
            self.predict_function = lambda iterator: (
                calls.append("predict") or self.predict_step(next(iterator))
            )

    model, plain = made(Own), made(keras.Sequential)
    own = model.fit(X, Y, batch_size=10, verbose=0, shuffle=False, validation_data=(X, Y))
    assert calls == ["train", "train", "test", "test"]
    model.predict(X, verbose=0)
    assert calls[-1] == "predict"
    expected = plain.fit(X, Y, batch_size=10, verbose=0, shuffle=False, validation_data=(X, Y))
    assert own.history == expected.history


def test_test_and_predict_steps():
    class Own(keras.Sequential):
        def test_step(self, data):
            x, _ = data
            return {"rows": float(len(x)), **super().test_step(data)}

        def predict_step(self, data):
            return super().predict_step(data) * 0 + 7

    model = made(Own)
    assert model.evaluate(X, Y, verbose=0, return_dict=True)["rows"] == 20
    np.testing.assert_array_equal(model.predict(X, verbose=0), np.full((20, 1), 7.0))


def test_compute_loss_of_older_code_has_no_argument_training():
    class Own(keras.Sequential):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            return tf.reduce_mean(tf.abs(y - y_pred))

    model = made(Own)
    history = model.fit(X, Y, verbose=0)
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), history.history["loss"], atol=0.5)
    loss, _ = model.training_step().gradients(X, Y)
    np.testing.assert_allclose(float(loss), model.evaluate(X, Y, verbose=0), rtol=1e-5)


def test_compute_metrics():
    class Own(keras.Sequential):
        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            return super().compute_metrics(x, y * 0, y_pred, sample_weight)

    model = made(Own, keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    found = model.fit(X, Y, verbose=0).history["mae"]
    np.testing.assert_allclose(found, np.abs(model.predict(X, verbose=0)).mean(), rtol=1e-5)


@pytest.mark.parametrize("accumulate", [None, 2])
def test_what_compute_metrics_gives_is_logged(accumulate):
    class Own(keras.Sequential):
        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            found = super().compute_metrics(x, y, y_pred, sample_weight)
            return {**found, "largest": tf.reduce_max(tf.abs(y_pred)), "three": 3}

    model = made(Own, keras.optimizers.SGD(0.0), "mse", accumulate=accumulate)
    data = {"batch_size": 10, "verbose": 0}
    found = model.fit(X, Y, epochs=4, shuffle=False, validation_data=(X, Y), **data).history
    largest = np.abs(model.predict(X[10:], verbose=0)).max()  # of the last batch
    assert list(found) == [*("loss", "largest", "three"), *("val_loss", "val_largest", "val_three")]
    np.testing.assert_allclose(found["largest"] + found["val_largest"], [largest] * 8, rtol=1e-6)
    assert found["three"] == [3.0] * 4
    named = model.evaluate(X, Y, return_dict=True, **data)
    assert (list(named), named["loss"]) == (["loss", "largest", "three"], found["loss"][0])
    listed = model.train_on_batch(X[10:], Y[10:])
    np.testing.assert_allclose(listed, [listed[0], largest, 3.0], rtol=1e-6)
    assert all(isinstance(value, float) for value in listed)
    assert all(isinstance(value, float) for value in model.test_on_batch(X, Y))


def test_compute_metrics_that_gives_nothing_leaves_the_logs_to_the_metrics():
    class Own(keras.Sequential):
        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            super().compute_metrics(x, y, y_pred, sample_weight)

    found, plain = (
        made(kind, metrics=["mae"]).fit(X, Y, epochs=3, verbose=0).history
        for kind in (Own, keras.Sequential)
    )
    assert found == plain


def test_a_model_class_called_trainer():
    class Trainer(keras.Sequential):
        def test_step(self, data):
            return {"seven": 7.0}

    model = made(Trainer)
    assert set(model.fit(X, Y, verbose=0, validation_data=(X, Y)).history) == {"loss", "val_seven"}
    assert model.predict(X, verbose=0).shape == (20, 1)


def test_compiled_loss_with_the_losses_of_layers():
    """As train_step was written for TensorFlow 2."""

    class Own(keras.Sequential):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
            grads = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
            self.compiled_metrics.update_state(y, y_pred)
            return {m.name: m.result() for m in self.metrics}

    weights, losses = [], []
    for kind in (Own, keras.Sequential):
        keras.utils.set_random_seed(0)
        model = kind([keras.layers.Dense(1, kernel_regularizer="l2")])
        model.compile("sgd", "mse", metrics=["mae"])
        logs = model.fit(X, Y, epochs=3, batch_size=8, shuffle=False, verbose=0).history
        assert list(logs) == ["loss", "mae"]
        weights.append(model.get_weights()[0])
        losses.append(logs["loss"])
    np.testing.assert_array_equal(*weights)
    np.testing.assert_allclose(*losses, rtol=1e-6)


def test_metrics_property():
    class Own(keras.Sequential):
        def __init__(self, layers):
            super().__init__(layers)
            self.tracker = keras.metrics.Mean(name="tracked")

        @property
        def metrics(self):
            return [self.tracker]

        def train_step(self, data):
            self.tracker.update_state(3.0)
            return {m.name: m.result() for m in self.metrics}

    assert made(Own, "sgd").fit(X, Y, verbose=0).history == {"tracked": [3.0]}


def test_stop_training_within_an_epoch():
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 1

    model = made(keras.Sequential)
    history = model.fit(X, Y, batch_size=4, epochs=3, verbose=0, callbacks=[Stop()])
    assert int(model.optimizer.iterations) == 2
    assert history.epoch == [0]


# ---- honest warnings -----------------------------------------------------------------------------

CLASSES = np.arange(20) % 3
LOSS = keras.losses.SparseCategoricalCrossentropy


def classifier(loss, activation=None):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(3, activation=activation, name="scores")])
    model.compile("sgd", loss)
    return model


def fit_once(model, y=CLASSES, **options):
    return model.fit(X, y, verbose=0, **options)


def test_logits_given_as_probabilities():
    model = classifier("sparse_categorical_crossentropy")
    with pytest.warns(UserWarning, match=r"outputs of layer 'scores'.*from_logits=True") as caught:
        fit_once(model, epochs=3)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("activation", ["sigmoid", "relu"])
def test_rows_that_do_not_sum_to_one(activation):
    with pytest.warns(UserWarning, match=r"layer 'scores' (do not sum to 1|range from)"):
        fit_once(classifier("sparse_categorical_crossentropy", activation))


def test_probabilities_given_as_logits():
    with pytest.warns(UserWarning, match=r"'scores' are probabilities, computed by softmax"):
        fit_once(classifier(LOSS(from_logits=True), "softmax"))


def test_what_is_right_is_not_warned_of():
    fit_once(classifier(LOSS(from_logits=True)))
    fit_once(classifier("sparse_categorical_crossentropy", "softmax"))
    model = made(keras.Sequential, "sgd", "binary_crossentropy")
    model.layers[0].activation = keras.activations.sigmoid
    model.fit(X, Y > 0, verbose=0)


class OwnLoss(keras.Sequential):
    adds = False

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            if self.adds:
                loss += sum(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
        return {"loss": loss}


def test_model_losses_left_out():
    def model():
        made = OwnLoss([keras.layers.Dense(1, kernel_regularizer="l2", name="only")], name="net")
        made.compile("sgd", "mse")
        return made

    message = r"does not add the 1 loss of the model's layers \(of 'net/only/kernel'\)"
    with pytest.warns(UserWarning, match=message) as caught:
        model().fit(X, Y, epochs=2, verbose=0)
    assert len(caught) == 1
    right = model()
    right.adds = True
    right.fit(X, Y, verbose=0)


def test_many_model_losses_left_out_are_not_all_listed():
    layers = [keras.layers.Dense(3, kernel_regularizer="l2", name=f"d{i}") for i in range(7)]
    model = OwnLoss([*layers, keras.layers.Dense(1)], name="net")
    model.compile("sgd", "mse")
    with pytest.warns(
        UserWarning,
        match=r"7 losses of the model's layers \(of 'net/d0/kernel', .*d4/kernel', ...\)",
    ):
        model.fit(X, Y, verbose=0)


def test_a_metric_of_one_number_is_weighted_by_rows():
    def rmse(y_true, y_pred):
        return tf.sqrt(tf.reduce_mean(tf.square(y_true - y_pred)))

    model = made(keras.Sequential, keras.optimizers.SGD(0.0), "mse", metrics=[rmse])
    with pytest.warns(UserWarning, match="'rmse' returns one number per batch") as caught:
        found = model.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False)
    assert len(caught) == 1
    errors = (model.predict(X, verbose=0) - Y) ** 2
    parts = [np.sqrt(errors[i : i + 8].mean()) for i in (0, 8, 16)]
    expected = np.average(parts, weights=[8, 8, 4])
    np.testing.assert_allclose(found.history["rmse"], [expected] * 2, rtol=1e-5)


def test_split_that_holds_unseen_classes():
    y = np.repeat([0, 1, 2, 3], 5)
    model = made(keras.Sequential)
    with pytest.warns(UserWarning, match="classes that the training rows do not have: 3"):
        fit_once(model, y, validation_split=0.25)
    fit_once(model, y % 2, validation_split=0.25)
