"""CheckpointManager, which keeps the latest checkpoints of a folder; readers of checkpoints."""

import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from framework.core.errors import InvalidArgumentError, MissingCheckpointError, NotFoundError
from framework.saving.checkpoint import ENDING, opened_checkpoint, write_checkpoint
from framework.saving.writing import replacing

_STATE = "checkpoint"  # TensorFlow's name of the file that lists the checkpoints of a folder
_HOUR = 3600.0
_MOST = 2**24  # the largest accepted size in bytes of the file "checkpoint"


@dataclass
class CheckpointState:
    """The content of the file "checkpoint" of a folder.

    Attributes:
        model_checkpoint_path: the latest checkpoint.
        all_model_checkpoint_paths: all checkpoints, the oldest first.
        all_model_checkpoint_timestamps: the time of each.
        last_preserved_timestamp: the time of the last checkpoint that is kept permanently.
    """

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list = field(default_factory=list)
    all_model_checkpoint_timestamps: list = field(default_factory=list)
    last_preserved_timestamp: float = 0.0


def note_latest(folder, latest, paths, times=(), preserved=None):
    """Write the file "checkpoint" of a folder; paths in the folder are stored relative to it."""

    def stored(path):
        relative = os.path.relpath(path, folder)
        return json.dumps(str(path) if relative.startswith("..") else relative)

    lines = [f"model_checkpoint_path: {stored(latest)}"] if latest else []
    lines += [f"all_model_checkpoint_paths: {stored(path)}" for path in paths]
    lines += [f"all_model_checkpoint_timestamps: {float(t)!r}" for t in times]
    if preserved is not None:
        lines.append(f"last_preserved_timestamp: {float(preserved)!r}")
    with replacing(Path(folder, _STATE)) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: Any = None):
    """Return the `CheckpointState` of a folder; None if it has none."""
    file = Path(checkpoint_dir, latest_filename or _STATE)
    state, single = CheckpointState(), {}
    try:
        if file.stat().st_size > _MOST:
            return None
        text = file.read_text("utf-8")
        for key, value in re.findall(r'(?m)^(\w+): ("(?:[^"\\]|\\.)*"|[-+.\w]+)$', text):
            known = getattr(state, key, None)
            if isinstance(known, list):
                known.append(_value(key, value))
            elif known is not None:
                single[key] = _value(key, value)
    except (OSError, ValueError):
        return None
    vars(state).update(single)

    def whole(path):
        return path if Path(path).is_absolute() else str(Path(checkpoint_dir, path))

    if not state.model_checkpoint_path:
        return None
    state.model_checkpoint_path = whole(state.model_checkpoint_path)
    state.all_model_checkpoint_paths = list(map(whole, state.all_model_checkpoint_paths))
    return state


