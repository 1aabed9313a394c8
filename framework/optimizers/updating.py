"""Updates of variables: compiled into one pass over their elements where they are elementwise."""

from types import SimpleNamespace

import numpy as np

from framework.compiler.fused import Fused
from framework.compiler.loop_groups import LARGE, TRIAL, calls_until_due
from framework.core.buffers import exclusive
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable
from framework.kernels import tier
from framework.optimizers.forms import Arrays, Tensors
from framework.optimizers.hooks import KerasHooks, slot_name


class Plan:
    """What the optimizer does with one variable at each update; made once, kept until a field of
    the optimizer changes."""

    __slots__ = ("bare", "clip", "decay", "held", "kind", "names", "program", "trainable")

    def __init__(self, names, decay, kind, program, clip, trainable, held=(), bare=None):
        self.names = names  # of its slots
        self.held = held  # the variable and its slots
        self.decay = decay  # None for none
        self.kind = kind  # the place of its (rate, dtype) among the optimizer's
        self.program = program  # None where the update runs as written
        self.clip = clip  # (function, limit) of its group, None where the optimizer's counts
        self.trainable = trainable
        self.bare = bare  # `update` where there is nothing else to do, else None


class Updating(KerasHooks):
    """Slots, and the ways in which `update` runs."""

    slots = ()
    shared = ()
    compiles = True
    """Whether `update` may be elementwise. One that is not is found out, and runs as written."""

    _slots: dict  # serial of a variable -> its slot variables by name
    _shared: dict  # name -> variable
    _programs: dict  # (dtype, decay, names, ndim) -> the compiled update, or None
    _by_loops = None  # whether by compiled loops; None: their number of updates decides
    _loops = False  # whether the present plans are by compiled loops
    _updates_left = None  # by NumPy before loops are thought of, or used; -1: it stays as it is
    _considered = False  # which of the two

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
        """Update by compiled loops from the next update on, or never by them.

        Left alone (None), an optimizer does as a compiled step does: it begins with NumPy, and
        changes to loops at an update whose number follows from the sizes of the variables and from
        what is compiled already. The numbers are the same.
        """
        self._by_loops = use
        self._forget_plans()

    def _towards_loops(self, plans):
        """Count the updates that NumPy does; let loops take over when they pay."""
        left = self._updates_left
        if left is None:
            left = self._first_updates(plans)
        elif left == 0:
            left = self._promote() if self._considered else self._consider(plans, TRIAL)
        self._updates_left = left - 1 if left > 0 else left

    def _first_updates(self, plans):
        """How many updates NumPy does at least; -1: all."""
        self._considered = False
        if self._by_loops:
            return self._promote()
        if self._by_loops is False or tier.tier() not in ("auto", "numba"):
            return -1
        made = sum(p.program.nbytes(p.held[0].array.size) for p in plans if p.program is not None)
        if tier.tier() == "numba" or made > LARGE:
            return self._consider(plans, 0)
        return TRIAL

    def _consider(self, plans, done):
        """How many more updates NumPy does; -1: all."""
        found = [p for p in plans if p.program is not None and p.program.loops is not None]
        cost = sum(p.program.work(p.held[0].array.size) for p in found)
        self._considered = True
        if not cost:
            return -1
        programs = {id(p.program): p.program for p in found}.values()
        missing = sum(program.loops.missing for program in programs)
        return max(0, calls_until_due(cost, missing) - done) or self._promote()

    def _promote(self):
        self._loops = True
        for program in self._programs.values():
            if program is not None:
                program.use_loops()
        return -1

    def _compiled(self, dtype, decay, names, ndim):
        numbers = ("lr", "step", *self.shared)

        def update(param, grad, **values):
            of_all = [values.pop(name) for name in numbers]
            return self._whole_update(param, grad, of_all, decay, values)

        try:
            made = Fused(update, ("param", "grad", *names), numbers, dtype, ndim)
        except Exception:  # an update that cannot take the compiler's few elements runs as written
            return None
        if self._loops:
            made.use_loops()
        return made if made.possible else None

    def _update_in_place(self, updates, numbers):
        """Into the very buffers, but for one that somebody else can see: that one is replaced.

        Args:
            updates: (gradient, plan) of each variable; what does one does all.
        """
        listening, told, variables = bool(thread.stack), [], []
        for grad, plan in updates:
            arrays, destinations, seen = [], [], listening
            for v in plan.held:
                array = v._array
                if exclusive(array, holders=2) and array.flags.c_contiguous:
                    destinations.append(array)
                else:
                    seen, array = True, np.require(array, requirements="CA")
                    destinations.append(np.empty(array.shape, array.dtype))
                arrays.append(array)
            arrays.insert(1, grad if grad.flags.carray else np.require(grad, requirements="CA"))
            variables.append((arrays, destinations))
            if seen:
                told += zip(plan.held, destinations)
        form = plan.program.form
        form(variables, form.numbers.prepare(*numbers))
        for v, destination in told:  # a buffer is another, or a recorder listens
            v.hold(destination)

    def _update_arrays(self, variable, grad, plan, numbers):
        """On arrays, as `update` is written, which NumPy may have to say something about."""
        with np.errstate(all="ignore"):
            self._update_as_written(variable, grad, plan, numbers, Arrays)

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
