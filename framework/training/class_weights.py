"""Conversion of class weights to sample weights."""

from collections.abc import Mapping

import numpy as np

from framework.core import dtypes, nest
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor


def sample_weights_of(y, class_weight):
    """Return a weight for each row of `y`: that of its class, or 1 if the class has none.

    Args:
        y: class numbers of shape (rows,) or (rows, 1), one-hot rows, or a nest of such targets.
        class_weight: {class number: weight}; for a nest of targets one such dict per target, in the
            same structure (None: no weights).

    Returns:
        Tensors of floatx and shape (rows,), in the structure of `y`.

    Raises:
        ValueError: there are no targets, or their structure differs from that of `class_weight`.
    """
    if y is None:
        raise InvalidArgumentError("class_weight needs targets, but y is None. Pass y.")
    if not nest.is_nested(y):
        return _weights(y, class_weight)
    if isinstance(y, Mapping):
        unknown = [key for key in class_weight if key not in y]
        if unknown or not isinstance(class_weight, Mapping):
            raise _one_for_each(y, class_weight)
        return {key: _part(y[key], class_weight.get(key)) for key in y}
    if isinstance(class_weight, Mapping) or len(class_weight) != len(y):
        if len(y) == 1 and isinstance(class_weight, Mapping):
            return type(y)([_weights(y[0], class_weight)])
        raise _one_for_each(y, class_weight)
    return type(y)(_part(a, b) for a, b in zip(y, class_weight, strict=True))


def check_class_weight(class_weight):
    """Raise an error unless the argument is a dict {class number: weight}, or a nest of them."""
    if isinstance(class_weight, (list, tuple)) or (
        isinstance(class_weight, Mapping)
        and class_weight
        and all(v is None or isinstance(v, Mapping) for v in class_weight.values())
    ):
        parts = class_weight.values() if isinstance(class_weight, Mapping) else class_weight
        for part in parts:
            if part is not None:
                check_class_weight(part)
        return
    if not isinstance(class_weight, Mapping):
        raise InvalidArgumentError(
            f"class_weight: expected a dict of weights by class number, got {class_weight!r}."
        )
    for key, weight in class_weight.items():
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise InvalidArgumentError(
                f"class_weight: keys must be class numbers (0, 1, ...), got {key!r}."
            )
        if isinstance(weight, str) or not hasattr(weight, "__float__") or not float(weight) >= 0:
            raise InvalidArgumentError(
                f"class_weight: the weight of class {key} must be a number >= 0, got {weight!r}."
            )


def _part(y, class_weight):
    if class_weight is None:
        return Tensor(np.ones(len(np.asarray(y)), dtypes.floatx().np))
    return sample_weights_of(y, class_weight)


def _weights(y, class_weight):
    classes = y.array if isinstance(y, Tensor) else np.asarray(y)
    if classes.ndim > 1:
        classes = classes[..., 0] if classes.shape[-1] == 1 else classes.argmax(-1)
    classes = np.round(classes).astype(np.int64)
    unique, inverse = np.unique(classes, return_inverse=True)
    weights = np.array([class_weight.get(int(c), 1.0) for c in unique], dtypes.floatx().np)
    return Tensor(weights[inverse.reshape(classes.shape)])


def _one_for_each(y, class_weight):
    targets = list(y) if isinstance(y, Mapping) else f"{len(y)} targets"
    return InvalidArgumentError(
        f"class_weight: the model has several targets ({targets}); expected a dict of weights for "
        f"each, in the same structure, got {class_weight!r}."
    )
