"""Samples of attention, embedding and Einstein-sum layers."""

import numpy as np

from tests.samples.layers.arguments import real

SAMPLES = {
    "Dot": [
        ({"axes": 1}, [real(2, 3), real(2, 3)]),
        ({"axes": -1}, [real(2, 3, 4), real(2, 4)]),
        ({"axes": (1, 2), "normalize": True}, [real(2, 3, 5), real(2, 4, 3)]),
    ],
    "EinsumDense": [
        ({"equation": "abc,cde->abde", "output_shape": (None, 2, 3), "bias_axes": "de",
          "bias_initializer": "random_normal", "activation": "tanh"}, real(2, 3, 4)),
        ({"equation": "abcd,cde->abe", "output_shape": (None, 2), "bias_axes": "e"},
         real(2, 3, 2, 2)),
        ({"equation": "...x,xy->...y", "output_shape": 3, "bias_axes": "y"}, real(2, 3, 4)),
        ({"equation": "ab...,bc->ac...", "output_shape": 3, "bias_axes": "c"}, real(2, 3, 4)),
        ({"equation": "abc,bd->adc", "output_shape": (2, None), "bias_axes": "d"},
         real(2, 3, 4)),
    ],
    "Embedding": [
        ({"input_dim": 6, "output_dim": 3}, np.array([[0, 4, 4], [2, 1, 4]])),
    ],
    "ReversibleEmbedding": [
        ({"input_dim": 5, "output_dim": 3}, np.array([[1, 4], [0, 1]])),
    ],
    "Attention": [
        ({"use_scale": True}, [real(2, 3, 4), real(2, 5, 4)]),
        ({"score_mode": "concat", "use_scale": True},
         [real(2, 3, 4), real(2, 5, 2), real(2, 5, 4)]),
    ],
    "AdditiveAttention": [({}, [real(2, 3, 4), real(2, 5, 4)])],
    "MultiHeadAttention": [
        ({"num_heads": 2, "key_dim": 3, "bias_initializer": "random_normal"},
         (real(2, 3, 4), real(2, 5, 4))),
        ({"num_heads": 2, "key_dim": 3, "value_dim": 2, "output_shape": 5, "use_gate": True,
          "use_bias": False, "sliding_window": 2},
         (real(2, 3, 4), real(2, 3, 2), real(2, 3, 6))),
        ({"num_heads": 2, "key_dim": 2, "attention_axes": 2, "dropout": 0.1, "seed": 1},
         (real(2, 2, 3, 4), real(2, 2, 3, 4))),
    ],
    "GroupQueryAttention": [
        ({"head_dim": 2, "num_query_heads": 4, "num_key_value_heads": 2, "use_gate": True},
         (real(2, 3, 4), real(2, 5, 4))),
    ],
}  # fmt: skip
BUILT_BY_CALL = set(SAMPLES)
STOPS_MASKS = {"EinsumDense", "Embedding", "ReversibleEmbedding"}
