"""`model.fast_check`: check in a few seconds whether a compiled model can train on given data."""

import time

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.data.batches import as_batch, as_batches
from framework.training.batch_plans import as_tensors
from framework.training.mistakes.doctor import compare_with_baseline, data_findings, step_findings
from framework.training.mistakes.inputs import sorted_rows
from framework.training.mistakes.one_pass import one_pass
from framework.training.mistakes.page import Page
from framework.training.snapshot import Snapshot
from framework.training.training_step import compiled_step, overrides, require_compiled
from framework.training.usage_warnings import no_warnings

_STEPS = 200
_SECONDS = 5.0
_ENOUGH = 0.5
"""Training on one batch ends when the loss is at most this fraction of the first loss."""
_PROGRESS = 0.9
"""A model does not learn a batch whose loss stays above this fraction of the first loss."""


def fast_check(model, x, y=None, batch_size=None):
    """Check a model on data and return a `Page`; the states of model and optimizer are restored.

    Args:
        x, y, batch_size: as in `fit`.
    """
    require_compiled(model, "fast_check")
    if overrides(model, "train_step") or overrides(model, "make_train_function"):
        raise InvalidArgumentError(
            f"fast_check: {type(model).__name__} overrides train_step, which it cannot inspect. "
            "Check a model of the same layers without the override."
        )
    held = [*model.variables, *model.metrics_variables] if model.built else []
    state = Snapshot(held, model.optimizer)
    with no_warnings():
        try:
            return _checked(model, x, y, batch_size)
        finally:
            state.restore()
            model.reset_metrics()


def _checked(model, x, y, batch_size):
    batches = as_batches(x, y, None, batch_size, shuffle=True)
    if batches.read is not None:
        batches.read = as_batch
    first = next(iter(batches.epoch(0)))
    x, y, sample_weight = (as_tensors(part) for part in first)
    if not model.built:
        model(x, training=False)
    page = Page(f"fast_check: model {model.name!r} on one batch")
    data_findings(page, model, x, y)
    page.add_all("order", [m for m in [sorted_rows(batches)] if m], "")
    step = compiled_step(model)
    step_findings(page, model, one_pass(step, x, y, sample_weight), y)
    if model.trainable_variables:
        _overfit(page, model, step, (x, y, sample_weight), batches.num_batches)
    return page


def _overfit(page, model, step, batch, num_batches):
    """Train on one batch, add the findings, and restore the state."""
    state = Snapshot([*model.variables, *model.metrics_variables], model.optimizer)
    losses, begin = [], time.perf_counter()
    try:
        while len(losses) < _STEPS and time.perf_counter() - begin < _SECONDS:
            start = time.perf_counter()
            losses.append(float(step(*batch)))
            last = time.perf_counter() - start
            if not np.isfinite(losses[-1]) or abs(losses[-1]) < _ENOUGH * abs(losses[0]):
                break
        seen = one_pass(step, *batch)
    finally:
        state.restore()
    course = f"{len(losses)} steps bring the loss of one batch from {losses[0]:.4g} to "
    course += f"{losses[-1]:.4g}"
    if np.isfinite(losses[-1]) and losses[-1] < _PROGRESS * losses[0]:
        page.add("overfit", course)
        compare_with_baseline(page, model, batch[1], seen.y_pred, losses[-1], "this batch")
    else:
        page.add("overfit", f"{course}: the model cannot learn even these {_rows(batch[0])} rows. "
                 "Try another learning rate, scaled inputs, or a larger model.", False)  # fmt: skip
    epoch = "" if num_batches is None else f", {last * num_batches:.2g} s per epoch of "
    epoch += "" if num_batches is None else f"{num_batches} batches"
    page.add("speed", f"{1000 * last:.2g} ms per step{epoch}")


def _rows(x):
    return len(nest.flatten(x)[0].array)
