"""State: the values of variables and random counters at one moment, to go back to.

The arrays are kept, not copied: whoever writes in place asks `exclusive` first, and sees that they
are held.
"""

from framework.core import random


class State:
    """What a step may change.

    Args:
        variables: those of the model, the optimizer and the metrics.
        optimizer: what it and the optimizers inside it keep is part of the state, and slots made
            later are taken away again; None where there is none.
    """

    def __init__(self, variables, optimizer=None):
        generators = [random.global_generator(), *random.seeded_generators()]
        found = [*variables, *(generator.state for generator in generators)]
        self._made = []
        for part in parts_of(optimizer, variables):
            slots = {serial: dict(made) for serial, made in part._slots.items()}
            self._made.append((part, slots, dict(part._shared)))
            found += part.state_variables
        self._arrays = [(variable, variable.array) for variable in found]

    def restore(self):
        """Put every value back."""
        for variable, array in self._arrays:
            variable._array = array
        for part, slots, shared in self._made:
            if _sizes(part._slots) == _sizes(slots) and len(part._shared) == len(shared):
                continue  # nothing was made since
            for held, before in ((part._slots, slots), (part._shared, shared)):
                held.clear()
                held.update(before)
            part._forget_plans()  # they hold the slots


def _sizes(slots):
    return {serial: len(made) for serial, made in slots.items()}


def parts_of(optimizer, variables=()):
    """The optimizer and those inside it, as far as they are ours.

    Args:
        variables: of a `MultiOptimizer` also the optimizers that these will meet.
    """
    if not hasattr(optimizer, "_slots"):
        return []
    if hasattr(optimizer, "inner_optimizer"):
        return [optimizer, *parts_of(optimizer.inner_optimizer, variables)]
    if hasattr(optimizer, "optimizers"):
        for variable in variables:
            if variable.trainable:
                optimizer._optimizer_of(variable)
        return [optimizer, *(p for o in optimizer.optimizers for p in parts_of(o))]
    return [optimizer]
