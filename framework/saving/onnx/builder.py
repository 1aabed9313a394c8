"""The ONNX graph under construction: nodes, initializers, and the sizes that it computes."""

import numpy as np

from framework.core.errors import ExportError
from framework.saving.onnx import constants, folding
from framework.saving.onnx.sizes import Size, at, derivation, known, size_from

_INT64 = np.dtype(np.int64)


class RefusalError(Exception):
    """Raised by a rule that cannot express a call; `translate.py` adds the name of the call."""


class Node:
    """An ONNX node: operator, names of inputs ("" for none) and outputs, attributes, domain."""

    __slots__ = ("attrs", "domain", "inputs", "op_type", "outputs")

    def __init__(self, op_type, inputs, outputs, attrs, domain=""):
        self.op_type, self.inputs, self.outputs = op_type, inputs, outputs
        self.attrs, self.domain = attrs, domain


class Reference:
    """A value of the ONNX graph.

    Attributes:
        name: its name; None for a constant that no node has used yet.
        dtype: a NumPy dtype.
        shape: a tuple of ints and Sizes, or None where no rule needs it.
        arrays: its array in each trace if it is a constant, else None.
        path: the path of the first variable from which a constant is computed.
        note: (kind, data) from the rule that computed the value, for the rule that reads it.
    """

    __slots__ = ("arrays", "dtype", "name", "note", "path", "shape")

    def __init__(self, name, dtype, shape=None, arrays=None, path=None):
        self.name, self.dtype, self.shape = name, np.dtype(dtype), shape
        self.arrays, self.path, self.note = arrays, path, None

    @property
    def array(self):
        """The array of a constant that is equal in all traces, else None."""
        arrays = self.arrays
        if arrays is None or any(a is not arrays[0] for a in arrays):
            return None
        return arrays[0]

    @property
    def rank(self):
        return len(self.shape)


