"""Code generation of plans in NumPy: a graph becomes straight-line code with assigned buffers."""

import keyword
import re
from functools import partial

import numpy as np

from framework.compiler import lowering
from framework.compiler.arena import Arena, peak
from framework.compiler.blocked_codegen import BlockedFunction
from framework.compiler.fusion import FusionGroup, ufunc_of
from framework.compiler.ir import DrawNode, GuardNode
from framework.compiler.liveness import Liveness, alike, overwritable, own, own_copy
from framework.compiler.numpy_tasks import products
from framework.compiler.rebinding import with_cells


class NumpyCodegen:
    """Generates the source of a plan and its namespace.

    `source` defines `make(buffers...)`, which returns the plan function. This function takes the
    plan's arguments and returns a tuple of result arrays, or None if a guard fails, before any
    variable has changed. `calls_numpy` is true if its computations can cause NumPy warnings.
    `owned` lists (variable, its new Value, position): from the node at this position on, the new
    value may be written to the variable's array.
    """

    any_order = False  # whether the memory order of values may differ from that of eager ops

    def __init__(self, graph, name, argument_names, state=None, ordered=False):
        self.graph = graph
        self.namespace = dict(lowering.NAMES, own=own, own_copy=own_copy)
        self.arena = Arena()
        self.lives = Liveness(graph)
        self._names = set(self.namespace) | {"make", "run"}
        # id of an object in the source's namespace -> its name
        self._known = {id(f): name for name, f in lowering.NAMES.items()}
        self._numbered = {}  # op name -> number of values named after the op
        self._functions = []  # sources of the functions of fusion groups
        self._cells = {}  # name in the source -> closure cell of the user's function
        self.calls_numpy = False
        self.owned = []
        self._before, self._body = [], []  # source lines of `make`, and of the plan function
        self._in_buffers = {}  # id of a Value in the arena -> index of its slot
        self._elsewhere = []  # (bytes, first position, last position) of arrays outside the arena
        self._c_order = set()  # ids of Values known to be in C order
        self._numbers = set()  # ids of 0-d Values that are NumPy scalars instead of arrays
        self._as_arrays = lowering.read_as_arrays(graph)
        self._drawn = {}  # id of a generator's state -> (variable's name, old array's name)
        self._guards_left = len(graph.guards)
        for value in self.lives.values():
            value.name = None  # an earlier code generation may have set it
        for value, text in zip(graph.arguments, argument_names, strict=True):
            value.name = self._unique(text)
        self._check_state(state)
        if ordered:
            self._check_order()
        for position, node in enumerate(graph.nodes):
            self._node(position, node)
        self._finish()
        self.source = self._text(name)

    @property
    def elsewhere(self):
        """The peak number of bytes in arrays, except results, that ops allocate outside the arena.

        Temporary memory within kernels is not counted.
        """
        return peak(self._elsewhere)

    def compiled(self):
        """Compile the source and return its function `make`."""
        # The source is generated from op names and numbers; user-defined names are sanitized.
        exec(compile(self.source, "<compiled step>", "exec"), self.namespace)  # noqa: S102
        make = self.namespace["make"]
        return partial(with_cells, make, self._cells) if self._cells else make

    # ---- names in the source ----

    def _unique(self, text):
        text = re.sub(r"\W", "_", text).strip("_") or "value"
        if text[0].isdigit() or keyword.iskeyword(text):
            text = f"v_{text}"
        name, number = text, 1
        while name in self._names:
            number += 1
            name = f"{text}_{number}"
        self._names.add(name)
        return name

    def _numbered_name(self, text):
        """Return `relu_1`, `relu_2`, ... for results of relu; `relu` itself is the function."""
        while True:
            number = self._numbered[text] = self._numbered.get(text, 0) + 1
            if f"{text}_{number}" not in self._names:
                return self._unique(f"{text}_{number}")

    def _bound(self, key, text, value):
        """Return the name of an object in the namespace, added at its first use."""
        if key not in self._known:
            name = self._known[key] = self._unique(text)
            self.namespace[name] = value
        return self._known[key]

    def _cell(self, text, cell):
        """Return the name in the source of a closure variable of the user's function."""
        if id(cell) not in self._known:
            name = self._known[id(cell)] = self._unique(text)
            self._cells[name] = cell
            self._before.append(f"{name} = None  # a closure variable")
        return self._known[id(cell)]

    def _name(self, value):
        """Return the name of a Value; add a line that reads a variable at its first use."""
        if value.name is None:
            if value.constant is not None:
                value.name = self._bound(id(value), "c", value.constant)
            elif value.variable is not None:
                variable = self._variable(value.variable)
                value.name = self._unique(f"{variable}_now")
                self._body.append(f"{value.name} = {variable}._array")
        return value.name

    def _variable(self, variable):
        path = getattr(variable, "path", None) or variable.name
        short = "_".join(path.replace(":0", "").split("/")[-2:])
        return self._bound(id(variable), short, variable)

    def _number(self, number, dtype=None):
        """Return the expression of a number: a 0-d array if operands are float arrays (faster)."""
        if dtype is not None and dtype.kind == "f" and isinstance(number, (int, float)):
            array = np.asarray(number, dtype)
            key = ("number", array.tobytes(), dtype)
            return self._bound(key, f"n_{number:g}".replace("-", "m").replace(".", "_"), array)
        plain = type(number) in (int, bool, float) and number - number == 0
        if plain or number is None:
            return repr(number)
        return self._bound(("object", id(number)), "n", number)

    def _everywhere(self, shape, number, dtype):
        """Return the name of an array that is filled with the number."""
        array, text = np.full(shape, number, dtype), "ones" if number == 1 else "full"
        return self._bound(("full", shape, array.flat[0].tobytes(), dtype), text, array)

    # ---- code of nodes ----

    def _check_state(self, state):
        """Add source lines that check the guards on Python state."""
        if state is not None:
            self._body += state.source(self._bound, self._unique, self._cell)

    def _check_order(self):
        """Add checks that arguments are in C order, on which the rounding of sums depends."""
        uses = self.graph.uses()
        for value in self.graph.arguments:
            if value.in_order and value.size > 1 and id(value) in uses:
                name = value.name
                self._c_order.add(id(value))
                self._body.append(f"if {name}.flags.num & IN_ORDER != IN_ORDER:")
                self._body.append(f"    if not {name}.flags.c_contiguous:")
                self._body.append("        return None")
                self._body.append(f"    {name} = array({name}, order='C')")

    def _node(self, position, node):
        self.arena.now = position
        if type(node) is GuardNode:
            self._guard(node)
        elif type(node) is DrawNode:
            self._draw(node)
        elif type(node) is FusionGroup:
            self._group(position, node)
        else:
            self._op(position, node)
        self._forget(position, node)

    def _line(self, text, node=None, note=None):
        """Add a line that calls NumPy, with the path of the layer as a comment."""
        self.calls_numpy = True
        layer = getattr(node, "layer", None)
        notes = [n for n in (None if layer is None else layer.path, note) if n]
        self._body.append(f"{text}  # {': '.join(notes)}" if notes else text)

    def _guard(self, node):
        self._guards_left -= 1
        test = lowering.differs(node, self._name(node.args[0]), self._bound)
        self._line(f"if {test}:  # Python read it by {node.how}", node)
        self._body += [f"    {v}._array = {before}" for v, before in self._drawn.values()]
        self._body.append("    return None")

    def _draw(self, node):
        state = getattr(node.draw.source, "state", None)
        if self._guards_left and state is not None and id(state) not in self._drawn:
            variable = self._variable(state)
            before = self._unique("before")
            self._body.append(f"{before} = {variable}._array")
            self._drawn[id(state)] = variable, before
        (output,) = node.outputs
        output.name = self._numbered_name(node.draw.distribution)
        draw = self._bound(id(node.draw), "draw", node.draw)
        self._line(f"{output.name} = {draw}()", node)

    def _op(self, position, node):
        if self._is_another_view(node):
            self._view(node)
            return
        text = lowering.number(node, self._as_number, self._everywhere)
        if text is not None:
            self._number_made(node, text)
            return
        ufunc = ufunc_of(node.op)
        writer = None if ufunc is not None else lowering.into(node)
        plain = node.op.plain and node.outputs[0].shape != ()
        if plain and node.op.kind == "elementwise" and not node.outputs[0].in_order:
            # Let NumPy choose the memory order as in eager calls, so that sums have the same bits.
            plain = self.any_order
        if plain and ufunc is not None and not node.attrs:
            dtype = self._float_beside(node)
            operands = [self._operand(a, dtype) for a in node.args]
            call = self._bound(id(ufunc), ufunc.__name__, ufunc)
            (output,) = node.outputs
            out = self._destination(position, node, output)
            output.name = self._numbered_name(node.op.name)
            self._line(f"{output.name} = {lowering.call(ufunc, call, operands, out)}", node)
        elif plain and writer is not None:
            self._written(position, node)
        elif node.op is products:
            self._products(position, node)
        else:
            self._call(position, node)

    def _is_another_view(self, node):
        """Return whether the node reshapes a value in the arena: a view, which costs nothing."""
        return node.op.name == "reshape" and id(node.inputs[0]) in self._in_buffers

    def _view(self, node):
        (x,), (y,) = node.inputs, node.outputs
        slot = self._in_buffers[id(y)] = self._in_buffers[id(x)]
        y.name = self._numbered_name(node.op.name)
        self._line(f"{y.name} = {self.arena.name(slot, y.shape, y.dtype)}", node)

    def _number_made(self, node, text):
        (y,) = node.outputs
        y.name = self._numbered_name(node.op.name)
        wanted = id(y) in self._as_arrays
        if not wanted:
            self._numbers.add(id(y))
        self._line(f"{y.name} = {f'asarray({text})' if wanted else text}", node)

    def _as_number(self, arg):
        """Return the expression of an array, a NumPy scalar or a Python number."""
        if not hasattr(arg, "constant"):
            return repr(arg)
        name = self._name(arg)
        return name if arg.shape or id(arg) in self._numbers else f"{name}[()]"

    def _float_beside(self, node):
        """Return the dtype that scalar operands adopt from the node's arrays, or None."""
        dtypes = {v.dtype for v in node.inputs}
        return dtypes.pop() if len(dtypes) == 1 else None

    def _operand(self, arg, dtype=None):
        if hasattr(arg, "constant"):
            return self._name(arg)
        return self._number(arg, dtype)

    def _written(self, position, node):
        operands = [self._operand(a) for a in node.args]
        (output,) = node.outputs
        self._placed(position, node, output, node)
        shape = lowering.spread(node)
        of_numbers = self._number if shape is None else partial(self._everywhere, shape)
        number = lambda n: of_numbers(n, output.dtype)
        for text in lowering.INTO[node.op.name](node, operands, output.name, number):
            self._line(text, node)

    def _products(self, position, node):
        given, outputs = iter([self._operand(a) for a in node.args]), iter(node.outputs)
        task = partial(self._task, position, node, given, outputs)
        chains = [f"({', '.join(map(task, chain))},), " for chain in node.attrs["chains"]]
        self._line(f"large_dots(({''.join(chains)}))", node)

    def _task(self, position, node, given, outputs, spec):
        """Return the expression of a task of `large_dots`, and name its outputs."""
        operands = []
        for place in spec.places:
            made = None if place is None else node.outputs[place[0]]
            operands.append(
                next(given) if made is None else lowering.seen(made.name, made, place[1])
            )
        outs = [self._placed(position, node, next(outputs), node) for _ in range(spec.count)]
        if spec.kernel is None:
            return spec.text(operands, *outs)
        call = self._bound(id(spec.kernel), spec.kernel.__name__, spec.kernel)
        operands += [*outs, *(f"{name}={self._attribute(v)}" for name, v in spec.attrs)]
        return f"{call}({', '.join(operands)})"

    def _placed(self, position, node, value, maker):
        """Name an output, and assign memory to it before it is written; return the name."""
        out = self._destination(position, node, value) or self._empty(value)
        value.name = self._numbered_name(maker.op.name)
        self._body.append(f"{value.name} = {out}")
        return value.name

    def _empty(self, value):
        dtype = self._bound(("dtype", value.dtype), value.dtype.name, value.dtype)
        empty = self._bound("empty", "empty", np.empty)
        return f"{empty}({value.shape}, {dtype})"

    def _call(self, position, node):
        ufunc = ufunc_of(node.op)
        if ufunc is not None:
            call = self._bound(id(ufunc), ufunc.__name__, ufunc)
        else:
            # Omit the wrapper that suppresses warnings, because the caller runs under
            # `no_warnings`.
            forward = getattr(node.op.forward, "ufunc", node.op.forward)
            call = self._bound(id(forward), node.op.name, forward)
        operands = [self._operand(a) for a in node.args]
        operands += [f"{name}={self._attribute(v)}" for name, v in node.attrs.items()]
        if lowering.takes_out(node):
            out = self._destination(position, node, node.outputs[0])
            operands += [f"out={out}"] if out else []
        for value in node.all_outputs:
            value.name = self._numbered_name(node.op.name)
            self._note_allocated(position, node, value)
        outputs = ", ".join(v.name for v in node.outputs)
        if node.op.outputs != 1:
            outputs = f"({outputs},)"
        if node.op.saves:
            saved = ", ".join(v.name for v in node.saved)
            outputs = f"{outputs}, ({saved},)" if saved else f"{outputs}, _"
        self._line(f"{outputs} = {call}({', '.join(operands)})", node)
        for value in node.outputs:
            # A ufunc returns a NumPy scalar instead of a 0-d array.
            if id(value) in self._as_arrays:
                self._body.append(f"{value.name} = asarray({value.name})")

    def _attribute(self, value):
        if lowering.is_literal(value):
            return repr(value)
        return self._bound(("attribute", id(value)), "attribute", value)

    def _contiguous(self, value):
        """Return the name of a value as an aligned array in C order; add a copy if necessary."""
        if value.constant is not None and not value.constant.flags.c_contiguous:
            whole = np.array(value.constant, order="C")
            return self._bound(("contiguous", id(value)), "c", whole)
        name = self._name(value)
        if not value.shape:
            return self._as_array(value)
        known = value.constant is not None or id(value) in self._in_buffers
        if not known and id(value) not in self._c_order:
            self._c_order.add(id(value))
            self._body.append(f"if {name}.flags.num & IN_ORDER != IN_ORDER:")
            self._body.append(f"    {name} = array({name}, order='C')")
        return name

    def _group(self, position, group):
        """Generate a fusion group as NumPy calls over blocks."""
        blocks = BlockedFunction(
            self._unique("group"), group, self._bound, self._over(position, group)
        )
        names = [self._name(v) for v in group.inputs]
        outs = [self._placed(position, group, value, value.node) for value in group.outputs]
        self._functions.append(blocks.source)
        self._line(f"{blocks.name}({', '.join([*names, *outs])})", group)

    def _over(self, position, group):
        """Return {id of an output: the inputs that it can overwrite}, for `BlockedFunction`."""
        over = {}
        for value in group.outputs:
            found = self._owned(position, group, value)
            if found is not None:
                root = self.lives.root(found[1])
                over[id(value)] = [v for v in group.inputs if self.lives.root(v) == root]
        return over

    # ---- memory ----

    def _destination(self, position, node, value):
        """Return the array for a value: its variable's, one in the arena, or None (a new one)."""
        root = self.lives.root(value)
        if root in self.lives.escaped:
            found = self._owned(position, node, value)
            if found is None:
                return None
            name = self._unique(f"{self._variable(found[0])}_own")
            self._own("own", name, found[0], value)
            return name
        if not self.arena.holds(value):
            return None
        if not self._written_over(position, node, value):
            self.arena.take(root, value)
        slot = self._in_buffers[id(value)] = self.arena.slot_of(root)
        return self.arena.name(slot, value.shape, value.dtype)

    def _own(self, function, name, variable, value):
        """Add the line that gets the array for a variable's new value by `own` or `own_copy`."""
        # The call needs a line of its own, because `own` counts the references to the array.
        self._body.append(f"{name} = {function}({self._variable(variable)})")
        if self.arena.holds(value):
            self.owned.append((variable, value, self.arena.now))

    def _note_allocated(self, position, node, value):
        """Count the memory of an array that an op allocates; movement ops return views instead."""
        escapes = self.lives.root(value) in self.lives.escaped
        if not escapes and id(value) not in self._in_buffers and node.op.kind != "movement":
            last = self.lives.read_last.get(id(value), position)
            self._elsewhere.append((value.nbytes, position, last))

    def _written_over(self, position, node, value):
        """Give the output the slot of an input that no later node reads; return False if none."""
        if type(node) is FusionGroup:
            return False
        to = self.lives.root(value)
        roots = [self.lives.root(v) for v in overwritable(node) if alike(value, v)]
        unread = [root for root in roots if self.lives.last[root] == position]
        return any(self.arena.hand_over(root, value, to) for root in unread)

    def _flat(self, value, name):
        """Return the source of an expression that views a contiguous array with a single axis."""
        if len(value.shape) == 1:
            return name
        slot = self._in_buffers.get(id(value))
        if slot is None or value.name != name:
            return f"{name}.reshape(-1)"
        return self.arena.name(slot, (value.size,), value.dtype)

    def _owned(self, position, node, value):
        """Return (variable, its old Value) if the value can overwrite its array, else None."""
        targets = [v for v, held in self.graph.assigned if held is value]
        held_elsewhere = any(v is value for v in self.graph.results)
        if len(targets) != 1 or held_elsewhere or position <= self.lives.last_stop:
            return None
        (variable,) = targets
        old = [v for v in overwritable(node) if v.variable is variable]
        if not old or not alike(old[0], value):
            return None
        old = old[0]  # The variable's value may be both operands, as in `v * v`.
        root = self.lives.root(old)
        if root in self.lives.escaped or self.lives.last[root] > position:
            return None
        self._name(old)
        return variable, old

    def _forget(self, position, node):
        """Release the slots and delete the names of values that no later node reads."""
        gone = []
        for value in {id(v): v for v in (*node.inputs, *node.all_outputs)}.values():
            root = self.lives.root(value)
            if self.lives.last[root] == position and root not in self.lives.escaped:
                self._release(root)
            unused = self.lives.read_last.get(id(value), position) <= position
            temporary = value.argument is None and value.constant is None and value.shape
            if unused and temporary and id(value) not in self._in_buffers and value.name:
                gone.append(value.name)
        if gone:
            self._let_go(gone)

    def _release(self, root):
        self.arena.release(root)

    def _let_go(self, names):
        self._body.append(f"del {', '.join(names)}")

    # ---- assignments and results ----

    def _finish(self):
        for value in self.graph.ends:
            self._name(value)  # read all variables before the first assignment
        for variable, value in self.graph.assigned:
            self._body.append(f"{self._variable(variable)}._array = {self._as_array(value)}")
        names = map(self._as_array, self.graph.results)
        self._body.append(f"return ({''.join(f'{name}, ' for name in names)})")

    def _as_array(self, value):
        """Return an expression that makes the value an array, even if it is a NumPy scalar."""
        name = self._name(value)
        outside = (value.constant, value.variable, value.argument)
        known = value.shape or any(x is not None for x in outside)
        known = known or id(value) in self._c_order or id(value) in self._as_arrays
        return name if known else f"asarray({name})"

    def _text(self, name):
        buffers = ", ".join(self.arena.views.values())
        arguments = ", ".join(v.name for v in self.graph.arguments)
        self.name = self._unique(name)
        parts = [
            *self._functions,
            f"def make({buffers}):",
            *(f"    {line}" for line in self._before),
            f"    def {self.name}({arguments}):",
            *(f"        {line}" for line in self._body),
            f"    return {self.name}",
            "",
        ]
        return "\n".join(parts)
