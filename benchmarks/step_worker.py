"""The measuring process of train_step.py: `step_worker.py PEER WORKLOAD SECONDS`.

Answers with the median and mean time of a step, and with the outputs of the first steps, from which
train_step.py sees whether all libraries did the same arithmetic.
"""

import importlib
import itertools
import statistics
import sys
import time
from collections.abc import Iterator

import measure
import numpy as np
from peers import PEERS, Library, Step
from workloads import WORKLOADS

SHOWN = 20  # first steps whose outputs are compared
FEWEST = 20  # timed steps, however long one takes
WARM_UP = 0.3  # of the measured time, spent before it

Batches = Iterator[tuple]


def shown(step: Step, batches: Batches) -> list[float]:
    """All numbers that the first steps return, in order."""
    outputs = (output for batch in itertools.islice(batches, SHOWN) for output in step(*batch))
    return [float(number) for output in outputs for number in np.ravel(plain(output))]


def plain(output: object) -> np.ndarray:
    """A library's array as NumPy's; torch gives one only of what asks for no gradient."""
    return np.asarray(output.detach() if hasattr(output, "detach") else output)


def timed(step: Step, library: Library, batches: Batches, seconds: float) -> list[float]:
    """The duration of each step, waiting for its outputs, for so many seconds in all."""
    times: list[float] = []
    clock, wait = time.perf_counter, library.wait
    end = clock() + seconds
    for batch in batches:
        start = clock()
        wait(step(*batch))
        stop = clock()
        times.append(stop - start)
        if stop > end and len(times) >= FEWEST:
            return times
    raise AssertionError("the batches are endless")


def main() -> None:
    """Prepare, compare, warm up, measure, answer."""
    name, workload, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    peer = PEERS[name]
    library = importlib.import_module(f"peers.{peer.file}").library(peer.mode)
    problem = WORKLOADS[workload].problem()
    step = library.steps[workload](problem)
    data = [tuple(map(library.tensor, batch)) for batch in problem.batches]
    batches = itertools.cycle(data)
    outputs = shown(step, batches)
    timed(step, library, batches, WARM_UP * seconds)
    times = timed(step, library, batches, seconds)
    measure.answer(
        {
            "median": statistics.median(times),
            "mean": statistics.fmean(times),
            "steps": len(times),
            "version": library.version,
            "outputs": outputs,
        }
    )


if __name__ == "__main__":
    main()
