"""The record as a graph, in Graphviz's DOT language and as an SVG file."""

from framework.autodiff.debug.recorded_ops import name_of, steps
from framework.core.errors import InvalidArgumentError
from framework.core.layered_layout import laid_out


class Box:
    """A box of the drawing: an op, the ops of a layer, or a source."""

    def __init__(self, key, title):
        self.key, self.title = key, title
        self.lines = []  # lines of text below the title
        self.ops = {}  # name of an op -> number of its calls in this box
        self.is_source = False
        self.is_layer = False
        self.row = 0
        self.x = 0.0

    @property
    def text(self):
        names = [n if count == 1 else f"{count} × {n}" for n, count in self.ops.items()]
        shown = names if len(names) <= MANY else [*names[: MANY - 1], "..."]
        return [", ".join(shown), *self.lines] if self.is_layer else self.lines

    @property
    def width(self):
        return 24 + 7 * max(len(self.title), *(len(t) for t in ("", *self.text)))

    @property
    def height(self):
        return 24 + 14 * len([t for t in self.text if t])


MANY = 5
"""The maximum number of different ops that a layer's box names."""


def graph(tape, collapse):
    """Return (nodes, edges) of a tape's record; edges are (key, key, label)."""
    nodes, edges, producers = {}, {}, {}
    _add_sources(tape, nodes, producers)
    runs = _Runs()
    for i, step in enumerate(steps(tape)):
        layer = step.layer if collapse else None
        key = f"op{i}" if layer is None else runs.key(layer)
        if key not in nodes:
            title = step.name if layer is None else name_of(layer)
            nodes[key] = Box(key, title)
            nodes[key].is_layer = layer is not None
        node = nodes[key]
        node.ops[step.name] = node.ops.get(step.name, 0) + 1
        shape = step.out_shapes[0]
        node.lines = ["?" if shape is None else str(tuple(shape))]
        for serial in step.inputs:
            _connect(edges, producers.get(serial, (None, None)), key)
        for serial, out_shape in zip(step.outputs, step.out_shapes):
            producers[serial] = key, out_shape
    used = {key for pair in edges for key in pair}
    kept = [n for n in nodes.values() if not n.is_source or n.key in used]
    return kept, [(*pair, label) for pair, label in edges.items()]


class _Runs:
    """Assigns each op to a node of the drawing; consecutive ops of one layer share a node."""

    def __init__(self):
        self._last, self._count = None, 0

    def key(self, layer):
        if layer is not self._last:
            self._last = layer
            self._count += 1
        return f"layer{self._count}"


def _add_sources(tape, nodes, producers):
    for variable in tape.watched_variables():
        key = f"v{variable.serial}"
        node = nodes[key] = Box(key, getattr(variable, "path", None) or variable.name)
        node.is_source = True
        node.lines = [str(tuple(variable.array.shape))]
        for serial in tape._reads.get(variable.serial, ()):
            producers[serial] = key, tuple(variable.array.shape)
    for kind, _, what, serials, *_ in tape._notes:
        if kind.startswith("watch"):
            key = f"t{serials[0]}"
            node = nodes[key] = Box(key, "watched")
            node.is_source = True
            node.lines = [str(tuple(what[1]))]
            producers[serials[0]] = key, what[1]


def _connect(edges, origin, key):
    source, shape = origin
    if source is not None and source != key:
        edges.setdefault((source, key), "" if shape is None else str(tuple(shape)))


# ---- output for Graphviz -------------------------------------------------------------------------


def to_dot(tape, collapse=True):
    """Return the graph in the DOT language of Graphviz."""
    nodes, edges = graph(tape, collapse)
    lines = ["digraph tape {", "  node [shape=box, fontname=Helvetica, fontsize=11];"]
    for node in nodes:
        label = "\\n".join(_quoted(t) for t in (node.title, *node.text) if t)
        style = ", style=filled, fillcolor=lightgrey" if node.is_source else ""
        lines.append(f'  {node.key} [label="{label}"{style}];')
    lines += [f'  {a} -> {b} [label="{_quoted(label)}"];' for a, b, label in edges]
    return "\n".join([*lines, "}"])


def _quoted(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


# ---- output as SVG -------------------------------------------------------------------------------

DROP, MARGIN = 44, 16
FILLS = {True: "#eceff4", False: "#ffffff"}


def plot(tape, to_file="tape.svg", collapse=True):
    """Write the drawing of a tape's record as an SVG file and return the file's path."""
    if not str(to_file).lower().endswith(".svg"):
        raise InvalidArgumentError(
            f"plot: to_file must end in '.svg', got {str(to_file)!r}. For other formats pass "
            "tape.to_dot() to Graphviz."
        )
    with open(to_file, "w", encoding="utf-8") as file:  # noqa: PTH123 (no pathlib at import)
        file.write(svg(tape, collapse))
    return to_file


def svg(tape, collapse=True):
    """Return the drawing as the text of an SVG file."""
    nodes, edges = graph(tape, collapse)
    rows = laid_out(nodes, [(a, b) for a, b, _ in edges])
    for node in nodes:
        node.x += MARGIN
    width = max([n.x + n.width / 2 for n in nodes], default=0) + MARGIN
    tops, y = [], MARGIN
    for row in rows:
        tops.append(y)
        y += max(n.height for n in row) + DROP
    height = max(y - DROP, 0) + MARGIN
    by_key = {n.key: n for n in nodes}
    parts = [_arrow(by_key[a], by_key[b], tops) for a, b, _ in edges]
    parts += [_box(node, tops[node.row]) for node in nodes]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif">'
    )
    marker = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#4c566a"/></marker></defs>'
    )
    return "\n".join([head, marker, *parts, "</svg>\n"])


def _arrow(start, end, tops):
    x1, y1 = start.x, tops[start.row] + start.height
    x2, y2 = end.x, tops[end.row]
    half = DROP / 2
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + half:.1f} {x2:.1f} {y2 - half:.1f} '
        f'{x2:.1f} {y2:.1f}" fill="none" stroke="#4c566a" marker-end="url(#tip)"/>'
    )


def _box(node, top):
    x = node.x - node.width / 2
    radius = 8 if node.is_source else 3
    rect = (
        f'<rect x="{x:.1f}" y="{top:.1f}" width="{node.width}" height="{node.height}" '
        f'rx="{radius}" fill="{FILLS[node.is_source]}" stroke="#4c566a"/>'
    )
    parts = [rect, _text(node.x, top + 16, 12, node.title)]
    for i, text in enumerate(t for t in node.text if t):
        parts.append(_text(node.x, top + 31 + 14 * i, 11, text))
    return "\n".join(parts)


def _text(x, y, size, text):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="middle" '
        f'fill="#2e3440">{_escaped(text)}</text>'
    )


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
