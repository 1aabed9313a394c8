"""Checkpoint: saves and restores the variables of objects, matched by the names of attributes."""

import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from framework.core import deferred
from framework.core.errors import (
    DamagedFileError,
    InvalidArgumentError,
    LoadError,
    MissingCheckpointError,
    MissingModelError,
    UnmatchedCheckpointError,
)
from framework.core.stored import own_memory
from framework.core.variable import Variable
from framework.saving.background import Background
from framework.saving.object_graph import (
    Tracked,
    checked,
    children,
    described,
    is_trackable,
    matched,
)
from framework.saving.states import read_state, write_state

ENDING = ".ckpt"
"""The suffix of checkpoint files; users write paths of checkpoints without it."""

KIND = "checkpoint"


class Checkpoint(Tracked):
    """Saves and restores variables of objects: models, optimizers, layers, modules, variables.

    Values are matched by the names of attributes, as in TensorFlow, not by the names of variables.
    Values of variables that do not exist yet, such as those of an unbuilt layer or the slots of an
    optimizer, are kept and set when these variables are created. A file is written whole or not at
    all, and is read only if its checksums are right.

    Args:
        root: an object whose attributes are saved under their own names; or None.
        **kwargs: more objects by name; later ones can be set as attributes.

    Raises:
        ValueError: an object cannot hold variables.

    Example:
        >>> import tempfile
        >>> import framework as tf
        >>> step = tf.Variable(1)
        >>> checkpoint = Checkpoint(step=step)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = checkpoint.save(f"{folder}/run")
        ...     _ = step.assign(7)
        ...     _ = checkpoint.restore(path).assert_consumed()
        >>> step.numpy()
        np.int32(1)
    """

    def __init__(self, root: Any = None, **kwargs: Any):
        values = kwargs if root is None else {"root": root, **kwargs}
        for name, value in values.items():
            empty = isinstance(value, (list, tuple, dict)) and not value
            if not is_trackable(value) and not empty:
                raise InvalidArgumentError(
                    f"Checkpoint was expecting {name} to be a trackable object (a model, layer, "
                    f"optimizer, metric, module, variable, or a list or dict of them), got "
                    f"{value!r:.80}."
                )
        own = {"root": root, "save_counter": None, "background": Background()}
        object.__setattr__(self, "_own", own)
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        waiting = bool(deferred.waiting)
        object.__setattr__(self, name, deferred.filling(value) if waiting else value)
        if waiting:
            deferred.fill()

    def tracked(self):
        """Return {name: object} for the objects that the checkpoint saves."""
        own = {name: value for name, value in vars(self).items() if name != "_own"}
        if self._own["save_counter"] is not None:
            own["save_counter"] = self._own["save_counter"]
        root = self._own["root"]
        return own if root is None else {**children(root), **own}

    @property
    def save_counter(self):
        """The number of calls of `save`, a variable that the checkpoint also saves."""
        if self._own["save_counter"] is None:
            self._own["save_counter"] = Variable(
                np.zeros((), np.int64), name="save_counter", trainable=False
            )
        return self._own["save_counter"]

    # ---- writing ----

    def save(self, file_prefix: Any, options: Any = None):
        """Write "PREFIX-N", where N counts the calls; return this path.

        The file is PREFIX-N.ckpt. A file "checkpoint" in the same folder names the latest
        checkpoint.
        """
        # imported here because checkpoint_manager imports this module
        from framework.saving.checkpoint_manager import note_latest

        number = int(self.save_counter.assign_add(1))
        path = f"{os.fspath(file_prefix)}-{number}"
        folder = str(Path(path).parent)
        write_checkpoint(self, path, options, lambda: note_latest(folder, path, [path]))
        return path

    def write(self, file_prefix: Any, options: Any = None):
        """Write the checkpoint `file_prefix` and return this path; `save_counter` is unchanged."""
        path = os.fspath(file_prefix)
        write_checkpoint(self, path, options)
        return path

    def sync(self):
        """Wait for the end of a write in the background.

        Raises:
            SaveError: the file could not be written.
        """
        self._own["background"].wait()

    # ---- reading ----

    def restore(self, save_path: Any, options: Any = None):
        """Set the variables to the values of a checkpoint.

        Args:
            save_path: a path that `save`, `write` or `latest_checkpoint` returned; with None
                nothing is restored.
            options: a `CheckpointOptions`; it has no effect.

        Returns:
            A `CheckpointLoadStatus`; its `assert_consumed()` checks that everything fits.

        Raises:
            LoadError: the file is missing or damaged, or a value does not fit its variable; then
                no variable is changed.
        """
        self.save_counter  # noqa: B018 (creates it, so that its value is restored)
        return self.read(save_path, options)

    def read(self, save_path: Any, options: Any = None):
        """Like `restore`, for a checkpoint of `write`, which has no save_counter."""
        self.sync()
        if save_path is None:
            return CheckpointLoadStatus(Restoration(self, None), self)
        restoration = Restoration(self, os.fspath(save_path))
        try:
            restoration.fill()
        except BaseException:
            restoration._end()
            raise
        return CheckpointLoadStatus(restoration, self)


