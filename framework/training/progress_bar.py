"""Progbar: the progress display of `fit`, for loops written by users."""

from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.training.progress import progress_for


class Progbar:
    """Shows how many of `target` steps are done, and values: the display of `fit`.

    A terminal shows a bar; elsewhere, one line is printed after the last step.

    Args:
        target: the number of steps; None if unknown.
        width: accepted for compatibility with Keras, without effect; the bar fills the terminal.
        verbose: 0 for silence, 1 for a bar, 2 for one line after the last step.
        interval: without effect, too; the bar is redrawn at most ten times a second.
        stateful_metrics: names of values that are shown unchanged; of other values, the mean over
            all steps is shown.
        stateless_metrics: names of values whose mean is shown; other values are shown unchanged.
        unit_name: without effect, too; the display counts steps.

    Raises:
        ValueError: both lists of names are given.

    Example:
        >>> bar = Progbar(2, verbose=0)
        >>> for step in (1, 2):
        ...     bar.update(step, [("loss", 1 / step)])
    """

    def __init__(
        self, target: Any, width: Any = 20, verbose: Any = 1, interval: Any = 0.05,
        stateful_metrics: Any = None, stateless_metrics: Any = None, unit_name: str = "step",
    ):  # fmt: skip
        if stateful_metrics is not None and stateless_metrics is not None:
            raise InvalidArgumentError(
                "Progbar: expected stateful_metrics or stateless_metrics, got both."
            )
        self.target, self.width, self.verbose = target, width, verbose
        self.interval, self.unit_name = interval, unit_name
        self.stateful_metrics = None if stateless_metrics is not None else stateful_metrics or ()
        self.stateless_metrics = stateless_metrics
        self._framework = _State(progress_for(verbose, None))

    def update(self, current: Any, values: Any = None, finalize: Any = None) -> None:
        """Show that `current` steps are done.

        Args:
            current: the number of finished steps.
            values: pairs (name, value), with the value for the steps since the last update.
            finalize: True to end the display; by default, once `target` steps are done.
        """
        state = self._framework
        if not state.open:
            state.display.begin(0, self.target)
            state.open = True
        # as in Keras, an update without a new step counts as one step in the mean
        steps = max(current - state.done, 1)
        for name, value in values or ():
            if _is_mean(self, name):
                total, count = state.sums.get(name, (0.0, 0))
                state.sums[name] = total + float(value) * steps, count + steps
                state.shown[name] = state.sums[name][0] / state.sums[name][1]
            else:
                state.shown[name] = _plain(value)
        state.done = current
        state.display.batch(lambda: state.shown, current)
        ends = self.target is not None and current >= self.target
        if ends if finalize is None else finalize:
            state.display.end(state.shown)
            state.open = False

    def add(self, n: Any, values: Any = None) -> None:
        """Show that `n` more steps are done; `values` are as in `update`."""
        self.update(self._framework.done + n, values)


class _State:
    """The internal state of a Progbar, in one attribute: subclasses can use all other names."""

    def __init__(self, display):
        self.display, self.open, self.done = display, False, 0
        self.sums, self.shown = {}, {}


def _is_mean(bar, name):
    if bar.stateless_metrics is not None:
        return name in bar.stateless_metrics
    return name not in bar.stateful_metrics


def _plain(value):
    """Return a number as a float; other values, such as texts, unchanged."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
