"""Every optimizer: Keras's numbers, one update in all its forms, clipping, decay, bad input."""

import contextlib
import inspect
from unittest import mock

import numpy as np
import pytest

import framework as tf
from framework import optimizers as all_optimizers
from framework.compiler.ir import GraphRecorder
from framework.core.variable import KerasVariable
from framework.kernels.blocks import ALONE
from framework.optimizers import SGD, Adam, LossScaleOptimizer, MultiOptimizer
from framework.optimizers.base import optimizers
from tests.compiler.replay import MissError, Replay
from tests.samples.optimizers import SAMPLES


def start_and_gradients(dtype="float32"):
    rng = np.random.default_rng(0)

    def draw():
        shapes = ((2, 3), (3,))
        return [rng.normal(size=shape).astype("float32").astype(dtype) for shape in shapes]

    return draw(), [draw() for _ in range(12)]


def run(name, update, dtype="float32", variable=KerasVariable):
    """The variables after twelve updates of `update(optimizer, tensors, variables)`."""
    optimizer = SAMPLES[name].create()
    start, gradients = start_and_gradients(dtype)
    variables = [variable(s) for s in start]
    for step in gradients:
        update(optimizer, [tf.constant(g) for g in step], variables)
    return optimizer, variables


def apply(optimizer, gradients, variables):
    optimizer.apply_gradients(zip(gradients, variables, strict=True))


def flat(variables):
    return np.concatenate([v.numpy().ravel() for v in variables])


def test_every_optimizer_is_in_the_table():
    wrappers = {LossScaleOptimizer, MultiOptimizer}
    kinds = {getattr(all_optimizers, sample.kind) for sample in SAMPLES.values()}
    assert kinds | wrappers == set(optimizers.by_name.values())


IN_KERAS = [name for name, sample in SAMPLES.items() if sample.weights]


