"""Callbacks: hooks and their order, and each built-in one. Numbers against Keras: test_parity."""

import csv

import numpy as np
import pytest

from framework import keras
from framework.training.callbacks.base import Callback

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = X[:, :1] * 2
HOOKS = [name for name in vars(Callback) if name.startswith("on_")]


def compiled(optimizer=None, **options):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(1, name="only")], name="net")
    model.compile(optimizer or keras.optimizers.SGD(0.05), "mse", **options)
    return model


def fit(model, *callbacks, **options):
    options = {"batch_size": 10, "verbose": 0, "shuffle": False, **options}
    return model.fit(X, Y, callbacks=list(callbacks), **options)


def recording():
    calls = []

    def hook(name):
        return lambda *args: calls.append((name.removeprefix("on_"), *args[:-1], sorted(args[-1])))

    return calls, keras.callbacks.LambdaCallback(**{name: hook(name) for name in HOOKS})


def test_every_hook_in_order():
    calls, callback = recording()
    model = compiled()
    fit(model, callback, validation_data=(X, Y))
    batch = (
        [("train_batch_begin", i, []) for i in range(2)],
        [("train_batch_end", i, ["loss"]) for i in range(2)],
    )
    assert [c for c in calls if not c[0].startswith("batch")] == [
        ("train_begin", []), ("epoch_begin", 0, []), batch[0][0], batch[1][0], batch[0][1],
        batch[1][1], ("test_begin", []), ("test_batch_begin", 0, []),
        ("test_batch_end", 0, ["loss"]), ("test_batch_begin", 1, []),
        ("test_batch_end", 1, ["loss"]), ("test_end", ["loss"]),
        ("epoch_end", 0, ["loss", "val_loss"]), ("train_end", ["loss", "val_loss"]),
    ]  # fmt: skip
    calls.clear()
    model.predict(X, batch_size=20, verbose=0, callbacks=[callback])
    assert calls == [
        ("predict_begin", []), ("predict_batch_begin", 0, []),
        ("predict_batch_end", 0, ["outputs"]), ("predict_end", []),
    ]  # fmt: skip


