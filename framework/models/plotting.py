"""plot_model and model_to_dot: a model as an image, and in Graphviz's DOT language."""

import io
import sys
from pathlib import Path
from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.models.diagram import ModelCluster, diagram
from framework.models.diagram_drawing import COLORS, Drawing, image, svg

_TEXT = ("dot", "gv", "raw")


def plot_model(
    model: Any, to_file: Any = "model.png", show_shapes: bool = False, show_dtype: bool = False,
    show_layer_names: bool = False, rankdir: str = "TB", expand_nested: bool = False,
    dpi: int = 200, show_layer_activations: bool = False, show_trainable: bool = False,
    splines: str = "ortho", **kwargs: Any,
) -> Any:  # fmt: skip
    """Write a picture of a model's layers and their connections.

    Args:
        model: a built model; a subclassed model is one box.
        to_file: the path. "*.svg" needs no other library, "*.png", "*.pdf" and other formats of
            Matplotlib need Matplotlib; "*.dot" is Graphviz's language.
        show_shapes: show input and output shapes.
        show_dtype: show the outputs' dtypes.
        show_layer_names: show names beside classes.
        rankdir: the direction of the flow: "TB" (down), "BT", "LR" or "RL".
        expand_nested: show the layers of nested models, framed.
        dpi: pixels per inch of a PNG.
        show_layer_activations: show the activation of layers that have one.
        show_trainable: show whether layers with weights are trainable.
        splines: how Graphviz draws edges, in "*.dot" only.

    Returns:
        In a notebook the picture, otherwise None.

    Raises:
        ValueError: the model is not built, or the format is unknown.

    Example:
        >>> import tempfile
        >>> from framework import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, name="head")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plot_model(model, f"{folder}/model.svg", show_layer_names=True)
        ...     "head (Dense)" in Path(f"{folder}/model.svg").read_text()
        True
    """
    _check_unused(kwargs, "plot_model")
    cluster = diagram(
        model, "plot_model", expand_nested, names=show_layer_names, shapes=show_shapes,
        dtype=show_dtype, activations=show_layer_activations, trainable=show_trainable,
    )  # fmt: skip
    dot = ModelDot(cluster, rankdir, dpi, splines)
    to_file = str(to_file)
    form = Path(to_file).suffix[1:].lower() or "png"
    dot.write(to_file, format=form)
    return _shown(to_file, form)


def model_to_dot(
    model: Any, show_shapes: bool = False, show_dtype: bool = False, show_layer_names: bool = True,
    rankdir: str = "TB", expand_nested: bool = False, dpi: int = 200, subgraph: bool = False,
    show_layer_activations: bool = False, show_trainable: bool = False, splines: str = "ortho",
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return a model as a graph in the DOT language.

    Args:
        model: a built model; a subclassed model is one box.
        show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi: as in `plot_model`.
        subgraph: return a cluster, for use in another graph.
        show_layer_activations, show_trainable: as in `plot_model`.
        splines: how Graphviz draws edges: "ortho", "curved", "polyline", "spline" or "line".

    Returns:
        A `ModelDot`: `to_string()` is the text, `write(path, format=...)` writes text or a picture,
        `create(format=...)` returns its bytes.

    Raises:
        ValueError: the model is not built.

    Example:
        >>> from framework import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, name="head")])
        >>> print(model_to_dot(model).to_string().splitlines()[0])
        digraph G {
    """
    _check_unused(kwargs, "model_to_dot")
    cluster = diagram(
        model, "model_to_dot", expand_nested, names=show_layer_names, shapes=show_shapes,
        dtype=show_dtype, activations=show_layer_activations, trainable=show_trainable,
    )  # fmt: skip
    return ModelDot(cluster, rankdir, dpi, splines, subgraph)


class ModelDot:
    """A model's diagram, as text in the DOT language or as an image."""

    def __init__(self, cluster, rankdir, dpi, splines, subgraph=False):
        self._cluster, self._rankdir, self._dpi = cluster, rankdir, dpi
        self._splines, self._subgraph = splines, subgraph
        self._drawing = Drawing(cluster, rankdir)

    def to_string(self) -> str:
        """Return the text in the DOT language."""
        settings = {"rankdir": self._rankdir, "dpi": self._dpi, "splines": self._splines}
        head = ["digraph G {"]
        head += [f'  {name}="{_quoted(str(value))}";' for name, value in settings.items()]
        head.append('  node [shape=box, fontname="Helvetica"];')
        if self._subgraph:
            lines = _cluster_lines(self._cluster, "")
            edges = [f"  {a} -> {b};" for a, b in self._cluster.all_edges()]
            return "\n".join([*lines[:-1], *edges, lines[-1], ""])
        lines = [line for item in self._cluster.items for line in _item_lines(item, "  ")]
        edges = [f"  {a} -> {b};" for a, b in self._cluster.all_edges()]
        return "\n".join([*head, *lines, *edges, "}", ""])

    def create(self, format: str = "svg") -> bytes:
        """Return the bytes of a file: text ("dot"), "svg", or a format of Matplotlib ("png").

        Raises:
            ValueError: the format is unknown.
            ImportError: the format needs Matplotlib, which is not installed.
        """
        if format in _TEXT:
            return self.to_string().encode()
        if format == "svg":
            return svg(self._drawing).encode()
        file = io.BytesIO()
        try:
            image(self._drawing, file, format, self._dpi)
        except ValueError:  # Matplotlib raises a ValueError for an unknown format
            raise InvalidArgumentError(
                "plot_model: to_file: expected an ending such as '.svg', '.png', '.pdf' or '.dot', "
                f"got {'.' + format!r}."
            ) from None
        return file.getvalue()

    def write(self, path: Any, prog: Any = None, format: str = "raw", encoding: Any = None) -> bool:
        """Write the text (the format "raw" or "dot"), or a picture, to a file.

        Args:
            path: the file.
            prog, encoding: accepted for pydot's signature; have no effect.
            format: as in `create`.
        """
        Path(path).write_bytes(self.create(format))
        return True

    def __str__(self):
        return self.to_string()


def _item_lines(item, indent):
    if isinstance(item, ModelCluster):
        return _cluster_lines(item, indent)
    label = "\\n".join(_quoted(text) for text in (item.title, *item.texts))
    color = f', color="{COLORS[item.trainable]}"' if item.trainable is not None else ""
    return [f'{indent}{item.key} [label="{label}"{color}];']


def _cluster_lines(cluster, indent):
    inner = [line for item in cluster.items for line in _item_lines(item, indent + "  ")]
    return [
        f"{indent}subgraph {cluster.key} {{",
        f'{indent}  label="{_quoted(cluster.title)}"; labeljust=l; style=dashed;',
        *inner,
        indent + "}",
    ]


def _quoted(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _check_unused(kwargs, function):
    if kwargs.pop("layer_range", None) is not None:
        raise InvalidArgumentError(
            f"{function}: layer_range is not supported any more. Plot a model of these layers."
        )
    if kwargs:
        raise InvalidArgumentError(
            f"{function}: unknown arguments {sorted(kwargs)}; see help({function})."
        )


def _shown(file, form):
    """Return the image for an IPython shell; None outside one or for another format."""
    ipython = sys.modules.get("IPython")  # IPython may be imported by a script, without a shell
    if form not in ("png", "svg") or not ipython or ipython.get_ipython() is None:
        return None
    from IPython import display

    return getattr(display, "SVG" if form == "svg" else "Image")(filename=file)
