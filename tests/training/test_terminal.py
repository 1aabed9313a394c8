"""What `fit` leaves in terminals of several widths, resized in mid-epoch, and in a notebook."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import time
import numpy as np
from framework import keras

class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.1)

x = np.ones((64, 4), "float32")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae", "mape", keras.metrics.R2Score(name="share_explained")])
model.fit(x, x[:, :1], batch_size=4, epochs=2, validation_data=(x, x[:, :1]), callbacks=[Slow()])
print("done")
"""
LOGS = ("loss", "mae", "mape", "share_explained")
NUMBER = r"-?\d+\.\d{4,}"
LINE = (
    r"16/16 - \d+\.\ds - \d+ ms/step"
    + "".join(f" - {name}: {NUMBER}" for name in (*LOGS, *(f"val_{name}" for name in LOGS)))
    + "$"
)


class Terminal:
    """A tmux server of its own with one window."""

    def __init__(self, columns, socket):
        self._tmux = ["tmux", "-L", socket, "-f", "/dev/null"]
        self("new-session", "-d", "-x", columns, "-y", 50, "bash --norc --noprofile")

    def __call__(self, *arguments):
        command = [*self._tmux, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def screen(self, joined=True):
        """The lines that are not empty; `joined`: wrapped lines as one."""
        text = self("capture-pane", "-p", "-S", "-", *(["-J"] if joined else []))
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def wait_for(self, pattern, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(re.search(pattern, line) for line in self.screen()):
                return
            time.sleep(0.1)
        raise AssertionError(f"{pattern} did not appear: {self.screen()}")

    def close(self):
        self("kill-server")


@pytest.fixture
def terminal(tmp_path):
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    opened = []

    def run(columns):
        window = Terminal(columns, f"framework-{tmp_path.name}-{len(opened)}")
        opened.append(window)
        window("send-keys", f"clear; PYTHONPATH={ROOT} {sys.executable} {program}", "Enter")
        return window

    yield run
    for window in opened:
        window.close()


def finished(window):
    window.wait_for("^done$")
    lines = window.screen()
    start = next(i for i, line in enumerate(lines) if line.startswith("Epoch 1/2"))
    return lines[start : lines.index("done")]


SIZES = [(40, 40), (80, 80), (120, 40), (40, 120), (80, 60)]
"""Columns of the terminals: at first, and from the second epoch on."""


def test_one_line_per_epoch_with_every_log(terminal):
    """Beside the heading; wrapped where the terminal is narrow, never cut."""
    windows = [terminal(before) for before, _ in SIZES]  # they run side by side
    for (before, after), window in zip(SIZES, windows, strict=True):
        window.wait_for("Epoch 2/2")
        if after != before:
            window("resize-window", "-x", after, "-y", 50)
    for (before, after), window in zip(SIZES, windows, strict=True):
        lines = finished(window)
        assert [line for line in lines if line.startswith("Epoch")] == ["Epoch 1/2", "Epoch 2/2"]
        # A terminal that becomes narrower wraps what the bar has drawn, and its first part stays.
        narrower = after < before
        results = [line for line in lines if (re.search if narrower else re.match)(LINE, line)]
        assert len(results) == 2, lines
        rest = [line for line in lines if line not in results and not line.startswith("Epoch")]
        assert len(rest) <= (2 if narrower else 0), lines


def test_a_notebook_shows_a_bar_and_then_the_line(tmp_path):
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    from nbconvert.preprocessors import ExecutePreprocessor

    book = nbformat.v4.new_notebook()
    source = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}"
    book.cells = [nbformat.v4.new_code_cell(source), nbformat.v4.new_code_cell("model.history")]
    ExecutePreprocessor(timeout=120).preprocess(book, {"metadata": {"path": str(tmp_path)}})
    shown = "".join(o.text for o in book.cells[0].outputs if o.output_type == "stream")
    drawn = [part for part in re.split(r"[\r\n]", shown) if part.strip()]
    assert any(re.match(r"\d+/16 ", part) for part in drawn)  # while it runs
    finals = [part for part in drawn if re.search(LINE.removesuffix("$"), part)]
    assert len(finals) == 2
    (history,) = [o for o in book.cells[1].outputs if o.output_type == "execute_result"]
    assert "<table" in history.data["text/html"]
