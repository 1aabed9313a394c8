"""Calls of attention and embedding layers whose numbers are known from real Keras.

A case is a class's name, its arguments, the shapes of the inputs (ints: numbers of rows below
that), and the call's arguments. Weights, inputs and masks are made by formulas.
"""

import numpy as np


def wave(shape, shift=0.0):
    """Return distinct numbers between -1 and 1."""
    return np.sin(np.arange(np.prod(shape, dtype=int)) * 0.7 + shift).reshape(shape)


def mask(*shape):
    """Return booleans; the first row along the last axis is all False."""
    made = np.cos(np.arange(np.prod(shape)) * 1.3).reshape(shape) > -0.5
    made[(0,) * (len(shape) - 1)] = False
    return made


Q, V = (2, 3, 4), (2, 5, 4)
HEADS = {"num_heads": 2, "key_dim": 3}
GROUPS = {"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2}

CASES = {
    "self": ("MultiHeadAttention", HEADS, (Q, Q), {}),
    "cross": ("MultiHeadAttention", HEADS, (Q, V), {}),
    "key": ("MultiHeadAttention", {**HEADS, "value_dim": 5}, (Q, (2, 5, 6), V), {}),
    "scores": ("MultiHeadAttention", HEADS, (Q, V), {"return_attention_scores": True}),
    "causal": ("MultiHeadAttention", HEADS, (V, Q), {"use_causal_mask": True}),
    "causal scores": (
        "MultiHeadAttention", HEADS, (Q, V),
        {"use_causal_mask": True, "return_attention_scores": True},
    ),
    "mask": ("MultiHeadAttention", HEADS, (Q, V), {"attention_mask": mask(2, 3, 5)}),
    "mask of heads": ("MultiHeadAttention", HEADS, (Q, V), {"attention_mask": mask(2, 2, 3, 5)}),
    "mask scores": (
        "MultiHeadAttention", HEADS, (Q, V),
        {"attention_mask": mask(2, 3, 5), "return_attention_scores": True},
    ),
    "mask causal": (
        "MultiHeadAttention", HEADS, (Q, V),
        {"attention_mask": mask(2, 3, 5), "use_causal_mask": True},
    ),
    "value mask": ("MultiHeadAttention", HEADS, (Q, V), {"value_mask": mask(2, 5)}),
    "query mask": (
        "MultiHeadAttention", HEADS, (Q, V), {"query_mask": mask(2, 3), "value_mask": mask(2, 5)},
    ),
    "window": ("MultiHeadAttention", {**HEADS, "sliding_window": 2}, (Q, V), {}),
    "gate": ("MultiHeadAttention", {**HEADS, "use_gate": True, "use_bias": False}, (Q, V), {}),
    "output shape": ("MultiHeadAttention", {**HEADS, "output_shape": (2, 3)}, (Q, V), {}),
    "dropout off": ("MultiHeadAttention", {**HEADS, "dropout": 0.3}, (Q, V), {}),
    "axes": ("MultiHeadAttention", {**HEADS, "attention_axes": (1, 2)},
             ((2, 2, 3, 4), (2, 3, 2, 4)), {}),
    "one axis": ("MultiHeadAttention", {**HEADS, "attention_axes": 2},
                 ((2, 2, 3, 4), (2, 2, 5, 4)), {"return_attention_scores": True}),
    "groups": ("GroupQueryAttention", GROUPS, (Q, V), {"use_causal_mask": True}),
    "groups scores": (
        "GroupQueryAttention", {**GROUPS, "use_gate": True}, (Q, V),
        {"attention_mask": mask(2, 3, 5), "return_attention_scores": True},
    ),
    "dot product": ("Attention", {"use_scale": True}, [Q, V], {"return_attention_scores": True}),
    "dot product masks": (
        "Attention", {}, [Q, V], {"mask": [mask(2, 3), mask(2, 5)], "use_causal_mask": True},
    ),
    "dot product value mask": ("Attention", {}, [Q, V], {"mask": [None, mask(2, 5)]}),
    "concat": ("Attention", {"use_scale": True, "score_mode": "concat"},
               [Q, (2, 5, 3), V], {"use_causal_mask": True}),
    "additive": ("AdditiveAttention", {}, [Q, V], {"mask": [mask(2, 3), mask(2, 5)]}),
    "additive without scale": ("AdditiveAttention", {"use_scale": False}, [Q, V], {}),
    "dot": ("Dot", {"axes": (1, 2)}, [(2, 3, 5), (2, 4, 3)], {}),
    "dot normalized": ("Dot", {"axes": -1, "normalize": True}, [(2, 3, 4), (2, 4)], {}),
    "dot of more axes": ("Dot", {"axes": (2, 1)}, [(2, 3, 4, 2), (2, 4, 3, 2)], {}),
    "dot of vectors": ("Dot", {"axes": 1}, [(2, 3), (2, 3)], {}),
    "einsum": ("EinsumDense", {"equation": "abc,cde->abde", "output_shape": (None, 2, 3),
                               "bias_axes": "e", "activation": "relu"}, Q, {}),
    "einsum dots": ("EinsumDense", {"equation": "...ab,bc->...ac", "output_shape": (None, 3),
                                    "bias_axes": "c"}, (2, 2, 3, 4), {}),
    "einsum dots behind": ("EinsumDense", {"equation": "ab...,bc->ac...", "output_shape": 3,
                                           "bias_axes": "c"}, Q, {}),
    "rows": ("Embedding", {"input_dim": 7, "output_dim": 3}, 7, {}),
    "rows reversed": ("ReversibleEmbedding", {"input_dim": 5, "output_dim": 4,
                                              "logit_soft_cap": 2.0}, Q, {"reverse": True}),
    "rows untied": ("ReversibleEmbedding", {"input_dim": 5, "output_dim": 4, "tie_weights": False},
                    Q, {"reverse": True}),
}  # fmt: skip


def inputs_of(shapes):
    """Return arrays for shapes; for an int, row indices."""
    if isinstance(shapes, int):
        return np.array([[0, 3, 3], [1, shapes - 1, 2]]) % shapes
    if isinstance(shapes, tuple) and isinstance(shapes[0], int):
        return wave(shapes, len(shapes) + shapes[-1]).astype("float32")
    return type(shapes)(inputs_of(s) for s in shapes)


def digest(array):
    """Return a checksum of the array."""
    array = np.asarray(array, "float64")
    return float(np.sum(array * np.cos(np.arange(array.size) * 0.3 + 0.1).reshape(array.shape)))
