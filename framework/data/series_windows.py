"""TimeseriesGenerator: batches of windows of a series, as older Keras programs use them."""

from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.data.pydataset import PyDataset


class TimeseriesGenerator(PyDataset):
    """Batches of windows of a series, each with the target of the row after it.

    For new programs, `keras.utils.timeseries_dataset_from_array` is faster.

    Args:
        data: rows in the order of time.
        targets: as many rows as `data`.
        length: the number of rows that a window spans.
        sampling_rate: n, to take every n-th row of these.
        stride: the number of rows between windows.
        start_index, end_index: the first and the last row to use; an `end_index` of None means all.
        shuffle: True for windows at random positions, drawn by NumPy's global generator.
        reverse: True to reverse the order of the rows in each window.
        batch_size: the number of windows in a batch.

    Example:
        >>> series = np.arange(6)
        >>> batches = TimeseriesGenerator(series, series, length=3, batch_size=2)
        >>> len(batches), batches[0][0].tolist(), batches[0][1].tolist()
        (2, [[0, 1, 2], [1, 2, 3]], [3, 4])
    """

    def __init__(
        self, data: Any, targets: Any, length: Any, sampling_rate: Any = 1, stride: Any = 1,
        start_index: Any = 0, end_index: Any = None, shuffle: bool = False, reverse: bool = False,
        batch_size: Any = 128,
    ):  # fmt: skip
        super().__init__()
        if len(data) != len(targets):
            raise InvalidArgumentError(
                f"TimeseriesGenerator: targets: expected {len(data)} rows, as many as data, got "
                f"{len(targets)}."
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride, self.batch_size = sampling_rate, stride, batch_size
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse = shuffle, reverse
        if self.start_index > self.end_index:
            raise InvalidArgumentError(
                f"TimeseriesGenerator: length: no window of {length} rows with a target after it "
                f"lies between the rows {start_index} and {self.end_index}."
            )

    def __len__(self) -> int:
        rows = self.batch_size * self.stride
        return (self.end_index - self.start_index + rows) // rows

    def __getitem__(self, index: Any) -> Any:
        if self.shuffle:
            ends = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            last = min(first + self.batch_size * self.stride, self.end_index + 1)
            ends = np.arange(first, last, self.stride)
        windows = [self.data[end - self.length : end : self.sampling_rate] for end in ends]
        x, y = np.array(windows), np.array([self.targets[end] for end in ends])
        return (x[:, ::-1] if self.reverse else x), y
