"""Rows per second of input pipelines, ours beside tf.data's, torch's DataLoader and Keras's arrays.

Each library is one process that stays open. The processes take turns, case by case: in a turn one
runs whole epochs for `--seconds`. Compared are the medians over the rounds. The mean of the first
array of an epoch shows that all deliver the same data.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any

import measure
from data_files import SPEC
from train_step import ONE_THREAD

# name of the peer: (module that its interpreter must have, environment variables)
PEERS = {
    "ours": (None, {}),
    "tf_data": ("tensorflow", {}),
    "torch_loader-0": ("torch", {}),
    "torch_loader-2": ("torch", {}),
    "torch_loader-bulk": ("torch", {}),
    "keras_arrays": ("keras", {"KERAS_BACKEND": "jax"}),
}
# The least that our rows per second may be, in those of the fastest peer; a step in ms for overlap.
LEAST = {"mnist": 2.0, "cifar": 2.0, "jpeg": 1.0, "text": 1.0, "csv": 1.0, "hdf5": 1.0,
         "parquet": 1.0}  # fmt: skip
MOST_MS, MOST_MEMORY_MB, MOST_EPOCH = 5.5, 300, 0.6
# how far the means of the first arrays may differ: those of 20 shuffled batches do
MEANS = {"mnist": 0.02, "jpeg": 1e-3, "csv": 0.02, "hdf5": 1e-4, "parquet": 0.02, "cifar": 0.1}
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


class Player:
    """A process of data_worker.py that answers a line with a line."""

    def __init__(self, python: str, peer: str, folder: str, variables: dict[str, str]) -> None:
        command = [python, str(measure.HERE / "data_worker.py"), peer, folder]
        self._process = subprocess.Popen(
            command, env=measure.environment(**variables), text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.about = self._answer()

    def ask(self, case: str, how: str, clock: str = "wall") -> dict[str, Any]:
        """Run a case and return what the process answers."""
        print(case, how, clock, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # libraries may write something, too
                return json.loads(line)
        raise measure.WorkerError("a process has ended")

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


def command_line() -> argparse.Namespace:
    """The options; each peer may live in an environment of its own."""
    parser = measure.arguments("input pipelines, ours and those of peers", 5)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn (%(default)s)")
    cases = [*LEAST, "overlap", "memory", "epoch"]
    parser.add_argument("--cases", nargs="+", choices=cases, default=cases, metavar="CASE")
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--folder", help="where the inputs are made, and stay (a temporary one)")
    parser.add_argument("--mnist", default="", help="mnist.npz; made-up images without it")
    told = "one thread for all, and its CPU time: for a busy machine; not for several processes"
    parser.add_argument("--cpu-time", action="store_true", help=told)
    measure.peer_arguments(parser, "torch", "tf", "keras")
    options = parser.parse_args()
    if options.cpu_time:
        options.peers = [peer for peer in options.peers if peer != "torch_loader-2"]
        options.cases = [case for case in options.cases if case not in ("overlap", "epoch")]
    return options


def python_of(peer: str, options: argparse.Namespace) -> str:
    """The interpreter of a peer; ours is this one."""
    module = PEERS[peer][0]
    return sys.executable if module is None else measure.interpreter(module, options)


def measured(players: dict[str, Player], options: argparse.Namespace) -> dict[str, Any]:
    """Return {case: {peer: [answer of each round]}}."""
    found, clock = {}, "cpu" if options.cpu_time else "wall"
    for case in options.cases:
        able = [name for name, player in players.items() if case in player.about["cases"]]
        if not able:
            continue
        runs = {n: partial(players[n].ask, case, str(options.seconds), clock) for n in able}
        if case in MEANS:
            means = {n: players[n].ask(case, "mean") for n in able}
        answers = measure.alternate(runs, options.rounds)
        if case in MEANS:
            for name in able:
                answers[name][0]["mean"] = means[name].get("mean")
        found[case] = answers
        print(f"{case}: done", file=sys.stderr, flush=True)
    return found


def summed_up(case: str, answers: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """One entry for each peer of a case, with its ratio to the fastest peer."""
    rows = []
    for name, each in answers.items():
        errors = [answer["error"] for answer in each if "error" in answer]
        row: dict[str, Any] = {"case": case, "peer": name}
        if errors:
            row["error"] = errors[0]
        else:
            key = "ms" if "ms" in each[0] else "rows_per_s"
            spread = measure.Spread.of([answer[key] for answer in each])
            row |= {"unit": key, "median": spread.median, "low": spread.low, "high": spread.high}
            row["mean"] = each[0].get("mean")
        rows.append(row)
    return rows


def verdict(case: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Our figure against the fastest peer's, or against the limit."""
    done = {row["peer"]: row for row in rows if "median" in row}
    ours, peers = done.get("ours"), [row for name, row in done.items() if name != "ours"]
    found: dict[str, Any] = {"case": case, "least": LEAST.get(case)}
    if ours is None:
        return {**found, "verdict": "NOT MEASURED"}
    if case == "overlap":
        holds = ours["median"] <= MOST_MS
        return {**found, "ours": ours["median"], "verdict": "ok" if holds else "MISSED"}
    if not peers:
        return {**found, "ours": ours["median"], "verdict": ""}
    best = max(peers, key=lambda row: row["median"])
    ratio = ours["median"] / best["median"]
    found |= {"ours": ours["median"], "fastest": best["peer"], "peer": best["median"]}
    same = case not in MEANS or all(
        abs(row["mean"] - ours["mean"]) <= MEANS[case] * max(abs(ours["mean"]), 1) for row in peers
    )
    word = "ok" if ratio >= LEAST[case] else "MISSED"
    return {**found, "ratio": ratio, "verdict": word if same else "DIFFERS"}


