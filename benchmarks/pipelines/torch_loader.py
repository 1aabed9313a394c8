"""torch's DataLoader: map-style datasets with 0 or 2 workers; "bulk" reads a batch in one call."""

import h5py
import numpy as np
import pyarrow.parquet as pq
import torch
from data_files import BOUNDARIES, COLUMNS, SPEC
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
)

from pipelines import common
from pipelines.common import BATCH

VERSION = f"torch {torch.__version__}"


class Rows(Dataset):
    """Rows of arrays through a function."""

    def __init__(self, x, y, function):
        self.x, self.y, self.function = x, y, function

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.function(self.x[i]), self.y[i]


class Blocks(IterableDataset):
    """Batches of a function's iterable, shared by the workers."""

    def __init__(self, make):
        self.make = make

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        number, count = (0, 1) if info is None else (info.id, info.num_workers)
        for i, block in enumerate(self.make()):
            if i % count == number:
                yield block


class Lines(Dataset):
    """Rows of an HDF5 file, which each worker opens."""

    file = None

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return SPEC["hdf5"]

    def __getitem__(self, rows):
        self.file = self.file or h5py.File(self.path)
        return torch.from_numpy(self.file["x"][rows[0] : rows[-1] + 1])


class Cases(common.Cases):
    """The DataLoader's pipelines."""

    def __init__(self, folder, workers="0"):
        super().__init__(folder)
        self.bulk, count = workers == "bulk", int(workers) if workers.isdigit() else 0
        self.how = {"num_workers": count}
        if count:
            self.how["multiprocessing_context"] = "fork"

    def names(self):
        return ["mnist", "cifar"] if self.bulk else super().names()

    def _images(self, name, function, several):
        x, y = map(torch.from_numpy, self.images[name])
        if name == "cifar":
            x = x.permute(0, 3, 1, 2).contiguous()
        if not self.bulk:
            rows = Rows(x, y, function)
            return DataLoader(rows, batch_size=BATCH[name], shuffle=True, **self.how)
        rows = Rows(x, y, several)
        batches = BatchSampler(RandomSampler(rows), BATCH[name], False)
        return DataLoader(rows, sampler=batches, batch_size=None)

    def mnist(self):
        return self._images("mnist", normalised, normalised)

    def cifar(self):
        return self._images("cifar", augmented, all_augmented)

    def jpeg(self):
        paths, labels = self.files()
        rows = Rows(paths, labels, common.decoded)
        return DataLoader(rows, batch_size=BATCH["jpeg"], **self.how)

    def text(self):
        words = self.words()
        bucket = np.searchsorted(np.array(BOUNDARIES), [len(w) for w in words], "right")
        groups, full = {}, []
        for i, b in enumerate(bucket.tolist()):
            groups.setdefault(b, []).append(i)
            if len(groups[b]) == BATCH["text"]:
                full.append(groups.pop(b))
        full += list(groups.values())
        tensors = [torch.from_numpy(w) for w in words]
        return DataLoader(tensors, batch_sampler=full, collate_fn=padded, **self.how)

    def csv(self):
        import pandas as pd

        types = dict.fromkeys(COLUMNS, "float32")
        frame = pd.read_csv(self.folder / "table.csv", dtype=types)
        x = torch.from_numpy(frame[list(COLUMNS)].to_numpy())
        y = torch.from_numpy(frame["label"].to_numpy(np.int32))
        yield from self._in_order(Rows(x, y, lambda x: x), BATCH["csv"])

    def hdf5(self):
        return self._in_order(Lines(self.folder / "large.h5"), BATCH["hdf5"])

    def _in_order(self, rows, size):
        batches = BatchSampler(SequentialSampler(rows), size, False)
        return DataLoader(rows, sampler=batches, batch_size=None, **self.how)

    def parquet(self):
        def blocks():
            file = pq.ParquetFile(self.folder / "table.parquet")
            for part in file.iter_batches(BATCH["parquet"]):
                yield [torch.from_numpy(part[n].to_numpy().copy()) for n in (*COLUMNS, "label")]

        return DataLoader(Blocks(blocks), batch_size=None, **self.how)

    def overlap(self):
        rows = Rows(range(10_000), range(10_000), _slow)
        return DataLoader(rows, batch_size=None, **self.how)


def normalised(x):
    return x.to(torch.float32) / 255.0


def padded(found):
    return torch.nn.utils.rnn.pad_sequence(found, batch_first=True)


def augmented(x):
    """Pad, crop and flip an image (channels, height, width), as torchvision's transforms do."""
    x = torch.nn.functional.pad(x, (4, 4, 4, 4))
    top, left = torch.randint(0, 9, (2,)).tolist()
    x = x[:, top : top + 32, left : left + 32]
    if torch.rand(1).item() < 0.5:
        x = x.flip(-1)
    return x.to(torch.float32) / 127.5 - 1.0


def all_augmented(x):
    """The same for a batch: a gather of rows and columns."""
    n = len(x)
    x = torch.nn.functional.pad(x, (4, 4, 4, 4))
    rows = torch.randint(0, 9, (n, 1)) + torch.arange(32)
    columns = torch.randint(0, 9, (n, 1)) + torch.arange(32)
    columns = torch.where(torch.rand(n, 1) < 0.5, columns.flip(1), columns)
    i = torch.arange(n)[:, None, None]
    x = x[i, :, rows[:, :, None], columns[:, None, :]]
    return x.to(torch.float32) / 127.5 - 1.0


def _slow(i):
    common.busy()
    return i
