"""Update variables: an elementwise `update` is compiled into one pass over the elements."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from framework.compiler.fused_function import FusedFunction
from framework.compiler.loop_lowering import LARGE, TRIAL, calls_until_due
from framework.core.argument_types import TensorLike
from framework.core.buffers import exclusive
from framework.core.change_counters import changes
from framework.core.internal_state import Record
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable
from framework.kernels import tier
from framework.optimizers.forms import Arrays, Tensors
from framework.optimizers.groups import Groups
from framework.optimizers.hooks import KerasHooks, slot_name
from framework.optimizers.protocol import member


class VariablePlan:
    """How the optimizer updates one variable; valid until a field of the optimizer changes."""

    __slots__ = ("bare", "clip", "decay", "held", "names", "program", "rate_index", "trainable")

    def __init__(self, names, decay, rate_index, program, clip, trainable, held=(), bare=None):
        self.names = names  # the names of the variable's slots
        self.held = held  # the variable and its slot variables
        self.decay = decay  # the variable's weight decay, or None
        self.rate_index = rate_index  # the index of the rate in `OptimizerRecord.rates`
        self.program = program  # the compiled update, or None if `update` runs uncompiled
        # (clipping function, limit) that `groups` sets, or None for the optimizer's own clipping
        self.clip = clip
        self.trainable = trainable
        # the optimizer's `update`, for a scalar without decay, slots and hooks; else None
        self.bare = bare


class OptimizerRecord(Record):
    """The internal state of an optimizer.

    Attributes:
        iterations: a variable, the number of calls.
        learning_rate: a variable, the rate if it is a number.
        multiplier: a variable by which all rates are multiplied.
        schedule: the rate if it is a schedule or callable, else None.
        rules: the rules in the argument `groups`.
        groups: a `Groups`, which finds the settings of a variable by the rules.
        slots: {variable serial: its slot variables by name}.
        shared: the state variables that all updates share, by name.
        own_variables: the variables created by `add_variable`.
        built_for: the variables passed to `build`.
        known: {serial: variable} of all variables updated so far.
        no_decay: the serials of variables without weight decay.
        no_decay_names: patterns of names of variables without weight decay.
        plans: {serial: VariablePlan}.
        rates: the distinct (rate, dtype) pairs of the plans.
        programs: {(dtype, decay, names, ndim): the compiled update, or None}.
        optional: whether an update must also apply options such as gradient accumulation.
        clips: whether an update must clip gradients.
        by_loops: whether to use compiled loops; None: decided by the number of updates.
        loops: whether the current plans use compiled loops.
        updates_left: NumPy updates until the next decision about loops; -1: no more decisions.
        considered: whether the next decision starts the loops instead of estimating their gain.
        opening: whether the constructor is setting fields.
    """

    iterations = learning_rate = multiplier = schedule = rules = groups = None
    by_loops = updates_left = None
    loops = considered = optional = clips = opening = False

    def __init__(self):
        self.slots, self.shared, self.own_variables, self.built_for = {}, {}, [], []
        self.known, self.no_decay, self.no_decay_names = {}, set(), []
        self.plans, self.programs, self.rates = {}, {}, []

    def __getstate__(self):
        rebuilt = ("plans", "programs", "rates")
        return {k: v for k, v in vars(self).items() if k not in rebuilt}

    def __setstate__(self, state):
        """Restore the state of a copy, whose variables have new serial numbers."""
        self.__init__()
        self.__dict__.update(state)
        renamed = {old: v.serial for old, v in self.known.items()}
        self.known = {v.serial: v for v in self.known.values()}
        self.slots = {renamed.get(old, old): by_name for old, by_name in self.slots.items()}
        self.no_decay = {renamed.get(old, old) for old in self.no_decay}
        self.groups = None if self.rules is None else Groups(self.rules)
        self.loops, self.updates_left = False, None


class Updating(KerasHooks):
    """The part of an optimizer that holds slots and runs `update`."""

    slots = ()
    shared = ()
    compiles = True
    """Whether to try compiling `update`; an `update` that is not elementwise runs uncompiled."""

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        """Return the parameter after one step."""
        raise NotImplementedError(f"{type(self).__name__} must define update().")

    def initial(self, name: str | None, value: TensorLike):
        """Return the initial value of the slot `name`: zeros like the variable's array `value`."""
        return np.zeros(value.shape, value.dtype)

    def slots_of(self, variable: Any):
        """Return the names of the slots that `variable` has."""
        return member(self, "slots")

    def advance(self, shared: Any, step: Any) -> None:
        """Advance the state that all variables share by setting attributes of `shared`."""

    def use_loops(self, use: bool = True) -> None:
        """Use compiled loops from the next update on, or never if `use` is False.

        Without a call of this method, an optimizer behaves like a compiled step: the first updates
        use NumPy, and loops take over after a number of updates that depends on the variables'
        sizes and on the loops that are compiled already. The results are the same.
        """
        self._framework.by_loops = use
        forget_plans(self)

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update one variable by its gradient; subclasses written for Keras override this."""
        dtype = variable.array.dtype
        step = np.asarray(int(self.iterations) + 1, dtype)
        shared = [v.array.astype(dtype) for v in self._framework.shared.values()]
        numbers = [np.asarray(getattr(learning_rate, "array", learning_rate), dtype), step, *shared]
        names = tuple(member(self, "slots_of")(variable))
        plan = VariablePlan(names, None, None, None, None, True)
        update_as_written(self, variable, gradient.array, plan, numbers, Arrays)


def slot_of(optimizer, variable, name, initial=None):
    """Return a slot variable; create it if it does not exist."""
    by_name = optimizer._framework.slots.setdefault(variable.serial, {})
    if name not in by_name:
        array = (initial or member(optimizer, "initial"))(name, variable.array)
        array = np.array(array, variable.array.dtype)
        made = KerasVariable(array, trainable=False, name=slot_name(variable, name))
        made.path = f"{optimizer.name}/{made.name}"
        by_name[name] = made
    return by_name[name]


def _held(optimizer, variable, names):
    """Return the slot variables of these names, in order."""
    by_name = optimizer._framework.slots.get(variable.serial)
    if by_name is None or len(by_name) != len(names):
        return [slot_of(optimizer, variable, name) for name in names]
    if list(by_name) == list(names):
        return list(by_name.values())
    return [by_name[n] for n in names]


def make_shared(optimizer, dtype):
    """Create the state variables that all updates share, in the first variable's dtype."""
    for name in type(optimizer)._framework.protocol.shared:
        if name not in optimizer._framework.shared:
            optimizer._framework.shared[name] = KerasVariable(
                np.ones((), dtype), trainable=False, name=name
            )


