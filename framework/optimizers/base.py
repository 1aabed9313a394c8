"""What all optimizers share: slots, learning rate, clipping, decay, and applying an update."""

import warnings
from types import SimpleNamespace

import numpy as np

from framework.autodiff import explain
from framework.compiler.fused import Fused
from framework.core import dtypes
from framework.core.buffers import exclusive
from framework.core.configurable import Configurable, Resolved, serialize_value
from framework.core.doors import cast
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.recorders import replaying, thread
from framework.core.registry import Registry, snake_case
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable
from framework.ops.elementwise import clip, maximum, sqrt, square
from framework.ops.reduction import reduce_sum

optimizers = Registry("optimizer")
get = optimizers.get


def serialize(optimizer):
    """The config from which `deserialize` makes an equal optimizer (without its slots)."""
    return serialize_value(optimizer)


def deserialize(config):
    """The optimizer that `serialize` described."""
    return get(config)


def _positive_or_none(value):
    if value is None:
        return None
    if not hasattr(value, "__float__") or not float(value) > 0:
        raise InvalidArgumentError("expected None or a number > 0")
    return float(value)


def _rate(value):
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__"):
        raise InvalidArgumentError(f"expected a number, got {type(value).__name__}")
    if float(value) < 0:
        raise InvalidArgumentError("expected a number >= 0")
    return float(value)


PositiveOrNone = Resolved("a number > 0, or None", _positive_or_none)
Rate = Resolved("a learning rate", _rate, serialize=float)


