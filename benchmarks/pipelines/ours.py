"""Our pipelines, as the guide docs/data.md writes them."""

import numpy as np
from data_files import BOUNDARIES

import framework as tf
from framework import keras
from pipelines import common
from pipelines.common import BATCH

VERSION = f"framework {tf.__version__}"
AUTO = tf.data.AUTOTUNE
from_slices = tf.data.Dataset.from_tensor_slices


class Cases(common.Cases):
    """Our pipelines."""

    def __init__(self, folder):
        super().__init__(folder)
        self.flip = keras.layers.RandomFlip("horizontal")
        self.move = keras.layers.RandomTranslation(0.125, 0.125, "constant", "nearest")

    def mnist(self):
        normalised = lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)
        return from_slices(self.images["mnist"]).shuffle(60_000).map(normalised).batch(64)

    def cifar(self):
        def augmented(x, y):
            x = self.move(self.flip(x, training=True), training=True)
            return x / 127.5 - 1.0, y

        batches = from_slices(self.images["cifar"]).shuffle(50_000).batch(BATCH["cifar"])
        return batches.map(augmented, num_parallel_calls=AUTO).prefetch(AUTO)

    def jpeg(self):
        def read(path, label):
            return common.decoded(path.item().decode()), label

        paths, labels = self.files()
        base = from_slices((np.array(paths), labels))
        return base.map(read, num_parallel_calls=AUTO).batch(BATCH["jpeg"]).prefetch(AUTO)

    def text(self):
        words = self.words()
        spec = tf.TensorSpec((None,), tf.int32)
        base = tf.data.Dataset.from_generator(lambda: words, output_signature=spec)
        sizes = [BATCH["text"]] * (len(BOUNDARIES) + 1)
        return base.bucket_by_sequence_length(lambda x: tf.shape(x)[0], list(BOUNDARIES), sizes)

    def csv(self):
        return tf.data.experimental.make_csv_dataset(
            str(self.folder / "table.csv"), BATCH["csv"], num_epochs=1, shuffle=False,
            column_defaults=[tf.float32] * 4 + [tf.int32], label_name="label",
        )  # fmt: skip

    def hdf5(self):
        return tf.data.HDF5Dataset(self.folder / "large.h5", "x").batch(BATCH["hdf5"])

    def parquet(self):
        rows = tf.data.ParquetDataset(self.folder / "table.parquet")
        return rows.batch(BATCH["parquet"])

    def overlap(self):
        def slow(i):
            common.busy()
            return i

        return tf.data.Dataset.range(10_000).map(slow, num_parallel_calls=AUTO).prefetch(AUTO)
