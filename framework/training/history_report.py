"""A `History` as text with sparklines, as a table with curves for notebooks, and as a plot."""

import math
import sys

from framework.core import html
from framework.core.errors import InvalidArgumentError, suggest
from framework.training.progress import number_text

_BARS, _ASCII_BARS = "▁▂▃▄▅▆▇█", "_.,-~=*#"
_WIDTH = 40  # the number of characters of a sparkline, so that a line fits into 80 columns
_CURVE = 160, 24  # the width and height in pixels of a curve in a notebook


def lines(history):
    """Return a line for each log: its first and last value, and all values as a sparkline."""
    width = max(map(len, history.history), default=0)
    return [
        f"{name:{width}}  {number_text(values[0])} -> {number_text(values[-1])}  "
        f"{sparkline(values)}"
        for name, values in history.history.items()
        if _is_course(values)
    ]


def sparkline(values):
    """Return a character for each value, higher for larger values; "x" for NaN and infinity.

    >>> sparkline([4.0, 2.0, 1.0, float("nan")])
    '█▃▁x'
    """
    values = _thinned([float(v) for v in values], _WIDTH)
    bars = _BARS if _can_print(_BARS) else _ASCII_BARS
    finite = [v for v in values if math.isfinite(v)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return "".join([_bar(v, low, high, bars) for v in values])


def _bar(value, low, high, bars):
    if not math.isfinite(value):
        return "x"
    share = (value - low) / (high - low) if high > low else 0.0
    return bars[round(share * (len(bars) - 1))]


def _can_print(text):
    """Return whether standard output can encode the text; a file on Windows may not."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _thinned(values, count):
    """Return at most `count` of the values, at equal distances, with the first and the last."""
    if len(values) <= count:
        return values
    return [values[round(i * (len(values) - 1) / (count - 1))] for i in range(count)]


def _is_course(values):
    return len(values) > 0 and all(isinstance(v, (int, float)) for v in values)


def history_html(history):
    """Return a table of the logs with a curve each."""
    rows = [
        (name, number_text(values[0]), number_text(values[-1]), number_text(min(values)),
         number_text(max(values)))
        for name, values in history.history.items() if _is_course(values)
    ]  # fmt: skip
    header = ("log", "first", "last", "least", "greatest")
    curves = "".join(
        f"<div>{_curve(values)} {html.escape(name)}</div>"
        for name, values in history.history.items()
        if _is_course(values)
    )
    return html.table(f"{len(history.epoch)} epochs", header, rows) + curves


def _curve(values):
    """Return an SVG image of the values as a line."""
    width, height = _CURVE
    finite = [v for v in values if math.isfinite(v)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    scale = (height - 2) / (high - low) if high > low else 0.0
    step = width / max(len(values) - 1, 1)
    points = " ".join(
        f"{i * step:.1f},{height - 1 - (v - low) * scale:.1f}"
        for i, v in enumerate(values)
        if math.isfinite(v)
    )
    return (
        f'<svg width="{width}" height="{height}" style="vertical-align: middle">'
        f'<polyline points="{points}" fill="none" stroke="#5e81ac" stroke-width="1.5"/></svg>'
    )


def plot(history, names, ax):
    """Draw the logs; see `History.plot`."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise ImportError(
            "History.plot needs matplotlib: pip install matplotlib. print(history) shows the "
            "logs as text."
        ) from None
    names = _names(history, names)
    if ax is None:
        size = (5 * max(len(names), 1), 3.5)
        _, ax = plt.subplots(1, len(names), figsize=size, squeeze=False, layout="constrained")
    axes = list(getattr(ax, "flat", ax if isinstance(ax, (list, tuple)) else [ax]))
    if len(axes) != len(names):
        raise InvalidArgumentError(
            f"plot: ax: expected {len(names)} axes, one for each of {names}, got {len(axes)}."
        )
    for name, one in zip(names, axes, strict=True):
        for key in (name, f"val_{name}"):
            if values := history.history.get(key):
                one.plot(_epochs(history, values), values, label=key)
        one.set_xlabel("epoch")
        one.legend()
    return axes


def _names(history, names):
    """Return a list of names of logs, all if `names` is None."""
    known = [n for n in history.history if not n.startswith("val_")]
    names = known if names is None else [names] if isinstance(names, str) else list(names)
    for name in names:
        if name not in known:
            raise InvalidArgumentError(
                f"plot: names: no log is called {name!r}{suggest(name, known)}"
            )
    return names


def _epochs(history, values):
    """Return the epoch numbers of `values`, which may be fewer than epochs (validation results)."""
    every = max(len(history.epoch) // len(values), 1)
    return [epoch + 1 for epoch in history.epoch[every - 1 :: every][-len(values) :]]
