"""Let convolutions with strides pad their input themselves instead of reading a padded copy.

Many networks pad images in a separate layer before a convolution with strides. In a training step
the padded copy would stay in memory until the backward pass. The results are bit-identical: the
windows and the order of their sums are the same. (Without strides they may differ: the padding
decides where the patches of Winograd's algorithm begin.)
"""

from framework.compiler.ir import Graph, OpNode
from framework.kernels import windows

# op -> position of the argument with the images
_READERS = {"conv": 0, "conv_bias": 0, "conv_kernel": 0, "conv_bias_back": 1}


def without_padded_copies(graph):
    """Return the graph in which convolutions pad their inputs; dead nodes remain."""
    readers, ends = _readers(graph), {id(value) for value in graph.ends}
    replacements = {}  # id of a node -> the node that replaces it, or None
    for node in graph.nodes:
        if _is(node, "pad") and id(node.outputs[0]) not in ends:
            replacements.update(_that_pad(node, readers, ends))
        elif _is(node, "conv_input"):
            replacements.update(_uncropped(node, readers, ends))
    if not replacements:
        return graph
    nodes = [replacements.get(id(node), node) for node in graph.nodes]
    return Graph(graph.arguments, [n for n in nodes if n], graph.assigned, graph.results)


def _that_pad(pad, readers, ends):
    """Return replacements for the readers of `pad` that do the padding; {} if one cannot."""
    (x,), widths = pad.args, pad.attrs["widths"]
    wide = pad.outputs[0]
    if any(map(any, (widths[0], widths[-1]))) or x.dtype != wide.dtype:
        return {}
    found = {}
    for node in readers.get(id(wide), ()):
        place = _READERS.get(node.op.name) if type(node) is OpNode else None
        if place is None or [id(v) for v in node.inputs].count(id(wide)) != 1:
            return {}
        padding = node.args[place] is wide and _with(widths, node, wide.shape)
        if not padding:
            return {}
        outputs = node.outputs
        if node.op.name == "conv_bias_back" and node.attrs["needed"][0]:
            crop = _only_reader(outputs[0], readers, ends)
            if crop is None or _cropped(crop) != _kept(widths, x.shape):
                return {}
            found[id(crop)] = None
            outputs = crop.outputs[0], *outputs[1:]
        args = [x if a is wide else a for a in node.args]
        found[id(node)] = _node(node, args, {**node.attrs, "padding": padding}, outputs)
    return found


def _uncropped(node, readers, ends):
    """Return replacements so that `conv_input` computes only what a crop after it keeps, or {}."""
    (wide,) = node.outputs
    crop = _only_reader(wide, readers, ends)
    kept = crop and _cropped(crop)
    if not kept or kept[0] != (0, wide.shape[0]) or kept[-1] != (0, wide.shape[-1]):
        return {}
    widths = [(first, n - last) for n, (first, last) in zip(wide.shape, kept, strict=True)]
    padding = _with(widths, node, wide.shape)
    if not padding:
        return {}
    attrs = {**node.attrs, "padding": padding, "sizes": crop.outputs[0].shape[1:-1]}
    return {id(node): _node(node, node.args, attrs, crop.outputs), id(crop): None}


def _with(widths, node, shape):
    """Return the padding of a convolution plus `widths`; None if its padding must not change.

    Args:
        shape: the shape of the padded images, the input of the convolution.
    """
    attrs = node.attrs
    size = attrs.get("size") or node.args[2 if node.op.name == "conv_bias_back" else 1].shape[:-2]
    moves = attrs["strides"], attrs["dilations"]
    if max(attrs["strides"]) == 1:
        return None
    own = windows.amounts(attrs["padding"], shape[1:-1], size, *moves)
    both = [(a + c, b + d) for (a, b), (c, d) in zip(own, widths[1:-1], strict=True)]
    reach = [(k - 1) * d for k, d in zip(size, attrs["dilations"], strict=True)]
    # with more padding, a window could contain nothing but padding, so keep the pad or crop op
    fits = all(max(pair) <= most for pair, most in zip(both, reach, strict=True))
    return tuple(both) if fits else None


def _cropped(node):
    """Return (start, stop) for each axis if the node only crops its input by slices, else None."""
    if not _is(node, "getitem"):
        return None
    index, (x,) = node.attrs["index"], node.inputs
    plain = type(index) is tuple and len(index) == len(x.shape)
    if not plain or any(type(i) is not slice or i.step not in (None, 1) for i in index):
        return None
    return [i.indices(n)[:2] for i, n in zip(index, x.shape, strict=True)]


def _kept(widths, shape):
    return [(before, before + n) for (before, _), n in zip(widths, shape, strict=True)]


def _only_reader(value, readers, ends):
    """Return the node that is the only reader of a value, else None."""
    found = readers.get(id(value), ())
    return found[0] if len(found) == 1 and id(value) not in ends else None


def _readers(graph):
    """Return {id of a Value: the nodes that read it}."""
    found = {}
    for node in graph.nodes:
        for value in {id(v): v for v in node.inputs}.values():
            found.setdefault(id(value), []).append(node)
    return found


def _is(node, name):
    return type(node) is OpNode and node.op.name == name


def _node(node, args, attrs, outputs):
    new = OpNode(node.op, args, attrs, outputs, node.saved, node.layer)
    for value in new.all_outputs:
        value.node = new
    return new