class Optimizer(Configurable):
    """Base of optimizers.

    A subclass declares its fields, the names of its `slots` (one buffer per variable and name, zero
    at first), and `update(param, grad, slot, lr, step)`, which returns the new parameter and sets
    the slot's attributes. `update` is pure: it runs on arrays, and on tensors when a trace records
    it. `lr` and `step` (1 at the first update) are 0-d, of the parameter's dtype.

    Args:
        weight_decay: each update first takes `lr * weight_decay * param` off the parameter.
        clipnorm: each gradient is scaled down to at most this L2 norm.
        clipvalue: each gradient's elements are clipped to [-clipvalue, clipvalue].
        global_clipnorm: all gradients together are scaled down to at most this L2 norm.
        name: a string.
    """

    _base_fields = True
    weight_decay: PositiveOrNone = None
    clipnorm: PositiveOrNone = None
    clipvalue: PositiveOrNone = None
    global_clipnorm: PositiveOrNone = None
    name: str = None

    slots = ()

    def __init__(self, *args, **kwargs):
        self.iterations = KerasVariable(np.zeros((), np.int64), trainable=False, name="iteration")
        self._learning_rate = KerasVariable(
            np.zeros((), np.float32), trainable=False, name="learning_rate"
        )
        self._slots = {}  # serial of a variable -> its slot variables by name
        self._no_decay = []
        self._programs = {}  # (dtype, decays) -> the compiled update
        super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def __post_init__(self):
        self.name = self.name or snake_case(type(self).__name__)
        given = [n for n in ("clipnorm", "clipvalue", "global_clipnorm") if getattr(self, n)]
        if len(given) > 1:
            raise InvalidArgumentError(
                f"{type(self).__name__}: only one of clipnorm, clipvalue and global_clipnorm can "
                f"be set, got {' and '.join(given)}."
            )

    def update(self, param, grad, slot, lr, step):
        """The parameter after one step."""
        raise NotImplementedError(f"{type(self).__name__} must define update().")

    def __setattr__(self, name, value):
        if name in self._fields:
            self.__dict__["_programs"] = {}  # the fields are constants of the compiled update
        super().__setattr__(name, value)

    # ---- state ----

    @property
    def learning_rate(self):
        """The learning rate, a variable; assigning a number to it sets the variable."""
        return self._learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._learning_rate.assign(_rate(value))

    @property
    def variables(self):
        """Iterations, learning rate, then the slots of each variable."""
        slots = [variable for slots in self._slots.values() for variable in slots.values()]
        return [self.iterations, self._learning_rate, *slots]

    def build(self, variables):
        """Make the slots of `variables` now, not at each one's first update."""
        for variable in variables:
            self._slots_of(variable)

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Spare these variables, or those whose path contains one of these names, the decay."""
        self._no_decay += [v.serial for v in var_list or ()]
        self._no_decay += list(var_names or ())

    def _decays(self, variable):
        path = _path(variable)
        return not any(
            rule == variable.serial if isinstance(rule, int) else rule in path
            for rule in self._no_decay
        )

    def _slots_of(self, variable):
        """The slot variables of a variable by name, in the order of `slots`."""
        made = self._slots.setdefault(variable.serial, {})
        names = self.slots
        for name in names:
            if name not in made:
                array = variable.array
                path = _path(variable).replace("/", "_").replace(":", "_")
                zeros = np.zeros(array.shape, array.dtype)
                made[name] = KerasVariable(zeros, trainable=False, name=f"{path}_{name}")
        return made if len(made) == len(names) else {name: made[name] for name in names}

    # ---- applying ----

    def apply_gradients(self, grads_and_vars):
        """Update variables by their gradients.

        Args:
            grads_and_vars: pairs (gradient, variable). A gradient is a tensor of the variable's
                shape and dtype, or a variable holding one, or IndexedSlices of one; None is passed
                over with a warning.

        Returns:
            The number of updates so far, a variable.

        Raises:
            ValueError: no gradient at all, or one of another shape than its variable.
        """
        pairs = grads_and_vars if isinstance(grads_and_vars, list) else list(grads_and_vars)
        grads, variables, missing = [], [], []
        for pair in pairs:
            grad, variable = pair
            if grad is None:
                missing.append(variable)
            else:
                grads.append(grad)
                variables.append(variable)
        if missing or not grads:
            _report_missing(missing, grads)
        self.apply(grads, variables)
        return self.iterations

    def apply(self, grads, trainable_variables=None):
        """Update variables by their gradients, given as two lists of equal length."""
        if trainable_variables is None:
            raise InvalidArgumentError(
                "apply: pass trainable_variables=[...] beside the gradients."
            )
        grads = [g if type(g) is Tensor else _as_gradient(g) for g in grads]
        for grad, variable in zip(grads, trainable_variables, strict=True):
            if grad.array.shape != variable.array.shape:
                raise _misfit("shape", grad, variable, ShapeError)
            if grad.array.dtype != variable.array.dtype:
                raise _misfit("dtype", grad, variable, DTypeError)
        if thread.stack and replaying():
            self._apply_tensors(grads, trainable_variables)
        else:
            with np.errstate(all="ignore"):
                self._apply_arrays([g.array for g in grads], trainable_variables)

    def _apply_arrays(self, grads, variables):
        grads = self._clipped(grads)
        step = int(self.iterations.array) + 1
        rates = {}  # dtype -> (lr, step)
        prepared = {}  # what each program makes of them
        for grad, variable in zip(grads, variables, strict=True):
            dtype = grad.dtype
            if dtype not in rates:
                rates[dtype] = self._learning_rate.array.astype(dtype), np.asarray(step, dtype)
            decays = self.weight_decay is not None and self._decays(variable)
            program = self._program(dtype, decays) if grad.ndim else None  # 0-d: plain is faster
            if program is None:
                self._update_plainly(variable, grad, *rates[dtype], decays)
            else:
                if program not in prepared:
                    prepared[program] = program.prepare(*rates[dtype])
                self._update_in_place(variable, grad, program, prepared[program])
            self._constrain(variable)
        self.iterations.hold(np.asarray(step, np.int64))

    def _whole_update(self, param, grad, lr, step, decays, slots):
        """`update` and what the base adds to it, as a function of values: the new ones by name."""
        slot = SimpleNamespace(**slots)
        if decays:
            param = param - param * self.weight_decay * lr
        new = self.update(param, grad, slot, lr, step)
        return {"param": new, **{name: getattr(slot, name) for name in slots}}

    def _program(self, dtype, decays):
        """The update compiled for a dtype; None where it cannot be."""
        key = dtype, decays
        if key not in self._programs:

            def update(param, grad, lr, step, **slots):
                return self._whole_update(param, grad, lr, step, decays, slots)

            made = Fused(update, ("param", "grad", *self.slots), ("lr", "step"), dtype)
            self._programs[key] = made if made.possible else None
        return self._programs[key]

    def _update_plainly(self, variable, grad, lr, step, decays):
        slots = self._slots_of(variable)
        if not slots and not decays:
            variable.hold(self.update(variable.array, grad, None, lr, step))
            return
        values = {name: v.array for name, v in slots.items()}
        new = self._whole_update(variable.array, grad, lr, step, decays, values)
        variable.hold(new.pop("param"))
        for name, value in new.items():
            slots[name].hold(value)

    def _update_in_place(self, variable, grad, program, prepared):
        """Into the very buffers, but for one that somebody else can see: that one is replaced."""
        held = (variable, *self._slots_of(variable).values())
        destinations = [_writable(v) for v in held]
        arrays = [v.array for v in held]
        arrays.insert(1, grad)
        arrays = [np.ascontiguousarray(a) for a in arrays]
        program(arrays, destinations, prepared)
        for v, destination in zip(held, destinations, strict=True):
            v.hold(destination)

    def _apply_tensors(self, grads, variables):
        """The same as ops on tensors, so that a recorder can replay it."""
        grads = self._clipped(grads)
        count = self.iterations.read() + 1
        for grad, variable in zip(grads, variables, strict=True):
            dtype = variable.array.dtype
            slots = self._slots_of(variable)
            new = self._whole_update(
                variable.read(), grad,
                cast(self._learning_rate.read(), dtype=dtype), cast(count, dtype=dtype),
                self.weight_decay is not None and self._decays(variable),
                {name: v.read() for name, v in slots.items()},
            )  # fmt: skip
            variable.assign(new.pop("param"))
            for name, value in new.items():
                slots[name].assign(value)
            self._constrain(variable)
        self.iterations.assign(count)

    @staticmethod
    def _constrain(variable):
        constraint = getattr(variable, "constraint", None)
        if constraint is not None:
            variable.assign(constraint(variable.read()))

    def _clipped(self, grads):
        if self.clipnorm:
            return [g * (self.clipnorm / maximum(norm(g), self.clipnorm)) for g in grads]
        if self.clipvalue:
            return [clip(g, -self.clipvalue, self.clipvalue) for g in grads]
        if self.global_clipnorm:
            total = global_norm(grads)
            scale = self.global_clipnorm / maximum(total, self.global_clipnorm)
            scale = scale + (total - total)  # a norm that is not finite makes all gradients nan
            return [g * _like(scale, g) for g in grads]
        return grads

    def get_config(self):
        config = super().get_config()
        if "learning_rate" in config:
            config["learning_rate"] = float(self._learning_rate.array)
        return config


def _writable(variable):
    """The variable's buffer if nobody else can see it, else a new one like it."""
    array = variable.array
    if exclusive(array, holders=2) and array.flags.c_contiguous:
        return array
    return np.empty(array.shape, array.dtype)


