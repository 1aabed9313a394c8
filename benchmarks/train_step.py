"""The time of one training step, ours beside every peer's on the same machine in the same run.

Each workload starts from the same weights and data everywhere (`workloads.py`). Each round runs one
fresh process for each peer, in turn; it warms up, times single steps for a while and answers with
their median. Reported is the median over the rounds, with the lowest and highest. The required peer
is torch with its default threads or with one, whichever is faster.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import measure
from peers import OURS, PEERS, REQUIRED
from workloads import WORKLOADS

AGREEMENT = 1e-4  # the most that outputs may differ, relative to their size
FLOOR = 1e-2  # outputs smaller than this count as this large

Answer = dict[str, Any]  # of one process, see step_worker.py
Case = dict[str, Any]  # one line of the report: a workload with a peer


def command_line() -> argparse.Namespace:
    """The options; each peer may live in an environment of its own."""
    parser = measure.arguments("the time of a training step, ours and every peer's", 5)
    parser.add_argument("--seconds", type=float, default=1.0, help="timed a process (%(default)s)")
    names = list(WORKLOADS)
    parser.add_argument("--workloads", nargs="+", choices=names, default=names, metavar="NAME")
    for short, library in (("torch", "torch"), ("tf", "tensorflow"), ("jax", "jax")):
        told = f"interpreter that has {library} (default: this one)"
        flag = f"--{short}-python"
        parser.add_argument(flag, dest=library, default=sys.executable, metavar="PATH", help=told)
    return parser.parse_args()


def interpreter(peer: str, options: argparse.Namespace) -> str:
    """The Python that runs this peer: what its library's option says, for us this one."""
    return getattr(options, PEERS[peer].library, sys.executable)


def is_installed(peer: str, options: argparse.Namespace) -> bool:
    """Whether the interpreter chosen for this peer has its library."""
    return measure.has_module(interpreter(peer, options), PEERS[peer].library)


def once(peer: str, workload: str, options: argparse.Namespace) -> Answer:
    """One process; a failure is an answer too, so that no peer goes missing without a word."""
    python, seconds = interpreter(peer, options), str(options.seconds)
    try:
        return measure.run_worker(python, "step_worker.py", peer, workload, seconds)
    except measure.WorkerError as error:
        return {"error": str(error)}


def measured(workload: str, installed: Sequence[str], options: argparse.Namespace) -> list[Case]:
    """Every peer's case of one workload."""
    runs = {peer: partial(once, peer, workload, options) for peer in installed}
    answers = measure.alternate(runs, options.rounds)
    cases = [{"workload": workload, "peer": peer, **outcome(answers.get(peer))} for peer in PEERS]
    compare(cases, answers)
    return cases


def outcome(answers: Sequence[Answer] | None) -> dict[str, Any]:
    """Sum up the rounds of one peer, in microseconds."""
    if answers is None:
        return {"status": "not installed"}
    errors = [answer["error"] for answer in answers if "error" in answer]
    if errors:
        return {"status": f"failed: {errors[0].splitlines()[-1]}", "error": errors[0]}
    spread = measure.Spread.of([answer["median"] * 1e6 for answer in answers])
    return {
        "status": "measured",
        "version": answers[0]["version"],
        "median_us": spread.median,
        "low_us": spread.low,
        "high_us": spread.high,
        "mean_us": measure.Spread.of([answer["mean"] * 1e6 for answer in answers]).median,
    }


def compare(cases: Sequence[Case], answers: Mapping[str, Sequence[Answer]]) -> None:
    """Add to each measured case how far its outputs are from ours and what our step takes of its.

    Without our own figures the first peer measured stands in, so that the peers are compared.
    """
    done = [case for case in cases if case["status"] == "measured"]
    for case in done:
        reference = done[0]
        outputs = (answers[name["peer"]][0]["outputs"] for name in (reference, case))
        case["difference"] = difference(*outputs)
        if reference["peer"] == OURS:
            case["ours_over_peer"] = reference["median_us"] / case["median_us"]


def difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Find the largest difference between two lists of outputs, relative to their size."""
    return max(abs(a - b) / max(abs(a), abs(b), FLOOR) for a, b in zip(ours, theirs, strict=True))


def verdict(cases: Sequence[Case]) -> dict[str, Any]:
    """One workload's: our step against the faster torch, and whether all did the same work."""
    workload = cases[0]["workload"]
    ratios = [case.get("ours_over_peer") for case in cases if case["peer"] in REQUIRED]
    complete = None not in ratios
    against_torch = max(ratios) if complete else None
    same_work = all(case.get("difference", 0.0) <= AGREEMENT for case in cases)
    target = WORKLOADS[workload].target
    fast = complete and measure.Verdict(against_torch, target).holds
    return {
        "workload": workload,
        "step": WORKLOADS[workload].step,
        "ours_over_faster_torch": against_torch,
        "target": target,
        "same_work": same_work,
        "verdict": "ok" if fast and same_work else "MISSED" if complete else "",
    }


def row(case: Case) -> list[str]:
    """One case as a line of the table."""
    if case["status"] != "measured":
        return [case["workload"], case["peer"], "", "", "", "", case["status"][:60]]
    ratio = case.get("ours_over_peer")
    return [
        case["workload"],
        case["peer"],
        f"{case['median_us']:.1f}",
        f"{case['low_us']:.1f} to {case['high_us']:.1f}",
        "" if ratio is None else f"{ratio:.2f}",
        f"{case['difference']:.0e}",
        case["version"],
    ]


def verdict_row(found: Mapping[str, Any]) -> list[str]:
    """One workload's verdict as a line of the table."""
    ratio, target = found["ours_over_faster_torch"], found["target"]
    return [
        found["workload"],
        found["step"],
        "not measured" if ratio is None else f"{ratio:.2f}",
        "" if target is None else f"{target:g}",
        "yes" if found["same_work"] else "NO",
        found["verdict"],
    ]


def report(cases: Sequence[Case], verdicts: Sequence[Mapping[str, Any]]) -> str:
    """Both tables."""
    header = [
        "workload",
        "peer",
        "us a step",
        "over the rounds",
        "ours / peer",
        "outputs differ",
        "",
    ]
    times = measure.table(header, [row(case) for case in cases])
    header = ["workload", "step", "ours / faster torch", "at most", "same work", ""]
    return f"{times}\n\n{measure.table(header, [verdict_row(found) for found in verdicts])}"


def main() -> None:
    """Measure every workload with every peer that is installed, and report."""
    options = command_line()
    info = measure.machine()
    installed = [peer for peer in PEERS if is_installed(peer, options)]
    groups = [measured(workload, installed, options) for workload in options.workloads]
    cases = [case for group in groups for case in group]
    verdicts = [verdict(group) for group in groups]
    results = {"seconds": options.seconds, "cases": cases, "verdicts": verdicts}
    holds = all(found["verdict"] == "ok" for found in verdicts)
    measure.publish(options, info, report(cases, verdicts), results, holds)


if __name__ == "__main__":
    main()
