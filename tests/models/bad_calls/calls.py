"""Wrong calls of layers and models, and what the message must name.

The names `keras`, `layers`, `ops`, `np`, `Input` and the functions below are defined. Lines of a
call are separated by semicolons; `reference.py` records the exception that Keras raises.
"""

X = "np.ones((2, 4), 'float32')"
IMAGE = "np.ones((2, 8, 8, 3), 'float32')"
COMPILED = (
    "m = keras.Sequential([Input((4,)), layers.Dense(2)]); "
    "m.compile('sgd', 'mse', metrics=['mae']); "
)

# What is wrong -> {call: regular expression that our message matches}
CALLS = {
    "unknown argument": {
        "layers.Dense(3, unit=4)": "unit",
        "layers.Dense(units=3, activations='relu')": "activations",
        "layers.Conv2D(3, 3, stride=2)": "stride",
        "layers.LSTM(3, return_sequence=True)": "return_sequence",
        "layers.BatchNormalization(eps=1e-3)": "eps",
        "keras.Model(foo=1)": "foo",
        "keras.Sequential([], foo=1)": "foo",
        "keras.optimizers.Adam(lr=0.1)": "lr",
        "keras.losses.MeanSquaredError(axis=1)": "axis",
        "keras.metrics.Mean(foo=1)": "foo",
        "keras.callbacks.EarlyStopping(wait=3)": "wait",
        f"{COMPILED}m.fit({X}, {X}[:, :2], batchsize=2)": "batchsize",
        f"{COMPILED}m.compile('sgd', 'mse', metric=['mae'])": "metric",
        f"layers.Dense(3)({X}, foo=1)": "foo",
    },
    "wrong value": {
        "layers.Dense(-1)": "units.*-1",
        "layers.Dense('3')": "units.*'3'",
        "layers.Dense(2.5)": "units.*2.5",
        "layers.Dense(3, activation='rellu')": "rellu",
        "layers.Dense(3, kernel_initializer='glorot')": "glorot",
        "layers.Dense(3, kernel_regularizer='l3')": "l3",
        "layers.Conv2D(0, 3)": "filters.*0",
        "layers.Conv2D(3, (3, 3, 3))": "kernel_size",
        "layers.Conv2D(3, 3, padding='some')": "padding.*some",
        "layers.Conv2D(3, 3, strides=2, dilation_rate=2)": "strides.*dilation_rate",
        "layers.Conv2D(3, 3, groups=2)": "groups",
        "layers.Dropout(1.5)": "rate.*1.5",
        "layers.Dropout(-0.5)": "rate.*-0.5",
        "layers.MaxPooling2D(0)": "pool_size",
        "layers.LSTM(-3)": "units",
        "layers.RNN(3)": "cell",
        "layers.Bidirectional(3)": "layer",
        "layers.TimeDistributed(3)": "layer",
        "layers.MultiHeadAttention(0, 3)": "num_heads",
        "layers.LayerNormalization(axis='last')": "axis",
        "layers.Input((4,), dtype='float99')": "float99",
        "layers.Dense(3, dtype='float99')": "float99",
        "layers.Dense(3, name=5)": "name",
        "layers.Dense(3, name='a/b')": "name.*a/b",
        "layers.Rescaling()": "scale",
        "layers.Reshape()": "target_shape",
    },
    "wrong rank": {
        f"layers.Conv2D(3, 3)({X})": "conv2d.*ndim=4.*ndim=2",
        "layers.Conv1D(3, 3)(Input((4,)))": "conv1d.*ndim=3.*ndim=2",
        f"layers.LSTM(3)({X})": "lstm.*ndim=3.*ndim=2",
        f"layers.MaxPooling2D()({X})": "max_pooling2d.*ndim=4.*ndim=2",
        f"layers.GlobalAveragePooling1D()({X})": "ndim=3.*ndim=2",
        "layers.Dense(3)(np.float32(1.0))": "dense.*ndim",
        f"layers.ZeroPadding2D()({X})": "ndim=4.*ndim=2",
        f"layers.Reshape((3,))({X})": "reshape|target_shape",
        f"layers.Permute((2, 1))({X})": "permute|dims",
        f"layers.RepeatVector(2)({IMAGE})": "ndim=2.*ndim=4",
        f"d = layers.Dense(3); d({X}); d({X}[:, :3])": "axis -1.*value 4.*shape",
        f"d = layers.Conv2D(3, 3); d({IMAGE}); d({IMAGE}[..., :1])": "axis -1.*value 3",
        "layers.Dense(3)(Input((None,)))": "kernel.*last axis",
        "layers.Conv2D(3, 9)(Input((4, 4, 3)))": "conv2d|kernel",
    },
    "wrong dtype": {
        "layers.Dense(3)('text')": "str|text",
        "layers.Dense(3)(None)": "None",
        "layers.Dense(3)(object())": "object",
        f"{COMPILED}m.predict(np.array([['a'] * 4]))": "dtype|string|str",
        f"{COMPILED}m.fit({X}, 'target', verbose=0)": "y|str",
    },
    "incompatible merge": {
        f"layers.Add()({X})": "list",
        f"layers.Add()([{X}, {X}[:, :3]])": "shape",
        f"layers.Concatenate()([{X}, np.ones((3, 4), 'float32')])": "shape",
        f"layers.Concatenate(axis=3)([{X}, {X}])": "axis",
        f"layers.Concatenate()({X})": "list",
        f"layers.Dot(axes=1)([{X}, {X}[:, :3]])": "axes|shape",
        f"layers.Dot(axes=1)([{X}])": "two|2",
        f"layers.Subtract()([{X}, {X}, {X}])": "two|2",
    },
    "unbuilt access": {
        "layers.Dense(3).kernel": "kernel|build",
        "layers.Dense(3).input": "input|called",
        "layers.Dense(3).output": "output|called",
        "keras.Sequential([layers.Dense(3)]).inputs": "inputs",
        "keras.Sequential([layers.Dense(3)]).output_shape": "output|built",
        "keras.Sequential([layers.Dense(3)]).count_params()": "build|weights|built",
        "layers.Dense(3).count_params()": "count_params|built",
        "layers.Dense(3).set_weights([np.ones((4, 3))])": "weights",
        f"{COMPILED}m.set_weights([np.ones((4, 2))])": "weights",
        f"{COMPILED}m.set_weights([np.ones((4, 3)), np.ones(2)])": "shape",
        "keras.Sequential([Input((4,)), layers.Dense(2)])"
        f".fit({X}, {X}[:, :2], verbose=0)": "compile",
        f"keras.Sequential([Input((4,)), layers.Dense(2)]).evaluate({X}, {X})": "compile",
    },
    "duplicate or unknown names": {
        "keras.Sequential([layers.Dense(3, name='a'), layers.Dense(3, name='a')])": "'?a'?",
        "x = Input((4,)); y = layers.Dense(3, name='a')(x); "
        "keras.Model(x, layers.Dense(3, name='a')(y))": '"a"',
        f"{COMPILED}m.get_layer('nowhere')": "nowhere",
        f"{COMPILED}m.get_layer(index=7)": "7",
        f"{COMPILED}m.get_layer()": "name.*index|index.*name",
        f"{COMPILED}m.compile('sgdd', 'mse')": "sgdd",
        f"{COMPILED}m.compile('sgd', 'msee'); m.fit({X}, {X}[:, :2], verbose=0)": "msee",
        f"{COMPILED}m.compile('sgd', 'mse', metrics=['maee']); "
        f"m.fit({X}, {X}[:, :2], verbose=0)": "maee",
        "keras.layers.deserialize({'class_name': 'Densee', 'config': {}})": "Densee",
    },
    "disconnected graph": {
        "x, y = Input((4,)), Input((4,)); keras.Model(x, layers.Add()([x, y]))": "[Dd]isconnected",
        f"keras.Model(inputs=Input((4,)), outputs={X})": "outputs",
        f"keras.Model(inputs={X}, outputs=layers.Dense(2)(Input((4,))))": "inputs",
        "keras.Model(inputs=None, outputs=layers.Dense(2)(Input((4,))))": "inputs|None",
        "keras.Sequential([3])": "Layer.*3",
        "m = keras.Sequential([Input((4,)), layers.Dense(2)]); m.add('relu')": "Layer.*relu",
        "m = keras.Sequential(); m.pop()": "no layers|empty",
        "m = keras.Model(Input((4,)), layers.Dense(2)(Input((4,))));": "[Dd]isconnected",
        "float(layers.Dense(2)(Input((4,))))": "KerasTensor|symbolic|value",
        "bool(layers.Dense(2)(Input((4,))) > 0)": "KerasTensor|symbolic|value",
        "np.asarray(Input((4,)))": "KerasTensor|symbolic|value",
    },
    "wrong data": {
        f"{COMPILED}m.fit({X}, np.ones((3, 2)), verbose=0)": "2.*3|cardinality",
        f"{COMPILED}m.fit({X}, np.ones((2, 5)), verbose=0)": "shape",
        f"{COMPILED}m.predict(np.ones((2, 5)), verbose=0)": "shape|axis",
        f"{COMPILED}m.fit({X}, np.ones((2, 2)), sample_weight=np.ones(3), verbose=0)": "2.*3",
        f"{COMPILED}m.fit({X}, np.ones((2, 2)), validation_split=2, verbose=0)": "validation_split",
        f"{COMPILED}m.fit({X}, np.ones((2, 2)), validation_data=3, verbose=0)": "validation_data|3",
        f"{COMPILED}m.fit(verbose=0)": "x|data",
    },
    "mask misuse": {
        "layers.Embedding(0, 3)": "input_dim",
        f"layers.Flatten()(layers.Masking()({IMAGE}), mask=3)": "mask",
        "layers.LSTM(3)(np.ones((2, 5, 4), 'float32'), mask=np.ones((2, 4), bool))": "mask|shape",
        f"layers.LSTM(3)(np.ones((2, 5, 4), 'float32'), initial_state=[{X}])": "state",
        "layers.LSTM(3, stateful=True)(Input((5, 4)))": "batch",
        "layers.MultiHeadAttention(2, 3)(np.ones((2, 5, 4), 'float32'))": "value",
        "layers.Attention()([np.ones((2, 5, 4), 'float32')])": "list|inputs|value",
    },
}  # fmt: skip

ROWS = [(sort, call, message) for sort, calls in CALLS.items() for call, message in calls.items()]


def run(call, keras):
    """Run the call; returns its last value."""
    import numpy as np

    names = {"keras": keras, "layers": keras.layers, "ops": keras.ops, "np": np}
    names["Input"] = keras.Input
    *first, last = [line.strip() for line in call.split(";") if line.strip()]
    for line in first:
        exec(line, names)
    try:
        code = compile(last, "call", "eval")
    except SyntaxError:
        code = compile(last, "call", "exec")
    return eval(code, names)
