"""Several inputs and outputs: losses, weights and metrics as lists, dicts and single values."""

import numpy as np

from parity.scenarios.problems import (
    Fit,
    classes,
    compiled,
    inputs,
    regression,
    row_weights,
    seeded,
)


def scenarios():
    listed, named = _outputs(list), _outputs(dict)
    pair = ["mse", "sparse_categorical_crossentropy"]
    by_name = dict(zip(("size", "kind"), pair))
    weights = {"size": 2.0, "kind": 0.5}
    accuracy = "sparse_categorical_accuracy"
    rows = {
        "list": (listed, {"loss": pair}, _targets(list)),
        "list, weights": (listed, {"loss": pair, "loss_weights": [2.0, 0.5]}, _targets(list)),
        "list, by layers' names": (
            listed, {"loss": by_name, "loss_weights": weights}, _targets(dict),
        ),
        "list, metrics": (
            listed, {"loss": pair, "metrics": [["mae"], [accuracy]]}, _targets(list),
        ),
        "list, weighted metrics": (
            listed, {"loss": pair, "weighted_metrics": [["mae"], [accuracy]]}, _targets(list),
        ),
        "list, one loss for all": (_alike, {"loss": "mae"}, _alike_targets),
        "list, an output without loss": (_alike, {"loss": ["mse", None]}, _alike_targets),
        "dict": (named, {"loss": by_name}, _targets(dict)),
        "dict, weights": (named, {"loss": by_name, "loss_weights": weights}, _targets(dict)),
        "dict, metrics": (
            named,
            {"loss": by_name, "metrics": {"size": ["mae", "mse"], "kind": accuracy}},
            _targets(dict),
        ),
        "dict, weighted metrics": (
            named, {"loss": by_name, "weighted_metrics": {"kind": [accuracy]}}, _targets(dict),
        ),
        "inputs as dict": (_two_inputs, {}, _two_inputs_data(dict)),
        "inputs as list": (_two_inputs, {}, _two_inputs_data(list)),
    }  # fmt: skip
    for title, (model, options, data) in rows.items():
        yield title, Fit(compiled(**options), data, model)
    split = {"validation_split": 0.25}
    yield (
        "list, validated",
        Fit(compiled(loss=pair, metrics=[["mae"], []]), _targets(list), listed, split),
    )
    yield "dict, validated", Fit(compiled(loss=by_name), _targets(dict), named, split)
    for kind, model, loss in ((list, listed, pair), (dict, named, by_name)):
        yield (
            f"{kind.__name__}, sample weights for each",
            Fit(compiled(loss=loss), _targets(kind), model, {"sample_weight": _weights(kind)}),
        )
    yield "dict, predicted", Fit(compiled(loss=by_name), _targets(dict), named, finish=_predicted)


def _outputs(kind):
    def model(keras):
        x = keras.Input((4,), name="features")
        hidden = keras.layers.Dense(6, activation="tanh", name="hidden")(x)
        size = keras.layers.Dense(1, name="size")(hidden)
        sort = keras.layers.Dense(3, activation="softmax", name="kind")(hidden)
        outputs = {"size": size, "kind": sort} if kind is dict else [size, sort]
        return seeded(keras.Model(x, outputs))

    return model


def _targets(kind):
    def data():
        x, size = regression()
        sort = classes()[1]
        return x, ({"size": size, "kind": sort} if kind is dict else [size, sort])

    return data


def _weights(kind):
    first, second = row_weights(), row_weights()[::-1].copy()
    return {"size": first, "kind": second} if kind is dict else [first, second]


def _alike(keras):
    x = keras.Input((4,), name="features")
    hidden = keras.layers.Dense(6, activation="tanh", name="hidden")(x)
    heads = [keras.layers.Dense(n, name=f"head_{n}")(hidden) for n in (1, 2)]
    return seeded(keras.Model(x, heads))


def _alike_targets():
    x, y = regression()
    return x, [y, regression(outputs=2)[1]]


def _two_inputs(keras):
    a, b = keras.Input((4,), name="a"), keras.Input((2,), name="b")
    both = keras.layers.Concatenate()([a, keras.layers.Dense(3, activation="tanh")(b)])
    return seeded(keras.Model([a, b], keras.layers.Dense(1)(both)))


def _two_inputs_data(kind):
    def data():
        a, b = inputs(), inputs(features=2)
        y = a[:, :1] * 0.5 + np.tanh(b[:, 1:])
        return ({"a": a, "b": b} if kind is dict else [a, b]), y

    return data


def _predicted(model):
    return model.predict(inputs(11), batch_size=4, verbose=0)
