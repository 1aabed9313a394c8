"""The compiler's IR: a graph of values and nodes, and the recorder that traces a call into it."""

import math
import os
import sys
import types
import weakref

import numpy as np

from framework.core import random
from framework.core.errors import FrameworkError
from framework.core.operand import WeakNumber
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor


class Value:
    """An array in a graph: an argument, a constant, a variable's value or the output of a node."""

    __slots__ = (
        "argument", "constant", "dtype", "fixed", "in_order", "name", "node", "shape", "variable",
    )  # fmt: skip

    def __init__(self, array, *, argument=None, constant=None, variable=None):
        self.shape, self.dtype = array.shape, array.dtype
        # Whether the traced array was in C order, on which the rounding of sums depends.
        self.in_order = array.in_order if type(array) is Value else array.flags.c_contiguous
        self.argument = argument  # index of this value among the graph's arguments, or None
        self.constant = constant  # the array if the value is a constant, else None
        self.variable = variable  # the variable that held this value before the call, or None
        self.fixed = constant is not None  # whether the value is computed from constants only
        self.node = None
        self.name = None

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    def __repr__(self):
        return f"<{self.name or 'value'}: {self.dtype}{list(self.shape)}>"


class OpNode:
    """A call `op(*args, **attrs)`; the arguments are Values, numbers and arrays."""

    __slots__ = ("args", "attrs", "layer", "line", "op", "outputs", "saved")

    def __init__(self, op, args, attrs, outputs, saved, layer, line=None):
        self.op, self.args, self.attrs, self.layer = op, args, attrs, layer
        self.outputs, self.saved, self.line = outputs, saved, line

    @property
    def all_outputs(self):
        return (*self.outputs, *self.saved)

    @property
    def inputs(self):
        """The Values among the arguments."""
        return [a for a in self.args if type(a) is Value]


class DrawNode:
    """A node that draws random numbers."""

    __slots__ = ("draw", "layer", "line", "outputs")
    args = saved = inputs = ()

    def __init__(self, draw, output, layer, line=None):
        self.draw, self.outputs, self.layer, self.line = draw, (output,), layer, line

    @property
    def all_outputs(self):
        return self.outputs


class GuardNode:
    """A guard: Python read a value or shape; the graph is valid only if a call reads the same."""

    __slots__ = ("args", "expected", "how", "layer", "line")
    all_outputs = outputs = saved = ()

    def __init__(self, value, how, expected, layer, line=None):
        self.args, self.how, self.expected, self.layer = (value,), how, expected, layer
        self.line = line

    @property
    def inputs(self):
        return self.args


class _LayerRef:
    """Weak reference to the layer whose call traced a node; it remembers the layer's path."""

    __slots__ = ("_layer", "_path")

    def __init__(self, layer):
        self._layer, self._path = weakref.ref(layer), None

    @property
    def path(self):
        layer = self._layer()
        if layer is not None:
            self._path = layer.path or layer.name  # An unbuilt layer has no `layer.path`.
        return self._path


class Block:
    """Consecutive nodes determined by a key and input Values, such as an optimizer's update.

    An audit compares the key and the inputs instead of the nodes.

    Args:
        key: compared by `==`.
        inputs: the Values.
        start: the index of the first node.
    """

    __slots__ = ("assigned", "end", "inputs", "key", "start")

    def __init__(self, key, inputs, start):
        self.key, self.inputs, self.start, self.end = key, inputs, start, None
        self.assigned = []  # pairs (variable, Value assigned to it)


