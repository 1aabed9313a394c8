"""The time of one training step, ours beside every peer's on the same machine in the same run.

Each workload starts from the same weights and data everywhere (`workloads.py`). Each round runs one
fresh process for each peer, in turn; it warms up, times single steps for a while and answers with
their median. Reported is the median over the rounds, with the lowest and highest.

A workload counts against the fastest peer, whatever its mode and number of threads, by the face of
ours that the workload names; a second verdict is the same without Numba. For the verdicts ours and
the peers that may be the fastest are run once more, in processes that take turns (`turns.py`).
"""

import argparse
import contextlib
import statistics
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import measure
import turns
from peers import PEERS, PLAIN, is_ours
from workloads import WORKLOADS, Workload

VARIABLE = "FRAMEWORK_COMPILE"
FLOOR = 1e-2  # outputs smaller than this count as this large
SLOW = (  # to start, so --quick leaves them out
    "torch, tuned", "torch.compile", "tf.function, XLA", "tf eager", "keras on tf, fit",
    "keras on jax, fit",
)  # fmt: skip

CLOSE = 1.3  # of the fastest peer's time: so near it in some round, another may be the fastest
MOST_PEERS = 3  # that take turns, for each verdict

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC",
                     "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}  # fmt: skip

Answer = dict[str, Any]  # of one process, see step_worker.py
Case = dict[str, Any]  # one line of the report: a workload with a peer


def command_line() -> argparse.Namespace:
    """The options; each peer may live in an environment of its own."""
    parser = measure.arguments("the time of a training step, ours and every peer's", 5)
    parser.add_argument("--seconds", type=float, default=1.0, help="timed a process (%(default)s)")
    names = list(WORKLOADS)
    parser.add_argument("--workloads", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), metavar="NAME",
                        help=f"only these of: {'; '.join(PEERS)}")  # fmt: skip
    told = "turns of ours and the fastest peers for the verdicts (%(default)s); 0: none"
    parser.add_argument("--turns", type=int, default=12, help=told)
    told = "one thread for all, and its CPU time: for a busy machine"
    parser.add_argument("--cpu-time", action="store_true", help=told)
    parser.add_argument("--quick", action="store_true", help="one short round of fewer peers")
    measure.peer_arguments(parser, "torch", "tf", "jax")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.turns = 1, 0.3, min(options.turns, 3)
        options.peers = options.peers or [peer for peer in PEERS if peer not in SLOW]
    options.peers = options.peers or list(PEERS)
    if options.cpu_time:  # fit keeps the time by the clock
        options.peers = [peer for peer in options.peers if PEERS[peer].mode != "fit"]
    return options


def interpreter(peer: str, options: argparse.Namespace) -> str:
    """The Python that runs this peer."""
    return measure.interpreter(PEERS[peer].modules[0], options)


def is_installed(peer: str, options: argparse.Namespace) -> bool:
    """Whether the interpreter chosen for this peer has its libraries."""
    python = interpreter(peer, options)
    return all(measure.has_module(python, module) for module in PEERS[peer].modules)


def once(peer: str, workload: str, options: argparse.Namespace) -> Answer:
    """One process; a failure is an answer too, so that no peer goes missing without a word."""
    player = player_of(peer, options)
    arguments = peer, workload, str(options.seconds), *player.clock
    try:
        return measure.run_worker(player.python, "step_worker.py", *arguments, **player.variables)
    except measure.WorkerError as error:
        return {"error": str(error)}


def player_of(peer: str, options: argparse.Namespace) -> turns.Player:
    """How this peer's process is run."""
    variables = {"CUDA_VISIBLE_DEVICES": "", **PEERS[peer].variables}
    cpu_time = getattr(options, "cpu_time", False)
    if cpu_time:
        variables |= ONE_THREAD
    return turns.Player(interpreter(peer, options), peer, variables, ("cpu",) if cpu_time else ())


def compiled_ahead(peer: str, workload: str, options: argparse.Namespace) -> None:
    """Leave the step's machine code on the disk, where every later run of it finds it.

    By default that happens within a longer run; a benchmark's is too short for it.
    """
    python = interpreter(peer, options)
    with contextlib.suppress(measure.WorkerError):
        measure.run_worker(python, "step_worker.py", peer, workload, "0.01", **{VARIABLE: "numba"})


