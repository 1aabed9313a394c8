"""Progress displays: a tqdm bar on a terminal or in a notebook, one line per epoch elsewhere."""

import math
import sys
import time
from importlib.util import find_spec

from framework.core.program_settings import is_interactive_logging_enabled, print_message

# the width in columns of a bar in a notebook without ipywidgets, where tqdm cannot detect it
_TEXT_COLUMNS = 100
_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"))


def progress_for(verbose, epochs):
    """Return the display for `verbose`: 0 silent, 1 or "auto" a bar, 2 a line per epoch."""
    if not verbose:
        return Silent()
    if verbose == 2 or not is_interactive_logging_enabled():
        return Lines(epochs)
    has_bars = sys.stdout.isatty() or _in_notebook()
    return Bars(epochs) if has_bars else Lines(epochs)


class Silent:
    """A progress display that shows nothing."""

    def begin(self, epoch, steps):
        """Begin an epoch of `steps` batches (None if unknown)."""

    def batch(self, logs, done):
        """Show that `done` batches of the epoch are finished; `logs()` returns running means."""

    def end(self, logs):
        """End the epoch; `logs` include the validation results."""

    def close(self):
        """Close the display after training or an interruption."""


class Lines(Silent):
    """A display that prints a line per epoch: steps, time, time per step, then every log."""

    def __init__(self, epochs):
        self.epochs = epochs

    def begin(self, epoch, steps):
        self._heading = f"Epoch {epoch + 1}/{self.epochs}" if self.epochs else ""
        self._steps, self._done, self._start = steps, 0, time.perf_counter()

    def batch(self, logs, done):
        self._done = done

    def end(self, logs):
        parts = [self._heading, self._summary(), text(logs)]
        print_message(" - ".join([part for part in parts if part]))

    def _summary(self):
        seconds = time.perf_counter() - self._start
        steps = f"{self._done}/{self._steps or self._done}"
        return f"{steps} - {duration(seconds)} - {per_step(seconds / max(self._done, 1))}"


class Bars(Lines):
    """A display that draws a bar at most ten times a second.

    At the end of an epoch, a line of text replaces the bar. The bar is cut at the terminal's width,
    but the line is wrapped, so that all logs can be read. The heading, such as "Epoch 1/5", has a
    line of its own.
    """

    _bar = None

    def begin(self, epoch, steps):
        super().begin(epoch, steps)
        if self._heading:
            print(self._heading, flush=True)
            self._heading = ""
        self._bar = _bar(steps)

    def batch(self, logs, done):
        super().batch(logs, done)
        if self._bar.update(done - self._bar.n):  # true if the bar was redrawn
            self._bar.set_postfix_str(text(logs()), refresh=False)

    def end(self, logs):
        self._bar.leave = False  # the line for the finished epoch replaces the bar
        self.close()
        super().end(logs)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _bar(steps):
    """Return a tqdm bar as wide as the space beside the logs.

    tqdm is imported only when the first bar is drawn, because importing it takes 30 ms.
    """
    if not _in_notebook():
        from tqdm import tqdm

        size = {"dynamic_ncols": True}
    elif find_spec("ipywidgets"):
        from tqdm.notebook import tqdm

        size = {}
    else:
        from tqdm import tqdm

        size = {"ncols": _TEXT_COLUMNS}
    layout = "{n_fmt}/{total_fmt} {bar} {elapsed}<{remaining}{postfix}"
    return tqdm(total=steps, file=sys.stdout, unit="step", bar_format=layout, **size)


def _in_notebook():
    """Return whether the code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


def text(logs):
    """Return the logs as `loss: 0.3098 - accuracy: 0.9123`."""
    return " - ".join(f"{name}: {number_text(value)}" for name, value in logs.items())


def number_text(value):
    """Return a number with four decimals; if it is small, with four significant digits, such as
    0.00001234."""
    if not isinstance(value, (int, float)):
        return str(value)
    size = abs(value)
    if not math.isfinite(size) or size == 0 or 1e-3 <= size < 1e12:
        return f"{value:.4f}"
    decimals = 3 - math.floor(math.log10(size))
    return f"{value:.{decimals}f}" if 0 < decimals <= 15 else f"{value:.4e}"


def duration(seconds):
    """Return a time as `1.2s`, `2m05s` or `1h02m`."""
    if seconds < 99.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def per_step(seconds):
    """Return the time of a step as `12 ms/step`, with at least two significant digits."""
    size, unit = next((u for u in _UNITS if seconds >= 0.9995 * u[0]), _UNITS[-1])
    number = seconds / size
    return f"{number:.{0 if number >= 9.95 else 1}f} {unit}/step"
