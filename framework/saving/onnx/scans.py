"""Loops: ONNX's Scan, with a body written by rules."""

import numpy as np


class Body:
    """The graph inside a Scan node.

    Args:
        inputs, outputs: References: the states, then each sequence's slice for one step.
        nodes: its nodes. The body uses the initializers of the outer graph.
    """

    def __init__(self, inputs, outputs, nodes):
        self.inputs, self.outputs, self.nodes = inputs, outputs, nodes


def scan(b, states, sequences, step, axis=1, reverse=False):
    """Add a loop over sequences and return (last states, outputs of all steps).

    Args:
        b: the Builder.
        states: References of the first states, with shapes.
        sequences: References of tensors, which are cut along `axis` into one part for each step.
        step: `step(b, states, parts)` returns (new states, outputs), lists of References.
        axis: the axis of the sequences and of the outputs.
        reverse: whether the last part comes first; outputs stay in the order of the sequences.
    """
    for ref in (*states, *sequences):
        b.name_of(ref)
    outer, b.nodes = b.nodes, []
    sizes, dims = dict(b.sizes_computed), dict(b.dims_known)
    inner = [type(s)(b.unique(f"{b.scope}/state"), s.dtype, s.shape) for s in states]
    parts = [
        type(s)(b.unique(f"{b.scope}/part"), s.dtype, s.shape and _without(s.shape, axis))
        for s in sequences
    ]
    new, outputs = step(b, inner, parts)
    ends = [b("Identity", ref, shape=ref.shape) for ref in (*new, *outputs)]
    body = Body([*inner, *parts], ends, b.nodes)
    b.nodes = outer
    # the outer graph cannot read the sizes that the body computes, so they are removed
    b.sizes_computed, b.dims_known = sizes, dims
    k, m = len(sequences), len(outputs)
    found = b(
        "Scan", *states, *sequences, outputs=len(new) + m, body=body, num_scan_inputs=k,
        scan_input_axes=[axis] * k, scan_output_axes=[axis] * m,
        scan_input_directions=[int(reverse)] * k, scan_output_directions=[int(reverse)] * m,
    )  # fmt: skip
    found = found if isinstance(found, list) else [found]
    for ref, end in zip(found, ends, strict=True):
        ref.dtype = np.dtype(end.dtype)
    return found[: len(new)], found[len(new) :]


def _without(shape, axis):
    return (*shape[:axis], *shape[axis + 1 :])
