"""Writes `reference.json`: what TensorFlow and Keras (on JAX) give for `CALLS`.

    python tests/ops/singular/reference.py

It needs a Python with both of them, and nothing of this package. Each row is the value's numbers,
shape and dtype, and the gradients of its sum by the arguments; or the name of the error.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def listed(array):
    import numpy as np

    array = np.asarray(array)
    if array.dtype.kind == "f":
        return [float(f"{v:.8g}") for v in array.ravel().astype(np.float64)]
    return array.ravel().tolist()


def by_tensorflow(text, points):
    import numpy as np
    import tensorflow as tf

    xs = [tf.constant(p, tf.float32) for p in points]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = eval(text, {"tf": tf, "np": np})(*xs)
    grads = tape.gradient(y, xs) if y.dtype.is_floating else [None] * len(xs)
    return y, [None if g is None else tf.convert_to_tensor(g) for g in grads]


def by_keras(text, points):
    import jax
    import jax.numpy as jnp
    import keras
    import numpy as np

    function = eval(text, {"keras": keras, "np": np})
    xs = [jnp.asarray(p, jnp.float32) for p in points]
    y = function(*xs)  # builds a layer, too
    plain = isinstance(y, np.ndarray) or "metrics" in text
    if plain or not jnp.issubdtype(jnp.asarray(y).dtype, jnp.floating):
        return y, [None] * len(xs)
    value, back = jax.vjp(lambda *a: jnp.asarray(function(*a)), *xs)
    return y, back(jnp.ones_like(value))


def row(text, points):
    import numpy as np

    try:
        y, grads = (by_keras if "keras." in text else by_tensorflow)(text, points)
    except Exception as error:  # it is what the row then says
        return {"error": type(error).__name__}
    y = np.asarray(y)
    return {
        "value": listed(y), "shape": list(y.shape), "dtype": str(y.dtype),
        "gradients": [None if g is None else listed(g) for g in grads],
    }  # fmt: skip


def main():
    os.environ["KERAS_BACKEND"] = "jax"
    sys.path.insert(0, str(HERE))
    from calls import CALLS, POINTS  # type: ignore[import-not-found]

    rows = [
        json.dumps({"call": text, "at": at} | row(text, POINTS[at]), separators=(",", ":"))
        for text, at in CALLS
    ]
    (HERE / "reference.json").write_text("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
