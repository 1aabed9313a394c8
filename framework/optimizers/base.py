"""What all optimizers share: rates, clipping, decay, groups, averages, and applying an update."""

import numpy as np

from framework.autodiff.tape import GradientTape
from framework.core.configurable import Configurable, Resolved, fields_of, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.own import Shown, builtin, in_package, readable
from framework.core.registry import Registry, snake_case
from framework.core.variable import KerasVariable
from framework.optimizers.applying import Applying, plan_of
from framework.optimizers.groups import as_rules, serialize_rules
from framework.optimizers.protocol import member
from framework.optimizers.rates import begin_rates, serialized_rate
from framework.optimizers.schedules import as_rate
from framework.optimizers.updating import OptimizerRecord, forget_plans, set_rules

optimizers = Registry("optimizer")
get = optimizers.get


def serialize(optimizer):
    """The config from which `deserialize` makes an equal optimizer (without its slots)."""
    return serialize_value(optimizer)


def deserialize(config, custom_objects=None):
    """The optimizer that `serialize` described.

    Args:
        config: what `serialize` gave.
        custom_objects: classes of your own by name.
    """
    return optimizers.deserialize(config, custom_objects)


def _number(test, expected):
    def resolve(value):
        if value is None:
            return None
        if isinstance(value, str) or not hasattr(value, "__float__") or not test(float(value)):
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


PositiveOrNone = Resolved("a number > 0, or None", _number(lambda x: x > 0, "None or a number > 0"))
NotNegativeOrNone = Resolved(
    "a number >= 0, or None", _number(lambda x: x >= 0, "None or a number >= 0")
)
Share = Resolved("a number in [0, 1]", _number(lambda x: 0 <= x <= 1, "a number in [0, 1]"))
EveryOrNone = Resolved("an int >= 1, or None", _steps(1))
RoundOrNone = Resolved("an int >= 2, or None", _steps(2))
Rules = Resolved("a dict of groups, or None", as_rules, serialize=serialize_rules)
Rate = Resolved("a learning rate", as_rate)


class _Rated(Configurable):
    """The one field that all optimizers take by position."""

    learning_rate: Rate


FORMER_FIELDS = {
    "lr": "write learning_rate=...",
    "decay": "for a rate that falls give learning_rate=keras.optimizers.schedules."
    "InverseTimeDecay(rate, 1, decay), for weights that shrink weight_decay=...",
}


