"""The measuring process of train_step.py: `step_worker.py PEER WORKLOAD SECONDS [turns] [cpu]`.

Answers with the median and mean time of a step, and with the outputs of the first steps, from which
train_step.py sees whether all libraries did the same arithmetic. With `turns` it stays: it answers
once when it is warm, then to each line that it reads, a number of seconds, with the median step in
these. With `cpu` a step's time is the process's CPU time.
"""

import importlib
import itertools
import statistics
import sys
import time

import measure
import numpy as np
import turns
from peers import PEERS, Library, Step
from workloads import Problem, named

FEWEST = 10  # timed steps, however long one takes
WARM_UP = 1.0  # of the measured time, spent before it: plans change to loops some thousand steps in


class Stepping:
    """A step and its batches; `first` gives outputs, `timed` the durations of steps."""

    def __init__(self, step: Step, library: Library, problem: Problem, clock) -> None:
        self.step, self.wait, self.clock = step, library.wait, clock
        data = [tuple(map(library.tensor, batch)) for batch in problem.batches]
        self.batches = itertools.cycle(data)

    def first(self, count: int) -> list[float]:
        """All numbers that the first steps return, in order."""
        found = [self.step(*batch) for batch in itertools.islice(self.batches, count)]
        return [
            float(n) for outputs in found for output in outputs for n in np.ravel(plain(output))
        ]

    def timed(self, seconds: float, fewest: int) -> list[float]:
        """The duration of each step, waiting for its outputs, for so many seconds in all."""
        times: list[float] = []
        clock, wait, step = self.clock, self.wait, self.step
        end = clock() + seconds
        for batch in self.batches:
            start = clock()
            wait(step(*batch))
            stop = clock()
            times.append(stop - start)
            if stop > end and len(times) >= fewest:
                return times
        raise AssertionError("the batches are endless")


def plain(output: object) -> np.ndarray:
    """A library's array as NumPy's; torch gives one only of what asks for no gradient."""
    return np.asarray(output.detach() if hasattr(output, "detach") else output)


def take_turns(run, about) -> None:
    """Write `about`, then a median for each line of standard input, until it ends."""
    measure.answer(about)
    for line in sys.stdin:
        run.timed(0, 1)  # what others have left in the caches is not its own
        measure.answer({"median": statistics.median(run.timed(float(line), turns.FEWEST))})


def main() -> None:
    """Prepare, compare, warm up, measure, answer."""
    name, workload, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    clock = time.process_time if "cpu" in sys.argv[4:] else time.perf_counter
    peer = PEERS[name]
    library = importlib.import_module(f"peers.{peer.file}").library(peer.mode)
    found = named(workload)
    problem = found.problem()
    run = library.step(workload, problem)
    if not hasattr(run, "timed"):
        run = Stepping(run, library, problem, clock)
    outputs = run.first(found.compared)
    run.timed(WARM_UP * seconds, 2)
    if "turns" in sys.argv[4:]:
        take_turns(run, {"version": library.version, "outputs": outputs})
        return
    times = run.timed(seconds, FEWEST)
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
