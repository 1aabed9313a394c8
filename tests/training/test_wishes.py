"""What users of other frameworks suffered from in training, one test for each: here it works."""

import subprocess
import sys

import numpy as np
import pytest

import framework as tf
from framework import keras

RNG = np.random.default_rng(7)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = (X @ RNG.normal(size=(4, 1))).astype("float32")
LABELS = np.repeat(np.arange(4), 5)


def make(optimizer="sgd", loss="mse", **options):
    keras.utils.set_random_seed(2)
    model = keras.Sequential(
        [keras.layers.Dense(5, "tanh", name="body"), keras.layers.Dense(1, name="head")], name="net"
    )
    model.build((None, 4))
    model.compile(optimizer, loss, **options)
    return model


def fit(model, **options):
    return model.fit(X, Y, batch_size=5, verbose=0, shuffle=False, **options)


def values(model):
    return [np.array(w) for w in model.get_weights()]


def moved(model, before):
    return [not np.array_equal(a, b) for a, b in zip(before, values(model), strict=True)]


def batches(model, step, **options):
    """One epoch by hand."""
    for i in range(0, 20, 5):
        step(X[i : i + 5], Y[i : i + 5], **options)
    step.flush()


def equal(a, b):
    for u, v in zip(values(a), values(b), strict=True):
        np.testing.assert_array_equal(u, v)


# ---- a loop of one's own, and starting up --------------------------------------------------------


def test_23_a_model_trains_in_a_plain_loop_as_in_fit():
    fitted, looped = make(keras.optimizers.Adam(0.1)), make()
    fit(fitted)
    batches(looped, looped.training_step(loss="mse", optimizer=keras.optimizers.Adam(0.1)))
    equal(fitted, looped)


def test_24_importing_loads_no_layers_and_no_heavy_libraries():
    program = "import sys, framework; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"framework.layers", "framework.keras", "numba", "h5py", "tqdm"} & set(loaded)


# ---- optimizers and precision --------------------------------------------------------------------


def test_25_gradients_are_accumulated_in_fit_by_the_optimizer_and_by_compile():
    by_optimizer = make(keras.optimizers.SGD(0.1, gradient_accumulation_steps=2))
    by_compile = make(keras.optimizers.SGD(0.1), accumulate=2)
    for model in (by_optimizer, by_compile):
        fit(model)
        assert int(model.optimizer.iterations) == 2
    for a, b in zip(values(by_optimizer), values(by_compile), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_26_an_accumulated_step_is_one_large_batch_and_no_tail_is_lost():
    def adam():
        return keras.optimizers.Adam(0.1, weight_decay=0.1, use_ema=True)

    large, small = make(adam()), make(adam(), accumulate=3)
    large.fit(X, Y, batch_size=15, verbose=0, shuffle=False)
    fit(small)  # batches of 5: three, and one that is left
    assert int(large.optimizer.iterations) == int(small.optimizer.iterations) == 2
    for a, b in zip(values(large), values(small), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_27_rates_for_parts_of_a_model_by_paths_that_start_at_it():
    groups = {"body/*": {"learning_rate": 0.0}, "head/bias": {"learning_rate": 0.5}}
    model = make(keras.optimizers.SGD(0.1, groups=groups))
    before = values(model)
    fit(model)
    assert moved(model, before) == [False, False, True, True]
    assert float(model.optimizer.learning_rate) == pytest.approx(0.1)
    with pytest.raises(ValueError, match=r"'sequential_7/\*'.*matches no variable"):
        make(keras.optimizers.SGD(0.1, groups={"sequential_7/*": {"learning_rate": 1.0}}))


@pytest.mark.parametrize("by", ["group", "exclusion"])
def test_28_biases_are_spared_the_decay(by, capsys):
    groups = {"*/bias": {"weight_decay": 0}} if by == "group" else None
    optimizer = keras.optimizers.SGD(0.1, weight_decay=0.5, groups=groups)
    model = make(optimizer)
    if by == "exclusion":
        optimizer.exclude_from_weight_decay(var_names=["bias"])
    model.set_weights([np.ones_like(w) for w in values(model)])
    optimizer.apply([tf.zeros_like(v) for v in model.trainable_variables],
                    model.trainable_variables)  # fmt: skip
    assert [float(w.min()) for w in values(model)] == pytest.approx([0.95, 1.0, 0.95, 1.0])
    if by == "group":
        model.summary(show_groups=True)
        assert "weight_decay" in capsys.readouterr().out


def test_29_a_schedules_rate_can_be_scaled_and_replaced():
    schedule = keras.optimizers.schedules.ExponentialDecay(1.0, 4, 0.5)
    model = make(keras.optimizers.SGD(schedule))
    plateau = keras.callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1, min_delta=1e9)
    fit(model, callbacks=[plateau], epochs=3)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.5**3 * 0.1**2, rel=1e-5)
    model.optimizer.learning_rate = 0.25
    assert float(model.optimizer.learning_rate) == 0.25


