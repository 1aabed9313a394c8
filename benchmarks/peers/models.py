"""The classifiers as Keras models: for us and, unchanged, for Keras on any backend."""

from types import ModuleType

from networks import NETWORKS, SIZE
from workloads import ADAM, Problem


def build(keras: ModuleType, name: str, problem: Problem):
    """The model of a workload with the problem's weights."""
    if name in NETWORKS:
        return application(keras, name, problem)
    model = MODELS.get(name, mlp)(keras, problem)
    model.set_weights(list(problem.weights.values()))
    return model


def loss(keras: ModuleType):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def adam(keras: ModuleType):
    return keras.optimizers.Adam(ADAM["rate"], epsilon=ADAM["epsilon"])


def compiled(keras: ModuleType, name: str, problem: Problem):
    """The model, ready for fit."""
    model = build(keras, name, problem)
    model.compile(optimizer=adam(keras), loss=loss(keras))
    return model


def application(keras, name, problem):
    """A network of keras.applications, without dropout: random numbers differ between libraries."""
    model = getattr(keras.applications, NETWORKS[name].keras)(
        weights=None, input_shape=(SIZE, SIZE, 3), classifier_activation=None
    )
    for layer in model.layers:
        if isinstance(layer, keras.layers.Dropout):
            layer.rate = 0.0
    ours = {}
    for key, value in problem.weights.items():
        ours.setdefault(key.split("/")[0], []).append(value)
    for weight in model.weights:  # within a layer they have the same order
        values = ours.get(weight.path.split("/")[-2])
        if values:  # none for the Normalization layer of EfficientNet
            weight.assign(values.pop(0))
    assert not any(ours.values())
    return model


def mlp(keras, problem):
    layers = keras.layers
    sizes = [value.shape for name, value in problem.weights.items() if name.endswith("kernel")]
    hidden = [layers.Dense(columns, activation="relu") for _, columns in sizes[:-1]]
    return keras.Sequential([layers.Input((sizes[0][0],)), *hidden, layers.Dense(sizes[-1][1])])


def pinn(keras, problem):
    layers = keras.layers
    hidden = [layers.Dense(64, activation="tanh") for _ in range(3)]
    return keras.Sequential([layers.Input((1,)), *hidden, layers.Dense(1)])


def cnn(keras, problem):
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10),
        ]
    )


def cnn_deep(keras, problem):
    layers = keras.layers
    model = keras.Sequential([layers.Input((32, 32, 3))])
    for filters in (64, 128, 256):
        if filters > 64:
            model.add(layers.MaxPooling2D(2))
        for _ in range(2):
            model.add(layers.Conv2D(filters, 3, padding="same", use_bias=False))
            model.add(layers.BatchNormalization())
            model.add(layers.ReLU())
    model.add(layers.GlobalAveragePooling2D())
    model.add(layers.Dense(10))
    return model


def lstm(keras, problem):
    layers = keras.layers
    return keras.Sequential([layers.Input((64, 32)), layers.LSTM(128), layers.Dense(10)])


def transformer(keras, problem):
    layers = keras.layers
    x = inputs = layers.Input((64, 128))
    for _ in range(2):
        h = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, 32)(h, h)])
        h = layers.LayerNormalization()(x)
        h = layers.Dense(128)(layers.Dense(512, activation="gelu")(h))
        x = layers.Add()([x, h])
    outputs = layers.Dense(10)(layers.GlobalAveragePooling1D()(x))
    return keras.Model(inputs, outputs)


MODELS = {
    "pinn": pinn,
    "cnn": cnn,
    "cnn_deep": cnn_deep,
    "lstm": lstm,
    "transformer": transformer,
}
