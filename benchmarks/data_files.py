"""The inputs of `data.py`: arrays and files of made-up data, equal for all libraries.

They are made once, in a folder that the caller chooses. The HDF5 file of 4 GB is sparse: it takes
a few MB of the disk, and reads as fast as the page cache. MNIST is copied from a file `mnist.npz`
if one is given. The labels of made-up images cannot be learned: many units of the network lose
their gradients, and Adam's averages for them become denormal numbers, which are slow to compute.
"""

import json
import sys
from pathlib import Path

SPEC = {"mnist": 60_000, "cifar": 20_000, "jpeg": 384, "text": 40_000, "csv": 1_000_000,
        "hdf5": 1 << 20, "parquet": 1_000_000}  # fmt: skip
WIDTH = 1024  # float32 numbers in a row of the HDF5 file
BOUNDARIES, LONGEST = (50, 100, 200), 400
COLUMNS = ("a", "b", "c", "d")


def make(folder: Path, mnist: str = "") -> None:
    """Write what is missing; `mnist` is the path of the real MNIST, or empty."""
    import numpy as np

    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    done, spec = folder / "done.json", {**SPEC, "file": mnist}
    if done.exists() and json.loads(done.read_text()) == spec:
        return
    for name, shape in (("mnist", (28, 28)), ("cifar", (32, 32, 3)), ("test", (28, 28))):
        rows = SPEC.get(name, 10_000)
        labels = rng.integers(0, 10, rows).astype(np.uint8)
        images = rng.integers(0, 200, (rows, *shape), dtype=np.uint8)
        images += (labels * 5).reshape(-1, *[1] * len(shape)).astype(np.uint8)
        np.save(folder / f"{name}_x.npy", images)
        np.save(folder / f"{name}_y.npy", labels)
    if mnist:
        with np.load(mnist) as real:
            for name, part in (("mnist", "train"), ("test", "test")):
                np.save(folder / f"{name}_x.npy", real[f"x_{part}"])
                np.save(folder / f"{name}_y.npy", real[f"y_{part}"])
    _jpeg(folder / "jpeg", rng)
    _text(folder, rng)
    _tables(folder, rng)
    _hdf5(folder / "large.h5")
    done.write_text(json.dumps(spec))


def _jpeg(folder, rng):
    from PIL import Image

    for number in range(SPEC["jpeg"]):
        group = folder / f"class{number % 4}"
        group.mkdir(parents=True, exist_ok=True)
        small = rng.integers(0, 256, (12, 16, 3), dtype="uint8")
        image = Image.fromarray(small).resize((500, 375), Image.Resampling.BICUBIC)
        image.save(group / f"{number:05d}.jpg", quality=90)


def _text(folder, rng):
    """Sequences of word numbers: all words after each other, and where each sequence begins."""
    import numpy as np

    lengths = np.minimum(rng.gamma(2.0, 40.0, SPEC["text"]).astype(np.int64) + 5, LONGEST)
    np.save(folder / "text_splits.npy", np.concatenate([[0], np.cumsum(lengths)]))
    np.save(folder / "text_words.npy", rng.integers(1, 20_000, lengths.sum()).astype(np.int32))


def _tables(folder, rng):
    import pyarrow as pa
    from pyarrow import parquet

    rows = SPEC["csv"]
    columns = {name: rng.normal(size=rows).astype("float32") for name in COLUMNS}
    columns["label"] = rng.integers(0, 10, rows).astype("int32")
    parquet.write_table(pa.table(columns), folder / "table.parquet", row_group_size=1 << 16)
    texts = [[f"{v:.5f}" for v in columns[name].tolist()] for name in COLUMNS]
    texts.append([str(v) for v in columns["label"].tolist()])
    with (folder / "table.csv").open("w") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*texts))


def _hdf5(path):
    import h5py

    rows = SPEC["hdf5"]
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (rows, WIDTH), "float32")[-1] = 1.0  # the rest is a hole


if __name__ == "__main__":
    make(Path(sys.argv[1]), *sys.argv[2:])
