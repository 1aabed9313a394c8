"""The time of batch_jacobian and of a full Hessian, eager, beside TensorFlow's and JAX's.

Each round runs one fresh process for each library and case, in turn (see `jacobian_worker.py`); the
figure is the median over the rounds of the median time of a call.
"""

import argparse
from functools import partial
from typing import Any

import measure

CASES = {
    "batch_jacobian": "64-64-64-64, tanh, batch 32: 64 x 64 for each example",
    "hessian": "7-27-27-1, tanh, batch 32: 1,000 x 1,000, in blocks by weight",
}
PEERS = {"framework": "framework", "tf eager": "tensorflow", "jax.jit": "jax"}
TARGETS = {"tf eager": 0.2, "jax.jit": 2.0}  # the most that our time may be of theirs
AGREEMENT = 1e-4  # the most that results may differ, of the largest number in them


def command_line() -> argparse.Namespace:
    """The options; each peer may live in an environment of its own."""
    parser = measure.arguments("batch_jacobian and the Hessian, ours and every peer's", 5)
    parser.add_argument("--seconds", type=float, default=1.0, help="timed a process (%(default)s)")
    measure.peer_arguments(parser, "tf", "jax")
    return parser.parse_args()


def is_installed(peer: str, options: argparse.Namespace) -> bool:
    return measure.has_module(measure.interpreter(PEERS[peer], options), PEERS[peer])


def measured(case: str, peers: list[str], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One line of the report for each peer."""
    runs = {
        peer: partial(
            measure.run_worker, measure.interpreter(PEERS[peer], options), "jacobian_worker.py",
            peer, case, str(options.seconds),
        )
        for peer in peers
    }  # fmt: skip
    answers = measure.alternate(runs, options.rounds)
    ours = answers["framework"]
    found = []
    for peer, given in answers.items():
        spread = measure.Spread.of([answer["median"] * 1e3 for answer in given])
        mine = measure.Spread.of([answer["median"] * 1e3 for answer in ours]).median
        found.append(
            {
                "case": case, "peer": peer, "version": given[0]["version"],
                "median_ms": spread.median, "low_ms": spread.low, "high_ms": spread.high,
                "least_ms": min(answer["least"] for answer in given) * 1e3,
                "ours_over_peer": mine / spread.median, "target": TARGETS.get(peer),
                "same": same(ours[0], given[0]),
            }
        )  # fmt: skip
    return found


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether the numbers shown agree."""
    largest = max(map(abs, theirs["outputs"]))
    pairs = zip(ours["outputs"], theirs["outputs"], strict=True)
    return ours["size"] == theirs["size"] and all(
        abs(a - b) <= AGREEMENT * largest for a, b in pairs
    )


def verdict(line: dict[str, Any]) -> measure.Verdict:
    return measure.Verdict(line["ours_over_peer"], line["target"])


def row(line: dict[str, Any]) -> list[str]:
    """One line of the table."""
    return [
        line["case"],
        line["peer"],
        f"{line['median_ms']:.2f}",
        f"{line['low_ms']:.2f} to {line['high_ms']:.2f}",
        f"{line['least_ms']:.2f}",
        f"{line['ours_over_peer']:.2f}",
        "" if line["target"] is None else f"{line['target']:g}",
        "yes" if line["same"] else "NO",
        verdict(line).text(),
        line["version"],
    ]


def main() -> None:
    """Measure every case with every peer that is installed, and report."""
    options = command_line()
    info = measure.machine()
    peers = [peer for peer in PEERS if is_installed(peer, options)]
    lines = [line for case in CASES for line in measured(case, peers, options)]
    header = ["case", "peer", "ms a call", "over the rounds", "least", "ours / peer", "at most",
              "same", "", ""]  # fmt: skip
    cases = "\n".join(f"{name}: {text}" for name, text in CASES.items())
    missing = [f"{p}: not installed" for p in PEERS if p not in peers]
    text = "\n\n".join([measure.table(header, [row(line) for line in lines]), cases, *missing])
    holds = all(line["same"] and verdict(line).holds for line in lines)
    measure.publish(options, info, text, {"seconds": options.seconds, "cases": lines}, holds)


if __name__ == "__main__":
    main()
