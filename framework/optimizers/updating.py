"""The update of one variable: compiled into one pass over its elements where it is elementwise."""

from types import SimpleNamespace

import numpy as np

from framework.compiler.fused import Fused
from framework.core.buffers import exclusive
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable
from framework.optimizers.forms import Arrays, Tensors
from framework.optimizers.hooks import KerasHooks, slot_name

LARGE = 1 << 18
"""Parameters from which an optimizer updates by compiled loops. For Adam on 2**18 of them a step
then takes 0.05 ms in the place of 0.4; importing Numba and loading the loop take half a second."""


class Plan:
    """What the optimizer does with one variable at each update; made once, kept until a field of
    the optimizer changes."""

    __slots__ = ("bare", "clip", "decay", "held", "kind", "names", "program", "trainable")

    def __init__(self, names, decay, kind, program, clip, trainable, held=()):
        self.names = names  # of its slots
        self.held = held  # the variable and its slots
        self.decay = decay  # None for none
        self.kind = kind  # the place of its (rate, dtype) among the optimizer's
        self.program = program  # None where the update runs as written
        self.clip = clip  # (function, limit) of its group, None where the optimizer's counts
        self.trainable = trainable
        self.bare = not names and not decay  # nothing but `update`


class Updating(KerasHooks):
    """Slots, and the ways in which `update` runs."""

    slots = ()
    shared = ()
    compiles = True
    """Whether `update` may be elementwise. One that is not is found out, and runs as written."""

    _slots: dict  # serial of a variable -> its slot variables by name
    _shared: dict  # name -> variable
    _programs: dict  # (dtype, decay, names, ndim) -> the compiled update, or None
    _loops = False  # whether the present plans are by compiled loops
    _by_loops = None  # whether by compiled loops; None: the size of the variables decides

    def update(self, param, grad, slot, lr, step):
        """The parameter after one step."""
        raise NotImplementedError(f"{type(self).__name__} must define update().")

    def initial(self, name, value):
        """The first value of a slot of a variable that holds the array `value`: zeros like it."""
        return np.zeros(value.shape, value.dtype)

    def slots_of(self, variable):
        """The names of a variable's slots."""
        return self.slots

    def advance(self, shared, step):
        """Move on what all variables share, once before each update: set attributes of `shared`."""

    # ---- slots ----

    def _slot(self, variable, name, initial=None):
        """A slot variable, made where it is not there yet."""
        made = self._slots.setdefault(variable.serial, {})
        if name not in made:
            array = (initial or self.initial)(name, variable.array)
            array = np.array(array, variable.array.dtype)
            made[name] = KerasVariable(array, trainable=False, name=slot_name(variable, name))
        return made[name]

    def _held(self, variable, names):
        """The slot variables of these names, in order."""
        made = self._slots.get(variable.serial)
        if made is None or len(made) != len(names):
            return [self._slot(variable, name) for name in names]
        return list(made.values()) if list(made) == list(names) else [made[n] for n in names]

    def _make_shared(self, dtype):
        """The variables that all share, in the dtype of the first."""
        for name in self.shared:
            if name not in self._shared:
                self._shared[name] = KerasVariable(np.ones((), dtype), trainable=False, name=name)

    def _share(self, step, form):
        """Move on what all variables share."""
        own = self._shared.values()
        shared = SimpleNamespace(**{name: form.read(v) for name, v in self._shared.items()})
        self.advance(shared, form.number(step, next(iter(own)).array.dtype))
        for name, variable in self._shared.items():
            form.write(variable, getattr(shared, name))

    # ---- the update ----

    def _whole_update(self, param, grad, numbers, decay, slots):
        """`update` and what the base adds to it, as a function of values: the new ones by name."""
        lr, step, *shared = numbers
        slot = SimpleNamespace(**slots, **dict(zip(self.shared, shared)))
        if decay:
            param = param - param * decay * lr
        new = self.update(param, grad, slot, lr, step)
        return {"param": new, **{name: getattr(slot, name) for name in slots}}

    def _program(self, dtype, decay, names, ndim):
        """The update compiled for a dtype and a number of dimensions; None where it cannot be."""
        key = dtype, decay, names, ndim
        if key not in self._programs:
            self._programs[key] = self._compiled(*key) if self.compiles else None
        return self._programs[key]

    def use_loops(self, use=True):
        """Update by compiled loops from now on, or by NumPy, whatever the size of the variables.

        Left alone, an optimizer decides once, at its first update or when it is built (and again
        after one of its fields was changed): by loops if the variables given there have `LARGE`
        elements or more together, and Numba is there. So a run's numbers depend on the model, not
        on what else the process has done. None goes back to that.
        """
        self._by_loops = use
        self._forget_plans()

    def _choose_form(self, variables):
        """Decide for loops or NumPy, before the first plan is made."""
        if not self._plans:
            size = sum(v.array.size for v in variables)
            self._loops = size >= LARGE if self._by_loops is None else self._by_loops

    def _compiled(self, dtype, decay, names, ndim):
        numbers = ("lr", "step", *self.shared)

        def update(param, grad, **values):
            of_all = [values.pop(name) for name in numbers]
            return self._whole_update(param, grad, of_all, decay, values)

        try:
            made = Fused(update, ("param", "grad", *names), numbers, dtype, ndim)
        except Exception:  # an update that cannot take the compiler's few elements runs as written
            return None
        return made if made.possible or made.loops_only else None

    def _update_in_place(self, grad, plan, prepared):
        """Into the very buffers, but for one that somebody else can see: that one is replaced."""
        arrays, destinations = [], []
        told = bool(thread.stack)
        for v in plan.held:
            array = v.array
            if exclusive(array, holders=2) and array.flags.c_contiguous:
                destinations.append(array)
            else:
                told, array = True, np.ascontiguousarray(array)
                destinations.append(np.empty(array.shape, array.dtype))
            arrays.append(array)
        arrays.insert(1, grad if grad.flags.c_contiguous else np.ascontiguousarray(grad))
        plan.program.form(arrays, destinations, prepared)
        if told:  # a buffer is another, or a recorder listens
            for v, destination in zip(plan.held, destinations):
                v.hold(destination)

    def _update_as_written(self, variable, grad, plan, numbers, form):
        held = self._held(variable, plan.names)
        values = {name: form.read(v) for name, v in zip(plan.names, held)}
        new = self._whole_update(form.read(variable), grad, numbers, plan.decay, values)
        form.write(variable, new.pop("param"))
        for v, value in zip(held, new.values()):
            form.write(v, value)

    def _update_by_hook(self, variable, grad, plan, numbers, form):
        """By a subclass's own `update_step`, which takes tensors and assigns."""
        lr = numbers[0] if form is Tensors else Tensor(np.asarray(numbers[0]))
        grad = grad if form is Tensors else Tensor(np.asarray(grad))
        if plan.decay:
            variable.assign(variable.read() * (1 - lr * plan.decay))
        self.update_step(grad, variable, lr)

    def update_step(self, gradient, variable, learning_rate):
        """Update one variable by its gradient; subclasses written for Keras override this."""
        dtype = variable.array.dtype
        step = np.asarray(int(self.iterations) + 1, dtype)
        shared = [v.array.astype(dtype) for v in self._shared.values()]
        numbers = [np.asarray(getattr(learning_rate, "array", learning_rate), dtype), step, *shared]
        names = tuple(self.slots_of(variable))
        plan = Plan(names, None, None, None, None, True)
        self._update_as_written(variable, gradient.array, plan, numbers, Arrays)
