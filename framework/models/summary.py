"""The text that `model.summary()` prints: a table of layers, and totals."""

import re
import shutil

from framework.core import html, nest
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.operation import Operation
from framework.optimizers.asking import group_of, is_ours


def summary_text(
    model, line_length, positions, expand_nested, show_trainable, layer_range, show_groups=False
):
    """Return the table of a model's layers, and its totals; see `Model.summary`."""
    layers = list(model.layers if model._framework.graph is None else model.operations)
    first, last = _range(layers, layer_range)
    graph = model._framework.graph
    branched = graph is not None and _branched(graph)
    header = ["Layer (type)", "Output Shape", "Param #"] + ["Connected to"] * branched
    positions = positions or ([0.3, 0.56, 0.74, 1.0] if branched else [0.45, 0.80, 1.0])
    width = 108 if branched else 88
    if show_trainable:
        header.append("Trainable")
        positions, width = [*(p * 0.84 for p in positions), 1.0], width + 12
    if show_groups:
        header.append("Group")
        positions, width = [*(p * 0.7 for p in positions), 1.0], width + 32
    width = line_length or min(width, shutil.get_terminal_size().columns - 4)
    rows = []
    extra = [_trainable] if show_trainable else []
    if show_groups:
        extra.append(_group_column(model))
    for layer in layers[first:last]:
        rows += _rows(layer, graph if branched else None, expand_nested, extra, 0)
    lines = [f'Model: "{model.name}"', *table(header, rows, _widths(positions, width))]
    return "\n".join(lines + _totals(model))


def summary_html(model):
    """Return the table of a model's layers and its totals as HTML, for notebooks."""
    graph = model._framework.graph
    graph = graph if graph is not None and _branched(graph) else None
    layers = model.layers if model._framework.graph is None else model.operations
    rows = [row for layer in layers for row in _rows(layer, graph, False, [], 0)]
    header = ["Layer (type)", "Output Shape", "Param #", "Connected to"]
    caption = f'Model: "{model.name}"'
    return html.table(caption, header[: 3 if graph is None else 4], rows, _totals(model))


# ---- rows ----------------------------------------------------------------------------------------


def _rows(layer, graph, expand_nested, extra, level):
    name = "   " * level + ("└ " if level else "") + f"{layer.name} ({_kind(layer)})"
    row = [name, _output_shape(layer), _count(layer)]
    if graph is not None:
        row.append(_connections(layer, graph) if level == 0 else "-")
    rows = [row + [column(layer) for column in extra]]
    if expand_nested:
        for inner in layer.layers if _is_model(layer) else ():
            rows += _rows(inner, graph, True, extra, level + 1)
    return rows


def _is_model(layer):
    return isinstance(layer, Layer) and hasattr(layer._framework, "graph")


def _has_ends(model):
    """Return whether the model's `outputs` are known: it is functional or a built Sequential."""
    record = model._framework
    return record.graph is not None or record.output is not None


def _trainable(layer):
    has_weights = isinstance(layer, Layer) and layer.weights
    return ("Y" if layer.trainable else "N") if has_weights else "-"


def _group_column(model):
    """Return a function that describes the `groups` settings of a layer's variables as text."""
    optimizer = getattr(model, "optimizer", None)
    if not is_ours(optimizer):
        raise InvalidArgumentError(
            "summary: show_groups=True needs a compiled model, because `groups` is an argument of "
            "the optimizer. Call model.compile(...) first."
        )

    def column(layer):
        variables = layer.weights if isinstance(layer, Layer) else []
        names_of = {}  # maps the text of settings to the names of the variables that have them
        for variable in variables:
            settings = group_of(optimizer, variable)
            text = ", ".join(f"{name}={_setting(value)}" for name, value in settings.items())
            names_of.setdefault(text or "-", {})[variable.name] = None
        if len(names_of) < 2:
            return next(iter(names_of), "-")
        return "; ".join(
            f"{', '.join(names)}: {text}" for text, names in names_of.items() if text != "-"
        )

    return column


def _setting(value):
    if isinstance(value, float):
        return f"{value:g}"
    return getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)


def _kind(layer):
    if isinstance(layer, Operation):
        return type(layer).__name__
    return "".join(part.capitalize() for part in layer.operation.name.split("_"))


def _count(layer):
    if not isinstance(layer, Layer):
        return "0"
    return f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"


def _output_shape(layer):
    if not isinstance(layer, Operation):
        outputs = list(layer.outputs.values())
    elif layer._framework.first_call is not None:
        outputs = nest.flatten(layer._framework.first_call[2])
    elif _is_model(layer) and _has_ends(layer):
        outputs = layer.outputs
    elif layer.built and layer._framework.build_shapes:
        try:
            shapes = layer._framework.build_shapes
            one = next(iter(shapes.values())) if len(shapes) == 1 else None
            compute = layer.compute_output_shape
            shape = compute(**shapes) if one is None else compute(one)
        except Exception:  # if a user-defined layer raises any error, the table shows "?"
            return "?"
        return str(shape)
    else:
        return "?"
    shapes = [str(x.shape) for x in outputs if isinstance(x, KerasTensor)]
    return shapes[0] if len(shapes) == 1 else f"[{', '.join(shapes)}]"


