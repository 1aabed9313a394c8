"""Groups: which variables a rule is about, what it sets, and how mistakes are told."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.optimizers import SGD, Adam, layerwise_decay, schedules
from tests.optimizers.test_every_optimizer import apply, flat, run, start_and_gradients
from tests.samples.optimizers import SAMPLES


def make_model(seed=3):
    keras.utils.set_random_seed(seed)
    model = keras.Sequential(
        [
            keras.layers.Dense(4, activation="tanh", name="backbone"),
            keras.layers.Dense(2, name="head"),
        ]
    )
    model.build((None, 3))
    return model


class OneInTheOther(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = make_model()
        self.last = keras.layers.Dense(1, name="last")

    def call(self, x):
        return self.last(self.inner(x))


def ones(variables):
    return [tf.ones(v.shape, v.dtype) for v in variables]


def moved(optimizer, variables):
    """How far one update by gradients of one moves each variable: {path: distance}."""
    before = [v.numpy() for v in variables]
    optimizer.apply_gradients(zip(ones(variables), variables, strict=True))
    steps = [float((b - v.numpy()).ravel()[0]) for b, v in zip(before, variables, strict=True)]
    return {v.path.split("/", 1)[-1]: round(s, 6) for v, s in zip(variables, steps, strict=True)}


# ---- what a rule is about ------------------------------------------------------------------------


def test_patterns_on_paths_later_rules_win():
    model = make_model()
    groups = {"backbone/*": {"learning_rate": 0.25}, "*/bias": {"learning_rate": 0.125}}
    assert moved(SGD(1.0, groups=groups), model.trainable_variables) == {
        "backbone/kernel": 0.25, "backbone/bias": 0.125, "head/kernel": 1.0, "head/bias": 0.125,
    }  # fmt: skip


def test_layers_and_predicates_as_keys():
    model = make_model()
    groups = [
        (model.layers[0], {"learning_rate": 0.25}),
        (lambda v: len(v.shape) == 1, {"learning_rate": 0.5}),
    ]
    assert list(moved(SGD(1.0, groups=groups), model.trainable_variables).values()) == [
        0.25, 0.5, 1.0, 0.5,
    ]  # fmt: skip


def test_paths_start_at_the_outermost_model():
    model = OneInTheOther()
    model(tf.zeros((1, 3)))
    groups = {f"{model.inner.name}/backbone/*": {"learning_rate": 0.25}}
    found = moved(SGD(1.0, groups=groups), model.trainable_variables)
    assert sorted(found.values()) == [0.25, 0.25, 1.0, 1.0, 1.0, 1.0]


def test_of_two_models_the_one_that_holds_more_of_the_variables():
    """A model of the first layers alone shares them with the whole one."""
    inputs = keras.Input((3,))
    features = keras.layers.Dense(2, name="features")(inputs)
    whole = keras.Model(inputs, keras.layers.Dense(1, name="head")(features), name="whole")
    part = keras.Sequential([inputs, keras.Model(inputs, features, name="inner")], name="a_part")
    variables = whole.trainable_variables
    before = [v.numpy() for v in variables]
    apply(SGD(1.0, groups={"features/*": {"learning_rate": 0.25}}), ones(variables), variables)
    steps = [(b - v.numpy()).max() for b, v in zip(before, variables, strict=True)]
    np.testing.assert_allclose(steps, [0.25, 0.25, 1.0, 1.0], rtol=1e-5)
    assert len(part.trainable_variables) == 2


def test_build_fixes_where_paths_start():
    model = OneInTheOther()
    model(tf.zeros((1, 3)))
    optimizer = SGD(1.0, groups={"backbone/*": {"learning_rate": 0.25}})
    optimizer.build(model.inner)
    assert list(moved(optimizer, model.inner.trainable_variables).values()) == [
        0.25, 0.25, 1.0, 1.0,
    ]  # fmt: skip


def test_a_layer_built_alone_is_found_under_the_model_that_holds_it():
    """The variable's own path is the layer's; the rule's starts at the model."""
    backbone = keras.layers.Dense(2, name="backbone")
    backbone.build((None, 3))
    model = keras.Sequential([backbone, keras.layers.Dense(1)])
    model.build((None, 3))
    optimizer = SGD(1.0, groups={"backbone/*": {"learning_rate": 0.25}})
    assert list(moved(optimizer, model.trainable_variables).values()) == [0.25, 0.25, 1.0, 1.0]


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.slope = tf.Variable([2.0])
        self.more = [tf.Variable([1.0]), tf.Variable([1.0])]


def test_attributes_of_a_module():
    line = Line()
    groups = {"slope": {"learning_rate": 0.25}, "more/1": {"learning_rate": 0.5}}
    SGD(1.0, groups=groups).apply_gradients([(tf.ones(1), v) for v in (line.slope, *line.more)])
    assert [float(v[0]) for v in (line.slope, *line.more)] == [1.75, 0.0, 0.5]


