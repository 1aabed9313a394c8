"""Code generation of plans for the Numba backend: loop kernels and parallel regions."""

from framework.compiler import loop_kernels
from framework.compiler.fusion import FusionGroup, is_sum, single_node_group
from framework.compiler.ir import DrawNode, OpNode, Value
from framework.compiler.liveness import alike
from framework.compiler.loop_lowering import GroupLoop, fits_loop
from framework.compiler.lowering import takes_out
from framework.compiler.numpy_codegen import NumpyCodegen
from framework.compiler.parallel_regions import MemoryAccess, ParallelRegion, RegionTask
from framework.compiler.product_tiling import (
    TiledProduct,
    TiledProductTask,
    product_of,
    tile_products,
)
from framework.compiler.region_kernels import ScratchBuffer, kernel_calls
from framework.kernels import tier

# A region of at most _FEW tasks and _SMALL estimated seconds becomes one call per loop kernel.
_FEW, _SMALL = 3, 5e-6
_SHARED = 1 << 18  # Several threads sum the columns of an array of at least this many bytes.
# A single node joins a region only if no array has more bytes; NumPy is as fast on larger ones.
_JOINS = 1 << 17
_OF_PRODUCT = 8e-12  # estimated time per multiplication of a matrix product, in seconds
# A task of more than _HEAVY estimated seconds is heavy. After a heavy task, only nodes that read
# its result join the region.
_HEAVY = 1e-4


