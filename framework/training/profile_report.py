"""Profile: the result of `model.profile`, as numbers and as a table."""

from typing import NamedTuple


class LayerProfile(NamedTuple):
    """Time and memory of one layer in a training step, without those of its inner layers.

    Attributes:
        name, kind: the layer's path, and the name of its class.
        parameters: the number of the layer's trainable parameters.
        forward, backward, update: seconds.
        flops: the number of floating-point operations in the forward and backward pass.
        kept: bytes that the tape keeps for the layer's backward pass.
        peak: the maximum of allocated bytes while the layer ran, minus those before the step.
    """

    name: str
    kind: str
    parameters: int
    forward: float
    backward: float
    update: float
    flops: int
    kept: int
    peak: int

    @property
    def seconds(self):
        """The time of the forward pass, backward pass and update."""
        return self.forward + self.backward + self.update

    @property
    def gflops(self):
        """Billions of floating-point operations per second in the forward and backward pass."""
        taken = self.forward + self.backward
        return self.flops / taken / 1e9 if taken else 0.0


class Profile:
    """The layers of a model in the order in which they ran; `str` gives a table.

    Attributes:
        layers: a list of `LayerProfile`; the last one, "(loss)", is for ops outside all layers.
        total: a `LayerProfile` of the whole step.
        rows: the number of rows of the batch.
    """

    def __init__(self, model, layers, rows, update, peak):
        self.model, self.layers, self.rows = model, layers, rows
        sums = {
            field: sum(getattr(layer, field) for layer in layers)
            for field in ("parameters", "forward", "backward", "flops", "kept")
        }
        self.total = LayerProfile(name="total", kind="", update=update, peak=peak, **sums)

    def __getitem__(self, name):
        """Return the `LayerProfile` with this path, or the first whose path ends with `name`."""
        for layer in self.layers:
            if layer.name == name or layer.name.rpartition("/")[2] == name:
                return layer
        raise KeyError(f"{name!r} is not one of {[layer.name for layer in self.layers]}.")

    def __str__(self):
        table = [HEADER, *(_row(layer, self.total) for layer in (*self.layers, self.total))]
        widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
        lines = [_line(row, widths) for row in table]
        rule = "-" * max(map(len, lines))
        return "\n".join([self._title(), lines[0], rule, *lines[1:-1], rule, lines[-1]])

    def markdown(self):
        """Return the table in Markdown."""
        rows = [_row(layer, self.total) for layer in (*self.layers, self.total)]
        lines = [HEADER, ("---",) * 2 + ("---:",) * (len(HEADER) - 2), *rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{self._title()}\n\n{table}"

    def _repr_html_(self):
        from framework.core import html

        rows = [_row(layer, self.total) for layer in (*self.layers, self.total)]
        return html.table(self._title(), HEADER, rows)

    def _title(self):
        return f"A training step of {self.model!r} on {self.rows} rows, op by op"

    def __repr__(self):
        milliseconds = _number(self.total.seconds * 1e3)
        return f"<Profile of {self.model!r}: {milliseconds} ms in {len(self.layers)} rows>"


HEADER = ("layer", "kind", "forward ms", "backward ms", "update ms", "share", "MFLOP", "GF/s",
          "kept MB", "peak MB")  # fmt: skip


def _row(layer, total):
    share = layer.seconds / total.seconds if total.seconds else 0.0
    return (
        layer.name, layer.kind, _number(layer.forward * 1e3), _number(layer.backward * 1e3),
        _number(layer.update * 1e3), f"{share:.0%}", _number(layer.flops / 1e6),
        _number(layer.gflops), _number(layer.kept / 1e6), _number(layer.peak / 1e6),
    )  # fmt: skip


def _number(value):
    """Return the number as a text with three significant digits."""
    if not value:
        return "0"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _line(row, widths):
    left = [cell.ljust(width) for cell, width in zip(row[:2], widths)]
    return "  ".join([*left, *(c.rjust(w) for c, w in zip(row[2:], widths[2:]))]).rstrip()
