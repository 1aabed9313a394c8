"""The diagram of a model: boxes of layers, clusters of nested models, and edges between them."""

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.core import InputLayer
from framework.models.functional import Functional
from framework.models.graph import CallNode
from framework.models.sequential import Sequential


class LayerBox:
    """One layer or op of a diagram.

    Args:
        key: its identifier in the DOT language.
        kind: the layer's class name.
        name: the layer's name; None if it is not shown.
        lines: further lines of text, as pairs (label, value).
        trainable: True, False, or None if it is not shown.
    """

    is_source = False

    def __init__(self, key, kind, name, lines, trainable):
        self.key, self.kind, self.name = key, kind, name
        self.lines, self.trainable = lines, trainable

    @property
    def title(self):
        return self.kind if self.name is None else f"{self.name} ({self.kind})"

    @property
    def texts(self):
        """The lines of text below the title of the box."""
        texts = [f"{what}: {value}" for what, value in self.lines]
        if self.trainable is not None:
            texts.append("Trainable" if self.trainable else "Non-trainable")
        return texts

    def end(self, index):
        return self.key


class ModelCluster:
    """A model in a diagram: the boxes of its layers and the clusters of nested models, in order.

    Attributes:
        items: boxes and, with `expand_nested`, the clusters of nested models.
        links: tuples (key of an item, key of a later item, edge): the edges that affect the layout.
        edges: pairs (key of the source box, key of the target box).
        starts, ends: the keys of the boxes of the model's inputs and outputs.
    """

    is_source = False

    def __init__(self, key, title):
        self.key, self.title = key, title
        self.items, self.links, self.edges, self.starts, self.ends = [], [], [], [], []

    def start(self, index):
        return self.starts[min(index, len(self.starts) - 1)]

    def end(self, index):
        return self.ends[min(index, len(self.ends) - 1)]

    def connect(self, source, output, target, index):
        """Add the edge from an item's output to an item's input."""
        end = target.start(index) if isinstance(target, ModelCluster) else target.key
        edge = source.end(output), end
        if edge in self.edges:
            return
        self.edges.append(edge)
        order = [item.key for item in self.items]
        # Only edges to later items affect the layout. A layer that is called again can also have an
        # edge from a later item.
        if order.index(source.key) < order.index(target.key):
            self.links.append((source.key, target.key, edge))

    def boxes(self):
        """Yield all boxes, including those in clusters."""
        for item in self.items:
            if isinstance(item, ModelCluster):
                yield from item.boxes()
            else:
                yield item

    def all_edges(self):
        """Return all edges, including those in clusters."""
        inner = [item.all_edges() for item in self.items if isinstance(item, ModelCluster)]
        return sum(inner, list(self.edges))


def diagram(model, function, expand_nested, **shown):
    """Return the diagram of a model, a `ModelCluster`.

    Args:
        model: a built model; a subclassed model is one box.
        function: the caller's name, for errors.
        expand_nested: show the layers of nested models.
        shown: what the boxes show: `names`, `shapes`, `dtype`, `activations`, `trainable`.
    """
    if not getattr(model, "built", False):
        raise InvalidArgumentError(
            f"{function}: expected a built model, got {getattr(model, 'name', model)!r}, which is "
            "not built. Call model.build(input_shape), or the model on data, first."
        )
    return _Builder(expand_nested, shown).cluster(model)


class _Builder:
    """Builds the clusters and boxes of a model, and numbers their keys consecutively."""

    def __init__(self, expand_nested, shown):
        self.expand_nested, self.shown, self.count = expand_nested, shown, 0

    def cluster(self, model):
        cluster = ModelCluster(self._key("cluster_"), model.name)
        if isinstance(model, Sequential):
            self._add_chain(cluster, model)
        elif isinstance(model, Functional):
            self._add_graph(cluster, model)
        else:
            cluster.items.append(self._item(model, None))
        cluster.starts = cluster.starts or [next(cluster.boxes()).key]
        cluster.ends = cluster.ends or [cluster.items[-1].end(0)]
        return cluster

    def _key(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def _item(self, layer, call):
        if self.expand_nested and isinstance(layer, (Functional, Sequential)):
            return self.cluster(layer)
        return LayerBox(self._key("layer_"), *_texts(layer, call, self.shown))

    def _add_chain(self, cluster, model):
        for layer in model.layers:
            cluster.items.append(self._item(layer, None))
            if len(cluster.items) > 1:
                cluster.connect(cluster.items[-2], 0, cluster.items[-1], 0)

    def _add_graph(self, cluster, model):
        graph = model._framework.graph
        items = {}  # maps the id of a layer or call to its item
        for operation in model.operations:
            items[id(operation)] = self._item(operation, _first_call(graph, operation))
            cluster.items.append(items[id(operation)])
        made = {}  # maps the id of a KerasTensor to (item, output index)
        for node in graph.nodes:
            item = items.get(id(node.operation)) or items[id(node)]
            for index, tensor in enumerate(() if node.is_input else node.inputs):
                cluster.connect(*made[id(tensor)], item, index)
            made.update({id(tensor): (item, index) for index, tensor in node.outputs.items()})
        ends = [made[id(graph.tensor(x))] for x in model.outputs]
        cluster.starts = [made[id(graph.tensor(x))][0].key for x in model.inputs]
        cluster.ends = [item.end(index) for item, index in ends]


def _first_call(graph, operation):
    """Return a layer's first `CallNode`; for an op, `operation` is the `CallNode` itself."""
    return next(n for n in graph.nodes if n is operation or n.operation is operation)


# ---- texts ---------------------------------------------------------------------------------------


def _texts(layer, call, shown):
    """Return `kind`, `name`, `lines` and `trainable` for the `LayerBox` of a layer."""
    inputs, outputs = _tensors(layer, call)
    lines = []
    activation = getattr(layer, "activation", None)
    if shown["activations"] and activation is not None:
        name = getattr(activation, "name", None) or getattr(activation, "__name__", None)
        lines.append(("Activation", name or str(activation)))
    if shown["shapes"]:
        if not isinstance(layer, InputLayer):
            lines.append(("Input shape", _text(inputs, lambda x: str(tuple(x.shape)))))
        lines.append(("Output shape", _text(outputs, lambda x: str(tuple(x.shape)))))
    if shown["dtype"]:
        lines.append(("Output dtype", _text(outputs, lambda x: str(x.dtype))))
    has_weights = isinstance(layer, Layer) and layer.weights
    trainable = bool(layer.trainable) if shown["trainable"] and has_weights else None
    if isinstance(layer, CallNode) and not hasattr(layer.operation, "_framework"):
        kind = "".join(part.capitalize() for part in layer.operation.name.split("_"))
    else:
        kind = type(getattr(layer, "operation", layer)).__name__
    return kind, layer.name if shown["names"] else None, lines, trainable


def _tensors(layer, call):
    """Return (inputs, outputs) of `call`, or of `layer` without a call; (None, None) if unknown."""
    if call is not None:
        return call.inputs, list(call.outputs.values())
    try:
        return layer.input, layer.output
    except (AttributeError, ValueError):
        return None, None


def _text(tensors, of):
    """Join the strings `of(tensor)` for one or several tensors into one string."""
    if isinstance(tensors, dict):
        return ", ".join(f"{name}: {_text(x, of)}" for name, x in tensors.items())
    found = [of(x) for x in nest.flatten(tensors) if isinstance(x, KerasTensor)]
    if len(found) == 1:
        return found[0]
    return f"[{', '.join(found)}]" if found else "?"
