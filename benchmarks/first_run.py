"""The time of a small convolutional network's first epoch by fit: from the start of the process.

"empty" finds no machine code on disk, "warm" the folder that earlier runs filled. Bytecode is
cached, as after an installation. Fresh processes, alternating; "busy" beside ten other processes
that compute. The targets are parts of the fastest peer's time in the same run.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import measure
from first_step import bytecode_in, kept_in
from peers import TF

TARGETS = {
    ("quiet", "framework, empty"): 1.0,
    ("quiet", "framework, warm"): 0.5,
    ("busy", "framework, empty"): 1.0,
}
OTHERS = {"torch": ("torch", {}), "keras on tf": ("tensorflow", TF)}
STATES = {"quiet": 0, "busy": 10}  # the number of other processes that compute


def runs(options: argparse.Namespace, caches: Path) -> dict[str, Any]:
    """What can be measured here, by name; `caches` is a folder for machine code."""
    found = {
        "framework, empty": partial(with_empty_cache, caches),
        "framework, warm": partial(
            started, sys.executable, "framework", caches, kept_in(caches / "kept")
        ),
        "framework, no Numba": partial(
            started, sys.executable, "framework", caches, {"FRAMEWORK_COMPILE": "numpy"}
        ),
    }
    for name, (module, variables) in OTHERS.items():
        python = measure.interpreter(module, options)
        library = "torch" if module == "torch" else "keras"
        if measure.has_module(python, module) and measure.has_module(python, library):
            found[name] = partial(started, python, library, caches, variables)
    return found


def with_empty_cache(caches: Path) -> dict[str, Any]:
    """Run with a new folder for machine code; the second process may still write to it then."""
    with tempfile.TemporaryDirectory(dir=caches, ignore_cleanup_errors=True) as empty:
        return started(sys.executable, "framework", caches, kept_in(empty))


def started(python: str, library: str, caches: Path, variables: dict[str, str]) -> dict[str, Any]:
    """Start a process that says when its first epoch was done."""
    variables = {"CUDA_VISIBLE_DEVICES": "", **bytecode_in(caches), **variables}
    return measure.run_worker(
        python, "first_run_worker.py", library, repr(time.time()), **variables
    )


@contextmanager
def busy(processes: int):
    """Context with other processes that compute."""
    program = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(program) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("the time from process start to the end of fit's first epoch", 3)
    measure.peer_arguments(parser, "torch", "tf")
    parser.add_argument(
        "--states", nargs="+", choices=STATES, default=list(STATES),
        help="quiet, or busy: beside ten processes that compute (both)",
    )  # fmt: skip
    options = parser.parse_args()
    info = measure.machine()
    rows, record, holds = [], {}, True
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        found = runs(options, Path(folder))
        for _ in range(2):
            found["framework, warm"]()  # fills the cache; a second process writes it
        measure.alternate({n: run for n, run in found.items() if n != "framework, empty"}, 1)
        for state in options.states:
            with busy(STATES[state]):
                answers = measure.alternate(found, options.rounds)
            medians = {
                name: measure.Spread.of([answer["seconds"] for answer in given])
                for name, given in answers.items()
            }
            fastest = min((s.median for n, s in medians.items() if n in OTHERS), default=None)
            for name, spread in medians.items():
                part = TARGETS.get((state, name))
                target = None if part is None or fastest is None else part * fastest
                verdict = measure.Verdict(spread.median, target)
                holds &= verdict.holds
                at_most = "" if target is None else f"{target:.2f}"
                version = answers[name][0]["version"]
                rows.append([f"{state}: {name}", spread.text(2), at_most, verdict.text(), version])
                record[f"{state}: {name}"] = {**asdict(spread), "target": target}
    header = ["", "s to the end of the epoch", "at most", "", "version"]
    measure.publish(options, info, measure.table(header, rows), {"first_run": record}, holds)


if __name__ == "__main__":
    main()
