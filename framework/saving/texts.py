"""JSON texts of files, checked for size and depth before they are parsed."""

import json

from framework.core.errors import DamagedFileError, UnsafeFileError


def parse(data, what, limits):
    """Return the value of a JSON text.

    Args:
        data: bytes.
        what: a name for messages.
        limits: a `Limits`.

    Raises:
        UnsafeFileError: the text is too large or too deep.
        DamagedFileError: it is not JSON.
    """
    if len(data) > limits.json_bytes:
        raise UnsafeFileError(
            f"{what}: the JSON text has {len(data):,} bytes, the limit is {limits.json_bytes:,}. "
            "Pass limits=Limits(json_bytes=...) if you trust the file."
        )
    if depth(data) > limits.json_depth:
        raise UnsafeFileError(
            f"{what}: the JSON text is nested more than {limits.json_depth} levels deep. "
            "Pass limits=Limits(json_depth=...) if you trust the file."
        )
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{what}: not a JSON text: {error}") from None


def depth(data):
    """Return the greatest depth of brackets in a JSON text, without brackets in strings.

    >>> depth(b'{"a": [1, "[["]}')
    2
    """
    import re

    deepest = level = 0
    for token in re.finditer(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', data, re.DOTALL):
        sign = token.group()[:1]
        if sign in b"[{":
            level += 1
            deepest = max(deepest, level)
        elif sign in b"]}":
            level -= 1
    return deepest


def dump(value, what):
    """Return a value as a JSON text.

    Raises:
        SaveError: the value contains objects that JSON cannot hold.
    """
    from framework.core.errors import SaveError

    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError) as error:
        raise SaveError(
            f"{what}: the config cannot be written as JSON: {error}. get_config() must return "
            "numbers, strings, lists and dicts; use keras.saving.serialize_keras_object for "
            "objects."
        ) from None
