"""Attention, embedding and einsum layers: numbers of real Keras, masks, errors, LoRA."""

import numpy as np
import pytest

import framework as tf
from framework import keras, layers
from framework.core import nest
from tests.layers import attention_cases as cases
from tests.layers.keras_attention import VALUES


def call(layer, x, arguments):
    return layer(*x, **arguments) if isinstance(x, tuple) else layer(x, **arguments)


def digests(name, dtype="float32"):
    kind, settings, shapes, arguments = cases.CASES[name]
    layer = getattr(keras.layers, kind)(**settings, dtype=dtype)
    x = nest.map_structure(lambda a: tf.constant(a, dtype if a.dtype.kind == "f" else None),
                           cases.inputs_of(shapes))  # fmt: skip
    call(layer, x, arguments)
    for k, v in enumerate(layer.weights):
        v.assign(cases.wave(v.shape, k))
    flat = [t for t in nest.flatten(x) if t.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(flat)
        ys = nest.flatten(call(layer, x, arguments))
        loss = sum(tf.reduce_sum(y * tf.constant(cases.wave(y.shape, 1.5), y.dtype)) for y in ys)
    grads = tape.gradient(loss, [*flat, *layer.trainable_weights])
    found = [*ys, *(g if g is None else tf.convert_to_tensor(g) for g in grads)]
    return [None if t is None else cases.digest(t) for t in found]


@pytest.mark.parametrize("name", cases.CASES)
def test_numbers_of_keras(name):
    found, expected = digests(name), VALUES[name]
    assert [f is None for f in found] == [e is None for e in expected]
    for f, e in zip(found, expected, strict=True):
        if e is not None:
            assert f == pytest.approx(e, rel=2e-5, abs=2e-5)


def test_every_case_has_its_numbers():
    assert set(VALUES) == set(cases.CASES)


@pytest.mark.parametrize("name", ["self", "mask", "groups scores", "dot product masks", "rows"])
def test_mixed_precision(name):
    kind, settings, shapes, arguments = cases.CASES[name]
    layer = getattr(keras.layers, kind)(**settings, dtype="mixed_float16")
    outputs = nest.flatten(call(layer, cases.inputs_of(shapes), arguments))
    assert {y.dtype for y in outputs} == {"float16"}
    assert {w.dtype for w in layer.weights} <= {"float32"}


# ---- weights -------------------------------------------------------------------------------------


def test_weights_stand_in_keras_s_order():
    layer = layers.MultiHeadAttention(2, 3, value_dim=5, use_gate=True, name="m")
    layer(cases.wave((1, 2, 4)), cases.wave((1, 3, 6)))
    assert [(w.path, tuple(w.shape)) for w in layer.weights] == [
        ("m/query/kernel", (4, 2, 3)), ("m/query/bias", (2, 3)),
        ("m/key/kernel", (6, 2, 3)), ("m/key/bias", (2, 3)),
        ("m/gate/kernel", (4, 2, 5)), ("m/gate/bias", (2, 5)),
        ("m/value/kernel", (6, 2, 5)), ("m/value/bias", (2, 5)),
        ("m/attention_output/kernel", (2, 5, 4)), ("m/attention_output/bias", (4,)),
    ]  # fmt: skip
    grouped = layers.GroupQueryAttention(2, 4, 2, use_bias=False, name="g")
    grouped(cases.wave((1, 2, 4)), cases.wave((1, 3, 4)))
    assert [(w.path, tuple(w.shape)) for w in grouped.weights] == [
        ("g/query/kernel", (4, 4, 2)), ("g/key/kernel", (4, 2, 2)), ("g/value/kernel", (4, 2, 2)),
        ("g/attention_output/kernel", (4, 2, 4)),
    ]  # fmt: skip


def test_an_einsum_kernel_is_scaled_by_the_axes_that_the_equation_sums():
    layer = layers.EinsumDense("ab,cbd->acd", (300, 50), kernel_initializer="lecun_normal")
    layer.build((None, 20))
    assert np.std(layer.kernel.numpy()) == pytest.approx(20**-0.5, rel=0.02)


def test_configs_as_keras_writes_them():
    config = layers.MultiHeadAttention(2, 3, activity_regularizer="l2").get_config()
    assert "flash_attention" not in config
    assert config["value_dim"] == 3
    assert config["activity_regularizer"]["config"] == {"l2": 0.01}
    assert "weights" not in layers.Embedding(3, 2).get_config()
    assert "lora_rank" not in layers.Embedding(3, 2).get_config()
    assert layers.Embedding(3, 2, lora_rank=2).get_config()["lora_alpha"] == 2
    assert "score_mode" not in layers.AdditiveAttention().get_config()


def test_regularizers_of_the_projections_count_once():
    layer = layers.MultiHeadAttention(2, 3, activity_regularizer="l2", kernel_regularizer="l1")
    layer(cases.wave((1, 2, 4)), cases.wave((1, 3, 4)))
    assert len(layer.losses) == 8


# ---- masks ---------------------------------------------------------------------------------------


def test_masks_of_embeddings_reach_attention_and_end_there():
    rows = np.array([[1, 2, 0], [3, 0, 0]])
    embedded = layers.Embedding(5, 4, mask_zero=True)(rows)
    np.testing.assert_array_equal(embedded._keras_mask, rows != 0)
    layer = layers.MultiHeadAttention(2, 3)
    masked = layer(embedded, embedded)
    np.testing.assert_array_equal(masked._keras_mask, rows != 0)
    assert embedded._keras_mask is None  # as in Keras
    seen = (rows != 0)[:, None, :] & (rows != 0)[:, :, None]
    np.testing.assert_array_equal(masked, layer(embedded, embedded, attention_mask=seen))


def test_attention_passes_the_querys_mask_on():
    rows = np.array([[1, 0, 2]])
    query = layers.Embedding(5, 4, mask_zero=True)(rows)
    outputs = layers.Attention()([query, cases.wave((1, 2, 4))])
    np.testing.assert_array_equal(outputs._keras_mask, rows != 0)
    assert not np.any(outputs.numpy()[0, 1])


def test_a_reversible_embedding_masks_rows_alone():
    layer = layers.ReversibleEmbedding(5, 4, mask_zero=True)
    embedded = layer(np.array([[1, 0]]))
    np.testing.assert_array_equal(embedded._keras_mask, [[True, False]])
    assert getattr(layer(embedded, reverse=True), "_keras_mask", None) is None


def test_dropout_of_weights_is_for_training():
    x = cases.wave((2, 4, 6))
    for layer in (layers.MultiHeadAttention(2, 3, dropout=0.5, seed=1),
                  layers.GroupQueryAttention(3, 2, 1, dropout=0.5, seed=1)):  # fmt: skip
        calm = layer(x, x)
        np.testing.assert_array_equal(calm, layer(x, x, training=False))
        assert np.any(calm.numpy() != layer(x, x, training=True).numpy())
    layer = layers.Attention(dropout=0.5, seed=1)
    assert np.any(layer([x, x]).numpy() != layer([x, x], training=True).numpy())


def test_symbolic_scores():
    query, value = keras.Input((3, 4)), keras.Input((5, 4))
    outputs, scores = layers.MultiHeadAttention(2, 3)(query, value, return_attention_scores=True)
    assert (outputs.shape, scores.shape) == ((None, 3, 4), (None, 2, 3, 5))
    layer = layers.GroupQueryAttention(2, 4, 2)
    outputs, scores = layer(query, value, return_attention_scores=True)
    assert (outputs.shape, scores.shape) == ((None, 3, 4), (None, 4, 3, 5))
    outputs = layers.Attention()([keras.Input((None, 4)), value], use_causal_mask=True)
    assert outputs.shape == (None, None, 4)


def test_an_overridden_way_of_attending_gets_the_causal_mask():
    seen = []

    class Own(layers.MultiHeadAttention):
        def _compute_attention(self, query, key, value, attention_mask=None, training=None,
                               return_attention_scores=False):  # fmt: skip
            seen.append(np.asarray(attention_mask))
            return query, None

    x = cases.wave((1, 3, 4))
    Own(2, 3)(x, x, use_causal_mask=True)
    np.testing.assert_array_equal(seen[0], np.tri(3, dtype=bool)[None])


# ---- embeddings ----------------------------------------------------------------------------------


def test_a_tables_gradient_is_sparse_in_every_precision():
    for dtype in ("float32", "mixed_float16"):
        layer = layers.Embedding(5, 2, dtype=dtype)
        layer(np.array([0]))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(np.array([[1, 3, 1]])))
        slices = tape.gradient(loss, layer.trainable_weights)[0]
        assert isinstance(slices, tf.IndexedSlices)
        assert slices.dtype == "float32"
        np.testing.assert_array_equal(slices.indices, [1, 3, 1])


