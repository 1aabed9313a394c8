"""fit, evaluate, predict: Keras's behaviour, progress, and clear errors."""

import json
import sys

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.training import fitting


def data(rows=50):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 4))  # float64, as users have it
    return x, x[:, :1] * 2.0 + 1.0


def compiled(metrics=("mae",), optimizer="sgd"):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse", metrics=list(metrics))
    return model


def test_history_holds_every_epoch():
    history = compiled().fit(*data(), epochs=4, verbose=0)
    assert list(history.history) == ["loss", "mae"]
    assert history.epoch == [0, 1, 2, 3]
    assert all(isinstance(value, float) for value in history.history["loss"])
    assert history.history["loss"][-1] < history.history["loss"][0]


def test_epoch_loss_is_weighted_by_rows():
    model = compiled(optimizer=keras.optimizers.SGD(0.0))
    x, y = data(10)
    history = model.fit(x, y, batch_size=4, verbose=0)
    expected = np.mean((model.predict(x) - y) ** 2)
    np.testing.assert_allclose(history.history["loss"][0], expected, rtol=1e-5)
    np.testing.assert_allclose(
        model.evaluate(x, y, batch_size=4, verbose=0)[0], expected, rtol=1e-5
    )


def test_validation_data_and_split_agree_when_the_rows_do():
    x, y = data()
    given = compiled().fit(
        x[:40], y[:40], epochs=2, shuffle=False, verbose=0, validation_data=(x[40:], y[40:])
    )
    split = compiled().fit(x, y, epochs=2, shuffle=False, verbose=0, validation_split=0.2)
    assert given.history == split.history
    assert {"val_loss", "val_mae"} <= set(given.history)


def test_validation_freq():
    x, y = data()
    history = compiled().fit(x, y, epochs=4, verbose=0, validation_split=0.2, validation_freq=2)
    assert len(history.history["val_loss"]) == 2
    assert len(history.history["loss"]) == 4


def test_the_same_seed_gives_the_same_run():
    runs = [compiled().fit(*data(), epochs=3, verbose=0).history for _ in range(2)]
    assert runs[0] == runs[1]


def test_shuffle_changes_the_order_each_epoch():
    seen = []

    class Watch(keras.Sequential):
        def train_step(self, data):
            seen.append(np.asarray(data[0])[:, 0].tolist())
            return super().train_step(data)

    model = Watch([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.arange(8.0)[:, None]
    model.fit(x, x, batch_size=8, epochs=2, verbose=0)
    assert seen[0] != seen[1]
    assert sorted(seen[0]) == sorted(seen[1]) == list(range(8))
    seen.clear()
    model.fit(x, x, batch_size=8, epochs=1, verbose=0, shuffle=False)
    assert seen[0] == list(range(8))


def test_sample_weights():
    x, y = data(20)
    weights = np.zeros(20)
    weights[:5] = 1.0
    model = compiled(metrics=(), optimizer=keras.optimizers.SGD(0.0))
    model(x)
    loss = model.evaluate(x, y, sample_weight=weights, verbose=0)
    expected = np.sum((model.predict(x)[:5] - y[:5]) ** 2) / 20
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_initial_epoch_and_steps():
    history = compiled().fit(*data(), batch_size=10, epochs=5, initial_epoch=3, verbose=0)
    assert history.epoch == [3, 4]
    model = compiled()
    model.fit(*data(), batch_size=10, steps_per_epoch=2, epochs=2, verbose=0)
    assert int(model.optimizer.iterations) == 4


def test_callbacks_are_called_in_order():
    calls = []

    class Log(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            calls.append("train begin")

        def on_epoch_begin(self, epoch, logs=None):
            calls.append(f"epoch {epoch}")

        def on_train_batch_end(self, batch, logs=None):
            calls.append(f"batch {batch} {sorted(logs)}")

        def on_test_end(self, logs=None):
            calls.append("test end")

        def on_epoch_end(self, epoch, logs=None):
            calls.append(f"end {epoch} {sorted(logs)}")
            self.model.stop_training = True

        def on_train_end(self, logs=None):
            calls.append("train end")

    x, y = data(20)
    compiled().fit(
        x, y, batch_size=10, epochs=9, verbose=0, callbacks=[Log()], validation_data=(x, y)
    )
    assert calls == [
        "train begin", "epoch 0", "batch 0 ['loss', 'mae']", "batch 1 ['loss', 'mae']", "test end",
        "end 0 ['loss', 'mae', 'val_loss', 'val_mae']", "train end",
    ]  # fmt: skip


def test_evaluate_forms():
    model = compiled()
    x, y = data()
    as_list = model.evaluate(x, y, verbose=0)
    assert model.evaluate(x, y, verbose=0, return_dict=True) == {
        "loss": as_list[0],
        "mae": as_list[1],
    }
    assert isinstance(compiled(metrics=()).evaluate(x, y, verbose=0), float)


def test_predict_concatenates_nests():
    inputs = keras.Input((4,))
    model = keras.Model(
        inputs, {"one": keras.layers.Dense(1)(inputs), "two": keras.layers.Dense(2)(inputs)}
    )
    x, _ = data(37)
    found = model.predict(x, batch_size=10)
    assert found["one"].shape == (37, 1)
    np.testing.assert_allclose(found["two"], model(x)["two"], rtol=1e-6)


def test_on_batch_methods():
    model = compiled()
    x, y = data(8)
    loss, mae = model.train_on_batch(x, y)
    assert loss > 0
    assert mae > 0
    assert set(model.test_on_batch(x, y, return_dict=True)) == {"loss", "mae"}
    assert model.predict_on_batch(x).shape == (8, 1)


def test_a_dataset_and_a_list_of_batches():
    x, y = data(20)
    dataset = tf.data.Dataset.from_tensor_slices((x.astype("f"), y.astype("f"))).batch(5)
    by_dataset = compiled().fit(dataset, epochs=2, verbose=0).history
    by_arrays = compiled().fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0).history
    assert by_dataset == by_arrays


def test_accuracy_is_chosen_by_shape():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4))
    for units, labels, loss in [
        (1, rng.integers(0, 2, (30, 1)), "binary_crossentropy"),
        (3, rng.integers(0, 3, 30), "sparse_categorical_crossentropy"),
        (3, np.eye(3)[rng.integers(0, 3, 30)], "categorical_crossentropy"),
    ]:
        activation = "sigmoid" if units == 1 else "softmax"
        model = keras.Sequential([keras.layers.Dense(units, activation=activation)])
        model.compile("adam", loss, metrics=["accuracy"])
        history = model.fit(x, labels, verbose=0).history
        predicted = model.predict(x)
        if units == 1:
            right = (predicted > 0.5) == labels
        else:
            wanted = labels if labels.ndim == 1 else labels.argmax(1)
            right = predicted.argmax(1) == wanted
        found = model.evaluate(x, labels, verbose=0)[1]
        np.testing.assert_allclose(found, right.mean(), rtol=1e-6)
        assert 0 <= history["accuracy"][0] <= 1


