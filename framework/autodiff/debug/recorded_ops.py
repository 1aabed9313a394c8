"""A readable view of a tape's record: its ops with layers, lines, shapes and bytes.

A record does not keep all shapes and dtypes. Missing ones are inferred from the others if
possible; under `debugging.trace()` all are known.
"""

import inspect

import numpy as np

from framework.autodiff.notes import LAYER
from framework.core.tensor import Tensor


class RecordedOp:
    """One recorded op.

    Attributes:
        op: the op.
        inputs: serials of the tracked inputs. outputs: serials of all outputs.
        edges: (serial of an input, {name: value}) for each input with a rule: the values that the
            rule reads, by parameter name.
        layer: the layer that called the op, or None. `line`: the source line, known only under a
            trace.
        in_shapes, out_shapes: shapes of `inputs` and `outputs`, None for an unknown one.
        dtype: the output's dtype, None if unknown.
    """

    def __init__(self, op, index):
        self.op, self.index = op, index
        self.inputs, self.outputs, self.edges = [], (), []
        self.positions = []  # positions of the tracked inputs among all inputs
        self.known = {}  # serial of an input -> its shape, if the edge stores it
        self.layer, self.line, self.dtype = None, "", None
        self.in_shapes, self.out_shapes = (), ()
        self.kept = {}  # id of an array that the record keeps alive -> the array

    @property
    def name(self):
        return self.op.name

    @property
    def bytes(self):
        return sum(array.nbytes for array in self.kept.values())


def name_of(layer):
    """Return the displayed name of a layer: its path if it has one, else its name."""
    return getattr(layer, "path", None) or layer.name


def steps(tape):
    """Return a `RecordedOp` for each recorded op of a tape, in order."""
    recorded = []
    for index, edge in enumerate(tape._edges):
        outputs, last, op, rule, serial, shape, count, read = edge
        if last:
            recorded.append(RecordedOp(op, index))
        step = recorded[-1]
        if rule is None:
            _add_joined(step, outputs, read)
        else:
            step.outputs = (outputs,)
            reads = _named(rule, count, read)
            step.edges.append((serial, reads))
            step.inputs.append(serial)
            step.known[serial] = shape
            step.positions.append(next(i for i, vjp in enumerate(op.vjps) if vjp is rule))
            _keep(step, read)
    layers = Layers(tape)
    for step in recorded:
        step.layer = layers.at(step.index)
    _fill_from_event_log(tape, recorded)
    _find_shapes(tape, recorded)
    return recorded


def _add_joined(step, outputs, read):
    step.outputs = tuple([serial for serial, _, _ in outputs])
    step.out_shapes = tuple([shape for _, shape, _ in outputs])
    step.dtype = outputs[0][2]
    for ends, shapes, rule, arguments, *_ in read:
        for serial, shape in zip(ends, shapes, strict=True):
            if serial is not None:
                step.inputs.append(serial)
                step.in_shapes += (shape,)
                step.edges.append((serial, _named(rule, 2, arguments)))
        _keep(step, arguments)


def _named(rule, count, read):
    """Return the values that a rule reads, under their names in the rule's signature."""
    if not count:
        return {}
    names = [n for n in list(inspect.signature(rule).parameters)[1:] if n != "needed"]
    return dict(zip(names, (read,) if count == 1 else read, strict=False))


def _keep(step, read):
    if type(read) is Tensor:
        array = read.array
        while isinstance(array.base, np.ndarray):
            # A view keeps the memory of its base alive.
            array = array.base
        step.kept[id(array)] = array
    elif isinstance(read, np.ndarray):
        step.kept[id(read)] = read
    elif isinstance(read, (tuple, list)):
        for part in read:
            _keep(step, part)


class Layers:
    """Finds, for each edge of the record, the layer whose call was open when a tape recorded it."""

    def __init__(self, tape):
        self._changes = [(index, layer) for kind, index, layer, *_ in tape._notes if kind is LAYER]

    def at(self, index):
        current = None
        for start, layer in self._changes:
            if start > index:
                break
            current = layer
        return current


def _fill_from_event_log(tape, found):
    if tape._event_log is None:
        return
    entries = {e.outputs: e for e in tape._event_log.entries if e.kind == "op"}
    for step in found:
        entry = entries.get(step.outputs)
        if entry is not None:
            step.line, step.layer, step.dtype = entry.line, entry.layer, entry.dtype
            count = len(step.outputs)
            step.in_shapes, step.out_shapes = entry.shapes[:-count], entry.shapes[-count:]