class NumbaCodegen(NumpyCodegen):
    """Generates fusion groups as loop kernels and consecutive tasks as parallel regions.

    Tasks are pending until a node cannot join their region; then the region becomes one call.

    `loops`: the loop kernels to compile.
    """

    any_order = True

    def __init__(self, graph, name, argument_names, state=None, ordered=False):
        self.loops = []
        # name in the source -> loop that is called without a region; name -> region
        self._called, self._regions = {}, {}
        # list of the open region's tasks: (task, its source line, (name, loop) if it can run alone)
        self._pending = []
        self._fixed = set()  # names of arrays that are allocated before a call
        self._made = set()  # alias classes that tasks of the open region write
        self._heavy = False  # whether a task of the open region is heavy
        # after the region: names to delete, and alias classes to release
        self._gone, self._unneeded = [], []
        self._in_place = {}  # alias class -> key of the memory that it overwrites
        graph = tile_products(graph)
        self._uses = graph.uses()
        super().__init__(graph, name, argument_names, state, ordered)

    def compiled(self):
        """Compile the loops and the source, and return its function `make`."""
        for name, loop in self._called.items():
            self.namespace[name] = loop.compiled()
        for name, region in self._regions.items():
            self.namespace[name] = region.compiled(tier.library("team").do)
        return super().compiled()

    # ---- parallel regions ----

    def _node(self, position, node):
        if self._pending and not self._joins(node):
            self._close()
        super()._node(position, node)

    def _joins(self, node):
        """Return whether a node joins the open region or can run before it."""
        if type(node) is OpNode and (self._is_another_view(node) or self._moves_others(node)):
            return True
        if self._heavy:
            return self._follows(node)
        if type(node) is not OpNode:
            return type(node) in (FusionGroup, TiledProduct, DrawNode)
        if product_of(node) is not None or kernel_calls(node) is not None:
            return True
        return self._group_of(node) is not None

    def _moves_others(self, node):
        """Return whether a node is a movement op that reads no result of pending tasks."""
        if node.op.kind != "movement" or not node.op.plain or takes_out(node):
            return False
        return not any(self.lives.root(v) in self._made for v in node.inputs)

    def _follows(self, node):
        """Return whether a node should join the region, to read rows of results from the cache."""
        parts = kernel_calls(node)
        if parts is not None:
            rows = [u.array for u in parts[0].uses if u.partitioned and not u.written]
            return any(self.lives.root(v) in self._made for v in rows)
        group = self._group_of(node) if type(node) is OpNode else node
        if type(group) is not FusionGroup or any(
            is_sum(s) not in (None, "leading") for s in group.nodes
        ):
            return False
        return any(self.lives.root(v) in self._made for v in group.inputs)

    def _add_task(self, task_of_region, made, line, loop=None):
        """Add a task to the open region. `line` is its source, `loop` the (name, loop) it calls."""
        self._pending.append((task_of_region, line, loop))
        self._made.update(self.lives.root(v) for v in made)
        self._heavy |= task_of_region.work > _HEAVY

    def _close(self):
        """Generate the open region: a call of the thread team, or of each loop if it is small."""
        pending, self._pending = self._pending, []
        self._made, self._heavy = set(), False
        if not pending:
            return
        tasks, lines, called = zip(*pending, strict=True)
        few = len(tasks) <= _FEW and sum(task_of_region.work for task_of_region in tasks) <= _SMALL
        if few and all(called):
            self._body += lines
            self._called.update(called)
            self.loops += [loop for _, loop in called]
        else:
            self._region(tasks, lines)
        for root in self._unneeded:
            self.arena.release(root)
        if self._gone:
            super()._let_go(self._gone)
        self._gone, self._unneeded = [], []

    def _region(self, tasks, lines):
        region = ParallelRegion(tasks, self._fixed)
        made, run = self._unique("region"), self._unique("run")
        self._regions[made] = region
        tasks = [p.task.loop if type(p.task) is TiledProductTask else p.task for p in tasks]
        self.loops += [task for task in tasks if type(task) is loop_kernels.LoopKernel]
        self._before.append(f"{run} = {made}({', '.join(region.fixed)})")
        self._body.append(f"{run}({', '.join(region.given)})  # parallel region:")
        self._body += [f"#     {line}" for line in lines]

    def _release(self, root):
        if self._pending:
            self._unneeded.append(root)
        else:
            super()._release(root)

    def _let_go(self, names):
        if self._pending:
            self._gone += names
        else:
            super()._let_go(names)

    def _finish(self):
        self._close()
        super()._finish()

    # ---- tasks of regions ----

    def _place(self, value):
        """Return the name of a value's array for a task: aligned and in C order."""
        slot = self._in_buffers.get(id(value))
        if slot is not None:
            name = self.arena.name(slot, value.shape, value.dtype)
        else:
            name = self._contiguous(value)
        if slot is not None or value.constant is not None:
            self._fixed.add(name)
        return name

    def _memory(self, value):
        """Return a key of a value's memory, which is equal for values that share memory."""
        root = self.lives.root(value)
        slot = self._in_buffers.get(id(value), self.arena.slot_of(root))
        return self._in_place.get(root) or (("class", root) if slot is None else ("slot", slot))

    def _access(self, value, unit, written=False, columns=False):
        """Return a value's MemoryAccess; if `unit` (bytes) is None, chunks may access all of it."""
        if not written and id(value) not in self._in_buffers:
            # The value may be a view whose rows are in another order than in memory, so a chunk of
            # rows may access any part of it.
            unit = None
        return MemoryAccess(self._memory(value), unit, written, columns)

    def _op(self, position, node):
        if type(node) is TiledProduct:
            self._group(position, node.group, node)
        elif (product := product_of(node)) is not None:
            self._product(position, node, product)
        elif (parts := kernel_calls(node)) is not None and (self._pending or not is_sum(node)):
            self._kernel(position, node, parts)
        elif (group := self._group_of(node)) is not None and (self._pending or _adds_much(group)):
            self._group(position, group)
        else:
            super()._op(position, node)

    def _group_of(self, node):
        """Return a group of a single ungrouped node that can join a region, or None."""
        small = all(v.nbytes <= _JOINS for v in (*node.inputs, *node.all_outputs))
        suits = small or is_sum(node) == "leading" or (self._heavy and not is_sum(node))
        return single_node_group(node, self._uses) if suits and fits_loop(node) else None

    def _product(self, position, node, product):
        """Add a matrix product to the open region."""
        (made,), (a, b) = node.outputs, node.inputs
        out = self._destination(position, node, made) or self._empty(made)
        places = [self._place(v) for v in (a, b)]
        made.name = self._numbered_name("matmul")
        self._c_order.add(id(made))
        self._body.append(f"{made.name} = {out}")
        line = self._text_of_product(node, product)
        rows = product.by_rows
        accesses = (
            self._access(made, made.nbytes // product.extent, written=True, columns=not rows),
            self._access(a, 4 * a.shape[1] if rows and not product.transposed[0] else None),
            self._access(b, None),
        )
        task_of_region = RegionTask(
            product, (self._place(made), *places), tuple((v.size, v.dtype) for v in (made, a, b)),
            product.numbers, product.extent, product.unit, accesses,
            product.multiplications * _OF_PRODUCT,
        )  # fmt: skip
        self._add_task(task_of_region, [made], line)

    def _kernel(self, position, node, parts):
        """Add the tasks of a kernel to the open region."""
        operands = [self._operand(a) for a in node.args]
        operands += [f"{name}={self._attribute(v)}" for name, v in node.attrs.items()]
        for value in node.all_outputs:
            self._placed(position, node, value, node)
            self._c_order.add(id(value))
        made = ", ".join([v.name for v in node.all_outputs])
        line = f"{made} = {node.op.name}({', '.join(operands)})"
        line = line if node.layer is None else f"{line}  # {node.layer.path}"
        for part in parts:
            self._add_task(self._kernel_task(*part), node.all_outputs, line)
            line = f"{made}: add the sums of chunks"
        used = [use.array for part in parts for use in part.uses]
        self._unneeded += [thing for thing in used if type(thing) is ScratchBuffer]

    def _kernel_task(self, units, uses):
        arrays, accesses = [], []
        for thing, along, written in uses:
            if type(thing) is Value:
                arrays.append(self._place(thing))
                unit = thing.nbytes // units.extent if along else None
                accesses.append(self._access(thing, unit, written))
                continue
            if type(thing) is ScratchBuffer:
                slot = self.arena.slot_of(thing)
                slot = self.arena.take(thing, thing) if slot is None else slot
                name = self.arena.name(slot, thing.shape, thing.dtype)
                accesses.append(MemoryAccess(("slot", slot), None, written))
            else:
                name = self._bound(id(thing), "nothing", thing)
            arrays.append(name)
            self._fixed.add(name)
        expected = tuple((use.array.size, use.array.dtype) for use in uses)
        return RegionTask(
            units, tuple(arrays), expected, units.numbers, units.extent, units.unit,
            tuple(accesses), units.seconds,
        )  # fmt: skip

    def _text_of_product(self, node, product):
        read = [self._name(v) for v in node.inputs]
        read = [f"{name}.T" if turned else name for name, turned in zip(read, product.transposed)]
        line = f"{node.outputs[0].name} = {' @ '.join(read)}"
        return line if node.layer is None else f"{line}  # {node.layer.path}"

    def _group(self, position, group, tiled=None):
        """Add the loop of a group to the open region; assigned values overwrite their variables'
        arrays.

        Args:
            tiled: the TiledProduct that the group belongs to, or None.
        """
        places, in_place = {}, self._overwritten(position, group, tiled)
        if tiled is not None:
            tiled.product.name = self._numbered_name("matmul")
            places[id(tiled.product)] = tiled.product.name
        for value in group.outputs:
            if id(value) in group.late or id(value) in in_place or not value.shape:
                continue
            found = self._owned(position, group, value)
            if found is not None and not self._is_multiplied(found[1], tiled):
                variable, old = found
                in_place[id(value)] = old
                value.name = places[id(old)] = self._numbered_name(value.node.op.name)
                self._own("own_copy", value.name, variable, value)
        owned = {key: old for key, old in in_place.items() if id(old) in places}
        made = GroupLoop(group, in_place)
        for value in (*made.outputs, *made.sums):
            # Results and assigned values get new arrays here; the arena holds all other values.
            escaped = self.lives.root(value) in self.lives.escaped
            out = None if escaped else self._destination(position, group, value)
            value.name = self._numbered_name(value.node.op.name)
            self._body.append(f"{value.name} = {out or self._empty(value)}")
            self._c_order.add(id(value))
        for value in group.outputs:
            if id(value) in owned:
                self._in_place[self.lives.root(value)] = self._memory(owned[id(value)])
        line, called = self._call_of_loop(group, made, places)
        product = None if tiled is None else tiled.product
        task_of_region = self._loop_task(group, made, places, in_place, product)
        if tiled is not None:
            called = None
            task_of_region, line = self._tiled_task(tiled, made, task_of_region, line)
        self._add_task(task_of_region, group.outputs, line, called)
        counts = [(v, made.counts[id(v)]) for v in made.sums if id(v) in made.counts]
        if counts:
            self._close()
        for value, count in counts:
            number = self._number(count, value.dtype)
            self._line(f"divide({value.name}, {number}, {value.name})")

    def _is_multiplied(self, value, tiled):
        """Return whether a tiled product reads the value; the loop must not overwrite it then."""
        read = () if tiled is None else tiled.node.inputs
        return self.lives.root(value) in {self.lives.root(v) for v in read}

    def _overwritten(self, position, group, tiled):
        """Return {id of an output: the input whose slot it overwrites}."""
        found = {}
        read = [v for v in group.inputs if tiled is None or v is not tiled.product]
        read = [v for v in read if not self._is_multiplied(v, tiled)]
        roots = [self.lives.root(v) for v in read]
        for value in group.outputs:
            root = self.lives.root(value)
            # A scalar is stored after the loop, so only an array of the group's shape can overwrite
            # an input.
            full = value.shape == group.shape and value.shape
            if id(value) in group.late or not full or root in self.lives.escaped:
                continue
            for old, at in zip(read, roots, strict=True):
                unread = self.lives.last[at] == position and roots.count(at) == 1
                free = unread and alike(old, value) and id(old) in self._in_buffers
                if free and self.arena.hand_over(at, value, root):
                    found[id(value)] = old
                    slot = self._in_buffers[id(value)] = self._in_buffers[id(old)]
                    value.name = self._numbered_name(value.node.op.name)
                    name = self.arena.name(slot, value.shape, value.dtype)
                    self._body.append(f"{value.name} = {name}")
                    break
        return found

    def _loop_task(self, group, made, places, in_place, product=None):
        """Return the RegionTask of a loop; an input that is the tiled `product` has no memory."""
        outs = (*made.outputs, *made.sums)
        extent, unit, each = made.units()
        accesses = []
        for value in made.inputs:
            if value is not product:
                written = any(value is old for old in in_place.values())
                touched = made.bytes_of(value, each), written, made.by_columns
                accesses.append(self._access(value, *touched))
        for value in outs:
            touched = made.bytes_of(value, each), True, made.by_columns
            accesses.append(self._access(value, *touched))
        arrays = [
            places.get(id(v))
            or (self._number_place(v) if kind == loop_kernels.NUMBER else self._place(v))
            for v, kind in zip(made.inputs, made.layouts, strict=True)
        ]
        values = (*made.inputs, *outs)
        return RegionTask(
            made.task, (*arrays, *map(self._place, outs)),
            tuple((v.size, v.dtype) for v in values), (made.size, made.columns, each), extent, unit,
            tuple(accesses), made.seconds(),
        )  # fmt: skip

    def _tiled_task(self, tiled, made, loop, line):
        """Return the RegionTask of a tiled product with its loop, and its line of source.

        Args:
            loop: the RegionTask of the loop alone. line: its source line.
        """
        node, place = tiled.node, made.inputs.index(tiled.product)
        product = product_of(node)
        read = [self._place(v) for v in node.inputs]
        arrays, expected = list(loop.arrays), list(loop.expected)
        arrays[place], expected[place] = read[0], (node.inputs[0].size, node.inputs[0].dtype)
        alike = tiled.product.size, tiled.product.dtype.itemsize
        beside = [
            at
            for at, (size, dtype) in enumerate(loop.expected)
            if at != place and (size, dtype.itemsize) == alike
        ]
        task = TiledProductTask(loop.task, place, len(arrays), beside, product)
        accesses = (*(self._access(v, None) for v in node.inputs), *loop.accesses)
        seconds = loop.work + product.multiplications * _OF_PRODUCT
        task_of_region = RegionTask(
            task, (*read, *arrays), (*((v.size, v.dtype) for v in node.inputs), *expected),
            loop.numbers, loop.extent, loop.unit, accesses, seconds, task.ahead,
        )  # fmt: skip
        return task_of_region, f"{self._text_of_product(node, product)}, row by row for {line}"

    def _number_place(self, value):
        return self._place(value) if id(value) in self._in_buffers else self._as_array(value)

    def _call_of_loop(self, group, made, places):
        """Return the line that calls a loop without a region, and (name, loop)."""
        outs = [*made.outputs, *made.sums]
        operands = [
            self._number_of_loop(v)
            if kind == loop_kernels.NUMBER
            else self._passed(made, v, places.get(id(v)) or self._contiguous(v))
            for v, kind in zip(made.inputs, made.layouts, strict=True)
        ]
        text = self._bound(id(made.loop), "loop", made.loop)
        nodes = ", ".join(s.op.name for s in group.nodes)
        names = ", ".join([*operands, *(self._passed(made, v, v.name) for v in outs)])
        # The arguments are names of buffers, so the generated line has a comment that lists the
        # values in them.
        if made.flat:
            read = [self._name(v) for v in made.inputs]
            written = ", ".join(v.name for v in group.outputs)
            nodes = f"{written} from {', '.join(read)} by {nodes}"
        layer = group.layer
        note = nodes if layer is None else f"{layer.path}: {nodes}"
        return f"{text}({names})  # {note}", (text, made.loop)

    def _passed(self, loop_group, value, name):
        flat = loop_group.flat and value.shape
        return self._flat(value, name) if flat else name

    def _number_of_loop(self, value):
        """Return the expression of a value as a 0-d array."""
        return f"{self._name(value)}.reshape(())" if value.shape else self._as_array(value)


def _adds_much(group):
    """Return whether a group sums columns of an array large enough for several threads."""
    (node,) = group.nodes
    return is_sum(node) == "leading" and node.inputs[0].nbytes >= _SHARED