def test_the_older_names_of_batch_hooks():
    seen = []

    class Older(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            seen.append((batch, sorted(logs)))

    fit(compiled(), Older())
    assert seen == [(0, ["loss"]), (1, ["loss"])]


def test_params_and_model_are_set():
    callback = keras.callbacks.Callback()
    model = compiled()
    fit(model, callback, epochs=3)
    assert callback.model is model
    assert callback.params == {"verbose": 0, "epochs": 3, "steps": 2}


def test_a_list_of_callbacks_is_called_as_one():
    calls, callback = recording()
    callbacks = keras.callbacks.CallbackList([callback], model=compiled(), epochs=2)
    callbacks.on_epoch_end(3, {"loss": 1.0})
    callbacks.on_train_batch_begin(0)
    callbacks.on_train_begin()
    assert calls == [
        ("epoch_end", 3, ["loss"]), ("train_batch_begin", 0, []), ("train_begin", []),
    ]  # fmt: skip
    assert callbacks.params == {"epochs": 2}
    with pytest.raises(AttributeError):
        callbacks.on_nothing()


def test_what_a_callback_needs_is_there():
    seen = []

    class Look(keras.callbacks.Callback):
        needs = frozenset({"batch", "outputs", "loss", "gradients", "norms", "rates"})

        def on_train_batch_end(self, batch, logs=None):
            step = self.step
            error = np.asarray(step.outputs) - np.asarray(step.y)
            seen.append((step.loss, float(np.mean(error**2)), dict(step.norms), step.rates))
            np.testing.assert_allclose(
                step.gradients["net/only/bias"], 2 * error.mean(0), rtol=1e-4
            )
            assert step.batch[2] is None
            assert step.x.shape == (10, 4)

    watched, plain = compiled(), compiled()
    callback = Look()
    history = fit(watched, callback)
    fit(plain)
    assert len(seen) == 2
    for loss, expected, norms, rates in seen:
        assert loss == pytest.approx(expected, rel=1e-5)
        assert rates == pytest.approx({"net/only/kernel": 0.05, "net/only/bias": 0.05})
        assert all(norm > 0 for norm in norms.values())
    assert np.mean([row[0] for row in seen]) == pytest.approx(history.history["loss"][0])
    for a, b in zip(watched.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rates_of_groups():
    seen = []

    class Look(keras.callbacks.Callback):
        needs = "rates"

        def on_train_batch_end(self, batch, logs=None):
            seen.append(self.step.rates)

    groups = {"only/bias": {"learning_rate": 0.5}}
    fit(compiled(keras.optimizers.SGD(0.1, groups=groups)), Look(), batch_size=20)
    assert seen == [pytest.approx({"net/only/kernel": 0.1, "net/only/bias": 0.5})]


def test_what_is_not_declared_is_not_there():
    class Careless(keras.callbacks.Callback):
        needs = frozenset({"loss"})

        def on_train_batch_end(self, batch, logs=None):
            _ = self.step.gradients

    with pytest.raises(ValueError, match=r"self.step.gradients: no callback.*needs = {\"gradients"):
        fit(compiled(), Careless())

    class Wrong(keras.callbacks.Callback):
        needs = frozenset({"grads"})

    with pytest.raises(
        ValueError, match=r"Wrong.needs: expected names among batch, .*, got 'grads'"
    ):
        fit(compiled(), Wrong())


def test_history_is_filled_up_to_an_interruption():
    def interrupt(epoch, logs):
        if epoch == 1:
            raise KeyboardInterrupt

    model = compiled()
    with pytest.raises(KeyboardInterrupt):
        fit(model, keras.callbacks.LambdaCallback(on_epoch_end=interrupt), epochs=5)
    assert model.history.epoch == [0, 1]
    assert len(model.history.history["loss"]) == 2
    assert fit(model).epoch == [0]


# ---- stopping ------------------------------------------------------------------------------------


def values(*numbers, name="val_loss"):
    """A callback that puts given numbers into the logs."""
    return keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: logs.update({name: numbers[epoch]})
    )


STOPPING = {
    "patience": ({"patience": 2}, [5, 4, 4.5, 4.2, 4.1, 1], 4),
    "no patience": ({}, [5, 4, 4.5, 1], 3),
    "min_delta": ({"min_delta": 0.5, "patience": 1}, [5, 4.8, 1], 2),
    "max": ({"mode": "max", "patience": 1}, [1, 2, 1.5, 3], 3),
    "baseline": ({"baseline": 3.0, "patience": 2}, [5, 4, 4.5, 1], 3),
    "start_from_epoch": ({"start_from_epoch": 2, "patience": 1}, [1, 2, 5, 4, 4.5, 1], 5),
    "accuracy": ({"monitor": "val_accuracy", "patience": 1}, [0.1, 0.2, 0.15, 0.3], 3),
}


@pytest.mark.parametrize(("options", "numbers", "epochs"), STOPPING.values(), ids=STOPPING)
def test_early_stopping(options, numbers, epochs):
    callback = keras.callbacks.EarlyStopping(**options)
    watched = values(*numbers, name=options.get("monitor", "val_loss"))
    history = fit(compiled(), watched, callback, epochs=len(numbers))
    assert len(history.epoch) == epochs
    assert callback.stopped_epoch == epochs - 1


@pytest.mark.parametrize("stopped", [True, False])
def test_the_best_weights_come_back(stopped, capsys):
    kept = {}

    def keep(epoch, logs):
        kept[epoch] = model.get_weights()

    model = compiled()
    callback = keras.callbacks.EarlyStopping(
        patience=2 if stopped else 9, restore_best_weights=True, verbose=1
    )
    saving = keras.callbacks.LambdaCallback(on_epoch_end=keep)
    fit(model, values(5, 1, 2, 3, 4), saving, callback, epochs=5)
    for a, b in zip(model.get_weights(), kept[1], strict=True):
        np.testing.assert_array_equal(a, b)
    assert callback.best_epoch == 1
    printed = capsys.readouterr().out
    assert "best epoch: 2" in printed
    assert ("Epoch 4: early stopping" in printed) == stopped


def test_a_value_that_the_logs_do_not_have():
    with pytest.warns(UserWarning, match="EarlyStopping monitors 'val_loss'.*They have loss"):
        fit(compiled(), keras.callbacks.EarlyStopping(), epochs=2)


@pytest.mark.parametrize("raises", [False, True])
def test_terminate_on_nan(raises, capsys):
    model = compiled(keras.optimizers.SGD(1e30))
    callback = keras.callbacks.TerminateOnNaN(raise_error=raises)
    if raises:
        with pytest.raises(RuntimeError, match=r"Batch \d: the loss is (inf|nan)"):
            fit(model, callback, epochs=9)
    else:
        assert len(fit(model, callback, epochs=9).epoch) < 9
        assert "the loss is" in capsys.readouterr().out


class Stop(keras.callbacks.Callback):
    """Stops after the first batch."""

    def on_test_batch_end(self, batch, logs=None):
        self.model.stop_evaluating = True

    def on_predict_batch_end(self, batch, logs=None):
        self.model.stop_predicting = True


def test_evaluation_and_prediction_stop_once():
    model = compiled(keras.optimizers.SGD(0.0))
    whole = model.evaluate(X, Y, verbose=0)
    begun = model.evaluate(X, Y, batch_size=5, verbose=0, callbacks=[Stop()])
    assert begun == pytest.approx(model.evaluate(X[:5], Y[:5], verbose=0), rel=1e-5) != whole
    assert model.evaluate(X, Y, verbose=0) == whole
    history = fit(model, validation_data=(X, Y), epochs=2)
    np.testing.assert_allclose(history.history["val_loss"], [whole] * 2, rtol=1e-5)
    assert len(model.predict(X, batch_size=5, verbose=0, callbacks=[Stop()])) == 5
    assert len(model.predict(X, batch_size=5, verbose=0)) == 20


# ---- which of two values is better ---------------------------------------------------------------


def dice_coef(y_true, y_pred):
    return keras.ops.abs(y_true - y_pred)


class Score(keras.metrics.Mean):
    _direction = "up"

    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(y_pred)


DIRECTIONS = {
    "val_loss": np.less, "head_loss": np.less, "val_rmse": np.less, "mae": np.less,
    "val_accuracy": np.greater, "binary_accuracy_1": np.greater, "val_f1-score": np.greater,
    "acc_loss": np.less, "score": np.greater, "val_head_score_2": np.greater,
    "log_cosh": np.less, "crossentropy": np.less, "dice_coef": None, "val_f1score": None,
    "error_recall": None,
}  # fmt: skip


@pytest.mark.parametrize("name", DIRECTIONS)
@pytest.mark.parametrize("kind", ["EarlyStopping", "ReduceLROnPlateau"])
def test_the_better_direction_is_known_or_asked_for(kind, name):
    metrics = ["crossentropy", Score(name="score"), dice_coef, keras.losses.log_cosh]
    model = compiled(metrics=metrics)
    callback = getattr(keras.callbacks, kind)(monitor=name)
    callback.set_model(model)
    if DIRECTIONS[name] is None:
        with pytest.raises(ValueError, match=f"{kind}: monitor='{name}': .* cannot tell.*mode="):
            fit(model, callback)
        assert int(model.optimizer.iterations) == 0
        callback = getattr(keras.callbacks, kind)(monitor=name, mode="max")
    callback.set_model(model)
    callback.on_train_begin()
    assert callback.monitor_op is (DIRECTIONS[name] or np.greater)


# ---- learning rates ------------------------------------------------------------------------------


def test_scheduler_with_and_without_the_rate():
    model = compiled()
    both = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    history = fit(model, both, epochs=3)
    np.testing.assert_allclose(history.history["learning_rate"], [0.025, 0.0125, 0.00625])
    history = fit(model, keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)))
    np.testing.assert_allclose(history.history["learning_rate"], [0.1])