class Graph:
    """The graph of a trace: its nodes, results and assignments.

    Args:
        arguments: the Values of the arguments, in order.
        nodes: OpNode, DrawNode and GuardNode, in order.
        assigned: pairs (variable, the Value that it holds after the call).
        results: the Values returned.
    """

    facts = None  # further data that must be equal in two traces, or no plan is compiled
    structure = None  # the structure (nest) of the returned value
    watched = types.MappingProxyType({})  # serial of a variable -> whether a tape watched it
    blocks = types.MappingProxyType({})  # index of a block's first node -> Block
    _variables = None

    def __init__(self, arguments, nodes, assigned, results):
        self.arguments, self.nodes = arguments, nodes
        self.assigned, self.results = assigned, results

    @property
    def ends(self):
        """The Values that are needed after the last node: results and assigned values."""
        return [*self.results, *(value for _, value in self.assigned)]

    @property
    def variables(self):
        """{serial of a variable: the Value that it held before the call}."""
        if self._variables is None:
            used = [v for s in self.nodes for v in s.inputs] + self.ends
            self._variables = {v.variable.serial: v for v in used if v.variable is not None}
        return self._variables

    @property
    def guards(self):
        return [s for s in self.nodes if type(s) is GuardNode]

    @property
    def draws(self):
        return [s for s in self.nodes if type(s) is DrawNode]

    def uses(self):
        """Return {id of a Value: the number of reads by nodes, results and assignments}."""
        counts = {}
        for value in [v for s in self.nodes for v in s.inputs] + self.ends:
            counts[id(value)] = counts.get(id(value), 0) + 1
        return counts


_PACKAGE = __name__.partition(".")[0] + "."
_EXACT = ("float", "item", "int", "index", "bool", "complex", "format")


