"""Samples of the recurrent layers and of the wrappers around layers.

Cells take a list of states too and give two things: `test_recurrent.py` has them.
"""

CELLS = {"SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"}
RECURRENT = {
    "SimpleRNN", "GRU", "LSTM", "RNN", "Bidirectional", "TimeDistributed", "ConvLSTM1D",
    "ConvLSTM2D", "ConvLSTM3D",
}  # fmt: skip


def layer(name, **config):
    """Return the config of a layer, so that each use creates a new layer."""
    return {"class_name": name, "config": config}


def with_dtype(arguments, dtype):
    """Return the arguments, with `dtype` in the configs of layers unless it is None."""
    if isinstance(arguments, list):
        return [with_dtype(value, dtype) for value in arguments]
    if dtype is None or not isinstance(arguments, dict):
        return arguments
    if "class_name" in arguments:
        return {**arguments, "config": {**arguments["config"], "dtype": dtype}}
    return {name: with_dtype(value, dtype) for name, value in arguments.items()}


def _recurrent(real):
    x = real(2, 3, 2)
    random = {"units": 2, "bias_initializer": "random_normal"}
    return {
        "SimpleRNN": [
            (random, x),
            ({**random, "return_sequences": True, "activation": "softplus"}, x),
            ({**random, "use_bias": False, "go_backwards": True, "return_sequences": True}, x),
        ],
        "GRU": [
            (random, x),
            ({**random, "return_sequences": True, "reset_after": False}, x),
            ({**random, "use_bias": False, "go_backwards": True, "return_sequences": True}, x),
        ],
        "LSTM": [
            (random, x),
            ({**random, "return_sequences": True, "recurrent_activation": "hard_silu"}, x),
            ({**random, "use_bias": False, "go_backwards": True, "return_sequences": True}, x),
        ],
        "RNN": [
            ({"cell": layer("GRUCell", units=2, activation="softsign")}, x),
            ({"cell": [layer("LSTMCell", units=2), layer("SimpleRNNCell", units=3)],
              "return_sequences": True}, x),
        ],
    }  # fmt: skip


def _wrapping(real):
    x = real(2, 3, 2)
    return {
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
        "Masking": [({"mask_value": 0.3}, x)],
        "TimeDistributed": [
            ({"layer": layer("Dense", units=2)}, x),
            ({"layer": layer("LSTM", units=2)}, real(2, 2, 2, 2)),
        ],
        "Bidirectional": [
            ({"layer": layer("LSTM", units=2)}, x),
            ({"layer": layer("GRU", units=2, return_sequences=True), "merge_mode": "mul"}, x),
        ],
    }  # fmt: skip


def samples(real):
    """Names of layers and their samples; `real(*shape)` gives distinct numbers."""
    return _recurrent(real) | _wrapping(real)
