"""Loads mutated files of every format, and looks for anything but a loaded file or a LoadError.

    python benchmarks/mutated_files.py --files 20000 --formats keras npz

A file is changed in its bytes (flipped, overwritten, cut, repeated), in its zip members (exchanged,
removed, named twice, changed inside with a right checksum), or in its JSON (fields of other types,
huge, deep, missing). Children of a process load them; a hang, a crash, more than 500 MB and another
error are findings. A finding's number and `--only NUMBER` repeat it. Slowness is judged by the
processor's time, which other processes hardly change; what waits without computing, by the clock.
"""

import argparse
import io
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import framework as tf
from framework import keras
from framework.core.errors import LoadError

SECONDS, WAIT, MEGABYTES, BATCH = 20, 300, 500, 200
NUMBERS = (0, 1, -1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1)
VALUES = (
    None, True, -1, 0, 3, 2**31, 2**63, 10**30, 1e308, float("nan"), "", "x", "../x", "/etc/passwd",
    [], [[]], [None], {}, {"x": 1}, {"class_name": "Dense"}, [0, -1], ["a"] * 3, [2**40, 2**40],
    "float33", "relu", "keras.layers", {"module": "os", "class_name": "system", "config": {}},
)  # fmt: skip


# ---- good files ----------------------------------------------------------------------------------


def small() -> Any:
    keras.utils.set_random_seed(1)
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, "relu", name="d")], name="m")
    made.compile("adam", "mse", metrics=["mae"])
    made.optimizer.build(made.trainable_variables)
    return made


def functional() -> Any:
    x = keras.Input((3,), name="x")
    y = keras.layers.Dense(2, name="a")(x)
    made = keras.Model(x, keras.layers.Add(name="s")([y, keras.layers.Dense(2, name="b")(x)]))
    made.compile("adam", "mse")
    return made


TARGET: dict[str, Any] = {}


def target() -> Any:
    if "model" not in TARGET:
        TARGET["model"] = small()
    return TARGET["model"]


def load_checkpoint(path: Path) -> None:
    checkpoint = tf.train.Checkpoint(model=target(), v=tf.Variable([1.0, 2.0]))
    checkpoint.restore(str(path).removesuffix(".ckpt")).expect_partial()


def load_training(path: Path) -> None:
    made, folder = target(), path.parent
    x = np.ones((4, 3), "float32")
    made.fit(x, x[:, :2], epochs=2, batch_size=2, verbose=0, resume=folder, save_every="9 hours")


def load_step(path: Path) -> None:
    target().training_step("mse", "adam").load(path)


def write_checkpoint(folder: Path) -> Path:
    tf.train.Checkpoint(model=small(), v=tf.Variable([1.0, 2.0])).write(folder / "good")
    return folder / "good.ckpt"


def write_training(folder: Path) -> Path:
    made, x = small(), np.ones((4, 3), "float32")
    made.fit(x, x[:, :2], batch_size=2, verbose=0, resume=folder, save_every=1)
    return folder / "training.state"


def write_step(folder: Path) -> Path:
    made = small()
    made.training_step("mse", "adam").save(folder / "good.step")
    return folder / "good.step"


def written(name: str, save: Callable[[Path], Any]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        save(folder / name)
        return folder / name

    return write


def shards(path: Path) -> None:
    small().save_weights(path, max_shard_size=60 / 2**30)


def legacy(path: Path) -> None:
    """Write what Keras writes into ".h5" files, as far as it is read."""
    import h5py

    made = small()
    config = json.loads(made.to_json())
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"], file.attrs["backend"] = "3.15.1", "tensorflow"
        file.attrs["training_config"] = json.dumps({
            "loss": "mse", "metrics": ["mae"],
            "optimizer_config": {"class_name": "Adam", "config": {"learning_rate": 0.01}},
        })  # fmt: skip
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"d"]
        layer = group.create_group("d")
        layer.attrs["weight_names"] = [b"d/kernel", b"d/bias"]
        for variable in made.weights:
            layer[f"d/{variable.name}"] = variable.numpy()