class GraphRecorder(Recorder):
    """Records the events of one call and builds its Graph.

    Tensors are identified by serial numbers, so none is kept alive. A tensor that no recorded event
    produced is a constant. `refusal` is the reason why a plan cannot repeat the call, or None.

    Args:
        arguments: the argument tensors of the call.
        undoable: whether `undo` is available. It needs the previous arrays of all variables, which
            doubles their memory.
    """

    replays = True

    def __init__(self, arguments, undoable=False):
        self.began, self._undoable = next(serials), undoable
        self.refusal = None
        # whether the call created variables; a later call will not create them again
        self.created_variables = False
        self.runs_user_code = False  # whether code outside the package called an op
        self.finds_user_code = self.keeps_lines = False
        self.nodes, self.assigned, self._values, self._layer = [], {}, {}, None
        self._losses = []  # (Value, layer) of losses added by layers
        self._blocks, self._changed = [], ()
        self._read = {}  # serial of a variable -> its Value before the call
        self._before = {}  # serial of a variable -> (variable, its array before the call)
        self._constants = {}  # id of an array -> its Value, which keeps the array alive
        self.arguments = []
        for place, tensor in enumerate(arguments):
            self.arguments.append(self._new(tensor, argument=place))

    def __enter__(self):
        # While it is open, this recorder replaces all others.
        self._outer, thread.stack = thread.stack, (self,)
        return self

    def __exit__(self, *_):
        thread.stack = self._outer

    def graph(self, results, structure=None):
        """Return the graph, given the returned tensors and the structure of their nest."""
        results = [self._value(t) for t in results]
        found = Graph(self.arguments, self.nodes, list(self.assigned.values()), results)
        found.structure = structure
        found.blocks = {block.start: block for block in self._blocks}
        return found

    def take_argument(self, tensor):
        """Add an argument to the graph while its function is traced."""
        self.arguments.append(self._new(tensor, argument=len(self.arguments)))

    def undo(self):
        """Restore all variables and random generators to their state before the call.

        Returns:
            [(variable, its array after the call)], for `redo`.
        """
        after = {v.serial: (v, v._array) for v, _ in self._before.values()}
        for variable, array in self._before.values():
            variable._array = array
        for node in self.nodes:
            if type(node) is DrawNode and isinstance(node.draw.source, random.SeedGenerator):
                state = node.draw.source.state
                after.setdefault(state.serial, (state, state._array))
                seed, number = state.array
                state._array = np.array([seed, number - 1], state.array.dtype)
        return list(after.values())

    @staticmethod
    def redo(after):
        """Reverse `undo`: restore the state after the call, which `undo` returned as `after`."""
        for variable, array in after:
            variable._array = array

    def _line(self):
        """Return the user's source line; if lines are not kept, note whether user code runs."""
        if self.keeps_lines:
            return user_position(2)
        if self.finds_user_code and not self.runs_user_code:
            self.runs_user_code = _in_user_code(sys._getframe(2))
        return None

    # ---- values of tensors ----

    def _new(self, tensor, **kind):
        if tensor.serial is None:
            tensor.serial = next(serials)
        value = self._values[tensor.serial] = Value(tensor.array, **kind)
        return value

    def known(self, tensor):
        """Return the Value of a tensor, or None if no recorded event produced the tensor."""
        return self._values.get(tensor.serial)

    def _value(self, tensor):
        value = self.known(tensor)
        return self._constant(tensor.array) if value is None else value

    def _constant(self, array):
        value = self._constants.get(id(array))
        if value is None:
            value = self._constants[id(array)] = Value(array, constant=array)
        return value

    def _operand(self, arg):
        if type(arg) is Tensor:
            return self._value(arg)
        return self._constant(arg) if type(arg) is np.ndarray else arg

    # ---- recorder events ----

    def op(self, op, args, attrs, outputs, saved):
        attrs = {name: _plain(value) for name, value in attrs.items()}
        args = [self._operand(a) for a in args]
        made = tuple([self._new(t) for t in outputs])
        kept = tuple([self._new(t) for t in saved or ()])
        line = self._line()
        node = OpNode(op, args, attrs, made, kept, self._layer, line)
        fixed = all(type(a) is not Value or a.fixed for a in args)
        for value in node.all_outputs:
            value.node, value.fixed = node, fixed
        self.nodes.append(node)
        if op.sized_by_values:
            self.nodes += [GuardNode(v, "shape", v.shape, self._layer, line) for v in made]

    def variable_read(self, variable, tensor):
        self._check_age(variable)
        if variable.serial in self.assigned:
            value = self.assigned[variable.serial][1]
        elif variable.serial in self._read:
            value = self._read[variable.serial]
        else:
            value = self._read[variable.serial] = self._new(tensor, variable=variable)
            if variable._resizable:
                self.nodes.append(GuardNode(value, "shape", value.shape, self._layer))
        if tensor.serial is None:
            tensor.serial = next(serials)
        self._values[tensor.serial] = value

    def variable_assigned(self, variable, value):
        self._check_age(variable)
        if self._undoable:
            self._before.setdefault(variable.serial, (variable, variable._array))
        self.assigned[variable.serial] = variable, self._value(value)

    def _check_age(self, variable):
        if variable.serial > self.began:
            self.created_variables = True

    def random_draw(self, draw, tensor):
        state = getattr(draw.source, "state", None)
        if state is not None:
            self._check_age(state)
        node = DrawNode(draw, self._new(tensor), self._layer, self._line())
        node.outputs[0].node = node
        self.nodes.append(node)

    def value_read(self, tensor, how):
        value = self.known(tensor)
        # A value computed only from constants needs no guard.
        if value is None or value.fixed:
            return
        if how in _EXACT and value.size == 1:
            array = tensor.array.reshape(())
            expected = bool(array) if how == "bool" else array.copy()
            self.nodes.append(GuardNode(value, how, expected, self._layer, self._line()))
        elif self.refusal is None:
            self.refusal = _TraceRefusal(how, value, self._layer)

    def begin_block(self, key, inputs, variables):
        inputs = [self._operand(arg) for arg in inputs]
        self._blocks.append(Block(key, inputs, len(self.nodes)))
        self._changed = {v.serial for v in variables}
        return False

    def end_block(self):
        block = self._blocks[-1]
        block.end = len(self.nodes)
        block.assigned = [self.assigned[s] for s in self.assigned if s in self._changed]

    @property
    def aside(self):
        return _SideRecorder(self)

    def layer_call(self, layer):
        self._layer = None if layer is None else _LayerRef(layer)
        if layer is not None and not type(layer).__module__.startswith(_PACKAGE):
            self.runs_user_code = True

    def loss_added(self, tensor):
        value = self.known(tensor) if type(tensor) is Tensor else None
        if value is not None:
            self._losses.append((value, self._layer))

    def effect(self, what):
        if self.refusal is None:
            self.refusal = f"{what} runs in Python at {user_line()}"

    def left_in(self, results):
        """Return the path of a layer with an added loss that the traced function does not use,
        or None."""
        used = {id(v) for s in self.nodes for v in s.inputs} | {id(self._value(t)) for t in results}
        left = [layer for value, layer in self._losses if id(value) not in used]
        return None if not left else "it" if left[0] is None else left[0].path


