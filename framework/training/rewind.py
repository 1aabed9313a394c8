"""State: the values of variables and random counters at one moment, to go back to.

The arrays are kept, not copied: whoever writes in place asks `exclusive` first, and sees that they
are held.
"""

from framework.core import random


class State:
    """What a step may change.

    Args:
        variables: those of the model, the optimizer and the metrics.
        optimizer: its slots made later are taken away again; None where there is none.
    """

    def __init__(self, variables, optimizer=None):
        generators = [random.global_generator(), *random.seeded_generators()]
        found = [*variables, *(generator.state for generator in generators)]
        self._arrays = [(variable, variable.array) for variable in found]
        self._optimizer = optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if optimizer is not None:
            self._slots = {serial: dict(made) for serial, made in optimizer._slots.items()}

    def restore(self):
        """Put every value back."""
        for variable, array in self._arrays:
            variable._array = array
        if self._optimizer is not None:
            slots = self._optimizer._slots
            slots.clear()
            slots.update({serial: dict(made) for serial, made in self._slots.items()})
