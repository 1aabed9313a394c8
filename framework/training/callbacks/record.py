"""StepRecord: what callbacks may look at of the batch that was just trained on."""

from framework.core.errors import InvalidArgumentError
from framework.optimizers.applying import plans_of
from framework.optimizers.asking import inside, is_several
from framework.optimizers.forms import Arrays
from framework.optimizers.rates import rate_now
from framework.training.callbacks.base import Callback

NEEDS = ("batch", "outputs", "loss", "gradients", "norms", "rates")
"""What a callback may declare in `needs`."""


class StepRecord:
    """`self.step` of a callback: the last batch and what training made of it.

    Only what some callback declares is there, as `needs = {"gradients", "loss"}`.

    - `batch`: (x, y, sample_weight); `x`, `y` and `sample_weight` are its parts
    - `outputs`: the model's, before the update
    - `loss`: this batch's own, a float (logs hold the mean so far)
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
        """The rates of an update that is to come, if they are needed."""
        return rates_of(optimizer, variables) if "rates" in self._needs else None

    def take(self, batch, outputs, loss, gradients, rates):
        """Hold what is needed of one step: its values before the update."""
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
                f"self.step.{name}: no callback in this run declares that it needs it. Write "
                f'needs = {{"{name}"}} in the body of the callback\'s class.'
            )
        if name not in self._held and not (name == "norms" and "gradients" in self._held):
            raise InvalidArgumentError(
                f"self.step.{name}: there was no batch yet, or train_step is overridden and does "
                "not go through the model's own step."
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
    """The learning rate of each variable at the present step, a float by path."""
    optimizer = inside(optimizer)
    chosen = optimizer.optimizer_map if is_several(optimizer) else lambda variable: optimizer
    return {v.path: _rate(chosen(v), v) for v in variables}


def _rate(optimizer, variable):
    (plan,) = plans_of(optimizer, [variable])
    rate, _ = optimizer._framework.kinds[plan.kind]
    return float(rate_now(optimizer, rate, Arrays))


def needs_of(callbacks):
    """All that the callbacks declare; an error for a word that means nothing.

    An attribute of an object may be the user's own: only the words that are known count there.
    """
    found = set()
    for callback in callbacks:
        needs = _words(getattr(type(callback), "needs", ()))
        unknown = needs.difference(NEEDS)
        if unknown:
            raise InvalidArgumentError(
                f"{type(callback).__name__}.needs: {min(unknown)!r} is none of {', '.join(NEEDS)}."
            )
        found |= needs
        if isinstance(callback, Callback):
            found |= callback._framework.needs
            found |= _words(vars(callback).get("needs")).intersection(NEEDS)
    return found


def _words(needs):
    """What an attribute `needs` declares, which may be anything at all."""
    needs = {needs} if isinstance(needs, str) else needs
    if not isinstance(needs, (set, frozenset, list, tuple)):
        return set()
    return {need for need in needs if isinstance(need, str)}