@pytest.mark.parametrize("name", IN_KERAS)
def test_numbers_are_those_of_keras(name):
    _, variables = run(name, apply)
    expected = np.concatenate(SAMPLES[name].weights)
    np.testing.assert_allclose(flat(variables), expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", IN_KERAS)
def test_variables_are_kerass_in_its_order(name):
    """Files with an optimizer's state are exchanged by this order."""
    optimizer, _ = run(name, apply)
    sums = [np.sum(v.numpy()) for v in optimizer.variables]
    np.testing.assert_allclose(sums, SAMPLES[name].state, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SAMPLES)
def test_compiled_plain_and_recorded_updates_agree_to_the_bit(name):
    def plainly(optimizer, gradients, variables):
        with mock.patch("framework.optimizers.applying.program_of", return_value=None):
            apply(optimizer, gradients, variables)

    def recorded(optimizer, gradients, variables):
        with GraphRecorder(()):
            apply(optimizer, gradients, variables)

    compiled, variables = run(name, apply)
    is_compiled = any(
        p is not None and p.form is not None for p in compiled._framework.programs.values()
    )
    assert is_compiled is SAMPLES[name].elementwise
    for other in (plainly, recorded):
        optimizer, found = run(name, other)
        np.testing.assert_array_equal(flat(found), flat(variables))
        for a, b in zip(optimizer.variables, compiled.variables, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("name", SAMPLES)
def test_a_recorded_update_can_be_replayed(name):
    """A few recordings, for what Python reads of the count of calls, serve all updates."""
    replays = []

    def replayed(optimizer, gradients, variables):
        for replay in replays:
            with contextlib.suppress(MissError):
                replay(*gradients)
                return
        replays.append(Replay(lambda *grads: apply(optimizer, grads, variables), *gradients))

    expected, variables = run(name, apply)
    optimizer, found = run(name, replayed)
    np.testing.assert_array_equal(flat(found), flat(variables))
    for a, b in zip(optimizer.variables, expected.variables, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    options = SAMPLES[name].arguments.keys() & {
        "gradient_accumulation_steps",
        "ema_overwrite_frequency",
    }
    assert len(replays) <= 2 ** len(options)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", ["sgd_momentum", "adam"])
def test_updates_keep_the_dtype_of_the_variable(name, dtype):
    _, variables = run(name, apply, dtype)
    assert {v.dtype for v in variables} == {dtype}
    tolerance = {"float16": 1e-2, "float64": 1e-5}[dtype]  # the reference is float32
    np.testing.assert_allclose(
        flat(variables), np.concatenate(SAMPLES[name].weights), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize("size", [1, ALONE - 1, ALONE, ALONE + 1, 3 * ALONE + 7])
def test_blocks_cover_every_element(size):
    rng = np.random.default_rng(1)
    start, gradient = rng.normal(size=size), rng.normal(size=size)
    variable = tf.Variable(start)
    Adam(0.1).apply_gradients([(tf.constant(gradient), variable)])
    # Kingma & Ba's first step: lr times the gradient over its own size
    expected = start - 0.1 * gradient / (np.abs(gradient) + 1e-7 / np.sqrt(1 - 0.999))
    np.testing.assert_allclose(variable.numpy(), expected, rtol=0, atol=1e-8)


def test_a_value_read_before_an_update_does_not_change():
    variable = tf.Variable(np.ones(5, "float32"))
    before = variable.read_value()
    view = before[1:]
    optimizer = SGD(0.5)
    for _ in range(3):
        optimizer.apply_gradients([(tf.ones(5), variable)])
    np.testing.assert_array_equal(before, np.ones(5))
    np.testing.assert_array_equal(view, np.ones(4))
    np.testing.assert_array_equal(variable, np.full(5, -0.5))


def test_a_buffer_without_other_references_is_reused():
    variable = tf.Variable(np.ones(5, "float32"))
    optimizer = SGD(0.5)
    before = id(variable.array)
    optimizer.apply_gradients([(tf.ones(5), variable)])
    assert id(variable.array) == before


def test_transposed_and_broadcast_gradients():
    variable = tf.Variable(np.zeros((3, 2)))
    gradient = tf.transpose(tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype="float64"))
    SGD(1.0).apply_gradients([(gradient, variable)])
    np.testing.assert_array_equal(variable, [[-1, -4], [-2, -5], [-3, -6]])
    SGD(1.0).apply_gradients([(tf.broadcast_to(tf.constant(1.0, "float64"), (3, 2)), variable)])
    np.testing.assert_array_equal(variable, [[-2, -5], [-3, -6], [-4, -7]])


# ---- clipping ------------------------------------------------------------------------------------


def moved_by(gradients, **clipping):
    """What SGD(1.0) takes off zeros: the gradients as they were clipped."""
    variables = [tf.Variable(np.zeros_like(g)) for g in gradients]
    pairs = zip([tf.constant(g) for g in gradients], variables, strict=True)
    SGD(1.0, **clipping).apply_gradients(list(pairs))
    return [-v.numpy() for v in variables]


GRADIENTS = [np.array([3.0, 4.0]), np.array([[0.3], [-0.4]])]


def test_clipnorm_clips_each_gradient():
    for found, g in zip(moved_by(GRADIENTS, clipnorm=1.0), GRADIENTS, strict=True):
        np.testing.assert_allclose(found, g / max(np.linalg.norm(g), 1.0))


def test_clipvalue_clips_each_element():
    for found, g in zip(moved_by(GRADIENTS, clipvalue=0.35), GRADIENTS, strict=True):
        np.testing.assert_allclose(found, np.clip(g, -0.35, 0.35))


@pytest.mark.parametrize("limit", [1.0, 100.0])
def test_global_clipnorm_clips_them_together(limit):
    norm = np.sqrt(sum((g**2).sum() for g in GRADIENTS))
    for found, g in zip(moved_by(GRADIENTS, global_clipnorm=limit), GRADIENTS, strict=True):
        np.testing.assert_allclose(found, g * min(1, limit / norm))


def test_a_norm_that_is_not_finite_makes_all_gradients_nan():
    gradients = [np.array([np.inf, 1.0]), np.array([1.0])]
    for found in moved_by(gradients, global_clipnorm=1.0):
        assert np.isnan(found).all()


def test_only_one_way_of_clipping():
    with pytest.raises(ValueError, match=r"only one of clipnorm.*got clipnorm and clipvalue"):
        SGD(clipnorm=1.0, clipvalue=1.0)


# ---- decay ---------------------------------------------------------------------------------------


def test_variables_excluded_from_decay():
    kernel, bias = KerasVariable(np.ones(2), name="kernel"), KerasVariable(np.ones(2), name="bias")
    optimizer = SGD(0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    zeros = tf.zeros(2, "float64")
    optimizer.apply_gradients([(zeros, kernel), (zeros, bias)])
    np.testing.assert_allclose(kernel, 0.95)
    np.testing.assert_array_equal(bias, 1.0)


# ---- learning rate, state, config ----------------------------------------------------------------


def test_learning_rate_is_a_variable_that_can_be_set():
    optimizer = SGD(0.5)
    variable = tf.Variable([1.0])
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients([(tf.ones(1), variable)])
    assert float(optimizer.learning_rate) == 0.25
    assert float(variable[0]) == 0.75


def test_a_changed_field_takes_effect():
    optimizer = SGD(0.5, momentum=0.5)
    variable = tf.Variable([1.0])
    optimizer.apply_gradients([(tf.ones(1), variable)])
    optimizer.momentum = 0.0
    optimizer.apply_gradients([(tf.ones(1), variable)])
    assert float(variable[0]) == 0.0


def test_iterations_and_slots_are_variables():
    optimizer, _ = run("adam", apply)
    assert int(optimizer.iterations) == 12
    assert [tuple(v.shape) for v in optimizer.variables] == [(), (), (2, 3), (2, 3), (3,), (3,)]


def test_a_variable_may_join_later():
    optimizer = Adam(0.1)
    first, second = tf.Variable([1.0]), tf.Variable([1.0])
    optimizer.apply_gradients([(tf.ones(1), first)])
    optimizer.apply_gradients([(tf.ones(1), first), (tf.ones(1), second)])
    assert float(second[0]) < 1.0


@pytest.mark.parametrize("name", SAMPLES)
def test_config_round_trip(name):
    optimizer = SAMPLES[name].create()
    config = optimizer.get_config()
    assert type(optimizer).from_config(config).get_config() == config
    for field, value in SAMPLES[name].arguments.items():
        assert config[field] == pytest.approx(value)


def test_signatures_begin_as_keras_has_them():
    assert list(inspect.signature(SGD).parameters)[:3] == ["learning_rate", "momentum", "nesterov"]
    assert list(inspect.signature(Adam).parameters)[:5] == [
        "learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["adam", "Adam", "ADAM", "sgd"])
def test_names(name):
    assert type(optimizers.get(name)).__name__.lower() == name.lower()


def test_a_subclass_with_an_update_that_is_not_elementwise():
    """Layer-wise trust ratios need a norm: such an update runs as written."""

    class NormalizedDescent(SGD):
        def update(self, param, grad, slot, lr, step):
            norm = tf.sqrt(tf.reduce_sum(tf.square(grad)))
            return param - lr * grad / norm

    variable = tf.Variable([0.0, 0.0])
    NormalizedDescent(1.0).apply_gradients([(tf.constant([3.0, 4.0]), variable)])
    np.testing.assert_allclose(variable, [-0.6, -0.8], rtol=1e-6)


# ---- bad input -----------------------------------------------------------------------------------


def test_some_gradients_missing_warns_and_goes_on():
    a, b = KerasVariable([1.0], name="a"), KerasVariable([1.0], name="b")
    with pytest.warns(UserWarning, match="Gradients do not exist for variables 'b'"):
        SGD(1.0).apply_gradients([(tf.ones(1), a), (None, b)])
    assert float(a[0]) == 0.0
    assert float(b[0]) == 1.0


def test_no_gradient_at_all():
    v = KerasVariable([1.0], name="weights")
    with pytest.raises(ValueError, match="No gradients provided for any variable: 'weights'"):
        SGD().apply_gradients([(None, v)])
    with pytest.raises(ValueError, match=r"expected \(gradient, variable\) pairs, got none"):
        SGD().apply_gradients([])


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (np.ones(3, "float32"), r"gradient of 'w' has shape \(3,\), the variable \(2,\)"),
        (np.ones(2, "float64"), "gradient of 'w' has dtype float64, the variable float32"),
        ("what", "expected a tensor or None as gradient, got str"),
    ],
)
def test_gradients_that_do_not_fit(gradient, message):
    variable = KerasVariable(np.ones(2, "float32"), name="w")
    with pytest.raises((ValueError, TypeError), match=message):
        SGD().apply_gradients([(gradient, variable)])
    np.testing.assert_array_equal(variable, [1, 1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SGD("fast"), "SGD: argument learning_rate='fast': expected a number"),
        (lambda: SGD(-1.0), "learning_rate=-1.0: expected a number >= 0"),
        (lambda: SGD(momentum=2), r"expected momentum in \[0, 1\]"),
        (lambda: SGD(clipnorm=-1), "clipnorm=-1: expected None or a number > 0"),
        (lambda: Adam(beta1=0.9), "no argument 'beta1'; did you mean 'beta_1'"),
        (lambda: optimizers.get("adaam"), "Unknown optimizer: 'adaam'; did you mean 'Adam'"),
    ],
)
def test_constructor_mistakes(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
