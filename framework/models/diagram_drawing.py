"""Draw the diagram of a model: layout, SVG and, with Matplotlib, PNG or PDF."""

from itertools import pairwise

from framework.core.errors import InvalidArgumentError
from framework.core.layered_layout import laid_out
from framework.models.diagram import ModelCluster

DROP, MARGIN = 40, 16  # the distance between rows, and the margin around a cluster
TITLE, LINE = 13, 11  # font sizes of titles and of other lines
DARK, PALE, LINES = "#2e3440", "#eceff4", "#4c566a"
COLORS = {True: "#2e7d32", False: "#b71c1c", None: DARK}
"""The colors of "Trainable" and "Non-trainable", and of other lines."""

DIRECTIONS = ("TB", "BT", "LR", "RL")


class Waypoint:
    """A point where an edge crosses a row that lies between the rows of its two ends."""

    is_source, width = False, 8

    def __init__(self, key):
        self.key, self.row, self.x = key, 0, 0


class Drawing:
    """The positions of a diagram's rectangles and edges.

    Args:
        cluster: the diagram.
        direction: where data flows: "TB" (down), "BT", "LR" or "RL".
    """

    def __init__(self, cluster, direction="TB"):
        if direction not in DIRECTIONS:
            raise InvalidArgumentError(
                f"plot_model: rankdir: expected 'TB', 'BT', 'LR' or 'RL', got {direction!r}."
            )
        self.across, self.forward = direction in ("LR", "RL"), direction in ("TB", "LR")
        self.places = {}  # maps a key to (item, left, top, width, height)
        self.crossed = {}  # maps an edge to the waypoints between its ends
        breadth, length = self._measured(cluster)
        self.width, self.height = (length, breadth) if self.across else (breadth, length)
        self._place(cluster, 0, 0)
        if not self.forward:
            self._mirror()
        placed = list(self.places.values())
        self.clusters = [p for p in placed if isinstance(p[0], ModelCluster)]
        self.boxes = [p for p in placed if not isinstance(p[0], (ModelCluster, Waypoint))]
        self.edges_of = cluster.all_edges()
        self.edges = [self._edge(edge) for edge in self.edges_of]

    def _measured(self, item):
        """Set the sizes of an item and of the items in it, and their positions; return its sizes.

        `width` is measured across the direction of data flow, `length` along it.
        """
        if not isinstance(item, ModelCluster):
            size = box_size(item)
            item.width, item.length = size[::-1] if self.across else size
            return item.width, item.length
        for inner in item.items:
            inner.row = inner.x = 0
            self._measured(inner)
        # the space that the title needs (along, across) the direction of data flow
        title = (0, TITLE) if self.across else (TITLE, 0)
        along, item.width = MARGIN + title[0], 2 * MARGIN
        for row in self._rows(item):
            length = max(getattr(inner, "length", 0) for inner in row)
            for inner in row:
                inner.x += MARGIN + title[1]
                inner.along = along
                inner.length = length if isinstance(inner, Waypoint) else inner.length
                item.width = max(item.width, inner.x + inner.width / 2 + MARGIN)
            along += length + DROP
        item.length = along - DROP + MARGIN + (0 if self.forward else title[0])
        return item.width, item.length

    def _rows(self, cluster):
        """Return the rows of the layout: items, and waypoints where edges cross a row."""
        rows = laid_out(cluster.items, [link[:2] for link in cluster.links])
        at = {item.key: item.row for item in cluster.items}
        cluster.waypoints, links = [], []
        for source, target, edge in cluster.links:
            between = range(at[source] + 1, at[target])
            self.crossed[edge] = [Waypoint(f"{edge[0]} {edge[1]} {row}") for row in between]
            cluster.waypoints += self.crossed[edge]
            keys = [source, *(point.key for point in self.crossed[edge]), target]
            links += pairwise(keys)
        if not cluster.waypoints:
            return rows
        for item in cluster.items:
            item.row = item.x = 0
        return laid_out([*cluster.items, *cluster.waypoints], links)

    def _place(self, item, across, along):
        left, top = (along, across) if self.across else (across, along)
        size = (item.length, item.width) if self.across else (item.width, item.length)
        self.places[item.key] = item, left, top, *size
        if isinstance(item, ModelCluster):
            for inner in (*item.items, *item.waypoints):
                self._place(inner, across + inner.x - inner.width / 2, along + inner.along)

    def _mirror(self):
        for key, (item, left, top, width, height) in self.places.items():
            x = self.width - left - width if self.across else left
            y = top if self.across else self.height - top - height
            self.places[key] = item, x, y, width, height

    def _edge(self, edge):
        """Return the Bézier curves of an edge, each of four points: its ends and control points."""
        source, target = edge
        if source == target:
            return [self._loop(source)]
        points = [self._side(source, True)]
        for waypoint in self.crossed.get(edge, ()):
            points += [self._side(waypoint.key, False), self._side(waypoint.key, True)]
        points.append(self._side(target, False))
        return [self._curve(a, b, i % 2 == 1) for i, (a, b) in enumerate(pairwise(points))]

    def _curve(self, start, end, straight):
        half = 0 if straight else DROP / 2 if self.forward else -DROP / 2
        dx, dy = (half, 0) if self.across else (0, half)
        return start, (start[0] + dx, start[1] + dy), (end[0] - dx, end[1] - dy), end

    def _loop(self, key):
        """Return the curve of a layer that is called on its own output."""
        _, left, top, width, height = self.places[key]
        x, y = left + width, top + height / 2
        return (x, y + 6), (x + 20, y + 14), (x + 20, y - 14), (x, y - 6)

    def _side(self, key, leaving):
        _, left, top, width, height = self.places[key]
        far = leaving == self.forward
        if self.across:
            return left + width * far, top + height / 2
        return left + width / 2, top + height * far