def test_an_error_in_a_schedule_is_reported_unchanged():
    def schedule(epoch, rate):
        return rate * "0.5"

    callback = keras.callbacks.LearningRateScheduler(schedule)
    with pytest.raises(TypeError, match="can't multiply sequence"):
        fit(compiled(), callback)


SEVERAL = keras.optimizers.MultiOptimizer, keras.optimizers.OptimizerMap


def several(kind):
    one, other = keras.optimizers.SGD(0.5), keras.optimizers.SGD(0.1, name="own")
    if kind == "a function":
        return SEVERAL[0](lambda v: one if "kernel" in v.path else other)
    both = SEVERAL[0](SEVERAL[1](other, {".*kernel": one}))
    return keras.optimizers.LossScaleOptimizer(both) if kind == "scaled" else both


@pytest.mark.parametrize("kind", ["a map", "a function", "scaled"])
def test_rates_of_several_optimizers(kind, capsys):
    model = compiled(several(kind))
    model.build((None, 4))
    halving = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5, verbose=1)
    history = fit(model, halving, epochs=2).history
    np.testing.assert_allclose(history["learning_rate_sgd"], [0.25, 0.125])
    np.testing.assert_allclose(history["learning_rate_own"], [0.05, 0.025])
    assert "Epoch 2: the learning rate of 'own' is 0.025." in capsys.readouterr().out
    plateau = keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1, min_lr=0.025, verbose=1)
    history = fit(model, values(5, 5, 5, 5), plateau, epochs=4).history
    np.testing.assert_allclose(history["learning_rate_sgd"], [0.125, 0.125, 0.0625, 0.03125])
    np.testing.assert_allclose(history["learning_rate_own"], [0.025] * 4)
    assert "reducing the learning rate of 'sgd' to 0.0625" in capsys.readouterr().out