def test_a_variable_that_nothing_holds_has_its_own_name():
    a, b = tf.Variable([1.0], name="a"), tf.Variable([1.0], name="b")
    SGD(1.0, groups={"a": {"learning_rate": 0.25}}).apply_gradients(
        [(tf.ones(1), a), (tf.ones(1), b)]
    )
    assert (float(a[0]), float(b[0])) == (0.75, 0.0)


def test_rules_about_frozen_variables_match():
    model = make_model()
    model.layers[0].trainable = False
    optimizer = SGD(1.0, groups={"backbone/*": {"learning_rate": 0.25}})
    assert set(moved(optimizer, model.trainable_variables).values()) == {1.0}
    model.layers[0].trainable = True  # effective at the next step
    assert list(moved(optimizer, model.trainable_variables).values()) == [0.25, 0.25, 1.0, 1.0]


def test_variables_that_join_later():
    model = make_model()
    optimizer = SGD(1.0, groups={"*/bias": {"learning_rate": 0.25}})
    moved(optimizer, model.trainable_variables)
    model.add(keras.layers.Dense(1, name="late"))
    model.build((None, 3))
    found = moved(optimizer, model.trainable_variables)
    assert (found["late/kernel"], found["late/bias"]) == (1.0, 0.25)


# ---- what a rule sets ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in SAMPLES if n != "sgd_loss_scale"])
def test_one_group_of_all_is_the_plain_optimizer_to_the_bit(name):
    sample = SAMPLES[name]
    _, expected = run(name, apply)
    rate = sample.arguments["learning_rate"]
    optimizer = sample.create(learning_rate=9.0, groups={"*": {"learning_rate": rate}})
    start, gradients = start_and_gradients()
    variables = [keras.Variable(s) for s in start]
    for step in gradients:
        apply(optimizer, [tf.constant(g) for g in step], variables)
    np.testing.assert_array_equal(flat(variables), flat(expected))


def test_decay_of_a_group():
    a, b, c = (keras.Variable(np.ones(2, "float32"), name=n) for n in "abc")
    optimizer = SGD(
        0.5, weight_decay=0.5, groups={"a": {"weight_decay": 0}, "c": {"weight_decay": 1.0}}
    )
    zeros = tf.zeros(2)
    optimizer.apply_gradients([(zeros, a), (zeros, b), (zeros, c)])
    assert [float(v[0]) for v in (a, b, c)] == [1.0, 0.75, 0.5]


def test_a_group_clips_in_its_own_way():
    a, b, c = (keras.Variable(np.zeros(2, "float32"), name=n) for n in "abc")
    gradient = tf.constant([3.0, 4.0])
    groups = {"a": {"clipnorm": 1.0}, "b": {"clipvalue": 2.0}, "c": {"clipnorm": None}}
    optimizer = SGD(1.0, clipvalue=0.5, groups=groups)
    optimizer.apply_gradients([(gradient, a), (gradient, b), (gradient, c)])
    np.testing.assert_allclose(a, [-0.6, -0.8], rtol=1e-6)
    np.testing.assert_allclose(b, [-2, -2])
    np.testing.assert_allclose(c, [-3, -4])


def test_a_group_that_clips_takes_no_part_in_the_global_norm():
    a, b = (keras.Variable(np.zeros(2, "float32"), name=n) for n in "ab")
    optimizer = SGD(1.0, global_clipnorm=5.0, groups={"b": {"clipvalue": 0.5}})
    optimizer.apply_gradients([(tf.constant([3.0, 4.0]), a), (tf.constant([30.0, 40.0]), b)])
    np.testing.assert_allclose(a, [-3, -4])
    np.testing.assert_allclose(b, [-0.5, -0.5])


def test_a_group_that_is_not_trained():
    model = make_model()
    optimizer = Adam(1.0, groups={"backbone/*": {"trainable": False}})
    found = moved(optimizer, model.trainable_variables)
    assert (found["backbone/kernel"], found["backbone/bias"]) == (0.0, 0.0)
    assert found["head/bias"] == pytest.approx(1.0, abs=1e-4)
    optimizer.groups = None
    assert moved(optimizer, model.trainable_variables)["backbone/kernel"] > 0


def test_a_groups_rate_may_be_a_schedule_or_callable_and_is_scaled_with_the_others():
    a, b, c = (keras.Variable(np.zeros(2, "float32"), name=n) for n in "abc")
    halving = schedules.ExponentialDecay(1.0, decay_steps=1, decay_rate=0.5)
    groups = {"a": {"learning_rate": halving}, "b": {"learning_rate": lambda: 0.25}}
    optimizer = SGD(2.0, groups=groups)
    assert list(moved(optimizer, [a, b, c]).values()) == [1.0, 0.25, 2.0]
    optimizer.scale_learning_rate(0.5)
    assert list(moved(optimizer, [a, b, c]).values()) == [0.25, 0.125, 1.0]


