"""The record as a table (`print(tape)`), and its memory by op and layer."""

import numpy as np

from framework.autodiff.debug.recorded_ops import name_of, steps

# ---- the table of recorded ops -------------------------------------------------------------------

HEADER = ("#", "op", "shapes", "dtype", "kept", "layer", "line")
ROWS = 200
"""The maximum number of rows of the table."""


def table(tape):
    """Return the text of `print(tape)`."""
    recorded = steps(tape)
    if not recorded:
        return f"{tape!r}\n{_nothing(tape)}"
    rows = [_row(i, step) for i, step in enumerate(recorded)]
    total = Memory(tape).total
    hidden = len(rows) - ROWS
    if hidden > 0:
        rows[ROWS // 2 : -ROWS // 2] = [("", f"... {hidden} more ops ...", "", "", "", "", "")]
    columns = [c for c in range(len(HEADER)) if c < 5 or any(row[c] for row in rows)]
    widths = [max(len(row[c]) for row in (HEADER, *rows)) for c in columns]
    lines = [
        "  ".join(row[c].rjust(w) if c in (0, 4) else row[c].ljust(w)
                  for c, w in zip(columns, widths)).rstrip()
        for row in (HEADER, *rows)
    ]  # fmt: skip
    rule = "-" * max(map(len, lines))
    kept = f"{len(recorded)} ops, {_size(total)} kept for the backward pass"
    return "\n".join([repr(tape), lines[0], rule, *lines[1:], rule, kept])


def _nothing(tape):
    if tape._consumed and not tape._fresh:
        return (
            "The record was used up by gradient(). Print the tape before gradient(), or create it "
            "by GradientTape(persistent=True)."
        )
    return "Nothing is recorded: no op had a watched input."


def _row(i, step):
    layer = "" if step.layer is None else name_of(step.layer)
    dtype = "?" if step.dtype is None else str(np.dtype(step.dtype))
    return (
        str(i), step.name, _shapes(step), dtype, _size(step.bytes) if step.bytes else "", layer,
        step.line,
    )  # fmt: skip


def _shapes(step):
    return f"{_shape_list(step.in_shapes)} -> {_shape_list(step.out_shapes)}"


def _shape_list(shapes):
    return ", ".join("?" if s is None else str(tuple(s)).replace(" ", "") for s in shapes)


def _size(count):
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


# ---- memory of the record ------------------------------------------------------------------------


class Memory:
    """The bytes that a record keeps alive; an array that several ops keep is counted once.

    Attributes:
        total: all bytes.
        by_op, by_layer: dicts from names to bytes, the largest first. An array counts for the
            first op that keeps it; ops outside all layers count for the layer "".
    """

    def __init__(self, tape):
        seen = set()
        by_op, by_layer = {}, {}
        for step in steps(tape):
            size = sum(a.nbytes for key, a in step.kept.items() if key not in seen)
            seen.update(step.kept)
            layer = "" if step.layer is None else name_of(step.layer)
            by_op[step.name] = by_op.get(step.name, 0) + size
            by_layer[layer] = by_layer.get(layer, 0) + size
        self.by_op, self.by_layer = _falling(by_op), _falling(by_layer)
        self.total = sum(by_op.values())

    def __repr__(self):
        rows = [f"The record keeps {_size(self.total)}."]
        for title, parts in (("by op", self.by_op), ("by layer", self.by_layer)):
            named = [f"{name or '(no layer)'} {_size(size)}" for name, size in parts.items()]
            rows.append(f"  {title}: {', '.join(named)}")
        return "\n".join(rows)


def _falling(sizes):
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))
