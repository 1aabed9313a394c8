"""Preprocessing of images for the networks, and the names of ImageNet's classes."""

import json
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.dtypes import as_dtype
from framework.core.errors import InvalidArgumentError
from framework.core.program_settings import image_data_format
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor

# the means and standard deviations of the channels of ImageNet's RGB images
_COLOURS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_BGR_MEANS = (103.939, 116.779, 123.68)
_CLASS_NAMES = (
    "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json",
    "c2c37ea517e94d9795004a39431a14cb",
)


def preprocess_input(x: TensorLike, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Return images in the form that the networks trained on ImageNet expect.

    Args:
        x: images with values in [0, 255], (batch, height, width, 3) or one image.
        data_format: "channels_last" or "channels_first"; None for the one of `keras.config`.
        mode: "caffe" (BGR, ImageNet's means subtracted), "tf" (values in [-1, 1]), "torch" (values
            in [0, 1], normalized by ImageNet's means and deviations).

    Returns:
        A new array, or a tensor; integers become float32. (Keras changes arrays in place.)

    Raises:
        ValueError: `mode` or `data_format` is not one of these.

    >>> preprocess_input(np.array([[[[0.0, 127.5, 255.0]]]]), mode="tf")
    array([[[[-1.,  0.,  1.]]]])
    """
    if mode not in _MODES:
        raise InvalidArgumentError(
            f'preprocess_input: mode: expected "caffe", "tf" or "torch", got {mode!r}.'
        )
    return _prepared(x, data_format, _MODES[mode])


def caffe_input(x: TensorLike, data_format: str | None = None) -> Any:
    """Return images with values in [0, 255] as BGR, with ImageNet's means subtracted."""
    return _prepared(x, data_format, _to_caffe)


def tf_input(x: TensorLike, data_format: str | None = None) -> Any:
    """Return images with values in [0, 255] as values in [-1, 1]."""
    return _prepared(x, data_format, _to_tf)


def torch_input(x: TensorLike, data_format: str | None = None) -> Any:
    """Return images with values in [0, 255] normalized by ImageNet's means and deviations."""
    return _prepared(x, data_format, _to_torch)


def same_input(x: TensorLike, data_format: str | None = None) -> Any:
    """Return the images unchanged: the network's first layers rescale values in [0, 255]."""
    return x


def _prepared(x, data_format, mode):
    data_format = data_format or image_data_format()
    if data_format not in ("channels_last", "channels_first"):
        raise InvalidArgumentError(
            'preprocess_input: data_format: expected "channels_last" or "channels_first", got '
            f"{data_format!r}."
        )
    if not isinstance(x, (Tensor, KerasTensor)):
        x = np.asarray(x)
        x = x.astype(np.float32) if x.dtype.kind in "iub" else x
    elif not as_dtype(x.dtype).is_floating:
        x = cast(x, dtype=np.dtype("float32"))
    return mode(x, -1 if data_format == "channels_last" else -3)


def _along(values, axis, like):
    """Return one number per channel as an array that broadcasts to images."""
    array = np.array(values, like.dtype if isinstance(like, np.ndarray) else np.float32)
    return array if axis == -1 else array[:, None, None]


def _to_tf(x, axis):
    return x / 127.5 - 1.0


def _to_torch(x, axis):
    means, deviations = (_along(values, axis, x) for values in _COLOURS)
    return (x / 255.0 - means) / deviations


def _to_caffe(x, axis):
    backwards = (..., slice(None, None, -1)) + (slice(None),) * (-axis - 1)
    return x[backwards] - _along(_BGR_MEANS, axis, x)


_MODES = {"caffe": _to_caffe, "tf": _to_tf, "torch": _to_torch}


def decode_predictions(preds: TensorLike, top: int = 5, class_index: Any = None) -> Any:
    """Return the `top` classes of each image: lists of (class id, name, probability).

    Args:
        preds: class probabilities of ImageNet, (batch, 1000).
        top: the number of classes.
        class_index: the path of a JSON file {"0": ["n01440764", "tench"], ...}; None for Keras's
            file, which is downloaded into Keras's cache if it is not there.

    Raises:
        ValueError: the shape of `preds` is not (batch, 1000).
    """
    preds = preds.numpy() if isinstance(preds, Tensor) else np.asarray(preds)
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise InvalidArgumentError(
            "decode_predictions: preds: expected the probabilities of ImageNet's 1000 classes, "
            f"(batch, 1000), got shape {preds.shape}."
        )
    names = _class_names(class_index)
    rows = []
    for row in preds:
        best = np.argsort(row)[: -top - 1 : -1]
        rows.append([(*names[str(i)], row[i]) for i in best])
    return rows


def _class_names(path):
    if path is None:
        from framework.core.downloads import get_file

        origin, digest = _CLASS_NAMES
        path = get_file(
            "imagenet_class_index.json", origin, cache_subdir="models", file_hash=digest
        )
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return json.load(file)
