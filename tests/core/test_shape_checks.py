"""Shapes that a kernel trusts: ops refuse others, eagerly and in symbolic calls, in both tiers.

Sizes are such that Numba's forms would be taken: they index without bounds.
"""

import numpy as np
import pytest

import framework as tf
from framework import keras, layers
from framework.core.errors import ShapeError
from framework.core.op import Op, no_derivative
from framework.kernels import tier
from framework.ops import norm


def real(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


def true(*shape):
    return np.ones(shape, bool)


def attend(key=(), value=(), query=(2, 64, 4, 16), **others):
    """Attention of queries, keys and values of these shapes, the query's where none is given."""
    key = key or query
    keras.ops.dot_product_attention(real(*query), real(*key), real(*(value or key)), **others)


def heads(layer=layers.MultiHeadAttention, arguments=(4, 16), **call):
    made, x = layer(*arguments), real(2, 64, 32)
    made(x, x)
    made(x, x, **call)


def recurrent(name, x=(16, 30, 24), **call):
    made = getattr(layers, name)(32)
    made(real(16, 30, 24))
    made(real(*x), **call)


def normalised(name, built, called, **arguments):
    layer = getattr(layers, name)(**arguments)
    layer(real(*built))
    layer(real(*called))


SHORT = {"mask": true(16, 20)}
REFUSED = {
    "values shorter than keys": (lambda: attend(value=(2, 40, 4, 16)), "`value` must have shape"),
    "values longer than keys": (lambda: attend((2, 40, 4, 16), (2, 64, 4, 16)), "`value` must"),
    "values of fewer heads": (lambda: attend(value=(2, 64, 3, 16)), "`value` must have shape"),
    "keys of heads that are no share": (lambda: attend((2, 64, 3, 16)), r"\(2, 64, 4, 16\)"),
    "keys of more heads": (lambda: attend((2, 64, 8, 16)), "`key` must have shape"),
    "narrower keys": (lambda: attend((2, 64, 4, 8)), "`key` must have shape"),
    "keys of one example": (lambda: attend((1, 64, 4, 16)), "`key` must have shape"),
    "a mask of fewer keys": (lambda: attend(mask=true(2, 1, 64, 40)), "`mask` must broadcast to"),
    "a mask of fewer queries": (lambda: attend(mask=true(2, 1, 30, 64)), "`mask` must broadcast"),
    "a mask of fewer examples": (lambda: attend(mask=true(3, 1, 64, 64)), "`mask` must broadcast"),
    "a mask of five axes": (lambda: attend(mask=true(1, 2, 4, 64, 64)), "`mask` must broadcast to"),
    "a bias of fewer keys": (lambda: attend(bias=real(2, 4, 64, 33)), "`bias` must broadcast to"),
    "capped, narrower keys": (
        lambda: attend((1, 64, 4, 16), attn_logits_soft_cap=1.0), "`key` must have shape"
    ),
    "an attention mask": (lambda: heads(attention_mask=true(2, 64, 20)), "`mask` must broadcast"),
    "a shorter key, once built": (lambda: heads(key=real(2, 30, 32)), "`value` must have shape"),
    "an attention mask of groups": (
        lambda: heads(layers.GroupQueryAttention, (16, 4, 2), attention_mask=true(2, 64, 20)),
        "`mask` must broadcast",
    ),
    **{
        f"{name}, {what}": (lambda name=name, call=call: recurrent(name, **call), message)
        for name in ("SimpleRNN", "GRU", "LSTM")
        for what, call, message in (
            ("a mask of fewer steps", SHORT, r"`mask` must have shape \(16, 30\)"),
            ("a mask of more steps", {"mask": true(16, 40)}, "`mask` must have shape"),
            ("a mask of fewer examples", {"mask": true(7, 30)}, "`mask` must have shape"),
            ("a mask of one axis", {"mask": true(16)}, "`mask` must have shape"),
            ("fewer features", {"x": (16, 30, 20)}, "`sequences` must have shape"),
            ("more features", {"x": (16, 30, 28)}, "`sequences` must have shape"),
        )
    },
    **{
        f"{name}, {what}": (
            lambda name=name, s=shapes: recurrent(name, initial_state=[real(*x) for x in s]),
            message,
        )
        for name, what, shapes, message in (
            ("LSTM", "c of two examples", [(16, 32), (2, 32)], r"state\[1\]` must have shape"),
            ("LSTM", "c of fewer units", [(16, 32), (16, 8)], r"state\[1\]` must have shape"),
            ("LSTM", "fewer units", [(16, 8), (16, 8)], r"`initial_state\[0\]` must have shape"),
            ("LSTM", "more units", [(16, 48), (16, 48)], r"`initial_state\[0\]` must have shape"),
            ("LSTM", "one state", [(16, 32)], r"must hold 2 state\(s\).*got 1"),
            ("GRU", "fewer units", [(16, 8)], "`initial_state` must have shape"),
            ("GRU", "two states", [(16, 32), (16, 32)], r"must hold 1 state\(s\).*got 2"),
            ("SimpleRNN", "more units", [(16, 48)], r"`initial_state` must have shape \(16, 32\)"),
        )
    },
    "longer rows": (lambda: normalised("LayerNormalization", (4, 8), (512, 16)), "`gamma` must"),
    "shorter rows": (lambda: normalised("LayerNormalization", (4, 16), (999, 8)), "`gamma` must"),
    "longer rows without beta": (
        lambda: normalised("LayerNormalization", (4, 8), (512, 16), center=False), "`gamma` must"
    ),
    "shorter rows without gamma": (
        lambda: normalised("LayerNormalization", (4, 16), (999, 8), scale=False), "`beta` must"
    ),
    "other rows of two axes": (
        lambda: normalised("LayerNormalization", (9, 4, 8), (9, 8, 4), axis=[1, 2]), "`gamma` must"
    ),
    "rms of longer rows": (
        lambda: normalised("RMSNormalization", (4, 8), (512, 16)), "`scale` must have shape"
    ),
    "slices of another size": (
        lambda: tf.IndexedSlices(real(999, 4), np.zeros(999, int), (10, 8)).dense(),
        r"scatter_add: .* do not fit values of shape \(999, 4\)",
    ),
}  # fmt: skip


@pytest.fixture(params=["numpy", "numba"])
def form(request):
    if request.param == "numba":
        pytest.importorskip("numba")
    tier.set_tier(request.param)
    yield
    tier.set_tier()


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit(name, form):
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", ["key", "mask"])
def test_symbolic_calls_are_refused_where_sizes_are_known(name):
    query, key, mask = keras.Input((8, 4, 16)), keras.Input((8, 4, 16)), true(1, 1, 8, 8)
    assert keras.ops.dot_product_attention(query, key, key, mask=mask).shape == (None, 8, 4, 16)
    key, mask = (keras.Input((8, 4, 12)), mask) if name == "key" else (key, true(1, 1, 8, 7))
    with pytest.raises(ShapeError, match=f"`{name}` must"):
        keras.ops.dot_product_attention(query, key, key, mask=mask)


def test_the_message_gives_expected_and_got():
    message = r"rms_norm: `scale` must have shape \(3,\), .* normalized; got \(2,\)\."
    with pytest.raises(ShapeError, match=message):
        norm.rms_norm(real(2, 3), real(2), epsilon=1e-3)


def test_plans_do_not_check_again():
    seen = []
    op = Op(
        "watched", lambda x, *, by: x * by, no_derivative, listed=False,
        check=lambda x: seen.append(x.shape),
    )  # fmt: skip
    double = tf.function(lambda x: op(x, by=2.0))
    for n in range(6):
        assert double(tf.fill([3], float(n))).numpy().tolist() == [2.0 * n] * 3
    assert seen == [(3,)] * 2  # the runs that were recorded