def test_initial_tables():
    table = cases.wave((3, 2)).astype("float32")
    for given in (table, [table]):
        layer = layers.Embedding(3, 2, weights=given)
        assert layer.built
        np.testing.assert_array_equal(layer(np.array([2, 0])), table[[2, 0]])


# ---- mistakes ------------------------------------------------------------------------------------

X = cases.wave((2, 3, 4))

MISTAKES = {
    "list of inputs": lambda: layers.Attention()(X),
    "list of length 2 or 3": lambda: layers.Attention()([X]),
    "contains axis 0, the batch": lambda: layers.Dot(0)([X, X]),
    "list of 2 inputs": lambda: layers.Dot(1)([X, X, X]),
    "axis values 3 .at axis 1. != 4": lambda: layers.Dot((1, 2))([X, X]),
    "argument axes=.1, 2, 3.": lambda: layers.Dot((1, 2, 3)),
    "input_dim=0: expected a positive": lambda: layers.Embedding(0, 2),
    "inputs must lie from 0 to 2, got 7": lambda: layers.Embedding(3, 2)(np.array([7])),
    "inputs must lie from 0 to 2, got -1": lambda: layers.Embedding(3, 2)(np.array([2, -1])),
    "num_heads=0": lambda: layers.MultiHeadAttention(0, 1),
    "dropout=0.1 is not supported with flash": lambda: layers.MultiHeadAttention(
        1, 1, dropout=0.1, flash_attention=True
    ),
    "return_attention_scores=True is not": lambda: layers.MultiHeadAttention(
        1, 1, flash_attention=True
    )(X, X, return_attention_scores=True),
    "except the last one, must be equal": lambda: layers.MultiHeadAttention(1, 1)(X, X, X[:, :2]),
    "divisible by `num_key_value_heads`": lambda: layers.GroupQueryAttention(2, 3, 2),
    "sliding_window=0": lambda: layers.MultiHeadAttention(1, 1, sliding_window=0),
    "Invalid einsum equation": lambda: layers.EinsumDense("ab,bc", 3)(X),
    "expected 2 input axes, got 3": lambda: layers.EinsumDense("ab,bc->ac", 3)(X),
    "output_shape: expected 2 sizes": lambda: layers.EinsumDense("abc,cd->abd", 3)(X),
    "shared dimension 'b'": lambda: layers.EinsumDense("abc,cd->abd", (5, 3))(X),
    "bias_axes='z'": lambda: layers.EinsumDense("abc,cd->abd", (None, 3), bias_axes="z")(X),
    "quantization is not supported": lambda: layers.EinsumDense(
        "ab,bc->ac", 3, quantization_config={}
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_have_one_clear_error(message):
    with pytest.raises((ValueError, TypeError, IndexError), match=message):
        MISTAKES[message]()


# ---- keras.ops -----------------------------------------------------------------------------------

Q4, K4, V4 = (cases.wave(s, i) for i, s in enumerate([(2, 3, 2, 4), (2, 5, 2, 4), (2, 5, 2, 3)]))

OF_KERAS = [  # digests by real Keras
    ({}, -0.62757222),
    ({"scale": 0.3, "is_causal": True}, -0.39295472),
    ({"mask": cases.mask(2, 1, 3, 5)}, -2.7992883),
    ({"mask": cases.mask(2, 3, 5)}, -1.1433511),
    ({"bias": cases.wave((1, 2, 3, 5))}, -1.1472086),
]


@pytest.mark.parametrize(("arguments", "expected"), OF_KERAS)
def test_dot_product_attention(arguments, expected):
    found = keras.ops.dot_product_attention(Q4, K4, V4, **arguments)
    assert cases.digest(found) == pytest.approx(expected, rel=1e-5)
    capped = keras.ops.dot_product_attention(Q4, K4, V4, **arguments, attn_logits_soft_cap=1e9)
    np.testing.assert_allclose(capped, found, rtol=1e-6)


@pytest.mark.parametrize("heads", [1, 2])
def test_dot_product_attention_of_fewer_heads(heads):
    """As in real Keras, consecutive query heads share one head of keys and values."""
    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=(2, 7, n, 5)).astype("float32") for n in (4, heads, heads))
    every = [np.repeat(x, 4 // heads, axis=2) for x in (key, value)]
    attend = keras.ops.dot_product_attention
    np.testing.assert_array_equal(attend(query, key, value), attend(query, *every))
    inputs = [keras.Input(x.shape[1:]) for x in (query, key, value)]
    model = keras.Model(inputs, attend(*inputs))
    np.testing.assert_array_equal(model([query, key, value]), attend(query, *every))


def test_dot_product_attention_of_other_kinds():
    attend = keras.ops.dot_product_attention
    half = [x.astype("float16") for x in (Q4, K4, V4)]
    assert attend(*half).dtype == "float16"
    assert attend(half[0], K4.astype("float32"), half[2]).dtype == "float32"
    assert attend(*(keras.Input((None, 2, 4)),) * 3).shape == (None, None, 2, 4)
    capped = attend(Q4, K4, V4, attn_logits_soft_cap=0.5)
    scores = np.einsum("bthd,bshd->bhts", Q4, K4) / 2
    p = np.exp(scores / (1 + np.abs(scores) / 0.5))
    p /= p.sum(-1, keepdims=True)
    np.testing.assert_allclose(capped, np.einsum("bhts,bshd->bthd", p, V4), rtol=1e-6)
    with pytest.raises(ValueError, match="only supports 4D inputs"):
        attend(Q4, K4, V4[0])
