"""Results of compiled functions: the same structure from plans and eager calls."""

import numpy as np
import pytest

import framework as tf
from framework.kernels import tier

CALLS = 5  # the first two calls are traced


@pytest.fixture(params=["off", "numpy"], autouse=True)
def mode(request):
    tier.set_tier(request.param)
    yield request.param
    tier.set_tier(None)


def twice(x):
    y = x * 2.0
    return y, y


BODIES = {  # (body, for each result the index of the first equal tensor)
    "twice": (twice, [0, 0]),
    "in a list": (lambda x: [*twice(x)], [0, 0]),
    "in a dict": (lambda x: dict(zip("abc", (*twice(x), x + 1.0), strict=True)), [0, 0, 2]),
    "apart": (lambda x: (x * 2.0, x * 2.0), [0, 1]),
    "an argument twice": (lambda x: (x, x), [0, 0]),
    "between": (lambda x: (x, x * 2.0, x), [0, 1, 0]),
    "with None": (lambda x: (None, *twice(x)), [0, 0]),
}


def tensors(result):
    return [t for t in tf.nest.flatten(result) if t is not None]


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_a_tensor_returned_twice_is_one(name, watched):
    body, expected = BODIES[name]
    f = tf.function(body)
    x = tf.constant([1.0, -2.0])
    for _ in range(CALLS):
        with tf.GradientTape() as tape:
            if watched:
                tape.watch(x)
            found = f(x) if watched else None
        found = tensors(f(x) if found is None else found)
        assert [next(i for i, u in enumerate(found) if u is t) for t in found] == expected
        for t, want in zip(found, tensors(body(x)), strict=True):
            np.testing.assert_array_equal(t.numpy(), want.numpy())


def test_a_tensor_returned_twice_has_one_gradient():
    f = tf.function(twice)
    x = tf.constant([1.0, -2.0])
    for _ in range(CALLS):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = f(x)
            total = y * z
        np.testing.assert_array_equal(tape.gradient(total, x).numpy(), [8.0, -16.0])
        np.testing.assert_array_equal(tape.gradient(total, y).numpy(), [4.0, -8.0])
        np.testing.assert_array_equal(tape.gradient(y, z).numpy(), [1.0, 1.0])


def test_a_result_is_never_the_argument():
    f = tf.function(lambda x, n: {"x": x, "n": n["y"]})
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    for _ in range(CALLS):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            found = f(x, {"y": y})
            total = found["x"] * found["n"]
            beside = x * 2.0
        assert found["x"] is not x
        assert found["n"] is not y
        np.testing.assert_array_equal(tape.gradient(total, x).numpy(), [3.0, 3.0])
        np.testing.assert_array_equal(tape.gradient(total, y).numpy(), 3.0)
        assert tape.gradient(beside, found["x"]) is None  # as in TensorFlow
    for _ in range(CALLS):
        assert f(x, {"y": y})["x"] is not x


def test_masks_of_arguments_stay():
    f = tf.function(lambda x: x)
    embedding = tf.keras.layers.Embedding(4, 2, mask_zero=True)
    x = embedding(tf.constant([[1, 0]]))
    for _ in range(CALLS):
        np.testing.assert_array_equal(f(x)._keras_mask.numpy(), [[True, False]])


@pytest.mark.parametrize("text", ["abc", b"abc", "", np.array(["a", "bc"]), "é"])
def test_strings_have_plans(text, mode, caplog):
    calls = []

    def body(x):
        calls.append(1)
        return {"y": x + 1.0, "text": text}

    f = tf.function(body)
    for _ in range(CALLS):
        found = f(tf.constant([1.0]))
        np.testing.assert_array_equal(found["y"].numpy(), [2.0])
        expected = tf.constant(text)
        assert found["text"].dtype == "string"
        np.testing.assert_array_equal(found["text"].numpy(), expected.numpy())
    assert len(calls) == (CALLS if mode == "off" else 2)
    assert not caplog.records


def test_a_string_that_changes_runs_eagerly(mode):
    texts = iter("abcde")
    f = tf.function(lambda x: (x, next(texts)))
    found = [f(tf.constant(1.0))[1].numpy() for _ in range(CALLS)]
    assert found == [b"a", b"b", b"c", b"d", b"e"]
