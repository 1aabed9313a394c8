"""The record printed, drawn and weighed."""

import inspect
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import framework as tf
from framework import keras

LAYERS = keras.layers


def branched():
    """A tape that recorded a model of two branches and a loss; and the model."""
    inputs = LAYERS.Input((6,))
    left = LAYERS.Dense(8, "relu", name="left")(inputs)
    right = LAYERS.Dense(8, "tanh", name="right")(inputs)
    outputs = LAYERS.Dense(3, name="out")(LAYERS.Add(name="both")([left, right]))
    model = keras.Model(inputs, outputs)
    x = tf.constant(np.ones((4, 6), "float32"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    return tape, model, loss


def test_the_table():
    tape, _, _ = branched()
    head, header, rule, *rows, last_rule, total = str(tape).split("\n")
    assert head == repr(tape) == "<GradientTape: closed, 11 ops recorded>"
    assert header.split() == ["#", "op", "shapes", "dtype", "kept", "layer"]
    assert set(rule) == set(last_rule) == {"-"}
    split = [re.split(r"\s{2,}", row.strip()) for row in rows]
    assert [row[1] for row in split] == [
        "matmul", "add", "relu", "matmul", "add", "tanh", "add", "matmul", "add", "square",
        "reduce_mean",
    ]  # fmt: skip
    assert split[0] == ["0", "matmul", "(6,8) -> (4,8)", "float32", "96 B", "left"]
    assert split[7][2] == "(4,8), (8,3) -> (4,3)"
    assert split[10][2] == "(4,3) -> ()"
    assert [row[-1] for row in split[:9]] == ["left"] * 3 + ["right"] * 3 + ["both"] + ["out"] * 2
    assert total.startswith("11 ops, ")


def test_a_trace_adds_lines():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(v * 3.0)  # MARK
    lines, start = inspect.getsourcelines(test_a_trace_adds_lines)
    (offset,) = [i for i, line in enumerate(lines) if line.rstrip().endswith("# MARK")]
    text = str(tape)
    assert text.split("\n")[1].endswith("line")
    assert text.count(f"test_record_table.py:{start + offset}") == 2
    assert "(2,) -> (2,)" in text
    assert y.shape == ()


def test_a_long_table_is_shortened():
    v = x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        for _ in range(500):
            x = x * 1.0
    assert "... 300 more ops ..." in str(tape)
    assert len(str(tape).split("\n")) < 210
    assert tape.gradient(x, v).numpy() == 1.0


def test_an_empty_and_a_used_up_tape():
    v = tf.Variable(1.0)
    assert "Nothing is recorded" in str(tf.GradientTape())
    with tf.GradientTape() as tape:
        y = v * v
        assert repr(tape) == "<GradientTape: recording, 1 op recorded>"
    tape.gradient(y, v)
    assert "used up by gradient()" in str(tape)
    assert repr(tape) == "<GradientTape: used up, 0 ops recorded>"
    with tf.GradientTape(persistent=True) as tape:
        v * v
    assert "persistent closed" in repr(tape)


def test_ops_with_several_outputs_have_a_row():
    v = tf.Variable([[3.0, 1.0], [1.0, 2.0]])
    with tf.GradientTape() as tape:
        tf.split(v, 2, axis=1)
    assert "(2,2) -> (2,1), (2,1)" in str(tape)


def test_printing_changes_nothing():
    tape, model, loss = branched()
    str(tape), tape.to_dot(), tape.memory()
    gradients = tape.gradient(loss, model.trainable_variables)
    assert all(g is not None for g in gradients)


# ---- memory ------------------------------------------------------------------------------------


def test_memory_counts_each_array_once():
    x = tf.constant(np.ones(1000, "float32"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x  # keeps x
        z = tf.square(x)  # keeps x again
        tf.tanh(y + z)  # keeps its own result
    memory = tape.memory()
    assert memory.total == 8000
    assert memory.by_op == {"multiply": 4000, "tanh": 4000, "square": 0, "add": 0}
    assert list(memory.by_layer) == [""]
    assert "The record keeps 8.0 kB" in repr(memory)


def test_memory_by_layer():
    tape, _, _ = branched()
    by_layer = tape.memory().by_layer
    assert by_layer["out"] >= 4 * 8 * 4
    assert sum(by_layer.values()) == tape.memory().total
    assert list(by_layer.values()) == sorted(by_layer.values(), reverse=True)


def test_memory_counts_what_a_view_holds():
    x = tf.constant(np.ones((100, 10), "float32"))
    with tf.GradientTape() as tape:
        tape.watch(x)
        tf.square(x[:1])
    assert tape.memory().total == 4000


# ---- drawings ------------------------------------------------------------------------------------


def test_dot_collapsed_by_layer():
    tape, _, _ = branched()
    dot = tape.to_dot()
    titles = re.findall(r'label="([^"\\]*)(?:\\n[^"]*)?"(?:, style=filled, fillcolor=\w+)?];', dot)
    for title in ("left", "right", "both", "out", "square", "reduce_mean", "left/kernel"):
        assert title in titles
    assert "relu" not in titles
    assert dot.startswith("digraph tape {")
    assert dot.count("{") == dot.count("}")
    layer = re.search(r'(\w+) \[label="left\\n', dot).group(1)
    kernel = re.search(r'(\w+) \[label="left/kernel', dot).group(1)
    both = re.search(r'(\w+) \[label="both\\n', dot).group(1)
    assert f"{kernel} -> {layer}" in dot
    assert f"{layer} -> {both}" in dot


def test_dot_op_by_op():
    tape, _, _ = branched()
    dot = tape.to_dot(collapse=False)
    assert len(re.findall(r"^  op\d+ \[", dot, re.MULTILINE)) == 11
    assert "relu" in dot


def boxes(file):
    root = ET.parse(file).getroot()  # ours, just written
    found = root.findall("{http://www.w3.org/2000/svg}rect")
    return root, [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in found]


@pytest.mark.parametrize("collapse", [True, False])
def test_the_drawing_is_svg_without_overlaps(tmp_path, collapse):
    tape, _, _ = branched()
    path = tape.plot(tmp_path / "tape.svg", collapse=collapse)
    root, found = boxes(path)
    assert len(found) == (6 + 6 if collapse else 11 + 6)
    width, height = float(root.get("width")), float(root.get("height"))
    for i, (x, y, w, h) in enumerate(found):
        assert x >= 0
        assert x + w <= width
        assert y + h <= height
        for x2, y2, w2, h2 in found[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert ("left" in texts) == collapse
    assert ("tanh" in texts) != collapse


def test_arrows_go_down(tmp_path):
    tape, _, _ = branched()
    tape.plot(tmp_path / "tape.svg")
    root, _ = boxes(tmp_path / "tape.svg")
    paths = [p.get("d") for p in root.findall("{http://www.w3.org/2000/svg}path")]
    assert len(paths) >= 11
    for d in paths:
        numbers = [float(n) for n in re.findall(r"-?\d+\.\d", d)]
        assert numbers[-1] > numbers[1]


def test_names_are_escaped(tmp_path):
    v = tf.Variable(1.0, name='a<b>&"c"')
    with tf.GradientTape() as tape:
        v * v
    tape.plot(tmp_path / "tape.svg")
    boxes(tmp_path / "tape.svg")
    assert 'a<b>&\\"c\\":0' in tape.to_dot()


def test_an_empty_tape_is_drawn(tmp_path):
    with tf.GradientTape() as tape:
        pass
    _, found = boxes(tape.plot(tmp_path / "tape.svg"))
    assert found == []


def test_other_formats_are_refused():
    with pytest.raises(ValueError, match=r"to_file must end in '\.svg'.*tape\.png.*to_dot"):
        tf.GradientTape().plot("tape.png")
