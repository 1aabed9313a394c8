import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import DamagedFileError, LoadError
from framework.training.resuming import FILE, interval_of
from tests.training.resumed_runs import RUNS, classifier, rows, train


class InterruptedRunError(Exception):
    pass


class Interrupt(keras.callbacks.Callback):
    """Raises after some batches; `left` is not saved."""

    def __init__(self, after):
        self.__dict__["_framework"] = self._framework
        Interrupt.left = after

    def on_train_batch_end(self, batch, logs=None):
        Interrupt.left -= 1
        if Interrupt.left == 0:
            raise InterruptedRunError


@pytest.mark.parametrize("after", [8, 12])
@pytest.mark.parametrize("name", RUNS)
def test_an_interrupted_run_has_the_same_bits(name, after, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    expected = train(name, whole)
    every = {8: 3, 12: "epoch"}[after]
    with pytest.raises(InterruptedRunError):
        train(name, parts, [Interrupt(after)], resume=parts, save_every=every)
    assert train(name, parts, [Interrupt(0)], resume=parts, save_every=every) == expected


def test_a_finished_run_continues_with_more_epochs(tmp_path):
    expected = train("averages_and_a_schedule", tmp_path)
    train("averages_and_a_schedule", tmp_path, epochs=2, resume=tmp_path)
    for _ in range(2):  # the end is saved too
        assert train("averages_and_a_schedule", tmp_path, resume=tmp_path) == expected


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_run_has_the_same_bits(tmp_path):
    expected = train("averages_and_a_schedule", tmp_path, epochs=25)
    command = [sys.executable, "-m", "tests.training.resumed_runs", "averages_and_a_schedule",
               str(tmp_path), "1", "25"]  # fmt: skip
    root = str(Path(__file__).parents[2])
    kills = random.Random(5)
    for number in range(2):
        process = subprocess.Popen(command, cwd=root, env={**os.environ, "PYTHONPATH": root})
        before = (tmp_path / FILE).stat().st_ino if (tmp_path / FILE).exists() else None
        while process.poll() is None and not _changed(tmp_path / FILE, before):
            time.sleep(0.005)
        time.sleep(kills.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, number
    subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": root}, check=True)
    assert (tmp_path / "result").read_text() == expected


def _changed(path, before):
    return path.exists() and path.stat().st_ino != before


@pytest.mark.parametrize(
    ("value", "interval"),
    [
        (7, ("batches", 7)), ("5 min", ("seconds", 300)), ("30 s", ("seconds", 30)),
        ("1.5 hours", ("seconds", 5400)), ("2h", ("seconds", 7200)), ("epoch", ("epochs", 1)),
        (timedelta(minutes=1), ("seconds", 60)), ("10 minutes", ("seconds", 600)),
    ],
)  # fmt: skip
def test_intervals(value, interval):
    assert interval_of(value) == interval


@pytest.mark.parametrize("value", [0, -1, True, "often", "5 miles", 1.5, "-3 s"])
def test_other_intervals_raise(value, tmp_path):
    with pytest.raises(ValueError, match="save_every: expected a number of batches"):
        classifier().fit(**rows(), verbose=0, resume=tmp_path, save_every=value)


def test_times_are_measured(tmp_path, monkeypatch):
    from framework.training import resuming

    now, written = [0.0], []
    monkeypatch.setattr(resuming.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(resuming, "write_state", lambda *_: written.append(now[0]))

    class Clock(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            now[0] += 25.0

    classifier().fit(**rows(), epochs=2, verbose=0, callbacks=[Clock()], resume=tmp_path,
                     save_every="1 min")  # fmt: skip
    assert written == [75.0, 150.0, 225.0, 300.0, 300.0]  # the end is another state


def test_a_state_that_does_not_fit(tmp_path):
    classifier().fit(**rows(), verbose=0, resume=tmp_path)
    other = keras.Sequential([keras.layers.Dense(3, "softmax")])
    other.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    with pytest.raises(LoadError, match="another model"):
        other.fit(**rows(), verbose=0, resume=tmp_path)
    with pytest.raises(LoadError, match="another model"):
        classifier("sgd").fit(**rows(), verbose=0, resume=tmp_path)
    with pytest.raises(LoadError, match="6 batches per epoch, the data have 11"):
        classifier().fit(**{**rows(), "batch_size": 4}, verbose=0, resume=tmp_path)
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(data[:-40])
    with pytest.raises(DamagedFileError):
        classifier().fit(**rows(), verbose=0, resume=tmp_path)


def test_swapped_averages_are_what_is_saved(tmp_path):
    kept = []

    class Keep(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            kept.append([np.array(v) for v in self.model.trainable_variables])

    train("swapped_averages", tmp_path, [Keep()])
    for number, values in enumerate(kept, 1):
        saved = keras.models.load_model(tmp_path / f"{number}.keras")
        assert all(map(np.array_equal, saved.trainable_variables, values))
    assert not np.array_equal(kept[0][0], kept[1][0])


def test_a_torn_line_of_a_log_is_ended(tmp_path):
    log = tmp_path / "log.csv"
    for _ in range(2):
        logger = keras.callbacks.CSVLogger(log, append=True)
        classifier(metrics=[]).fit(**rows(), epochs=2, verbose=0, callbacks=[logger])
        log.write_bytes(log.read_bytes()[:-5])
    lines = log.read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["epoch", "0", "1", "0", "1"]


# ---- BackupAndRestore ----------------------------------------------------------------------------


@pytest.mark.parametrize("save_freq", ["epoch", 4, False])
def test_backup_and_restore(save_freq, tmp_path):
    def backup(**options):
        return keras.callbacks.BackupAndRestore(tmp_path / "b", save_freq, **options)

    expected = train("accumulated", tmp_path).split("\n")
    with pytest.raises(InterruptedRunError):
        train("accumulated", tmp_path, [backup(), Interrupt(11)])
    found = train("accumulated", tmp_path, [backup(), Interrupt(0)]).split("\n")
    assert found[0] == expected[0]
    assert found[2] == {"epoch": "[1, 2, 3]", 4: "[1, 2, 3]", False: "[0, 1, 2, 3]"}[save_freq]
    assert not (tmp_path / "b").exists()


def test_backups_that_are_kept(tmp_path):
    backup = keras.callbacks.BackupAndRestore(
        tmp_path, double_checkpoint=True, delete_checkpoint=False
    )
    model = classifier()
    model.fit(**rows(), epochs=3, verbose=0, callbacks=[backup])
    assert sorted(p.name for p in tmp_path.iterdir()) == [FILE, f"{FILE}.previous"]
    (tmp_path / FILE).write_bytes(b"damaged")
    history = classifier().fit(**rows(), epochs=4, verbose=0, callbacks=[backup])
    assert history.epoch == [2, 3]
    assert classifier().fit(**rows(), epochs=4, verbose=0, callbacks=[backup]).epoch == []


@pytest.mark.parametrize("arguments", [[""], ["x", "batch"], ["x", 1.5]])
def test_backup_arguments(arguments):
    with pytest.raises(ValueError, match="BackupAndRestore"):
        keras.callbacks.BackupAndRestore(*arguments)


def test_one_of_both(tmp_path):
    backup = keras.callbacks.BackupAndRestore(tmp_path)
    with pytest.raises(ValueError, match="together"):
        classifier().fit(**rows(), verbose=0, callbacks=[backup], resume=tmp_path)


# ---- the explicit step ---------------------------------------------------------------------------


def test_the_state_of_a_step_in_a_file(tmp_path):
    def step():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dropout(0.5)])
        made = model.training_step("mse", "adam", metrics=["mae"], accumulate=3)
        return made, np.ones((4, 4), "float32")

    first, x = step()
    for _ in range(4):
        first(x, x)
    first.save(tmp_path / "step")
    tf.random.uniform([2], seed=4)
    expected = [first(x, x).numpy() for _ in range(5)], tf.random.uniform([2]).numpy()
    second, _ = step()
    second.model.build((None, 4))
    second.load(tmp_path / "step")
    again = [second(x, x).numpy() for _ in range(5)], tf.random.uniform([2]).numpy()
    assert expected[0] == again[0]
    assert np.array_equal(expected[1], again[1])
    third, _ = step()
    third.model.build((None, 4))
    third.set_state(second.state())
    assert int(third.optimizer.iterations) == int(second.optimizer.iterations)


def test_a_restored_step_is_flushed(tmp_path):
    x = np.ones((4, 4), "float32")

    def step():
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)])
        scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam())
        return model.training_step("mse", scaled, accumulate=3)

    first, second = step(), step()
    for _ in range(5):
        first(x, x)
    first.save(tmp_path / "step")
    second.load(tmp_path / "step")
    assert first.flush()
    assert second.flush()
    assert all(map(np.array_equal, first.model.get_weights(), second.model.get_weights()))
