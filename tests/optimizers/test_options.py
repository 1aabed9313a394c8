"""What all optimizers share beside groups: averages, accumulation, hooks, values in and out."""

import copy
import pickle

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import framework as tf
from framework import keras
from framework import optimizers as all_optimizers
from framework.core.variable import KerasVariable
from framework.optimizers import SGD, Adam, AdamW, MultiOptimizer, OptimizerMap, RMSprop
from tests.optimizers.test_every_optimizer import apply, flat, run, start_and_gradients
from tests.samples.optimizers import SAMPLES


def tensors(arrays):
    return [tf.constant(a) for a in arrays]


def test_adamw_takes_the_weight_decay_second_as_keras_does():
    optimizer = AdamW(0.1, 0.02, 0.8)
    assert (optimizer.weight_decay, optimizer.beta_1) == (0.02, 0.8)


# ---- averages ------------------------------------------------------------------------------------


def test_averages_by_their_formula():
    start, gradients = start_and_gradients()
    optimizer = SGD(0.1, use_ema=True, ema_momentum=0.7)
    variables = [KerasVariable(s) for s in start]
    averages = None
    for step in gradients:
        apply(optimizer, tensors(step), variables)
        values = flat(variables)
        averages = values if averages is None else 0.7 * averages + 0.3 * values
    optimizer.finalize_variable_values(variables)
    np.testing.assert_allclose(flat(variables), averages, rtol=1e-5)


def test_averages_overwrite_the_variables_every_so_many_updates():
    variable = KerasVariable([0.0])
    optimizer = SGD(1.0, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)
    seen = []
    for _ in range(4):
        optimizer.apply_gradients([(tf.ones(1), variable)])
        seen.append(float(variable[0]))
    assert seen == [-1.0, -1.5, -2.5, -2.75]  # averages: -1, -1.5, -2, -2.75


def test_fit_ends_with_the_averages():
    x, y = np.ones((4, 2), "float32"), np.zeros((4, 1), "float32")
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(SGD(0.1, use_ema=True, ema_momentum=0.9), "mse")
    model.fit(x, y, batch_size=1, epochs=2, verbose=0)
    averages = [v for v in model.optimizer.variables if v.path.endswith("average")]
    np.testing.assert_array_equal(flat(model.trainable_variables), flat(averages))


def test_without_averages_nothing_is_finalized():
    variable = KerasVariable([1.0])
    SGD().finalize_variable_values([variable])
    assert float(variable[0]) == 1.0


# ---- accumulation --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sgd_momentum", "adam", "lamb", "muon", "rmsprop_all", "ftrl"])
def test_accumulation_is_the_mean_of_the_gradients(name):
    start, gradients = start_and_gradients()
    one, each = (SAMPLES[name].create(gradient_accumulation_steps=steps) for steps in (None, 3))
    expected, variables = ([KerasVariable(s) for s in start] for _ in range(2))
    for number, step in enumerate(gradients, start=1):
        before = flat(variables)
        apply(each, tensors(step), variables)
        if number % 3:
            np.testing.assert_array_equal(flat(variables), before)
        else:
            means = np.mean(np.array(gradients[number - 3 : number], dtype=object), axis=0)
            apply(one, tensors([m.astype("float32") for m in means]), expected)
            np.testing.assert_allclose(flat(variables), flat(expected), rtol=0, atol=2e-6)
    assert int(each.iterations) == int(one.iterations) == 4


# ---- the loss's scale ----------------------------------------------------------------------------


def test_a_scaled_loss_gives_the_same_update():
    w = tf.Variable([1.0, 2.0])
    optimizer = SGD(0.5, loss_scale_factor=8.0)
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.reduce_sum(w * w))
    assert float(loss) == 40.0
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    np.testing.assert_array_equal(w, [0.0, 0.0])
    assert float(SGD().scale_loss(tf.constant(3.0))) == 3.0


# ---- clipping ------------------------------------------------------------------------------------

numbers = st.floats(-1e4, 1e4, width=32)
shapes = st.lists(st.lists(numbers, min_size=1, max_size=5), min_size=1, max_size=3)


@hypothesis.given(shapes, st.floats(0.125, 1e3), st.sampled_from(["norm", "value", "global"]))
def test_clipping_is_numpys(rows, limit, kind):
    gradients = [np.array(row, "float32") for row in rows]
    variables = [tf.Variable(np.zeros_like(g)) for g in gradients]
    wide = [g.astype("float64") for g in gradients]
    if kind == "norm":
        name = "clipnorm"
        expected = [g * limit / max(np.linalg.norm(g), limit) for g in wide]
    elif kind == "value":
        name = "clipvalue"
        expected = [np.clip(g, -limit, limit) for g in wide]
    else:
        name = "global_clipnorm"
        total = np.linalg.norm(np.concatenate(wide))
        expected = [g * limit / max(total, limit) for g in wide]
    apply(SGD(1.0, **{name: limit}), tensors(gradients), variables)
    for found, wanted in zip(variables, expected, strict=True):
        np.testing.assert_allclose(-found.numpy(), wanted, rtol=1e-5, atol=1e-6)