def share(optimizer, step, form):
    """Advance the state that all variables share by one step."""
    own = optimizer._framework.shared.values()
    shared = SimpleNamespace(
        **{name: form.read(v) for name, v in optimizer._framework.shared.items()}
    )
    member(optimizer, "advance")(shared, form.number(step, next(iter(own)).array.dtype))
    for name, variable in optimizer._framework.shared.items():
        form.write(variable, getattr(shared, name))


def _whole_update(optimizer, param, grad, numbers, decay, slots):
    """Run weight decay and `update` on values; return the new parameter and slots by name."""
    lr, step, *shared = numbers
    slot = SimpleNamespace(**slots, **dict(zip(type(optimizer)._framework.protocol.shared, shared)))
    if decay:
        param = param - param * decay * lr
    new = type(optimizer)._framework.protocol.update(optimizer, param, grad, slot, lr, step)
    return {"param": new, **{name: getattr(slot, name) for name in slots}}


def program_of(optimizer, dtype, decay, names, ndim):
    """Return the update compiled for a dtype and a rank, or None if it cannot be compiled."""
    key = dtype, decay, names, ndim
    if key not in optimizer._framework.programs:
        optimizer._framework.programs[key] = (
            _compiled(optimizer, *key) if type(optimizer)._framework.protocol.compiles else None
        )
    return optimizer._framework.programs[key]


def switch_when_due(optimizer, plans):
    """Count the NumPy updates, and switch to compiled loops when they save time."""
    left = optimizer._framework.updates_left
    if left is None:
        left = _first_updates(optimizer, plans)
    elif left == 0:
        left = (
            _promote(optimizer)
            if optimizer._framework.considered
            else _consider(optimizer, plans, TRIAL)
        )
    optimizer._framework.updates_left = left - 1 if left > 0 else left


def _first_updates(optimizer, plans):
    """Return how many updates to run in NumPy before the next decision; -1: no more decisions."""
    optimizer._framework.considered = False
    if optimizer._framework.by_loops:
        return _promote(optimizer)
    if optimizer._framework.by_loops is False or tier.tier() not in ("auto", "numba"):
        return -1
    nbytes = sum(p.program.nbytes(p.held[0].array.size) for p in plans if p.program is not None)
    if tier.tier() == "numba" or nbytes > LARGE:
        return _consider(optimizer, plans, 0)
    return TRIAL