def test_backbone_and_head_in_every_loop():
    x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    y = np.zeros((8, 2), "float32")

    def optimizer():
        return SGD(1e-3, groups={"backbone/*": {"learning_rate": 1e-5}})

    def fit(model):
        model.compile(optimizer(), "mse")
        model.fit(x, y, batch_size=8, shuffle=False, verbose=0)

    def explicit(model):
        model.training_step(loss="mse", optimizer=optimizer())(x, y)

    def raw(model):
        with tf.GradientTape() as tape:
            loss = keras.losses.MeanSquaredError()(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer().apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

    def two_optimizers(model):
        backbone, head = (layer.trainable_variables for layer in model.layers)
        with tf.GradientTape() as tape:
            loss = keras.losses.MeanSquaredError()(y, model(x, training=True))
        first, second = tape.gradient(loss, [backbone, head])
        SGD(1e-5).apply_gradients(zip(first, backbone, strict=True))
        SGD(1e-3).apply_gradients(zip(second, head, strict=True))

    def plainly(model):
        model.training_step(loss="mse", optimizer=SGD(1e-3))(x, y)

    def weights_after(loop):
        model = make_model()
        start = [v.numpy() for v in model.trainable_variables]
        loop(model)
        return start, [v.numpy() for v in model.trainable_variables]

    start, expected = weights_after(two_optimizers)
    for loop in (fit, explicit, raw):
        for found, wanted in zip(weights_after(loop)[1], expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    _, plain = weights_after(plainly)
    shares = [
        np.abs(e - s).sum() / np.abs(p - s).sum()
        for s, e, p in zip(start, expected, plain, strict=True)
    ]
    np.testing.assert_allclose(shares, [0.01, 0.01, 1.0, 1.0], rtol=0.05)


def test_layerwise_decay():
    model = make_model()
    groups = layerwise_decay(model, 0.5, 0.5)
    assert groups == {
        "backbone/*": {"learning_rate": 0.25}, "head/*": {"learning_rate": 0.5},
    }  # fmt: skip
    found = moved(SGD(9.0, groups=groups), model.trainable_variables)
    assert list(found.values()) == [0.25, 0.25, 0.5, 0.5]
    with pytest.raises(ValueError, match="the model has no variables yet; build it first"):
        layerwise_decay(keras.Sequential([keras.layers.Dense(1)]), 0.1, 0.5)


# ---- config and mistakes -------------------------------------------------------------------------


def test_groups_in_the_config():
    assert "groups" not in SGD().get_config()
    groups = {"a/*": {"learning_rate": schedules.CosineDecay(0.1, 10)}, "*": {"weight_decay": 0.1}}
    config = SGD(groups=groups).get_config()
    again = SGD.from_config(config)
    assert again.get_config() == config
    assert float(again.groups[0][1]["learning_rate"](10)) == 0.0
    with pytest.raises(ValueError, match=r"groups: the key .* cannot be saved; use a pattern"):
        SGD(groups=[(lambda v: True, {"weight_decay": 0.1})]).get_config()


def test_a_rule_that_matches_nothing_is_an_error():
    model = make_model()
    optimizer = SGD(1.0, groups={"backbon/*": {"learning_rate": 0.25}})
    before = flat(model.trainable_variables)
    with pytest.raises(ValueError, match="matches no variable; did you mean 'backbone/") as caught:
        apply(optimizer, ones(model.trainable_variables), model.trainable_variables)
    assert "backbone/kernel, backbone/bias, head/kernel, head/bias" in str(caught.value)
    np.testing.assert_array_equal(flat(model.trainable_variables), before)


def test_a_rule_that_matches_nothing_is_an_error_when_a_model_is_bound():
    with pytest.raises(ValueError, match="'sequential/backbone/kernel' matches no variable"):
        SGD(groups={"sequential/backbone/kernel": {}}).build(make_model())
    with pytest.raises(ValueError, match="'bias' matches no variable"):
        make_model().compile(SGD(groups={"bias": {"weight_decay": 0}}), "mse")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"*": {"lr": 0.1}}, "'lr', which is not a setting of a group"),
        ({"*": {"learning_rate": -1}}, "learning_rate=-1: expected a number >= 0"),
        ({"*": {"learning_rate": None}}, "learning_rate=None: expected a number, a"),
        ({"*": {"weight_decay": -1}}, "weight_decay=-1: expected None or a number >= 0"),
        ({"*": {"trainable": 1}}, "trainable=1: expected True or False"),
        ({"*": {"clipnorm": 1, "clipvalue": 1}}, "set only one"),
        ({"*": 0.1}, "expected a dict"),
        (["*"], "expected a dict"),
        ([(1, {})], "expected a pattern, a layer or a predicate of variables as key, got 1"),
    ],
)
def test_mistakes(groups, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SGD(groups=groups)
