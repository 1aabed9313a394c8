"""Code generation for fusion groups in NumPy: calls over blocks that stay in the cache.

Temporaries have the size of a block, not of the arrays: an Adam step over 100,000 parameters takes
0.12 ms instead of 0.7 ms. Threads share the blocks of large groups.
"""

import numpy as np

from framework.compiler import lowering
from framework.compiler.fusion import ufunc_of
from framework.kernels import blocks


def alone(node):
    """Return whether a single node is worth computing in blocks."""
    slow = node.op.name in lowering.SLOW_WITH_NUMBERS and len(node.inputs) == 1
    return slow or node.outputs[0].size >= blocks.LEAST


class BlockedFunction:
    """`source` defines `name(inputs..., outputs...)`, which computes a fusion group block by block.

    Args:
        name: the name of the function.
        group: a FusionGroup; its inputs have its shape or are scalars.
        bound: `bound(key, text, value)` returns a name for an object in the source's namespace.
        over: {id of an output: the inputs whose memory it can overwrite}.

    The arrays of a call may have another size than the group's, but all have the same size.
    """

    def __init__(self, name, group, bound, over):
        self.name, self._group, self._bound, self._over = name, group, bound, over
        # dtypes of scratch blocks; names of blocks filled with a constant
        self._scratch, self._full = [], []
        self._free = []  # (index, dtype) of scratch blocks that are free for reuse
        self._names, self._lines, self._late = {}, [], []
        self._inputs = [f"x{i}" for i in range(len(group.inputs))]
        self._outputs = [f"y{i}" for i in range(len(group.outputs))]
        whole = [v.shape == group.shape for v in group.inputs]
        for value, text, is_whole in zip(group.inputs, self._inputs, whole, strict=True):
            self._names[id(value)] = f"{text}b" if is_whole else text
        self._last = {}
        for position, node in enumerate(group.nodes):
            self._last.update((id(v), position) for v in node.inputs)
        self._end = {id(v): f"{t}b" for v, t in zip(group.outputs, self._outputs, strict=True)}
        for position, node in enumerate(group.nodes):
            self._node(position, node)
        self.source = self._text(whole)

    def _node(self, position, node):
        (output,) = node.outputs
        # a function that takes the name of the output and returns source lines
        written = self._writer(node)
        overwrites = node.op.name not in lowering.LATE_READERS
        if overwrites:
            self._release(position, node)
        target = self._target(position, output, overwrites)
        if not overwrites:
            self._release(position, node)
        self._names[id(output)] = target
        self._lines += written(target)
        if id(output) in self._end and target != self._end[id(output)]:
            self._late.append(f"{self._end[id(output)]}[...] = {target}")

    def _writer(self, node):
        """Return a function that takes the name of the output and returns lines of source."""
        ufunc = ufunc_of(node.op)
        if ufunc is None and lowering.into(node) is None:
            # Pass Python numbers unchanged: a forward function that is not a ufunc may treat arrays
            # differently. Omit the forward's wrapper that suppresses warnings: generated code runs
            # under `no_warnings`.
            forward = getattr(node.op.forward, "ufunc", node.op.forward)
            call = self._bound(id(forward), node.op.name, forward)
            text = f"{call}({', '.join(self._operands(node, self._plain))})"
            return lambda target: [f"{target}[...] = {text}"]
        dtype = node.inputs[0].dtype
        slow = node.op.name in lowering.SLOW_WITH_NUMBERS
        number = lambda n: self._everywhere(n, dtype) if slow else self._number(n, dtype)
        operands = self._operands(node, number)
        if ufunc is not None:
            call = self._bound(id(ufunc), node.op.name, ufunc)
            return lambda target: [lowering.call(ufunc, call, operands, target)]
        return lambda target: lowering.INTO[node.op.name](node, operands, target, number)

    def _operands(self, node, number):
        return [self._names[id(a)] if hasattr(a, "constant") else number(a) for a in node.args]

    def _plain(self, number):
        if type(number) in (int, float, bool) and number - number == 0:
            return repr(number)
        return self._bound(("object", id(number)), "n", number)

    def _number(self, number, dtype):
        try:
            array = np.asarray(number, dtype)
        except OverflowError:  # a comparison accepts an integer beyond the range of the dtype
            return self._plain(number)
        return self._bound(("number", array.tobytes(), dtype), "n", array)

    def _everywhere(self, number, dtype):
        """Return the name of a block that is filled with the number."""
        array = blocks.full(np.asarray(number, dtype))
        name = self._bound(id(array), "full", array)
        if name not in self._full:
            self._full.append(name)
        return f"{name}b"

    def _release(self, position, node):
        for value in node.inputs:
            name = self._names[id(value)]
            kept = id(value) in self._end
            if name[0] == "t" and self._last[id(value)] == position and not kept:
                free = int(name[1:-1]), value.dtype
                if free not in self._free:
                    self._free.append(free)

    def _target(self, position, output, overwrites):
        """Return the name of the block that a node writes: part of an output array, or scratch
        memory.

        Scratch blocks hold temporaries, and outputs that will overwrite an input which a later node
        still reads.
        """
        end = self._end.get(id(output))
        last = [self._last[id(v)] for v in self._over.get(id(output), ()) if id(v) in self._last]
        if end is not None and max(last, default=-1) < position + overwrites:
            return end
        for free in self._free:
            if free[1] == output.dtype:
                self._free.remove(free)
                return f"t{free[0]}b"
        self._scratch.append(output.dtype)
        return f"t{len(self._scratch) - 1}b"

    def _text(self, whole):
        arrays = [t for t, is_whole in zip(self._inputs, whole, strict=True) if is_whole]
        arrays += self._outputs
        run = self._bound(id(blocks.run), "by_blocks", blocks.run)
        return "\n".join([
            f"def {self.name}({', '.join([*self._inputs, *self._outputs])}):",
            *(f"    {t} = {t}.reshape(-1)" for t in arrays),
            "    def block(i, j):",
            *(f"        {line}" for line in self._body(arrays)),
            f"    {run}(block, {arrays[0]}.size, {len(self._group.nodes)})",
            "", "",
        ])  # fmt: skip

    def _body(self, arrays):
        """Yield the source lines that compute the elements i to j of all outputs."""
        scratch = [f"t{i}" for i in range(len(self._scratch))]
        kinds = tuple(self._scratch)
        if kinds:
            take, give = (self._bound(id(f), f.__name__, f) for f in (blocks.take, blocks.give))
            kinds = self._bound(("scratch", kinds), "kinds", kinds)
            yield f"{', '.join(scratch)}, = taken = {take}({kinds})"
        yield from (f"{t}b = {t}[i:j]" for t in arrays)
        yield from (f"{t}b = {t}[: j - i]" for t in [*scratch, *self._full])
        yield from [*self._lines, *self._late]
        if kinds:
            yield f"{give}({kinds}, taken)"
