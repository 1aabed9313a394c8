"""Convert a graph to ONNX's protobuf messages, with the package `onnx`."""

import numpy as np

from framework.core.errors import ExportError
from framework.saving.onnx.scans import Body
from framework.saving.onnx.sizes import Size

EXTERNAL = 2**31 - 2**20
"""From this number of bytes on, weights are in a separate file: protobuf holds at most 2 GB."""


def needed_package():
    """Import and return `onnx`, or raise an error that says how to install it."""
    try:
        import onnx
    except ImportError:
        raise ExportError(
            "export: the format 'onnx' needs the package onnx: pip install onnx, or "
            "framework[onnx]."
        ) from None
    return onnx


def element_type(onnx, dtype):
    """Return ONNX's data type code of a NumPy dtype."""
    dtype = np.dtype(dtype)
    if dtype.kind == "O":
        return onnx.TensorProto.STRING
    if dtype.name == "bfloat16":
        return onnx.TensorProto.BFLOAT16
    if dtype.kind == "c":
        raise ExportError(
            "export: ONNX's operators do not take complex numbers. Pass real and imaginary parts "
            "as two tensors."
        )
    return onnx.helper.np_dtype_to_tensor_dtype(dtype)


class Messages:
    """Builds the messages of one model.

    Args:
        onnx: the package.
        symbols: {values of a Size: name of the dimension}.
        data: the name of a file for the bytes of large initializers, or None.

    Attributes:
        arrays: pairs (offset, array) for this file.
    """

    def __init__(self, onnx, symbols, data=None):
        self._onnx, self._symbols, self._data = onnx, dict(symbols), data
        self.arrays, self._end = [], 0

    def model(self, name, nodes, initializers, inputs, outputs, domains):
        """Return the ModelProto.

        Args:
            name: the graph's name.
            nodes: Nodes.
            initializers: {name: array}.
            inputs, outputs: lists of (name, dtype, shape).
            domains: {domain: version}.
        """
        helper = self._onnx.helper
        graph = helper.make_graph(
            [self._node(n) for n in nodes], name,
            [self._info(*i) for i in inputs], [self._info(*o) for o in outputs],
            [self._tensor(n, a) for n, a in initializers.items()],
        )  # fmt: skip
        opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
        return helper.make_model(
            graph, opset_imports=opsets, producer_name="framework",
            ir_version=helper.find_min_ir_version_for(opsets),
        )  # fmt: skip

    def _info(self, name, dtype, shape):
        sizes = None if shape is None else [self._dim(name, i, n) for i, n in enumerate(shape)]
        kind = element_type(self._onnx, dtype)
        return self._onnx.helper.make_tensor_value_info(name, kind, sizes)

    def _dim(self, name, axis, n):
        if type(n) is not Size:
            return int(n)
        return self._symbols.setdefault(n.values, f"{name}_dim{axis}")

    def _tensor(self, name, array):
        onnx = self._onnx
        if array.dtype.kind == "O":
            strings = [s if isinstance(s, bytes) else str(s).encode() for s in array.reshape(-1)]
            return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, array.shape, strings)
        if self._data is not None and array.nbytes >= 1024:
            return self._outside(name, array)
        return onnx.helper.make_tensor(
            name,
            element_type(onnx, array.dtype),
            array.shape,
            little_endian(array).tobytes(),
            raw=True,
        )

    def _outside(self, name, array):
        """Return the message of a tensor whose bytes are in the external data file."""
        onnx = self._onnx
        # the offset is a multiple of the page size, so that runtimes can map the tensor into memory
        offset = -(-self._end // 4096) * 4096
        self._end = offset + array.nbytes
        self.arrays.append((offset, array))
        tensor = onnx.TensorProto(
            name=name, dims=array.shape, data_type=element_type(onnx, array.dtype),
            data_location=onnx.TensorProto.EXTERNAL,
        )  # fmt: skip
        place = {"location": self._data, "offset": offset, "length": array.nbytes}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    def _node(self, node):
        attrs = {name: self._attribute(value) for name, value in node.attrs.items()}
        return self._onnx.helper.make_node(
            node.op_type, node.inputs, node.outputs, node.outputs[0] or None, domain=node.domain,
            **attrs,
        )  # fmt: skip

    def _attribute(self, value):
        if isinstance(value, Body):
            refs = value.inputs, value.outputs
            inputs, outputs = ([self._info(r.name, r.dtype, None) for r in side] for side in refs)
            nodes = [self._node(n) for n in value.nodes]
            return self._onnx.helper.make_graph(nodes, "body", inputs, outputs)
        if isinstance(value, np.dtype):
            return element_type(self._onnx, value)
        if isinstance(value, np.ndarray):
            return self._tensor("value", value)
        return list(value) if isinstance(value, tuple) else value


def little_endian(array):
    """Return an array in C order whose elements are little-endian."""
    array = np.ascontiguousarray(array)
    return array.byteswap() if array.dtype.byteorder == ">" else array
