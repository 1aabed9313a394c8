"""EventFile: a file of TensorBoard's events, open for writing.

The events are TensorBoard's protocol buffers, from the package `tensorboard`; TensorFlow is not
needed. `TFRecordWriter` writes the file, because the writer of `tensorboard` computes checksums
byte by byte in Python: 0.37 s per megabyte.
"""

import itertools
import os
import socket
import threading
import time
import weakref
from importlib import import_module
from pathlib import Path

from framework.core.errors import SaveError
from framework.data.records import TFRecordWriter

SOURCE = "framework"  # the writer's name in the first event of a file
VERSION = "brain.Event:2"  # the version of the event file format that TensorBoard reads
_PREFIX = "events.out.tfevents"

_numbers = itertools.count()


def messages(name):
    """Return a module of TensorBoard's package, such as "compat.proto.event_pb2".

    Raises:
        ImportError: the package is not installed.
    """
    try:
        return import_module(f"tensorboard.{name}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("tensorboard", "google"):
            raise
        raise ImportError(
            "TensorBoard's files need the package tensorboard: pip install 'framework[tensorboard]'"
        ) from None


class EventFile:
    """A new event file in a folder.

    Args:
        folder: a path; it is created if missing.
        suffix: the end of the file's name.
        max_queue: the number of events that wait before they are flushed to the file.
        flush_seconds: the longest time between flushes, checked when an event is added.

    Raises:
        SaveError: the file cannot be written.
    """

    def __init__(self, folder, suffix=".v2", max_queue=10, flush_seconds=120.0):
        event = messages("compat.proto.event_pb2")
        self._event = event.Event
        number, host = next(_numbers), socket.gethostname()
        name = f"{_PREFIX}.{int(time.time())}.{host}.{os.getpid()}.{number}{suffix}"
        self.path = Path(folder, name)
        self._max_queue, self._flush_seconds = max_queue, flush_seconds
        self._waiting, self._lock = 0, threading.Lock()
        with _clear_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = TFRecordWriter(str(self.path))
        self._close = weakref.finalize(self, self._writer.close)
        source = event.SourceMetadata(writer=SOURCE)
        self.add(file_version=VERSION, source_metadata=source)
        self.flush()

    def add(self, **fields):
        """Append an event with the current time and these fields."""
        record = self._event(wall_time=time.time(), **fields).SerializeToString()
        with self._lock, _clear_errors(self.path):
            self._writer.write(record)
            self._waiting += 1
            if self._waiting > self._max_queue or time.monotonic() > self._due:
                self._flush()

    _due = 0.0

    def flush(self):
        """Write waiting events to the file."""
        with self._lock, _clear_errors(self.path):
            self._flush()

    def _flush(self):
        if self._close.alive:
            self._writer.flush()
        self._waiting, self._due = 0, time.monotonic() + self._flush_seconds

    def close(self):
        """Write waiting events and close the file."""
        with self._lock, _clear_errors(self.path):
            self._close()


class _clear_errors:
    """Context manager that converts an OSError to a SaveError."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        if isinstance(error, OSError) and not isinstance(error, SaveError):
            raise SaveError(
                f"Cannot write {os.fspath(self._path)!r}: {error.strerror or error}. Earlier "
                "events are unchanged."
            ) from error


# ---- continuing a run that was interrupted -------------------------------------------------------


def sizes(root, folders):
    """Return {"folder/name": size} of the event files in folders of `root`."""
    files = [p for folder in folders for p in Path(root, folder).glob(f"{_PREFIX}.*")]
    return {f"{path.parent.name}/{path.name}": path.stat().st_size for path in files}


def drop_later(root, folders, known):
    """Drop events that were written after a state was saved, when files had the sizes `known`.

    Known files are truncated. Unknown files are deleted if the same process wrote them later; files
    of other processes stay. Only files found in the folders are changed, so a malicious state
    cannot name other files.
    """
    last = {}  # maps a process to the highest number among its known files
    for name in known:
        process, number = _writer_of(name)
        last[process] = max(number, last.get(process, -1))
    for name, size in sizes(root, folders).items():
        path = Path(root, name)
        if path.is_symlink():
            continue
        process, number = _writer_of(name)
        if name not in known:
            if process in last and number > last[process]:
                path.unlink()
        elif size > known[name]:
            os.truncate(path, known[name])


def _writer_of(name):
    """Return ("host.process", file number) from an event file's name."""
    words = name.rpartition("/")[2].removeprefix(f"{_PREFIX}.").split(".")
    digits = [i for i, word in enumerate(words) if i and word.isdigit()]
    for i in digits:  # The name is TIME.HOST.PROCESS.NUMBER and a suffix. HOST may contain dots.
        if i + 1 in digits and i >= 2:
            return ".".join(words[1 : i + 1]), int(words[i + 1])
    return "", -1
