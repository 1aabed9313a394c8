"""Bad input: one clear error, of the right type, and nothing changed by it."""

import numpy as np
import pytest

from framework import keras

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = X[:, :1] * 2
LABELS = np.arange(20) % 3


def compiled():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(1, name="only")])
    model.compile("sgd", "mse", metrics=["mae"])
    model(X)
    return model


def two_outputs():
    inputs = keras.Input((4,))
    a = keras.layers.Dense(1, name="a")(inputs)
    b = keras.layers.Dense(2, name="b")(inputs)
    return keras.Model(inputs, {"p": a, "q": b})


def classifier():
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model(X)
    return model


def fit(**options):
    return lambda m: m.fit(**{"x": X, "y": Y, "verbose": 0, **options})


def compiling(*args, **options):
    return lambda m: m.compile(*args, **options)


def compiling_and_fitting(**options):
    def call(model):
        model.compile("sgd", **options)
        model.fit(X, {"p": Y, "q": np.repeat(Y, 2, axis=1)}, verbose=0)

    return call


class Empty(keras.utils.PyDataset):
    def __len__(self):
        return 0


class Endless(keras.utils.PyDataset):
    num_batches = None

    def __getitem__(self, i):
        return X, Y


class NoItems(keras.utils.PyDataset):
    def __len__(self):
        return 2


def four_parts():
    yield X, Y, Y, Y


def stepping(**options):
    return lambda m: m.training_step(**options)


def used_up():
    iterator = iter([(X, Y)])
    list(iterator)
    return iterator


