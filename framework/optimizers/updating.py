"""Updates of variables: compiled into one pass over their elements where they are elementwise."""

from types import SimpleNamespace

import numpy as np

from framework.compiler.fused import Fused
from framework.compiler.loop_groups import LARGE, TRIAL, calls_until_due
from framework.core.buffers import exclusive
from framework.core.changes import changes
from framework.core.own import Record
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable
from framework.kernels import tier
from framework.optimizers.forms import Arrays, Tensors
from framework.optimizers.groups import Groups
from framework.optimizers.hooks import KerasHooks, slot_name
from framework.optimizers.protocol import member


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


class OptimizerRecord(Record):
    """What is internal to an optimizer.

    Attributes:
        iterations, learning_rate, multiplier: variables: the calls so far, the rate, its factor.
        schedule: the rate where it is no number.
        rules, groups: what was given as `groups`, and what finds a variable's settings.
        slots: {serial of a variable: its slot variables by name}.
        shared: the variables that all updates share, by name.
        own_variables: those made by `add_variable`.
        built_for: the variables given to `build`.
        known: {serial: a variable met so far}.
        no_decay, no_decay_names: serials and patterns of variables without decay.
        plans, kinds: {serial: Plan}, and the (rate, dtype) of the plans.
        programs: {(dtype, decay, names, ndim): the compiled update, or None}.
        optional, clips: whether a call takes more than updating.
        by_loops: whether by compiled loops; None: their number of updates decides.
        loops: whether the present plans are by compiled loops.
        updates_left: by NumPy before loops are thought of, or used; -1: it stays as it is.
        considered: which of the two.
        opening: whether the constructor is setting fields.
    """

    iterations = learning_rate = multiplier = schedule = rules = groups = None
    by_loops = updates_left = None
    loops = considered = optional = clips = opening = False

    def __init__(self):
        self.slots, self.shared, self.own_variables, self.built_for = {}, {}, [], []
        self.known, self.no_decay, self.no_decay_names = {}, set(), []
        self.plans, self.programs, self.kinds = {}, {}, []

    def __getstate__(self):
        made_again = ("plans", "programs", "kinds")
        return {k: v for k, v in vars(self).items() if k not in made_again}

    def __setstate__(self, state):
        """A copy's variables have serials of their own."""
        self.__init__()
        self.__dict__.update(state)
        renamed = {old: v.serial for old, v in self.known.items()}
        self.known = {v.serial: v for v in self.known.values()}
        self.slots = {renamed.get(old, old): made for old, made in self.slots.items()}
        self.no_decay = {renamed.get(old, old) for old in self.no_decay}
        self.groups = None if self.rules is None else Groups(self.rules)
        self.loops, self.updates_left = False, None


class Updating(KerasHooks):
    """Slots, and the ways in which `update` runs."""

    slots = ()
    shared = ()
    compiles = True
    """Whether `update` may be elementwise. One that is not is found out, and runs as written."""

    def update(self, param, grad, slot, lr, step):
        """The parameter after one step."""
        raise NotImplementedError(f"{type(self).__name__} must define update().")

    def initial(self, name, value):
        """The first value of a slot of a variable that holds the array `value`: zeros like it."""
        return np.zeros(value.shape, value.dtype)

    def slots_of(self, variable):
        """The names of a variable's slots."""
        return member(self, "slots")

    def advance(self, shared, step):
        """Move on what all variables share, once before each update: set attributes of `shared`."""

    # ---- slots ----

    # ---- the update ----

    def use_loops(self, use=True):
        """Update by compiled loops from the next update on, or never by them.

        Left alone (None), an optimizer does as a compiled step does: it begins with NumPy, and
        changes to loops at an update whose number follows from the sizes of the variables and from
        what is compiled already. The numbers are the same.
        """
        self._framework.by_loops = use
        forget_plans(self)

    def update_step(self, gradient, variable, learning_rate):
        """Update one variable by its gradient; subclasses written for Keras override this."""
        dtype = variable.array.dtype
        step = np.asarray(int(self.iterations) + 1, dtype)
        shared = [v.array.astype(dtype) for v in self._framework.shared.values()]
        numbers = [np.asarray(getattr(learning_rate, "array", learning_rate), dtype), step, *shared]
        names = tuple(member(self, "slots_of")(variable))
        plan = Plan(names, None, None, None, None, True)
        update_as_written(self, variable, gradient.array, plan, numbers, Arrays)


def slot_of(optimizer, variable, name, initial=None):
    """A slot variable, made where it is not there yet."""
    made = optimizer._framework.slots.setdefault(variable.serial, {})
    if name not in made:
        array = (initial or member(optimizer, "initial"))(name, variable.array)
        array = np.array(array, variable.array.dtype)
        made[name] = KerasVariable(array, trainable=False, name=slot_name(variable, name))
    return made[name]


