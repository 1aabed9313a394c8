"""One side of the comparison: all scenarios by one backend, the results in one npz file.

    python -m parity.run framework results.npz 0/1 [PATTERN ...]

0/1 is part 0 of 1: with 1/3, every third scenario from the second on. The backend is `framework`,
or one of real Keras's: jax, tensorflow, torch.
"""

import gc
import importlib
import os
import sys
import time
import traceback
import warnings
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from parity.values import REFUSED, Values


def load(backend):
    """The module called `keras` in the scenarios."""
    if backend == "framework":
        return importlib.import_module("framework.keras")
    os.environ["KERAS_BACKEND"] = backend
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return importlib.import_module("keras")


def selected(patterns):
    """[(name, run)] of the scenarios that one of the patterns matches; all without patterns."""
    from parity.scenarios import everything

    wanted = [f"*{pattern}*" for pattern in patterns] or ["*"]
    return [(n, run) for n, run in everything() if any(fnmatch(n, w) for w in wanted)]


def results_of(name, run, keras):
    """The arrays of one scenario by key; its error where it fails."""
    start = time.perf_counter()
    try:
        outcome = run(keras)
    except Exception as error:  # whatever it is, the table tells it
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        if name.startswith("calls of"):
            note = np.array(f"{type(error).__name__}: {error}"[:300])
            return {f"{name}|value|call": np.array(REFUSED), f"{name}|note|call": note}
        return {f"{name}|error": np.array(f"{type(error).__name__}: {error} ({where})")}
    found = {f"{name}|seconds": np.array(time.perf_counter() - start)}
    if isinstance(outcome, Values):
        found.update({f"{name}|value|{k}": np.asarray(v) for k, v in outcome.found.items()})
        found.update({f"{name}|note|{k}": np.array(v) for k, v in outcome.notes.items()})
        return found
    for kind in ("history", "extra"):
        for key, value in getattr(outcome, kind).items():
            found[f"{name}|{kind}|{key}"] = np.asarray(value, dtype="float64")
    for kind in ("before", "after"):
        for number, value in enumerate(getattr(outcome, kind)):
            found[f"{name}|{kind}|{number:03}"] = np.asarray(value, dtype="float64")
    return found


def main(backend, path, part, *patterns):
    first, step = map(int, part.split("/"))
    keras = load(backend)
    warnings.simplefilter("ignore")  # the tests look at those
    found = {}
    collect, gc.collect = gc.collect, lambda: 0  # clear_session calls it, which takes seconds here
    for number, (name, run) in enumerate(selected(patterns)[first::step]):
        if number % 100 == 0:
            collect()
            gc.freeze()
        keras.backend.clear_session()
        keras.utils.set_random_seed(0)
        found.update(results_of(name, run, keras))
    np.savez(path, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
