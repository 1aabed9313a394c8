"""What `import framework` costs beyond `import numpy`: seconds, and memory in use afterwards.

Fresh processes, alternating, bytecode cached as after an installation (one round before the first
fills a cache of its own); the cost is the difference of the two medians. Much of the framework is
loaded when it is first asked for, so a third column shows the same with what a training loop asks
for; nothing is promised of it.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import measure

IN_USE = (
    "GradientTape",
    "keras.Sequential",
    "keras.layers.Dense",
    "keras.losses.SparseCategoricalCrossentropy",
    "keras.optimizers.Adam",
)
IMPORTS = {
    "numpy": ("numpy",),
    "framework": ("framework",),
    "framework in use": ("framework", *IN_USE),
}
TARGETS = {"seconds": 0.15, "mb": 60.0}
DIGITS = {"seconds": 3, "mb": 1}


def imported(names: Sequence[str], cache: str) -> dict[str, Any]:
    """Import a module, and names of it, in a fresh process that keeps its bytecode in `cache`."""
    settings = {"PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    return measure.run_worker(sys.executable, "import_probe.py", *names, **settings)


def measured(rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Do every import, in turn, so many times."""
    with tempfile.TemporaryDirectory() as cache:
        runs = {column: partial(imported, names, cache) for column, names in IMPORTS.items()}
        measure.alternate(runs, 1)
        return measure.alternate(runs, rounds)


def summary(quantity: str, runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians and spread of one quantity, and what ours adds to NumPy's."""
    spread = {
        column: measure.Spread.of([run[quantity] for run in runs[column]]) for column in IMPORTS
    }
    return {
        "quantity": quantity,
        "spread": spread,
        "verdict": measure.Verdict(
            spread["framework"].median - spread["numpy"].median, TARGETS[quantity]
        ),
    }


def row(case: dict[str, Any]) -> list[str]:
    """The quantity as a line of the table."""
    digits = DIGITS[case["quantity"]]
    verdict = case["verdict"]
    return [
        case["quantity"],
        *(spread.text(digits=digits) for spread in case["spread"].values()),
        f"{verdict.measured:.{digits}f}",
        f"{verdict.target:g}",
        verdict.text(),
    ]


def record(case: dict[str, Any]) -> dict[str, Any]:
    """The quantity as it goes into the JSON."""
    spreads = {column: asdict(spread) for column, spread in case["spread"].items()}
    verdict = case["verdict"]
    return {**spreads, "beyond": verdict.measured, "target": verdict.target}


def main() -> None:
    """Measure and report."""
    options = measure.arguments("what `import framework` adds to `import numpy`", 7).parse_args()
    info = measure.machine()
    runs = measured(options.rounds)
    cases = [summary(quantity, runs) for quantity in TARGETS]
    header = ["", *IMPORTS, "import beyond", "at most", ""]
    text = measure.table(header, [row(case) for case in cases])
    results = {
        "versions": {column: runs[column][0]["version"] for column in ("numpy", "framework")},
        **{case["quantity"]: record(case) for case in cases},
    }
    measure.publish(options, info, text, results, all(case["verdict"].holds for case in cases))


if __name__ == "__main__":
    main()