def write_checkpoint(checkpoint, path, options=None, then=None):
    """Write a checkpoint to `path`, then call `then`; in a thread if `options` request it."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    nodes, variables = described(checkpoint)
    arrays = {name: variable.array for name, variable in variables.items()}

    def write():
        write_state(f"{path}{ENDING}", KIND, arrays, {"nodes": nodes})
        if then is not None:
            then()
        for call in getattr(options, "experimental_write_callbacks", None) or ():
            call(path)

    names = ("enable_async", "experimental_enable_async_checkpoint")
    checkpoint.sync()
    if any(getattr(options, name, False) for name in names):
        checkpoint._own["background"].start(write)
    else:
        write()


class CheckpointLoadStatus:
    """The result of `restore`: its methods check the restored values, and return this object."""

    def __init__(self, restoration, checkpoint):
        self._restoration = restoration
        # this reference keeps the checkpoint alive, because `restoration` has only a weak one
        self._checkpoint = checkpoint

    def assert_consumed(self):
        """Raise an error unless values in the file and variables match one to one."""
        self.assert_existing_objects_matched()
        left = self._restoration.left()
        if left:
            raise UnmatchedCheckpointError(
                f"{self._restoration.name}: no variable exists for {len(left)} values of the file: "
                f"{', '.join(left[:5])}{', ...' if len(left) > 5 else ''}. Build the objects "
                "first, or use expect_partial()."
            )
        return self

    def assert_existing_objects_matched(self):
        """Raise an error unless every existing variable was restored."""
        missing = self._restoration.unmatched()
        if missing:
            raise UnmatchedCheckpointError(
                f"{self._restoration.name}: the file has no values for {len(missing)} variables: "
                f"{', '.join(v.name for v in missing[:5])}{', ...' if len(missing) > 5 else ''}. "
                "Give their attributes the names that they had in the saved objects."
            )
        return self

    def assert_nontrivial_match(self):
        """Raise an error if no value except the save counter was restored."""
        if self._restoration.trivial():
            raise UnmatchedCheckpointError(
                f"{self._restoration.name}: nothing was restored: no attribute name of the "
                "checkpoint is in the file."
            )
        return self

    def expect_partial(self):
        """Accepted for compatibility: values without a variable raise no error anyway."""
        return self

    def initialize_or_restore(self, session: Any = None):
        """Accepted for compatibility: values are restored already."""

    def run_restore_ops(self, session: Any = None):
        """Accepted for compatibility: values are restored already."""


class Restoration:
    """Assigns the values of one file to the variables of one checkpoint, as these are created.

    It stays in `deferred.waiting` until each value has a variable, the checkpoint is restored
    again, or the checkpoint is deleted.
    """

    def __init__(self, checkpoint, path):
        self.name, self._done, self._file = path, set(), None
        self._checkpoint = weakref.ref(checkpoint, lambda _: self._end())
        self._nodes = []
        if path is None:
            return
        self._file = opened_checkpoint(path)
        try:
            self._nodes = checked(self._file.values["nodes"], self._file.shapes)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self._file.close()
            raise DamagedFileError(f"{path}: the checkpoint is damaged: {error!r}") from None
        for other in list(deferred.waiting):
            if other._checkpoint() is checkpoint:
                other._end()
        self._values = {i for i, node in enumerate(self._nodes) if node.get("value")}

    def fill(self):
        """Set all existing variables that have not been set yet."""
        checkpoint = self._checkpoint()
        if self._file is None or checkpoint is None:
            return
        found, _ = matched(self._nodes, checkpoint)
        new = {n: v for n, v in found.items() if n not in self._done and n in self._values}
        for number, variable in new.items():
            self._check(self._nodes[number]["value"], variable)
        for number, variable in new.items():
            variable._array = self._file.array(self._nodes[number]["value"], own_memory(variable))
        self._done.update(new)
        if len(self._done) == len(self._values):
            self._end()
        elif self not in deferred.waiting:
            deferred.waiting.append(self)

    def _check(self, name, variable):
        shape, dtype = self._file.shapes[name], self._file.dtype(name)
        fits = shape == variable.array.shape or variable._takes(shape, "assign")
        if not fits or dtype != variable.array.dtype:
            raise LoadError(
                f"{self.name}: {name} has shape {shape} and dtype {dtype}, but the variable "
                f"{variable.name!r} has shape {tuple(variable.shape)} and dtype "
                f"{variable.array.dtype}. No further values are restored."
            )

    def _end(self):
        if self in deferred.waiting:
            deferred.waiting.remove(self)
        if self._file is not None:
            self._file.close()
            self._file = None

    def left(self):
        """Return the names of values in the file that have no variable yet."""
        return [self._nodes[number]["value"] for number in sorted(self._values - self._done)]

    def unmatched(self):
        """Return the variables that have no value in the file."""
        checkpoint = self._checkpoint()
        if checkpoint is None or not self._nodes:
            return []
        # The save counter is created by `restore`; a file that `write` wrote has no value for it.
        own = checkpoint._own["save_counter"]
        return [v for v in matched(self._nodes, checkpoint)[1] if v is not own]

    def trivial(self):
        """Return whether no value except the save counter was restored."""
        counter = self._nodes[0].get("children", {}).get("save_counter") if self._nodes else None
        return not self._done - {counter}


def opened_checkpoint(path):
    """Open the file of a checkpoint.

    Raises:
        LoadError: the file is missing or damaged.
    """
    path = os.fspath(path)
    try:
        return read_state(path if path.endswith(ENDING) and Path(path).exists()
                          else f"{path}{ENDING}", KIND)  # fmt: skip
    except MissingModelError:
        raise MissingCheckpointError(
            f"No checkpoint {path!r}: the file {path + ENDING!r} does not exist. Pass the path "
            "that save() or latest_checkpoint() returned."
        ) from None
