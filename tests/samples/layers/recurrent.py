"""Samples of recurrent layers and of wrappers of layers; `test_recurrent.py` tests the cells."""

from tests.samples.layers.arguments import real


def layer(name, **config):
    """Return the config of a layer, so that each use creates a new layer."""
    return {"class_name": name, "config": config}


_X = real(2, 3, 2)
_RANDOM = {"units": 2, "bias_initializer": "random_normal"}

SAMPLES = {
    "SimpleRNN": [
        (_RANDOM, _X),
        ({**_RANDOM, "return_sequences": True, "activation": "softplus"}, _X),
        ({**_RANDOM, "use_bias": False, "go_backwards": True, "return_sequences": True}, _X),
    ],
    "GRU": [
        (_RANDOM, _X),
        ({**_RANDOM, "return_sequences": True, "reset_after": False}, _X),
        ({**_RANDOM, "use_bias": False, "go_backwards": True, "return_sequences": True}, _X),
    ],
    "LSTM": [
        (_RANDOM, _X),
        ({**_RANDOM, "return_sequences": True, "recurrent_activation": "hard_silu"}, _X),
        ({**_RANDOM, "use_bias": False, "go_backwards": True, "return_sequences": True}, _X),
    ],
    "RNN": [
        ({"cell": layer("GRUCell", units=2, activation="softsign")}, _X),
        ({"cell": [layer("LSTMCell", units=2), layer("SimpleRNNCell", units=3)],
          "return_sequences": True}, _X),
    ],
    "ConvLSTM1D": [
        ({"filters": 2, "kernel_size": 2, "bias_initializer": "random_normal"},
         real(1, 2, 4, 2)),
        ({"filters": 1, "kernel_size": 3, "strides": 2, "padding": "same",
          "return_sequences": True, "data_format": "channels_first", "go_backwards": True},
         real(1, 2, 2, 4)),
    ],
    "ConvLSTM2D": [
        ({"filters": 1, "kernel_size": (2, 1), "use_bias": False, "dilation_rate": 2,
          "activation": "softsign"}, real(1, 2, 4, 3, 1)),
    ],
    "ConvLSTM3D": [({"filters": 1, "kernel_size": (1, 2, 1)}, real(1, 2, 1, 2, 2, 1))],
    "Masking": [({"mask_value": 0.3}, _X)],
    "TimeDistributed": [
        ({"layer": layer("Dense", units=2)}, _X),
        ({"layer": layer("LSTM", units=2)}, real(2, 2, 2, 2)),
    ],
    "Bidirectional": [
        ({"layer": layer("LSTM", units=2)}, _X),
        ({"layer": layer("GRU", units=2, return_sequences=True), "merge_mode": "mul"}, _X),
    ],
}  # fmt: skip
BUILT_BY_CALL = set(SAMPLES) - {"Masking"}
