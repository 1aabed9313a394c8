"""Reads event files back by TensorBoard's own reader, for tests."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.util.tensor_util import make_ndarray


class Summary(NamedTuple):
    step: int
    tag: str
    plugin: str
    value: np.ndarray
    description: str


def events(folder):
    """Return the events of all event files of a folder, the oldest file first."""
    files = sorted(Path(folder).glob("events.out.tfevents.*"), key=lambda p: p.stat().st_mtime_ns)
    return [event for file in files for event in LegacyEventFileLoader(str(file)).Load()]


def summaries(folder):
    """Return the `Summary`s of a folder, in order."""
    return [
        Summary(
            event.step, value.tag, value.metadata.plugin_data.plugin_name,
            make_ndarray(value.tensor), value.metadata.summary_description,
        )
        for event in events(folder) for value in event.summary.value
    ]  # fmt: skip


def scalars(folder):
    """Return {tag: [(step, value)]} of the scalars of a folder."""
    found = {}
    for summary in summaries(folder):
        if summary.plugin == "scalars":
            found.setdefault(summary.tag, []).append((summary.step, float(summary.value)))
    return found
