"""Pictures of the figures, where matplotlib is installed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Results = dict[str, Any]

OURS, PEER = "#d1495b", "#6c8ebf"


def draw(results: Results, folder: Path, name: str) -> dict[str, list[str]]:
    """Write the pictures of what was measured; their files' names, by script."""
    try:
        import matplotlib as mpl
    except ImportError:
        return {}
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    found: dict[str, list[str]] = {}
    for script, picture in PICTURES.items():
        if "error" in results.get(script, {"error": ""}):
            continue
        figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
        if picture(axes, results[script]):
            file = f"{name}-{script}.png"
            figure.savefig(folder / file, dpi=90, metadata={"Software": None})
            found[script] = [file]
        plt.close(figure)
    return found


def steps(axes, result: Results) -> bool:
    """The ratio to the fastest peer of each workload, with what it must and is wanted to be."""
    full = [v for v in result["verdicts"] if v["wanted"] is not None and v["ratio"] is not None]
    if not full:
        return False
    names = [verdict["workload"] for verdict in full]
    places = range(len(full))
    axes.bar(places, [verdict["ratio"] for verdict in full], 0.6, color=OURS)
    for place, verdict in zip(places, full, strict=True):
        for value, style in ((verdict["must"], "-"), (verdict["wanted"], ":")):
            axes.hlines(value, place - 0.4, place + 0.4, colors="black", linestyles=style)
        axes.annotate(
            f"{verdict['fastest']}\n{verdict['fastest_us'] / 1e3:.3g} ms", (place, 0.02),
            ha="center", va="bottom", fontsize=7, rotation=90,
        )  # fmt: skip
    axes.axhline(1, color=PEER)
    axes.set_xticks(list(places), names, rotation=20)
    axes.set_ylabel("our step / fastest peer's")
    axes.set_title("One training step (solid line: must, dotted: wanted)")
    return True


def scaling(axes, result: Results) -> bool:
    """Milliseconds by batch at width 128, and by width at batch 64."""
    drawn = False
    cases = [case for case in result["cases"] if "median_us" in case]
    peers = list(dict.fromkeys(case["peer"] for case in cases))
    colours = dict(zip(peers, (OURS, PEER, "#5b8c5a"), strict=False))
    lines = (("width", 128, "batch", "-o"), ("batch", 64, "width", "--s"))
    for fixed, value, varied, style in lines:
        for peer in peers:
            line = [c for c in cases if c["peer"] == peer and c[fixed] == value]
            points = sorted((case[varied], case["median_us"] / 1e3) for case in line)
            label = f"{peer}, by {varied}"
            axes.loglog(*zip(*points, strict=True), style, label=label, color=colours[peer])
            drawn = True
    axes.set_xlabel("rows a batch at width 128, or width at 64 rows")
    axes.set_ylabel("ms a step")
    axes.legend(fontsize=7)
    return drawn


def bars(result: dict[str, float], label: str) -> Callable:
    """Horizontal bars by name."""

    def picture(axes) -> bool:
        names = list(result)[::-1]
        colours = [OURS if name.startswith("framework") else PEER for name in names]
        axes.barh(names, [result[name] for name in names], color=colours)
        axes.set_xlabel(label)
        return bool(result)

    return picture


def first_step(axes, result: Results) -> bool:
    times = {name: found["seconds"]["median"] for name, found in result["first_step"].items()}
    return bars(times, "s from the start of the process to the end of fit's first step")(axes)


def memory(axes, result: Results) -> bool:
    used = {
        f"{case['peer']}: {case['workload']}": case["beyond_mb"]
        for case in sorted(result["cases"], key=lambda case: case["workload"])
        if "beyond_mb" in case
    }
    return bars(used, "MB at the peak of training, beyond the loaded library")(axes)


PICTURES = {
    "train_step": steps,
    "scaling": scaling,
    "first_step": first_step,
    "memory": memory,
}
