"""All benchmarks in one run, and one report of them: `make bench`.

Writes to `--out` (benchmarks/results): NAME.md, the tables as every script prints them, with plots
where matplotlib is installed; NAME.json, all figures with machine, versions and date; the plots.
NAME is the date, or "quick" with `--quick`, which measures less and shorter.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import measure
import plots

ROOT = measure.HERE.parent


class Section(NamedTuple):
    """One script: its heading, the module's name, and arguments for a full and a quick run."""

    heading: str
    script: str
    peers: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    quick: tuple[str, ...] = ("--rounds", "1")


SECTIONS = (
    Section("Training steps", "train_step", ("torch", "tf", "jax"), ("--rounds", "2"),
            ("--quick",)),
    Section("Eager and compiled", "tiers", (), (),
            ("--rounds", "1", "--seconds", "0.3", "--workloads", "linreg", "mlp_small")),
    Section("Time to the first step", "first_step", ("torch", "tf", "jax")),
    Section("Time to the end of the first epoch", "first_run", ("torch", "tf")),
    Section("What fit costs", "fit_overhead", ("keras",)),
    Section("Predicting one row", "predict_latency", ("torch", "tf", "jax")),
    Section("Batch size and width", "scaling", ("torch", "jax"), (),
            ("--rounds", "1", "--seconds", "0.1")),
    Section("Memory", "memory", ("torch", "tf", "jax"), (),
            ("--rounds", "1", "--workloads", "transformer")),
    Section("An op beyond NumPy", "op_overhead", (), (), ("--rounds", "3")),
    Section("Import", "import_time", (), (), ("--rounds", "2")),
    Section("Updates", "update", ("torch",), (), ("--rounds", "1", "--seconds", "0.1")),
    Section("Jacobians", "jacobian", ("tf", "jax"), (), ("--rounds", "1", "--seconds", "0.2")),
)  # fmt: skip


def command_line() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="all benchmarks, and one report of them")
    parser.add_argument("--quick", action="store_true", help="less and shorter, some minutes")
    parser.add_argument("--rounds", type=int, help="alternating runs of each script")
    names = [section.script for section in SECTIONS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="SCRIPT")
    folder = measure.HERE / "results"
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=folder)
    parser.add_argument("--name", help="of the files (default: the date, or quick)")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a target is missed")
    measure.peer_arguments(parser, *measure.INTERPRETERS)
    return parser.parse_args()


def run(section: Section, options: argparse.Namespace) -> dict[str, Any]:
    """One script's text and figures, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        command = [sys.executable, str(measure.HERE / f"{section.script}.py"), "--check"]
        command += [*(section.quick if options.quick else section.full), "--json", str(figures)]
        command += [] if options.rounds is None else ["--rounds", str(options.rounds)]
        for short in section.peers:
            command += [f"--{short}-python", getattr(options, measure.INTERPRETERS[short])]
        began = time.perf_counter()
        done = subprocess.run(
            command, env=measure.environment(), stdout=subprocess.PIPE, text=True, check=False
        )
        found = {"seconds": time.perf_counter() - began, "promises_hold": done.returncode == 0}
        if not figures.exists():
            return {**found, "error": f"{section.script}.py ended with {done.returncode}"}
        _, _, text = done.stdout.partition("\n\n")  # after the line that describes the machine
        return {**found, "text": text.strip(), **json.loads(figures.read_text())}


def versions(options: argparse.Namespace) -> dict[str, str | None]:
    """What is installed of what is measured, by name."""
    wanted = {"numpy": sys.executable, "numba": sys.executable, "torch": options.torch,
              "tensorflow": options.tensorflow, "tensorflow-cpu": options.tensorflow,
              "jax": options.jax, "keras": options.keras}  # fmt: skip
    found = {package: version(python, package) for package, python in wanted.items()}
    return {"python": platform.python_version(), **found}


def version(python: str, package: str) -> str | None:
    """Of the package installed there; None where there is none."""
    code = (
        "import importlib.metadata as m, sys\n"
        "try: print(m.version(sys.argv[1]))\n"
        "except m.PackageNotFoundError: print('')"
    )
    try:
        done = measure.run([python, "-c", code, package], measure.environment())
    except measure.WorkerError:
        return None
    return done.stdout.strip() or None


def commit() -> str | None:
    """Which state of the code was measured."""
    try:
        done = measure.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], {})
    except measure.WorkerError:
        return None
    return done.stdout.strip() or None


def markdown(info, results, pictures) -> str:
    """The report."""
    told = ", ".join(f"{name} {version}" for name, version in info["versions"].items() if version)
    absent = [name for name, version in info["versions"].items() if not version]
    if info["versions"].get("tensorflow") or info["versions"].get("tensorflow-cpu"):
        absent = [name for name in absent if not name.startswith("tensorflow")]
    lines = ["# Benchmarks", f"{info['date']}: {measure.describe(info)}.  ", f"{told}.  "]
    if absent:
        lines.append(f"Not installed: {', '.join(absent)}.  ")
    if info["commit"]:
        lines.append(f"Commit {info['commit']}.")
    parts = ["\n".join(lines)]
    for section in SECTIONS:
        found = results.get(section.script)
        if found is None:
            continue
        parts.append(f"## {section.heading}")
        parts += [f"![{name}]({name})" for name in pictures.get(section.script, ())]
        parts.append(found.get("text") or f"Failed: {found['error']}.")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure, write, say where."""
    options = command_line()
    info = {**measure.machine(), "commit": commit(), "versions": versions(options)}
    name = options.name or ("quick" if options.quick else info["date"][:10])
    options.out.mkdir(parents=True, exist_ok=True)
    results = {}
    for section in SECTIONS:
        if section.script not in options.only:
            continue
        print(f"== {section.heading}", flush=True)
        results[section.script] = found = run(section, options)
        print(found.get("text") or found["error"], end="\n\n", flush=True)
        pictures = plots.draw(results, options.out, name)
        document = {"machine": info, "quick": options.quick, "results": results}
        for kind, text in (
            ("json", json.dumps(document, indent=1) + "\n"),
            ("md", markdown(info, results, pictures)),
        ):
            (options.out / f"{name}.{kind}").write_text(text)
    print(f"The report: {options.out / name}.md")
    held = all(found["promises_hold"] for found in results.values())
    sys.exit(1 if options.check and not held else 0)


if __name__ == "__main__":
    main()
