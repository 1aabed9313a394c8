"""StepRecord: the last training batch with its outputs, loss and gradients, for callbacks."""

from framework.core.errors import InvalidArgumentError
from framework.optimizers.applying import plans_of
from framework.optimizers.asking import inside, is_several
from framework.optimizers.forms import Arrays
from framework.optimizers.rates import rate_now
from framework.training.callbacks.base import Callback

NEEDS = ("batch", "outputs", "loss", "gradients", "norms", "rates")
"""The values that a callback may declare in `needs`."""


class StepRecord:
    """`self.step` of a callback: the last batch with its outputs, loss and gradients.

    It holds only the values that some callback declares, as in `needs = {"gradients", "loss"}`.

    - `batch`: (x, y, sample_weight); `x`, `y` and `sample_weight` are its parts
    - `outputs`: the model's outputs, before the update
    - `loss`: the loss of this batch, a float (logs have the running mean)
    - `gradients`: `Gradients` by variable path, before clipping
    - `norms`: the L2 norm of each gradient, a float by path
    - `rates`: the learning rate of each trainable variable, a float by path
    """

    def __init__(self, needs):
        self._needs = needs = frozenset(needs)
        self._held = {}
        self.outputs_needed = "outputs" in needs
        self.gradients_needed = not needs.isdisjoint(("gradients", "norms"))

    def rates_before(self, optimizer, variables):
        """Return the learning rates of the next update if a callback needs them, otherwise None."""
        return rates_of(optimizer, variables) if "rates" in self._needs else None

    def take(self, batch, outputs, loss, gradients, rates):
        """Store those values of a step that callbacks need; they are values before the update."""
        held, needs = {}, self._needs
        if "batch" in needs:
            held["batch"] = batch
        if "outputs" in needs:
            held["outputs"] = outputs
        if "loss" in needs:
            held["loss"] = loss
        if self.gradients_needed:
            held["gradients"] = gradients.copy()
        if "rates" in needs:
            held["rates"] = rates
        self._held = held

    def _get(self, name):
        if name not in self._needs:
            raise InvalidArgumentError(
                f"self.step.{name}: no callback in this run declares that it needs this value. "
                f'Write needs = {{"{name}"}} in the body of the callback\'s class.'
            )
        if name not in self._held and not (name == "norms" and "gradients" in self._held):
            raise InvalidArgumentError(
                f"self.step.{name}: there was no batch yet, or the model overrides train_step "
                "without calling super().train_step."
            )
        return self._held.get(name)

    @property
    def batch(self):
        return self._get("batch")

    x = property(lambda self: self.batch[0])
    y = property(lambda self: self.batch[1])
    sample_weight = property(lambda self: self.batch[2])

    @property
    def outputs(self):
        return self._get("outputs")

    y_pred = outputs

    @property
    def loss(self):
        return float(self._get("loss"))

    @property
    def gradients(self):
        return self._get("gradients")

    @property
    def norms(self):
        self._get("norms")
        return self._held["gradients"].norms()

    @property
    def rates(self):
        return self._get("rates")


def rates_of(optimizer, variables):
    """Return the learning rate of each variable at the current step, a float by path."""
    optimizer = inside(optimizer)
    chosen = optimizer.optimizer_map if is_several(optimizer) else lambda variable: optimizer
    return {v.path: _rate(chosen(v), v) for v in variables}


def _rate(optimizer, variable):
    (plan,) = plans_of(optimizer, [variable])
    rate, _ = optimizer._framework.rates[plan.rate_index]
    return float(rate_now(optimizer, rate, Arrays))


def needs_of(callbacks):
    """Return all values that the callbacks declare in `needs`.

    An unknown name in a class's `needs` raises an error. In an instance attribute `needs`, it is
    ignored, because the user may use this attribute for other purposes.
    """
    declared = set()
    for callback in callbacks:
        needs = _words(getattr(type(callback), "needs", ()))
        unknown = needs.difference(NEEDS)
        if unknown:
            raise InvalidArgumentError(
                f"{type(callback).__name__}.needs: expected names among {', '.join(NEEDS)}, got "
                f"{min(unknown)!r}."
            )
        declared |= needs
        if isinstance(callback, Callback):
            declared |= callback._framework.needs
            declared |= _words(vars(callback).get("needs")).intersection(NEEDS)
    return declared


def _words(needs):
    """Return the set of strings in an attribute `needs`; empty if it is not a collection."""
    needs = {needs} if isinstance(needs, str) else needs
    if not isinstance(needs, (set, frozenset, list, tuple)):
        return set()
    return {need for need in needs if isinstance(need, str)}
