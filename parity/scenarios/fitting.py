"""The arguments of fit: weights, validation, batches, epochs, and kinds of data."""

import numpy as np

from parity.scenarios.problems import (
    Fit,
    Outcome,
    binary,
    classes,
    compiled,
    head,
    mlp,
    one_hot,
    regression,
    row_weights,
    sgd,
    train,
)

SPARSE = "sparse_categorical_crossentropy"
HEAVY = {0: 0.5, 1: 2.0, 2: 1.3}


def scenarios():
    yield from _weights()
    yield from _validation()
    yield from _batches()
    yield from _kinds_of_data()
    for run in (goes_on, in_single_batches, evaluated_and_predicted, weights_handed_on):
        yield run.__name__.replace("_", " "), run


def _weights():
    softmax = head(3, "softmax")
    weighted = compiled(metrics=["mae"], weighted_metrics=["mae"])
    yield "sample weights", Fit(weighted, fit={"sample_weight": row_weights()})
    yield (
        "sample weights, uneven tail",
        Fit(weighted, lambda: regression(29), fit={"sample_weight": row_weights(29)}),
    )
    yield (
        "sample weights, several columns",
        Fit(
            data=lambda: regression(outputs=2), model=head(2), fit={"sample_weight": row_weights()}
        ),
    )
    yield "class weights", Fit(compiled(loss=SPARSE), classes, softmax, {"class_weight": HEAVY})
    yield "class weights, metrics", Fit(
        compiled(loss=SPARSE, metrics=["accuracy"], weighted_metrics=["accuracy"]),
        classes, softmax, {"class_weight": HEAVY},
    )  # fmt: skip
    yield (
        "class weights, one-hot",
        Fit(compiled(loss="categorical_crossentropy"), one_hot, softmax, {"class_weight": HEAVY}),
    )
    yield "class weights, binary", Fit(
        compiled(loss="binary_crossentropy"), binary, head(1, "sigmoid"),
        {"class_weight": {0: 1.0, 1: 3.0}},
    )  # fmt: skip
    yield (
        "class weights, validated",
        Fit(
            compiled(loss=SPARSE),
            classes,
            softmax,
            {"class_weight": HEAVY, "validation_split": 0.25},
        ),
    )


def _validation():
    metrics = compiled(metrics=["mae"], weighted_metrics=["mse"])
    held = regression(11)
    rows = {
        "split": {"validation_split": 0.3},
        "split, weighted": {"validation_split": 0.3, "sample_weight": row_weights()},
        "data": {"validation_data": held},
        "data, weighted": {"validation_data": (*held, row_weights(11))},
        "data, batches": {"validation_data": held, "validation_batch_size": 4},
        "data, some steps": {
            "validation_data": held, "validation_batch_size": 4, "validation_steps": 2,
        },
        "every second epoch": {"validation_data": held, "validation_freq": 2},
        "in listed epochs": {"validation_data": held, "validation_freq": [1, 4]},
    }  # fmt: skip
    for title, options in rows.items():
        yield f"validation, {title}", Fit(metrics, fit=options)
    yield (
        "validation, generator",
        Fit(fit=lambda keras: {"validation_data": _once(keras), "validation_steps": 3}),
    )


def _batches():
    for rows, size in ((32, 32), (32, 1), (29, 8), (7, 32), (33, 16)):
        yield (
            f"{rows} rows by {size}",
            Fit(data=lambda rows=rows: regression(rows), batch_size=size),
        )
    yield "steps_per_epoch", Fit(fit={"steps_per_epoch": 4})
    yield "initial_epoch", Fit(fit={"initial_epoch": 2})
    yield (
        "initial_epoch, validated",
        Fit(fit={"initial_epoch": 1, "validation_split": 0.25, "validation_freq": 2}),
    )
    yield "steps_per_execution", Fit(compiled(steps_per_execution=2, metrics=["mae"]))
    yield "run_eagerly", Fit(compiled(run_eagerly=True))


def _kinds_of_data():
    kinds = {
        "generator": lambda keras: {"x": _endless(), "steps_per_epoch": 4},
        "generator with weights": lambda keras: {"x": _endless(True), "steps_per_epoch": 4},
        "generator over the ends of epochs": lambda keras: {"x": _endless(), "steps_per_epoch": 3},
        "PyDataset": lambda keras: {"x": _once(keras)},
        "PyDataset with weights": lambda keras: {"x": _once(keras, True)},
        "float64 arrays": lambda keras: dict(zip("xy", map(np.float64, regression()))),
        "flat targets": lambda keras: dict(zip("xy", (regression()[0], regression()[1][:, 0]))),
        "integers": lambda keras: {
            "x": np.round(3 * regression()[0]).astype("int32"), "y": regression()[1],
        },
    }  # fmt: skip
    for title, made in kinds.items():
        yield title, Fit(data=tuple, fit=made)


def _parts(weighted=False):
    """Four batches of 9, 9, 9 and 5 rows."""
    x, y = regression()
    arrays = (x, y, row_weights()) if weighted else (x, y)
    return [tuple(a[i : i + 9] for a in arrays) for i in range(0, 32, 9)]


def _endless(weighted=False):
    while True:
        yield from _parts(weighted)


def _once(keras, weighted=False):
    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return _parts(weighted)[index]

    return Batches()


def goes_on(keras):
    """A second fit goes on with the optimizer's state."""
    model = mlp(keras)
    model.compile(keras.optimizers.Adam(0.02), "mse")
    first = train(model, *regression(), epochs=2)
    second = train(model, *regression(), epochs=5, initial_epoch=2)
    losses = first.history["loss"] + second.history["loss"]
    return Outcome({"loss": losses}, first.before, second.after)


def in_single_batches(keras):
    model = mlp(keras)
    model.compile(sgd(keras), "mse", metrics=["mae"], weighted_metrics=["mse"])
    before, losses, maes = model.get_weights(), [], []
    for _ in range(3):
        for x, y, weights in _parts(weighted=True):
            logs = model.train_on_batch(x, y, sample_weight=weights, return_dict=True)
            losses.append(logs["loss"])
            maes.append(logs["mae"])
        model.reset_metrics()
    x, y = regression()
    extra = {
        "test": np.asarray(model.test_on_batch(x, y)),
        "prediction": np.asarray(model.predict_on_batch(x)),
    }
    losses.append(model.evaluate(x, y, verbose=0)[0])
    return Outcome({"loss": losses, "mae": maes}, before, model.get_weights(), extra)


def evaluated_and_predicted(keras):
    def finish(model):
        x, y = regression(21)
        found = model.evaluate(
            x, y, batch_size=4, sample_weight=row_weights(21), verbose=0, return_dict=True
        )
        plain = model.evaluate(x, y, batch_size=8, steps=2, verbose=0)
        predicted = model.predict(x, batch_size=4, verbose=0)
        return {**found, "plain": plain, "predicted": predicted, "called": np.asarray(model(x))}

    return Fit(compiled(metrics=["mae"], weighted_metrics=["mse"]), finish=finish)(keras)


def weights_handed_on(keras):
    """A clone takes over the weights and trains on, with a fresh optimizer."""
    model = mlp(keras)
    model.compile(keras.optimizers.Adam(0.02), "mse")
    first = train(model, *regression(), epochs=3)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    clone.compile(keras.optimizers.RMSprop(0.01), "mse")
    second = train(clone, *regression(), epochs=3)
    losses = first.history["loss"] + second.history["loss"]
    return Outcome({"loss": losses}, first.before, second.after)