def norm(x):
    """The L2 norm of all elements, 0-d."""
    squares = square(x)
    return sqrt(reduce_sum(squares, axis=tuple(range(len(x.shape))), keepdims=False))


def global_norm(grads):
    """sqrt(sum of norm(g)**2), in float32 or wider, 0-d."""
    total = None
    for g in grads:
        part = square(norm(_widened(g)))
        total = part if total is None else total + part
    return sqrt(total)


def _widened(x):
    array = x.array if type(x) is Tensor else x
    return cast(x, dtype=np.dtype(np.float32)) if array.dtype.itemsize < 4 else x


def _like(scale, grad):
    dtype = (grad.array if type(grad) is Tensor else grad).dtype
    have = (scale.array if type(scale) is Tensor else scale).dtype
    return scale if have == dtype else cast(scale, dtype=dtype)


def _as_gradient(grad):
    """A gradient given as a variable, IndexedSlices or array, as a tensor."""
    if isinstance(grad, CoreVariable):
        return grad.read()
    if hasattr(grad, "_as_tensor"):
        return grad._as_tensor()
    if hasattr(grad, "array"):
        return grad
    if isinstance(grad, (np.ndarray, np.generic, int, float)):
        return Tensor(np.asarray(grad, getattr(grad, "dtype", dtypes.floatx().np)))
    raise InvalidArgumentError(
        f"apply_gradients: a gradient must be a tensor or None, got {type(grad).__name__}. "
        "Expected pairs (gradient, variable): optimizer.apply_gradients(zip(gradients, variables))."
    )


def _misfit(aspect, grad, variable, error):
    return error(
        f"apply_gradients: the gradient of {_path(variable)!r} has {aspect} "
        f"{getattr(grad.array, aspect)}, the variable {getattr(variable.array, aspect)}."
    )


def _path(variable):
    return getattr(variable, "path", None) or variable.name


def _report_missing(missing, grads):
    if not missing:
        raise InvalidArgumentError("apply_gradients: no (gradient, variable) pairs were given.")
    names = ", ".join(repr(_path(v)) for v in missing)
    reason = explain.missing(missing)
    if not grads:
        reason = reason or "the loss does not depend on them through ops that the tape recorded"
        raise InvalidArgumentError(
            f"No gradients provided for any variable: {names}. {reason[0].upper()}{reason[1:]}."
        )
    reason = f": {reason}" if reason else ""
    warnings.warn(
        f"Gradients do not exist for variables {names} when minimizing the loss{reason}. Leave "
        "them out of the gradient's sources if that is meant.",
        stacklevel=3,
    )