def test_rates_of_optimizers_of_one_name():
    both = SEVERAL[0](SEVERAL[1](keras.optimizers.SGD(0.5), {".*bias": keras.optimizers.SGD(0.1)}))
    callback = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate)
    history = fit(compiled(both), callback).history
    np.testing.assert_allclose(history["learning_rate_sgd"], [0.1])
    np.testing.assert_allclose(history["learning_rate_sgd_1"], [0.5])


def test_an_optimizer_without_a_rate():
    both = SEVERAL[0](lambda variable: keras.optimizers.SGD())
    callback = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate)
    with pytest.raises(ValueError, match="has no learning rate to change"):
        fit(compiled(both), callback)


@pytest.mark.parametrize("scheduled", [False, True])
def test_plateau(scheduled):
    decay = keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)  # halved each epoch
    model = compiled(keras.optimizers.SGD(decay if scheduled else 0.1))
    callback = keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1, cooldown=2)
    history = fit(model, values(5, 5, 5, 5, 5), callback, epochs=5)
    expected = np.array([0.1, 0.1, 0.05, 0.05, 0.025])  # reduced after epochs 1 and 3
    if scheduled:
        expected = expected * 0.5 ** np.arange(1, 6)
    np.testing.assert_allclose(history.history["learning_rate"], expected, rtol=1e-5)


def test_plateau_stops_at_the_least_rate(capsys):
    model = compiled()
    callback = keras.callbacks.ReduceLROnPlateau(factor=0.1, patience=1, min_lr=0.01, verbose=1)
    fit(model, values(5, 5, 5, 5), callback, epochs=4)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.01)
    assert capsys.readouterr().out.count("reducing") == 1


def test_plateau_under_loss_scaling():
    model = compiled(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)))
    callback = keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1)
    fit(model, values(5, 5), callback, epochs=2)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.05)


# ---- files, bars, averages -----------------------------------------------------------------------


def test_csv(tmp_path):
    path = tmp_path / "log.csv"
    history = fit(compiled(), keras.callbacks.CSVLogger(path), epochs=2, validation_data=(X, Y))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert list(rows[0]) == ["epoch", "loss", "val_loss"]
    assert [float(row["loss"]) for row in rows] == history.history["loss"]
    fit(compiled(), keras.callbacks.CSVLogger(path, append=True), validation_data=(X, Y))
    assert len(path.read_text().splitlines()) == 4
    fit(compiled(), keras.callbacks.CSVLogger(path, separator=";"))
    assert path.read_text().startswith("epoch;loss;val_loss\n0;")
    assert ";NA" in path.read_text()


def test_a_users_own_progbar_replaces_fits(capsys):
    fit(compiled(), keras.callbacks.ProgbarLogger(), verbose=2, epochs=2)
    assert len(capsys.readouterr().out.strip().splitlines()) == 2
    fit(compiled(), keras.callbacks.ProgbarLogger())
    assert "Epoch 1/1" in capsys.readouterr().out


def test_averages_are_evaluated_and_given_back():
    seen = []

    class Weights(keras.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            seen.append(self.model.get_weights()[0])

    optimizer = keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5)
    model = compiled(optimizer)
    fit(model, keras.callbacks.SwapEMAWeights(), Weights(), validation_data=(X, Y))
    np.testing.assert_array_equal(seen[0], model.get_weights()[0])  # fit ends with the averages
    plain = compiled()
    fit(plain)
    assert not np.allclose(seen[0], plain.get_weights()[0])