def write_torch(path: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.saving import torch_files  # a file of PyTorch, which is not needed here

    path.write_bytes(torch_files.content())


def load_weights(path: Path) -> None:
    target().load_weights(path)


FORMATS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Any]]] = {
    "keras": (written("good.keras", lambda p: functional().save(p)), keras.models.load_model),
    "h5": (written("good.weights.h5", lambda p: small().save_weights(p)), load_weights),
    "shards": (written("good.weights.json", shards), load_weights),
    "legacy": (written("good.h5", legacy), keras.models.load_model),
    "npz": (written("good.npz", lambda p: small().save_weights(p)), load_weights),
    "safetensors": (written("good.safetensors", lambda p: small().save_weights(p)), load_weights),
    "torch": (written("good.pt", write_torch), keras.saving.read_torch),
    "checkpoint": (write_checkpoint, load_checkpoint),
    "training": (write_training, load_training),
    "step": (write_step, load_step),
}


# ---- mutations -----------------------------------------------------------------------------------


def of_bytes(data: bytes, rng: random.Random) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        at, size = rng.randrange(len(changed) or 1), rng.choice((1, 2, 4, 8, 16, 64))
        kind = rng.randrange(8)
        if not changed:
            break
        if kind <= 2:
            changed[at] ^= 1 << rng.randrange(8) if kind else rng.randrange(1, 256)
        elif kind == 3:
            number = rng.choice(NUMBERS) % 2**64
            changed[at : at + 8] = struct.pack(rng.choice("<>") + "Q", number)[: rng.choice((4, 8))]
        elif kind == 4:
            changed[at : at + size] = rng.randbytes(size)
        elif kind == 5:
            del changed[at : at + size]
        elif kind == 6:
            changed[at:at] = changed[at : at + size]
        else:
            other = rng.randrange(len(changed))
            changed[at : at + size] = changed[other : other + size]
    if rng.random() < 0.1:
        del changed[rng.randrange(len(changed) + 1) :]
    return bytes(changed)


def of_json(data: bytes, rng: random.Random) -> bytes:
    """Change some fields of a JSON text."""
    try:
        value = json.loads(data)
    except ValueError:
        return of_bytes(data, rng)
    for _ in range(rng.choice((1, 1, 2, 5))):
        places = list(_places(value))
        if not places:
            break
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0 and isinstance(holder, dict):
            del holder[key]
        elif kind == 1:
            other, place = rng.choice(places)
            if isinstance(other, dict) and place in other:
                holder[key] = deepcopy(other[place])
        elif kind == 2 and isinstance(holder, list):
            holder.append(holder[key])
        elif kind == 3:
            deep: Any = deepcopy(rng.choice(VALUES))
            for _ in range(rng.choice((3, 50, 900))):
                deep = [deep]
            holder[key] = deep
        else:
            holder[key] = deepcopy(rng.choice(VALUES))
    return json.dumps(value).encode()


def _places(value: Any) -> Any:
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        items = holder.items() if isinstance(holder, dict) else (
            enumerate(holder) if isinstance(holder, list) else ()
        )  # fmt: skip
        for key, item in items:
            yield holder, key
            waiting.append(item)


def of_safetensors(data: bytes, rng: random.Random) -> bytes:
    """Change the header, and its length so that it fits."""
    length = struct.unpack("<Q", data[:8])[0]
    header = of_json(data[8 : 8 + length], rng)
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


def of_member(name: str, data: bytes, rng: random.Random) -> bytes:
    if name.endswith(".json") and rng.random() < 0.8:
        return of_json(data, rng)
    if name.endswith(".safetensors") and rng.random() < 0.6:
        return of_safetensors(data, rng)
    return of_bytes(data, rng)


