"""A training run by `fit`, timed batch by batch: for us and, unchanged, for Keras."""

import time
from types import ModuleType

import numpy as np
from workloads import Problem

from peers import models

REPEATED = 16  # times at most that the batches come in one epoch


class Fit:
    """A compiled model and its data; `first` gives losses, `timed` the durations of steps."""

    def __init__(self, keras: ModuleType, name: str, problem: Problem) -> None:
        self.model = models.compiled(keras, name, problem)
        x, y = (np.concatenate(part) for part in zip(*problem.batches, strict=True))
        self.rows = len(problem.batches[0][1])
        self.data = x, y

        class Clock(keras.callbacks.Callback):
            """Keeps when each batch ended, and its loss out of the running mean."""

            def on_epoch_begin(self, epoch, logs=None):
                self.ends, self.means = [], []

            def on_train_batch_end(self, batch, logs=None):
                self.ends.append(time.perf_counter())
                if self.losses:
                    self.means.append(float(logs["loss"]))

        self.clock = Clock()

    def run(self, x, y, *, losses):
        self.clock.losses = losses
        self.model.fit(x, y, batch_size=self.rows, shuffle=False, verbose=0, callbacks=[self.clock])
        return self.clock

    def first(self, count: int) -> list[float]:
        """The losses of the first steps."""
        x, y = (part[: count * self.rows] for part in self.data)
        means = self.run(x, y, losses=True).means
        sums = [mean * (number + 1) for number, mean in enumerate(means)]
        return [high - low for high, low in zip(sums, [0.0, *sums], strict=False)]

    def timed(self, seconds: float, fewest: int) -> list[float]:
        """The durations of steps, for so many seconds in all; an epoch's first is left out."""
        times = np.diff(self.run(*self.data, losses=False).ends).tolist()
        repeats = max(1, min(REPEATED, int(seconds / (sum(times) + 1e-9))))
        data = [np.concatenate([part] * repeats) for part in self.data]  # long epochs, where quick
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(times) < fewest:
            times += np.diff(self.run(*data, losses=False).ends).tolist()
        return times
