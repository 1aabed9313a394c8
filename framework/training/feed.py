"""Feed: the batches of each epoch, from data that restarts or continues between epochs."""

from itertools import islice

from framework.core.errors import InvalidArgumentError
from framework.data.batches import check_steps
from framework.training.usage_warnings import warn


class Feed:
    """The batches of each epoch.

    Args:
        batches: a result of `data.batches.as_batches`.
        steps: batches per epoch; all if None. Each epoch continues where the last one stopped;
            repeatable data restart at their end, an iterator ends.
        restart: start each epoch at the first batch and never restart within one: for evaluation.
        first: the number of the first epoch.
    """

    def __init__(self, batches, steps=None, restart=False, first=0):
        check_steps(steps)
        if batches.endless and steps is None:
            raise InvalidArgumentError(
                "The data are infinite, so an epoch needs a number of batches. Pass "
                "steps_per_epoch=, validation_steps= or steps=."
            )
        self._batches, self._steps = batches, steps
        self._restart, self._pass = restart or batches.once, first
        self._going = None
        self._gave = False  # whether any epoch had a batch
        self.done = 0
        self.exhausted = False

    @property
    def steps(self):
        """The number of batches per epoch, None if unknown."""
        return self._steps or self._batches.num_batches

    def epoch(self, number):
        """Yield the batches of epoch `number`; `done` counts them."""
        self.done = 0
        self._batches.begin()
        try:
            for batch in self._epoch(number):
                self.done += 1
                yield batch
        finally:
            self._batches.end()
        self.exhausted = self._steps is not None and self.done < self._steps

    def _epoch(self, number):
        if self._steps is None:
            return self._batches.epoch(number)
        if self._restart:
            return islice(self._batches.epoch(number), self._steps)
        return self._onward()

    def _onward(self):
        """Yield `steps` batches, restarting the data at their end."""
        left = self._steps
        while left:
            fresh = self._going is None
            if fresh:
                self._going = self._batches.epoch(self._pass)
                self._pass += 1
            batch = next(self._going, _END)
            if batch is _END:
                self._going = None
                if fresh:
                    return
                continue
            left -= 1
            yield batch

    def close(self):
        """Stop the worker threads of a PyDataset."""
        if hasattr(self._going, "close"):
            self._going.close()

    def check(self, what, epoch=None, epochs=None):
        """Raise an error if no epoch had a batch; warn if this epoch had too few.

        Returns:
            Whether the next epoch can have data.
        """
        self._gave = self._gave or self.done > 0
        if not self._gave:
            raise InvalidArgumentError(
                f"{what}: the data yielded no batch: they are empty, or an exhausted generator. "
                "Pass a Dataset or another iterable that can be iterated again."
            )
        if self.done and not self.exhausted:
            return True
        of = f" of {self._steps}" if self._steps else ""
        where = f" in epoch {epoch + 1} of {epochs}, so {what} stops there" if epochs else ""
        warn(
            f"{what}: the data ran out after {self.done}{of} steps{where}. Pass data that can be "
            "iterated again (arrays, a Dataset, a PyDataset), an infinite generator, or a smaller "
            "number of steps."
        )
        return False


_END = object()