def measured(workload: str, installed: Sequence[str], options: argparse.Namespace) -> list[Case]:
    """Every peer's case of one workload."""
    able = [peer for peer in options.peers if workload not in PEERS[peer].skips]
    runs = {p: partial(once, p, workload, options) for p in able if p in installed}
    for peer in runs:
        if is_ours(peer) and VARIABLE not in PEERS[peer].variables:
            compiled_ahead(peer, workload, options)
    answers = measure.alternate(runs, options.rounds)
    cases = [{"workload": workload, "peer": peer, **outcome(answers.get(peer))} for peer in able]
    compare(WORKLOADS.get(workload), cases, answers)
    if getattr(options, "turns", 0):
        take_turns(workload, cases, options)
    print(f"{workload}: done", file=sys.stderr, flush=True)
    return cases


def outcome(answers: Sequence[Answer] | None) -> dict[str, Any]:
    """Sum up the rounds of one peer, in microseconds."""
    if answers is None:
        return {"status": "not installed"}
    errors = [answer["error"] for answer in answers if "error" in answer]
    if errors:
        return {"status": f"failed: {errors[0].splitlines()[-1]}", "error": errors[0][-2000:]}
    spread = measure.Spread.of([answer["median"] * 1e6 for answer in answers])
    return {
        "status": "measured",
        "version": answers[0]["version"],
        "median_us": spread.median,
        "low_us": spread.low,
        "high_us": spread.high,
        "mean_us": measure.Spread.of([answer["mean"] * 1e6 for answer in answers]).median,
    }


def compare(
    workload: Workload, cases: Sequence[Case], answers: Mapping[str, Sequence[Answer]]
) -> None:
    """Add to each measured case how far its outputs are from a peer's and the ratio to the fastest.

    The outputs compared with are the first peer's that is not ours, or ours where there is none.
    """
    done = [case for case in cases if case["status"] == "measured"]
    peers = [case for case in done if not is_ours(case["peer"])]
    best = fastest(peers)
    for case in done:
        reference = (peers or done)[0]
        outputs = (answers[each["peer"]][0]["outputs"] for each in (reference, case))
        case["difference"] = difference(*outputs)
        case["same_work"] = case["difference"] <= workload.agreement
        if best is not None:
            case["over_fastest"] = case["median_us"] / best["median_us"]


def take_turns(workload: str, cases: Sequence[Case], options: argparse.Namespace) -> None:
    """Have ours and the peers that may be the fastest take turns; a failure leaves the rounds'."""
    players = {name: player_of(name, options) for name in contenders(WORKLOADS[workload], cases)}
    if len(players) < 2:
        return
    try:
        found = turns.take(players, workload, options.turns, options.seconds / 4)
    except measure.WorkerError as error:
        print(f"{workload}: {error}", file=sys.stderr)
        return
    for case in cases:
        if case["peer"] in found:
            case["turns_us"] = [seconds * 1e6 for seconds in found[case["peer"]]]


def contenders(workload: Workload, cases: Sequence[Case]) -> list[str]:
    """The names of those whose times decide the workload's verdicts."""
    done = [case for case in cases if case["status"] == "measured"]
    found = [case["peer"] for case in done if case["peer"] in (workload.ours, PLAIN)]
    for against in (workload.against, *[against for against, _ in workload.other]):
        peers = sorted(held_to(done, against), key=lambda case: case["median_us"])
        near = [c for c in peers if c["low_us"] <= CLOSE * peers[0]["median_us"]]
        found += [case["peer"] for case in near[:MOST_PEERS]]
    return list(dict.fromkeys(found)) if any(not is_ours(name) for name in found) else []


def held_to(cases: Sequence[Case], against: str) -> list[Case]:
    """The peers among the cases whose names begin with `against`."""
    return [c for c in cases if not is_ours(c["peer"]) and c["peer"].startswith(against)]


def fastest(cases: Sequence[Case]) -> Case | None:
    return min(cases, key=lambda case: case["median_us"], default=None)


