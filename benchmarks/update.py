"""The time of an optimizer's update alone, by NumPy and by compiled loops, beside PyTorch's.

CPU time of one thread for all. Each round runs one fresh process for each way and model in turn
(see `update_worker.py`); the figure is the median over the rounds of the median time of an update.
"""

import argparse
from functools import partial
from typing import Any

import measure

MODELS = {
    "mlp_small": "0.1 million parameters in 4 variables",
    "transformer": "0.4 million in 30",
    "cnn": "1.2 million in 8",
    "mlp_wide": "25 million in 6",
}
PEERS = {
    "numpy": "framework", "loops": "framework", "torch fused": "torch", "torch foreach": "torch",
    "torch": "torch",
}  # fmt: skip


def command_line() -> argparse.Namespace:
    """The options; PyTorch may live in an environment of its own."""
    parser = measure.arguments("an optimizer's update alone, beside PyTorch's", 3)
    parser.add_argument("--optimizer", default="Adam", help="a class of ours (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="timed a process (%(default)s)")
    measure.peer_arguments(parser, "torch")
    return parser.parse_args()


def ways(options: argparse.Namespace) -> list[str]:
    """The ways that can be measured here: PyTorch's for Adam only."""
    return [
        peer
        for peer, module in PEERS.items()
        if module == "framework"
        or (options.optimizer == "Adam" and measure.has_module(options.torch, module))
    ]


def measured(model: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One line of the report for each way."""
    runs = {
        peer: partial(
            measure.run_worker, measure.interpreter(PEERS[peer], options), "update_worker.py",
            peer, model, options.optimizer, str(options.seconds),
            OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1",
        )
        for peer in ways(options)
    }  # fmt: skip
    found = []
    for peer, given in measure.alternate(runs, options.rounds).items():
        spread = measure.Spread.of([answer["median"] * 1e3 for answer in given])
        found.append(
            {
                "model": model, "way": peer, "version": given[0]["version"],
                "median_ms": spread.median, "low_ms": spread.low, "high_ms": spread.high,
            }
        )  # fmt: skip
    return found


def row(line: dict[str, Any]) -> list[str]:
    """One line of the table."""
    return [
        line["model"],
        line["way"],
        f"{line['median_ms']:.3f}",
        f"{line['low_ms']:.3f} to {line['high_ms']:.3f}",
        line["version"],
    ]


def main() -> None:
    """Measure every model in every way, and report."""
    options = command_line()
    info = measure.machine()
    lines = [line for model in MODELS for line in measured(model, options)]
    table = measure.table(["model", "way", "ms", "over the rounds", ""], list(map(row, lines)))
    models = "\n".join(f"{name}: {text}" for name, text in MODELS.items())
    results = {"optimizer": options.optimizer, "updates": lines}
    measure.publish(options, info, f"{options.optimizer}\n\n{table}\n\n{models}", results, True)


if __name__ == "__main__":
    main()
