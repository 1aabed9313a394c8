"""Commands that inspect or prepare this machine: config, warmup and doctor."""

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from framework.kernels import ahead, tier
from framework.kernels.report import show_config


def config():
    """Print the versions of libraries, the numbers of threads and measured speeds."""
    _quiet()
    show_config()


def warmup():
    """Compile the library's Numba kernels; later programs load them from disk.

    The loop kernels of a model are generated and compiled when it first runs on a machine.
    """
    _quiet()
    if reason := tier.numba_missing():
        print(f"Numba cannot be used ({reason}): pip install 'framework[fast]'")
        return 1
    before = tier.tier()
    tier.set_tier("numba")  # the backend "auto" would compile the kernels in another process
    begin = time.perf_counter()
    for name in tier.libraries():
        start = time.perf_counter()
        warm = getattr(tier.library(name), "warm", None)
        if warm is not None:
            warm()
            print(f"{name:12} {time.perf_counter() - start:6.1f} s", flush=True)
    for name in ahead.GROUPS:
        ahead.mark(name)
    tier.set_tier(before)
    print(f"{'all':12} {time.perf_counter() - begin:6.1f} s")
    return 0


def _quiet():
    """Suppress the log message that Numba is compiling, for the rest of this process."""
    if not tier.numba_missing() and (jit := tier.library("jit")) is not None:
        jit.notice.logged = True


# ---- doctor --------------------------------------------------------------------------------------


def doctor():
    """Check the installation; print one line per check, and return 1 if a check failed."""
    _quiet()
    broken = False
    for subject, check in CHECKS.items():
        try:
            sign, text = check()
        except Exception as error:  # after an error in one check, the other checks still run
            sign, text = "!!", f"{type(error).__name__}: {error}"
        broken |= sign == "!!"
        print(f"  {sign}  {subject:10} {text}")
    print("Something is broken." if broken else "The installation works.")
    return int(broken)


def _versions():
    found = show_config(mode="dicts")
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    extras = ", ".join(f"{k} {v or 'missing'}" for k, v in found["extras"].items())
    notes = " ".join(found["warnings"])
    return ("--", f"{versions}. {notes}") if notes else ("ok", f"{versions}; optional: {extras}")


def _numba():
    if reason := tier.numba_missing():
        return "--", f"not used ({reason}); it is faster: pip install 'framework[fast]'"
    # For 256 × 256 matrices, `dot` uses a Numba kernel, which is compared with NumPy.
    from framework.kernels.matmul import dot

    a = np.arange(256 * 256, dtype=np.float32).reshape(256, 256) % 7
    close = np.allclose(dot(a, a), a @ a)
    return ("ok", "its kernels compute what NumPy computes") if close else ("!!", "wrong product")


def _threads():
    from framework.kernels import threads

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    text = f"{threads.count()} for kernels; {load:.1f} programs run on {os.cpu_count()} CPUs"
    busy = load > 2 * (os.cpu_count() or 1)
    return ("--", f"{text}: training shares them") if busy else ("ok", text)


def _cache():
    from framework.kernels.sealed import folder as folder_of_machine_code

    folder = folder_of_machine_code()
    if folder is None:
        return "--", "machine code is not kept on disk"
    return "ok", f"machine code is kept in {folder}"


def _training():
    from framework.layers.core import Dense
    from framework.models.sequential import Sequential

    model = Sequential([Dense(8, "tanh"), Dense(1)])
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    step = model.training_step(loss="mse", optimizer="adam")
    losses = [float(step(x, x * x)) for _ in range(200)]
    text = f"200 steps bring a loss from {losses[0]:.3f} to {losses[-1]:.3f}"
    return ("ok", text) if losses[-1] < losses[0] else ("!!", text)


def _saving():
    from framework.layers.core import Dense
    from framework.models.sequential import Sequential
    from framework.saving.model_file import load_model

    model = Sequential([Dense(2)])
    x = np.ones((3, 4), np.float32)
    expected = np.asarray(model(x))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        same = np.array_equal(np.asarray(load_model(path)(x)), expected)
    return ("ok", "a saved model gives the same bits") if same else ("!!", "other outputs")


CHECKS = {
    "versions": _versions, "numba": _numba, "threads": _threads, "cache": _cache,
    "training": _training, "saving": _saving,
}  # fmt: skip
"""The checks of `doctor`; each returns ("ok", "!!" or, for a remark, "--"; a text)."""
