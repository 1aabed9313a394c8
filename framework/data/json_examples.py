"""tf.train.Example in the JSON form of protocol buffers."""

import base64
import binascii
import json
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.data.examples import (
    BytesList,
    Example,
    Feature,
    Features,
    FloatList,
    Int64List,
)

# maps a list's name in JSON, in camelCase or snake_case, to (argument of Feature, class,
# conversion)
_LISTS = {
    "bytesList": ("bytes_list", BytesList, lambda v: base64.b64decode(v, validate=True)),
    "floatList": ("float_list", FloatList, float),
    "int64List": ("int64_list", Int64List, int),
}
_LISTS |= {row[0]: row for row in _LISTS.values()}


def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Convert tf.train.Example messages from JSON to serialized messages.

    Args:
        json_examples: strings of any shape. Bytes are in base 64, int64 numbers may be strings.

    Raises:
        InvalidArgumentError: a string is not JSON, or not an Example.

    >>> import framework as tf
    >>> text = '{"features": {"feature": {"x": {"int64List": {"value": ["7"]}}}}}'
    >>> example = tf.train.Example.FromString(tf.io.decode_json_example(text).numpy())
    >>> example.features.feature["x"].int64_list.value
    [7]
    """
    texts = np.asarray(tensor(json_examples))
    if texts.dtype != object:
        raise InvalidArgumentError(
            f"decode_json_example: expected strings, got dtype {texts.dtype}."
        )
    made = np.empty(texts.shape, object)
    for place, text in np.ndenumerate(texts):
        made[place] = _example_of(text).SerializeToString()
    return Tensor(made)


def _example_of(text: Any):
    try:
        features = _only(_only(json.loads(text), "features"), "feature")
        return Example(features=Features({k: _feature_of(v) for k, v in features.items()}))
    except (ValueError, TypeError, AttributeError, KeyError, binascii.Error) as error:
        raise InvalidArgumentError(
            f"Error while parsing JSON: decode_json_example: {error} in {text[:80]!r}. Expected "
            '{"features": {"feature": {NAME: {"int64List": {"value": [...]}}}}}, or floatList, or '
            "bytesList."
        ) from None


def _only(message, name):
    unknown = set(message) - {name}
    if unknown:
        raise ValueError(f"there is no field named {min(unknown)!r}")
    return message.get(name, {})


def _feature_of(message):
    if len(message) > 1:
        raise ValueError("a feature must have exactly one list")
    for name, values in message.items():
        if name not in _LISTS:
            raise ValueError(f"there is no list named {name!r}")
        argument, kind, convert = _LISTS[name]
        return Feature(**{argument: kind(value=[convert(v) for v in values.get("value", [])])})
    return Feature()