class _SideRecorder(Recorder):
    """Replaces a paused GraphRecorder: if a traced tensor is read, no plan is compiled."""

    def __init__(self, recording):
        self._recording, self.effect = recording, recording.effect
        self.aside = self

    def op(self, op, args, attrs, outputs, saved):
        for arg in args:
            self.value_read(arg, op.name)

    def variable_assigned(self, variable, value):
        self.value_read(value, "assign")

    def value_read(self, tensor, how):
        run = self._recording
        value = run.known(tensor) if type(tensor) is Tensor and run.refusal is None else None
        if value is not None and not value.fixed:
            run.refusal = f"{how} reads a traced tensor while recorders are paused at {user_line()}"


def _plain(value):
    """Return an op's attribute with the symbolic numbers in it replaced by plain numbers."""
    if isinstance(value, WeakNumber):
        return value._read()
    if type(value) in (tuple, list):
        return type(value)([_plain(v) for v in value])
    return value


class _TraceRefusal:
    """Tells why a plan cannot repeat a call: where Python read a tensor (op, layer and line)."""

    def __init__(self, how, value, layer):
        self.how = how
        node = value.node
        self.made_by = None if node is None or type(node) is not OpNode else node.op.name
        self.layer = None if layer is None else layer.path
        self.line = user_line()

    def __str__(self):
        what = "a tensor" if self.made_by is None else f"the result of {self.made_by}"
        layer = f" in layer {self.layer}" if self.layer else ""
        return f"Python reads {what}{layer} as an array ({self.how}) at {self.line}"


_FOLDERS = tuple(m.__file__.rpartition(os.sep)[0] + os.sep for m in (sys.modules["framework"], np))


_inside = set()  # ids of code objects of the package and of NumPy, which are never deleted
# the code object of `tracing.traced`, set there: its callers are outside the traced call
ENTRY = None


def user_position(depth=1):
    """Return (file, line) of the innermost frame outside the package and NumPy, or None."""
    frame = sys._getframe(depth + 1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_FOLDERS):
            return file, frame.f_lineno
        frame = frame.f_back
    return None


def _in_user_code(frame):
    """Return whether a caller within the traced call is outside the package and NumPy."""
    while frame is not None and (code := frame.f_code) is not ENTRY:
        if id(code) not in _inside:
            if not code.co_filename.startswith(_FOLDERS):
                return True
            _inside.add(id(code))
        frame = frame.f_back
    return False


def user_line():
    """Return the innermost position in user code as a text `file:line`."""
    position = user_position()
    return "?" if position is None else f"{position[0]}:{position[1]}"


def generators(graph):
    """Return the graph's random generators; the graph is invalid once `set_seed` replaces them."""
    followed = {id(g): g for g in [random._Global.generator, *random.seeded_generators()]}
    return [g for g in {id(s.draw.source): s.draw.source for s in graph.draws}.values()
            if id(g) in followed]  # fmt: skip


def are_current(sources):
    """Return whether the generators are still in use: a later `set_seed` has not replaced them."""
    return not sources or all(
        any(g is known for known in (random._Global.generator, *random.seeded_generators()))
        for g in sources
    )


def can_be_undone(graph):
    """Return whether all draws can be repeated; a draw by a user's callable cannot."""
    kinds = (random.SeedGenerator, random.Stateless)
    return all(isinstance(node.draw.source, kinds) for node in graph.draws)


def check(graph):
    """Raise FrameworkError if a node reads a Value that no earlier node computes."""
    known = {id(v) for v in graph.arguments}
    for node in graph.nodes:
        for value in node.inputs:
            outside = value.constant is not None or value.variable is not None
            if not outside and id(value) not in known:
                raise FrameworkError(f"Invalid graph: {node} reads {value} before it is computed.")
        known.update(id(v) for v in node.all_outputs)
