"""The state of a training step: all variables and counters that its next result depends on."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.random import global_generator
from framework.optimizers.asking import state_of as state_of_optimizer

_GENERATOR = "random/global"


def state_of(model, optimizer, metrics, accumulator):
    """A dict of arrays, copies of everything; see `TrainingStep.state`."""
    found = {name: np.array(v.array) for name, v in _variables(model, optimizer, metrics).items()}
    found[_GENERATOR] = np.array(global_generator().state.array)
    if accumulator is not None:
        waiting = accumulator.state(model.variables)
        found.update({f"accumulated/{name}": array for name, array in waiting.items()})
    return found


def restore(saved, model, optimizer, metrics, accumulator):
    """Set everything back; InvalidArgumentError, and nothing changed, where it does not fit."""
    settled = [metric for metric in metrics if metric.settled]
    variables = _variables(model, optimizer, settled)
    expected = {*variables, _GENERATOR}
    found = {name for name in saved if not name.startswith("accumulated/")}
    later = sorted(n for n in found if n.startswith("metrics/")) if settled != metrics else []
    found.difference_update(later)
    for names, what in ((expected - found, "lacks"), (found - expected, "has no use for")):
        if names:
            told = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
            raise InvalidArgumentError(
                f"restore: the state is another step's: it {what} {told}."
                if what == "lacks"
                else f"restore: the state is another step's: the step {what} {told}."
            )
    for name, variable in variables.items():
        shape = np.shape(saved[name])
        if shape != variable.array.shape:
            raise InvalidArgumentError(
                f"restore: {name} has shape {variable.array.shape}, the state's has {shape}."
            )
    waiting = {k.partition("/")[2]: a for k, a in saved.items() if k.startswith("accumulated/")}
    if (accumulator is None) != (not waiting):
        raise InvalidArgumentError(
            "restore: the state is that of a step with accumulate=..., this one has none, or the "
            "reverse."
        )
    for name, variable in variables.items():
        variable.assign(np.array(saved[name], variable.array.dtype))
    for metric in metrics:
        if not metric.settled:
            metric.restore_later([np.array(saved[name]) for name in later])
    global_generator().state.assign(np.array(saved[_GENERATOR]))
    if accumulator is not None:
        accumulator.restore(waiting, model.variables)


def _variables(model, optimizer, metrics):
    """{name: variable} in a fixed order; slots that do not exist yet are made."""
    if not model.built:
        raise InvalidArgumentError(
            f"state: the model {model.name!r} is not built yet, so it has no weights. Call it on a "
            "batch, or model.build(shape), first."
        )
    optimizer.build(model.trainable_variables)
    found = {}
    for group, variables in (
        ("model", model.variables),
        ("optimizer", state_of_optimizer(optimizer)),
        ("metrics", [v for metric in metrics for v in metric.variables]),
    ):
        for i, variable in enumerate(variables):
            # not by path: another model of the same make, with other names, can be restored to it
            name = f"/{variable.name}" if group == "model" else ""
            found[f"{group}/{i}{name}"] = variable
    return found