def of_zip(data: bytes, rng: random.Random) -> bytes:
    """Change members, with right checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [[name, archive.read(name)] for name in archive.namelist()]
    kind, one, two = rng.randrange(10), rng.choice(members), rng.choice(members)
    if kind == 0:
        one[1], two[1] = two[1], one[1]
    elif kind == 1:
        members.remove(one)
    elif kind == 2:
        members.append([one[0], two[1]])
    elif kind == 3:
        one[0] = rng.choice(("../x", "/x", "x" * 70_000, one[0] + "/", "assets/x", "\udcff", ""))
    else:
        one[1] = of_member(one[0], one[1], rng)
    written_to = io.BytesIO()
    with zipfile.ZipFile(written_to, "w", rng.choice((0, 0, 0, 8))) as archive:
        for name, content in members:
            archive.writestr(name.encode("utf-8", "replace").decode()[:60_000] or "x", content)
    return written_to.getvalue()


def mutated(good: bytes, name: str, number: int) -> bytes:
    """Return the file of a number; the same at each call."""
    rng = random.Random(f"{name} {number}")
    try:
        if good[:2] == b"PK" and rng.random() < 0.75:
            return of_zip(good, rng)
        return of_member(name, good, rng)
    except (ValueError, IndexError, KeyError, RecursionError, struct.error):
        return of_bytes(good, rng)  # what was changed cannot be written


# ---- loading -------------------------------------------------------------------------------------


def load(path: Path, loader: Callable[[Path], Any]) -> str:
    """Load one file; return what happened."""
    began, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        loader(path)
        what = "loads"
    except LoadError as error:
        what = type(error).__name__
    except BaseException as error:
        what = f"FINDING {type(error).__name__}: {error!s:.100}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - began) / 1024
    if grown > MEGABYTES:
        what = f"FINDING {grown:.0f} MB ({what})"
    seconds = time.process_time() - start
    if seconds > SECONDS / 2:
        what = f"FINDING {seconds:.0f} s of processor time ({what})"
    return what


def load_some(name: str, numbers: Any, folder: Path, good: Path, report: int) -> None:
    """In a child: load files one after the other, and report each."""
    loader, data = FORMATS[name][1], good.read_bytes()
    others = sorted(p for p in good.parent.iterdir() if p != good)
    for signal_number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(signal_number, signal.SIG_DFL)
    space = 4 * 2**30
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    for number in numbers:
        for other in others:
            target_path = folder / other.name
            if not target_path.exists():
                target_path.write_bytes(other.read_bytes())
        path = folder / good.name
        if name == "shards" and number % 3:
            shard = others[number % len(others)]
            path.write_bytes(data)
            changed = mutated(shard.read_bytes(), shard.name, number)
            (folder / shard.name).write_bytes(changed)
            index = json.loads(data)
            index["metadata"].pop("crc32")
            path.write_text(json.dumps(index))
        else:
            path.write_bytes(mutated(data, good.name, number))
        _limit_time(SECONDS, WAIT)
        what = load(path, loader)
        _limit_time(0, 0)
        if name == "shards" and number % 3:
            (folder / shard.name).unlink()
        os.write(report, f"{number}\t{what}\n".encode("utf-8", "replace"))


def _limit_time(seconds, wait):
    """End the process after so much processor time, or after waiting for so long; 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(wait)


def in_child(name: str, numbers: list[int], folder: Path, good: Path) -> dict[int, str]:
    """Load files in a forked process; what it did not report, it died of."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.close(read)
            sys.stderr = io.StringIO()
            warnings.simplefilter("ignore")
            load_some(name, numbers, folder, good, write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, errors="replace") as pipe:
        lines = [line.rstrip("\n").split("\t", 1) for line in pipe]
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    found = {int(line[0]): line[1] for line in lines if len(line) == 2}
    left = [number for number in numbers if number not in found]
    if left:
        hangs = {-signal.SIGPROF: f"over {SECONDS} s of processor time", -signal.SIGALRM: "a hang"}
        reason = hangs.get(status, f"the process ended with {status}")
        found[left[0]] = f"FINDING {reason}"
        found.update(in_child(name, left[1:], folder, good) if left[1:] else {})
    return found


def run(name: str, numbers: range) -> Counter:
    """Load the files of some numbers; print findings, and return how often what happened."""
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as place:
        for part in ("good", "bad"):
            Path(place, part).mkdir()
        good = FORMATS[name][0](Path(place, "good"))
        FORMATS[name][1](good)  # it loads, and what is imported is shared with the children
        good = FORMATS[name][0](Path(place, "good"))
        for start in range(0, len(numbers), BATCH):
            found = in_child(name, list(numbers[start : start + BATCH]), Path(place, "bad"), good)
            for number, what in found.items():
                if what.startswith("FINDING"):
                    print(f"{name} {number}: {what}", flush=True)
                counts["finding" if what.startswith("FINDING") else what] += 1
    return counts


def _cpu():
    """Return the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--only", type=int, help="repeat one file, without a child")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.only is not None:
        with tempfile.TemporaryDirectory() as place:
            good = FORMATS[options.formats[0]][0](Path(place))
            path = Path(place, good.name)
            path.write_bytes(mutated(good.read_bytes(), good.name, options.only))
            FORMATS[options.formats[0]][1](path)
        return 0
    findings = 0
    for name in options.formats:
        start = _cpu()
        counts = run(name, range(options.first, options.first + options.files))
        findings += counts["finding"]
        seconds = _cpu() - start
        listed = ", ".join(f"{what} {n}" for what, n in counts.most_common())
        print(f"| {name} | {sum(counts.values())} | {seconds:.0f} s CPU | {listed} |", flush=True)
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
