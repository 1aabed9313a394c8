"""Snapshot: keeps the values of variables and random counters, and restores them later.

Arrays are kept without copies: code that writes in place first calls `exclusive(array)`, which is
False while a snapshot refers to the array.
"""

from framework.core import random
from framework.optimizers.asking import is_ours, is_several, scales, several, state_of
from framework.optimizers.multi import optimizer_of
from framework.optimizers.updating import forget_plans


class Snapshot:
    """The state that a training step may change.

    Args:
        variables: the variables of the model, the optimizer and the metrics.
        optimizer: an optimizer whose state (and inner optimizers' state) is included, or None;
            `restore` removes slots that were created after the snapshot.
    """

    def __init__(self, variables, optimizer=None):
        generators = [random.global_generator(), *random.seeded_generators()]
        held = [*variables, *(generator.state for generator in generators)]
        self._slots = []
        for part in parts_of(optimizer, variables):
            slots = {serial: dict(own) for serial, own in part._framework.slots.items()}
            self._slots.append((part, slots, dict(part._framework.shared)))
            held += state_of(part)
        self._arrays = [(variable, variable.array) for variable in held]

    def restore(self):
        """Set every variable and slot to its value at the time of the snapshot."""
        for variable, array in self._arrays:
            variable._array = array
        for part, slots, shared in self._slots:
            record = part._framework
            if _sizes(record.slots) == _sizes(slots) and len(record.shared) == len(shared):
                continue  # the optimizer has created no slots since the snapshot
            for present, before in ((record.slots, slots), (record.shared, shared)):
                present.clear()
                present.update(before)
            forget_plans(part)  # the optimizer's plans refer to slots that have been removed


def _sizes(slots):
    return {serial: len(own) for serial, own in slots.items()}


def parts_of(optimizer, variables=()):
    """Return the built-in optimizers among the optimizer and its inner optimizers.

    Args:
        variables: for a `MultiOptimizer`, also create the optimizers of these variables.
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