def test_30_loss_scaling_by_both_spellings_and_no_forgetting():
    def step(model, spelling):
        optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
        with tf.GradientTape() as tape:
            loss = keras.losses.MeanSquaredError()(Y, model(X))
            scale = optimizer.scale_loss if spelling == "3" else optimizer.get_scaled_loss
            scaled = scale(loss)
        found = tape.gradient(scaled, model.trainable_variables)
        if spelling == "2":
            found = optimizer.get_unscaled_gradients(found)
        optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
        return model

    equal(step(make(), "3"), step(make(), "2"))
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
    v = keras.Variable(1.0)
    optimizer.get_scaled_loss(tf.constant(1.0))
    with pytest.raises((ValueError, RuntimeError), match="unscale"):
        optimizer.get_unscaled_gradients(optimizer.get_unscaled_gradients([tf.constant(1.0)]))
    assert float(v) == 1.0


def test_31_float16_trains_without_nan():
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.01), initial_scale=2.0)
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.layers.Dense(4, dtype="mixed_float16"), keras.layers.Dense(1, dtype="mixed_float16")]
    )
    model.compile(optimizer, "mse")
    model.build((None, 4))
    history = fit(model, epochs=4)
    assert history.history["loss"][-1] < history.history["loss"][0]
    assert {v.dtype for v in optimizer.inner_optimizer.variables[1:]} == {"float32"}
    for _ in range(3):  # overflown steps: skipped, halved, below one
        optimizer.scale_loss(tf.constant(1.0))
        optimizer.apply([v * np.inf for v in model.trainable_variables], model.trainable_variables)
    assert int(optimizer.skipped_steps) == 3
    assert float(optimizer.dynamic_scale) < 1
    assert all(np.isfinite(w).all() for w in values(model))


def test_32_variables_may_join_an_optimizer_at_any_time():
    optimizer = keras.optimizers.Adam(0.1)
    a, b = keras.Variable(1.0), keras.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(1.0), a)])
    optimizer.apply_gradients([(tf.constant(1.0), a), (tf.constant(1.0), b)])
    assert float(a) < float(b) < 1.0


