"""Progress displays: a tqdm bar on a terminal, one line per epoch elsewhere."""

import sys
import time


def progress_for(verbose, epochs):
    """Return the display for `verbose`: 0 silent, 1 or "auto" a bar, 2 a line per epoch."""
    if verbose == "auto":
        verbose = 1
    if verbose and (verbose == 2 or not sys.stdout.isatty()):
        return Lines(epochs)
    return Bars(epochs) if verbose else Silent()


class Silent:
    """Shows nothing."""

    def begin(self, epoch, steps):
        """Begin an epoch of `steps` batches (None if unknown)."""

    def batch(self, logs, done):
        """Show that `done` batches of the epoch are done; `logs()` returns the running means."""

    def end(self, logs):
        """End the epoch; `logs` include the validation's."""

    def close(self):
        """Close the display after training or an interruption."""


class Lines(Silent):
    """Prints one line per epoch."""

    def __init__(self, epochs):
        self.epochs = epochs

    def begin(self, epoch, steps):
        self._heading = f"Epoch {epoch + 1}/{self.epochs}" if self.epochs else ""
        self._start, self._steps = time.perf_counter(), 0

    def batch(self, logs, done):
        self._steps = done

    def end(self, logs):
        seconds = time.perf_counter() - self._start
        each = seconds / max(self._steps, 1) * 1e3
        parts = [self._heading] if self._heading else []
        parts.append(f"{seconds:.1f}s ({self._steps} steps, {each:.2g} ms each)")
        print(" - ".join([*parts, text(logs)]), flush=True)


class Bars(Silent):
    """Shows a bar per epoch, redrawn at most ten times a second."""

    def __init__(self, epochs):
        self.epochs = epochs
        self._bar = None

    def begin(self, epoch, steps):
        heading = f"Epoch {epoch + 1}/{self.epochs}" if self.epochs else None
        self._bar = _tqdm()(total=steps, desc=heading, file=sys.stdout, unit="step")

    def batch(self, logs, done):
        if self._bar.update(done - self._bar.n):  # true if the bar was redrawn
            self._bar.set_postfix_str(text(logs()), refresh=False)

    def end(self, logs):
        self._bar.set_postfix_str(text(logs), refresh=False)
        self.close()

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm():
    """Import tqdm when the first bar is drawn: importing it takes 30 ms."""
    from tqdm import tqdm

    return tqdm


def text(logs):
    """Return the logs as `loss: 0.3098 - accuracy: 0.9123`."""
    return " - ".join(f"{name}: {_number(value)}" for name, value in logs.items())


def _number(value):
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.4e}"
