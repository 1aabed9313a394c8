"""Every op of the op table has an ONNX rule that computes the same, or a reason why it has none."""

import numpy as np
import pytest

import framework as tf
from framework.core.errors import ExportError
from framework.core.op import table
from framework.core.tensor import Tensor
from framework.saving.onnx.export import OPSETS, export_onnx
from framework.saving.onnx.rules import rules
from framework.saving.onnx.without_rule import WITHOUT_RULE
from tests.samples.ops import NAMES, SAMPLES
from tests.saving.onnx.test_export import outputs, session

EXPRESSED = [name for name in NAMES if name not in WITHOUT_RULE]
REFUSED = {"sinc": "the derivatives of sinc", "look_up": "takes strings apart or hashes"}
"""Ops with a rule that cannot express every call: part of the error."""


def test_every_op_has_a_rule_or_a_reason():
    translated = {name for name in NAMES if table[name].composite is not None}
    assert set(rules()) | set(WITHOUT_RULE) | translated == set(NAMES)
    assert not set(rules()) & set(WITHOUT_RULE)


def narrow(value):
    """A float64 argument of a sample as float32, which runtimes implement for all operators."""
    is_double = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.float32) if is_double else value


def calls(name):
    """The samples of an op as (function of tensors, its arrays); no empty ones."""
    for sample in SAMPLES[name]:
        args = [narrow(a) for a in sample.args]
        places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
        if not places or any(args[i].size == 0 for i in places):
            continue

        def function(*tensors, sample=sample, args=args, places=places):
            full = list(args)
            for place, tensor in zip(places, tensors, strict=True):
                full[place] = tensor
            return table[name](*full, **sample.attrs)

        yield function, [args[i] for i in places]


@pytest.mark.parametrize("name", EXPRESSED)
def test_a_rule_computes_what_the_op_does(name, tmp_path):
    for function, arrays in calls(name):
        result = function(*map(Tensor, arrays))
        wanted = result if isinstance(result, (tuple, list)) else [result]
        if any(0 in w.shape for w in wanted):  # onnxruntime refuses windows larger than the input
            continue
        specs = [tf.TensorSpec(a.shape, a.dtype, f"x{i}") for i, a in enumerate(arrays)]
        path = tmp_path / "op.onnx"
        refusal = refused(lambda path=path, f=function, s=specs: export_onnx(f, path, s))
        if refusal is not None:
            assert REFUSED[name] in refusal
            continue
        texts = [a.astype(str).astype(object) if a.dtype.kind == "O" else a for a in arrays]
        compare(outputs(session(path), texts), wanted)


def refused(export):
    """The text of the ExportError of `export()`, or None."""
    try:
        export()
    except ExportError as error:
        return str(error)
    return None


def compare(got, wanted):
    for g, w in zip(got, (t.numpy() for t in wanted), strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        if w.dtype.kind == "f":
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("name", ["gelu", "layer_norm", "reduce_max", "segment_max", "gru"])
@pytest.mark.parametrize("opset", [OPSETS[0], OPSETS[-1]])
def test_rules_hold_for_the_oldest_and_the_newest_operators(name, opset, tmp_path):
    for function, arrays in calls(name):
        specs = [tf.TensorSpec(a.shape, a.dtype) for a in arrays]
        export_onnx(function, tmp_path / "op.onnx", specs, opset_version=opset)
        result = function(*map(Tensor, arrays))
        wanted = result if isinstance(result, (tuple, list)) else [result]
        compare(outputs(session(tmp_path / "op.onnx"), arrays), wanted)


@pytest.mark.parametrize("name", sorted(set(WITHOUT_RULE) & set(SAMPLES)))
def test_an_op_without_a_rule_is_named_and_nothing_is_written(name, tmp_path):
    function, arrays = next(calls(name))
    specs = [tf.TensorSpec(a.shape, a.dtype) for a in arrays]
    with pytest.raises(ExportError, match=f"'{name}'.*{WITHOUT_RULE[name]}"):
        export_onnx(function, tmp_path / "op.onnx", specs)
    assert list(tmp_path.iterdir()) == []
