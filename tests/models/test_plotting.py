"""plot_model and model_to_dot: every layer and connection is drawn, once, in all directions."""

import re
import struct
import sys
import types
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from framework import keras
from framework.keras import layers
from framework.keras.utils import model_to_dot, plot_model
from framework.models.diagram import diagram
from framework.models.diagram_drawing import DIRECTIONS, Drawing

SHOW_ALL = {
    "show_shapes": True, "show_dtype": True, "show_layer_names": True,
    "show_layer_activations": True, "show_trainable": True,
}  # fmt: skip


def chain():
    body = layers.Dense(3, "relu", name="body", trainable=False)
    return keras.Sequential([keras.Input((4,)), body, layers.Dense(2, name="head")], name="chain")


def branches():
    a = keras.Input((4,), name="a")
    x, y = layers.Dense(3, name="left")(a), layers.Dense(3, name="right")(a)
    return keras.Model(a, layers.Add(name="sum")([x, y]), name="branches")


def residual():
    """The edge from `start` to `sum` passes two rows."""
    start = keras.Input((4,), name="start")
    x = layers.Dense(4, name="second")(layers.Dense(4, name="first")(start))
    return keras.Model(start, layers.Add(name="sum")([start, x]), name="residual")


def shared():
    x, y = keras.Input((4,), name="x"), keras.Input((4,), name="y")
    layer = layers.Dense(4, name="twice")
    joined = layers.Concatenate(name="joined")([layer(layer(x)), layer(y)])
    return keras.Model([x, y], joined, name="shared")


def ops():
    x = keras.Input((4,), name="x")
    return keras.Model(x, keras.ops.exp(x) * 2.0, name="ops")


def nested():
    x = keras.Input((4,), name="x")
    both = branches()(chain_of_four()(x))
    return keras.Model(x, keras.ops.relu(both), name="nested")


def chain_of_four():
    return keras.Sequential([keras.Input((4,)), layers.Dense(4, name="inner")], name="chain")


class Own(keras.Model):
    def call(self, inputs):
        return inputs * 2.0


def own():
    model = Own(name="own")
    model(keras.ops.ones((2, 3)))
    return model


# Model -> its edges by names; with `expand_nested` in the second set.
EDGES = {
    chain: ({("body", "head")}, None),
    branches: ({("a", "left"), ("a", "right"), ("left", "sum"), ("right", "sum")}, None),
    residual: (
        {("start", "first"), ("first", "second"), ("second", "sum"), ("start", "sum")}, None,
    ),
    shared: ({("x", "twice"), ("twice", "twice"), ("y", "twice"), ("twice", "joined")}, None),
    ops: ({("x", "exp"), ("exp", "multiply")}, None),
    nested: (
        {("x", "chain"), ("chain", "branches"), ("branches", "relu")},
        {("x", "inner"), ("inner", "a"), ("a", "left"), ("a", "right"), ("left", "sum"),
         ("right", "sum"), ("sum", "relu")},
    ),
    own: (set(), None),
}  # fmt: skip


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("make", EDGES, ids=lambda make: make.__name__)
def test_dot_has_every_layer_and_connection(make, expand):
    text = model_to_dot(make(), expand_nested=expand).to_string()
    names = dict(re.findall(r'(layer_\d+) \[label="(\w+) \(', text))
    edges = [(names[a], names[b]) for a, b in re.findall(r"(layer_\d+) -> (layer_\d+);", text)]
    plain, expanded = EDGES[make]
    assert len(edges) == len(set(edges))
    assert set(edges) == (plain if not expand or expanded is None else expanded)
    assert set(names.values()) >= {name for edge in edges for name in edge}
    assert text.count("{") == text.count("}") == 1 + 2 * (expand and make is nested)
    assert text.startswith("digraph G {")


def test_texts_of_boxes():
    model = chain()
    text = model_to_dot(model, **SHOW_ALL).to_string()
    assert (
        r'[label="body (Dense)\nActivation: relu\nInput shape: (None, 4)\nOutput shape: (None, 3)'
        r'\nOutput dtype: float32\nNon-trainable", color="#b71c1c"];' in text
    )
    assert r"Output dtype: float32\nTrainable" in text
    assert '[label="Dense"];' in model_to_dot(model, show_layer_names=False).to_string()
    text = model_to_dot(shared(), show_shapes=True).to_string()
    assert r"Input shape: [(None, 4), (None, 4)]\nOutput shape: (None, 8)" in text
    assert r'"x (InputLayer)\nOutput shape: (None, 4)"' in text
    assert r"Input shape: ?\nOutput shape: ?" in model_to_dot(own(), show_shapes=True).to_string()


def test_a_cluster_for_another_graph():
    text = model_to_dot(chain(), subgraph=True).to_string()
    assert text.startswith('subgraph cluster_1 {\n  label="chain"; labeljust=l; style=dashed;')
    settings = model_to_dot(chain(), rankdir="LR", dpi=96, splines="line").to_string()
    assert all(s in settings for s in ('rankdir="LR"', 'dpi="96"', 'splines="line"'))