def _value(key, text):
    value = json.loads(text)
    if key.endswith(("path", "paths")):
        if not isinstance(value, str):
            raise ValueError(key)
        return value
    return float(value)


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Any = None):
    """Return the path of the latest existing checkpoint of a folder; None if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return state.model_checkpoint_path if state and _exists(state.model_checkpoint_path) else None


def _exists(path):
    return Path(f"{path}{ENDING}").exists()


class CheckpointManager:
    """Saves numbered checkpoints in a folder and deletes old checkpoints.

    Args:
        checkpoint: a `Checkpoint`.
        directory: a folder; it is created if missing.
        max_to_keep: the number of latest checkpoints to keep; None keeps all.
        keep_checkpoint_every_n_hours: a checkpoint is kept permanently if at least this time has
            passed since the last permanent one.
        checkpoint_name: the first part of file names.
        step_counter: a variable; `save` writes only if its value has grown by `checkpoint_interval`
            since the last checkpoint.
        checkpoint_interval: an int, or None.
        init_fn: called by `restore_or_initialize` if there is no checkpoint.
        last_checkpoint_step: the value of `step_counter` at the last checkpoint, if known.

    Example:
        >>> import tempfile
        >>> import framework as tf
        >>> checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     manager = CheckpointManager(checkpoint, folder, max_to_keep=2)
        ...     paths = [manager.save() for _ in range(3)]
        ...     manager.checkpoints == paths[1:], manager.latest_checkpoint == paths[2]
        (True, True)
    """

    def __init__(
        self, checkpoint: Any, directory: Any, max_to_keep: Any,
        keep_checkpoint_every_n_hours: Any = None, checkpoint_name: Any = "ckpt",
        step_counter: Any = None, checkpoint_interval: Any = None, init_fn: Any = None,
        last_checkpoint_step: Any = None,
    ):  # fmt: skip
        if max_to_keep is not None and max_to_keep <= 0:
            raise InvalidArgumentError(
                f"CheckpointManager: expected max_to_keep > 0 or None, got {max_to_keep!r}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise InvalidArgumentError(
                "CheckpointManager: `step_counter` should be passed with checkpoint_interval."
            )
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._most, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = str(Path(self._directory, checkpoint_name))
        self._counter, self._interval, self._init_fn = step_counter, checkpoint_interval, init_fn
        self._saved_at_step = last_checkpoint_step
        self._times, self._preserved = {}, None
        self._read_state()

    def _read_state(self):
        """Read the list of checkpoints that an earlier process wrote."""
        now = time.time()
        state = get_checkpoint_state(self._directory)
        if state is None:
            self._preserved = now
            return
        times = state.all_model_checkpoint_timestamps
        paths = state.all_model_checkpoint_paths
        times = times if len(times) == len(paths) else [now] * len(paths)
        self._times = {p: t for p, t in zip(paths, times) if _exists(p)}
        self._preserved = state.last_preserved_timestamp or now

    @property
    def directory(self):
        return self._directory

    @property
    def checkpoint(self):
        return self._checkpoint

    @property
    def checkpoint_interval(self):
        return self._interval

    @property
    def checkpoints(self):
        """The paths of the checkpoints that are kept, the oldest first."""
        return list(self._times)

    @property
    def latest_checkpoint(self):
        """The path of the latest checkpoint; None if there is none."""
        return next(reversed(self._times), None)

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None):
        """Write a checkpoint and delete old checkpoints.

        Args:
            checkpoint_number: an int or variable for the file's name; None: the number of saves.
            check_interval: whether to apply `checkpoint_interval`.
            options: accepted for compatibility.

        Returns:
            The path; None if the interval has not passed.
        """
        if self._interval is not None:
            step = int(self._counter)
            last = self._saved_at_step
            if check_interval and last is not None and step < last + self._interval:
                return None
            self._saved_at_step = step
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number = int(counter if checkpoint_number is None else checkpoint_number)
        path = f"{self._prefix}-{number}"
        write_checkpoint(self._checkpoint, path, options, lambda: self._written(path))
        return path

    def _written(self, path):
        """Add a new checkpoint to the list, and delete old checkpoints."""
        self._times.pop(path, None)
        self._times[path] = time.time()
        old = self._drop_old()
        # the list is written before files are deleted, so that it never names a deleted file
        note_latest(self._directory, path, self._times, self._times.values(), self._preserved)
        for name in old:
            Path(f"{name}{ENDING}").unlink(missing_ok=True)

    def _drop_old(self):
        """Remove the oldest checkpoints from the list; return those to delete."""
        old = []
        while self._most is not None and len(self._times) > self._most:
            path = next(iter(self._times))
            at = self._times.pop(path)
            if self._hours is not None and at - self._preserved >= self._hours * _HOUR:
                self._preserved = at
            else:
                old.append(path)
        return old

    def restore_or_initialize(self):
        """Restore the latest checkpoint and return its path; without one, call `init_fn`."""
        self.sync()
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
            if self._interval is not None:
                self._saved_at_step = int(self._counter)
            return latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        """Wait for the end of a write in the background."""
        self._checkpoint.sync()


# ---- reading files -------------------------------------------------------------------------------


class CheckpointReader:
    """The values of a checkpoint by name; `load_checkpoint` returns it."""

    def __init__(self, path):
        with opened_checkpoint(path) as file:
            self._shapes = dict(file.shapes)
            self._dtypes = {name: file.dtype(name) for name in file.shapes}
        self._path = path

    def has_tensor(self, tensor_str: Any):
        return tensor_str in self._shapes

    def get_tensor(self, tensor_str: Any):
        """Return a value as a NumPy array."""
        if tensor_str not in self._shapes:
            raise NotFoundError(
                f"Key {tensor_str} not found in checkpoint {self._path!r}. The names are "
                f"{', '.join(list(self._shapes)[:10])}."
            )
        with opened_checkpoint(self._path) as file:
            return file.array(tensor_str)[()]

    def get_variable_to_shape_map(self):
        return {name: list(shape) for name, shape in self._shapes.items()}

    def get_variable_to_dtype_map(self):
        from framework.core.dtypes import as_dtype

        return {name: as_dtype(dtype) for name, dtype in self._dtypes.items()}


def load_checkpoint(ckpt_dir_or_file: Any):
    """Return a reader of a checkpoint: `get_tensor(name)`, `get_variable_to_shape_map()`.

    Args:
        ckpt_dir_or_file: the path of a checkpoint; or a folder, which stands for its latest
            checkpoint.
    """
    path = os.fspath(ckpt_dir_or_file)
    if Path(path).is_dir():
        found = latest_checkpoint(path)
        if found is None:
            raise MissingCheckpointError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = found
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file: Any):
    """Return the pairs (name, shape) of a checkpoint's values, sorted by name."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())


def load_variable(ckpt_dir_or_file: Any, name: Any):
    """Return the value of a checkpoint's variable as a NumPy array."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


def checkpoints_iterator(
    checkpoint_dir: Any, min_interval_secs: Any = 0, timeout: Any = None, timeout_fn: Any = None,
):  # fmt: skip
    """Yield the path of each new checkpoint of a folder.

    Args:
        checkpoint_dir: a folder.
        min_interval_secs: the least number of seconds between two paths.
        timeout: the seconds to wait for a new checkpoint; None: no limit.
        timeout_fn: called after `timeout` seconds; if it returns True, or is None, the iteration
            ends.
    """
    last = None
    while True:
        path = _wait_for_new(checkpoint_dir, last, timeout)
        if path is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        began, last = time.monotonic(), path
        yield path
        time.sleep(max(0.0, began + min_interval_secs - time.monotonic()))


def _wait_for_new(folder, last, timeout, pause=0.1):
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != last:
            return path
        if end is not None and time.monotonic() + pause > end:
            return None
        time.sleep(pause)


@dataclass
class CheckpointOptions:
    """Options of `Checkpoint.save`.

    Args:
        enable_async, experimental_enable_async_checkpoint: write the file in a background thread.
            The next `save` and `sync()` wait for the end of the write.
        experimental_write_callbacks: functions, called with the path when the file is written.
        experimental_io_device, experimental_skip_slot_variables, experimental_sharding_callback:
            accepted for compatibility; they have no effect.
    """

    experimental_io_device: Any = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: Any = None
    enable_async: bool = False
    experimental_skip_slot_variables: bool = False
    experimental_sharding_callback: Any = None
