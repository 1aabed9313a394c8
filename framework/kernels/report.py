"""A report on libraries, CPU, threads and BLAS, with a short measurement of their speed."""

import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.kernels import blas, threads, tier

# optional library -> the extra of this package (`pip install framework[...]`) that installs it
_EXTRAS = {"numba": "fast", "ml_dtypes": "bf16", "matplotlib": "plot", "onnx": "onnx"}
_CORE = "OPENBLAS_CORETYPE"


def show_config(mode="stdout"):
    """Print which libraries, threads and vector instructions are used, and how fast they are.

    This takes about a second: two matrix products are timed on one thread. If OPENBLAS_CORETYPE
    makes NumPy's OpenBLAS use the code for another CPU type, a warning says how much slower that
    is.

    Args:
        mode: "stdout" prints; "dicts" returns a dict of dicts instead (as `numpy.show_config`).

    Example:
        >>> import framework as tf
        >>> sorted(tf.show_config(mode="dicts"))
        ['blas', 'cpu', 'extras', 'numba', 'threads', 'versions', 'warnings']
    """
    if mode not in ("stdout", "dicts"):
        raise InvalidArgumentError(f"mode must be 'stdout' or 'dicts', got {mode!r}.")
    report = {
        "versions": {
            "framework": sys.modules["framework"].__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "cpu": _cpu(),
        "threads": _threads(),
        "blas": _blas(),
        "numba": _numba(),
        "extras": {library: _version(library) for library in _EXTRAS},
    }
    report["warnings"] = list(_warnings(report))
    if mode == "dicts":
        return report
    print("\n".join(_lines(report)))
    return None


def _cpu():
    vectors = np.show_config(mode="dicts")["SIMD Extensions"]
    return {"name": _cpu_name(), "features": [*vectors["baseline"], *vectors.get("found", ())]}


def _cpu_name():
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    # /proc/cpuinfo exists only on Linux.
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _threads():
    limits = {"cpus of this process": threads._cpus()}
    if (quota := threads._quota()) < threads._NO_LIMIT:
        limits["quota of the control group"] = quota
    limits |= {name: os.environ[name] for name in threads.VARIABLES if os.environ.get(name)}
    return {"used": threads.count(), "limits": limits}


def _blas():
    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "name": built.get("name", "unknown"),
        "version": built.get("version", ""),
        "core": blas.core(),
        "threads": blas.threads(),
        "gigaflops": _blas_speed(),
    }


def _blas_speed(n=512):
    a = np.ones((n, n), np.float32)
    out = np.empty_like(a)
    with blas.limited(1):
        return _gigaflops(2 * n**3, lambda: np.dot(a, a, out=out))


def _numba():
    about = {"version": _version("numba"), "tier": tier.tier(), "missing": tier.numba_missing()}
    micro, target = tier.library("micro"), tier.library("target")
    if micro is not None:
        rows, depth = 2048, 256
        a, b = np.ones(rows * depth, np.float32), np.ones(depth * micro.WIDTH, np.float32)
        c = np.empty(rows * micro.WIDTH, np.float32)
        numbers = 0, depth, 1, b, 0, micro.WIDTH, depth, 1, 0, 0, 0, rows, micro.WIDTH
        about["vectors"] = f"{target.NAME}, {target.LANES} float32"
        about["gigaflops"] = _gigaflops(
            2 * rows * depth * micro.WIDTH, lambda: micro.panel(c, 0, micro.WIDTH, a, *numbers)
        )
    return about


def _gigaflops(operations, function):
    """Return the GF/s of the fastest of several calls: a busy machine slows some of them."""
    function()
    best, end = float("inf"), time.perf_counter() + 0.1
    while (start := time.perf_counter()) < end or best == float("inf"):
        function()
        best = min(best, time.perf_counter() - start)
    return round(operations / best / 1e9, 1)


def _version(library):
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


def _warnings(report):
    chosen = os.environ.get(_CORE)
    if chosen and report["blas"]["core"]:
        core, speed = _by_itself()
        if core and core != report["blas"]["core"]:
            yield (
                f"{_CORE}={chosen} makes OpenBLAS compute for {report['blas']['core']} at "
                f"{report['blas']['gigaflops']:.0f} GF/s; without it OpenBLAS chooses {core}, at "
                f"{speed:.0f} GF/s here. Unset {_CORE}."
            )
    if report["numba"]["missing"] and report["extras"]["numba"]:
        yield f"Numba is installed, but cannot be used: {report['numba']['missing']}"


def _by_itself():
    """Return the CPU core type that OpenBLAS chooses without OPENBLAS_CORETYPE, and its GF/s."""
    environment = {name: value for name, value in os.environ.items() if name != _CORE}
    program = "from framework.kernels import blas, report; print(blas.core(), report._blas_speed())"
    command = [sys.executable, "-c", program]
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    try:
        result = subprocess.run(  # noqa: S603 (this Python, and the program above)
            command, env={**environment, "PYTHONPATH": path}, capture_output=True, text=True,
            check=True, timeout=60,
        )  # fmt: skip
        core, speed = result.stdout.split()
        return core, float(speed)
    # The process could not be started, or failed.
    except (OSError, subprocess.SubprocessError, ValueError):
        return None, None


def _lines(report):
    versions, cpu, numba = report["versions"], report["cpu"], report["numba"]
    limits = ", ".join(f"{name}: {value}" for name, value in report["threads"]["limits"].items())
    yield ", ".join(f"{name} {value}" for name, value in versions.items())
    yield f"cpu      {cpu['name']} ({' '.join(cpu['features'])})"
    yield f"threads  {report['threads']['used']} ({limits})"
    about = report["blas"]
    core = f" for {about['core']}, {about['threads']} threads" if about["core"] else ""
    speed = f"{about['gigaflops']:.0f} GF/s on one thread"
    yield f"blas     {about['name']} {about['version']}{core}; {speed}"
    if "gigaflops" in numba:
        speed = f"{numba['gigaflops']:.0f} GF/s on one thread"
        yield f"numba    {numba['version']}, tier {numba['tier']}, {numba['vectors']}; {speed}"
    else:
        why = "not installed"
        if report["extras"]["numba"]:
            why = f"{numba['version']}, not used: {numba['missing'] or 'tier ' + numba['tier']}"
        yield f"numba    {why}"
    for library, version in report["extras"].items():
        remedy = f"not installed: pip install 'framework[{_EXTRAS[library]}]'"
        yield f"extra    {library} {version or remedy}"
    for text in report["warnings"]:
        yield f"WARNING  {text}"
