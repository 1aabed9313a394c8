"""ModelCheckpoint: which files are written when, what they hold, and what it refuses."""

import numpy as np
import pytest

from framework import keras

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
    with pytest.raises(ValueError, match=r"names 'val_acc', which is not known"):
        fit(model(), checkpoint(tmp_path / "{val_acc}.keras"))
    with pytest.warns(UserWarning, match="monitors 'val_loss', but the logs do not"):
        fit(model(), checkpoint(tmp_path / "m.keras", save_best_only=True))
    assert names(tmp_path) == []
