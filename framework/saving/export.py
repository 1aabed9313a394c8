"""`Model.export`: writes a saved model to a folder, or an ONNX file."""

import os

from framework.compiler.function import Function
from framework.core import nest
from framework.core.errors import ExportError
from framework.core.module import Module
from framework.core.tensor_spec import TensorSpec
from framework.saving.onnx import signature as model_signature
from framework.saving.onnx.export import export_onnx
from framework.saving.saved_model.saving import SERVING, save

_OTHERS = {"litert": "LiteRT", "openvino": "OpenVINO", "torch": "torch.export"}


def export_model(model, filepath, format, verbose, input_signature, options):
    """Export a model in one of the supported formats; see `Model.export`."""
    path = os.fspath(filepath)
    if format == "onnx" or (format == "tf_saved_model" and path.endswith(".onnx")):
        _check_options(options, {"opset_version"})
        export_onnx(model, path, input_signature, verbose=verbose, **options)
    elif format == "tf_saved_model":
        _check_options(options, set())
        _export_folder(model, path, input_signature, verbose)
    else:
        what = f"{_OTHERS[format]} ({format!r})" if format in _OTHERS else repr(format)
        raise ExportError(
            f"export: the format {what} is not supported; expected 'onnx' or 'tf_saved_model'. "
            "OpenVINO, LiteRT and PyTorch have converters that read ONNX files; or save the model "
            "with model.save('NAME.keras'), which Keras 3 loads and exports."
        )


def _check_options(options, known):
    unknown = sorted(set(options) - known)
    if unknown:
        expected = f"only {', '.join(known)} as a" if known else "no"
        raise ExportError(f"export: expected {expected} further argument, got {unknown}.")


def _export_folder(model, path, input_signature, verbose):
    """Write a saved model with the function `serve`, whose arguments are those of the model."""
    given = model_signature.of(model, input_signature)
    specs = iter(given.specs)
    wanted = nest.map_structure(lambda _: _spec(next(specs)), given.arguments)
    archive = Module()
    archive.model = model
    archive.serve = Function(lambda *args: given.called_with(args), wanted)
    signature = archive.serve.get_concrete_function()
    save(archive, path, {"serve": signature, SERVING: signature})
    if verbose:
        names = [spec.name for spec in given.specs]
        print(f"Saved the model to {path!r}: the function 'serve' takes {names}.")


def _spec(spec):
    sizes = [None if isinstance(n, str) else n for n in spec.shape]
    return TensorSpec(sizes, spec.dtype, spec.name)
