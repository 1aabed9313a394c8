"""What `import framework` costs beyond `import numpy`: seconds, and memory in use afterwards.

Fresh processes, alternating, bytecode cached as after an installation (one round before the first
fills a cache of its own); the cost is the difference of the two medians.
"""

import sys
import tempfile
from functools import partial
from typing import Any

import measure

MODULES = ("numpy", "framework")
TARGETS = {"seconds": 0.15, "mb": 60.0}
DIGITS = {"seconds": 3, "mb": 1}


def imported(module: str, cache: str) -> dict[str, Any]:
    """Import the module in a fresh process that reads and writes its bytecode in `cache`."""
    settings = {"PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
    return measure.run_worker(sys.executable, "import_probe.py", module, **settings)


def measured(rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Every import of every module, in turn."""
    with tempfile.TemporaryDirectory() as cache:
        runs = {module: partial(imported, module, cache) for module in MODULES}
        measure.alternate(runs, 1)
        return measure.alternate(runs, rounds)


def summary(quantity: str, runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians and spread of one quantity for both modules, and what ours adds."""
    spread = {
        module: measure.Spread.of([run[quantity] for run in runs[module]]) for module in MODULES
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
        *(case["spread"][module].text(digits=digits) for module in MODULES),
        f"{verdict.measured:.{digits}f}",
        f"{verdict.target:g}",
        verdict.text(),
    ]


def record(case: dict[str, Any]) -> dict[str, Any]:
    """The quantity as it goes into the JSON."""
    modules = {module: spread.__dict__ for module, spread in case["spread"].items()}
    verdict = case["verdict"]
    return {**modules, "beyond": verdict.measured, "target": verdict.target}


def main() -> None:
    """Measure and report."""
    options = measure.arguments("what `import framework` adds to `import numpy`", 7).parse_args()
    info = measure.machine()
    runs = measured(options.rounds)
    cases = [summary(quantity, runs) for quantity in TARGETS]
    header = ["", *MODULES, "beyond", "at most", ""]
    text = measure.table(header, [row(case) for case in cases])
    results = {
        "versions": {module: runs[module][0]["version"] for module in MODULES},
        **{case["quantity"]: record(case) for case in cases},
    }
    measure.publish(options, info, text, results, all(case["verdict"].holds for case in cases))


if __name__ == "__main__":
    main()