def text_of(rows: list[dict[str, Any]], verdicts: list[dict[str, Any]]) -> str:
    """Return both tables."""
    head = ["case", "ours", "fastest peer", "its", "ratio", "at least", ""]
    lines = [
        [v["case"], number(v.get("ours")), v.get("fastest", ""), number(v.get("peer")),
         f"{v['ratio']:.2f}" if "ratio" in v else "", str(v["least"] or ""), v["verdict"]]
        for v in verdicts
    ]  # fmt: skip
    every = [
        [r["case"], r["peer"], r["error"][:60], ""] if "error" in r else
        [r["case"], r["peer"], f"{number(r['median'])} {r['unit']}",
         f"{number(r['low'])} to {number(r['high'])}"]
        for r in rows
    ]  # fmt: skip
    return "\n\n".join(
        [measure.table(head, lines), measure.table(["case", "library", "median", "rounds"], every)]
    )


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def memory(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Our memory over an epoch of the file of 4 GB, in a process of its own."""
    script = "data_worker.py"
    found = measure.run_worker(sys.executable, script, "ours", folder, "hdf5")["memory_mb"]
    word = "ok" if found <= MOST_MEMORY_MB else "MISSED"
    return {"case": "memory, MB", "ours": found, "least": None, "verdict": word}


def epoch(options: argparse.Namespace, folder: str) -> tuple[list[Any], list[Any]]:
    """An epoch of MNIST from files to the accuracy: the first in a process, and the next.

    The machine code of our step is on the disk then, where a longer run leaves it by itself.
    """
    modes = {"ours": "ours", "tf_data": "keras", "torch_loader-0": "torch", "keras_arrays": "keras"}
    runs = {}
    script = "data_epoch.py"
    with contextlib.suppress(measure.WorkerError):  # without Numba there is no machine code
        measure.run_worker(sys.executable, script, "ours", folder, FRAMEWORK_COMPILE="numba")
    for peer in [p for p in options.peers if p in modes]:
        backend = {"KERAS_BACKEND": "tensorflow"} if peer == "tf_data" else PEERS[peer][1]
        runs[peer] = lambda p=peer, b=backend: measure.run_worker(
            python_of(p, options), script, modes[p], folder, **QUIET, **b
        )
    answers = measure.alternate(runs, options.rounds)
    rows, verdicts = [], []
    for which in ("first", "next"):
        case = f"epoch, s, {which}"
        spreads = {p: measure.Spread.of([a[which] for a in found]) for p, found in answers.items()}
        rows += [
            {"case": case, "peer": p, "unit": "s", "median": s.median, "low": s.low, "high": s.high}
            for p, s in spreads.items()
        ]
        peers = {p: s.median for p, s in spreads.items() if p != "ours"}
        found = {"case": case, "ours": spreads["ours"].median, "least": None, "verdict": ""}
        if peers:
            best = min(peers, key=peers.__getitem__)
            ratio = spreads["ours"].median / peers[best]
            found |= {"fastest": best, "peer": peers[best], "ratio": ratio}
            found["verdict"] = "ok" if ratio <= MOST_EPOCH else "MISSED"
        verdicts.append(found)
    return rows, verdicts


def main() -> None:
    """Make the inputs, measure, and report."""
    options = command_line()
    info = measure.machine()
    with contextlib.ExitStack() as opened:
        folder = options.folder or opened.enter_context(tempfile.TemporaryDirectory())
        maker = python_of("keras_arrays", options)
        done = measure.run([maker, str(measure.HERE / "data_files.py"), folder, options.mnist],
                           measure.environment())  # fmt: skip
        assert done.returncode == 0, done.stderr
        players = {}
        for peer in options.peers if set(options.cases) & {*LEAST, "overlap"} else ():
            module, variables = PEERS[peer]
            if module is None or measure.has_module(python_of(peer, options), module):
                python = python_of(peer, options)
                variables = {**QUIET, **variables, **(ONE_THREAD if options.cpu_time else {})}
                players[peer] = Player(python, peer, folder, variables)
                opened.callback(players[peer].close)
        answers = measured(players, options)
        rows = [row for case in answers for row in summed_up(case, answers[case])]
        verdicts = [verdict(case, [row for row in rows if row["case"] == case]) for case in answers]
        if "memory" in options.cases:
            verdicts.append(memory(options, folder))
        if "epoch" in options.cases:
            more, judged = epoch(options, folder)
            rows, verdicts = rows + more, verdicts + judged
    holds = all(each["verdict"] in ("ok", "") for each in verdicts)
    about = {name: player.about["version"] for name, player in players.items()}
    results = {"rows": SPEC, "versions": about, "cases": rows, "verdicts": verdicts}
    measure.publish(options, info, text_of(rows, verdicts), results, holds)


if __name__ == "__main__":
    main()
