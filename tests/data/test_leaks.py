"""Nothing is left over: threads, files and memory, after ends of any kind; and a killed process."""

import gc
import importlib.util
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.data import Dataset, NumpyDataset

RANGE = Dataset.range


def threads():
    return {t for t in threading.enumerate() if t.name.startswith("framework-")}


def files():
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


def fails(x):
    if x.item() == 5:
        raise KeyError("five")
    return x


class Rows(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        return np.full(3, i)


PIPELINES = {
    "parallel map": lambda path: RANGE(20).map(lambda x: x.numpy() + 1, 3),
    "prefetch": lambda path: RANGE(20).map(lambda x: x.numpy() + 1).prefetch(2),
    "interleave": lambda path: RANGE(5).interleave(lambda x: RANGE(4), 2, 1, 2),
    "error": lambda path: RANGE(20).map(fails, 2).prefetch(2),
    "parallel batch": lambda path: RANGE(20).map(lambda x: x.numpy()).batch(3, False, 2),
    "npy file": lambda path: NumpyDataset(path / "x.npy").batch(3).prefetch(1),
    "records": lambda path: tf.data.TFRecordDataset(str(path / "x.tfrecord")).prefetch(1),
    "rows of text": lambda path: tf.data.experimental.CsvDataset(
        [str(path / "x.csv")], [0, 0]
    ).map(lambda a, b: a.numpy() + b.numpy(), 2),
    "cache in a file": lambda path: RANGE(20).map(lambda x: x.numpy()).cache(str(path / "cache")),
    "pydataset": lambda path: Rows(workers=2),
    "lines": lambda path: tf.data.TextLineDataset(str(path / "x.txt")).prefetch(1),
}  # fmt: skip


@pytest.mark.parametrize("end", ["normal", "dropped", "unused"])
@pytest.mark.parametrize("name", PIPELINES)
def test_iterators_leave_nothing(name, end, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((20, 3)))
    (tmp_path / "x.txt").write_text("a\nb\n" * 10)
    (tmp_path / "x.csv").write_text("1,2\n" * 20)
    with tf.io.TFRecordWriter(str(tmp_path / "x.tfrecord")) as writer:
        for _ in range(20):
            writer.write(b"record")
    before = threads(), files()
    for _ in range(20):
        iterator = iter(PIPELINES[name](tmp_path))
        if end == "normal" and name == "error":
            with pytest.raises(KeyError, match="five"):
                list(iterator)
        elif end == "normal":
            list(iterator)
        elif end == "dropped":
            next(iterator)
        del iterator
    gc.collect()
    limit = time.monotonic() + 10
    while threads() - before[0] or files() > before[1]:
        assert time.monotonic() < limit, (threads() - before[0], files(), before[1])
        time.sleep(0.01)


def test_a_thousand_iterators_leave_nothing():
    data = RANGE(8).map(lambda x: x.numpy() * 2, num_parallel_calls=2).prefetch(1)
    before = threads()
    for _ in range(1000):
        next(iter(data))
    gc.collect()
    limit = time.monotonic() + 20
    while threads() - before:
        assert time.monotonic() < limit, len(threads())
        time.sleep(0.01)


LAYERS = {
    "flip": lambda: keras.layers.RandomFlip(seed=1),
    "translation": lambda: keras.layers.RandomTranslation(0.2, 0.2, seed=1),
    "brightness": lambda: keras.layers.RandomBrightness(0.3, seed=1),
    "two": lambda: keras.layers.Pipeline(
        [keras.layers.RandomZoom(0.2, seed=1), keras.layers.RandomContrast(0.2, seed=2)]
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_augmentation_in_a_map_does_not_depend_on_threads(name):
    images = np.random.default_rng(0).integers(0, 256, (24, 6, 6, 3)).astype(np.float32)
    found = []
    for workers in (1, 4, 4):
        tf.random.set_seed(3)
        layer = LAYERS[name]()
        data = Dataset.from_tensor_slices(images).batch(4)
        data = data.map(lambda x, layer=layer: layer(x, training=True), num_parallel_calls=workers)
        epochs = [np.concatenate([x.numpy() for x in data.prefetch(2)]) for _ in range(2)]
        found.append(np.stack(epochs))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[1], found[2])
    assert not np.array_equal(found[0][0], found[0][1])  # another epoch draws anew
    assert not np.array_equal(found[0][0], images)


def test_text_layers_in_a_map_on_threads():
    texts = np.array([f"w{i % 7} w{i % 3} other" for i in range(40)], object)
    layer = keras.layers.TextVectorization(output_sequence_length=4)
    layer.adapt(texts)
    expected = layer(texts).numpy()
    for workers in (1, 4):
        data = Dataset.from_tensor_slices(texts).batch(8).map(layer, num_parallel_calls=workers)
        np.testing.assert_array_equal(np.concatenate([x.numpy() for x in data]), expected)


def test_a_killed_iteration_is_continued_bitwise(tmp_path, monkeypatch):
    path = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(path))
    spec = importlib.util.spec_from_file_location("killed_data", path / "killed_data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    remained, equal = module.killed("threads", str(tmp_path))
    assert remained > 0
    assert equal