def test_compile_config():
    model = compiled(metrics=["mae", keras.metrics.MeanSquaredError(name="squares")])
    config = json.loads(json.dumps(model.get_compile_config()))
    twin = keras.Sequential([keras.layers.Dense(1)])
    assert twin.get_compile_config() is None
    twin.compile_from_config(config)
    x, y = data()
    model.fit(x, y, verbose=0)
    twin.build((None, 4))
    twin.set_weights(model.get_weights())
    assert twin.evaluate(x, y, verbose=0, return_dict=True) == model.evaluate(
        x, y, verbose=0, return_dict=True
    )
    assert twin.get_compile_config() == config


def test_progress_is_one_line_an_epoch_off_a_terminal(capsys):
    compiled().fit(*data(), epochs=2)
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("Epoch 2/2 - ")
    assert "loss: " in lines[1]
    assert "mae: " in lines[1]


class Interrupt(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            raise KeyboardInterrupt


def test_averages_take_the_weights_place_after_an_interruption_too():
    whole, interrupted = (
        compiled(optimizer=keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5))
        for _ in range(2)
    )
    whole.fit(*data(), epochs=2, verbose=0, shuffle=False)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(*data(), epochs=5, verbose=0, shuffle=False, callbacks=[Interrupt()])
    for a, b in zip(whole.get_weights(), interrupted.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_interrupted_fit_leaves_model_and_history_usable():
    model = compiled()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data(), epochs=5, verbose=0, callbacks=[Interrupt()])
    assert len(model.history.history["loss"]) == 2
    model.fit(*data(), epochs=1, verbose=0)


# ---- bad input -----------------------------------------------------------------------------------

X, Y = data()


MISTAKES = {
    "lengths": (lambda m: m.fit(X, Y[:-1], verbose=0), "50.*49"),
    "no rows": (lambda m: m.fit(X[:0], Y[:0], verbose=0), "0 rows|no rows|empty"),
    "argument": (lambda m: m.fit(X, Y, epoch=3), r"fit\(\) has no argument 'epoch'.*'epochs'"),
    "split": (lambda m: m.fit(X, Y, validation_split=1.5), r"must lie in \(0, 1\), got 1.5"),
    "optimizer": (lambda m: m.compile("adma", "mse"), "Unknown optimizer: 'adma'; did you mean"),
    "loss": (lambda m: m.compile("adam", "mze"), "Unknown loss: 'mze'"),
    "metric": (lambda m: m.compile("adam", "mse", metrics=["acuracy"]), "Unknown metric"),
    "used up": (lambda m: m.fit(iter([]), verbose=0), "no batch|empty"),
}


