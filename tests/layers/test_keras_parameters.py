"""Methods that layers share have the parameters of Keras 3.15's layers (`keras_parameters.json`).

The file has for each method {parameters: names of the layers with them}, as `inspect.signature`
gives them.
"""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from framework import keras
from tests.layers.test_every_layer import SAMPLES, called, made, with_batch

layers = keras.layers
TABLE = json.loads(Path(__file__).with_name("keras_parameters.json").read_text("utf-8"))
ROWS = [
    (name, method, parameters)
    for method, rows in TABLE.items()
    for parameters, names in rows.items()
    for name in names.split()
    if hasattr(layers, name)
]


def takes(method, wanted):
    """Return whether a method can be called with the parameters, by position and by name."""
    have = list(inspect.signature(method).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in have) and any(p.kind is p.VAR_POSITIONAL for p in have):
        return True
    for i, parameter in enumerate(wanted.split()):
        name, _, default = parameter.partition("=")
        if name[0] == "*":
            continue
        if i >= len(have) or have[i].name != name:
            return False
        if default and have[i].default is inspect.Parameter.empty:
            return False
    more = [p for p in have if str(p)[0] != "*" and p.name not in wanted]
    return all(p.default is not p.empty for p in more)


def test_parameters_of_shared_methods():
    assert len(ROWS) > 250
    wrong = [
        (name, method, parameters)
        for name, method, parameters in ROWS
        if not takes(getattr(getattr(layers, name), method), parameters)
    ]
    assert not wrong


SHAPED = TABLE["compute_output_shape"]["input_shape"].split()


@pytest.mark.parametrize("name", [name for name in SHAPED if name in SAMPLES])
def test_output_shapes_by_name(name):
    layer, inputs = made(name, 0)
    if isinstance(inputs, tuple):
        pytest.skip("the sample calls the layer with several arguments")
    expected = called(layer, inputs)
    shape = layer.compute_output_shape(input_shape=with_batch(inputs, len(np.asarray(inputs[0]))))
    flat = shape if isinstance(shape, list) else [shape]
    outputs = expected if isinstance(expected, (list, tuple)) else [expected]
    assert [tuple(s)[1:] for s in flat] == [tuple(y.shape)[1:] for y in outputs]


def test_reversed_shapes():
    layer = layers.ReversibleEmbedding(7, 3)
    assert layer.compute_output_shape((None, 5)) == (None, 5, 3)
    assert layer.compute_output_shape((None, 5, 3), reverse=True) == (None, 5, 7)


MASK = np.array([[True, False]])


@pytest.mark.parametrize("name", ["Add", "Multiply", "Maximum", "Concatenate"])
def test_masks_of_merging_layers(name):
    layer, x = getattr(layers, name)(), np.ones((1, 2, 3))
    assert layer.compute_mask([x, x]) is None
    found = layer.compute_mask([x, x], mask=[MASK, ~MASK])
    np.testing.assert_array_equal(found, [[True, True]])
    with pytest.raises(ValueError, match="`mask` should be a list"):
        layer.compute_mask([x, x], MASK)
    with pytest.raises(ValueError, match="`inputs` should be a list"):
        layer.compute_mask(x, [MASK])
    with pytest.raises(ValueError, match="should have the same length"):
        layer.compute_mask([x, x], [MASK])
