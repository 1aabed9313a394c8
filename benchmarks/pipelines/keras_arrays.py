"""Keras's own adapters, whose batches `fit` reads: arrays and PyDataset, as NumPy arrays."""

import keras
import numpy as np
import pandas as pd
from data_files import BOUNDARIES, COLUMNS
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from keras.src.trainers.data_adapters.py_dataset_adapter import PyDatasetAdapter

from pipelines import common
from pipelines.common import BATCH

VERSION = f"keras {keras.__version__}"


class Batches(keras.utils.PyDataset):
    """Batches by a function of their number, on threads."""

    def __init__(self, count, function, workers=2):
        super().__init__(workers=workers)
        self.count, self.function = count, function

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.function(i)


def iterated(batches):
    """Return an iterator over a PyDataset's batches, as `fit` has it."""
    adapter = PyDatasetAdapter(batches, shuffle=False)
    adapter.on_epoch_begin()
    yield from adapter.get_jax_iterator()
    adapter.on_epoch_end()


def batches(x, y, size, shuffle=False):
    """Return an iterator over the batches of arrays."""
    return ArrayDataAdapter(x, y, batch_size=size, shuffle=shuffle).get_numpy_iterator()


class Cases(common.Cases):
    """Keras's pipelines."""

    def mnist(self):
        for x, y in batches(*self.images["mnist"], BATCH["mnist"], True):
            yield np.asarray(x).astype("float32") / np.float32(255), y

    def cifar(self):
        flip = keras.layers.RandomFlip("horizontal")
        move = keras.layers.RandomTranslation(0.125, 0.125, "constant", "nearest")
        for x, y in batches(*self.images["cifar"], BATCH["cifar"], True):
            yield move(flip(x, training=True), training=True) / 127.5 - 1.0, y

    def jpeg(self):
        paths, labels = self.files()
        size = BATCH["jpeg"]

        def batch(i):
            here = slice(i * size, (i + 1) * size)
            return np.stack([common.decoded(p) for p in paths[here]]), labels[here]

        return iterated(Batches(-(-len(paths) // size), batch))

    def text(self):
        words, groups = self.words(), {}
        bucket = np.searchsorted(np.array(BOUNDARIES), [len(w) for w in words], "right")
        for b, w in zip(bucket.tolist(), words):
            groups.setdefault(b, []).append(w)
            if len(groups[b]) == BATCH["text"]:
                yield keras.utils.pad_sequences(groups.pop(b), padding="post")
        for group in groups.values():
            yield keras.utils.pad_sequences(group, padding="post")

    def csv(self):
        types = dict.fromkeys(COLUMNS, "float32")
        frame = pd.read_csv(self.folder / "table.csv", dtype=types)
        y = frame["label"].to_numpy(np.int32)
        return batches(frame[list(COLUMNS)].to_numpy(), y, BATCH["csv"])

    def parquet(self):
        frame = pd.read_parquet(self.folder / "table.parquet")
        x = {name: frame[name].to_numpy() for name in COLUMNS}
        return batches(x, frame["label"].to_numpy(), BATCH["parquet"])

    def overlap(self):
        def slow(i):
            common.busy()
            return (np.array([i]),)

        return iterated(Batches(10_000, slow, 1))
