"""The time to the first step of `mlp_small` by fit: from the start of the process to its end.

"cold" finds no machine code cached (Numba's folder is empty), "warm" the folder that earlier runs
filled. Bytecode is cached, as after an installation. Fresh processes, alternating.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import measure
from peers import JAX, TF

TARGETS = {"framework, cold": 0.6, "framework, warm": 0.4}
OURS = (("cold", {}), ("warm", {}), ("no Numba", {"FRAMEWORK_COMPILE": "numpy"}))
OTHERS = {
    "torch": ("torch", {}),
    "keras on jax": ("jax", JAX),
    "keras on tf": ("tensorflow", TF),
}


def runs(options: argparse.Namespace, caches: Path) -> dict[str, Any]:
    """What can be measured here, by name; `caches` is a folder for machine code."""
    found = {
        f"framework, {state}": partial(ours, state, caches, variables) for state, variables in OURS
    }
    for name, (module, variables) in OTHERS.items():
        python = measure.interpreter(module, options)
        library = "torch" if module == "torch" else "keras"
        if measure.has_module(python, module) and measure.has_module(python, library):
            found[name] = partial(started, python, library, caches, variables)
    return found


def ours(state: str, caches: Path, variables: dict[str, str]) -> dict[str, Any]:
    if state == "cold":
        with tempfile.TemporaryDirectory(dir=caches) as empty:
            return started(sys.executable, "framework", caches, kept_in(empty) | variables)
    return started(sys.executable, "framework", caches, kept_in(caches / "kept") | variables)


def kept_in(folder) -> dict[str, str]:
    """Machine code, in a folder of its own."""
    return {"NUMBA_CACHE_DIR": str(folder), "XDG_CACHE_HOME": str(folder)}


def bytecode_in(folder: Path) -> dict[str, str]:
    """Bytecode, kept in a folder even where the environment says not to."""
    return {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}


def started(python: str, library: str, caches: Path, variables: dict[str, str]) -> dict[str, Any]:
    """Start a process that says when its first step was done."""
    variables = {"CUDA_VISIBLE_DEVICES": "", **bytecode_in(caches), **variables}
    began = repr(time.time())
    return measure.run_worker(python, "first_step_worker.py", library, began, **variables)


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("the time from process start to the end of fit's first step", 5)
    measure.peer_arguments(parser, "torch", "tf", "jax")
    options = parser.parse_args()
    info = measure.machine()
    with tempfile.TemporaryDirectory() as caches:
        found = runs(options, Path(caches))
        measure.alternate(found, 1)  # fills the caches
        answers = measure.alternate(found, options.rounds)
    rows, record, holds = [], {}, True
    for name, given in answers.items():
        spread = measure.Spread.of([answer["seconds"] for answer in given])
        imported = measure.Spread.of([answer["imported"] for answer in given])
        target = TARGETS.get(name)
        verdict = measure.Verdict(spread.median, target)
        holds &= verdict.holds
        rows.append([name, spread.text(2), imported.text(2), f"{target or '':}", verdict.text(),
                     given[0]["version"]])  # fmt: skip
        record[name] = {"version": given[0]["version"], "seconds": asdict(spread),
                        "imported": asdict(imported), "target": target}  # fmt: skip
    rows += [[name, "not installed", "", "", "", ""] for name in OTHERS if name not in answers]
    header = ["", "s to the first step", "of it until imported", "at most", "", "version"]
    measure.publish(options, info, measure.table(header, rows), {"first_step": record}, holds)


if __name__ == "__main__":
    main()