@pytest.mark.parametrize(("call", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(call, message):
    model = compiled()
    model(X)
    before = [w.copy() for w in model.get_weights()]
    with pytest.raises((ValueError, TypeError), match=message):
        call(model)
    for a, b in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("method", ["fit", "evaluate", "train_on_batch", "training_step"])
def test_before_compile(method):
    model = keras.Sequential([keras.layers.Dense(1)])
    arguments = () if method == "training_step" else (X, Y)
    with pytest.raises(ValueError, match=rf"{method}.*not compiled yet.*model\.compile"):
        getattr(model, method)(*arguments)


def test_wrong_features_name_the_layer():
    model = compiled()
    model.fit(X, Y, verbose=0)
    with pytest.raises(ValueError, match=r"'dense.*to have value 4.*\(32, 3\).*'sequential"):
        model.predict(X[:, :3])


def test_labels_out_of_range():
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    with pytest.raises((ValueError, IndexError), match=r"7.*3"):
        model.fit(X, np.full(50, 7), verbose=0)


def test_a_model_without_weights_is_fitted():
    """As in real Keras: the history has the loss, and a warning says that nothing is trained."""
    x, _ = data(6)
    frozen = keras.Sequential([keras.layers.Dense(4, trainable=False)])
    for model in (keras.Sequential([keras.layers.Flatten()]), frozen):
        for options in ({}, {"run_eagerly": True}, {"accumulate": 2}):
            model.compile("adam", "mse", metrics=["mae"], **options)
            with pytest.warns(UserWarning, match="has no trainable weights"):
                logs = model.fit(x, np.zeros((6, 4)), epochs=4, batch_size=3, verbose=0).history
            expected = np.mean(np.square(model.predict(x, verbose=0)))
            np.testing.assert_allclose(logs["loss"], [expected] * 4, rtol=1e-5)
            assert model.optimizer.iterations.numpy() == 0
    model = keras.Sequential([keras.layers.Flatten()])
    step = model.training_step(loss="mse", optimizer="sgd")
    with pytest.warns(UserWarning, match="has no trainable weights"):
        assert float(step(np.ones((2, 3)), np.zeros((2, 3)))) == 1.0


# ---- modules -------------------------------------------------------------------------------------

PATH = {
    "fitting.py", "epochs.py", "feed.py", "training_step.py", "batch_plans.py", "compilation.py",
    "mistakes/course.py",
}  # fmt: skip


def test_a_plain_fit_runs_through_seven_modules():
    """Of those in `training/`, once the first batch has matched metrics to the outputs."""
    x, y = np.ones((64, 4), "float32"), np.arange(64) % 3
    model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=16, verbose=0)
    folder = fitting.__file__.removesuffix("fitting.py")
    entered = set()

    def note(frame, event, arg):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(folder):
            entered.add(name.removeprefix(folder))

    sys.setprofile(note)
    try:
        model.fit(x, y, batch_size=16, epochs=2, verbose=0)
    finally:
        sys.setprofile(None)
    assert {name for name in entered if not name.startswith("callbacks")} == PATH
    assert all(f"`{name}`" in fitting.__doc__ for name in PATH)


def test_one_target_for_the_only_output_with_a_loss():
    """As in Keras: `loss=[loss, None]` with one target, alone or in a list with None."""
    x, y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(2, name="hidden")(inputs)
    model = keras.Model(inputs, [keras.layers.Dense(2, name="out")(hidden), hidden])
    weights = model.get_weights()
    found = []
    for targets in (y, [y], [y, None], (y, None)):
        model.compile("sgd", loss=["mse", None])
        model.set_weights(weights)
        logs = model.fit(x, targets, sample_weight=np.arange(4.0), verbose=0).history
        split = model.fit(x, targets, validation_split=0.5, verbose=0).history
        one = model.train_on_batch(x, targets)
        found.append(
            [*logs["loss"], *split["val_loss"], one, model.evaluate(x, targets, verbose=0)]
        )
    for losses in found[1:]:
        assert losses == pytest.approx(found[0])
    model.compile("sgd", loss=["mse", "mse"])
    with pytest.raises(ValueError, match="of output 'hidden' needs targets, but y is None"):
        model.fit(x, [y, None], verbose=0)


def test_an_optional_input_may_be_none():
    class Sum(keras.layers.Layer):
        def call(self, a, b):
            return a if b is None else a + b

        def compute_output_shape(self, a_shape, b_shape):
            return a_shape

    a, b = keras.Input((3,)), keras.Input((3,), optional=True)
    model = keras.Model([a, b], Sum()(a, b))
    x = np.ones((4, 3), "float32")
    np.testing.assert_array_equal(model.predict([x, None], verbose=0), x)
    np.testing.assert_array_equal(model.predict([x, x], verbose=0), 2 * x)