# name -> (what is done with a compiled model of one output, error, message)
ONE_OUTPUT = {
    # arguments of fit
    "lengths": (fit(y=Y[:-1]), ValueError, "20.*19"),
    "no rows": (fit(x=X[:0], y=Y[:0]), ValueError, "no rows"),
    "weights' length": (fit(sample_weight=np.ones(3)), ValueError, "sample_weight has 3"),
    "unknown argument": (fit(epoch=3), TypeError, r"fit\(\) has no argument 'epoch'.*'epochs'"),
    "epochs": (fit(epochs="3"), ValueError, "epochs must be an int >= 0, got '3'"),
    "initial_epoch": (fit(initial_epoch=-1), ValueError, "initial_epoch must be an int >= 0"),
    "verbose": (fit(verbose=7), ValueError, "verbose must be 0.*got 7"),
    "batch_size": (fit(batch_size=0), ValueError, "batch_size must be an int >= 1, got 0"),
    "batch_size float": (fit(batch_size=2.5), ValueError, "batch_size must be an int >= 1"),
    "shuffle": (fit(shuffle="rows"), ValueError, 'shuffle must be True, False or "batch"'),
    "steps": (fit(steps_per_epoch=0), ValueError, "number of steps must be an int >= 1.*got 0"),
    "callback": (fit(callbacks=[3]), ValueError, "expected keras.callbacks.Callback.*got 3"),
    "split": (fit(validation_split=1.5), ValueError, r"must lie in \(0, 1\), got 1.5"),
    "split of all": (fit(validation_split=0.99), ValueError, "leaves no rows to train"),
    "split of a generator": (
        fit(x=iter([(X, Y)]), y=None, validation_split=0.5), ValueError, "x and y are arrays"
    ),
    "validation_freq": (
        fit(validation_freq=0, validation_data=(X, Y)), ValueError, "validation_freq must be"
    ),
    "validation_data": (fit(validation_data=3), ValueError, r"must be \(x, y\).*got 3"),
    "validation_data of four": (
        fit(validation_data=(X, Y, Y, Y)), ValueError, "validation_data must be.*tuple of 4"
    ),
    "validation lengths": (fit(validation_data=(X, Y[:3])), ValueError, "y has 3"),
    "y beside batches": (fit(x=iter([(X, Y)])), ValueError, "y must be None if x is"),
    "a string": (fit(x="data.csv"), TypeError, "the string 'data.csv'"),
    "a number": (fit(x=3.0, y=None), TypeError, "x must be arrays"),
    "objects": (fit(x=np.array([[1], [1, 2]], object)), TypeError, "dtype object"),
    "no targets": (fit(y=None), ValueError, "'mse'|'mean_squared_error'.*needs targets"),
    # weights of classes
    "both weights": (
        fit(class_weight={0: 1.0}, sample_weight=np.ones(20)), ValueError, "at the same time"
    ),
    "class_weight list": (fit(class_weight=3), ValueError, "expected a dict of weights"),
    "class_weight name": (fit(class_weight={"cat": 1.0}), ValueError, "class numbers.*'cat'"),
    "class_weight value": (fit(class_weight={0: "1"}), ValueError, "class 0 must be a number"),
    "class_weight negative": (fit(class_weight={0: -1.0}), ValueError, "class 0 must be a number"),
    # batches
    "used up": (fit(x=used_up(), y=None), ValueError, "no batch"),
    "empty PyDataset": (fit(x=Empty(), y=None), ValueError, "has no batches"),
    "endless PyDataset": (fit(x=Endless(), y=None), ValueError, "infinite.*steps_per_epoch"),
    "PyDataset without items": (fit(x=NoItems(), y=None), NotImplementedError, "__getitem__"),
    "workers": (lambda m: Empty(workers=-1), ValueError, "workers must be an int >= 0, got -1"),
    "four parts": (fit(x=four_parts(), y=None), ValueError, "got 4 parts"),
    # shapes and values
    "features": (lambda m: m.predict(X[:, :3], verbose=0), ValueError, "4.*3"),
    # compile
    "optimizer": (compiling("adma", "mse"), ValueError, "Unknown optimizer: 'adma'"),
    "optimizer object": (compiling(3, "mse"), ValueError, "optimizer"),
    "loss": (compiling("adam", "mze"), ValueError, "loss: Unknown loss: 'mze'"),
    "loss object": (compiling("adam", 3), ValueError, "loss: "),
    "metric": (compiling("adam", "mse", metrics=["acuracy"]), ValueError, "Unknown metric"),
    "metrics string": (
        compiling("adam", "mse", metrics="mae"), ValueError, r"expected a list.*metrics=\['mae'\]"
    ),
    "metric object": (compiling("adam", "mse", metrics=[3]), ValueError, "metrics: "),
    "loss_weights": (compiling("adam", "mse", loss_weights="a"), ValueError, "loss_weights: exp"),
    "compile argument": (
        compiling("adam", "mse", metric=["mae"]), TypeError, r"compile\(\) has no.*'metrics'"
    ),
    "steps_per_execution": (
        compiling("adam", "mse", steps_per_execution=0), ValueError, "steps_per_execution must"
    ),
    "accumulate": (compiling("adam", "mse", accumulate=0), ValueError, "accumulate must be"),
    # the explicit step
    "clipnorm": (stepping(clipnorm=0.0), ValueError, "clipnorm must be a number > 0"),
    "two clips": (stepping(clipnorm=1.0, clipvalue=1.0), ValueError, "only one of clipnorm and"),
    "accumulate float": (stepping(accumulate=2.0), ValueError, "accumulate must be an int"),
    "step's loss": (stepping(loss="mze"), ValueError, "loss: Unknown loss"),
    # evaluate, predict
    "evaluate argument": (lambda m: m.evaluate(X, Y, epochs=1), TypeError, "evaluate.*'epochs'"),
    "evaluate steps": (
        lambda m: m.evaluate(X, Y, steps=-1, verbose=0), ValueError, "number of steps"
    ),
    "predict nothing": (lambda m: m.predict(X[:0], verbose=0), ValueError, "no rows"),
    # callbacks
    "mode": (lambda m: keras.callbacks.EarlyStopping(mode="up"), ValueError, "mode must be"),
    "factor": (lambda m: keras.callbacks.ReduceLROnPlateau(factor=1.0), ValueError, "less than 1"),
    "old argument": (
        lambda m: keras.callbacks.ReduceLROnPlateau(epsilon=1.0), TypeError, "no argument 'epsilon'"
    ),
    "hook": (
        lambda m: keras.callbacks.LambdaCallback(on_epoch_ends=print), TypeError, "'on_epoch_end'"
    ),
    "schedule": (
        lambda m: keras.callbacks.LearningRateScheduler(0.1), ValueError, "must be a function"
    ),
    "schedule's rate": (
        fit(callbacks=[keras.callbacks.LearningRateScheduler(lambda epoch, rate: "low")]),
        ValueError, "must return a number, got 'low'",
    ),
    "averages": (
        fit(callbacks=[keras.callbacks.SwapEMAWeights()], validation_split=0.5),
        ValueError, "use_ema=True",
    ),
}  # fmt: skip

