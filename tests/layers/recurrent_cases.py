"""Calls of recurrent layers whose numbers real Keras 3.15 gave: `keras_recurrent.py`.

The weights are sin(0), sin(1), ... in the order of `set_weights`, divided by 2.
"""

import numpy as np

X = np.cos(np.arange(24, dtype="float32")).reshape(2, 4, 3)
X[0, 2:] = 0
IMAGES = {n: np.cos(np.arange(8 * 2**n * 2, dtype="float32")).reshape(2, 4, *[2] * n, 2)
          for n in (1, 2, 3)}  # fmt: skip
MASK = np.array([[True, True, False, False], [False, True, False, True]])
STATE = np.full((2, 2), 0.3, "float32")
ALL = {"return_sequences": True, "return_state": True}


def fill(layer):
    """Set the weights."""
    sizes = [w.size for w in layer.get_weights()]
    values = np.sin(np.arange(sum(sizes), dtype="float32")) / 2
    parts = np.split(values, np.cumsum(sizes)[:-1])
    layer.set_weights([p.reshape(w.shape) for p, w in zip(parts, layer.get_weights())])
    return layer


def cases(keras):
    """(name, layer, arguments of the call) by the layers of this Keras."""
    layers = keras.layers
    for name in ("SimpleRNN", "GRU", "LSTM"):
        cls = getattr(layers, name)
        states = [STATE] * (2 if name == "LSTM" else 1)
        yield f"{name}", cls(2), {}
        yield f"{name} all", cls(2, **ALL), {"mask": MASK}
        yield f"{name} backwards", cls(2, go_backwards=True, **ALL), {"mask": MASK}
        yield f"{name} zero", cls(2, zero_output_for_mask=True, **ALL), {"mask": MASK}
        yield f"{name} zero, last", cls(2, zero_output_for_mask=True), {"mask": MASK}
        yield f"{name} state", cls(2, **ALL), {"initial_state": states, "mask": MASK}
        yield f"{name} plain", cls(2, activation="relu", use_bias=False), {}
        for mode in ("sum", "mul", "ave", "concat", None):
            two_way = layers.Bidirectional(cls(2, return_sequences=True), merge_mode=mode)
            yield f"{name} both ways, {mode}", two_way, {"mask": MASK}
        both = layers.Bidirectional(cls(2, return_state=True))
        yield f"{name} both ways, states", both, {"initial_state": states * 2}
    yield "GRU reset before", layers.GRU(2, reset_after=False, **ALL), {"mask": MASK}
    yield "GRU hard", layers.GRU(2, recurrent_activation="hard_sigmoid"), {}
    yield "LSTM hard", layers.LSTM(2, recurrent_activation="hard_sigmoid"), {}
    stacked = [layers.LSTMCell(2), layers.GRUCell(3)]
    yield "stacked", layers.RNN(stacked, **ALL), {"mask": MASK}
    yield (
        "stacked backwards",
        layers.RNN([layers.GRUCell(2), layers.SimpleRNNCell(2)], go_backwards=True, **ALL),
        {"mask": MASK},
    )
    yield "steps", layers.TimeDistributed(layers.Dense(2)), {}
    yield "steps of steps", layers.TimeDistributed(layers.Flatten()), {}
    yield "masking", layers.Masking(0.0), {}
    image = {"padding": "same", "return_state": True, "data_format": "channels_first"}
    yield "images in a row", layers.ConvLSTM1D(2, 2), {}
    yield "images of features", layers.ConvLSTM1D(1, 3, strides=2, **image), {}
    yield (
        "images backwards",
        layers.ConvLSTM2D(
            1, (2, 1), go_backwards=True, unit_forget_bias=False, return_sequences=True
        ),
        {},
    )
    yield "bodies in a row", layers.ConvLSTM3D(1, 1, activation="relu"), {}
    masked = [layers.Masking(), layers.LSTM(2, return_sequences=True), layers.GRU(2)]
    yield "masked model", keras.Sequential([keras.Input((4, 3)), *masked]), {}


def inputs(layer):
    """Return the inputs of a case: images for layers of images, else `X`."""
    rank = {"ConvLSTM1D": 1, "ConvLSTM2D": 2, "ConvLSTM3D": 3}.get(type(layer).__name__)
    return IMAGES.get(rank, X)


def flat(y):
    """Return the outputs of a call as a list of arrays."""
    if isinstance(y, (list, tuple)):
        return [a for v in y for a in flat(v)]
    return [np.asarray(y)]