def _consider(optimizer, plans, done):
    """Return how many more updates to run in NumPy before loops; -1: no more decisions."""
    loopable = [p for p in plans if p.program is not None and p.program.loops is not None]
    cost = sum(p.program.work(p.held[0].array.size) for p in loopable)
    optimizer._framework.considered = True
    if not cost:
        return -1
    programs = {id(p.program): p.program for p in loopable}.values()
    missing = sum(program.loops.missing for program in programs)
    return max(0, calls_until_due(cost, missing) - done) or _promote(optimizer)


def _promote(optimizer):
    optimizer._framework.loops = True
    for program in optimizer._framework.programs.values():
        if program is not None:
            program.use_loops()
    return -1


def _compiled(optimizer, dtype, decay, names, ndim):
    numbers = ("lr", "step", *type(optimizer)._framework.protocol.shared)

    def update(param, grad, **values):
        scalars = [values.pop(name) for name in numbers]
        return _whole_update(optimizer, param, grad, scalars, decay, values)

    try:
        compiled = FusedFunction(update, ("param", "grad", *names), numbers, dtype, ndim)
    except Exception:  # an `update` that fails on sample arrays is not compiled
        return None
    if optimizer._framework.loops:
        compiled.use_loops()
    return compiled if compiled.possible else None


def update_in_place(optimizer, updates, numbers):
    """Write updates into the variables' buffers; replace a buffer that has other references.

    Args:
        updates: (gradient, plan) of each variable; one compiled update serves all plans.
    """
    listening, rebound, variables = bool(thread.stack), [], []
    for grad, plan in updates:
        arrays, destinations, seen = [], [], listening
        for v in plan.held:
            array = v._array
            if exclusive(array, holders=2, contiguous=True):
                destinations.append(array)
            else:
                seen, array = True, np.require(array, requirements="CA")
                destinations.append(np.empty(array.shape, array.dtype))
            arrays.append(array)
        arrays.insert(1, grad if grad.flags.carray else np.require(grad, requirements="CA"))
        variables.append((arrays, destinations))
        if seen:
            rebound += zip(plan.held, destinations)
    form = plan.program.form
    form(variables, form.numbers.prepare(*numbers))
    for v, destination in rebound:  # `hold` notifies tapes and traces of the new buffers
        v.hold(destination)


def update_arrays(optimizer, variable, grad, plan, numbers):
    """Run the uncompiled `update` on arrays, without NumPy's floating-point warnings."""
    with np.errstate(all="ignore"):
        update_as_written(optimizer, variable, grad, plan, numbers, Arrays)


def update_as_written(optimizer, variable, grad, plan, numbers, form):
    held = _held(optimizer, variable, plan.names)
    values = {name: form.read(v) for name, v in zip(plan.names, held)}
    new = _whole_update(optimizer, form.read(variable), grad, numbers, plan.decay, values)
    form.write(variable, new.pop("param"))
    for v, value in zip(held, new.values()):
        form.write(v, value)


def update_by_hook(optimizer, variable, grad, plan, numbers, form):
    """Call a subclass's own `update_step`, which takes tensors and assigns the variable."""
    lr = numbers[0] if form is Tensors else Tensor(np.asarray(numbers[0]))
    grad = grad if form is Tensors else Tensor(np.asarray(grad))
    if plan.decay:
        variable.assign(variable.read() * (1 - lr * plan.decay))
    optimizer.update_step(grad, variable, lr)


def forget_plans(optimizer):
    """Discard all plans, because a setting has changed."""
    own, settings = optimizer._framework, vars(optimizer)
    if own.known:
        changes.configured += 1
    own.plans, own.programs, own.rates = {}, {}, []
    own.loops, own.updates_left = False, None
    get = settings.get
    own.optional = bool(
        get("loss_scale_factor") or get("gradient_accumulation_steps") or get("use_ema")
        or own.rules
    )  # fmt: skip
    own.clips = bool(get("clipnorm") or get("clipvalue") or get("global_clipnorm") or own.rules)


def set_rules(optimizer, rules):
    """Use these group rules (None for none) from the next update on."""
    own = optimizer._framework
    own.rules, own.groups = rules, None if rules is None else Groups(rules)
    forget_plans(optimizer)
