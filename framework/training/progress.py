"""Progress: a tqdm bar on a terminal, one line an epoch elsewhere."""

import sys
import time


def progress_for(verbose, epochs):
    """A progress display for `verbose`: 0 silent, 1 a bar, 2 a line an epoch; "auto" chooses."""
    if verbose == "auto":
        verbose = 1
    if verbose and (verbose == 2 or not sys.stdout.isatty()):
        return Lines(epochs)
    return Bars(epochs) if verbose else Silent()


class Silent:
    """Shows nothing."""

    def begin(self, epoch, steps):
        """An epoch of `steps` batches (None if unknown) begins."""

    def batch(self, logs, done):
        """So many batches of the epoch are done; `logs()` gives the running means."""

    def end(self, logs):
        """The epoch is done; `logs` include the validation's."""

    def close(self):
        """Training is over, or was interrupted."""


class Lines(Silent):
    """One line an epoch."""

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
    """A bar an epoch, redrawn at most ten times a second."""

    def __init__(self, epochs):
        self.epochs = epochs
        self._bar = None

    def begin(self, epoch, steps):
        heading = f"Epoch {epoch + 1}/{self.epochs}" if self.epochs else None
        self._bar = _tqdm()(total=steps, desc=heading, file=sys.stdout, unit="step")

    def batch(self, logs, done):
        if self._bar.update(done - self._bar.n):  # true when it was redrawn
            self._bar.set_postfix_str(text(logs()), refresh=False)

    def end(self, logs):
        self._bar.set_postfix_str(text(logs), refresh=False)
        self.close()

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm():
    """Imported when the first bar is drawn: it would cost every import of the package 30 ms."""
    from tqdm import tqdm

    return tqdm


def text(logs):
    """`loss: 0.3098 - accuracy: 0.9123`."""
    return " - ".join(f"{name}: {_number(value)}" for name, value in logs.items())


def _number(value):
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.4e}"
