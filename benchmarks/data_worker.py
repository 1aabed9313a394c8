"""One library's pipelines for `data.py`: answers each line of a case with its rows per second.

python data_worker.py PEER FOLDER         # then lines: CASE SECONDS CLOCK, or CASE "mean" CLOCK
python data_worker.py PEER FOLDER CASE    # one epoch, and the memory that it took
"""

import importlib
import sys
import time
from pathlib import Path

import measure

BATCHES = 20  # of which the mean is taken
LONGEST = 10  # seconds, after which an epoch ends early
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def library(peer, folder):
    """Return the version and the cases of a peer, such as "torch_loader-2"."""
    name, *words = peer.split("-")
    module = importlib.import_module(f"pipelines.{name}")
    return module.VERSION, module.Cases(folder, *words)


def first_of(batch):
    """Return the first array of a batch."""
    while isinstance(batch, (tuple, list, dict)):
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return batch


def rate(make, seconds, clock):
    """Return the rows per second of whole epochs, of the time by `clock`."""
    rows = 0
    data = make()
    for _ in zip(data, range(3)):  # what only the first iteration does
        pass
    begin, started = clock(), time.perf_counter()
    while time.perf_counter() < started + seconds:
        batches = iter(data)
        if batches is data:  # a generator is over after an epoch
            batches = make()
        for batch in batches:
            rows += int(first_of(batch).shape[0])
            if time.perf_counter() > started + LONGEST:
                break
    return {"rows_per_s": rows / (clock() - begin)}


def mean_of(make):
    """Return the mean of the first arrays: whether all deliver the same data."""
    import numpy as np

    total = size = 0
    for number, batch in enumerate(make()):
        array = np.asarray(first_of(batch))
        total, size = total + array.sum(dtype=np.float64), size + array.size
        if number == BATCHES:
            break
    return {"mean": float(total / size)}


def memory(make):
    """Return the memory of one epoch beyond that at its start, in MB."""
    resident = {}
    for when in ("before", "after"):
        text = Path("/proc/self/status").read_text()
        lines = [line.split() for line in text.splitlines() if "kB" in line]
        resident[when] = {name.rstrip(":"): int(value) / 1024 for name, value, _ in lines}
        if when == "before":
            Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM to the present
            for _ in make():
                pass
    return {"memory_mb": resident["after"]["VmHWM"] - resident["before"]["VmRSS"]}


def answered(cases, case, how, clock):
    """Return the answer to one line."""
    make = getattr(cases, case)
    try:
        if how == "mean":
            return mean_of(make)
        if case == "overlap":
            from pipelines.common import milliseconds_beside

            return {"ms": milliseconds_beside(make())}
        return rate(make, float(how), CLOCKS[clock])
    except Exception as error:  # the table says which failed
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    peer, folder, *rest = sys.argv[1:]
    version, cases = library(peer, Path(folder))
    if rest:
        measure.answer(memory(getattr(cases, rest[0])))
        return
    measure.answer({"cases": cases.names(), "version": version})
    for line in sys.stdin:
        measure.answer(answered(cases, *line.split()))


if __name__ == "__main__":
    main()
