"""tf.data, each pipeline in the order that its performance guide recommends."""

import h5py
import numpy as np
import pyarrow.parquet as pq
import tensorflow as tf
from data_files import BOUNDARIES, COLUMNS, WIDTH

from pipelines import common
from pipelines.common import BATCH

VERSION = f"tensorflow {tf.__version__}"
AUTO = tf.data.AUTOTUNE
from_slices = tf.data.Dataset.from_tensor_slices


class Cases(common.Cases):
    """tf.data's pipelines."""

    def mnist(self):
        normalised = lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)
        batches = from_slices(self.images["mnist"]).shuffle(60_000).batch(BATCH["mnist"])
        return batches.map(normalised, num_parallel_calls=AUTO).prefetch(AUTO)

    def cifar(self):
        def augmented(x, y):
            x = tf.image.random_crop(tf.pad(x, [[4, 4], [4, 4], [0, 0]]), (32, 32, 3))
            x = tf.image.random_flip_left_right(x)
            return tf.cast(x, tf.float32) / 127.5 - 1.0, y

        base = from_slices(self.images["cifar"]).shuffle(50_000)
        return base.map(augmented, num_parallel_calls=AUTO).batch(BATCH["cifar"]).prefetch(AUTO)

    def jpeg(self):
        def read(path, label):
            image = tf.numpy_function(lambda p: common.decoded(p.decode()), [path], tf.uint8)
            return tf.ensure_shape(image, (common.SIZE, common.SIZE, 3)), label

        base = from_slices(self.files())
        return base.map(read, num_parallel_calls=AUTO).batch(BATCH["jpeg"]).prefetch(AUTO)

    def text(self):
        words, splits = (np.load(self.folder / f"text_{n}.npy") for n in ("words", "splits"))
        words = tf.constant(words)  # slices of one tensor: tf.data cannot bucket ragged elements
        base = from_slices((splits[:-1], splits[1:])).map(lambda a, b: words[a:b])
        sizes = [BATCH["text"]] * (len(BOUNDARIES) + 1)
        length = lambda x: tf.shape(x)[0]
        return base.bucket_by_sequence_length(length, list(BOUNDARIES), sizes).prefetch(AUTO)

    def csv(self):
        return tf.data.experimental.make_csv_dataset(
            str(self.folder / "table.csv"), BATCH["csv"], num_epochs=1, shuffle=False,
            column_defaults=[tf.float32] * 4 + [tf.int32], label_name="label",
            num_parallel_reads=2, prefetch_buffer_size=2,
        )  # fmt: skip

    def hdf5(self):
        def blocks():
            with h5py.File(self.folder / "large.h5") as file:
                x, size = file["x"], BATCH["hdf5"]
                for first in range(0, len(x), size):
                    yield x[first : first + size]

        spec = tf.TensorSpec((None, WIDTH), tf.float32)
        return tf.data.Dataset.from_generator(blocks, output_signature=spec).prefetch(AUTO)

    def parquet(self):
        def blocks():
            file = pq.ParquetFile(self.folder / "table.parquet")
            for part in file.iter_batches(BATCH["parquet"]):
                yield tuple(part[name].to_numpy() for name in (*COLUMNS, "label"))

        spec = *[tf.TensorSpec((None,), tf.float32)] * 4, tf.TensorSpec((None,), tf.int32)
        return tf.data.Dataset.from_generator(blocks, output_signature=spec).prefetch(AUTO)

    def overlap(self):
        def slow(i):
            return tf.numpy_function(_slow, [i], tf.int64)

        return tf.data.Dataset.range(10_000).map(slow, num_parallel_calls=AUTO).prefetch(AUTO)


def _slow(i):
    common.busy()
    return i
