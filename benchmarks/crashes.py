"""Kills programs that save and train, and looks at what is left.

    python benchmarks/crashes.py --kills 100 --training-kills 30

- saving: a process writes every format in a loop, each time with weights of one value, and is
  killed at a random moment; what is left must load and have one value everywhere.
- training: runs of `killed_training.py` by `fit`, by the training step and by a tape are killed
  again and again; each must end with the bits of a run that was not.
- two writers of one file or folder, a folder without permission, a full disk: errors are SaveError,
  and the file that was there stays.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from killed_training import TRAINERS

import framework as tf
from framework import keras
from framework.core.errors import LoadError, SaveError

FILES = ("m.keras", "m.weights.h5", "m.weights.json", "m.npz", "m.safetensors", "folder", "run")


def in_child(work: Callable[[], Any]) -> int:
    """Start a function in a forked process; return the process's number."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def status_of(pid: int) -> int:
    """Wait for a process; return its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def failed(status: int) -> None:
    """Stop if a process ended in another way than expected."""
    if status:
        raise SystemExit(f"a process ended with {status}")


# ---- saving --------------------------------------------------------------------------------------


def model(units: int = 200) -> Any:
    made = keras.Sequential(
        [keras.Input((100,)), keras.layers.Dense(units), keras.layers.Dense(units)]
    )
    made.compile("sgd", "mse")
    return made


def filled(made: Any, value: float) -> Any:
    for weight in made.weights:
        weight.assign(np.full(weight.shape, value, "float32"))
    return made


def manager_of(made: Any, folder: Path) -> Any:
    return tf.train.CheckpointManager(tf.train.Checkpoint(model=made), folder / "run", 2)


def save(made: Any, folder: Path, name: str, manager: Any) -> None:
    path = folder / name
    if name == "run":
        manager.save()
    elif name == "m.weights.json":
        made.save_weights(path, max_shard_size=1.5e-4)
    elif name.endswith((".keras", "folder")):
        made.save(path, zipped=name != "folder")
    else:
        made.save_weights(path)


def write_rounds(folder: Path, first: int, rounds: float = float("inf")) -> None:
    made = model()
    manager = manager_of(made, folder)
    number = first
    while number < first + rounds:
        number += 1
        filled(made, number)
        for name in FILES:
            save(made, folder, name, manager)


def loaded_value(folder: Path, name: str) -> float:
    """Return the one value of all weights in a file; ValueError if there are several."""
    path, made = folder / name, model()
    if name == "run":
        manager = manager_of(made, folder)
        status = manager.checkpoint.restore(manager.latest_checkpoint)
        status.assert_existing_objects_matched()
    elif name.endswith((".keras", "folder")):
        made = keras.models.load_model(path)
    else:
        made.load_weights(path)
    values = {float(v) for weight in made.weights for v in np.unique(weight.numpy())}
    if len(values) != 1:
        raise ValueError(f"{name}: mixed values {sorted(values)[:4]}")
    return values.pop()


def left_in(folder: Path, name: str) -> tuple[str, int]:
    """Return what a kill left of a file, and its value."""
    try:
        return "whole", int(loaded_value(folder, name))
    except (LoadError, OSError) as error:
        return f"ABSENT: {type(error).__name__}", 0
    except ValueError as error:
        return f"MIXED: {error}", 0


def kill_saving(kills: int, seed: int) -> None:
    rng, found, highest = random.Random(seed), Counter(), 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = filled(model(), 0)
        for name in FILES:
            save(made, folder, name, manager_of(made, folder))
        began = time.perf_counter()
        failed(status_of(in_child(lambda: write_rounds(folder, 0, 1))))
        seconds = time.perf_counter() - began
        for _ in range(kills):
            start = highest
            pid = in_child(lambda start=start: write_rounds(folder, start))
            time.sleep(rng.uniform(0.2, 4) * seconds)
            os.kill(pid, signal.SIGKILL)
            status_of(pid)
            for name in FILES:
                what, value = left_in(folder, name)
                found[name, what] += 1
                highest = max(highest, value)
                if what != "whole":
                    save(filled(made, highest), folder, name, manager_of(made, folder))
    print(f"\n## Saving: {kills} kills, {highest} rounds written\n")
    print("| file | what is left | times |\n|---|---|---|")
    for (name, what), times in sorted(found.items()):
        print(f"| `{name}` | {what} | {times} |", flush=True)


# ---- training ------------------------------------------------------------------------------------


def kill_training(name: str, kills: int, seed: int) -> None:
    """Kill runs of one API again and again; compare with a run that is not killed."""
    rng, runs, same, done, advanced, epochs = random.Random(f"{name} {seed}"), 0, 0, 0, 0, 12

    def work(folder: Path, plain: bool = False) -> None:
        result = TRAINERS[name](None if plain else folder / "state", epochs)
        (folder / ("plain" if plain else "resumed")).write_text(result)

    with tempfile.TemporaryDirectory() as place:
        start = time.perf_counter()
        failed(status_of(in_child(lambda: work(Path(place), plain=True))))
        seconds, plain = time.perf_counter() - start, Path(place, "plain").read_text()
    while done < kills:  # a run may end before it is killed often enough: then another one begins
        with tempfile.TemporaryDirectory() as place:
            folder, status = Path(place), -signal.SIGKILL
            while status == -signal.SIGKILL:
                before = times_of(folder / "state")
                pid = in_child(lambda folder=folder: work(folder))
                if done < kills:
                    time.sleep(rng.uniform(0.02, 0.7) * seconds)
                    os.kill(pid, signal.SIGKILL)
                status = status_of(pid)
                done += status == -signal.SIGKILL
                advanced += status == -signal.SIGKILL and times_of(folder / "state") != before
            failed(status)
            runs, same = runs + 1, same + (plain == (folder / "resumed").read_text())
    print(
        f"\n## Training by {name}: {done} kills in {runs} runs, {advanced} after a new state was "
        f"saved; {same} of {runs} runs end with the same bits",
        flush=True,
    )


def times_of(folder: Path) -> list[tuple[str, int]]:
    return sorted((p.name, p.stat().st_mtime_ns) for p in folder.glob("*"))


# ---- writers, permissions, full disks ------------------------------------------------------------


def two_writers(rounds: int) -> None:
    names = ("m.keras", "m.weights.json", "folder")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def work(first: int) -> None:
            made, found = model(), Counter()
            for number in range(rounds):
                filled(made, first + number)
                found.update(outcome(made, folder, name, None) for name in names)
            (folder / f"found {first}").write_text(repr(dict(found)))

        children = [in_child(lambda first=first: work(first)) for first in (0, 1000)]
        for pid in children:
            failed(status_of(pid))
        found: Counter = Counter()
        for path in folder.glob("found*"):
            found += Counter(eval(path.read_text(), {}))  # noqa: S307 (written above)
        values = [loaded_value(folder, name) for name in names]
        left = [p.name for p in folder.iterdir() if p.name.startswith(".")]
    print(
        f"\n## Two writers: {dict(found)}; the files are whole (of writings {values}); temporary "
        f"files left: {len(left)}"
    )


def outcome(made: Any, folder: Path, name: str, manager: Any) -> str:
    """Save a file; return what happens."""
    try:
        save(made, folder, name, manager)
    except SaveError as error:
        return f"SaveError ({str(error).split(': ')[1].split('.')[0]})"
    except BaseException as error:
        return f"ANOTHER ERROR for {name}: {type(error).__name__}: {error}"
    return "written"


def attempts(folder: Path, prepare: Callable[[], None], made: Any) -> Counter:
    """Save every format in a child that `prepare` has limited; count what happens."""
    report = Path(tempfile.mkdtemp(), "report")
    report.parent.chmod(0o777)

    def work() -> None:
        prepare()
        found, manager = Counter(), manager_of(made, folder)
        for name in FILES:
            found[outcome(made, folder, name, manager)] += 1
        report.write_text(repr(dict(found)))

    failed(status_of(in_child(work)))
    return Counter(eval(report.read_text(), {}))  # noqa: S307 (written above)


def still_whole(folder: Path, value: float) -> int:
    return sum(loaded_value(folder, name) == value for name in FILES)


def prepared(folder: Path) -> Any:
    made = filled(model(), 1)
    for name in FILES:
        save(made, folder, name, manager_of(made, folder))
    return filled(made, 2)


def no_permission() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made = prepared(folder)
        for path in (folder, folder / "run", folder / "folder"):
            path.chmod(0o555)

        def prepare() -> None:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)

        found, whole = attempts(folder, prepare, made), still_whole(folder, 1)
        for path in (folder, folder / "run", folder / "folder"):
            path.chmod(0o755)
    note = " (tried as the user `nobody`: root may write anywhere)" if os.geteuid() == 0 else ""
    print(f"\n## No permission{note}: {dict(found)}; {whole} of {len(FILES)} old files are whole")


def fill(folder: Path) -> None:
    """Fill the disk that a folder is on."""
    file = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while True:
            os.write(file, b"x" * 1024)


def limit_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def full_disk() -> None:
    with tempfile.TemporaryDirectory() as place:
        mount = [shutil.which("mount"), "-t", "tmpfs", "-o", "size=3m", "tmpfs", place]
        mounted = not subprocess.run(mount, check=False, capture_output=True).returncode
        folder = Path(place)
        try:
            made = prepared(folder)
            found = attempts(folder, partial(fill, folder) if mounted else limit_files, made)
            (folder / "filler").unlink(missing_ok=True)
            whole = still_whole(folder, 1)
        finally:
            if mounted:
                subprocess.run([shutil.which("umount"), place], check=False)
    how = "a full tmpfs" if mounted else "RLIMIT_FSIZE of 100 kB; no tmpfs can be mounted here"
    print(f"\n## Full disk ({how}): {dict(found)}; {whole} of {len(FILES)} old files are whole")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--training-kills", type=int, default=30)
    parser.add_argument("--training", nargs="*", default=list(TRAINERS), choices=list(TRAINERS))
    parser.add_argument("--writings", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kill_saving(options.kills, options.seed)
    for name in options.training:
        kill_training(name, options.training_kills, options.seed)
    two_writers(options.writings)
    no_permission()
    full_disk()


if __name__ == "__main__":
    main()