def box_size(box):
    """Return (width, height) of a box with its texts."""
    longest = max(len(box.title) * 7.6, *(len(text) * 6.2 for text in ("", *box.texts)))
    return 20 + longest, 24 + 15 * len(box.texts) + 4 * bool(box.texts)


# ---- SVG -----------------------------------------------------------------------------------------


def svg(drawing):
    """Return a drawing as the text of an SVG file."""
    size = f"{drawing.width:.0f} {drawing.height:.0f}"
    width, height = size.split()
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {size}" font-family="Helvetica, Arial, sans-serif">'
    )
    marker = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="{LINES}"/></marker></defs>'
    )
    parts = [head, marker, f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for cluster, left, top, *size in drawing.clusters[1:]:
        parts.append(_rectangle(left, top, *size, "none", 'stroke-dasharray="5 3"'))
        parts.append(_label(left + 8, top + TITLE + 2, LINE, cluster.title, DARK, "start"))
    for curves in drawing.edges:
        x, y = curves[0][0]
        path = "".join("C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in c[1:]) for c in curves)
        parts.append(
            f'<path d="M{x:.1f} {y:.1f}{path}" fill="none" stroke="{LINES}" '
            'marker-end="url(#tip)"/>'
        )
    for box, left, top, *size in drawing.boxes:
        parts.append(_rectangle(left, top, *size, PALE, 'rx="3"'))
        middle = left + size[0] / 2
        for y, font, text, color, weight in lines_of(box):
            parts.append(_label(middle, top + y, font, text, color, "middle", weight))
    return "\n".join([*parts, "</svg>\n"])


def lines_of(box):
    """Yield (baseline, font size, text, color, weight) of each line of a box."""
    yield 17, TITLE, box.title, DARK, "bold"
    for number, text in enumerate(box.texts):
        last = number == len(box.texts) - 1
        yield 35 + 15 * number, LINE, text, COLORS[box.trainable if last else None], "normal"


def _rectangle(left, top, width, height, fill, more):
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{fill}" stroke="{LINES}" {more}/>'
    )


def _label(x, y, size, text, color, anchor, weight="normal"):
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{color}">{text}</text>'
    )


# ---- Matplotlib ----------------------------------------------------------------------------------


def image(drawing, file, form, dpi):
    """Write a drawing to a file in one of the formats that Matplotlib supports.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import FancyArrowPatch, Rectangle
        from matplotlib.path import Path
    except ImportError:
        raise ImportError(
            f"plot_model: the format {form!r} needs Matplotlib. Install it: pip install "
            "matplotlib, or framework[plot]. SVG needs no package: to_file='model.svg'."
        ) from None
    figure = Figure((drawing.width / 96, drawing.height / 96), dpi=dpi)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    scale = 72 / 96  # font sizes are in points; the drawing's unit is a pixel of 1/96 inch
    for cluster, left, top, width, height in drawing.clusters[1:]:
        axes.add_patch(Rectangle((left, top), width, height, fill=False, ec=LINES, ls="--"))
        axes.text(left + 8, top + TITLE + 2, cluster.title, size=LINE * scale, color=DARK)
    for curves in drawing.edges:
        points = [curves[0][0], *(point for curve in curves for point in curve[1:])]
        arrow = Path(points, [Path.MOVETO, *[Path.CURVE4] * (3 * len(curves))])
        axes.add_patch(FancyArrowPatch(path=arrow, arrowstyle="-|>", mutation_scale=7, color=LINES))
    for box, left, top, width, height in drawing.boxes:
        axes.add_patch(Rectangle((left, top), width, height, fc=PALE, ec=LINES, lw=0.8))
        for y, font, text, color, weight in lines_of(box):
            axes.text(
                left + width / 2, top + y, text, size=font * scale, color=color, weight=weight,
                ha="center", parse_math=False,
            )  # fmt: skip
    figure.savefig(file, format=form, dpi=dpi)
