"""How a step grows with the batch and with the width: 784-WIDTH-10 beside torch and JAX."""

import sys
from functools import partial

import measure
import train_step
from peers import PEERS, is_ours

BATCHES = (1, 16, 64, 256, 1024)  # at width 128
WIDTHS = (32, 128, 512, 2048)  # at batch 64
WITH = ("framework", "torch", "jax.jit")


def main() -> None:
    """Measure and report."""
    parser = measure.arguments("a step of 784-WIDTH-10 by batch and by width", 3)
    parser.add_argument("--seconds", type=float, default=0.5, help="timed a process (%(default)s)")
    measure.peer_arguments(parser, "torch", "jax")
    options = parser.parse_args()
    info = measure.machine()
    peers = [peer for peer in WITH if train_step.is_installed(peer, options)]
    points = dict.fromkeys([(128, batch) for batch in BATCHES] + [(width, 64) for width in WIDTHS])
    cases = []
    for width, batch in points:
        name = f"scaled-{width}-{batch}"
        runs = {peer: partial(train_step.once, peer, name, options) for peer in peers}
        for peer, answers in measure.alternate(runs, options.rounds).items():
            case = {"width": width, "batch": batch, "peer": peer}
            cases.append({**case, **train_step.outcome(answers)})
        print(f"{name}: done", file=sys.stderr, flush=True)
    by_batch = lines(cases, [(128, batch) for batch in BATCHES], peers)
    by_width = lines(cases, [(width, 64) for width in WIDTHS], peers)
    header = ["width", "batch", *(f"{peer}, ms" for peer in peers), "of the fastest peer's"]
    tables = [measure.table(header, found) for found in (by_batch, by_width)]
    missing = [f"{peer}: not installed" for peer in WITH if peer not in peers]
    text = "\n\n".join([*tables, *missing])
    measure.publish(options, info, text, {"cases": cases, "peers": list(PEERS)}, True)


def lines(cases, points, peers) -> list[list[str]]:
    """A line for each width and batch."""
    found = []
    for width, batch in points:
        here = {c["peer"]: c for c in cases if (c["width"], c["batch"]) == (width, batch)}
        times = {peer: here[peer].get("median_us") for peer in peers}
        others = [t for peer, t in times.items() if t is not None and not is_ours(peer)]
        ours = times["framework"]
        ratio = f"{ours / min(others):.2f}" if others and ours is not None else ""
        cells = [train_step.milliseconds(times[peer]) or "failed" for peer in peers]
        found.append([str(width), str(batch), *cells, ratio])
    return found


if __name__ == "__main__":
    main()
