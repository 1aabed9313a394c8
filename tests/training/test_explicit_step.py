"""The explicit API beyond its numbers: readable gradients, editing, state and restore, groups."""

import numpy as np
import pytest

from framework import keras

RNG = np.random.default_rng(8)
X = RNG.normal(size=(40, 5)).astype("float32")
Y = X[:, :2] ** 2
SIZES = (8, 8, 8, 8, 8)


def batches():
    return [(X[i : i + 8], Y[i : i + 8]) for i in range(0, 40, 8)]


def make(**options):
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [
            keras.layers.Dense(6, activation="relu", name="hidden"),
            keras.layers.Dropout(0.4),
            keras.layers.Dense(2, name="out"),
        ],
        name="net",
    )
    model.build((None, 5))
    options = {"loss": "mse", "optimizer": keras.optimizers.Adam(0.01), **options}
    return model, model.training_step(**options)


def numbers(step):
    return [np.array(v.array) for v in (*step.model.variables, *step.optimizer.variables)]


def assert_equal(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


# ---- gradients -----------------------------------------------------------------------------------


def test_gradients_read_like_a_dict():
    _, step = make()
    loss, grads = step.gradients(X, Y)
    assert float(loss) > 0
    paths = ["net/hidden/kernel", "net/hidden/bias", "net/out/kernel", "net/out/bias"]
    assert list(grads) == paths
    assert len(grads) == 4
    assert grads["net/out/kernel"].shape == (6, 2)
    assert "net/out/gamma" not in grads
    assert list(dict(grads)) == paths
    with pytest.raises(
        KeyError, match=r"no gradient has the path 'net/out/kernle'.*'net/out/kernel'"
    ):
        grads["net/out/kernle"]


def test_norms_and_finiteness():
    _, step = make()
    _, grads = step.gradients(X, Y)
    expected = {path: np.linalg.norm(np.asarray(g)) for path, g in grads.items()}
    for path, norm in grads.norms().items():
        np.testing.assert_allclose(norm, expected[path], rtol=1e-5)
    total = np.sqrt(sum(n**2 for n in expected.values()))
    np.testing.assert_allclose(grads.norm(), total, rtol=1e-5)
    assert isinstance(grads.norm(), float)
    assert grads.is_finite()
    assert "net/out/bias: (2,), norm " in repr(grads)
    bad = grads.copy()
    bad["net/out/bias"] = np.array([1.0, np.nan], "float32")
    assert not bad.is_finite()
    assert grads.is_finite()


def test_gradients_can_be_edited():
    model, step = make(optimizer=keras.optimizers.SGD(1.0))
    before = model.get_weights()
    _, grads = step.gradients(X, Y)
    edited = grads.map(lambda path, g: g * 0.5 if "hidden" in path else g)
    edited["net/out/bias"] = [1.0, 2.0]
    step.apply(edited)
    after = model.get_weights()
    np.testing.assert_allclose(after[3], before[3] - np.array([1, 2], "f"), rtol=1e-6)
    expected = before[0] - 0.5 * np.asarray(grads["net/hidden/kernel"])
    np.testing.assert_allclose(after[0], expected, rtol=1e-5)


def test_a_gradient_of_another_shape_is_refused():
    _, step = make()
    _, grads = step.gradients(X, Y)
    with pytest.raises(ValueError, match=r"net/out/bias.*shape \(2,\), got shape \(3,\)"):
        grads["net/out/bias"] = [1.0, 2.0, 3.0]


def test_a_gradient_can_be_left_out():
    model, step = make(optimizer=keras.optimizers.SGD(1.0))
    before = model.get_weights()
    _, grads = step.gradients(X, Y)
    del grads["net/hidden/kernel"]
    with pytest.warns(UserWarning, match="net/hidden/kernel"):
        step.apply(grads)
    np.testing.assert_array_equal(before[0], model.get_weights()[0])
    assert not np.array_equal(before[2], model.get_weights()[2])


def test_a_dict_is_applied_by_path():
    model, step = make(optimizer=keras.optimizers.SGD(1.0))
    before = model.get_weights()
    step.apply({"net/out/bias": np.ones(2, "f")})
    np.testing.assert_allclose(model.get_weights()[3], before[3] - 1)
    with pytest.raises(ValueError, match="no trainable variable has the path 'out/bias'"):
        step.apply({"out/bias": np.ones(2, "f")})


# ---- state ---------------------------------------------------------------------------------------

STEPS = {
    "plain": {},
    "accumulating": {"accumulate": 3},
    "metrics": {"metrics": ["mae", keras.metrics.MeanSquaredError()]},
    "clipping": {"global_clipnorm": 0.1, "optimizer": "rmsprop"},
    "scheduled": {
        "optimizer": lambda: keras.optimizers.SGD(
            keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.9), momentum=0.9
        )
    },
    "scaled": {"optimizer": lambda: keras.optimizers.LossScaleOptimizer("adam")},
}


