"""Attention as one op that does not store the matrix of scores."""

import numpy as np

from framework.core.cast import cast
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, first_order_only
from framework.core.shape_checks import expect, expect_broadcast
from framework.core.symbolic import KerasTensor
from framework.kernels import attention as kernel
from framework.ops.contraction import matmul
from framework.ops.elementwise import select
from framework.ops.movement import transpose
from framework.ops.rows import softmax

_NAME = "attention"
_forward = no_warnings(kernel.forward)

# `attention_back` returns the cotangents of those inputs that `needed` selects, in order.
attention_back = Op(
    "attention_back",
    no_warnings(kernel.backward),
    backward=first_order_only,
    outputs=None,
    fresh=True,
)


def _rule(g, q, k, v, bias, mask, y, saved, scale, causal, needed):
    found = iter(
        attention_back(
            g, q, k, v, bias, mask, y, *saved, scale=scale, causal=causal, needed=needed[:4]
        )
    )
    return [next(found) if n else None for n in (*needed[:4], False)]


def composite(q, k, v, bias, mask, *, scale, causal, cap=None):
    """Compute attention by ops that store all scores; `cap` replaces s by s / (1 + |s| / cap)."""
    dtype = q.dtype
    half = np.dtype(getattr(dtype, "np", dtype)).itemsize == 2
    if half:
        q, k = cast(q, dtype=np.float32), cast(k, dtype=np.float32)
        bias = bias if bias is None else cast(bias, dtype=np.float32)
    scores = matmul(_heads_first(q), _heads_first(k), transpose_b=True) * scale
    if cap is not None:
        scores = scores / (1.0 + abs(scores) / cap)
    if bias is not None:
        scores = scores + bias
    low = kernel.lowest(np.float32 if half else getattr(dtype, "np", dtype))
    if mask is not None:
        scores = select(mask, scores, low)
    if causal:
        scores = select(causal_mask(*scores.shape[-2:]), scores, low)
    p = softmax(scores, axis=len(scores.shape) - 1)
    if half:
        p = cast(p, dtype=getattr(dtype, "np", dtype))
    return _heads_first(matmul(p, _heads_first(v)))


def causal_mask(rows, keys):
    """Return booleans (1, rows, keys), True where the key's index is at most the row's index."""
    if rows is None or keys is None:
        return KerasTensor((1, rows, keys), "bool")
    return np.tri(rows, keys, dtype=bool)[None]


def band_mask(rows, keys, width):
    """Return booleans (1, rows, keys), True where key and row are less than `width` apart."""
    if rows is None or keys is None:
        return KerasTensor((1, rows, keys), "bool")
    return (np.abs(np.arange(rows)[:, None] - np.arange(keys)) < width)[None]


def _heads_first(x):
    return transpose(x, perm=(0, 2, 1, 3))


def _check(q, k, v, bias, mask):
    batch, length, heads, width = q.shape
    keys = (batch, *k.shape[1:2], heads, width)
    # Batch, heads and width must be the query's; only the values may have another width.
    if not k.shape == v.shape == keys:
        expect(
            _NAME,
            "key",
            k.shape,
            keys,
            "(batch, keys, heads, width) with the query's batch, heads and width",
        )
        values = (*keys[:3], *v.shape[3:4])
        expect(
            _NAME,
            "value",
            v.shape,
            values,
            "(batch, keys, heads, any width) with the other sizes of the keys",
        )
    if bias is mask is None:
        return
    scores = batch, heads, length, keys[1]
    for name, x in (("bias", bias), ("mask", mask)):
        if x is not None:
            expect_broadcast(
                _NAME,
                name,
                x.shape,
                scores,
                "the shape (batch, heads, queries, keys) of the scores",
            )


# `attention` is softmax(scale q k^T + bias) v for q (batch, queries, heads, width) and k, v (batch,
# keys, ...). `bias` (floats) and `mask` (booleans, True where a query may read a key) are None, or
# have four axes and broadcast to (batch, heads, queries, keys). `causal` hides the keys after each
# query.
attention = Op(
    _NAME, _forward, backward=_rule, composite=composite, saves=True,
    infer=lambda q, k, v, bias, mask, **_: ((*q.shape[:3], v.shape[3]), q.dtype), fresh=True,
    check=_check,
)  # fmt: skip
