"""ModelCheckpoint: which files are written when, what they hold, and what it refuses."""

import threading

import numpy as np
import pytest

from framework import keras
from framework.saving import later

X = np.random.default_rng(0).normal(size=(20, 4)).astype("float32")
Y = X[:, :1] * 2


class Losses(keras.callbacks.Callback):
    """Replaces the logs' validation losses by given ones."""

    def __init__(self, values):
        self.values = values

    def on_epoch_end(self, epoch, logs=None):
        logs["val_loss"] = self.values[epoch]


def model(rate=0.05):
    keras.utils.set_random_seed(0)
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    made.compile(keras.optimizers.Adam(rate), "mse")
    return made


def fit(trained, *callbacks, **options):
    options = {"batch_size": 5, "verbose": 0, "epochs": 3, **options}
    return trained.fit(X, Y, callbacks=list(callbacks), **options)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_an_epoch(tmp_path):
    save = keras.callbacks.ModelCheckpoint(tmp_path / "sub" / "{epoch:02d}-{loss:.3f}.keras")
    trained = model()
    losses = fit(trained, save).history["loss"]
    assert names(tmp_path) == [f"sub/{i + 1:02d}-{v:.3f}.keras" for i, v in enumerate(losses)]
    loaded = keras.models.load_model(tmp_path / names(tmp_path)[-1])
    np.testing.assert_array_equal(loaded.predict(X, verbose=0), trained.predict(X, verbose=0))
    assert fit(loaded, epochs=1, shuffle=False).history == (
        fit(trained, epochs=1, shuffle=False).history
    )  # the optimizer's state too


@pytest.mark.parametrize("ending", [".weights.h5", ".npz", ".safetensors"])
def test_weights_of_the_last_epoch(tmp_path, ending):
    path, trained, other = tmp_path / f"w{ending}", model(), model(0.2)
    fit(trained, keras.callbacks.ModelCheckpoint(path, save_weights_only=True))
    assert names(tmp_path) == [path.name]
    fit(other)  # makes the optimizer's variables, which ".weights.h5" has too
    other.load_weights(path)
    for a, b in zip(trained.get_weights(), other.get_weights()):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 3]),
        ({"mode": "max"}, [1, 2]),
        ({"initial_value_threshold": 0.6}, [3]),
        ({"initial_value_threshold": 0.1}, []),
    ],
)
def test_the_best_only(tmp_path, options, expected, capsys):
    save = keras.callbacks.ModelCheckpoint(
        tmp_path / "{epoch}.keras", save_best_only=True, verbose=1, **options
    )
    fit(model(), Losses([0.7, 0.8, 0.5, 0.5]), save, epochs=4)
    assert names(tmp_path) == [f"{epoch}.keras" for epoch in expected]
    printed = capsys.readouterr().out
    assert printed.count("improved") == len(expected)
    assert printed.count("did not improve") == 4 - len(expected)


def test_after_batches(tmp_path):
    save = keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}-{batch}.keras", save_freq=3)
    fit(model(), save)  # of four batches an epoch
    assert names(tmp_path) == ["1-3.keras", "2-2.keras", "3-1.keras", "3-4.keras"]


def test_a_failed_write_leaves_the_file_before(tmp_path, monkeypatch):
    path, trained = tmp_path / "m.keras", model()
    fit(trained, keras.callbacks.ModelCheckpoint(path), epochs=1)
    before = path.read_bytes()

    def fails(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="the disk is full"):
        fit(trained, keras.callbacks.ModelCheckpoint(path), epochs=1)
    assert names(tmp_path) == ["m.keras"]
    assert path.read_bytes() == before


def test_what_it_refuses(tmp_path):
    checkpoint = keras.callbacks.ModelCheckpoint
    with pytest.raises(ValueError, match=r"'m.h5' must end with .keras"):
        checkpoint("m.h5")
    with pytest.raises(ValueError, match=r"must end with .weights.h5 or"):
        checkpoint("m.keras", save_weights_only=True)
    with pytest.raises(ValueError, match='save_freq must be "epoch"'):
        checkpoint("m.keras", save_freq=0)
    with pytest.raises(ValueError, match=r"names 'val_acc', which has no value"):
        fit(model(), checkpoint(tmp_path / "{val_acc}.keras"))
    with pytest.warns(UserWarning, match="monitors 'val_loss', but the logs do not"):
        fit(model(), checkpoint(tmp_path / "m.keras", save_best_only=True))
    assert names(tmp_path) == []


# ---- in a thread ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".keras", ".weights.h5", ".npz", ".safetensors"])
def test_files_of_a_thread_are_those_without(tmp_path, ending):
    def values(asynchronous):
        folder = tmp_path / str(asynchronous)
        path = folder / ("{epoch}" + ending)
        weights = ending != ".keras"
        save = keras.callbacks.ModelCheckpoint(
            path, save_weights_only=weights, asynchronous=asynchronous
        )
        trained, found = model(), []
        fit(trained, save)
        assert names(folder) == [f"{n}{ending}" for n in (1, 2, 3)]  # `fit` waits for the last
        for name in names(folder):
            other = trained if weights else keras.models.load_model(folder / name)
            if weights:
                other.load_weights(folder / name)
            found += [*other.get_weights(), *(v.numpy() for v in other.optimizer.variables)]
        return found

    for a, b in zip(values(True), values(False), strict=True):
        np.testing.assert_array_equal(a, b)


def test_training_goes_on_while_a_thread_writes(tmp_path, change):
    started, may_go_on = threading.Event(), threading.Event()

    def slow(*arguments):
        started.set()
        assert may_go_on.wait(20)
        return real(*arguments)

    real = later._write
    change(later, _write=slow)

    class Look(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                assert started.wait(20)
                assert names(tmp_path) == []  # the thread writes what epoch 0 left
                self.model.set_weights([w + 1 for w in weights[0]])
                may_go_on.set()

        def on_epoch_end(self, epoch, logs=None):
            weights.append(self.model.get_weights())

    trained, weights = model(), []
    save = keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras", asynchronous=True)
    fit(trained, Look(), save, epochs=2)
    for number, expected in enumerate(weights, 1):
        loaded = keras.models.load_model(tmp_path / f"{number}.keras")
        for a, b in zip(loaded.get_weights(), expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_goes_wrong_in_a_thread_is_raised(tmp_path):
    class Blocks(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                (tmp_path / "w" / ".2.weights.h5.partial").mkdir()

    save = keras.callbacks.ModelCheckpoint(
        tmp_path / "w" / "{epoch}.weights.h5", save_weights_only=True, asynchronous=True
    )
    with pytest.raises(OSError, match=r"2\.weights\.h5"):
        fit(model(), save, Blocks())
    assert "w/1.weights.h5" in names(tmp_path)


# ---- averages ------------------------------------------------------------------------------------


def test_averages_are_saved_with_swap_ema_weights(tmp_path):
    trained = model()
    trained.compile(keras.optimizers.Adam(0.05, use_ema=True, ema_momentum=0.8), "mse")
    swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    for asynchronous in False, True:
        save = keras.callbacks.ModelCheckpoint(
            tmp_path / "{epoch}.keras", asynchronous=asynchronous
        )
        logs = fit(trained, swap, save, validation_data=(X, Y)).history["val_loss"]
        for number, expected in enumerate(logs, 1):
            loaded = keras.models.load_model(tmp_path / f"{number}.keras")
            assert loaded.evaluate(X, Y, verbose=0) == pytest.approx(expected, rel=1e-6)
    assert trained.evaluate(X, Y, verbose=0) == pytest.approx(expected, rel=1e-6)
