"""Normalization, attention and losses within parallel regions have the bits of eager ops."""

import numpy as np
import pytest

pytest.importorskip("numba")

import framework as tf
from framework import keras
from framework.kernels import threads, tier
from tests.plan_calls import plan_calls

ROWS, SIZE = (4, 40), 48


@pytest.fixture(autouse=True)
def _numba():
    tier.set_tier("numba")
    yield
    threads.set_count()
    tier.set_tier()


def array(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).standard_normal(shape), tf.float32)


def _attention(**options):
    def layer(x, mask):
        given = dict.fromkeys(options.get("masks", ()), mask)
        return mixing(x, x, use_causal_mask=options.get("causal", False), **given)

    mixing = keras.layers.MultiHeadAttention(3, 16)
    return layer


def _norm(kind):
    def layer(x, _):
        return normal(x)

    normal = kind()
    return layer


LAYERS = {
    "layer_norm": lambda: _norm(keras.layers.LayerNormalization),
    "rms_norm": lambda: _norm(keras.layers.RMSNormalization),
    "attention": _attention,
    "attention, causal": lambda: _attention(causal=True),
    "attention, masked": lambda: _attention(masks=("attention_mask",)),
    "attention, both": lambda: _attention(masks=("attention_mask",), causal=True),
}


def program(layer, dense):
    """Return the output and all gradients, with a product before and after the layer."""

    def gradients(x, mask):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = dense[1](layer(dense[0](x), mask))
        weights = [*dense[0].trainable_variables, *dense[1].trainable_variables]
        return [y, *tape.gradient(y, [x, *weights], output_gradients=x)]

    return gradients


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("name", LAYERS)
def test_equal_bits_to_eager_ops(name, count):
    threads.set_count(count)
    keras.utils.set_random_seed(1)
    dense = [keras.layers.Dense(SIZE, activation="gelu") for _ in range(2)]
    plain = program(LAYERS[name](), dense)
    x = array(*ROWS, SIZE)
    mask = tf.constant(np.random.default_rng(1).random((ROWS[0], ROWS[1], ROWS[1])) > 0.4)
    expected = [v.numpy() for v in plain(x, mask)]
    compiled = tf.function(plain)
    with plan_calls() as calls:
        for _ in range(3):
            found = [v.numpy() for v in compiled(x, mask)]
    op = name.split(",")[0]
    assert "region" in calls
    assert calls.keys() & {op, f"{op}_back"} == set()  # they are tasks of the region
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", LAYERS)
def test_inference_without_saved_values(name):
    layer = LAYERS[name]()
    x = array(*ROWS, SIZE)
    mask = tf.constant(np.ones((ROWS[0], ROWS[1], ROWS[1]), bool))
    expected = layer(x, mask).numpy()
    compiled = tf.function(layer)
    for _ in range(3):
        found = compiled(x, mask)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_gradients_of_vectors_do_not_depend_on_the_number_of_threads():
    normal = keras.layers.LayerNormalization()
    x, found = array(3000, SIZE), []
    normal(x)
    for count in (1, 2, 5):
        threads.set_count(count)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(normal(x)) * x)
        found.append([g.numpy() for g in tape.gradient(loss, normal.trainable_variables)])
    for other in found[1:]:
        for a, b in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(a, b)


def test_results_are_not_overwritten():
    normal = keras.layers.LayerNormalization()
    compiled = tf.function(lambda x: normal(x))
    x = array(*ROWS, SIZE)
    compiled(x)
    first = compiled(x)
    before = first.numpy().copy()
    compiled(array(*ROWS, SIZE, seed=2))
    np.testing.assert_array_equal(first.numpy(), before)


def classifier(sizes=(784, 128, 10), *between):
    """Return a network, its eager training step and a batch."""
    keras.utils.set_random_seed(3)
    inputs, hidden, classes = sizes
    relu = keras.layers.Dense(hidden, activation="relu")
    layers = [keras.Input((inputs,)), relu, *between, keras.layers.Dense(classes)]
    net = keras.Sequential(layers)
    optimizer = keras.optimizers.Adam(1e-2)
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, net(x, training=True))
        weights = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    rng = np.random.default_rng(4)
    x = tf.constant(rng.standard_normal((64, inputs)), tf.float32)
    return net, step, (x, tf.constant(rng.integers(0, classes, 64)))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("sizes", [(784, 128, 10), (30, 40, 3), (100, 9, 12)])
def test_a_classifiers_step_has_the_bits_of_its_ops(sizes, count):
    threads.set_count(count)
    found = []
    for compile_it in (False, True):
        net, step, batch = classifier(sizes)
        step = tf.function(step) if compile_it else step
        losses = [float(step(*batch)) for _ in range(6)]
        found.append([losses, *(w.numpy() for w in net.weights)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("between", "calls"), [((), 1), ((keras.layers.Dropout(0.2),), 2)])
def test_a_classifiers_step_is_one_call(between, calls):
    """Dropout is an op outside the region."""
    _, step, batch = classifier((784, 128, 10), *between)
    step = tf.function(step)
    with plan_calls() as made:
        for _ in range(4):
            made.clear()
            step(*batch)
    assert len(made["region"]) == calls
    assert len(made["class_indices"]) == 1  # before it
    assert "dot" not in made  # products are tasks


def test_wrong_labels_leave_the_weights():
    net, step, (x, y) = classifier()
    step = tf.function(step)
    for _ in range(4):
        step(x, y)
    before = [w.numpy().copy() for w in net.weights]
    with pytest.raises(ValueError, match="label 10"):
        step(x, y + 1 - tf.reduce_min(y) + 9 - tf.reduce_max(y))
    for w, old in zip(net.weights, before, strict=True):
        np.testing.assert_array_equal(w.numpy(), old)


def test_labels_behind_a_false_condition_are_not_checked():
    @tf.function
    def f(x, y):
        if tf.reduce_sum(x) < 0:
            return tf.reduce_sum(x) * 2.0
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y, x)

    x, good, wrong = array(40, 60), tf.zeros(40, tf.int64), tf.fill([40], 77)
    x = x - tf.reduce_mean(x)
    for _ in range(4):
        f(x + 1.0, good)
        f(x - 1.0, good)
    np.testing.assert_allclose(f(x - 1.0, tf.cast(wrong, tf.int64)), -4800, rtol=1e-3)
    with pytest.raises(ValueError, match="label 77"):
        f(x + 1.0, tf.cast(wrong, tf.int64))
