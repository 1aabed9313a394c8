"""The first call of a plan, which keeps the old arrays of variables so that it can be undone."""

import numpy as np

from framework.compiler import liveness
from framework.compiler.arena import LARGE
from framework.compiler.rebinding import with_names
from framework.core.buffers import exclusive, return_freed_memory


class Trial:
    """The first call of a plan, which can be undone: it overwrites no array of a variable.

    New arrays for all variables, in addition to the arena, would need much more memory than later
    calls. So new values are written to parts of the arena that are no longer needed, and `commit`
    copies them to the old arrays. Later calls need another arena, because other threads can read
    variables before `commit`, and then hold arrays in this one.

    Args:
        form: a pair (code generator, its `make`).

    Attributes:
        run: the plan function.
        lends: whether new values of variables lie in the arena after `run`.
    """

    def __init__(self, form):
        program, make = form
        arrays = program.arena.make([(value, at) for _, value, at in program.owned])
        count = len(arrays) - len(program.owned)
        owned = zip(program.owned, arrays[count:], strict=True)
        self._lent = {id(variable): array for (variable, *_), array in owned}
        self.lends = bool(self._lent)
        self.run = make(*arrays[:count])
        if self.lends:
            self.run = with_names(self.run, **_lending(self._lent))

    def commit(self, before):
        """Copy new values from the arena to the old arrays, or to new ones if those are in use.

        Meanwhile a variable has its new value in the arena, so an interrupt does no harm.

        Args:
            before: pairs (variable, its array before the call), which are removed.
        """
        while before:
            variable, array = before.pop()
            value = variable._array
            if value is self._lent.get(id(variable)):
                if not exclusive(array, holders=1, contiguous=True):
                    array = np.empty(value.shape, value.dtype)
                np.copyto(array, value)
                variable._array = array


def _lending(lent):
    """Return replacements for `own` and `own_copy` in the source, which return lent arrays.

    Args:
        lent: {id of a variable: array for its new value}.
    """

    # Before the first new value, return memory freed by the backward pass to the system.
    trims = [True] if sum(array.nbytes for array in lent.values()) >= LARGE else []

    def array_of(variable):
        if trims:
            trims.clear()
            return_freed_memory()
        return lent.get(id(variable))

    def own(variable):
        array = array_of(variable)
        return liveness.own(variable) if array is None else array

    def own_copy(variable):
        array = array_of(variable)
        if array is None:
            return liveness.own_copy(variable)
        np.copyto(array, variable._array)
        return array

    return {"own": own, "own_copy": own_copy}