# ---- the drawing ---------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("make", EDGES, ids=lambda make: make.__name__)
def test_boxes_lie_apart_and_edges_end_at_them(make, direction):
    shown = dict.fromkeys(("names", "shapes", "dtype", "activations", "trainable"), True)
    drawing = Drawing(diagram(make(), "test", True, **shown), direction)
    boxes = [place[1:] for place in drawing.boxes]
    for i, (left, top, width, height) in enumerate(boxes):
        assert left > 0 < top
        assert left + width < drawing.width
        assert top + height < drawing.height
        for other in boxes[:i]:
            assert apart((left, top, width, height), other)
    places = {key: place[1:] for key, place in drawing.places.items()}
    for (source, target), curves in zip(drawing.edges_of, drawing.edges, strict=True):
        assert touches(curves[0][0], places[source])
        assert touches(curves[-1][-1], places[target])
        for curve, following in pairwise(curves):
            assert curve[-1] == following[0]
        if source != target:
            others = [place[1:] for place in drawing.boxes if place[0].key not in (source, target)]
            for curve in curves:  # an edge passes beside the boxes of other rows
                assert not any(inside(point, box) for point in points(curve) for box in others)


def points(curve):
    """Yield points of a cubic Bézier curve."""
    for t in np.linspace(0, 1, 9):
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
        yield tuple(np.dot(weights, [point[axis] for point in curve]) for axis in (0, 1))


def apart(a, b):
    return a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]


def inside(point, box):
    left, top, width, height = box
    return left < point[0] < left + width and top < point[1] < top + height


def touches(point, box):
    left, top, width, height = box
    x, y = point[0] - left, point[1] - top
    on_side = x in (pytest.approx(0), pytest.approx(width)) and 0 <= y <= height
    return on_side or (y in (pytest.approx(0), pytest.approx(height)) and 0 <= x <= width)


def test_svg(tmp_path):
    file = tmp_path / "model.svg"
    assert plot_model(nested(), file, expand_nested=True, **SHOW_ALL) is None
    root = ET.parse(file).getroot()
    kind = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in root.iter(kind + "text")]
    assert {"chain", "branches", "inner (Dense)", "Activation: linear", "Trainable"} <= set(texts)
    assert len(list(root.iter(kind + "rect"))) == 1 + 2 + 7  # the page, clusters, boxes
    assert len([p for p in root.iter(kind + "path") if p.get("marker-end")]) == 7


@pytest.mark.parametrize("shell", [None, object()], ids=["script", "notebook"])
def test_a_picture_is_returned_in_notebooks_only(shell, tmp_path, monkeypatch):
    display = types.SimpleNamespace(SVG=lambda filename: ("SVG", filename))
    ipython = types.SimpleNamespace(get_ipython=lambda: shell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    file = str(tmp_path / "m.svg")
    assert plot_model(chain(), file) == (None if shell is None else ("SVG", file))


def test_names_are_escaped(tmp_path):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(2, name='<a> & "b"')])
    plot_model(model, tmp_path / "m.svg", show_layer_names=True)
    assert '<a> & "b" (Dense)' in [e.text for e in ET.parse(tmp_path / "m.svg").getroot()]
    assert r'[label="<a> & \"b\" (Dense)"]' in model_to_dot(model).to_string()


def test_other_formats(tmp_path):
    model = residual()
    for dpi in (50, 100):
        plot_model(model, tmp_path / "model.png", dpi=dpi)
        data = (tmp_path / "model.png").read_bytes()
        drawing = model_to_dot(model, show_layer_names=False)._drawing
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", data[16:24])
        assert abs(width - drawing.width * dpi / 96) <= 1
        assert abs(height - drawing.height * dpi / 96) <= 1
    plot_model(model, tmp_path / "model", dpi=50)  # no ending: PNG, as in Keras
    assert (tmp_path / "model").read_bytes().startswith(b"\x89PNG")
    dot = model_to_dot(model)
    assert dot.write(tmp_path / "model.dot") is True
    assert (tmp_path / "model.dot").read_text() == dot.to_string() == str(dot)
    assert dot.create("dot").decode() == dot.to_string()
    assert dot.create(format="svg").startswith(b"<svg")
    assert dot.create("pdf").startswith(b"%PDF")


# ---- errors --------------------------------------------------------------------------------------


def plot(model, **arguments):
    plot_model(model, "x.svg", **arguments)


@pytest.mark.parametrize("function", [model_to_dot, plot])
@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (lambda: keras.Sequential([layers.Dense(2)]), {}, "not built. Call model.build"),
        (chain, {"layer_range": ["a", "b"]}, "layer_range is not supported any more"),
        (chain, {"show_shape": True}, r"unknown arguments \['show_shape'\]"),
        (chain, {"rankdir": "down"}, "rankdir: expected 'TB', 'BT', 'LR' or 'RL', got 'down'"),
    ],
)  # fmt: skip
def test_errors(function, make, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        function(make(), **arguments)
    assert list(tmp_path.iterdir()) == []


def test_unknown_format_and_missing_matplotlib(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"expected an ending such as '\.svg', .*got '\.bmpx'"):
        plot_model(chain(), tmp_path / "model.bmpx")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"'png' needs Matplotlib.*framework\[plot\].*\.svg"):
        plot_model(chain(), tmp_path / "model.png")
    plot_model(chain(), tmp_path / "model.svg")
