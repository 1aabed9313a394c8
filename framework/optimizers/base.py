"""The base class of optimizers: fields, state variables, configs, and `minimize`."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from framework.autodiff.tape import GradientTape
from framework.core.configurable import Configurable, Resolved, fields_of, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import Shown, builtin, in_package, readable
from framework.core.registry import Registry, snake_case
from framework.core.torch_words import OptimizerWords
from framework.core.variable import KerasVariable
from framework.optimizers.applying import Applying, plan_of
from framework.optimizers.groups import as_rules, serialize_rules
from framework.optimizers.protocol import blocks_of
from framework.optimizers.rates import begin_rates, serialized_rate
from framework.optimizers.schedules import as_rate
from framework.optimizers.updating import OptimizerRecord, forget_plans, set_rules

optimizers = Registry("optimizer")
get = optimizers.get


def serialize(optimizer):
    """Return the config from which `deserialize` creates an equal optimizer, without slots."""
    return serialize_value(optimizer)


def deserialize(config, custom_objects=None):
    """Return an optimizer for the config that `serialize` returned.

    Args:
        config: the dict that `serialize` returned.
        custom_objects: a dict from names to user-defined classes.
    """
    return optimizers.deserialize(config, custom_objects)


def _number(is_valid, expected):
    def resolve(value):
        if value is None:
            return None
        if isinstance(value, str) or not hasattr(value, "__float__") or not is_valid(float(value)):
            raise InvalidArgumentError(f"expected {expected}")
        return float(value)

    return resolve


def _steps(least, none=(None,)):
    def resolve(value):
        if value in none:
            return None
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise InvalidArgumentError(f"expected None or an int >= {least}")
        return int(value)

    return resolve


PositiveOrNone = Annotated[
    float | None,
    Resolved("a number > 0, or None", _number(lambda x: x > 0, "None or a number > 0")),
]
NotNegativeOrNone = Annotated[
    float | None,
    Resolved("a number >= 0, or None", _number(lambda x: x >= 0, "None or a number >= 0")),
]
Fraction = Annotated[
    float, Resolved("a number in [0, 1]", _number(lambda x: 0 <= x <= 1, "a number in [0, 1]"))
]
EveryOrNone = Annotated[int | None, Resolved("an int >= 1, or None", _steps(1))]
RoundOrNone = Annotated[int | None, Resolved("an int >= 2, or None", _steps(2))]
Rules = Annotated[Any, Resolved("a dict of groups, or None", as_rules, serialize=serialize_rules)]
Rate = Annotated[float | dict[str, Any] | Callable[..., Any], Resolved("a learning rate", as_rate)]


class _Rated(Configurable):
    """A base class with the field `learning_rate`, the first argument of all optimizers."""

    learning_rate: Rate


FORMER_FIELDS = {
    "lr": "write learning_rate=...",
    "decay": "for a decaying rate write learning_rate=keras.optimizers.schedules."
    "InverseTimeDecay(rate, 1, decay), for weight decay write weight_decay=...",
}


class Optimizer(
    Applying,
    OptimizerWords,
    _Rated,
    record=OptimizerRecord,
    kw_only=True,
    former_fields=FORMER_FIELDS,
    scales=False,
    several=False,
):
    """The base class of optimizers.

    A subclass declares its fields, the names of its `slots` (state kept for each variable, zeros
    unless `initial` returns other values), and `update(param, grad, slot, lr, step)`, which returns
    the new parameter and sets the attributes of `slot`. `update` is pure: it runs on arrays, or on
    tensors while a trace records it. `lr` and `step` (1 at the first update) are 0-d and have the
    parameter's dtype. Subclasses written for Keras (`build`, `update_step`, `get_config`) work
    unchanged.

    Args:
        learning_rate: a number, a `LearningRateSchedule` or a callable without arguments.
        weight_decay: each update first subtracts `lr * weight_decay * param` from the parameter.
        clipnorm: each gradient is scaled down to at most this L2 norm.
        clipvalue: each gradient's elements are clipped to [-clipvalue, clipvalue].
        global_clipnorm: all gradients together are scaled down to at most this L2 norm.
        use_ema: keep exponential moving averages of the variables. `fit` assigns the averages to
            the variables at its end; other loops call `finalize_variable_values` to do so.
        ema_momentum: the weight of the old average in the new average.
        ema_overwrite_frequency: assign the averages to the variables after this many updates.
        loss_scale_factor: `scale_loss` multiplies the loss by it; `apply` divides gradients by it.
        gradient_accumulation_steps: update the variables once in this many calls, with the mean of
            the gradients since the last update.
        name: a string.
        groups: settings for some of the variables, `{pattern: {"learning_rate": ...}}`: a pattern
            matches paths such as "encoder/*". Or a list of pairs (key, settings), where the key is
            a pattern, a layer or a predicate of variables. Settings are learning_rate,
            weight_decay, clipnorm, clipvalue and trainable; later rules override earlier ones.
    """

    weight_decay: NotNegativeOrNone = None
    clipnorm: PositiveOrNone = None
    clipvalue: PositiveOrNone = None
    global_clipnorm: PositiveOrNone = None
    use_ema: bool = False
    ema_momentum: Fraction = 0.99
    ema_overwrite_frequency: EveryOrNone = None
    loss_scale_factor: PositiveOrNone = None
    gradient_accumulation_steps: RoundOrNone = None
    name: str | None = None
    groups: Rules = None

    def __init__(self, *args: Any, **kwargs: Any):
        own = self._framework
        begin_rates(self)
        own.iterations = KerasVariable(np.zeros((), np.int64), trainable=False, name="iteration")
        self.built = False
        forget_plans(self)
        own.opening = True
        super().__init__(*args, **kwargs)
        own.opening = False

    __init__._from_fields = True

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        fields = fields_of(cls)
        # replaces another type with which a subclass may have annotated `learning_rate`
        if "learning_rate" in fields:
            fields["learning_rate"].annotation = Rate

    def __post_init__(self):
        self.name = self.name or snake_case(type(self).__name__)
        own = self._framework
        for variable in (own.iterations, own.learning_rate, own.multiplier, *own.own_variables):
            variable.path = f"{self.name}/{variable.name}"
        clips = [n for n in ("clipnorm", "clipvalue", "global_clipnorm") if getattr(self, n)]
        if len(clips) > 1:
            raise InvalidArgumentError(
                f"{type(self).__name__}: only one of clipnorm, clipvalue and global_clipnorm can "
                f"be set, got {' and '.join(clips)}."
            )

    def __repr__(self):
        own, fields = self._framework, fields_of(type(self))
        given = {name: self.__dict__.get(name, field.default) for name, field in fields.items()}
        schedule = own.schedule
        rate = (
            f"{float(own.learning_rate.array * own.multiplier.array):.4g}"
            if schedule is None
            else getattr(schedule, "name", None) or type(schedule).__name__
        )
        parts = [f"learning_rate={rate}"] if "learning_rate" in fields else []
        if type(self)._framework.scales:
            parts = [repr(self.inner_optimizer)]
        parts += [
            f"{name}={value!r}"
            for name, value in given.items()
            if name not in ("learning_rate", "name", "groups")
            and isinstance(value, (bool, int, float, str))
            and value != fields[name].default
        ]
        parts += ["groups=..."] if given.get("groups") else []
        return f"<{type(self).__name__}({', '.join(parts)}), {int(own.iterations.array)} updates>"

    def __setattr__(self, name, value):
        fields = fields_of(type(self))
        if name == "groups" and name in fields and _sets_rules(self):
            set_rules(self, as_rules(value))
            return
        super().__setattr__(name, value)
        if name in fields and name not in ("learning_rate", "groups"):
            # discards compiled updates, which contain the values of the fields as constants
            forget_plans(self)

    # ---- state ----

    @property
    def iterations(self):
        """The number of updates so far."""
        if self.gradient_accumulation_steps:
            return self._framework.iterations.read() // self.gradient_accumulation_steps
        return self._framework.iterations

    @property
    def variables(self):
        """The iteration count, the learning rate if it is a number, and all slots."""
        own = self._framework
        slots = [
            by_name[name]
            for block in (("average",), ("gradient_accumulator",), *blocks_of(self))
            for by_name in own.slots.values()
            for name in block
            if name in by_name
        ]
        rate = [] if own.schedule is not None else [own.learning_rate]
        return [own.iterations, *rate, *slots, *own.shared.values(), *own.own_variables]

    @readable
    def state_variables(self):
        """All variables that the next update depends on: `variables` and the rate's multiplier."""
        return [*self.variables, self._framework.multiplier]

    def build(self, variables: Any) -> None:
        """Create the slots now instead of at each variable's first update.

        Args:
            variables: a list; or a model, layer or Module, for its trainable variables. The paths
                that `groups` match then start at this object.
        """
        if hasattr(variables, "trainable_variables"):
            builtin(self).bind(self, variables)
            variables = variables.trainable_variables
        variables = list(variables)
        if self._framework.groups is not None:
            self._framework.groups.meet(variables)
        for variable in variables:
            plan_of(self, variable)
        self._framework.built_for, self.built = variables, True

    def bind(self, root: Any) -> None:
        """Make the paths that `groups` match start at `root`: a model, layer or Module.

        Raises:
            ValueError: a rule matches no variable of `root`.
        """
        if self._framework.groups is not None:
            self._framework.groups.bind(root)
            forget_plans(self)

    def group_of(self, variable: Any):
        """Return what `groups` sets for a variable, as a dict; {} if no rule matches it."""
        if self._framework.groups is None:
            return {}
        self._framework.groups.meet([variable])
        return self._framework.groups.settings(variable)

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        """Apply no weight decay to some variables.

        Args:
            var_list: the variables.
            var_names: regular expressions; variables whose name contains a match are excluded, too.
        """
        self._framework.no_decay.update(v.serial for v in var_list or ())
        self._framework.no_decay_names += list(var_names or ())
        forget_plans(self)

    def _decay_of(self, variable):
        """Return the weight decay of a variable for which no rule in `groups` sets one."""
        return self.weight_decay

    # ---- around the update ----

    def minimize(self, loss: Any, var_list: Any, tape: Any = None):
        """Differentiate a loss and apply the gradients.

        Args:
            loss: a function without arguments that computes the loss; or a tensor, with `tape`.
            var_list: the variables to update, or a function that returns them.
            tape: the tape that recorded the tensor.

        Returns:
            The number of updates so far, a variable.

        Example:
            >>> import framework as tf
            >>> w = tf.Variable(1.0)
            >>> _ = tf.keras.optimizers.SGD(0.25).minimize(lambda: w * w, [w])
            >>> w.numpy()
            np.float32(0.5)
        """
        if callable(loss):
            tape = tape or GradientTape()
            with tape:
                scaled = self.scale_loss(loss())
        elif tape is None:
            raise InvalidArgumentError(
                "minimize: a loss that is a tensor needs tape=..., the tape that recorded it."
            )
        else:
            with tape:
                scaled = self.scale_loss(loss)
        var_list = var_list() if callable(var_list) else var_list
        gradients = tape.gradient(scaled, var_list)
        return self.apply_gradients(zip(gradients, var_list, strict=True))

    def scale_loss(self, loss: Any):
        """Return the loss times `loss_scale_factor`; `apply` divides the gradients by it."""
        return loss * self.loss_scale_factor if self.loss_scale_factor else loss

    def finalize_variable_values(self, var_list: Any) -> None:
        """End training: if `use_ema`, assign the averages to the variables in `var_list`."""
        if self.use_ema:
            for variable in var_list:
                average = self._framework.slots.get(variable.serial, {}).get("average")
                if average is not None:
                    variable.assign(average)

    # ---- config and copies ----

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if "learning_rate" in config:
            config["learning_rate"] = serialized_rate(self)
        if config.get("groups") is None:
            config.pop("groups", None)
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        """Return an optimizer for the dict that `get_config` returned, without slots.

        Args:
            config: a dict.
            custom_objects: a dict from names to user-defined schedule classes.
        """
        rate = config.get("learning_rate")
        if isinstance(rate, dict) and rate.get("class_name") in (custom_objects or {}):
            schedule = custom_objects[rate["class_name"]].from_config(rate["config"])
            config = {**config, "learning_rate": schedule}
        return cls(**config)


def _sets_rules(optimizer):
    """Return whether assigning `groups` sets the rules; in a user's class only in `__init__`."""
    return optimizer._framework.opening or in_package(type(optimizer))


Optimizer.groups = Shown(
    "rules", "The rules in the argument `groups`, which are settings for groups of variables."
)