def difference(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Find the largest difference between two lists of outputs, relative to their size."""
    return max(abs(a - b) / max(abs(a), abs(b), FLOOR) for a, b in zip(ours, theirs, strict=True))


# ---- verdicts ------------------------------------------------------------------------------------


def verdicts(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """One workload's: our step against the fastest peer, with and without Numba."""
    name = cases[0]["workload"]
    workload = WORKLOADS[name]
    found = [judged(cases, name, workload.ours, workload.against, workload.must, workload.wanted)]
    for against, most in workload.other:
        found.append(judged(cases, name, workload.ours, against, most, None))
    found.append(judged(cases, name, PLAIN, workload.against, workload.plain, None))
    return found


def judged(cases, name, face, against, must, wanted) -> dict[str, Any]:
    """One face of ours against the fastest of the peers whose names begin with `against`: the one
    of whose time it takes most, turn by turn where they took turns."""
    done = [case for case in cases if case["status"] == "measured"]
    ours = next((case for case in done if case["peer"] == face), None)
    peers = held_to(done, against)
    by_turns = ours is not None and "turns_us" in ours and any("turns_us" in c for c in peers)
    ratios = {}
    for case in peers if ours is not None else ():
        if not by_turns:
            ratios[case["peer"]] = ours["median_us"] / case["median_us"]
        elif "turns_us" in case:
            ratios[case["peer"]] = turns.ratio(ours["turns_us"], case["turns_us"])
    name_of_best = max(ratios, key=ratios.__getitem__, default=None)
    best = next((case for case in peers if case["peer"] == name_of_best), fastest(peers))
    ratio = ratios.get(name_of_best)
    same = all(case["same_work"] for case in [*peers, ours] if case is not None)
    return {
        "workload": name,
        "ours": face,
        "ours_us": time_of(ours, by_turns),
        "against": against or "all",
        "fastest": None if best is None else best["peer"],
        "fastest_us": time_of(best, by_turns),
        "by_turns": by_turns,
        "ratio": ratio,
        "must": must,
        "wanted": wanted,
        "same_work": same,
        "verdict": "" if ratio is None else grade(ratio, must, wanted) if same else "DIFFERS",
    }


def time_of(case: Case | None, by_turns: bool) -> float | None:
    """Its median step, in the turns or in the rounds."""
    if case is None:
        return None
    return statistics.median(case["turns_us"]) if by_turns else case["median_us"]


def grade(ratio: float, must: float, wanted: float | None) -> str:
    if wanted is not None and ratio <= wanted:
        return "wanted"
    return "ok" if ratio <= must else "MISSED"


# ---- the report ----------------------------------------------------------------------------------


def row(case: Case) -> list[str]:
    """One case as a line of the table."""
    if case["status"] != "measured":
        return [case["workload"], case["peer"], "", "", "", "", case["status"][:60]]
    ratio = case.get("over_fastest")
    return [
        case["workload"],
        case["peer"],
        milliseconds(case["median_us"]),
        f"{milliseconds(case['low_us'])} to {milliseconds(case['high_us'])}",
        "" if ratio is None else f"{ratio:.2f}",
        f"{case['difference']:.0e}" + ("" if case["same_work"] else " DIFFERS"),
        case["version"],
    ]


def milliseconds(microseconds: float | None) -> str:
    """Three digits of it, in milliseconds."""
    return "" if microseconds is None else f"{float(f'{microseconds / 1e3:.3g}'):g}"


def verdict_row(found: Mapping[str, Any]) -> list[str]:
    """One verdict as a line of the table."""
    ratio, wanted = found["ratio"], found["wanted"]
    return [
        found["workload"],
        found["ours"],
        milliseconds(found["ours_us"]),
        found["fastest"] or f"no {found['against'].replace('all', 'peer')}",
        milliseconds(found["fastest_us"]),
        "not measured" if ratio is None else f"{ratio:.2f}",
        f"{found['must']:g}",
        "" if wanted is None else f"{wanted:g}",
        found["verdict"],
    ]


def report(cases: Sequence[Case], found: Sequence[Mapping[str, Any]]) -> str:
    """The verdicts, those without Numba, all the times, and what the workloads are."""
    header = ["workload", "ours", "ms", "fastest peer", "ms", "ratio", "must", "wanted", ""]
    full = [verdict_row(each) for each in found if each["ours"] != PLAIN]
    plain = [verdict_row(each) for each in found if each["ours"] == PLAIN]
    columns = ["workload", "peer", "ms a step", "over the rounds", "of the fastest peer's",
               "outputs differ", ""]  # fmt: skip
    by_turns = any(each["by_turns"] for each in found)
    above = "Above: by turns, where ours and the fastest took them. " if by_turns else ""
    names = dict.fromkeys(case["workload"] for case in cases)
    told = "\n".join(f"- `{name}`: {WORKLOADS[name].step}" for name in names)
    return "\n\n".join(
        [
            measure.table(header, full),
            "Without Numba:",
            measure.table(header, plain),
            f"{above}All times, by rounds:",
            measure.table(columns, [row(case) for case in cases]),
            told,
        ]
    )


def main() -> None:
    """Measure every workload with every peer that is installed, and report."""
    options = command_line()
    info = measure.machine()
    installed = [peer for peer in options.peers if is_installed(peer, options)]
    groups = [measured(workload, installed, options) for workload in options.workloads]
    cases = [case for group in groups for case in group]
    found = [each for group in groups for each in verdicts(group)]
    results = {
        "seconds": options.seconds,
        "cpu_time": options.cpu_time,
        "cases": cases,
        "verdicts": found,
    }
    holds = all(each["verdict"] in ("ok", "wanted") for each in found)
    measure.publish(options, info, report(cases, found), results, holds)


if __name__ == "__main__":
    main()
