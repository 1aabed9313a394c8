"""What this package gives for a row of `CALLS`, and how it is compared.

    python -m tests.ops.singular.record

writes `ours.json`: the numbers of those rows that differ from `reference.json` and whose function
`DIFFERENT` names. It prints those that differ without a reason.
"""

import json
from pathlib import Path

import numpy as np

import framework as tf
from framework import keras
from tests.ops.singular.calls import CALLS, POINTS
from tests.ops.singular.different import DIFFERENT
from tests.ops.singular.reference import listed

HERE = Path(__file__).parent
NAMES = {"tf": tf, "keras": keras, "np": np}


def rows(name):
    """The rows of a file here, by function and point."""
    path = HERE / name
    found = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return {(row["call"], row["at"]): row for row in found}


def function_of(text):
    return eval(text, NAMES)  # texts of `calls.py`


def computed(function, xs):
    """The value, and the gradients of its sum: arrays, None where there is no gradient."""
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    if not isinstance(y, tf.Tensor) or not y.dtype.is_floating:
        return np.asarray(y), [None] * len(xs)
    grads = tape.gradient(y, xs)
    return y.numpy(), [None if g is None else tf.convert_to_tensor(g).numpy() for g in grads]


def row(text, at, dtype="float32"):
    """The same as `reference.row`, by this package."""
    xs = [tf.constant(p, dtype) for p in POINTS[at]]
    try:
        y, grads = computed(function_of(text), xs)
    except Exception as error:  # it is what the row then says
        return {"error": type(error).__name__}
    return {
        "value": listed(y), "shape": list(y.shape), "dtype": str(y.dtype),
        "gradients": [None if g is None else listed(g) for g in grads],
    }  # fmt: skip


def differences(found, expected):
    """What differs: names of parts of a row."""
    if "error" in found or "error" in expected:
        return [] if ("error" in found) == ("error" in expected) else ["error"]
    parts = [part for part in ("shape", "dtype") if found[part] != expected[part]]
    parts += [] if same(found["value"], expected["value"]) else ["value"]
    pairs = zip(found["gradients"], expected["gradients"], strict=True)
    return parts + ["gradient" for g, e in pairs if not same_slope(g, e)]


def same(found, expected):
    """The same numbers but for rounding; NaN and infinities at the same places."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    if found.shape != expected.shape:
        return False
    return np.allclose(found, expected, rtol=5e-5, atol=2e-6, equal_nan=True)


def same_slope(found, expected):
    """As `same`; JAX says zeros where a tape says None."""
    if found is None or expected is None:
        return not np.any(np.asarray(0 if expected is None else expected, float))
    return same(found, expected)


def main():
    reference, kept = rows("reference.json"), []
    with np.errstate(all="ignore"):
        for text, at in CALLS:
            found = row(text, at)
            if parts := differences(found, reference[text, at]):
                if text in DIFFERENT:
                    kept.append(json.dumps({"call": text, "at": at} | found, separators=(",", ":")))
                else:
                    print(f"{text} at {at}: {', '.join(parts)}")
    (HERE / "ours.json").write_text("[\n" + ",\n".join(kept) + "\n]\n")


if __name__ == "__main__":
    main()
