"""Every layer is exported for any batch size, or stands in a list with the reason why not."""

import inspect

import numpy as np
import pytest

import framework as tf
from framework import keras, layers
from framework.core import nest
from framework.core.errors import ExportError
from framework.saving.onnx.export import export_onnx
from tests.samples.layers import SAMPLES
from tests.saving.onnx.test_export import outputs, session

REFUSED = {
    "ContrastLimitedAdaptiveHistogramEqualization": "from an unknown size",
    "MelSpectrogram": "ONNX has no complex numbers",
}
"""Layers that cannot be exported: part of the error."""


def narrow(value):
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def rows(array, count):
    """The array with its rows repeated up to `count`."""
    return np.concatenate([array] * count)[:count] if array.ndim else array


@pytest.mark.parametrize("name", SAMPLES)
def test_a_layer_computes_the_same(name, tmp_path):
    for arguments, inputs, *_ in SAMPLES[name]:
        layer = (getattr(keras.layers, name, None) or getattr(layers, name))(**arguments)
        given = nest.map_structure(narrow, list(inputs) if isinstance(inputs, tuple) else [inputs])
        takes_training = "training" in inspect.signature(layer.call).parameters
        options = {"training": False} if takes_training else {}
        specs = nest.map_structure(lambda a: tf.TensorSpec((None, *a.shape[1:]), a.dtype), given)
        layer(*given, **options)
        if name in REFUSED:
            with pytest.raises(ExportError, match=REFUSED[name]):
                export_onnx(layer, tmp_path / "m.onnx", specs)
            continue
        export_onnx(layer, tmp_path / "m.onnx", specs)
        runtime = session(tmp_path / "m.onnx")
        for count in (1, 4):
            fed = nest.map_structure(lambda a, n=count: rows(a, n), given)
            wanted = [t.numpy() for t in nest.flatten(layer(*fed, **options))]
            texts = [a.astype(str).astype(object) if a.dtype.kind in "OSU" else a
                     for a in nest.flatten(fed)]  # fmt: skip
            for g, w in zip(outputs(runtime, texts), wanted, strict=True):
                assert (g.shape, g.dtype) == (w.shape, w.dtype)
                np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-4)
