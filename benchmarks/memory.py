"""The memory that training needs at its peak, beyond the loaded library: ours beside every peer's.

A process first runs the workload on one row, so that the library and its machine code are loaded,
drops that, and notes what it holds; then it trains on whole batches, and its peak beyond what was
noted counts: weights, optimizer state, gradients, activations, scratch, one batch of data.
"""

import argparse
from functools import partial
from typing import Any

import measure
import train_step
from peers import PEERS, is_ours

WORKLOADS = ("cnn_deep", "transformer")
WITH = (
    "framework", "framework, eager", "framework, no Numba", "torch", "tf.function", "jax.jit",
)  # fmt: skip
TARGET = 1.0  # the most that ours may be of torch's


def once(peer: str, workload: str, options: argparse.Namespace) -> dict[str, Any]:
    """One process; a failure is an answer too."""
    python = train_step.interpreter(peer, options)
    variables = {"CUDA_VISIBLE_DEVICES": "", **PEERS[peer].variables}
    try:
        return measure.run_worker(python, "memory_worker.py", peer, workload, **variables)
    except measure.WorkerError as error:
        return {"error": str(error)}


def measured(workload: str, peers: list[str], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One line for each peer."""
    runs = {peer: partial(once, peer, workload, options) for peer in peers}
    found = []
    for peer, answers in measure.alternate(runs, options.rounds).items():
        line = {"workload": workload, "peer": peer}
        errors = [answer["error"] for answer in answers if "error" in answer]
        if errors:
            line["error"] = errors[0].splitlines()[-1]
        else:
            spread = measure.Spread.of([answer["beyond"] for answer in answers])
            line |= {"beyond_mb": spread.median, "low_mb": spread.low, "high_mb": spread.high}
            line |= {key: answers[0][key] for key in ("loaded", "peak", "version")}
        found.append(line)
    theirs = next((x.get("beyond_mb") for x in found if x["peer"] == "torch"), None)
    for line in found:
        if theirs and is_ours(line["peer"]) and "beyond_mb" in line:
            line["of_torch"] = line["beyond_mb"] / theirs
    return found


def row(line: dict[str, Any]) -> list[str]:
    """One line of the table."""
    names = [line["workload"], line["peer"]]
    if "error" in line:
        return [*names, f"failed: {line['error'][:50]}", "", "", "", "", ""]
    ratio = line.get("of_torch")
    spread = measure.Spread(line["beyond_mb"], line["low_mb"], line["high_mb"])
    target = TARGET if line["peer"] == "framework" and ratio is not None else None
    return [
        *names,
        spread.text(0),
        f"{line['loaded']:.0f}",
        f"{line['peak']:.0f}",
        "" if ratio is None else f"{ratio:.2f}",
        "" if target is None else measure.Verdict(ratio, target).text(),
        line["version"],
    ]


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("peak memory of training, ours and every peer's", 3)
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS, metavar="NAME")
    measure.peer_arguments(parser, "torch", "tf", "jax")
    options = parser.parse_args()
    info = measure.machine()
    peers = [peer for peer in WITH if train_step.is_installed(peer, options)]
    lines = [line for w in options.workloads for line in measured(w, peers, options)]
    header = ["workload", "peer", "MB in training", "MB loaded before", "MB peak of the process",
              "of torch's (at most 1)", "", ""]  # fmt: skip
    missing = [f"{peer}: not installed" for peer in WITH if peer not in peers]
    text = "\n\n".join([measure.table(header, [row(line) for line in lines]), *missing])
    holds = all(x.get("of_torch", 0) <= TARGET for x in lines if x["peer"] == "framework")
    measure.publish(options, info, text, {"cases": lines, "target": TARGET}, holds)


if __name__ == "__main__":
    main()
