"""What `fit` itself costs: a batch in `fit`, metrics and bar on, beyond the bare training step.

Dense(1) on batches of 32 rows, where the computation is next to nothing. Keras on each of
its backends stands beside it where an interpreter has it (`--keras-python`). Fresh processes,
alternating; in each the fastest of several runs counts. The bare step and what is beyond it are
CPU time, so that a busy machine does not change them; both by NumPy plans, lest one of them goes
over to loops and the other does not.
"""

import argparse
import sys
from dataclasses import asdict
from functools import partial
from typing import Any

import measure

TARGET = 25.0  # microseconds a batch beyond the bare step
BACKENDS = {"tensorflow": "tensorflow", "jax": "jax", "torch": "torch"}


def runs(options: argparse.Namespace) -> dict[str, Any]:
    """What can be measured here, by name."""
    ours = partial(
        measure.run_worker, sys.executable, "fit_worker.py", "framework", FRAMEWORK_COMPILE="numpy"
    )
    found = {"framework": ours}
    python = options.keras
    if measure.has_module(python, "keras"):
        for backend, module in BACKENDS.items():
            if measure.has_module(python, module):
                found[f"keras, {backend}"] = partial(
                    measure.run_worker, python, "fit_worker.py", "keras",
                    KERAS_BACKEND=backend, CUDA_VISIBLE_DEVICES="",
                )  # fmt: skip
    return found


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("what fit costs a batch beyond the bare step", 3)
    measure.peer_arguments(parser, "keras")
    options = parser.parse_args()
    info = measure.machine()
    results = measure.alternate(runs(options), options.rounds)
    ours = results["framework"]
    beyond = measure.Spread.of([run["beyond"] for run in ours])
    verdict = measure.Verdict(beyond.median, TARGET)
    rows, record = [], {}
    for name, found in results.items():
        fit = measure.Spread.of([run["fit"] for run in found])
        cells = [name, found[0]["version"], fit.text(0)]
        record[name] = {"version": found[0]["version"], "fit": asdict(fit)}
        if name == "framework":
            step = measure.Spread.of([run["step"] for run in found])
            cells += [step.text(0), beyond.text(0), f"{TARGET:g}", verdict.text()]
            record[name] |= {"step": asdict(step), "beyond": asdict(beyond), "target": TARGET}
        rows.append(cells + [""] * (7 - len(cells)))
    header = ["", "version", "fit, µs a batch", "bare step", "beyond", "at most", ""]
    measure.publish(options, info, measure.table(header, rows), {"fit": record}, verdict.holds)


if __name__ == "__main__":
    main()