TWO_OUTPUTS = {
    "loss key": ({"loss": {"p": "mse", "r": "mae"}}, "loss: no output has the name 'r'.*'p', 'q'"),
    "losses": ({"loss": ["mse"] * 3}, "loss: .* 2 outputs .* a list of 3"),
    "metric key": (
        {"loss": "mse", "metrics": {"z": ["mae"]}}, "metrics: no output has the name 'z'.*'p', 'q'"
    ),
    "metrics": ({"loss": "mse", "metrics": ["mae", "mse", "mae"]}, "metrics: .* got a list of 3"),
    "weight key": (
        {"loss": "mse", "loss_weights": {"p": 1.0, "x": 2.0}}, "loss_weights: no output.*'x'"
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:EarlyStopping monitors")
@pytest.mark.parametrize(("call", "error", "message"), ONE_OUTPUT.values(), ids=ONE_OUTPUT)
def test_one_output(call, error, message):
    model = compiled()
    before, optimizer, iterations = model.get_weights(), model.optimizer, model.optimizer.iterations
    with pytest.raises(error, match=message):
        call(model)
    assert model.optimizer is optimizer
    assert int(iterations) == 0
    for a, b in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(a, b)
    model.fit(X, Y, verbose=0)  # and all is well again
    assert int(iterations) == 1


@pytest.mark.parametrize(("options", "message"), TWO_OUTPUTS.values(), ids=TWO_OUTPUTS)
def test_two_outputs(options, message):
    model = two_outputs()
    before = model.get_weights()
    with pytest.raises(ValueError, match=message):
        compiling_and_fitting(**options)(model)
    for a, b in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(a, b)


TARGETS = {
    "one target": (Y, "y: expected one target for each of the model's 2 outputs"),
    "key": ({"p": Y, "r": Y}, "y: no output has the name 'r'"),
    "number": ([Y, Y, Y], "y: .* got a list of 3"),
}


@pytest.mark.parametrize(("y", "message"), TARGETS.values(), ids=TARGETS)
def test_targets_of_two_outputs(y, message):
    model = two_outputs()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, verbose=0)


def test_labels_outside_the_classes():
    model = classifier()
    before = model.get_weights()
    with pytest.raises((ValueError, IndexError), match=r"7.*3"):
        model.fit(X, np.full(20, 7), verbose=0)
    np.testing.assert_array_equal(before[0], model.get_weights()[0])


def test_class_weights_for_several_targets():
    model = two_outputs()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"several targets.*expected a dict of weights for each"):
        model.fit(X, {"p": Y, "q": Y}, class_weight={0: 1.0}, verbose=0)


def test_an_overridden_step_cannot_accumulate():
    class Own(keras.Sequential):
        def train_step(self, data):
            return super().train_step(data)

    model = Own([keras.layers.Dense(1)])
    model.compile("sgd", "mse", accumulate=2)
    with pytest.raises(ValueError, match=r"compile\(accumulate=2\) needs.*Own overrides"):
        model.fit(X, Y, verbose=0)


def test_no_loss_at_all():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd")
    with pytest.raises(ValueError, match="has no loss"):
        model.fit(X, Y, verbose=0)


@pytest.mark.parametrize(
    "method", ["fit", "evaluate", "train_on_batch", "test_on_batch", "training_step"]
)
def test_before_compile(method):
    model = keras.Sequential([keras.layers.Dense(1)])
    arguments = () if method == "training_step" else (X, Y)
    with pytest.raises(ValueError, match=rf"{method}.*not compiled yet.*model\.compile"):
        getattr(model, method)(*arguments)
