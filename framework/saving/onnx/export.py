"""Export of a model, layer or function to an ONNX file."""

import glob
import os
import secrets
from functools import partial
from pathlib import Path

import numpy as np

from framework.core.errors import ExportError, InvalidArgumentError
from framework.saving.onnx import layout, proto, signature
from framework.saving.onnx.builder import Builder
from framework.saving.onnx.proto import Messages
from framework.saving.onnx.traces import FILLS, first_that_runs, general_graph
from framework.saving.onnx.translate import translated
from framework.saving.writing import replacing

OPSET = 20
"""The default version of ONNX's operators: the first with Gelu."""

OPSETS = range(18, 24)
"""The versions that the rules are written for."""


def export_onnx(function, filepath, input_signature=None, opset_version=None, verbose=None):
    """Write a model, layer or function to an ONNX file.

    Args:
        function: a Model, a Layer, a `tf.function`, or a Python function of tensors. Layers are
            called with `training=False`.
        filepath: a path; its name ends in ".onnx".
        input_signature: the specs of the arguments (`tf.TensorSpec`, `keras.InputSpec` or
            KerasTensors, in nests as the function takes them); None is an unknown size. By default
            the specs of the model's inputs or of the `tf.function`.
        opset_version: the version of ONNX's operators, 18 to 23; 20 by default.
        verbose: whether to print a summary of the file.

    Raises:
        ExportError: ONNX cannot express an op, which the error names with its layer and line; or
            the package onnx is missing. Nothing is written then.
        SaveError: the file cannot be written; an existing file is unchanged.

    Example:
        >>> import numpy as np, os, tempfile
        >>> from framework import keras
        >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
        >>> keras.saving.export_onnx(model, path)
        >>> os.path.exists(path)
        True
    """
    onnx = proto.needed_package()
    path = _checked_path(filepath)
    opset = _checked_opset(opset_version)
    given = signature.of(function, input_signature)
    graph, result, sizes = _traced(given)
    b = Builder(opset, graph.traces)
    inputs = [
        b.input(spec.name, spec.dtype.np, array.shape)
        for spec, array in zip(given.specs, graph.arguments, strict=True)
    ]
    results = translated(b, graph, inputs)
    names = given.output_names(result)
    written = _finished(b, inputs, results, names, graph)
    _write(onnx, path, given, b, written, sizes)
    if verbose:
        print(_summary(path, inputs, written, opset))


def _checked_path(filepath):
    path = Path(os.fspath(filepath))
    if path.suffix != ".onnx":
        raise ExportError(f"export: expected a file name that ends in '.onnx', got {str(path)!r}.")
    return path


def _checked_opset(version):
    if version is None:
        return OPSET
    if type(version) is not int or version not in OPSETS:
        raise ExportError(
            f"export: expected an opset_version from {OPSETS[0]} to {OPSETS[-1]}, got {version!r}."
        )
    return version


def _traced(given):
    """Trace the function; return (graph, result, sizes).

    If the call raises an error, larger sizes and other contents are tried.

    Raises:
        FrameworkError: the first error, if the call fails for all sizes and contents.
    """

    def attempt(sizes, fill):
        count = len(next(iter(sizes.values()))) if sizes else 2
        trials = [given.arrays(sizes, k, fill) for k in range(count)]
        return (*general_graph([given.function] * count, trials), sizes)

    # An ExportError for "varied" contents is final: equal contents in all traces would hide that a
    # constant was computed from values.
    def of_sizes(sizes):
        return first_that_runs([partial(attempt, sizes, fill) for fill in FILLS])

    trials = [partial(of_sizes, sizes) for sizes in signature.trial_sizes(given.symbols)]
    return first_that_runs(trials, (InvalidArgumentError, ExportError))


class _Written:
    """The content of an ONNX file: nodes, initializers, and outputs as (name, dtype, shape)."""

    def __init__(self, nodes, initializers, outputs):
        self.nodes, self.initializers, self.outputs = nodes, initializers, outputs


def _finished(b, inputs, results, names, graph):
    """Name the outputs; remove nodes and initializers that no output needs."""
    ends = [b.name_of(ref) for ref in results]
    nodes, found = layout.merged(b.nodes, b.initializers, ends, b.unique)
    taken = {ref.name for ref in inputs}
    outputs, renamed = [], {}
    for end, wanted, ref, array in zip(ends, names, results, graph.results, strict=True):
        source, name = found[end], b.unique(wanted) if wanted in taken else wanted
        taken.add(name)
        outputs.append((name, ref.dtype, array.shape))
        computed = any(source in node.outputs for node in nodes)
        if computed and source not in renamed:
            renamed[source] = name
        else:  # a source that is an input, a constant or returned twice needs an Identity node
            source = renamed.get(source, source)
            nodes.append(layout.identity(source, name))
    layout.rename(nodes, renamed)
    used = {n for node in nodes for n in layout.reads(node)}
    initializers = {n: a for n, a in b.initializers.items() if n in used}
    return _Written(nodes, initializers, outputs)


def _write(onnx, path, given, b, written, sizes):
    """Write the file; weights above protobuf's size limit go to a second file beside it."""
    data = None
    if sum(a.nbytes for a in written.initializers.values()) >= proto.EXTERNAL:
        data = path.with_name(f"{path.name}.{secrets.token_hex(4)}.data")
    messages = Messages(onnx, {values: name for name, values in sizes.items()}, data and data.name)
    inputs = [(spec.name, spec.dtype.np, spec.sizes(sizes)) for spec in given.specs]
    model = messages.model(
        given.name, written.nodes, written.initializers, inputs, written.outputs, b.domains
    )
    content = model.SerializeToString(deterministic=True)
    try:
        if data is None:
            onnx.checker.check_model(content)
        else:
            _write_data(data, messages.arrays)
        with replacing(path) as file:
            file.write(content)
    except BaseException:
        if data is not None:
            data.unlink(missing_ok=True)
        raise
    for other in path.parent.glob(f"{glob.escape(path.name)}.????????.data"):
        if other != data:  # these data files belong to the model that was replaced
            other.unlink(missing_ok=True)


def _write_data(path, arrays):
    """Write the bytes of large initializers at their offsets."""
    with replacing(path) as file:
        for offset, array in arrays:
            file.write(b"\0" * (offset - file.tell()))
            # a view of the array's memory, without a copy
            file.write(proto.little_endian(array).reshape(-1).view(np.uint8))


def _summary(path, inputs, written, opset):
    count = sum(a.size for a in written.initializers.values())
    names = [ref.name for ref in inputs]
    outputs = [name for name, _, _ in written.outputs]
    return (
        f"Wrote {path} (opset {opset}): {len(written.nodes)} nodes, {count:,} weights, inputs "
        f"{names}, outputs {outputs}."
    )
