"""Saving and loading 100 million weights: seconds beside h5py, and memory beyond the model.

    python benchmarks/saving.py --rounds 3 --keras-python PY --torch-python PY

Each figure is a median over rounds of processes that alternate. Every writer flushes its file to
the disk; with `--no-flush` none does, which leaves the cost of computing and copying. "CPU" is the
processor time of all threads and of the system for the process, which other processes disturb less.
"memory" is the peak of a process beyond what it uses with the model, in units of the largest array.
Loading a `.keras` file makes a new model, so it is compared with h5py reading into new arrays while
the old ones stay. An asynchronous checkpoint stops the program until its values are taken; this
time is compared with that of a checkpoint that is written at once.

Each process saves and loads several times, and the median of all but the first time counts. The
first includes imports. It also depends on the programs before: a virtual machine gives free memory
back to its host, and the next program that needs memory waits until it gets some again.
"""

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LAYERS = 5
TIMES = 6  # of saving and loading in a process
OURS = (".keras", ".weights.h5", ".weights.json", ".safetensors", ".npz", ".ckpt")
NEW = ".new.h5"
PEERS = {
    "framework": OURS,
    "h5py": (".h5", NEW),
    "keras": (".keras", ".weights.h5"),
    "torch": (".pt",),
}


def used() -> float:
    """Return the memory in use now, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def flush(path: Path) -> None:
    for file in [path] if path.is_file() else path.iterdir():
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def keras_like(keras: Any, units: int) -> Any:
    dense = [keras.layers.Dense(units, kernel_initializer="ones") for _ in range(LAYERS)]
    return keras.Sequential([keras.Input((units,)), *dense])


def of_framework(units: int, ending: str, path: Path) -> tuple[Callable[[], Any], ...]:
    import framework as tf
    from framework import keras

    made = keras_like(keras, units)
    if ending == ".keras":
        return lambda: made.save(path), lambda: keras.models.load_model(path)
    if ending == ".ckpt":
        checkpoint = tf.train.Checkpoint(model=made)
        name = str(path).removesuffix(".ckpt")
        return lambda: checkpoint.write(name), lambda: checkpoint.read(name).assert_consumed()
    size = {"max_shard_size": 0.1} if ending == ".weights.json" else {}
    return lambda: made.save_weights(path, **size), lambda: made.load_weights(path)


def of_keras(units: int, ending: str, path: Path) -> tuple[Callable[[], Any], ...]:
    import keras

    made = keras_like(keras, units)
    if ending == ".keras":
        return lambda: (made.save(path), flush(path)), lambda: keras.models.load_model(path)
    return lambda: (made.save_weights(path), flush(path)), lambda: made.load_weights(path)


def of_h5py(units: int, ending: str, path: Path) -> tuple[Callable[[], Any], ...]:
    import h5py

    arrays = [np.ones((units, units), "float32") for _ in range(LAYERS)]

    def save() -> None:
        with h5py.File(path, "w") as file:
            for number, array in enumerate(arrays):
                file.create_dataset(str(number), data=array)
        flush(path)

    def load() -> Any:
        found = [None] * LAYERS if ending == NEW else arrays
        with h5py.File(path, "r") as file:
            for number in range(LAYERS):
                found[number] = file[str(number)][:]
        return found

    return save, load


def of_torch(units: int, ending: str, path: Path) -> tuple[Callable[[], Any], ...]:
    import torch

    made = torch.nn.Sequential(*(torch.nn.Linear(units, units) for _ in range(LAYERS)))

    def load() -> None:
        made.load_state_dict(torch.load(path, weights_only=True))

    return lambda: (torch.save(made.state_dict(), path), flush(path)), load


def emptied(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def work(peer: str, ending: str, units: int, folder: Path) -> None:
    """Save and load; print the memory of the first time and the median seconds of all others."""
    path = folder / f"{peer}{ending}"
    save, load = globals()[f"of_{peer}"](units, ending, path)
    times: dict[str, list[float]] = {}
    figures, largest = {}, units * units * 4 / 2**20
    base = used()
    for turn in range(TIMES):
        for name, call in (("save", save), ("load", load)):
            before, start = time.process_time(), time.perf_counter()
            made = call()
            if turn:
                times.setdefault(name, []).append(time.perf_counter() - start)
                times.setdefault(f"{name} CPU", []).append(time.process_time() - before)
            else:
                figures[f"{name} memory"] = max(0.0, peak() - base) / largest
            del made
        gc.collect()  # models are in reference cycles
        if turn < TIMES - 1:
            emptied(folder)
    figures |= {name: statistics.median(found) for name, found in times.items()}
    if ending in (NEW, ".keras"):  # a second model
        figures["load memory"] = max(0.0, figures["load memory"] - LAYERS)
    if (peer, ending) == ("framework", ".ckpt"):
        figures["stop"] = stopped(units, path)
    emptied(folder)
    print(json.dumps(figures))


def stopped(units: int, path: Path) -> float:
    """Return how long an asynchronous checkpoint stops the program, as a part of a usual one."""
    import framework as tf
    from framework import keras

    checkpoint = tf.train.Checkpoint(model=keras_like(keras, units))
    name, seconds = str(path).removesuffix(".ckpt"), []
    for later in (False, True):
        start = time.perf_counter()
        checkpoint.write(name, tf.train.CheckpointOptions(enable_async=later))
        seconds.append(time.perf_counter() - start)
    checkpoint.sync()
    return seconds[1] / seconds[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--millions", type=float, default=100)
    parser.add_argument("--keras-python", default=os.environ.get("BENCH_PEERS_PYTHON"))
    parser.add_argument("--torch-python", default=os.environ.get("BENCH_PEERS_PYTHON"))
    parser.add_argument("--no-flush", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worker", nargs=2)
    options = parser.parse_args()
    units = int((options.millions * 1e6 / LAYERS) ** 0.5)
    if options.no_flush:
        os.fsync = lambda _: None
    with tempfile.TemporaryDirectory() as place:
        if options.worker:
            work(*options.worker, units, Path(place))
            return 0
    own = sys.executable
    pythons = {"framework": own, "h5py": own, "keras": options.keras_python,
               "torch": options.torch_python}  # fmt: skip
    runs: dict[tuple[str, str], list[dict[str, float]]] = {}
    cases = [(peer, ending) for peer in PEERS if pythons[peer] for ending in PEERS[peer]]
    for number in range(options.rounds):
        first = number * len(cases) // options.rounds  # so that no case is always the first
        for peer, ending in (*cases[first:], *cases[:first]):
            command = [pythons[peer], __file__, "--millions", str(options.millions),
                       *["--no-flush"][: options.no_flush], "--worker", peer, ending]  # fmt: skip
            environment = {**os.environ, "KERAS_BACKEND": "jax"}
            if peer in ("keras", "torch"):
                environment.pop("PYTHONPATH", None)
            done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
            runs.setdefault((peer, ending), []).append(json.loads(done.stdout.splitlines()[-1]))
    medians = {
        key: {name: statistics.median(run[name] for run in found) for name in found[0]}
        for key, found in runs.items()
    }
    flushed = "no file is flushed" if options.no_flush else "all files are flushed to the disk"
    print(f"load of the machine {os.getloadavg()[0]:.1f}; {LAYERS} arrays of {units} × {units}; "
          f"{flushed}\n")  # fmt: skip
    print("| | save s | × h5py | CPU × | memory | load s | × h5py | CPU × | memory |")
    print("|---|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for (peer, ending), found in medians.items():
        cells = []
        for name in ("save", "load"):
            base = medians["h5py", NEW if ending == ".keras" and name == "load" else ".h5"]
            ratio, cpu = found[name] / base[name], found[f"{name} CPU"] / base[f"{name} CPU"]
            cells.append(
                f"{found[name]:.2f} | {ratio:.2f} | {cpu:.2f} | {found[f'{name} memory']:.2f}"
            )
            if peer == "framework":
                worst = max(worst, ratio)
        print(f"| {peer} `{ending}` | {' | '.join(cells)} |")
    stop = medians["framework", ".ckpt"]["stop"]
    print(f"\nAn asynchronous checkpoint stops the program for {stop:.2%} of a usual one's time.")
    return int(options.check and worst > 1.2)


if __name__ == "__main__":
    sys.exit(main())