class Builder:
    """Collects the nodes and initializers of an ONNX graph.

    Calling it adds a node: `b("Add", x, y)` returns the Reference of the node's output. A node of
    constants is computed at once (`folding.py`).

    Args:
        opset: the version of ONNX's operators.
        traces: the number of traces, and of values of each size.
    """

    def __init__(self, opset, traces):
        self.opset, self.traces = opset, traces
        self.nodes, self.initializers = [], {}
        self.domains = {"": opset}
        self.scope = "graph"  # names of new values begin with this prefix, the path of the layer
        self._names, self.sizes_computed, self.dims_known = set(), {}, {}
        self.call = None  # the Call that a rule is translating
        self._constants = {}

    def refuse(self, why):
        """Raise a RefusalError: the rule cannot express the call."""
        raise RefusalError(why)

    # ---- names and constants ----

    def unique(self, name):
        """Return a name that no other value has."""
        found, number = name, 1
        while found in self._names:
            found, number = f"{name}_{number}", number + 1
        self._names.add(found)
        return found

    def input(self, name, dtype, shape):
        """Return the Reference of a graph input."""
        ref = Reference(self.unique(name), dtype, shape)
        self.note_sizes(ref)
        return ref

    def constant(self, value, dtype=None, path=None):
        """Return the Reference of an array or a number."""
        array = np.asarray(value, dtype)
        return Reference(None, array.dtype, array.shape, (array,) * self.traces, path)

    def varying(self, arrays, path=None):
        """Return the Reference of a constant that differs between traces: one array per trace."""
        arrays = tuple(np.asarray(a) for a in arrays)
        if all(folding.same(a, arrays[0]) for a in arrays):
            return self.constant(arrays[0], path=path)
        shape = tuple(size_from(n) for n in zip(*(a.shape for a in arrays)))
        return Reference(None, arrays[0].dtype, shape, arrays, path)

    def ints(self, values):
        """Return the Reference of a 1-d int64 tensor that consists of the given ints and Sizes."""
        values = tuple(values)
        if known(values):
            return self.constant(np.array(values, np.int64))
        parts, run = [], []
        for n in (*values, None):
            if type(n) is int or isinstance(n, np.integer):
                run.append(int(n))
                continue
            if run:
                parts.append(self.constant(np.array(run, np.int64)))
                run = []
            if n is not None:
                parts.append(self.size(n))
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=0)

    def name_of(self, ref):
        """Return the name of a Reference; a constant becomes an initializer or computed nodes."""
        if ref is None:
            return ""
        if ref.name is None:
            array = ref.array
            if array is None:
                ref.name = constants.computed(self, ref.arrays).name
            else:
                ref.name = self._initializer(array, ref.path)
        return ref.name

    def _initializer(self, array, path):
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= 64 else id(array)
        if path is None and key in self._constants:
            return self._constants[key][0]
        name = self.unique(path or "constant")
        self.initializers[name] = array
        if path is None:
            # the array stays alive here, because `key` may contain its id
            self._constants[key] = name, array
        return name

    # ---- nodes ----

    def __call__(self, op_type, *inputs, dtype=None, shape=None, outputs=1, domain="", **attrs):
        """Add a node and return the Reference of its output, or a list of References for several.

        Args:
            op_type: ONNX's name of the operator.
            *inputs: References; None for an omitted one.
            dtype: the dtype of the output; by default that of the first input.
            shape: the shape of the output, if a rule needs it.
            outputs: the number of outputs.
            domain: the domain of the operator.
            **attrs: the attributes.
        """
        dtype = inputs[0].dtype if dtype is None else np.dtype(dtype)
        if outputs == 1 and not domain:
            folded = folding.folded(self, op_type, inputs, attrs, dtype)
            if folded is not None:
                return folded
        names = [self.name_of(ref) for ref in inputs]
        while names and not names[-1]:
            names.pop()
        made = [self.unique(f"{self.scope}/{op_type.lower()}") for _ in range(outputs)]
        self.nodes.append(Node(op_type, names, made, attrs, domain))
        refs = [Reference(name, dtype, shape) for name in made]
        return refs[0] if outputs == 1 else refs

    # ---- sizes ----

    def note_sizes(self, ref):
        """Record that nodes can read the unknown sizes in the shape of `ref` from `ref`."""
        for axis, n in enumerate(ref.shape or ()):
            if type(n) is Size:
                self.dims_known.setdefault(n.values, (ref, axis))

    def size(self, n):
        """Return a size as a Reference of one int64 number, in shape (1,)."""
        if type(n) is not Size:
            return self.constant(np.array([n], np.int64))
        if n.values not in self.sizes_computed:
            self.sizes_computed[n.values] = self._computed_size(n)
        return self.sizes_computed[n.values]

    def _computed_size(self, n):
        found = self.dims_known.get(n.values)
        if found is not None:
            ref, axis = found
            shape = self("Shape", ref, dtype=_INT64)
            return self("Gather", shape, self.constant(np.array([axis])), axis=0)
        way = derivation(n.values, self.dims_known)
        if way is None:
            raise ExportError(
                f"A size that was {', '.join(map(str, n.values))} in traces with different inputs "
                "cannot be computed from the inputs' sizes. Give fixed sizes in input_signature."
            )
        total = self.size(Size(way.sizes[0]))
        for other in way.sizes[1:]:
            total = self("Mul", total, self.size(Size(other)))
        steps = ("Add", way.before, 0), ("Div", way.divisor, 1), ("Mul", way.multiplier, 1)
        for op_type, number, neutral in (*steps, ("Add", way.offset, 0)):
            if number != neutral:
                total = self(op_type, total, self.size(number))
        return total if way.bound is None else self(way.bound[0], total, self.size(way.bound[1]))

    def can_compute(self, n):
        """Return whether a size is known or can be computed from the sizes of tensors."""
        if type(n) is not Size or n.values in self.sizes_computed or n.values in self.dims_known:
            return True
        return derivation(n.values, self.dims_known) is not None

    def at(self, shape, trace):
        """Return a shape as ints: each `Size` object is replaced by its value in a given trace."""
        return tuple(at(n, trace) for n in shape)

    # ---- frequent nodes ----

    def cast(self, ref, dtype):
        """Cast `ref` to a NumPy dtype, unless it already has it."""
        dtype = np.dtype(dtype)
        if ref.dtype == dtype:
            return ref
        return self("Cast", ref, dtype=dtype, to=dtype, shape=ref.shape)

    def transpose(self, ref, perm):
        perm = tuple(int(i) for i in perm)
        if perm == tuple(range(len(perm))):
            return ref
        shape = None if ref.shape is None else tuple(ref.shape[i] for i in perm)
        return self("Transpose", ref, perm=perm, shape=shape)

    def reshape(self, ref, shape):
        """Reshape `ref` to a shape of ints and Sizes; Sizes that stay in place are just copied."""
        shape = tuple(shape)
        if ref.arrays is not None:
            return self.varying(
                [a.reshape(self.at(shape, k)) for k, a in enumerate(ref.arrays)], ref.path
            )
        old = ref.shape or ()
        copied = [
            0 if type(n) is Size and i < len(old) and old[i] == n else n
            for i, n in enumerate(shape)
        ]
        unknown = [i for i, n in enumerate(copied) if type(n) is Size]
        # allowzero=1 keeps ONNX from reading a 0 in `shape` as "the size of the input"
        if 0 in shape:
            return self("Reshape", ref, self.ints(shape), allowzero=1, shape=shape)
        if len(unknown) == 1:
            copied[unknown[0]] = -1
        return self("Reshape", ref, self.ints(copied), shape=shape)

    def unsqueeze(self, ref, *axes):
        return self("Unsqueeze", ref, self.constant(np.array(axes, np.int64)))

    def squeeze(self, ref, *axes):
        return self("Squeeze", ref, self.constant(np.array(axes, np.int64)))

    def slice(self, ref, starts, ends, axes, steps=None):
        """Slice `ref` along `axes`; `starts` and `ends` may contain Sizes."""
        parts = [self.ints(starts), self.ints(ends), self.ints(axes)]
        return self("Slice", ref, *parts, *([] if steps is None else [self.ints(steps)]))

    def expand(self, ref, shape):
        """Broadcast `ref` to a shape of ints and Sizes; return it if it has this shape already."""
        old = ref.shape
        if old is not None:
            lead = len(shape) - len(old)
            wanted = [1 if i >= lead and old[i - lead] == n else n for i, n in enumerate(shape)]
            if not lead and all(type(n) is int and n == 1 for n in wanted):
                return ref
        else:
            wanted = shape
        return self("Expand", ref, self.ints(wanted), shape=tuple(shape))

    def fill(self, value, shape, dtype):
        """Return a tensor of a shape of ints and Sizes, filled with one number."""
        if known(shape):
            return self.constant(np.full(shape, value, dtype))
        value = np.array([value], dtype)
        return self("ConstantOfShape", self.ints(shape), dtype=dtype, value=value, shape=shape)

    def arange(self, n, dtype=_INT64):
        """Return 0, 1, ..., n - 1 for an int or a Size."""
        if type(n) is not Size:
            return self.constant(np.arange(n), dtype)
        zero, one = self.constant(np.int64(0)), self.constant(np.int64(1))
        numbers = self("Range", zero, self.squeeze(self.size(n), 0), one, shape=(n,))
        return self.cast(numbers, dtype)
