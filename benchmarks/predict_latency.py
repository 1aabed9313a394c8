"""The time of one row through `mlp_small`: `model(x)` and `model.predict(x)`, ours and Keras's.

Torch's `model(x)` in inference mode stands beside them. Fresh processes, alternating.
"""

import argparse
import sys
from dataclasses import asdict
from functools import partial
from typing import Any

import measure
from peers import JAX, TF

TARGET = 3.0  # the most that predict of one row may take of model(x)
OTHERS = {"torch": ("torch", {}), "keras on jax": ("jax", JAX), "keras on tf": ("tensorflow", TF)}


def runs(options: argparse.Namespace) -> dict[str, Any]:
    """What can be measured here, by name."""
    found = {
        "framework": partial(measure.run_worker, sys.executable, "predict_worker.py", "framework")
    }
    for name, (module, variables) in OTHERS.items():
        python = measure.interpreter(module, options)
        library = "torch" if module == "torch" else "keras"
        if measure.has_module(python, module) and measure.has_module(python, library):
            settings = {"CUDA_VISIBLE_DEVICES": "", **variables}
            found[name] = partial(
                measure.run_worker, python, "predict_worker.py", library, **settings
            )
    return found


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("one row: model(x) and predict", 3)
    measure.peer_arguments(parser, "torch", "tf", "jax")
    options = parser.parse_args()
    info = measure.machine()
    answers = measure.alternate(runs(options), options.rounds)
    rows, record, holds = [], {}, True
    for name, given in answers.items():
        called = measure.Spread.of([answer["call"] for answer in given])
        entry = {"version": given[0]["version"], "call_us": asdict(called)}
        cells = [name, given[0]["version"], called.text(0)]
        if "predict" in given[0]:
            predicted = measure.Spread.of([answer["predict"] for answer in given])
            ratio = predicted.median / called.median
            verdict = measure.Verdict(ratio, TARGET if name == "framework" else None)
            holds &= verdict.holds
            cells += [predicted.text(0), f"{ratio:.1f}", f"{verdict.target or ''}", verdict.text()]
            entry |= {"predict_us": asdict(predicted), "ratio": ratio, "target": verdict.target}
        record[name] = entry
        rows.append(cells + [""] * (7 - len(cells)))
    rows += [[n, "not installed", *[""] * 5] for n in OTHERS if n not in answers]
    header = ["", "version", "model(x), µs", "predict(x), µs", "ratio", "at most", ""]
    measure.publish(options, info, measure.table(header, rows), {"predict": record}, holds)


if __name__ == "__main__":
    main()