# ---- inference of shapes -------------------------------------------------------------------------


def _find_shapes(tape, found):
    """Infer missing shapes and dtypes from those that the record contains."""
    known = {}  # serial of a tensor -> (shape, dtype), where dtype may be None
    for variable in tape.watched_variables():
        for serial in tape._reads.get(variable.serial, ()):
            known[serial] = variable.array.shape, variable.array.dtype
    for tensor_or_pair in _watched(tape):
        known.update(tensor_or_pair)
    for step in found:
        _learn(step, known)
    for step in found:
        _infer(step, known)
    for step in reversed(found):
        _infer_inputs(step, known)
    for step in found:
        _infer(step, known)
        if not step.in_shapes:
            step.in_shapes = tuple([known.get(s, (None,))[0] for s in step.inputs])
        if not step.out_shapes:
            step.out_shapes = tuple([known.get(s, (None,))[0] for s in step.outputs])
        if step.dtype is None:
            step.dtype = _dtype_of(step, known)


def _watched(tape):
    from_notes = [note for note in tape._notes if note[0].startswith("watch")]
    return [{serials[0]: (what[1], what[2])} for _, _, what, serials in from_notes]


def _learn(step, known):
    """Add to `known` the shapes and dtypes of the values that an op's edges keep."""
    for serial, reads in step.edges:
        for value in _flat(reads.values()):
            if value.serial is not None:
                known[value.serial] = value.array.shape, value.array.dtype
        y = reads.get("y")
        if type(y) is Tensor and len(step.outputs) == 1:
            known[step.outputs[0]] = y.array.shape, y.array.dtype
        shapes = [v for name, v in reads.items() if name.endswith("_shape")]
        if len(shapes) == 1 and len(step.inputs) == 1 and isinstance(shapes[0], tuple):
            known.setdefault(serial, (shapes[0], None))
    for serial, shape in step.known.items():
        if shape is not None:
            known.setdefault(serial, (shape, None))
    for serial, shape in zip(step.outputs, step.out_shapes):
        known[serial] = shape, step.dtype
    for serial, shape in zip(step.inputs, step.in_shapes):
        known.setdefault(serial, (shape, None))


def _flat(values):
    for value in values:
        if type(value) is Tensor:
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _flat(value)


def _infer(step, known):
    """Add the shape of an op's output to `known` if the shapes of all its inputs are known."""
    if len(step.outputs) != 1 or step.outputs[0] in known:
        return
    shapes = _input_shapes(step, known)
    if shapes and all(shape is not None for shape in shapes):
        shape = _output_shape(step, shapes)
        if shape is not None:
            known[step.outputs[0]] = shape, known.get(step.inputs[0], (None, None))[1]


def _input_shapes(step, known):
    """Return the shapes of all inputs, in order; None for an unknown shape."""
    shapes = dict.fromkeys(range(len(step.op.inputs)))
    for (_, reads), serial, position in zip(step.edges, step.inputs, step.positions):
        if serial in known:
            shapes[position] = known[serial][0]
        for i, name in enumerate(step.op.inputs):
            # The shapes of inputs that the rule reads are known, also those of constants.
            if name in reads and shapes[i] is None:
                shapes[i] = np.shape(getattr(reads[name], "array", reads[name]))
    return list(shapes.values())


def _output_shape(step, shapes):
    op, reads = step.op, step.edges[0][1]
    if op.kind == "elementwise":
        return np.broadcast_shapes(*shapes)
    if op.kind == "reduction" and "axis" in reads:
        axes, keep = reads["axis"], reads.get("keepdims", False)
        sizes = enumerate(shapes[0])
        return tuple([1 if i in axes else n for i, n in sizes if keep or i not in axes])
    if op.name == "matmul" and [len(s) for s in shapes] == [2, 2]:
        return shapes[0][0], shapes[1][1]
    return None


def _infer_inputs(step, known):
    if step.op.kind == "elementwise" and len(step.op.inputs) == 1 and step.outputs[0] in known:
        known.setdefault(step.inputs[0], known[step.outputs[0]])


def _dtype_of(step, known):
    """Return the output's dtype if known, otherwise an input's, otherwise None."""
    for serial in (*step.outputs, *step.inputs):
        dtype = known.get(serial, (None, None))[1]
        if dtype is not None:
            known.update((o, (known.get(o, (None,))[0], dtype)) for o in step.outputs)
            return dtype
    return None
