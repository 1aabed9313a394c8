"""BackupAndRestore: continues an interrupted `fit` where it stopped."""

from pathlib import Path
from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.training.callbacks.base import Callback


class BackupAndRestore(Callback):
    """Saves the whole state of training, from which `fit` continues after an interruption.

    As in Keras, `fit` starts with the epoch that was interrupted, and its history begins there.
    Unlike Keras, it continues with the next batch of that epoch, so the result equals that of an
    uninterrupted run bit for bit; `fit(resume=folder)` does the same and continues the history too.

    Args:
        backup_dir: a folder for the state, which no other run may use.
        save_freq: "epoch", the number of batches between two saves, or False.
        double_checkpoint: also keep the previous state, in case the last file is damaged.
        delete_checkpoint: delete the state when `fit` ends.

    Raises:
        ValueError: `backup_dir` is empty, or `save_freq` is invalid.

    Example:
        >>> BackupAndRestore("backup", save_freq=100).delete_checkpoint
        True
    """

    def __init__(
        self, backup_dir: Any, save_freq: Any = "epoch", double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
    ):  # fmt: skip
        if not backup_dir:
            raise InvalidArgumentError(
                "BackupAndRestore: expected a path, got an empty `backup_dir` argument."
            )
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise InvalidArgumentError(
                f"BackupAndRestore: save_freq must be 'epoch' or a number of batches, got "
                f"{save_freq!r}."
            )
        self.backup_dir, self.save_freq = str(Path(backup_dir)), save_freq
        self._framework.backs_up = True
        self.double_checkpoint, self.delete_checkpoint = double_checkpoint, delete_checkpoint
