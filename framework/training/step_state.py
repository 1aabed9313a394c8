"""Saving and restoring the state of a training step, as a dict of arrays."""

import os
from contextlib import contextmanager

import numpy as np

from framework.core.errors import DamagedFileError, InvalidArgumentError, LoadError
from framework.core.random import global_generator, seeded, seeded_by
from framework.optimizers.asking import state_of as state_of_optimizer

_GENERATOR, _SEEDED = "random/global", "random/seeded/"
_KIND = "training step"


def state_of(model, optimizer, metrics, accumulator):
    """Return the state as a dict of copied arrays; see `TrainingStep.state`."""
    saved = {name: np.array(v.array) for name, v in _variables(model, optimizer, metrics).items()}
    saved[_GENERATOR] = np.array(global_generator().state.array)
    for seed, generator in seeded_by().items():
        saved[f"{_SEEDED}{seed}"] = np.array(generator.state.array)
    if accumulator is not None:
        waiting = accumulator.state(model.variables)
        saved.update({f"accumulated/{name}": array for name, array in waiting.items()})
    return saved


def restore(saved, model, optimizer, metrics, accumulator):
    """Restore a state; if it does not match, raise InvalidArgumentError and change nothing."""
    settled = [metric for metric in metrics if metric.settled]
    variables = _variables(model, optimizer, settled)
    expected = {*variables, _GENERATOR}
    found = {name for name in saved if not name.startswith(("accumulated/", _SEEDED))}
    later = sorted(n for n in found if n.startswith("metrics/")) if settled != metrics else []
    found.difference_update(later)
    for names, what in ((expected - found, "lacks"), (found - expected, "has no use for")):
        if names:
            listed = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
            raise InvalidArgumentError(
                f"restore: the state is from another training step: it {what} {listed}."
                if what == "lacks"
                else f"restore: the state is from another training step: this step {what} {listed}."
            )
    for name, variable in variables.items():
        shape = np.shape(saved[name])
        if shape != variable.array.shape:
            raise InvalidArgumentError(
                f"restore: {name}: expected shape {variable.array.shape}, got {shape}."
            )
    waiting = {k.partition("/")[2]: a for k, a in saved.items() if k.startswith("accumulated/")}
    if (accumulator is None) != (not waiting):
        raise InvalidArgumentError(
            "restore: the state is from a step with accumulate=..., but this step has none, or the "
            "reverse. Create the step with the same arguments."
        )
    for name, variable in variables.items():
        variable.assign(np.array(saved[name], variable.array.dtype))
    for metric in metrics:
        if not metric.settled:
            metric.restore_later([np.array(saved[name]) for name in later])
    global_generator().state.assign(np.array(saved[_GENERATOR]))
    for name, array in saved.items():
        if name.startswith(_SEEDED):
            seeded(int(name.removeprefix(_SEEDED))).state.assign(np.array(array))
    if accumulator is not None:
        accumulator.restore(waiting, model.variables)


def save(filepath, state):
    """Write a state to a file."""
    from framework.saving.states import write_state

    texts = {name: str(array) for name, array in state.items() if array.dtype.kind == "U"}
    arrays = {name: array for name, array in state.items() if name not in texts}
    write_state(filepath, _KIND, arrays, texts)


def load(filepath):
    """Return the state in a file."""
    from framework.saving.states import read_state

    with read_state(filepath, _KIND) as file:
        if not isinstance(file.values, dict):
            raise DamagedFileError(f"{filepath}: expected the state's strings to be a dict.")
        return file.arrays() | {name: np.array(str(text)) for name, text in file.values.items()}


def _variables(model, optimizer, metrics):
    """Return {name: variable} in a fixed order; missing slots are created."""
    if not model.built:
        raise InvalidArgumentError(
            f"state: the model {model.name!r} is not built yet, so it has no weights. First call "
            "the model on a batch, or model.build(shape)."
        )
    optimizer.build(model.trainable_variables)
    named = {}
    for group, variables in (
        ("model", model.variables),
        ("optimizer", state_of_optimizer(optimizer)),
        ("metrics", [v for metric in metrics for v in metric.variables]),
    ):
        for i, variable in enumerate(variables):
            # Keys use indices instead of paths, because an equal model may have other layer names.
            name = f"/{variable.name}" if group == "model" else ""
            named[f"{group}/{i}{name}"] = variable
    return named


@contextmanager
def loading(filepath):
    """Context manager: errors caused by the state in a file become a LoadError that names it."""
    try:
        yield
    except (InvalidArgumentError, ValueError, TypeError, KeyError, IndexError, OverflowError) as e:
        raise LoadError(f"{os.fspath(filepath)}: {e}") from e
