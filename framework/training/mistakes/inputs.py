"""Mistakes in the inputs: pixels from 0 to 255, rows sorted by class, NaN or infinite values."""

import numpy as np

from framework.core import nest
from framework.data.batches import ArrayBatches, IterableBatches
from framework.data.order import Shuffle
from framework.data.stage import DatasetBase, Slices, walk

_PASSING = {
    "InputLayer", "Flatten", "Reshape", "Permute", "Dropout", "ZeroPadding1D", "ZeroPadding2D",
    "Cropping2D", "GaussianNoise", "RandomFlip", "RandomRotation", "RandomTranslation",
    "RandomZoom", "RandomCrop", "Resizing",
}  # fmt: skip
"""Classes of layers that do not change the range of values."""
_WEIGHING = {"Dense", "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv2D", "SeparableConv2D"}
_PIXELS = 16
"""Inputs with fewer features than this count as a table, not as images."""
_ROWS = 64
"""The least number of rows for which sorted classes are reported."""


def unscaled_images(model, x):
    """Return a message if pixels from 0 to 255 reach a layer with weights unscaled, else None.

    Args:
        x: the batch's inputs, a tensor or a nest of them.
    """
    leaves = [leaf.array for leaf in nest.flatten(x) if hasattr(leaf, "array")]
    if len(leaves) != 1 or leaves[0].ndim < 2 or not leaves[0].size:
        return None
    array, layer = leaves[0], _first_weights(model)
    if layer is None or array.dtype.kind not in "fiu" or array[0].size < _PIXELS:
        return None
    low, high = array.min(), array.max()
    if not (low >= 0 and 128 <= high <= 255) or (array != np.floor(array)).mean() > 0.1:
        return None
    return (
        f"x has values from {low:.4g} to {high:.4g}, as images of 8 bits, and the layer "
        f"{layer.name!r} gets them unscaled: training is slow or diverges. Divide x by 255, or put "
        "keras.layers.Rescaling(1 / 255) before this layer."
    )


def _first_weights(model):
    """Return the first layer with weights if its inputs are the model's, unchanged; else None."""
    found = _layers_of(model)
    for layer in found:
        if getattr(getattr(layer, "_framework", None), "graph", None) is not None:
            return _first_weights(layer)  # the layer is itself a functional model
        kind = type(layer).__name__
        if kind in _WEIGHING:
            return layer
        if kind not in _PASSING:
            return None
    return None


def _layers_of(model):
    """Return the layers of a Sequential or functional model in order; [] for other models."""
    record = model._framework
    if getattr(record, "stack", ()):
        return record.stack
    return model.layers if getattr(record, "graph", None) is not None else []


def sorted_rows(batches):
    """Return a message if the labels are sorted by class and not shuffled, else None.

    Args:
        batches: the data of `fit`, a result of `data.batches.as_batches`.
    """
    found = _unshuffled_labels(batches)
    if found is None:
        return None
    labels, batch_size, remedy = found
    classes = class_numbers(labels)
    if classes is None or len(classes) < max(_ROWS, 2 * batch_size):
        return None
    steps = np.diff(classes)
    if not (steps.any() and ((steps >= 0).all() or (steps <= 0).all())):
        return None
    count = np.count_nonzero(steps) + 1
    if count > len(classes) // 8:
        return None  # many distinct integers are probably counts or times, not classes
    return (
        f"The {len(classes)} rows are sorted by class and not shuffled, so most batches have rows "
        f"of one of the {count} classes only, and training forgets the others. {remedy}"
    )


def _unshuffled_labels(batches):
    """Return (labels of all rows, batch size, remedy for the message) if `fit` does not shuffle."""
    if isinstance(batches, ArrayBatches):
        _, y, _ = batches.parts
        if batches.shuffle or not isinstance(y, np.ndarray):
            return None
        return y, batches.batch_size, "Pass shuffle=True to fit, or shuffle the rows first."
    if not isinstance(batches, IterableBatches) or not isinstance(batches.source, DatasetBase):
        return None
    stages = list(walk(batches.source._framework))
    source = stages[-1]
    if not isinstance(source, Slices) or any(
        isinstance(stage, Shuffle) or len(stage.parents) > 1 for stage in stages
    ):
        return None
    parts = source.all.structure
    if not isinstance(parts, tuple) or len(parts) < 2 or not isinstance(parts[1], np.ndarray):
        return None
    return parts[1], 1, "Call shuffle(1000) or more before batch() on the Dataset."


def class_numbers(labels):
    """Return the class index of each row of integer or one-hot targets; None for other targets."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 1 and labels.dtype.kind in "iub":
        return labels.astype(np.int64, copy=False)
    if labels.ndim == 2 and ((labels == 0) | (labels == 1)).all() and (labels.sum(1) == 1).all():
        return labels.argmax(1)
    return None


def not_finite_in(x, y):
    """Return a phrase for messages about the first NaN or infinite value of a batch, or ""."""
    for name, part in (("x", x), ("y", y)):
        for path, leaf in named_leaves(part, name):
            array = leaf.array
            if array.dtype.kind != "f" or np.isfinite(array).all():
                continue
            row, *rest = np.argwhere(~np.isfinite(array))[0] if array.ndim else (0,)
            value = array[(row, *rest)] if array.ndim else array
            place = f", position {tuple(map(int, rest))}" if rest else ""
            return f"{path} has {value} in row {row} of the batch{place}"
    return ""


def named_leaves(structure, name):
    """Yield (name, tensor) for each tensor of a nest; names of dict entries contain their keys."""
    if isinstance(structure, dict):
        for key, part in structure.items():
            yield from named_leaves(part, f"{name}[{key!r}]")
    elif isinstance(structure, (list, tuple)):
        for i, part in enumerate(structure):
            yield from named_leaves(part, f"{name}[{i}]")
    elif hasattr(structure, "array"):
        yield name, structure
