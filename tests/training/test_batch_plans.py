"""Training by compiled plans: the numbers of Python, to the last bit, with every control."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.plan_cache import PlanCache
from framework.core.errors import FrameworkError
from framework.kernels import tier
from framework.training import batch_plans
from tests.changed import changed
from tests.samples.optimizers import SAMPLES
from tests.training.scenarios import SCENARIOS

RNG = np.random.default_rng(2)
X = RNG.normal(size=(22, 5)).astype("float32")
Y = np.stack([X[:, 0] * X[:, 1], np.sin(X[:, 2])], axis=1)
CLASSES = RNG.integers(0, 3, 22)
WEIGHTS = RNG.uniform(0, 2, 22).astype("float32")
SIZE = 5  # four batches and one of two rows


@pytest.fixture(autouse=True)
def in_numpy():
    yield tier.set_tier
    tier.set_tier(None)
    keras.mixed_precision.set_global_policy(None)


def assert_alike(run, least=1, rtol=0.0):
    """`run()` gives the same bits by plans and in Python; all its work was compiled.

    Unless an `rtol` says what another order in memory may do to sums.
    """
    made = []

    class Watched(PlanCache):
        def __init__(self, name):
            super().__init__(name)
            made.append(self)

    found = []
    with changed(batch_plans, PlanCache=Watched):
        for kind in ("off", "numpy"):
            tier.set_tier(kind)
            keras.utils.set_random_seed(1)
            found.append(run())
    eager, compiled = found
    assert not [reason for c in made for reason in c.refused.values()]
    assert sum(len(entries) for c in made for entries in c.plans.values()) >= least
    assert set(eager) == set(compiled)
    for name, value in eager.items():
        np.testing.assert_allclose(compiled[name], value, rtol, 0.1 * rtol, err_msg=name)


def dense(**options):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([
        keras.layers.Dense(6, activation="tanh", name="hidden", **options),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(2, name="out"),
    ], name="net")  # fmt: skip
    model.build((None, 5))
    return model


def state_of(model, optimizer):
    values = [*model.variables, *optimizer.state_variables]
    return {f"variable {i}": v.array.copy() for i, v in enumerate(values)}


def batches(*arrays):
    return [tuple(a[i : i + SIZE] for a in arrays) for i in range(0, len(X), SIZE)]


def steps(model, step, *arrays, epochs=4):
    """The numbers of a run: its losses and all that it leaves."""
    losses = []
    for _ in range(epochs):
        losses += [float(step(*batch)) for batch in batches(*arrays)]
        step.flush()
    return {"losses": losses, **state_of(model, step.optimizer)}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios(name):
    assert_alike(lambda: SCENARIOS[name](keras))


# ---- optimizers ----------------------------------------------------------------------------------


def optimizer_of(name):
    return SAMPLES[name].create()


def tolerance_of(name):
    """Muon multiplies by transposed matrices, which a plan keeps in another order."""
    return 1e-4 if name.startswith("muon") else 0.0


@pytest.mark.parametrize("name", SAMPLES)
def test_optimizers(name):
    def run():
        model = dense()
        step = model.training_step(loss="mse", optimizer=optimizer_of(name))
        return steps(model, step, X, Y)

    assert_alike(run, rtol=tolerance_of(name))


@pytest.mark.parametrize("name", [n for n in SAMPLES if "accumulation" not in n])
def test_optimizers_that_scale_and_accumulate(name):
    def run():
        model = dense()
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer_of(name))
        step = model.training_step(
            loss="mse", optimizer=optimizer, accumulate=2, global_clipnorm=0.5
        )
        return steps(model, step, X, Y)

    assert_alike(run, least=3, rtol=tolerance_of(name))


schedules = keras.optimizers.schedules
SCHEDULES = {
    "exponential": lambda: schedules.ExponentialDecay(0.1, 3, 0.9, staircase=True),
    "piecewise": lambda: schedules.PiecewiseConstantDecay([3, 7], [0.1, 0.05, 0.01]),
    "polynomial": lambda: schedules.PolynomialDecay(0.1, 9, cycle=True),
    "inverse_time": lambda: schedules.InverseTimeDecay(0.1, 4, 0.5),
    "cosine": lambda: schedules.CosineDecay(0.01, 9, warmup_target=0.1, warmup_steps=4),
    "restarts": lambda: schedules.CosineDecayRestarts(0.1, 5),
}
GROUPS = {"hidden/*": {"learning_rate": 0.01, "clipnorm": 0.1}, "*/bias": {"weight_decay": 0.1},
          "out/bias": {"trainable": False}}  # fmt: skip
OPTIMIZERS = {
    **{name: lambda make=make: keras.optimizers.Adam(make()) for name, make in SCHEDULES.items()},
    "groups": lambda: keras.optimizers.SGD(0.1, momentum=0.9, groups=GROUPS),
    "schedule of a group": lambda: keras.optimizers.SGD(
        0.1, groups={"out/*": {"learning_rate": SCHEDULES["cosine"]()}}
    ),
    "several": lambda: keras.optimizers.MultiOptimizer(
        keras.optimizers.OptimizerMap(
            keras.optimizers.Adam(0.02), {".*/bias": keras.optimizers.SGD(0.1)}
        )
    ),
}


@pytest.mark.parametrize("accumulate", [None, 3])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rates_and_groups(name, accumulate):
    def run():
        model = dense()
        step = model.training_step(loss="mse", optimizer=OPTIMIZERS[name](), accumulate=accumulate)
        return steps(model, step, X, Y, epochs=6)

    assert_alike(run, least=2)


@pytest.mark.parametrize("accumulate", [None, 2])
def test_rates_that_python_gives(accumulate):
    def run():
        model, rates = dense(), iter(np.linspace(0.1, 0.01, 40))
        optimizer = keras.optimizers.SGD(
            lambda: next(rates), groups={"*/bias": {"learning_rate": lambda: 0.5}}
        )
        step = model.training_step(loss="mse", optimizer=optimizer, accumulate=accumulate)
        return steps(model, step, X, Y)

    assert_alike(run, least=2)


def test_a_callable_is_asked_once_for_each_update():
    """Although plans for other steps are looked at first."""

    def run():
        model, rates = dense(), iter(np.linspace(0.1, 0.01, 100))
        inner = keras.optimizers.SGD(
            lambda: next(rates), use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3
        )
        optimizer = keras.optimizers.LossScaleOptimizer(inner, dynamic_growth_steps=4)
        step = model.training_step(loss="mse", optimizer=optimizer)
        found = steps(model, step, X, Y, epochs=10)
        return {**found, "next rate": next(rates)}

    assert_alike(run, least=4)


def rmse(y, y_pred):
    return tf.sqrt(tf.reduce_mean(tf.square(y - y_pred)))


def test_a_metric_of_one_number_for_a_batch():
    def run():
        model = dense()
        model.compile("adam", "mse", metrics=[rmse])
        options = {"batch_size": SIZE, "validation_data": (X, Y), "verbose": 0}
        with pytest.warns(UserWarning, match="one number"):
            return model.fit(X, Y, epochs=4, **options).history

    assert_alike(run, least=4)  # fit's and evaluate's, the last batch's by themselves


def test_a_metric_function_in_numpy_runs_in_python():
    def distance(y, y_pred):
        return np.abs(np.asarray(y) - np.asarray(y_pred)).max(axis=-1)

    found = []
    for eager in (True, False):
        model = dense()
        model.compile("adam", "mse", metrics=[distance], run_eagerly=eager)
        found.append(model.fit(X, Y, epochs=4, verbose=0).history)
    assert found[0] == found[1]
    assert len(set(found[0]["distance"])) == 4


# ---- accumulation --------------------------------------------------------------------------------

LOSSES = {
    "mean": lambda: "mse",
    "sum": lambda: keras.losses.MeanSquaredError(reduction="sum"),
    "weighted mean": lambda: keras.losses.MeanSquaredError(reduction="mean_with_sample_weight"),
}


@pytest.mark.parametrize("every", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_accumulation(loss, weighted, every):
    def run():
        model = dense(kernel_regularizer="l2")
        step = model.training_step(
            loss=LOSSES[loss](), optimizer=keras.optimizers.Adam(0.02), accumulate=every,
            metrics=["mae"],
        )  # fmt: skip
        return steps(model, step, *((X, Y, WEIGHTS) if weighted else (X, Y)), epochs=5)

    assert_alike(run, least=3)


def test_accumulation_of_rows_that_do_not_count():
    def run():
        model = keras.Sequential([keras.layers.Dense(3)])
        model.build((None, 5))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=1)
        step = model.training_step(loss=loss, optimizer="adam", accumulate=2)
        return steps(model, step, X, CLASSES)

    assert_alike(run, least=3)


def test_accumulation_of_masked_sequences():
    tokens = RNG.integers(0, 3, (22, 4))

    def run():
        keras.utils.set_random_seed(3)
        model = keras.Sequential([
            keras.layers.Embedding(3, 4, mask_zero=True), keras.layers.Dense(2),
        ])  # fmt: skip
        model.build((None, 4))
        step = model.training_step(loss="mse", optimizer="adam", accumulate=2)
        return steps(model, step, tokens, np.repeat(Y[:, None], 4, 1), WEIGHTS[:, None])

    assert_alike(run, least=3)


class Lookup(keras.Model):
    def __init__(self):
        super().__init__()
        self.table = self.add_weight((9, 2), initializer=keras.initializers.RandomNormal(seed=1))

    def call(self, x):
        return tf.reduce_sum(tf.gather(self.table, x), axis=1)


@pytest.mark.parametrize("accumulate", [None, 3])
def test_rows_looked_up(accumulate):
    tokens = RNG.integers(0, 9, (22, 4))

    def run():
        model = Lookup()
        model(tokens)
        step = model.training_step(loss="mse", optimizer="adam", accumulate=accumulate)
        return steps(model, step, tokens, Y)

    assert_alike(run, least=2)


def test_losses_of_different_kinds():
    losses = {
        "a": "mse", "b": keras.losses.MeanSquaredError(reduction="sum"),
        "c": keras.losses.MeanAbsoluteError(reduction="mean_with_sample_weight"),
    }  # fmt: skip

    def run():
        keras.utils.set_random_seed(4)
        inputs = keras.Input((5,))
        hidden = keras.layers.Dense(5, activation="tanh", kernel_regularizer="l2")(inputs)
        model = keras.Model(inputs, {name: keras.layers.Dense(2)(hidden) for name in "abc"})
        step = model.training_step(
            loss=losses, optimizer=keras.optimizers.SGD(0.02), accumulate=3,
            loss_weights={"a": 1.0, "b": 0.1, "c": 2.0},
        )  # fmt: skip
        found = []
        for _ in range(5):
            for x, y, w in batches(X, Y, WEIGHTS):
                weights = {"a": w, "b": w, "c": w * w}
                found.append(float(step(x, dict.fromkeys("abc", y), weights)))
            step.flush()
        return {"losses": found, **state_of(model, step.optimizer)}

    assert_alike(run, least=3)


def test_a_restored_accumulation_goes_on():
    def run():
        model = dense()
        step = model.training_step(loss="mse", optimizer="adam", accumulate=3)
        steps(model, step, X, Y, epochs=6)
        step(X[:5], Y[:5])
        saved = step.state()
        first = steps(model, step, X, Y)
        step.restore(saved)
        assert step.accumulated == 1
        second = steps(model, step, X, Y)
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name])
        return first

    assert_alike(run, least=3)


def test_changes_while_gradients_wait():
    """A layer frozen and unfrozen, a rate assigned, a rule changed, between two batches."""

    def run():
        model = dense()
        optimizer = keras.optimizers.Adam(0.05)
        step = model.training_step(loss="mse", optimizer=optimizer, accumulate=4)
        losses = []
        for i in range(96):
            if i % 18 == 6:
                model.layers[0].trainable = False
            if i % 18 == 13:
                model.layers[0].trainable = True
            if i == 41:
                optimizer.learning_rate = 0.01
            if i == 62:
                optimizer.weight_decay = 0.1
            losses.append(float(step(X, Y)))
        return {"losses": losses, **state_of(model, optimizer)}

    assert_alike(run, least=3)


def test_a_batch_that_fails_leaves_what_waits():
    tier.set_tier("numpy")
    model = dense()
    step = model.training_step(loss="mse", optimizer="adam", accumulate=2)
    step(X[:5], Y[:5])
    with pytest.raises(FrameworkError):
        step(X[:5], Y[:4])
    assert step.accumulated == 1
    step(X[:5], Y[:5])
    assert int(step.optimizer.iterations) == 1


def test_accumulating_in_a_users_function():
    tier.set_tier("numpy")
    found = []
    for wrap in (lambda f: f, tf.function):
        model = dense()
        step = model.training_step(loss="mse", optimizer="adam", accumulate=2)
        call = wrap(lambda x, y, step=step: step(x, y))
        for _ in range(8):
            call(tf.constant(X), tf.constant(Y))
        found.append(state_of(model, step.optimizer))
    for a, b in zip(*map(dict.values, found), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- what callbacks look at ----------------------------------------------------------------------


class Look(keras.callbacks.Callback):
    def __init__(self, needs):
        self.needs, self.seen = needs, []

    def on_train_batch_end(self, batch, logs=None):
        values = {name: getattr(self.step, name) for name in self.needs}
        for name, value in values.items():
            if name in ("gradients", "norms", "rates"):
                self.seen += [np.array(v).ravel() for v in value.values()]
            elif name == "batch":
                self.seen += [np.array(v).ravel() for v in value if v is not None]
            else:
                self.seen.append(np.array(value).ravel())


NEEDS = [{"batch"}, {"outputs"}, {"loss"}, {"gradients"}, {"norms"}, {"rates"},
         {"batch", "outputs", "loss", "gradients", "norms", "rates"}]  # fmt: skip


@pytest.mark.parametrize("accumulate", [None, 2])
@pytest.mark.parametrize("needs", NEEDS, ids=lambda needs: "+".join(sorted(needs)))
def test_what_callbacks_look_at(needs, accumulate):
    def run():
        model, look = dense(), Look(needs)
        rate = SCHEDULES["exponential"]()
        model.compile(keras.optimizers.Adam(rate), "mse", metrics=["mae"], accumulate=accumulate)
        history = model.fit(
            X, Y, batch_size=SIZE, epochs=4, verbose=0, callbacks=[look], sample_weight=WEIGHTS
        )
        seen = {"seen": np.concatenate(look.seen), **history.history}
        return {**seen, **state_of(model, model.optimizer)}

    assert_alike(run, least=2)


def test_callbacks_with_other_needs_in_turn():
    def run():
        model, found = dense(), []
        model.compile("adam", "mse")
        for _ in range(3):
            for needs in NEEDS:
                look = Look(needs)
                model.fit(X, Y, batch_size=11, verbose=0, callbacks=[look])
                found += look.seen
            model.fit(X, Y, batch_size=11, verbose=0)
        return {"seen": np.concatenate(found), **state_of(model, model.optimizer)}

    assert_alike(run, least=4)


def test_a_callback_sees_rows_looked_up():
    tokens = RNG.integers(0, 9, (22, 4))

    def run():
        model, look = Lookup(), Look({"gradients"})
        model.compile("adam", "mse")
        model.fit(tokens, Y, batch_size=SIZE, epochs=4, verbose=0, callbacks=[look])
        return {"seen": np.concatenate(look.seen), **state_of(model, model.optimizer)}

    assert_alike(run, least=2)


# ---- the step's parts ----------------------------------------------------------------------------

PARTS = {
    "plain": {},
    "clipnorm": {"clipnorm": 0.2},
    "clipvalue": {"clipvalue": 0.05},
    "global_clipnorm": {"global_clipnorm": 0.2},
    "accumulating": {"accumulate": 3},
    "scaled": {"optimizer": lambda: keras.optimizers.LossScaleOptimizer("adam")},
    "factor": {"optimizer": lambda: keras.optimizers.Adam(loss_scale_factor=8.0)},
    "all": {
        "optimizer": lambda: keras.optimizers.LossScaleOptimizer("adam"), "accumulate": 2,
        "clipnorm": 0.2,
    },
}  # fmt: skip


@pytest.mark.parametrize("edit", [False, True])
@pytest.mark.parametrize("name", PARTS)
def test_the_parts_of_a_step(name, edit):
    def run():
        options = {k: v() if callable(v) else v for k, v in PARTS[name].items()}
        model = dense()
        step = model.training_step(**{"loss": "mse", "optimizer": "adam", **options})

        def by_parts(*batch):
            loss, gradients = step.gradients(*batch)
            if edit:
                gradients = gradients.map(lambda path, g: g * 0.5 if "out" in path else g)
            step.apply(gradients)
            return loss

        by_parts.flush, by_parts.optimizer = step.flush, step.optimizer
        found = steps(model, by_parts, X, Y, WEIGHTS)
        if tier.tier() == "numpy":
            assert "apply:\n" in step.explain()
            assert "gradients:\n" in step.explain()
        return found

    assert_alike(run, least=3)


def test_gradients_of_some_variables():
    def run():
        model = dense()
        step = model.training_step(loss="mse", optimizer=keras.optimizers.SGD(0.1))
        for i in range(8):
            _, gradients = step.gradients(X, Y)
            chosen = ("out/bias",) if i % 2 else ("out/bias", "hidden/kernel")
            step.apply({f"net/{path}": gradients[f"net/{path}"] for path in chosen})
        return state_of(model, step.optimizer)

    assert_alike(run, least=3)


# ---- mixed precision -----------------------------------------------------------------------------


class OwnLoop(keras.Sequential):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            scaled = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


def test_loss_scaling_in_an_own_train_step():
    def run():
        keras.mixed_precision.set_global_policy("mixed_float16")
        model = OwnLoop([keras.layers.Dense(2)])
        model.build((None, 5))
        model.compile(keras.optimizers.LossScaleOptimizer("adam", dynamic_growth_steps=4), "mse")
        y = Y.copy()
        y[[6, 17]] = np.inf, np.nan
        model.fit(X, y, batch_size=SIZE, epochs=6, verbose=0, shuffle=False)
        assert int(model.optimizer.skipped_steps) == 12
        return state_of(model, model.optimizer)

    assert_alike(run, least=2)


@pytest.mark.parametrize("accumulate", [None, 3])
def test_rows_looked_up_in_16_bits(accumulate):
    tokens = RNG.integers(0, 9, (22, 4))

    def run():
        keras.mixed_precision.set_global_policy("mixed_float16")
        keras.utils.set_random_seed(3)
        model = keras.Sequential([
            keras.layers.Embedding(9, 4), keras.layers.Flatten(),
            keras.layers.Dense(2, activity_regularizer="l2"),
        ])  # fmt: skip
        model.compile("adam", "mse", accumulate=accumulate)
        y = Y.copy()
        y[17] = np.nan
        history = model.fit(tokens, y, batch_size=SIZE, epochs=4, verbose=0, shuffle=False)
        assert int(model.optimizer.skipped_steps) == 4
        return {**history.history, **state_of(model, model.optimizer)}

    assert_alike(run, least=2)


def test_rows_looked_up_and_clipped_run_in_python():
    """Which rows there are decides the shapes of what is computed."""
    found = []
    for kind in ("off", "numpy"):
        tier.set_tier(kind)
        rng = np.random.default_rng(4)
        model = Lookup()
        tokens = rng.integers(0, 9, (8, 4))
        model(tokens)
        step = model.training_step(loss="mse", optimizer="sgd", clipnorm=0.1)
        for i in range(6):
            step(tokens if i < 3 else rng.integers(0, 9, (8, 4)), Y[:8])
        found.append(model.get_weights()[0])
        assert ("as an array (unique)" in step.explain()) == (kind == "numpy")
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("accumulate", [None, 2])
@pytest.mark.parametrize("name", ["adam", "sgd_momentum", "adam_global_clipnorm"])
def test_loss_scaling_under_attack(name, accumulate):
    """Gradients that are not finite at some steps: skipped, halved, grown, in compiled steps."""
    scales = []

    def run():
        keras.mixed_precision.set_global_policy("mixed_float16")
        model = dense()
        optimizer = keras.optimizers.LossScaleOptimizer(
            optimizer_of(name), initial_scale=2.0**10, dynamic_growth_steps=3
        )
        step = model.training_step(loss="mse", optimizer=optimizer, accumulate=accumulate)
        losses = []
        for i in range(36):
            y = np.full_like(Y, {4: np.inf, 11: np.nan, 12: np.inf}.get(i % 18, 0)) + Y
            losses.append(float(step(X, y)))
            scales.append(float(optimizer.dynamic_scale))
        assert int(optimizer.skipped_steps) == 6
        assert all(np.isfinite(v.array).all() for v in model.variables)
        assert "in Python" not in step.explain()
        return {"losses": losses, **state_of(model, optimizer)}

    assert_alike(run, least=2)
    assert len(set(scales)) > 2


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_fit_in_16_bits(dtype):
    if dtype == "mixed_bfloat16":
        pytest.importorskip("ml_dtypes")

    def run():
        keras.mixed_precision.set_global_policy(dtype)
        model = dense()
        model.compile("adam", "mse", metrics=["mae"], accumulate=2)
        history = model.fit(X, Y, batch_size=SIZE, epochs=5, verbose=0, class_weight=None)
        return {**history.history, **state_of(model, model.optimizer)}

    assert_alike(run, least=2)