def _connections(layer, graph):
    """Return the producers of the layer's inputs, each as name[call][output]."""
    sources = []
    calls = {}  # maps the id of an operation to the number of its calls so far
    named = {}  # maps the id of a KerasTensor to its producer as name[call][output]
    for node in graph.nodes:
        operation = node.operation if isinstance(node.operation, Layer) else node
        number = calls.get(id(operation), 0)
        calls[id(operation)] = number + 1
        for index, tensor in node.outputs.items():
            named[id(tensor)] = f"{operation.name}[{number}][{index}]"
        if layer is operation and not node.is_input:
            sources += [named.get(id(x), "?") for x in node.inputs]
    return ", ".join(sources) or "-"


def _branched(graph):
    """Return whether the graph is more than one chain of calls."""
    calls = [node for node in graph.nodes if not node.is_input]
    if any(len(node.inputs) != 1 for node in calls) or len(graph.nodes) - len(calls) != 1:
        return True
    depths = [node.depth for node in graph.nodes]
    shared = len({id(node.operation) for node in calls if isinstance(node.operation, Layer)})
    return len(set(depths)) != len(depths) or shared != sum(
        isinstance(node.operation, Layer) for node in calls
    )


def _range(layers, layer_range):
    if layer_range is None:
        return 0, len(layers)
    if len(layer_range) != 2 or not all(isinstance(n, str) for n in layer_range):
        raise InvalidArgumentError(
            "summary: layer_range must be a list of two names, the first and the last layer's, "
            f"got {layer_range!r}."
        )
    ends = [[i for i, la in enumerate(layers) if re.match(name, la.name)] for name in layer_range]
    if not all(ends):
        raise InvalidArgumentError(
            f"summary: no layer matches layer_range={layer_range!r}; the layers are "
            f"{[layer.name for layer in layers]}."
        )
    low, high = min(ends[0]), max(ends[1])
    return (min(ends[1]), max(ends[0]) + 1) if low > high else (low, high + 1)


# ---- totals --------------------------------------------------------------------------------------


def _totals(model):
    trained, fixed = model.trainable_weights, model.non_trainable_weights
    slots = list(model.optimizer.variables) if getattr(model, "optimizer", None) else []
    rows = [("Total", trained + fixed + slots), ("Trainable", trained), ("Non-trainable", fixed)]
    if slots:
        rows.append(("Optimizer", slots))
    return [f" {what} params: {_size(variables)}" for what, variables in rows]


def _size(variables):
    size = float(sum(v.array.nbytes for v in variables))
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < 1024 or unit == "TB":
            break
        size /= 1024
    return f"{sum(v.size for v in variables):,} ({size:.2f} {unit})"


# ---- the table -----------------------------------------------------------------------------------


def _widths(positions, width):
    ends = [int(p * width) if p <= 1 else int(p) for p in positions]
    widths = [end - start for start, end in zip([0, *ends], ends)]
    if min(widths) < 6:
        raise InvalidArgumentError(
            f"summary: the columns are too narrow: expected at least 6 characters each, got "
            f"{widths}. Pass a larger line_length."
        )
    widths[0] -= 1  # the table's left border takes one character
    return [w - 3 for w in widths]  # besides its text, a cell has a border and two spaces


def table(header, rows, widths):
    """Return the lines of a boxed table; long cells are wrapped."""
    numbers = {header.index("Param #")}
    head = _cells(header, widths, "┃", numbers)
    lines = [_border("┏━┳┓", widths), *head, _border("┡━╇┩", widths)]
    for i, row in enumerate(rows):
        lines += _cells(row, widths, "│", numbers)
        lines.append(_border("├─┼┤" if i < len(rows) - 1 else "└─┴┘", widths))
    return lines


def _border(signs, widths):
    left, line, middle, right = signs
    return left + middle.join(line * (w + 2) for w in widths) + right


def _cells(row, widths, side, right_aligned):
    columns = [_wrapped(cell, width) for cell, width in zip(row, widths)]
    lines = []
    for k in range(max(map(len, columns))):
        cells = []
        for i, (column, width) in enumerate(zip(columns, widths)):
            text = column[k] if k < len(column) else ""
            cells.append(text.rjust(width) if i in right_aligned else text.ljust(width))
        lines.append(f"{side} " + f" {side} ".join(cells) + f" {side}")
    return lines


def _wrapped(text, width):
    """Return lines of at most `width` characters, broken at spaces if possible."""
    lines = []
    while len(text) > width:
        cut = text.rfind(" ", 1, width + 1)
        indent = len(text) - len(text.lstrip())
        if cut <= indent:
            cut = width
        lines.append(text[:cut])
        text = text[cut:].lstrip()
    return [*lines, text]
