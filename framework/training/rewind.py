"""State: the values of variables and random counters at one moment, to go back to.

The arrays are kept, not copied: whoever writes in place asks `exclusive` first, and sees that they
are held.
"""

from framework.core import random
from framework.optimizers.asking import is_ours, is_several, scales, several, state_of
from framework.optimizers.multi import optimizer_of
from framework.optimizers.updating import forget_plans


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
            slots = {serial: dict(made) for serial, made in part._framework.slots.items()}
            self._made.append((part, slots, dict(part._framework.shared)))
            found += state_of(part)
        self._arrays = [(variable, variable.array) for variable in found]

    def restore(self):
        """Put every value back."""
        for variable, array in self._arrays:
            variable._array = array
        for part, slots, shared in self._made:
            own = part._framework
            if _sizes(own.slots) == _sizes(slots) and len(own.shared) == len(shared):
                continue  # nothing was made since
            for held, before in ((own.slots, slots), (own.shared, shared)):
                held.clear()
                held.update(before)
            forget_plans(part)  # they hold the slots


def _sizes(slots):
    return {serial: len(made) for serial, made in slots.items()}


def parts_of(optimizer, variables=()):
    """The optimizer and those inside it, as far as they are ours.

    Args:
        variables: of a `MultiOptimizer` also the optimizers that these will meet.
    """
    if not is_ours(optimizer):
        return []
    if scales(optimizer):
        return [optimizer, *parts_of(optimizer.inner_optimizer, variables)]
    if is_several(optimizer):
        for variable in variables:
            if variable.trainable:
                optimizer_of(optimizer, variable)
        return [optimizer, *(p for o in several(optimizer) for p in parts_of(o))]
    return [optimizer]