class Optimizer(
    Applying,
    _Rated,
    record=OptimizerRecord,
    base_fields=True,
    former_fields=FORMER_FIELDS,
    scales=False,
    several=False,
):
    """Base of optimizers.

    A subclass declares its fields, the names of its `slots` (one buffer per variable and name, by
    `initial` zero at first), and `update(param, grad, slot, lr, step)`, which returns the new
    parameter and sets the slot's attributes. `update` is pure: it runs on arrays, and on tensors
    when a trace records it. `lr` and `step` (1 at the first update) are 0-d, of the parameter's
    dtype. Subclasses written for Keras (`build`, `update_step`, `get_config`) work as they are.

    Args:
        learning_rate: a number, a `LearningRateSchedule` or a callable without arguments.
        weight_decay: each update first takes `lr * weight_decay * param` off the parameter.
        clipnorm: each gradient is scaled down to at most this L2 norm.
        clipvalue: each gradient's elements are clipped to [-clipvalue, clipvalue].
        global_clipnorm: all gradients together are scaled down to at most this L2 norm.
        use_ema: keep exponential moving averages of the variables. `fit` puts them in the
            variables' place at its end; in other loops `finalize_variable_values` does.
        ema_momentum: the share of the old average in the new one.
        ema_overwrite_frequency: put the averages in the variables' place every so many updates.
        loss_scale_factor: `scale_loss` multiplies by it, and gradients are divided by it.
        gradient_accumulation_steps: update at each call of so many only, by the mean of the
            gradients since the last update.
        name: a string.
        groups: rules for some of the variables, `{pattern: {"learning_rate": ...}}`: patterns on
            paths such as "encoder/*", or a list of pairs whose first is a pattern, a layer or a
            predicate of variables. A rule sets learning_rate, weight_decay, clipnorm, clipvalue,
            or trainable; later rules win.
    """

    weight_decay: NotNegativeOrNone = None
    clipnorm: PositiveOrNone = None
    clipvalue: PositiveOrNone = None
    global_clipnorm: PositiveOrNone = None
    use_ema: bool = False
    ema_momentum: Share = 0.99
    ema_overwrite_frequency: EveryOrNone = None
    loss_scale_factor: PositiveOrNone = None
    gradient_accumulation_steps: RoundOrNone = None
    name: str = None
    groups: Rules = None

    def __init__(self, *args, **kwargs):
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
        if "learning_rate" in fields:  # also where a subclass says float
            fields["learning_rate"].annotation = Rate

    def __post_init__(self):
        self.name = self.name or snake_case(type(self).__name__)
        given = [n for n in ("clipnorm", "clipvalue", "global_clipnorm") if getattr(self, n)]
        if len(given) > 1:
            raise InvalidArgumentError(
                f"{type(self).__name__}: only one of clipnorm, clipvalue and global_clipnorm can "
                f"be set, got {' and '.join(given)}."
            )

    def __setattr__(self, name, value):
        fields = fields_of(type(self))
        if name == "groups" and name in fields and _is_setting(self):
            set_rules(self, as_rules(value))
            return
        super().__setattr__(name, value)
        if name in fields and name not in ("learning_rate", "groups"):
            forget_plans(self)  # fields are constants of the compiled update

    # ---- state ----

    @property
    def iterations(self):
        """The number of updates done."""
        if self.gradient_accumulation_steps:
            return self._framework.iterations.read() // self.gradient_accumulation_steps
        return self._framework.iterations

    slot_blocks = None
    """The slots in the order in which Keras makes and saves them, as a tuple of tuples of names;
    None for one tuple, `slots`."""

    @property
    def variables(self):
        """Calls so far, the learning rate if it is a number, the slots of each variable."""
        own = self._framework
        blocks = [
            ("average",),
            ("gradient_accumulator",),
            *(member(self, "slot_blocks") or (member(self, "slots"),)),
        ]
        slots = [
            made[name]
            for block in blocks
            for made in own.slots.values()
            for name in block
            if name in made
        ]
        rate = [] if own.schedule is not None else [own.learning_rate]
        return [own.iterations, *rate, *slots, *own.shared.values(), *own.own_variables]

    @readable
    def state_variables(self):
        """`variables`, which are Keras's, and what else the next update depends on."""
        return [*self.variables, self._framework.multiplier]

    def build(self, variables):
        """Make the slots now, not at each variable's first update.

        Args:
            variables: a list; or a model, layer or Module, for its trainable variables: the paths
                that `groups` speak of then start at it.
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

    def bind(self, root):
        """Let the paths that `groups` speak of start at `root`: a model, layer or Module.

        Raises:
            ValueError: a rule matches none of its variables.
        """
        if self._framework.groups is not None:
            self._framework.groups.bind(root)
            forget_plans(self)

    def group_of(self, variable):
        """What the rules of `groups` set for a variable, by name: {} where none is about it."""
        if self._framework.groups is None:
            return {}
        self._framework.groups.meet([variable])
        return self._framework.groups.settings(variable)

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Spare some variables the decay.

        Args:
            var_list: these.
            var_names: those whose own name has one of these in it; regular expressions.
        """
        self._framework.no_decay.update(v.serial for v in var_list or ())
        self._framework.no_decay_names += list(var_names or ())
        forget_plans(self)

    def _decay_of(self, variable):
        """The decay of a variable that no group is about."""
        return self.weight_decay

    # ---- around the update ----

    def minimize(self, loss, var_list, tape=None):
        """Differentiate a loss and apply the gradients.

        Args:
            loss: a function without arguments that computes the loss; or a tensor, with `tape`.
            var_list: the variables to update, or a function that gives them.
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
                "minimize: a loss that is a tensor needs the tape=... that recorded it."
            )
        else:
            with tape:
                scaled = self.scale_loss(loss)
        var_list = var_list() if callable(var_list) else var_list
        gradients = tape.gradient(scaled, var_list)
        return self.apply_gradients(zip(gradients, var_list, strict=True))

    def scale_loss(self, loss):
        """The loss times `loss_scale_factor`; the gradients are divided by it when applied."""
        return loss * self.loss_scale_factor if self.loss_scale_factor else loss

    def finalize_variable_values(self, var_list):
        """End training: put the averages in the place of `var_list`, where `use_ema` is set."""
        if self.use_ema:
            for variable in var_list:
                average = self._framework.slots.get(variable.serial, {}).get("average")
                if average is not None:
                    variable.assign(average)

    # ---- config and copies ----

    def get_config(self):
        config = super().get_config()
        if "learning_rate" in config:
            config["learning_rate"] = serialized_rate(self)
        if config.get("groups") is None:
            config.pop("groups", None)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer from what `get_config` gave, without slots.

        Args:
            config: a dict.
            custom_objects: classes of your own by name, for a schedule.
        """
        own = config.get("learning_rate")
        if isinstance(own, dict) and own.get("class_name") in (custom_objects or {}):
            made = custom_objects[own["class_name"]].from_config(own["config"])
            config = {**config, "learning_rate": made}
        return cls(**config)


def _is_setting(optimizer):
    """Whether `groups` are rules now: a class of the user's takes them as an argument only."""
    return optimizer._framework.opening or in_package(type(optimizer))


Optimizer.groups = Shown("rules", "The rules that the optimizer was given for groups of variables.")
