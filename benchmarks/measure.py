"""What every benchmark shares: clean processes, alternation, medians with spread, tables and JSON.

Standard library only, so that it runs unchanged in any peer's interpreter.
"""

import argparse
import datetime as dt
import functools
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

HERE = Path(__file__).resolve().parent

# Some environments pin OpenBLAS to an older CPU, which halves NumPy's speed: not while we measure.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

Measured = TypeVar("Measured")


class WorkerError(RuntimeError):
    """A measuring process that did not answer; the message is what it wrote instead."""


@dataclass(frozen=True)
class Spread:
    """The median of several measurements, and the lowest and highest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))

    def text(self, digits: int) -> str:
        """The median, and in brackets the lowest and highest."""
        median, low, high = (f"{value:.{digits}f}" for value in asdict(self).values())
        return f"{median} ({low} to {high})"


@dataclass(frozen=True)
class Verdict:
    """A measured value beside the most it may be; no target means that it is only reported."""

    measured: float
    target: float | None

    @property
    def holds(self) -> bool:
        return self.target is None or self.measured <= self.target

    def text(self) -> str:
        if self.target is None:
            return ""
        return "ok" if self.holds else "MISSED"


def environment(**extra: str) -> dict[str, str]:
    """This process's environment for a child: BLAS left to itself, this checkout importable."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    paths = [str(HERE.parent), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), **extra}


def run_worker(python: str, script: str, *arguments: str, **extra: str) -> dict[str, Any]:
    """Run a script of this folder in a fresh process and return what it passed to `answer`."""
    command = [python, str(HERE / script), *arguments]
    done = run(command, environment(**extra))
    if done.returncode != 0:
        raise WorkerError(done.stderr.strip() or f"exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


@functools.cache
def has_module(python: str, module: str) -> bool:
    """Whether that interpreter runs and would find the module, which is not loaded."""
    seek = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    try:
        return run([python, "-c", seek, module], environment()).returncode == 0
    except WorkerError:
        return False


def run(command: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it says, whatever its exit code."""
    try:
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    except OSError as error:
        raise WorkerError(f"cannot run the interpreter: {error.strerror}") from error


def answer(result: Mapping[str, Any]) -> None:
    """In a worker: hand the result to the process that waits for it."""
    print(json.dumps(result), flush=True)


def alternate(runs: Mapping[str, Callable[[], Measured]], rounds: int) -> dict[str, list[Measured]]:
    """Run everything once a round, each round starting one place later, and collect the results.

    What drifts (clock frequency, a neighbour on the machine) then meets all alike.
    """
    results: dict[str, list[Measured]] = {name: [] for name in runs}
    names = list(runs)
    for round_number in range(rounds):
        first = round_number % max(len(names), 1)
        for name in names[first:] + names[:first]:
            results[name].append(runs[name]())
    return results


def machine() -> dict[str, Any]:
    """CPU, operating system and how busy the machine is (so ask first); nothing that names it."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_at_start": load,
        "date": dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def cpu_name() -> str:
    """The CPU's model name where Linux tells it, otherwise what `platform` knows."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, in columns as wide as their widest cell, to be read as it is too."""
    lines = [header, *rows]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(header))]
    ruled = [header, ["-" * width for width in widths], *rows]
    padded = (
        " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in ruled
    )
    return "\n".join(f"| {line} |" for line in padded)


def arguments(purpose: str, rounds: int) -> argparse.ArgumentParser:
    """The command line that all benchmarks have in common."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--rounds", type=int, default=rounds, help="alternating runs (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a target is missed")
    return parser


# The options that name peers' interpreters, and the module that each is asked for.
INTERPRETERS = {"torch": "torch", "tf": "tensorflow", "jax": "jax", "keras": "keras"}


def peer_arguments(parser: argparse.ArgumentParser, *shorts: str) -> None:
    """Options for the Pythons that have the peers; environment variables may name them instead."""
    everything = os.environ.get("BENCH_PEERS_PYTHON", sys.executable)
    for short in shorts:
        variable = f"BENCH_{short.upper()}_PYTHON"
        told = f"interpreter that has {INTERPRETERS[short]} (${variable}, $BENCH_PEERS_PYTHON)"
        path = os.environ.get(variable, everything)
        flag = f"--{short}-python"
        parser.add_argument(flag, dest=INTERPRETERS[short], default=path, metavar="PATH", help=told)


def interpreter(module: str, options: argparse.Namespace) -> str:
    """The Python that is to have the module: what its option says, for us this one."""
    return getattr(options, module, sys.executable)


def publish(
    options: argparse.Namespace,
    info: Mapping[str, Any],
    text: str,
    results: Mapping[str, Any],
    holds: bool,
) -> NoReturn:
    """Print the table, write the JSON, and end the process with the exit code that is due."""
    print(describe(info), text, sep="\n\n")
    if options.json:
        report = {"machine": info, "rounds": options.rounds, **results}
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")
    sys.exit(1 if options.check and not holds else 0)


def describe(info: Mapping[str, Any]) -> str:
    """The machine in one line."""
    line = "{cpu}, {cpus} CPUs, {system}, Python {python}".format(**info)
    load = info["load_at_start"]
    return line if load is None else f"{line}, load {load:.1f}"