def test_33_freezing_takes_effect_at_the_next_step():
    model = keras.Sequential(
        [keras.layers.Dense(3), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    fit(model)
    for frozen in (True, False):
        for layer in model.layers[:2]:
            layer.trainable = not frozen
        before = values(model)
        fit(model)  # not compiled again
        # kernel, bias, gamma, beta, moving mean, moving variance; kernel and bias of the last
        assert moved(model, before) == [not frozen] * 6 + [True] * 2


# ---- fit, metrics, callbacks ---------------------------------------------------------------------


def test_39_callbacks_see_batch_outputs_and_gradients():
    seen = []

    class Look(keras.callbacks.Callback):
        needs = frozenset({"batch", "outputs", "loss", "gradients", "rates"})

        def on_train_batch_end(self, batch, logs=None):
            step = self.step
            seen.append((len(step.x), step.loss, len(step.gradients), len(step.rates)))
            np.testing.assert_allclose(
                step.loss, np.mean((np.asarray(step.y_pred) - np.asarray(step.y)) ** 2), rtol=1e-4
            )

    fit(make(), callbacks=[Look()])
    assert [(n, g, r) for n, _, g, r in seen] == [(5, 4, 4)] * 4


def test_40_a_batchs_own_loss_beside_the_mean_so_far(tmp_path):
    logs, own = [], []

    class Both(keras.callbacks.Callback):
        needs = "loss"

        def on_train_batch_end(self, batch, logs_now=None):
            logs.append(logs_now["loss"])
            own.append(self.step.loss)

    kept = keras.callbacks.History(batch=True)
    table = keras.callbacks.CSVLogger(tmp_path / "batches.csv", batch=True)
    assert fit(make(), callbacks=[Both(), kept, table]) is kept
    np.testing.assert_allclose(logs, np.cumsum(own) / np.arange(1, 5), rtol=1e-5)
    assert kept.batches == {"loss": own}
    assert kept.history["loss"] == [logs[-1]]
    head, *rows = (tmp_path / "batches.csv").read_text().split()
    assert head == "epoch,batch,loss"
    assert [float(row.split(",")[2]) for row in rows] == own


def test_41_a_metric_function_of_one_number_is_weighted_by_rows_and_warned_of():
    def rmse(y_true, y_pred):
        return tf.sqrt(tf.reduce_mean(tf.square(y_true - y_pred)))

    model = make(keras.optimizers.SGD(0.0), metrics=[rmse, keras.metrics.RootMeanSquaredError()])
    with pytest.warns(UserWarning, match="'rmse' returns one number per batch"):
        found = model.fit(X, Y, batch_size=8, verbose=0, shuffle=False).history
    errors = (model.predict(X, verbose=0) - Y) ** 2
    parts = [np.sqrt(errors[i : i + 8].mean()) for i in (0, 8, 16)]
    np.testing.assert_allclose(found["rmse"], np.average(parts, weights=[8, 8, 4]), rtol=1e-5)
    np.testing.assert_allclose(found["root_mean_squared_error"], np.sqrt(errors.mean()), rtol=1e-5)


def test_42_what_divides_a_weighted_loss():
    y, p, weights = np.zeros((2, 1)), np.ones((2, 1)), np.array([0.0, 1.0])
    mae = keras.losses.MeanAbsoluteError
    assert float(mae()(y, p, sample_weight=weights)) == 0.5
    by_weight = mae(reduction="mean_with_sample_weight")
    assert float(by_weight(y, p, sample_weight=weights)) == 1.0


def test_43_a_split_that_holds_classes_unseen_in_training():
    model = keras.Sequential([keras.layers.Dense(4, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.warns(UserWarning, match="classes that the training rows do not have: 3"):
        model.fit(X, LABELS, validation_split=0.25, verbose=0)
    train, held_out = keras.utils.split_dataset(
        (X, LABELS), left_size=0.75, shuffle=True, seed=1, stratify=LABELS
    )
    assert {int(y) for _, y in train} == {int(y) for _, y in held_out} == {0, 1, 2, 3}
    model.fit(train.batch(5), validation_data=held_out.batch(5), verbose=0)


def test_44_dicts_of_outputs_match_losses_and_metrics_by_key():
    inputs = keras.Input((4,))
    outputs = {k: keras.layers.Dense(1, name=f"layer_{k}")(inputs) for k in "ab"}
    model = keras.Model(inputs, outputs)
    model.compile("sgd", {"a": "mse", "b": "mae"}, metrics={"b": ["mae"]})
    found = model.fit(X, {"a": Y, "b": Y}, verbose=0).history
    assert {"loss", "a_loss", "b_loss", "b_mae"} <= set(found)
    model.compile("sgd", {"a": "mse", "c": "mae"})
    with pytest.raises(ValueError, match=r"'c'.*'a'.*'b'|'c'.*a, b"):
        model.fit(X, {"a": Y, "b": Y}, verbose=0)


def test_45_data_that_run_out_and_validation_that_begins_anew():
    def rows(n):
        for i in range(n):
            yield X[5 * i : 5 * i + 5], Y[5 * i : 5 * i + 5]

    with pytest.warns(UserWarning, match=r"after 3 of 4 steps.*iterated again"):
        make().fit(rows(3), steps_per_epoch=4, epochs=2, verbose=0)
    model = make(keras.optimizers.SGD(0.0))
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5)
    found = model.fit(data, validation_data=data, validation_steps=2, epochs=3, verbose=0).history
    assert len(found["loss"]) == 3
    assert len(set(found["val_loss"])) == 1  # the same first two batches each time
