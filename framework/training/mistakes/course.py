"""Mistakes detected during `fit`: a loss that is NaN or infinite, does not change, or rises."""

import numpy as np

from framework.optimizers.asking import scales
from framework.training.batch_plans import as_tensors
from framework.training.mistakes.inputs import not_finite_in, sorted_rows
from framework.training.mistakes.rates import unusual_rate
from framework.training.training_step import compiled_step, overrides
from framework.training.usage_warnings import warn

_EPOCHS = 3
"""The least number of epochs after which a loss counts as not moving."""
_FLAT = 1e-3
"""The largest relative difference between losses that count as equal."""
_RISE = 3
"""The ratio of an epoch's loss to the first batch's from which on a loss counts as rising."""


class Course:
    """The losses of one `fit`, and warnings about them.

    Args:
        model: a compiled model.
        feed: the `Feed` of the batches, which counts them.
        batches: the data, a result of `data.batches.as_batches`.
        doctor: print the report of `fit(doctor=True)` after the first epoch.
    """

    def __init__(self, model, feed, batches, doctor=False):
        self._model, self._batches, self._doctor, self._last = model, batches, doctor, None
        self._training, self._feed = model._framework.training, feed
        own = overrides(model, "train_step") or overrides(model, "make_train_function")
        self._step = None if own else compiled_step(model)
        self._losses = []
        self.epoch = 0  # the current epoch, counted from 0
        # whether a callback or loss scaling already handles losses that are NaN or infinite
        self.handled = scales(self._training.optimizer)
        if "order" not in self._training.told:
            self._training.told.add("order")
            message = sorted_rows(batches)
            if message:
                warn(message)

    def not_finite(self, batch, loss):
        """Warn that the loss of this batch, an array, is not finite."""
        self._warn_once("not finite", self._not_finite_message(batch, loss))

    def _not_finite_message(self, batch, loss):
        x, y, _ = (as_tensors(part) for part in batch)
        where = f"fit: the loss is {float(loss)} from batch {self._feed.done} of epoch "
        where += f"{self.epoch + 1} on"
        bad = not_finite_in(x, y)
        if bad:
            return (
                f"{where}, because {bad}. Replace or drop such rows before fit, as by "
                "np.nan_to_num(x) or table.dropna()."
            )
        side, rate = unusual_rate(self._training.optimizer)
        if side > 0:
            return f"{where}; {rate}."
        return (
            f'{where}, and all weights with it. Call fit(..., debug="numerics") on the new model: '
            "it names the op, the layer and the line. Usual causes are too large a learning rate, "
            "and a log, root or division of 0."
        )

    def after_epoch(self, logs, batch):
        """Check the mean loss of an epoch.

        Args:
            logs: the epoch's logs.
            batch: its last batch, (x, y, sample_weight); None if a resumed epoch had none left.
        """
        loss = logs.get("loss")
        if self._doctor:
            self._last = batch  # `report` reads this batch at the end of the epoch
        if not isinstance(loss, float):
            return
        self._losses.append(loss)
        if not np.isfinite(loss):
            if self._step is None:
                self._warn_once("not finite", self._not_finite_message((None,) * 3, loss))
            return
        if self._step is not None and abs(loss) > _RISE * abs(self._first()):
            self._rises(loss)
        if batch is not None and self._step is not None and self._is_flat():
            self._does_not_move(batch)

    def report(self):
        """Print the report of `fit(doctor=True)` once; without `doctor=True`, do nothing."""
        if not self._doctor or self._last is None:
            return
        self._doctor = False
        if self._step is None:
            print("doctor: the model overrides train_step, which the doctor cannot inspect.")
            return
        from framework.training.mistakes.doctor import page_after_epoch

        print(page_after_epoch(self._model, self._batches, self._last))

    def _first(self):
        loss = self._step.first_loss
        return float(loss) if loss is not None and loss.ndim == 0 else np.inf

    def _rises(self, loss):
        side, rate = unusual_rate(self._training.optimizer)
        if side > 0:
            self._warn_once("rate", (
                f"fit: the loss rises, from {self._first():.4g} for the first batch to a mean "
                f"of {loss:.4g} in epoch {self.epoch + 1}; {rate}."
            ))  # fmt: skip

    def _is_flat(self):
        losses = np.abs(self._losses[-_EPOCHS:])
        return (
            len(losses) == _EPOCHS and losses.max() > 0 and np.ptp(losses) <= _FLAT * losses.max()
        )

    def _does_not_move(self, batch):
        """Warn that the loss is constant, unless no cause is found: it may be at its minimum."""
        if "flat" in self._training.told:
            return
        self._training.told.add("flat")
        side, rate = unusual_rate(self._training.optimizer)
        causes = [f"{rate[0].upper()}{rate[1:]}."] if side < 0 else self._causes(batch)
        if causes:
            warn(
                f"fit: the loss does not move: it is {self._losses[-1]:.4g} in each of the last "
                f"{_EPOCHS} epochs. {' '.join(causes)}"
            )

    def _causes(self, batch):
        from framework.training.mistakes import (
            one_pass,
        )  # imported here because it is rarely needed

        try:
            return one_pass.one_pass(self._step, *map(as_tensors, batch)).mistakes()
        except Exception:  # a failed search for causes must not end the training
            return []

    def _warn_once(self, what, message):
        if what in self._training.told or (what == "not finite" and self.handled):
            return
        self._training.told.add(what)
        warn(message)
