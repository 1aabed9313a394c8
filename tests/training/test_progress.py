"""The display of fit, evaluate and predict: on terminals of several widths, in files, notebooks."""

import io
import re
import sys
import types

import numpy as np
import pytest

from framework import keras
from framework.training import progress

LOGS = {
    "accuracy": 0.9123, "loss": 0.30981, "mean_absolute_percentage_error": 51234.5,
    "val_accuracy": 0.9, "val_loss": 0.35, "val_mean_absolute_percentage_error": 50000.0,
}  # fmt: skip


class Terminal(io.StringIO):
    """Standard output of a terminal; `screen` has its lines as they can be read at the end."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def screen(self):
        return [re.sub(r".*\r", "", line).rstrip() for line in self.getvalue().split("\n")[:-1]]

    def drawn(self):
        return [part.rstrip("\n") for part in re.split(r"[\r\n]", self.getvalue())]


@pytest.fixture
def terminal(monkeypatch):
    """Return a function that replaces standard output by a terminal of so many columns."""

    def replace(columns):
        tqdm = pytest.importorskip("tqdm.std")
        monkeypatch.setattr(tqdm, "_screen_shape_wrapper", lambda: lambda _: (columns, 24))
        found = Terminal(newline="")
        monkeypatch.setattr(sys, "stdout", found)
        return found

    return replace


def epoch(display, number, logs, steps=500):
    display.begin(number, steps)
    for done in range(1, 501):
        display.batch(lambda: logs, done)
        if done == 250 and isinstance(display, progress.Bars):
            display._bar.set_postfix_str(progress.text(logs))  # draws the bar
    display.end(logs)


@pytest.mark.parametrize("count", [40, 80, 120])
def test_every_log_of_a_finished_epoch_is_readable(count, terminal):
    shown = terminal(count)
    display = progress.progress_for("auto", 2)
    for number in range(2):
        epoch(display, number, LOGS)
    display.close()
    headings, lines = shown.screen()[::2], shown.screen()[1::2]
    assert headings == ["Epoch 1/2", "Epoch 2/2"]
    for line in lines:
        assert re.match(r"500/500 - \d+\.\ds - \d+(\.\d)? (ms|us)/step - accuracy: 0.9123 - ", line)
        assert line.endswith("- val_mean_absolute_percentage_error: 50000.0000")
    bars = [part for part in shown.drawn() if "00:00<" in part]
    assert any("accuracy" in bar for bar in bars)
    assert max(map(len, bars)) <= count


def test_a_terminal_that_becomes_narrower_gets_narrower_bars(terminal):
    shown = terminal(120)
    display = progress.progress_for(1, 1)
    display.begin(0, 10)
    display._bar.dynamic_ncols = lambda _: (50, 24)
    display._bar.refresh()  # spaces overwrite the rest of the wider bar, once
    display._bar.refresh()
    drawn = shown.drawn()[-1]
    display.close()
    assert len(drawn) <= 50
    assert shown.getvalue().count("\n") == 2


def test_an_interrupted_epoch_leaves_its_bar(terminal):
    shown = terminal(80)
    display = progress.progress_for(1, 3)
    display.begin(0, 10)
    display.batch(lambda: LOGS, 4)
    display.close()
    assert shown.screen()[1].startswith("4/10 ")


def test_steps_of_unknown_number(terminal):
    shown = terminal(80)
    display = progress.progress_for(1, 1)
    epoch(display, 0, {"loss": 1.0}, steps=None)
    assert shown.screen()[-1].startswith("500/500 - ")


def test_evaluate_and_predict_leave_one_line(terminal):
    shown = terminal(80)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.evaluate(np.ones((64, 2)), np.ones((64, 1)))
    model.predict(np.ones((64, 2)), verbose=1)
    evaluated, predicted = shown.screen()
    assert re.fullmatch(r"2/2 - \d+\.\ds - .*/step - loss: \d+\.\d{4}", evaluated)
    assert re.fullmatch(r"2/2 - \d+\.\ds - [\d.]+ .s/step", predicted)


def test_a_file_gets_one_line_an_epoch(capsys):
    display = progress.progress_for("auto", 2)
    for number in range(2):
        epoch(display, number, LOGS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("Epoch 2/2 - 500/500 - ")
    assert "\r" not in "".join(lines)


class _Shell:
    """The shell of a Jupyter kernel."""

    config = {"IPKernelApp": {}}  # noqa: RUF012 (as in IPython)


def test_a_notebook_without_ipywidgets_gets_a_bar(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=_Shell))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.setattr(progress, "find_spec", lambda _: None)
    display = progress.progress_for("auto", 1)
    epoch(display, 0, LOGS)
    printed = capsys.readouterr().out
    assert "0/500 " in printed
    assert printed.splitlines()[-1].endswith("50000.0000")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.30981234, "0.3098"), (0.0, "0.0000"), (1, "1.0000"), (12345678.0, "12345678.0000"),
        (0.001, "0.0010"), (0.00012345, "0.0001234"), (-1.5e-7, "-0.0000001500"),
        (1e-20, "1.0000e-20"), (float("nan"), "nan"), (float("inf"), "inf"), ("text", "text"),
    ],
)  # fmt: skip
def test_numbers_have_no_exponents(value, expected):
    assert progress.text({"a": value}) == f"a: {expected}"


@pytest.mark.parametrize(
    ("seconds", "whole", "step"),
    [
        (0.0000042, "0.0s", "4.2 us/step"), (0.00234, "0.0s", "2.3 ms/step"),
        (0.0119, "0.0s", "12 ms/step"), (1.25, "1.2s", "1.2 s/step"),
        (125, "2m05s", "125 s/step"), (3725, "1h02m", "3725 s/step"),
    ],
)  # fmt: skip
def test_times(seconds, whole, step):
    assert progress.duration(seconds) == whole
    assert progress.per_step(seconds) == step
