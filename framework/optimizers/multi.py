"""MultiOptimizer: several optimizers, each for some of the variables."""

import re
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Annotated, Any

from framework.core.argument_types import TensorLike
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import builtin, readable
from framework.optimizers.applying import COUNT
from framework.optimizers.asking import bind, group_of, rules_of, scale_rates, state_of
from framework.optimizers.base import Optimizer, get, optimizers
from framework.optimizers.loss_scale import LossScaleOptimizer
from framework.optimizers.updating import OptimizerRecord


class OptimizerMap(MutableMapping):
    """A mapping from variable paths to optimizers.

    A key is a path, or a regular expression that must match the whole path.

    Args:
        default_optimizer: the optimizer for variables that no key matches.
        optimizer_map: a dict from paths or regular expressions to optimizers.

    Example:
        >>> from framework.optimizers import SGD, Adam
        >>> chosen = OptimizerMap(SGD(), {"encoder/.*": Adam()})
        >>> chosen["encoder/dense/kernel"].name, chosen["head/kernel"].name
        ('adam', 'sgd')
    """

    def __init__(self, default_optimizer: Any, optimizer_map: Any = None):
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(
                f"OptimizerMap: expected a default optimizer, got {default_optimizer!r}."
            )
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"OptimizerMap: optimizer_map: expected a dict, got {optimizer_map!r}.")
        self.default_optimizer = default_optimizer
        self._by_key = {}
        for key, optimizer in (optimizer_map or {}).items():
            self[key] = optimizer

    def __getitem__(self, path: Any) -> Any:
        if path in self._by_key:
            return self._by_key[path]
        keys = [key for key in self._by_key if re.fullmatch(key, path)]
        if len(keys) > 1:
            raise InvalidArgumentError(
                f"OptimizerMap: several keys match the variable {path!r}: {', '.join(keys)}."
            )
        return self._by_key[keys[0]] if keys else self.default_optimizer

    def __setitem__(self, key, optimizer):
        if not isinstance(key, str):
            raise InvalidArgumentError(f"OptimizerMap: expected a string as key, got {key!r}.")
        if key in self._by_key:
            raise InvalidArgumentError(f"OptimizerMap: key {key!r} exists; delete it first.")
        if not isinstance(optimizer, Optimizer):
            raise InvalidArgumentError(
                f"OptimizerMap: expected an optimizer for {key!r}, got {optimizer!r}."
            )
        _refuse_wrappers(optimizer)
        self._by_key[key] = optimizer

    def __delitem__(self, key):
        del self._by_key[key]

    def __iter__(self):
        return iter(self._by_key)

    def __len__(self):
        return len(self._by_key)

    def __call__(self, variable: Any) -> Any:
        """Return the optimizer for a variable."""
        return self[getattr(variable, "path", variable.name)]

    def get_config(self) -> dict[str, Any]:
        """Return the config from which `from_config` creates an equal map."""
        return {
            "default_optimizer": serialize_value(self.default_optimizer),
            "optimizer_map": serialize_value(self._by_key),
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        """Return a map for the dict that `get_config` returned."""
        inner = config["optimizer_map"] or {}
        return cls(get(config["default_optimizer"]), {key: get(c) for key, c in inner.items()})


def _as_map(value):
    if isinstance(value, dict):
        return OptimizerMap.from_config(value.get("config", value))
    if not callable(value):
        raise InvalidArgumentError(
            "expected an OptimizerMap or a function from variables to optimizers"
        )
    return value


def _serialized(value):
    if isinstance(value, OptimizerMap):
        return {
            "module": value.__module__, "class_name": "OptimizerMap",
            "config": value.get_config(), "registered_name": None,
        }  # fmt: skip
    return serialize_value(value)


_LEFT_OUT = (
    "learning_rate", "groups", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm",
    "use_ema", "ema_momentum", "ema_overwrite_frequency", "gradient_accumulation_steps",
)  # fmt: skip


class _MultiRecord(OptimizerRecord):
    """The internal state of a `MultiOptimizer`.

    Attributes:
        inner: the optimizers.
        chosen: a dict from a variable's serial number to its optimizer.
    """

    def __init__(self):
        super().__init__()
        self.inner, self.chosen = [], {}


@optimizers.add()
class MultiOptimizer(Optimizer, record=_MultiRecord, left_out=_LEFT_OUT, several=True):
    """An optimizer that updates each variable with the optimizer chosen for it.

    It has no learning rate itself: each of `optimizers` has one.

    Args:
        optimizer_map: an `OptimizerMap`, or a function from a variable to its optimizer.
        loss_scale_factor: as in `Optimizer`, for all optimizers.
        name: a string.

    Example:
        >>> import framework as tf
        >>> from framework.optimizers import SGD, Adam
        >>> slow, fast = tf.Variable(1.0, name="slow"), tf.Variable(1.0, name="fast")
        >>> both = MultiOptimizer(OptimizerMap(SGD(0.5), {"slow.*": SGD(0.25)}))
        >>> _ = both.apply_gradients([(tf.constant(1.0), slow), (tf.constant(1.0), fast)])
        >>> slow.numpy(), fast.numpy()
        (np.float32(0.75), np.float32(0.5))
    """

    if TYPE_CHECKING:  # type checkers must reject fields that a MultiOptimizer does not have

        def __init__(
            self, optimizer_map: Any, *, loss_scale_factor: float | None = None,
            name: str | None = None,
        ) -> None: ...  # fmt: skip

    weight_decay = clipnorm = clipvalue = global_clipnorm = gradient_accumulation_steps = None
    use_ema = False
    optimizer_map: Annotated[Any, Resolved("an OptimizerMap", _as_map, serialize=_serialized)]

    def __post_init__(self):
        super().__post_init__()
        chosen = self.optimizer_map
        if isinstance(chosen, OptimizerMap):
            for optimizer in [*(chosen[key] for key in chosen), chosen.default_optimizer]:
                _add(self, optimizer)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "loss_scale_factor":
            for optimizer in self._framework.inner:
                optimizer.loss_scale_factor = value

    @readable
    def optimizers(self):
        """The inner optimizers; those in the map come first."""
        return list(self._framework.inner)

    @property
    def learning_rate(self):
        raise AttributeError(
            "A MultiOptimizer has no learning rate; read it from one of its .optimizers."
        )

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        raise AttributeError(
            "A MultiOptimizer has no learning rate; set it on each of its .optimizers."
        )

    @readable
    def groups(self):
        """The group rules of all inner optimizers, or None without rules."""
        return [rule for o in self._framework.inner for rule in rules_of(o) or ()] or None

    def scale_learning_rate(self, factor: Any) -> None:
        for optimizer in self._framework.inner:
            scale_rates(optimizer, factor)

    @property
    def variables(self):
        """The iteration count and the variables of all inner optimizers."""
        own = self._framework
        return [own.iterations, *(v for o in own.inner for v in o.variables)]

    @readable
    def state_variables(self):
        own = self._framework
        return [own.iterations, *(v for o in own.inner for v in state_of(o))]

    def build(self, variables: Any) -> None:
        if hasattr(variables, "trainable_variables"):
            MultiOptimizer.bind(self, variables)
            variables = variables.trainable_variables
        self._framework.built_for, self.built = list(variables), True
        for optimizer, own in _by_optimizer(self, self._framework.built_for):
            optimizer.build(own)

    def bind(self, root: Any) -> None:
        for optimizer in self._framework.inner:
            bind(optimizer, root)

    def group_of(self, variable: Any):
        return group_of(optimizer_of(self, variable), variable)

    def _apply(self, grads, variables, form):
        for optimizer, own, theirs in _by_optimizer(self, variables, grads):
            builtin(optimizer)._apply(optimizer, theirs, own, form)
        iterations = self._framework.iterations
        form.write(iterations, form.number(form.count(iterations) + 1, COUNT))

    def finalize_variable_values(self, var_list: Any) -> None:
        for optimizer, own in _by_optimizer(self, var_list):
            optimizer.finalize_variable_values(own)


def _refuse_wrappers(optimizer):
    if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
        raise InvalidArgumentError(
            f"{type(optimizer).__name__} cannot be inside a MultiOptimizer; wrap the "
            "MultiOptimizer with it instead."
        )


def _add(multi, optimizer):
    if not isinstance(optimizer, Optimizer):
        raise InvalidArgumentError(
            f"MultiOptimizer: expected an optimizer for each variable, got {optimizer!r}."
        )
    _refuse_wrappers(optimizer)
    if not any(optimizer is known for known in multi._framework.inner):
        optimizer.loss_scale_factor = multi.loss_scale_factor
        multi._framework.inner.append(optimizer)


def optimizer_of(multi, variable):
    optimizer = multi._framework.chosen.get(variable.serial)
    if optimizer is None:
        optimizer = multi._framework.chosen[variable.serial] = multi.optimizer_map(variable)
        _add(multi, optimizer)
    return optimizer


def _by_optimizer(multi, variables, *others):
    """Yield each inner optimizer with its items of the parallel lists `variables` and `others`."""
    rows = [(optimizer_of(multi, v), v, *rest) for v, *rest in zip(variables, *others)]
    for optimizer in multi._framework.inner:
        own = [row[1:] for row in rows if row[0] is optimizer]
        if own:
            yield optimizer, *map(list, zip(*own))
