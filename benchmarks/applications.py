"""Training steps and predictions of networks of keras.applications, beside PyTorch and Keras.

ResNet50, MobileNetV2, EfficientNetB0 and ConvNeXtTiny with 16 images of 96 x 96. All start from the
same weights; the losses of the first steps and the largest scores must agree. One process
of each peer stays open, and they take turns (`turns.py`). PyTorch's networks are built by hand
(`peers/torch_networks.py`).
"""

import argparse
import contextlib
import sys
from typing import Any

import measure
import memory
import train_step
import turns
from networks import NETWORKS, workload
from peers import PEERS, is_ours

WITH = ("framework", "torch", "torch, tuned", "torch.compile", "tf.function", "keras on tf, fit")
IN_MEMORY = ("framework", "torch")


def command_line() -> argparse.Namespace:
    """The options."""
    parser = measure.arguments("networks of keras.applications, ours and every peer's", 1)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--peers", nargs="+", choices=WITH, default=list(WITH), metavar="NAME")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a turn (%(default)s)")
    parser.add_argument("--turns", type=int, default=8, help="of each peer (%(default)s)")
    parser.add_argument("--cpu-time", action="store_true", help="one thread for all, its CPU time")
    parser.add_argument("--no-memory", action="store_true", help="do not measure memory")
    measure.peer_arguments(parser, "torch", "tf")
    options = parser.parse_args()
    if options.cpu_time:  # fit keeps the time by the clock
        options.peers = [peer for peer in options.peers if PEERS[peer].mode != "fit"]
    return options


def measured(name: str, peers: list[str], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One line for each peer: the outputs of its first steps, and its medians turn by turn."""
    train_step.compiled_ahead("framework", name, options)
    found: dict[str, list[float]] = {}
    answers, processes = {}, {}
    with contextlib.ExitStack() as opened:
        for peer in peers:
            process = turns.Process(train_step.player_of(peer, options), name, options.seconds)
            opened.callback(process.close)
            try:
                answers[peer] = process.wait()
            except measure.WorkerError as error:
                print(f"{name}, {peer}: {error}", file=sys.stderr)
            else:
                processes[peer], found[peer] = process, []
        turns.play(processes, options.turns, options.seconds, found)
    reference = next(
        answer for peer, answer in answers.items() if not is_ours(peer) or len(answers) < 2
    )
    lines = []
    for peer, answer in answers.items():
        difference = train_step.difference(reference["outputs"], answer["outputs"])
        line = {
            "workload": name,
            "peer": peer,
            "version": answer["version"],
            "turns_s": found[peer],
            "difference": difference,
        }
        if "framework" in found:
            line["ours_of_it"] = turns.ratio(found["framework"], found[peer])
        lines.append(line)
    return lines


def row(line: dict[str, Any]) -> list[str]:
    """One line of the table."""
    spread = measure.Spread.of([seconds * 1e3 for seconds in line["turns_s"]])
    ratio = line.get("ours_of_it")
    same = line["difference"] <= workload(line["workload"]).agreement
    shown = "" if ratio is None or is_ours(line["peer"]) else f"{ratio:.2f}"
    differs = f"{line['difference']:.0e}" + ("" if same else " DIFFERS")
    return [line["workload"], line["peer"], spread.text(1), shown, differs, line["version"]]


def verdict(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Our time to that of the peer of whose time ours takes most."""
    name, found = lines[0]["workload"], workload(lines[0]["workload"])
    peers = [x for x in lines if not is_ours(x["peer"]) and "ours_of_it" in x]
    best = max(peers, key=lambda line: line["ours_of_it"], default=None)
    same = all(line["difference"] <= found.agreement for line in lines)
    ratio = None if best is None else best["ours_of_it"]
    grade = "" if ratio is None else train_step.grade(ratio, found.must, found.wanted)
    return {"workload": name, "fastest": best and best["peer"], "ratio": ratio,
            "verdict": grade if same else "DIFFERS"}  # fmt: skip


def main() -> None:
    """Measure and report."""
    options = command_line()
    info = measure.machine()
    peers = [peer for peer in options.peers if train_step.is_installed(peer, options)]
    names = [each for name in options.networks for each in (name, f"{name} predict")]
    groups = []
    for name in names:
        able = [p for p in peers if PEERS[p].mode != "fit" or name in NETWORKS]
        groups.append(measured(name, able, options))
        shown = verdict(groups[-1])  # a run that is stopped has shown what it measured
        print("{workload}: {ratio} of {fastest}".format_map(shown), file=sys.stderr, flush=True)
    found = [verdict(lines) for lines in groups]
    header = ["workload", "fastest peer", "ours of its time", "at most 1, wanted 0.7"]
    rows = [[x["workload"], x["fastest"] or "", "" if x["ratio"] is None else f"{x['ratio']:.2f}",
             x["verdict"]] for x in found]  # fmt: skip
    texts = [measure.table(header, rows)]
    header = ["workload", "peer", "ms", "ours of it", "outputs differ", ""]
    texts.append(measure.table(header, [row(line) for lines in groups for line in lines]))
    holds = all(x["verdict"] in ("ok", "wanted", "") for x in found)
    used = []
    if not options.no_memory:
        with_torch = [peer for peer in IN_MEMORY if peer in peers]
        used = [x for name in options.networks for x in memory.measured(name, with_torch, options)]
        header = ["workload", "peer", "MB in training", "of torch's (at most 1)"]
        rows = [[x["workload"], x["peer"], f"{x.get('beyond_mb', 0):.0f}",
                 f"{x['of_torch']:.2f}" if "of_torch" in x else ""] for x in used]  # fmt: skip
        texts.append(measure.table(header, rows))
        holds &= all(x.get("of_torch", 0) <= memory.TARGET for x in used)
    results = {"cpu_time": options.cpu_time, "cases": groups, "verdicts": found, "memory": used}
    measure.publish(options, info, "\n\n".join(texts), results, holds)


if __name__ == "__main__":
    main()
