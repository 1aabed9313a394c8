"""Writes `reference.json`: which exceptions Keras raises for `ROWS` (null: none).

    python tests/models/bad_calls/reference.py

It needs a Python with Keras and JAX, and nothing of this package.
"""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def raised(call, keras):
    """Return the name of the builtin class of the exception that the call raises."""
    from calls import run

    try:
        run(call, keras)
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return None


if __name__ == "__main__":
    os.environ["KERAS_BACKEND"] = "jax"
    sys.path.insert(0, str(HERE))
    import keras
    from calls import ROWS

    found = {call: raised(call, keras) for _, call, _ in ROWS}
    (HERE / "reference.json").write_text(json.dumps(found, indent=1) + "\n")
