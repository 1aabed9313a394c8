"""What the pipelines of all libraries share: NumPy, Pillow, and the numbers of the cases."""

import itertools
import time

import numpy as np

NAMES = ("mnist", "cifar", "jpeg", "text", "csv", "hdf5", "parquet", "overlap")
BATCH = {"mnist": 64, "cifar": 128, "jpeg": 32, "text": 64, "csv": 1024, "hdf5": 256,
         "parquet": 1024}  # fmt: skip
SIZE = 224
STEP, MAP, STEPS = 0.005, 0.004, 100  # seconds of a step, of a map; steps that are timed


class Cases:
    """Base of a library's pipelines: a method for each case returns an epoch's batches."""

    def __init__(self, folder):
        self.folder = folder
        self.images = {name: self.arrays(name) for name in ("mnist", "cifar")}

    def names(self):
        return [name for name in NAMES if hasattr(self, name)]

    def arrays(self, name):
        """Return images and labels in memory."""
        return np.load(self.folder / f"{name}_x.npy"), np.load(self.folder / f"{name}_y.npy")

    def words(self):
        """Return a list of int32 arrays of different lengths."""
        words, splits = (np.load(self.folder / f"text_{n}.npy") for n in ("words", "splits"))
        return [words[a:b] for a, b in itertools.pairwise(splits.tolist())]

    def files(self):
        """Return the paths of the JPEG files, sorted, and their classes."""
        paths = sorted((self.folder / "jpeg").glob("*/*.jpg"))
        return [str(p) for p in paths], np.array([int(p.parent.name[5:]) for p in paths])


def decoded(path):
    """Return an image file as a uint8 array of 224 × 224 × 3, by Pillow."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
        return np.asarray(small)


def busy(seconds=MAP):
    """Take as long as a computation that leaves the interpreter to others."""
    time.sleep(seconds)


def milliseconds_beside(batches):
    """Return the time of a step of 5 ms that takes its batches from a pipeline."""
    batches = iter(batches)
    next(batches)
    begin = time.perf_counter()
    for _ in range(STEPS):
        time.sleep(STEP)
        next(batches)
    return (time.perf_counter() - begin) / STEPS * 1e3
