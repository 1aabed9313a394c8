"""Run every scenario by real Keras and by `framework.keras`, each in its process, and compare.

    python -m parity [--against jax|tensorflow|torch] [PATTERN ...]

A pattern chooses the scenarios whose names contain it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from parity.compare import compare, read, report

FAST_COMPILATION = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
"""Most of the time goes into compiling small programs; with these flags it takes less than half."""


def main():
    parser = argparse.ArgumentParser(prog="python -m parity", description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--against", default="jax", help="the backend of real Keras")
    options = parser.parse_args()
    cache = Path(sys.prefix, "parity-compiled")
    fast = _flags_known(FAST_COMPILATION) if options.against == "jax" else ""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = [Path(folder, "framework.npz")], []
        workers = [_start("framework", ours[0], "0/1", options.patterns, cache, fast)]
        parts = min(4, os.cpu_count() or 1)  # most of the time goes into compiling on one core
        for part in range(parts):
            theirs.append(Path(folder, f"{options.against}{part}.npz"))
            workers.append(
                _start(
                    options.against, theirs[-1], f"{part}/{parts}", options.patterns, cache, fast
                )
            )
        codes = [worker.wait() for worker in workers]
        if any(codes):
            return 2
        verdicts = compare(read(ours), read(theirs))
    if not verdicts:
        print("no scenario has such a name")
        return 2
    return 1 if report(verdicts) else 0


def _flags_known(flags):
    """The flags, or "" where this JAX does not know them: an unknown flag ends the process."""
    program = "import jax; jax.numpy.zeros(1)"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, check=False, capture_output=True)
    return "" if done.returncode else flags


def _start(backend, path, part, patterns, cache, flags):
    command = [sys.executable, "-m", "parity.run", backend, str(path), part, *patterns]
    root = str(Path(__file__).resolve().parents[1])
    environment = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),  # programs are compiled once for many scenarios
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "XLA_FLAGS": flags,
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH")))),
    }
    return subprocess.Popen(command, env=environment)


if __name__ == "__main__":
    sys.exit(main())
