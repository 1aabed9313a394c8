"""kill -9 in the middle of an epoch, and what a restored iterator gives: five pipelines.

A process iterates and writes its position after each element. It is killed at a random moment; a
new process restores the last position and writes a digest of the remaining elements, which must be
that of an iteration that was never killed.
"""

import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
import numpy as np

NAMES = ("arrays", "threads", "text", "interleave", "file")


def pipeline(name, folder):
    """Return a dataset whose elements take a moment each."""
    import framework as tf

    tf.random.set_seed(1)
    data = tf.data.Dataset
    x = np.random.default_rng(0).normal(size=(4000, 8)).astype("float32")
    base = data.from_tensor_slices((x, np.arange(4000)))
    noisy = lambda x, y: (x + tf.random.normal((8,)), y)
    length = lambda words: tf.shape(words)[0]
    words = lambda: (np.arange(n % 40 + 1) for n in range(4000))
    spec = tf.TensorSpec((None,), tf.int64)
    if name == "arrays":
        return base.shuffle(4000).map(lambda x, y: (x * 2.0, y)).repeat(2).batch(16)
    if name == "threads":
        return base.shuffle(100).map(noisy, num_parallel_calls=4).batch(8).prefetch(2)
    if name == "text":
        return data.from_generator(words, output_signature=spec).bucket_by_sequence_length(
            length, [10, 20], [8, 8, 8]
        )
    if name == "interleave":
        parts = data.range(400).shuffle(400)
        return parts.interleave(lambda i: data.range(i, i + 10), 4, 2, num_parallel_calls=2)
    path = Path(folder) / "rows.npy"
    if not path.exists():
        np.save(path, x)
    return tf.data.NumpyDataset(path).shuffle(500).map(lambda x: x - 1.0).batch(8).prefetch(1)


def leaves(element):
    parts = element if isinstance(element, tuple) else (element,)
    return b"".join(np.ascontiguousarray(part.numpy()).tobytes() for part in parts)


def child(name, folder, how):
    """Iterate and write positions; or restore the last one and write the digest of the rest."""
    iterator, state = iter(pipeline(name, folder)), Path(folder) / "state.json"
    if how == "run":
        print("begun", flush=True)
        for _ in iterator:
            partial = state.with_suffix(".partial")
            partial.write_text(json.dumps(iterator.state()))
            partial.replace(state)
            time.sleep(0.001)
        return
    skip = 0
    if how == "restore":
        iterator.restore(json.loads(state.read_text()))
    else:  # the same elements, of an iteration that was never killed
        skip = json.loads(state.read_text())["taken"]
    digest, count = hashlib.sha256(), 0
    for number, element in enumerate(iterator):
        if number >= skip:
            digest.update(leaves(element))
            count += 1
    measure.answer({"digest": digest.hexdigest(), "count": count})


def killed(name, folder):
    """Kill an iteration, restore it; return (elements that remained, whether they are equal)."""
    state = Path(folder) / "state.json"
    state.unlink(missing_ok=True)
    command = [sys.executable, __file__, "--child", name, folder, "run"]
    with subprocess.Popen(command, env=measure.environment(), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while not state.exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(random.random() * 0.6)
        process.kill()
    script = Path(__file__).name
    found = [
        measure.run_worker(sys.executable, script, "--child", name, folder, how)
        for how in ("restore", "whole")
    ]
    return found[0]["count"], found[0] == found[1]


def main():
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    parser = measure.arguments("kill -9 in an epoch, and the rest after a restore", 20)
    options = parser.parse_args()
    info, rows, results = measure.machine(), [], {}
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            found = [killed(name, folder) for _ in range(options.rounds)]
        equal = sum(same for _, same in found)
        left = [count for count, _ in found]
        rows.append([name, f"{min(left)} to {max(left)}", f"{equal} of {len(found)}"])
        results[name] = {"remained": left, "equal": equal}
    holds = all(each["equal"] == options.rounds for each in results.values())
    head = ["pipeline", "elements that remained", "bitwise equal"]
    measure.publish(options, info, measure.table(head, rows), results, holds)


if __name__ == "__main__":
    main()