# ---- decay ---------------------------------------------------------------------------------------


def test_excluded_by_variable_or_by_a_part_of_the_name():
    names = ("kernel", "bias", "gamma", "beta")
    variables = [KerasVariable(np.ones(1, "float32"), name=n) for n in names]
    optimizer = SGD(0.5, weight_decay=1.0, groups={"*": {"weight_decay": 0.5}})
    optimizer.exclude_from_weight_decay(var_list=variables[:1], var_names=["bia", "^a"])
    apply(optimizer, [tf.zeros(1)] * 4, variables)
    assert [float(v[0]) for v in variables] == [1.0, 1.0, 0.75, 0.75]


def test_adamw_needs_its_decay():
    with pytest.raises(ValueError, match="AdamW: expected a weight_decay >= 0, got None"):
        AdamW(weight_decay=None)


def test_muon_takes_vectors_embeddings_and_named_layers_by_adam():
    shape = (3, 2)
    variables = {
        path: KerasVariable(np.ones(shape, "float32"), name=path)
        for path in ("kernel", "embedding_table", "head_kernel")
    }
    optimizer = all_optimizers.Muon(exclude_layers=["head"])
    apply(optimizer, [tf.ones(shape)] * 3, list(variables.values()))
    made = [v.name for v in optimizer.variables]
    assert "kernel_velocity" not in made
    assert {"embedding_table_velocity", "head_kernel_velocity"} <= set(made)


# ---- minimize ------------------------------------------------------------------------------------


def test_minimize():
    w = tf.Variable(2.0)
    optimizer = SGD(0.25, loss_scale_factor=4.0)
    assert int(optimizer.minimize(lambda: w * w, [w])) == 1
    assert float(w) == 1.0
    with tf.GradientTape() as tape:
        loss = w * w
    optimizer.minimize(loss, [w], tape=tape)
    assert float(w) == 0.5
    with pytest.raises(ValueError, match=r"needs tape="):
        optimizer.minimize(w * w, [w])


# ---- apply ---------------------------------------------------------------------------------------


def test_apply_without_variables_takes_those_it_was_built_for():
    w = tf.Variable([1.0])
    optimizer = SGD(0.5)
    with pytest.raises(ValueError, match="expected trainable_variables="):
        optimizer.apply([tf.ones(1)])
    optimizer.build([w])
    optimizer.apply([tf.ones(1)])
    assert float(w[0]) == 0.5
    with pytest.raises(ValueError, match="got 2 gradients for 1 variables"):
        optimizer.apply([tf.ones(1), tf.ones(1)])


def test_apply_passes_over_what_has_no_gradient():
    a, b = KerasVariable([1.0], name="a"), KerasVariable([1.0], name="b")
    with pytest.warns(UserWarning, match="Gradients do not exist for variables 'b'"):
        SGD(1.0).apply([tf.ones(1), None], [a, b])
    assert (float(a[0]), float(b[0])) == (0.0, 1.0)
    assert SGD().apply([], []) is None


def test_variables_may_be_given_as_gradients():
    w, gradient = tf.Variable([1.0]), tf.Variable([0.5])
    SGD(1.0).apply_gradients([(gradient, w)])
    assert float(w[0]) == 0.5


def test_constraints_are_kept():
    w = KerasVariable(np.ones(2, "float32"))
    w.constraint = keras.constraints.NonNeg()
    SGD(1.0).apply_gradients([(tf.constant([0.5, 2.0]), w)])
    np.testing.assert_array_equal(w, [0.5, 0.0])


# ---- optimizers of one's own ---------------------------------------------------------------------


class SignDescent(keras.optimizers.Optimizer):
    """Fields, slots and an update, in public names."""

    learning_rate: float = 0.5
    share: float = 0.5
    slots = ("mean",)

    def update(self, param, grad, slot, lr, step):
        slot.mean = self.share * slot.mean + (1 - self.share) * grad
        return param - lr * tf.sign(slot.mean)


def test_an_optimizer_of_ones_own():
    vector, number = tf.Variable([1.0, 1.0]), tf.Variable(1.0)
    rate = keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
    optimizer = SignDescent(rate)
    for _ in range(2):
        apply(optimizer, [tf.constant([2.0, -3.0]), tf.constant(2.0)], [vector, number])
    np.testing.assert_array_equal(vector, [0.25, 1.75])
    assert float(number) == 0.25
    again = SignDescent.from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()