def _held(optimizer, variable, names):
    """The slot variables of these names, in order."""
    made = optimizer._framework.slots.get(variable.serial)
    if made is None or len(made) != len(names):
        return [slot_of(optimizer, variable, name) for name in names]
    return list(made.values()) if list(made) == list(names) else [made[n] for n in names]


def make_shared(optimizer, dtype):
    """The variables that all share, in the dtype of the first."""
    for name in type(optimizer)._framework.protocol.shared:
        if name not in optimizer._framework.shared:
            optimizer._framework.shared[name] = KerasVariable(
                np.ones((), dtype), trainable=False, name=name
            )


def share(optimizer, step, form):
    """Move on what all variables share."""
    own = optimizer._framework.shared.values()
    shared = SimpleNamespace(
        **{name: form.read(v) for name, v in optimizer._framework.shared.items()}
    )
    member(optimizer, "advance")(shared, form.number(step, next(iter(own)).array.dtype))
    for name, variable in optimizer._framework.shared.items():
        form.write(variable, getattr(shared, name))


def _whole_update(optimizer, param, grad, numbers, decay, slots):
    """`update` and what the base adds to it, as a function of values: the new ones by name."""
    lr, step, *shared = numbers
    slot = SimpleNamespace(**slots, **dict(zip(type(optimizer)._framework.protocol.shared, shared)))
    if decay:
        param = param - param * decay * lr
    new = type(optimizer)._framework.protocol.update(optimizer, param, grad, slot, lr, step)
    return {"param": new, **{name: getattr(slot, name) for name in slots}}


def program_of(optimizer, dtype, decay, names, ndim):
    """The update compiled for a dtype and a number of dimensions; None where it cannot be."""
    key = dtype, decay, names, ndim
    if key not in optimizer._framework.programs:
        optimizer._framework.programs[key] = (
            _compiled(optimizer, *key) if type(optimizer)._framework.protocol.compiles else None
        )
    return optimizer._framework.programs[key]


def towards_loops(optimizer, plans):
    """Count the updates that NumPy does; let loops take over when they pay."""
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
    """How many updates NumPy does at least; -1: all."""
    optimizer._framework.considered = False
    if optimizer._framework.by_loops:
        return _promote(optimizer)
    if optimizer._framework.by_loops is False or tier.tier() not in ("auto", "numba"):
        return -1
    made = sum(p.program.nbytes(p.held[0].array.size) for p in plans if p.program is not None)
    if tier.tier() == "numba" or made > LARGE:
        return _consider(optimizer, plans, 0)
    return TRIAL


def _consider(optimizer, plans, done):
    """How many more updates NumPy does; -1: all."""
    found = [p for p in plans if p.program is not None and p.program.loops is not None]
    cost = sum(p.program.work(p.held[0].array.size) for p in found)
    optimizer._framework.considered = True
    if not cost:
        return -1
    programs = {id(p.program): p.program for p in found}.values()
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
        of_all = [values.pop(name) for name in numbers]
        return _whole_update(optimizer, param, grad, of_all, decay, values)

    try:
        made = Fused(update, ("param", "grad", *names), numbers, dtype, ndim)
    except Exception:  # an update that cannot take the compiler's few elements runs as written
        return None
    if optimizer._framework.loops:
        made.use_loops()
    return made if made.possible else None


def update_in_place(optimizer, updates, numbers):
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


def update_arrays(optimizer, variable, grad, plan, numbers):
    """On arrays, as `update` is written, which NumPy may have to say something about."""
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
    """By a subclass's own `update_step`, which takes tensors and assigns."""
    lr = numbers[0] if form is Tensors else Tensor(np.asarray(numbers[0]))
    grad = grad if form is Tensors else Tensor(np.asarray(grad))
    if plan.decay:
        variable.assign(variable.read() * (1 - lr * plan.decay))
    optimizer.update_step(grad, variable, lr)


def forget_plans(optimizer):
    """Make all plans anew: a setting is another."""
    own, settings = optimizer._framework, vars(optimizer)
    if own.known:
        changes.configured += 1
    own.plans, own.programs, own.kinds = {}, {}, []
    own.loops, own.updates_left = False, None
    get = settings.get
    own.optional = bool(
        get("loss_scale_factor") or get("gradient_accumulation_steps") or get("use_ema")
        or own.rules
    )  # fmt: skip
    own.clips = bool(get("clipnorm") or get("clipvalue") or get("global_clipnorm") or own.rules)


def set_rules(optimizer, rules):
    """Take these rules of groups, or None, from the next update on."""
    own = optimizer._framework
    own.rules, own.groups = rules, None if rules is None else Groups(rules)
    forget_plans(optimizer)
