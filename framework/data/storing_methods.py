"""Methods of Dataset that write elements to files and read them."""

import os
from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.data import stored
from framework.data.arguments import made, stage_of
from framework.data.order import Concatenation
from framework.data.records import COMPRESSIONS, as_path
from framework.data.stage import Listed
from framework.data.structure import DatasetSpec, array_in
from framework.data.transform import call


class StoringMethods:
    """Methods of Dataset that write elements to files and read them."""

    def save(
        self, path: Any, compression: Any = None, shard_func: Any = None,
        checkpoint_args: Any = None,
    ):  # fmt: skip
        """Write the elements of one iteration to a folder, for `Dataset.load`.

        Elements are tensors, and tuples and dicts of them. Files contain only numbers and strings,
        no code, with a checksum for each element. The format is not TensorFlow's.

        Args:
            path: a folder, which is created.
            compression: "GZIP", or None.
            shard_func: a function of an element that returns the number of its file.
            checkpoint_args: must be None.

        >>> import tempfile
        >>> from framework.data import Dataset
        >>> folder = tempfile.mkdtemp()
        >>> Dataset.range(3).save(folder)
        >>> list(Dataset.load(folder).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        if checkpoint_args is not None:
            raise InvalidArgumentError(
                "save: checkpoint_args must be None, because an interrupted save starts over, got "
                f"{checkpoint_args!r}."
            )
        kind, stage = _compression("save", compression), self._framework
        shard = _sharding("save", shard_func)
        for _ in stored.write_folder(as_path(path), stage.iterate(), stage.spec(), kind, shard):
            pass

    @staticmethod
    def load(
        path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None,
        wait: bool = False,
    ):  # fmt: skip
        """Return a dataset of the elements that `save` wrote.

        Args:
            path: the folder.
            element_spec: the expected spec of the elements, or None.
            compression: accepted; the folder says how its files are compressed.
            reader_func: a function that receives a Dataset with one Dataset per file, and returns
                the Dataset of the elements. By default the files are concatenated.
            wait: must be False.

        Raises:
            NotFoundError: there is no saved dataset.
            LoadError: a file is damaged, or has elements of another structure.
        """
        if wait:
            raise InvalidArgumentError(
                "load: wait must be False, because `load` reads a complete folder only; got True."
            )
        folder = stored.StoredFolder(as_path(path))
        if element_spec is not None and element_spec != folder.spec:
            raise InvalidArgumentError(
                f"load: element_spec: the elements have {folder.spec}, got {element_spec}."
            )
        return made(_read(folder, reader_func))

    def snapshot(
        self, path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None,
        name: str | None = None,
    ):  # fmt: skip
        """Return a dataset whose first complete iteration writes to a folder, as `save` does.

        Later iterations, also those of other programs, read the folder until it is removed.

        Args:
            path: a folder.
            compression: "AUTO" and None for none, or "GZIP".
            reader_func, shard_func: those of `load` and `save`.
        """
        kind = _compression("snapshot", None if compression in ("AUTO", "SNAPPY") else compression)
        shard = _sharding("snapshot", shard_func)
        read = lambda folder: _read(folder, reader_func)
        return made(stored.KeptFolder(self._framework, os.fspath(as_path(path)), kind, shard, read))


def _compression(method, value):
    if (value or "") not in COMPRESSIONS:
        raise InvalidArgumentError(
            f"{method}: compression: expected None or one of {COMPRESSIONS[1:]}, got {value!r}."
        )
    return value or ""


def _sharding(method, shard_func):
    if shard_func is None:
        return lambda element: 0

    def shard_of(element):
        return int(array_in(call(shard_func, element), f"{method}: shard_func's result"))

    return shard_of


def _read(folder, reader_func):
    stages = folder.stages()
    if reader_func is not None:
        files = Listed(list(map(made, stages)), DatasetSpec(folder.spec))
        return stage_of(reader_func(made(files)), "load: reader_func's result")
    if not stages:
        return Listed([], folder.spec)
    return stored.Loaded(Concatenation(*stages) if len(stages) > 1 else stages[0], folder.count)
