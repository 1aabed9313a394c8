"""Feed: the batches of each epoch of fit, evaluate and predict; epochs end where Keras's do."""

from framework.core.errors import InvalidArgumentError
from framework.data.batches import check_steps
from framework.training.random_state import random_state, set_random_state
from framework.training.usage_warnings import warn


class Feed:
    """The batches of each epoch.

    If `steps` is given, an epoch continues in the data where the previous one stopped. If the data
    end during an epoch, it ends early, with a warning, and the next epoch iterates over the data
    again (a new pass).

    Args:
        batches: a result of `data.batches.as_batches`.
        steps: batches per epoch; all if None.
        group: `steps_per_execution`: `steps` is rounded up to a multiple of this.
        restart: start each epoch at the first batch, for evaluation.
        first: the number of the first epoch.
    """

    def __init__(self, batches, steps=None, group=1, restart=False, first=0):
        check_steps(steps)
        if batches.endless and steps is None:
            raise InvalidArgumentError(
                "The data are infinite, so an epoch needs a number of batches. Pass "
                "steps_per_epoch=, validation_steps= or steps=."
            )
        self._batches, self._steps, self._group = batches, steps, group
        self._restart, self._pass = restart, first
        self._going = None
        self._seen = 0  # the number of batches requested from the data in this pass
        # for data of unknown length: the number of batches in a pass, known after the first pass
        self._learned = None
        self._gave = False  # whether the data have yielded any batch
        # whether the random generators' state is recorded at the start of each pass
        self.tracks = False
        # the current pass: its number, the batches taken, the states of data and random generators
        # at its start
        self._number, self._taken, self._at_begin = first, 0, None
        self._sampled = 0  # the number of batches that `sample` has taken from an iterator
        # after `resume`: (iterator over the rest of the pass, batches already done in the epoch)
        self._resumed = None
        self.done = 0
        self.exhausted = False

    @property
    def steps(self):
        """The number of batches per epoch, None if unknown."""
        return self._steps or self._batches.num_batches

    def epoch(self, number):
        """Begin epoch `number` and return a generator of its batches; `self.done` counts them."""
        self.done = 0 if self._resumed is None else self._resumed[1]
        self.exhausted = False
        self._batches.begin()
        return self._counted(number)

    def end(self):
        """End the epoch, even if not all its batches were taken."""
        self._batches.end()

    def _counted(self, number):
        for batch in self._all(number) if self._steps is None else self._some(number):
            self.done += 1
            self._taken += 1
            yield batch

    def _all(self, number):
        """Return an iterator over the batches of a whole pass over the data."""
        return self._begin(number)

    def _some(self, number):
        """Yield `steps` batches, or fewer if the data end earlier."""
        if self._restart:
            self._going = self._learned = None
        if self._going is None:
            resumed = self._resumed is not None
            self._going = self._begin(number if self._restart else self._pass)
            if not resumed:
                self._pass, self._seen = self._pass + 1, 0
        asked, known = self.done, self._known()
        while asked < self._steps and not self.exhausted:
            if known is not None and self._seen >= known:
                self.exhausted = True
                break
            self._seen, asked = self._seen + self._group, asked + self._group
            before = self.done
            for _ in range(self._group):
                batch = next(self._going, _END)
                if batch is _END:
                    break
                yield batch
            if self.done == before:
                self._learned = known = self._seen if known is None else known
                self.exhausted = True
        if self.exhausted or (known is not None and self._seen >= known):
            self._going = None

    def _known(self):
        """Return the number of batches in a pass over the data, or None if it is not known yet."""
        known = self._batches.num_batches
        return self._learned if known is None else known

    def _begin(self, number):
        """Return an iterator for a pass over the data; after `resume`, over the rest of a pass."""
        if self._resumed is not None:
            going, self._resumed = self._resumed[0], None
            return going
        if not (self._batches.once and self._taken):
            self._number, self._taken = number, 0
            self._at_begin = self._batches.state(), random_state() if self.tracks else None
        return self._batches.epoch(number)

    # ---- saving and restoring the position in the data, for `fit(resume=...)` ----

    def position(self, done):
        """Return the position in the data as JSON values.

        Args:
            done: the number of batches done in this epoch; 0 between epochs.
        """
        inside = done or self._going is not None or (self._batches.once and self._taken)
        if not inside:
            now = self._batches.state(), random_state()
            return {
                "pass": self._pass, "taken": None, "source": now[0], "random": now[1],
                "learned": self._learned,
            }  # fmt: skip
        source, at_random = self._at_begin
        return {
            "pass": self._number, "next": self._pass, "taken": self._taken, "source": source,
            "random": at_random, "learned": self._learned,
        }  # fmt: skip

    def resume(self, position, done):
        """Continue at a position that `position` returned.

        This changes the random generators, so the caller must restore their states afterwards.
        """
        self._batches.set_state(position["source"])
        self._gave = True
        if position["taken"] is None:
            self._pass, self._learned = position["pass"], position["learned"]
            return
        self._number, self._taken = position["pass"], position["taken"]
        self._pass = position["next"]
        self._at_begin = position["source"], position["random"]
        self._seen, self._learned = _whole(self._taken, self._group), position["learned"]
        set_random_state(position["random"])
        taken = self._taken - self._sampled
        self._resumed = self._batches.resumed(self._number, taken), done

    def sample(self):
        """Return the first batch, for building a model before `resume`."""
        if self._batches.once:
            self._sampled = 1
        state = self._batches.state()
        batch = next(iter(self._batches.epoch(0)))
        self._batches.set_state(state)
        return batch

    def close(self):
        """Stop the worker threads of a PyDataset."""
        if hasattr(self._going, "close"):
            self._going.close()

    def check(self, what, epoch=None, epochs=None):
        """Raise an error if no epoch had a batch; warn if the data ended during this epoch.

        Returns:
            Whether the data can provide batches for another epoch.
        """
        self._gave = self._gave or self.done > 0
        if not self._gave:
            raise InvalidArgumentError(
                f"{what}: the data yielded no batch: they are empty, or an exhausted generator. "
                "Pass a Dataset or another iterable that can be iterated again."
            )
        if self.done and not self.exhausted:
            return True
        more = not self._batches.once
        of = f" of {self._steps}" if self._steps else ""
        where = "" if epochs is None else f" in epoch {epoch + 1} of {epochs}"
        ends = f", so {what} stops there" if epochs is not None and not more else ""
        warn(
            f"Your input ran out of data; interrupting training. {what}: the data ran out after "
            f"{self.done}{of} steps{where}{ends}. Pass data that can be iterated again (arrays, a "
            "Dataset, a PyDataset), an infinite generator or Dataset (`repeat()`), or a smaller "
            "number of steps."
        )
        return more


def _whole(number, group):
    """Return `number` rounded up to a multiple of `group`."""
    return -(-number // group) * group


_END = object()