def made(options):
    return make(**{k: v() if callable(v) else v for k, v in options.items()})


@pytest.mark.parametrize("options", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("done", [0, 1, 3])
def test_a_restored_run_goes_on_bitwise_equal(options, done):
    _, step = made(options)
    for x, y in batches()[:done]:
        step(x, y)
    saved = step.state()
    assert all(type(value) is np.ndarray for value in saved.values())
    for x, y in batches() * 2:
        step(x, y)
    step.flush()
    expected = numbers(step)

    step.restore(saved)
    for x, y in batches() * 2:
        step(x, y)
    step.flush()
    assert_equal(expected, numbers(step))

    _, other = made(options)  # a second process would make it like this
    other.restore(saved)
    for x, y in batches() * 2:
        other(x, y)
    other.flush()
    assert_equal(expected, numbers(other))


def test_the_state_is_a_copy():
    _, step = make()
    step(X, Y)
    saved = step.state()
    kept = {name: value.copy() for name, value in saved.items()}
    for x, y in batches():
        step(x, y)
    for name, value in saved.items():
        np.testing.assert_array_equal(value, kept[name])


def test_taking_the_state_changes_nothing():
    runs = []
    for looks in (False, True):
        _, step = make(accumulate=4)
        for x, y in batches():
            step(x, y)
            if looks:
                step.state()
        step.flush()
        runs.append(numbers(step))
    assert_equal(*runs)


def test_another_models_state_is_refused():
    _, step = make()
    saved = step.state()
    _, other = make(accumulate=2)
    before = other.model.get_weights()
    with pytest.raises(ValueError, match="accumulate"):
        other.restore(saved)
    with pytest.raises(ValueError, match=r"lacks optimizer"):
        step.restore({k: v for k, v in saved.items() if "optimizer" not in k})
    with pytest.raises(ValueError, match=r"no use for more"):
        step.restore({**saved, "more": np.zeros(1)})
    with pytest.raises(ValueError, match=r"model/0/kernel: expected shape \(5, 6\), got \(2,\)"):
        step.restore({**saved, "model/0/kernel": np.zeros(2)})
    assert_equal(before, other.model.get_weights())


def test_a_model_that_is_not_built_has_no_state():
    step = keras.Sequential([keras.layers.Dense(1)]).training_step(loss="mse", optimizer="sgd")
    with pytest.raises(ValueError, match="not built yet"):
        step.state()


def test_metrics_that_the_first_batch_decides_are_restored_then():
    def accuracy_step():
        keras.utils.set_random_seed(2)
        model = keras.Sequential([keras.layers.Dense(2)])
        model.build((None, 5))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        return model.training_step(loss=loss, optimizer="sgd", metrics=["accuracy"])

    step, labels = accuracy_step(), np.arange(40) % 2
    step(X, labels)
    saved = step.state()
    other = accuracy_step()
    other.restore(saved)
    for one in (step, other):
        one(X[:7], labels[:7])
    values = [{k: float(v) for k, v in s._metrics[0].result().items()} for s in (step, other)]
    assert values[0] == values[1]


# ---- metrics, groups, several losses ------------------------------------------------------------


def test_metrics_given_to_the_step():
    metric = keras.metrics.MeanAbsoluteError()
    _, step = make(metrics=[metric], optimizer=keras.optimizers.SGD(0.0))
    step(X[:10], Y[:10])
    step(X[10:], Y[10:])
    assert float(metric.count) == 40


@pytest.mark.parametrize("built", [True, False])
def test_groups_speak_of_paths_in_the_model(built):
    keras.utils.set_random_seed(3)
    body = keras.Sequential([keras.layers.Dense(3, name="first")], name="body")
    model = keras.Sequential([body, keras.layers.Dense(2, name="head")])
    if built:
        model.build((None, 5))
    optimizer = keras.optimizers.SGD(0.5, groups={"body/*": {"learning_rate": 0.0}})
    step = model.training_step(loss="mse", optimizer=optimizer)
    model(X)
    before = model.get_weights()
    step(X, Y)
    after = model.get_weights()
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.array_equal(before[2], after[2])


def test_a_group_that_matches_nothing_is_an_error():
    model, _ = make()
    optimizer = keras.optimizers.SGD(0.5, groups={"bod/*": {"learning_rate": 0.0}})
    with pytest.raises(ValueError, match="bod/"):
        model.compile(optimizer, "mse")
    with pytest.raises(ValueError, match="bod/"):
        model.training_step(loss="mse", optimizer=optimizer)(X, Y)


def test_a_gan_of_two_steps():
    keras.utils.set_random_seed(1)
    generator = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(2)])
    critic = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
    both = keras.Sequential([generator, critic])
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    train_critic = critic.training_step(loss=loss, optimizer="adam")
    train_generator = both.training_step(loss=loss, optimizer="adam")
    noise, real = RNG.normal(size=(16, 3)).astype("f"), RNG.normal(size=(16, 2)).astype("f")
    both(noise)
    for _ in range(2):
        critic.trainable = True
        mixed = np.concatenate([real, np.asarray(generator(noise))])
        critic_before = critic.get_weights()
        train_critic(mixed, np.repeat([[1.0], [0.0]], 16, axis=0))
        assert not np.array_equal(critic_before[0], critic.get_weights()[0])
        critic.trainable = False
        critic_before, generator_before = critic.get_weights(), generator.get_weights()
        train_generator(noise, np.ones((16, 1)))
        np.testing.assert_array_equal(critic_before[0], critic.get_weights()[0])
        assert not np.array_equal(generator_before[0], generator.get_weights()[0])


