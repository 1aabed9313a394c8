"""Feed: one epoch's batches after another, from data that begins anew or goes on."""

from itertools import islice

from framework.core.errors import InvalidArgumentError
from framework.data.batches import check_steps
from framework.training.checks import warn


class Feed:
    """The batches of each epoch.

    Args:
        batches: see `data.batches.as_batches`.
        steps: batches an epoch; all there are where None. Data that can be begun anew go on in the
            next epoch where they stopped in the last one, and begin anew at their end; an iterator
            goes on until it has run out.
        restart: begin anew in each epoch, and never within one: for evaluation.
        first: the number of the first epoch.
    """

    def __init__(self, batches, steps=None, restart=False, first=0):
        check_steps(steps)
        if batches.endless and steps is None:
            raise InvalidArgumentError(
                "The data never end: give the number of steps (steps_per_epoch=, "
                "validation_steps= or steps=)."
            )
        self._batches, self._steps = batches, steps
        self._restart, self._pass = restart or batches.once, first
        self._going = None
        self._gave = False  # whether there was a batch in any epoch
        self.done = 0
        self.exhausted = False

    @property
    def steps(self):
        """Batches an epoch, None while that is not known."""
        return self._steps or self._batches.num_batches

    def epoch(self, number):
        """The batches of epoch `number`; `done` counts them."""
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
        """`steps` batches, over the end of the data into the next pass where need be."""
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
        """Let go of what is still running: worker threads of a PyDataset."""
        if hasattr(self._going, "close"):
            self._going.close()

    def check(self, what, epoch=None, epochs=None):
        """An error if there was no batch in any epoch, a warning if there were too few in this.

        Returns:
            Whether the next epoch can have data.
        """
        self._gave = self._gave or self.done > 0
        if not self._gave:
            raise InvalidArgumentError(
                f"{what}: the data gave no batch: they are empty, or a generator that is used up. "
                "Pass a Dataset or another iterable that can be iterated again."
            )
        if self.done and not self.exhausted:
            return True
        of = f" of {self._steps}" if self._steps else ""
        where = f" in epoch {epoch + 1} of {epochs}, and {what} stops there" if epochs else ""
        warn(
            f"{what}: the data ran out: they gave {self.done}{of} steps{where}. Pass data that can "
            "be iterated again (arrays, a Dataset, a PyDataset), an endless generator, or fewer "
            "steps."
        )
        return False


_END = object()
