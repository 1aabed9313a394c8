"""`python -m tests.fuzz --minutes 30`: random programs, each run in several modes and compared.

Failures are shrunk, printed as tests, and appended to tests/fuzz/found.txt, which git ignores.
Worker processes do the work: a crash ends one of them only, and is a failure like others.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

FOLDER = Path(__file__).parent
FOUND = FOLDER / "found.txt"
_PROGRAMS = 2500  # of a worker, which then gives way to a fresh one
_KEPT = 1  # failures of one sort that are shrunk and written down; of values: all


def arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--programs", type=int, help="end after so many, whatever the time")
    parser.add_argument("--seed", type=int, help="of the first program; a fresh one otherwise")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kinds", default="programs,networks,loops")
    parser.add_argument("--tensorflow", action="store_true", help="compare with real TensorFlow")
    parser.add_argument("--no-numba", action="store_true")
    parser.add_argument("--found", type=Path, default=FOUND)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- a worker: JSON lines on stdout ----


def work(options):
    """Run programs of the seeds `worker`, `worker + processes`, ... and tell of each."""
    end = time.monotonic() + options.minutes * 60
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr  # what programs print is no line of ours
    os.dup2(2, 1)
    sides = _against_tensorflow() if options.tensorflow else _among_modes(options)
    kept = collections.Counter()
    for n in range(min(_PROGRAMS, options.programs or _PROGRAMS)):
        if time.monotonic() > end:
            break
        seed = options.worker + n * options.processes
        print(json.dumps({"seed": seed}), file=lines)
        told = sides(seed, kept)
        if told is not None:
            print(json.dumps(told), file=lines)
    print(json.dumps({"done": True}), file=lines)


def _among_modes(options):
    import framework as tf
    from framework import keras
    from tests.fuzz import cases

    kinds = tuple(options.kinds.split(","))

    def one(seed, kept):
        kind, text = cases.made(seed, tf, keras, kinds)
        if text is None:
            return None
        modes = cases.modes_of(seed, not options.no_numba)
        finding, undecided = cases.check(text, modes)
        told = {"ran": kind, "modes": ["off", *modes], "undecided": undecided}
        if finding is not None:
            told["sort"] = list(finding.sort)
            kept[finding.sort] += 1
            if kept[finding.sort] <= _KEPT or finding.sort[1] == "value":
                short = cases.shrunk(text, finding)
                told["test"] = cases.as_test(seed, finding, short)
                told["long"] = text
        return told

    return one


def _against_tensorflow():
    from tests.fuzz import peers

    return peers.one


# ---- the parent ----


class Fuzzing:
    """Starts workers, and keeps count."""

    def __init__(self, options):
        self.options = options
        self.counts, self.sorts = collections.Counter(), collections.Counter()
        self.lock, self.tests = threading.Lock(), []
        self.end = time.monotonic() + options.minutes * 60

    def run(self):
        count = self.options.processes
        threads = [threading.Thread(target=self.keep_working, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def keep_working(self, place):
        seed = self.options.seed + place
        left = None
        if self.options.programs:
            left = (self.options.programs + self.options.processes - 1 - place) // (
                self.options.processes
            )
        while time.monotonic() < self.end and (left is None or left > 0):
            latest, ran = self.one_worker(seed, left)
            if ran == 0:
                with self.lock:
                    self.counts["workers that did not begin"] += 1
                return
            seed = latest + self.options.processes
            left = None if left is None else left - ran

    def one_worker(self, seed, left):
        """(the last seed that a worker began, how many it began)"""
        options = self.options
        minutes = max(0.01, (self.end - time.monotonic()) / 60)
        command = [
            *(sys.executable, "-X", "faulthandler", "-m", "tests.fuzz", "--worker", str(seed)),
            *("--minutes", str(minutes), "--processes", str(options.processes)),
            *("--kinds", options.kinds, *(["--tensorflow"] if options.tensorflow else [])),
            *(["--no-numba"] if options.no_numba else []),
            *(["--programs", str(left)] if left else []),
        ]
        worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        latest, ran, done = seed, 0, False
        for line in worker.stdout:
            told = json.loads(line)
            if "seed" in told:
                latest, ran = told["seed"], ran + 1
            elif "done" in told:
                done = True
            else:
                self.tell(told)
        code = worker.wait()
        if not done and ran:
            sort = ["crash", f"exit status {code}"]
            text = f"# seed {latest}: the process ended with status {code}\n"
            self.tell({"ran": "crashed", "modes": [], "sort": sort, "test": text})
        return latest, ran

    def tell(self, told):
        with self.lock:
            self.counts["all"] += 1
            self.counts[told["ran"]] += 1
            self.counts["undecided"] += told.get("undecided", 0)
            for mode in told["modes"]:
                self.counts[f"in mode {mode}"] += 1
            self.counts.update(told.get("more", {}))
            if "sort" in told:
                self.sorts[tuple(told["sort"])] += 1
            if "test" in told:
                print(told["test"], flush=True)
                with self.options.found.open("a") as file:
                    file.write(told["test"] + "\n")
                    if "long" in told:
                        file.write("".join(f"#| {x}\n" for x in told["long"].splitlines()) + "\n")


def main():
    options = arguments()
    if options.worker is not None:
        work(options)
        return 0
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**9)
    print(f"seed {options.seed}, {options.processes} processes", flush=True)
    begin = time.monotonic()
    fuzzing = Fuzzing(options)
    fuzzing.run()
    seconds = time.monotonic() - begin
    for sort, count in fuzzing.sorts.most_common():
        print(f"{count:6} x {' | '.join(sort)}")
    counts = dict(fuzzing.counts)
    found = sum(fuzzing.sorts.values())
    rate = counts.get("all", 0) / seconds
    print(f"seed {options.seed}: {found} found; {rate:.1f} programs/s; {counts}")
    return 1 if found or not counts.get("all") else 0


if __name__ == "__main__":
    sys.exit(main())
