"""The measuring process of memory.py: `memory_worker.py PEER WORKLOAD`, answers in megabytes.

Before a process notes what it holds, glibc returns the freed memory that it keeps for later. So
this memory, which another peer may keep or not, does not count for or against a peer.
"""

import contextlib
import ctypes
import dataclasses
import gc
import importlib
import resource
import sys
from pathlib import Path

import measure
from peers import PEERS
from workloads import named

STEPS = 4
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def status(name: str) -> float:
    """A line of the process's status, in MB."""
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def peak() -> float:
    if STATUS.exists():
        return status("VmHWM")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (1024**2 if sys.platform == "darwin" else 1024)


def return_freed_memory() -> None:
    """Let the C library return the memory that it does not use, if it is glibc."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def train(library, workload, problem) -> None:
    """Some steps, on one batch."""
    step = library.step(workload, problem)
    batch = tuple(map(library.tensor, problem.batches[0]))
    for _ in range(STEPS):
        library.wait(step(*batch))


def main() -> None:
    """Load everything on one row, note what is held, train on a batch."""
    name, workload = sys.argv[1:3]
    peer = PEERS[name]
    library = importlib.import_module(f"peers.{peer.file}").library(peer.mode)
    whole = named(workload).problem()
    problem = dataclasses.replace(whole, batches=whole.batches[:1])
    del whole
    row = tuple(part[:1] for part in problem.batches[0])
    train(library, workload, dataclasses.replace(problem, batches=[row]))
    gc.collect()
    return_freed_memory()
    loaded = status("VmRSS") if STATUS.exists() else peak()
    if RESET.exists():
        RESET.write_text("5")  # the peak begins anew
    train(library, workload, problem)
    highest = peak()
    measure.answer(
        {
            "loaded": loaded,
            "peak": highest,
            "beyond": highest - loaded,
            "version": library.version,
        }
    )


if __name__ == "__main__":
    main()
