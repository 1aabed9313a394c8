"""Graphs of models for TensorBoard's graph page.

Two graphs are written: the layers, from the model's config, which TensorBoard reads itself
("Conceptual graph"), and the ops of a forward pass inside their layers.
"""

import numpy as np

from framework.compiler.ir import DrawNode, GraphRecorder, OpNode, Value
from framework.compiler.result_packing import result_packer
from framework.core import nest
from framework.core.dtypes import as_dtype
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.training.summaries.contents import Content, plugin_metadata, tensor
from framework.training.summaries.event_file import messages


def layers_content(model):
    """Return the content for the tag "keras": the model's config; None if it has none."""
    try:
        text = model.to_json()
    except Exception:  # a user's class without a config may raise any error here
        return None
    if '"layers"' not in text:  # the config of a Model subclass does not contain its layers
        return None
    return Content(tensor(text).array, plugin_metadata("graph_keras_model", b"1"))


def graph_def_of(model, inputs=None):
    """Return a `GraphDef` of the ops of a model's forward pass.

    Args:
        model: a built model.
        inputs: a nest of tensors; zeros in the shape of the model's inputs if None.
    """
    inputs = _zeros(model) if inputs is None else inputs
    arguments = [leaf for leaf in nest.flatten(inputs) if type(leaf) is Tensor]
    recorder = GraphRecorder(arguments, undoable=True)
    try:
        with recorder:
            result = model(inputs, training=False)
            tensors, _ = result_packer(result)
    finally:
        recorder.undo()
    return _Drawing(recorder.graph(tensors or []), model.name).graph


def _zeros(model):
    """Return one row of zeros for each input of a model with known input shapes."""
    symbols = getattr(model, "inputs", None)
    if not symbols:
        raise InvalidArgumentError(
            f"tf.summary.graph: expected a GraphDef or a model with known inputs, got {model!r}."
        )
    shapes = [[1 if size is None else size for size in x.shape] for x in symbols]
    zeros = [Tensor(np.zeros(s, as_dtype(x.dtype).np)) for s, x in zip(shapes, symbols)]
    return zeros[0] if len(zeros) == 1 else zeros


class _Drawing:
    """Converts a traced graph to a `GraphDef`, with a node for each op."""

    def __init__(self, graph, model):
        self._model = model
        self._kinds = messages("compat.proto.attr_value_pb2").AttrValue
        self._shapes = messages("compat.proto.tensor_shape_pb2").TensorShapeProto
        self._dtype = messages("compat.tensorflow_stub.dtypes").as_dtype
        self.graph = messages("compat.proto.graph_pb2").GraphDef()
        self.graph.versions.producer = 22
        self._names, self._used = {}, set()
        for number, value in enumerate(graph.arguments):
            self._add(f"inputs/input_{number}", "Placeholder", [value])
        for node in graph.nodes:
            if isinstance(node, (OpNode, DrawNode)):
                self._add_op(node)
        for number, value in enumerate(graph.results):
            self._add(f"outputs/output_{number}", "Identity", [], [value])

    def _add_op(self, node):
        scope = "" if node.layer is None else f"{self._inside(node.layer.path)}/"
        name = node.op.name if isinstance(node, OpNode) else "random"
        self._add(scope + name, name, node.outputs, node.inputs)

    def _inside(self, path):
        return path if f"{path}/".startswith(f"{self._model}/") else f"{self._model}/{path}"

    def _add(self, name, op, outputs, inputs=()):
        names = [self._name_of(value) for value in inputs]
        name = self._unique(name)
        node = self.graph.node.add(name=name, op=op)
        node.input.extend(n for n in names if n is not None)
        shapes = [self._shape(value) for value in outputs]
        if shapes:
            listed = self._kinds.ListValue(shape=shapes)
            node.attr["_output_shapes"].CopyFrom(self._kinds(list=listed))
            node.attr["T"].CopyFrom(self._kinds(type=self._type(outputs[0])))
        for place, value in enumerate(outputs):
            self._names[id(value)] = name if place == 0 else f"{name}:{place}"

    def _name_of(self, value):
        """Return the name of the node that computes a value; None for a constant. A variable's node
        is created at its first use."""
        if type(value) is not Value:
            return None
        if id(value) not in self._names and value.variable is not None:
            self._add(self._inside(value.variable.path), "VariableV2", [value])
        return self._names.get(id(value))

    def _unique(self, name):
        name, number = name.replace(":", "_").strip("/"), 0
        found = name
        while found in self._used:
            number += 1
            found = f"{name}_{number}"
        self._used.add(found)
        return found

    def _shape(self, value):
        return self._shapes(dim=[self._shapes.Dim(size=size) for size in value.shape])

    def _type(self, value):
        try:
            return self._dtype(value.dtype.name).as_datatype_enum
        except TypeError:
            return 0