# ---- metrics and reprs ---------------------------------------------------------------------------


def test_results_are_those_of_fit():
    model, step = make(metrics=["mae", keras.metrics.MeanSquaredError(name="squares")])
    for _ in range(2):
        step.reset_metrics()
        for x, y in batches():
            step(x, y)
    other, _ = make()
    other.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae", "mse"])
    logs = other.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0).history
    assert step.results() == {"mae": logs["mae"][1], "squares": logs["mse"][1]}
    assert [metric.name for metric in step.metrics] == ["mae", "squares"]
    step.reset_metrics()
    assert step.results() == {"mae": 0.0, "squares": 0.0}
    assert_equal(model.get_weights(), other.get_weights())


def test_a_step_without_metrics():
    _, step = make()
    assert step.metrics == []
    assert step.results() == {}
    step.reset_metrics()


def test_reprs():
    _, step = make(
        metrics=["mae"], clipnorm=1.0, accumulate=2,
        optimizer=keras.optimizers.SGD(0.5, momentum=0.9),
    )  # fmt: skip
    assert repr(step) == (
        "TrainingStep(model='net', loss=['mse'], metrics=['mae'], clipnorm=1.0, accumulate=2, "
        "optimizer=<SGD(learning_rate=0.5, momentum=0.9), 0 updates>)"
    )
    for x, y in batches():
        step(x, y)
    assert repr(step.optimizer) == "<SGD(learning_rate=0.5, momentum=0.9), 2 updates>"
    schedule = keras.optimizers.schedules.CosineDecay(0.1, 10)
    assert repr(keras.optimizers.Adam(schedule)) == "<Adam(learning_rate=CosineDecay), 0 updates>"
    scaled = keras.optimizers.LossScaleOptimizer("sgd")
    assert repr(scaled) == "<LossScaleOptimizer(<SGD(learning_rate=0.01), 0 updates>), 0 updates>"


def test_an_unknown_argument_has_a_suggestion():
    model, _ = make()
    with pytest.raises(TypeError, match=r"training_step\(\) has no argument 'metric'.*'metrics'"):
        model.training_step(loss="mse", optimizer="sgd", metric=["mae"])