# ---- optimizers written for Keras ----------------------------------------------------------------


class OwnMomentum(keras.optimizers.Optimizer):
    """As Keras's guide to optimizers of one's own has it."""

    def __init__(self, learning_rate=0.1, momentum=0.9, name="own", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        self.momentum = momentum

    def build(self, variables):
        super().build(variables)
        self.momenta = self.add_optimizer_variables(variables, "momentum")

    def update_step(self, gradient, variable, learning_rate):
        m = self.momenta[self._get_variable_index(variable)]
        self.assign(m, m * self.momentum - gradient * learning_rate)
        self.assign_add(variable, m)

    def get_config(self):
        return {**super().get_config(), "momentum": self.momentum}


def test_an_optimizer_written_for_keras():
    _, expected = run("sgd_momentum", apply)
    start, gradients = start_and_gradients()
    optimizer, variables = OwnMomentum(), [KerasVariable(s) for s in start]
    for step in gradients:
        apply(optimizer, tensors(step), variables)
    np.testing.assert_allclose(flat(variables), flat(expected), rtol=0, atol=2e-6)
    assert [tuple(v.shape) for v in optimizer.variables] == [(), (), (2, 3), (3,)]
    again = OwnMomentum.from_config(optimizer.get_config())
    assert again.momentum == 0.9
    assert float(again.learning_rate) == pytest.approx(0.1)


def test_options_of_the_base_on_an_optimizer_written_for_keras():
    w = KerasVariable(np.ones(2, "float32"))
    optimizer = OwnMomentum(0.5, weight_decay=1.0, clipvalue=0.5)
    optimizer.apply_gradients([(tf.ones(2), w)])
    np.testing.assert_array_equal(w, [0.25, 0.25])


def test_update_step_of_a_built_in_one():
    w = KerasVariable([1.0])
    SGD(0.5).update_step(tf.ones(1), w, tf.constant(0.25))
    assert float(w[0]) == 0.75


def test_initializers_and_unknown_variables():
    optimizer = SGD()
    reference = KerasVariable(np.zeros((2, 3), "float32"), name="w")
    a, b = optimizer.add_optimizer_variables([reference], ["a", "b"], ["ones", "zeros"])
    assert (a[0].name, float(a[0][0, 0]), float(b[0][0, 0])) == ("w_a", 1.0, 0.0)
    with pytest.raises(ValueError, match="as many initializers as names, got 1 and 2"):
        optimizer.add_optimizer_variables([reference], ["a", "b"], ["ones"])
    with pytest.raises(ValueError, match="Unknown variable"):
        optimizer._get_variable_index(reference)


# ---- values in and out ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["adam_amsgrad", "nadam", "adafactor", "adam_accumulation_ema"])
def test_weights_carry_the_whole_state(name):
    """Half of the way by one optimizer, the rest by another one with its values."""
    _, expected = run(name, apply)
    start, gradients = start_and_gradients()
    variables = [KerasVariable(s) for s in start]
    first, second = (SAMPLES[name].create() for _ in range(2))
    for step in gradients[:6]:
        apply(first, tensors(step), variables)
    store = {}
    first.save_own_variables(store)
    second.build(variables)
    second.load_own_variables(store)
    for step in gradients[6:]:
        apply(second, tensors(step), variables)
    np.testing.assert_array_equal(flat(variables), flat(expected))


def test_values_that_do_not_fit():
    optimizer = Adam()
    optimizer.build([KerasVariable(np.zeros(2, "float32"))])
    with pytest.raises(ValueError, match="of length 1, but the optimizer was expecting 4 weights"):
        optimizer.set_weights([np.zeros(())])
    with pytest.raises(ValueError, match=r"expected a value of shape \(2,\), got \(3,\)"):
        optimizer.set_weights([0, 0.1, np.zeros(3), np.zeros(3)])


def test_stateless_apply():
    w = KerasVariable([1.0])
    optimizer = RMSprop(0.5)
    with pytest.raises(ValueError, match=r"Call optimizer\.build\(variables\) first"):
        optimizer.stateless_apply([], [tf.ones(1)], [tf.ones(1)])
    optimizer.build([w])
    before = [v.numpy() for v in optimizer.variables]
    (new,), state = optimizer.stateless_apply(optimizer.variables, [tf.ones(1)], [tf.zeros(1)])
    assert float(w[0]) == 1.0
    for variable, value in zip(optimizer.variables, before, strict=True):
        np.testing.assert_array_equal(variable, value)
    assert float(new[0]) == pytest.approx(-0.5 / np.sqrt(0.1), rel=1e-5)
    assert int(state[0]) == 1


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_alone(duplicate):
    w = KerasVariable([1.0], name="w")
    optimizer = Adam(0.1, groups={"w": {"learning_rate": 0.2}}, use_ema=True, ema_momentum=0.5)
    optimizer.apply_gradients([(tf.ones(1), w)])
    other, v = duplicate((optimizer, w))
    optimizer.apply_gradients([(tf.ones(1), w)])
    assert int(other.iterations) == 1
    other.apply_gradients([(tf.ones(1), v)])
    assert flat(other.variables).tolist() == flat(optimizer.variables).tolist()
    assert float(v[0]) == float(w[0])
    assert len(other.variables) == 5


# ---- several optimizers --------------------------------------------------------------------------


def test_each_variable_by_its_own_optimizer():
    kernel, bias = KerasVariable([1.0], name="kernel"), KerasVariable([1.0], name="bias")
    both = MultiOptimizer(OptimizerMap(SGD(0.5), {"b.*": SGD(0.25)}), loss_scale_factor=2.0)
    both.apply_gradients([(tf.constant([2.0]), kernel), (tf.constant([2.0]), bias)])
    assert (float(kernel[0]), float(bias[0])) == (0.5, 0.75)
    assert [float(o.learning_rate) for o in both.optimizers] == [0.25, 0.5]
    assert [int(o.iterations) for o in (both, *both.optimizers)] == [1, 1, 1]
    both.scale_learning_rate(0.5)
    assert [float(o.learning_rate) for o in both.optimizers] == [0.125, 0.25]
    with pytest.raises(AttributeError, match="A MultiOptimizer has no learning rate"):
        float(both.learning_rate)
    config = both.get_config()
    assert MultiOptimizer.from_config(config).get_config() == config


def test_a_function_may_choose():
    first, second = SGD(0.5), SGD(0.25)
    both = MultiOptimizer(lambda v: first if len(v.shape) == 1 else second)
    a, b = KerasVariable(np.ones(1, "f")), KerasVariable(np.ones((1, 1), "f"))
    both.build([a, b])
    both.apply([tf.ones(1), tf.ones((1, 1))])
    assert (float(a[0]), float(b[0, 0])) == (0.5, 0.75)


def test_several_optimizers_in_fit():
    x, y = np.ones((4, 2), "float32"), np.zeros((4, 1), "float32")
    model = keras.Sequential([keras.layers.Dense(3, name="a"), keras.layers.Dense(1, name="b")])
    model.build((None, 2))
    chosen = OptimizerMap(SGD(0.0), {".*/b/.*": SGD(0.1)})
    before = [v.numpy() for v in model.trainable_variables]
    model.compile(MultiOptimizer(chosen), "mse")
    model.fit(x, y, verbose=0)
    moved = [np.any(b != v.numpy()) for b, v in zip(before, model.trainable_variables, strict=True)]
    assert moved == [False, False, True, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OptimizerMap("sgd"), "expected a default optimizer, got 'sgd'"),
        (lambda: OptimizerMap(SGD(), [SGD()]), "optimizer_map: expected a dict"),
        (lambda: OptimizerMap(SGD(), {"a": "sgd"}), "expected an optimizer for 'a', got 'sgd'"),
        (lambda: OptimizerMap(SGD(), {1: SGD()}), "expected a string as key, got 1"),
        (
            lambda: OptimizerMap(SGD(), {"a": all_optimizers.LossScaleOptimizer(SGD())}),
            "LossScaleOptimizer cannot be inside a MultiOptimizer",
        ),
        (
            lambda: OptimizerMap(SGD(), {"a.*": SGD(), ".*b": SGD()})["ab"],
            r"several keys match the variable 'ab': a\.\*, \.\*b",
        ),
        (lambda: MultiOptimizer(3), "expected an OptimizerMap or a function"),
        (lambda: SGD(gradient_accumulation_steps=1), "expected None or an int >= 2"),
        (lambda: SGD(ema_overwrite_frequency=0), "expected None or an int >= 1"),
        (lambda: SGD(use_ema=True, ema_momentum=2), r"expected a number in \[0, 1\]"),
        (lambda: Adam(lr=0.1), r"Adam\(\) has no argument 'lr': write learning_rate="),
        (
            lambda: SGD(0.1, decay=1e-3),
            r"no argument 'decay': .*InverseTimeDecay\(rate, 1, decay\)",
        ),
        (lambda: SGD(weight_decay=-1), "weight_decay=-1: expected None or a number >= 0"),
        (lambda: all_optimizers.Ftrl(learning_rate_power=1), "expected learning_rate_power <= 0"),
        (lambda: all_optimizers.Ftrl(l1_regularization_strength=-1), "expected l1_.* >= 0"),
        (lambda: all_optimizers.Lion(beta_1=0), r"Lion: expected beta_1 in \(0, 1\], got 0"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
