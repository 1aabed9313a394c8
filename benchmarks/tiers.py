"""Our own faces and tiers beside one another: eager and compiled, with and without Numba.

FRAMEWORK_COMPILE chooses the tier: "off" (op by op), "numpy" (compiled plans), "numba" (plans and
compiled kernels). The promises: an eager tape loop at most 2.5 times the compiled step on
`mlp_small`, a hand-written tape loop under @function at most 1.05 times fit's step. The two of a
promise are run once more for it, in processes that take turns (`turns.py`).
"""

import argparse
import sys
from functools import partial
from typing import Any

import measure
import turns
from peers import CLASSIFIERS
from workloads import WORKLOADS

TIERS = ("off", "numpy", "numba")
FACES = ("framework", "framework, @function", "framework, eager", "framework, fit")
# (face, tier), the one it is held against, the most it may take of it
PROMISES = (
    ("framework, eager", "framework", 2.5, ("mlp_small",)),
    ("framework, @function", "framework, fit", 1.05, CLASSIFIERS),
)


def once(face: str, tier: str, workload: str, options: argparse.Namespace) -> dict[str, Any]:
    """One process; a failure is an answer too."""
    try:
        return measure.run_worker(
            sys.executable, "step_worker.py", face, workload, str(options.seconds),
            FRAMEWORK_COMPILE=tier,
        )  # fmt: skip
    except measure.WorkerError as error:
        return {"error": str(error)}


def measured(workload: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One line for each face and tier."""
    runs = {
        (face, tier): partial(once, face, tier, workload, options)
        for face in FACES
        for tier in options.tiers
        if not (face == "framework, fit" and workload not in CLASSIFIERS)
    }
    lines = []
    for (face, tier), answers in measure.alternate(runs, options.rounds).items():
        line = {"workload": workload, "face": face, "tier": tier}
        errors = [answer["error"] for answer in answers if "error" in answer]
        if errors:
            line["error"] = errors[0].splitlines()[-1]
        else:
            spread = measure.Spread.of([answer["median"] * 1e3 for answer in answers])
            line |= {"median_ms": spread.median, "low_ms": spread.low, "high_ms": spread.high}
        lines.append(line)
    for face, other, _, workloads in PROMISES:
        if workload in workloads and options.turns:
            take_turns(workload, face, other, lines, options)
    print(f"{workload}: done", file=sys.stderr, flush=True)
    return lines


def take_turns(workload, face, other, lines, options) -> None:
    """Add to the line of a face, in the best tier, what it takes of another one's time; a failure
    leaves the rounds'."""
    tier = options.tiers[-1]
    variables = {"FRAMEWORK_COMPILE": tier}
    players = {name: turns.Player(sys.executable, name, variables) for name in (face, other)}
    try:
        found = turns.take(players, workload, options.turns, options.seconds / 4)
    except measure.WorkerError as error:
        print(f"{workload}: {error}", file=sys.stderr)
        return
    (line,) = (x for x in lines if (x["face"], x["tier"]) == (face, tier))
    line.setdefault("of", {})[other] = turns.ratio(found[face], found[other])


def name_of(face: str) -> str:
    return "training_step" if face == "framework" else face.removeprefix("framework, ")


def row(workload: str, face: str, lines: list[dict[str, Any]], tiers) -> list[str]:
    """One face of a workload: a cell for each tier."""
    by_tier = {x["tier"]: x for x in lines if x["workload"] == workload and x["face"] == face}
    cells = [cell(by_tier.get(tier)) for tier in tiers]
    return [workload, name_of(face), *cells]


def cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    if "error" in line:
        return f"failed: {line['error'][:40]}"
    return f"{line['median_ms']:.3g} ({line['low_ms']:.3g} to {line['high_ms']:.3g})"


def verdicts(lines: list[dict[str, Any]], tiers) -> list[dict[str, Any]]:
    """The promises, in the best tier that was measured: by turns where they were taken."""
    found = []
    by_face = {(x["workload"], x["face"]): x for x in lines if x["tier"] == tiers[-1]}
    for face, other, most, workloads in PROMISES:
        for workload in workloads:
            pair = [by_face.get((workload, each), {}) for each in (face, other)]
            if all("median_ms" in line for line in pair):
                by_rounds = pair[0]["median_ms"] / pair[1]["median_ms"]
                ratio = pair[0].get("of", {}).get(other, by_rounds)
                found.append({"workload": workload, "face": face, "against": other,
                              "ratio": ratio, "target": most})  # fmt: skip
    return found


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("a training step of ours by face and tier", 3)
    parser.add_argument("--seconds", type=float, default=1.0, help="timed a process (%(default)s)")
    told = "turns of the two faces of a promise (%(default)s); 0: none"
    parser.add_argument("--turns", type=int, default=12, help=told)
    names = list(WORKLOADS)
    default = ["linreg", "mlp_small", "pinn", "lstm", "transformer"]
    parser.add_argument("--workloads", nargs="+", choices=names, default=default, metavar="NAME")
    parser.add_argument("--tiers", nargs="+", choices=TIERS, default=TIERS)
    options = parser.parse_args()
    info = measure.machine()
    lines = [line for workload in options.workloads for line in measured(workload, options)]
    header = ["workload", "ms a step by", *options.tiers]
    pairs = dict.fromkeys((x["workload"], x["face"]) for x in lines)
    times = measure.table(header, [row(*pair, lines, options.tiers) for pair in pairs])
    found = verdicts(lines, options.tiers)
    rows = []
    for each in found:
        verdict = measure.Verdict(each["ratio"], each["target"])
        faces = name_of(each["face"]), name_of(each["against"])
        rows.append([each["workload"], *faces, f"{verdict.measured:.2f}", f"{verdict.target:g}",
                     verdict.text()])  # fmt: skip
    text = times + "\n\n" + measure.table(["workload", "", "of", "ratio", "at most", ""], rows)
    holds = all(each["ratio"] <= each["target"] for each in found)
    results = {"seconds": options.seconds, "cases": lines, "verdicts": found}
    measure.publish(options, info, text, results, holds)


if __name__ == "__main__":
    main()
