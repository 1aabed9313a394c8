"""Several optimizers as one, each for the variables that a map gives it."""

import re
from collections.abc import MutableMapping

from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.optimizers.applying import COUNT
from framework.optimizers.base import Optimizer, get, optimizers
from framework.optimizers.loss_scale import LossScaleOptimizer


class OptimizerMap(MutableMapping):
    """Which optimizer is for which variable: by its path, or a regular expression of all of it.

    Args:
        default_optimizer: for variables that no key matches.
        optimizer_map: a dict from paths or expressions to optimizers.

    Example:
        >>> from framework.optimizers import SGD, Adam
        >>> chosen = OptimizerMap(SGD(), {"encoder/.*": Adam()})
        >>> chosen["encoder/dense/kernel"].name, chosen["head/kernel"].name
        ('adam', 'sgd')
    """

    def __init__(self, default_optimizer, optimizer_map=None):
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(
                f"OptimizerMap: default_optimizer must be an optimizer, got {default_optimizer!r}."
            )
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"OptimizerMap: optimizer_map must be a dict, got {optimizer_map!r}.")
        self.default_optimizer = default_optimizer
        self._by_key = {}
        for key, optimizer in (optimizer_map or {}).items():
            self[key] = optimizer

    def __getitem__(self, path):
        if path in self._by_key:
            return self._by_key[path]
        found = [key for key in self._by_key if re.fullmatch(key, path)]
        if len(found) > 1:
            raise InvalidArgumentError(
                f"OptimizerMap: several keys match the variable {path!r}: {', '.join(found)}."
            )
        return self._by_key[found[0]] if found else self.default_optimizer

    def __setitem__(self, key, optimizer):
        if not isinstance(key, str):
            raise InvalidArgumentError(f"OptimizerMap: a key must be a string, got {key!r}.")
        if key in self._by_key:
            raise InvalidArgumentError(f"OptimizerMap: the key {key!r} is there already.")
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

    def __call__(self, variable):
        """The optimizer for a variable."""
        return self[getattr(variable, "path", variable.name)]

    def get_config(self):
        """What `from_config` makes an equal map of."""
        return {
            "default_optimizer": serialize_value(self.default_optimizer),
            "optimizer_map": serialize_value(self._by_key),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A map from what `get_config` gave."""
        inner = config["optimizer_map"] or {}
        return cls(get(config["default_optimizer"]), {key: get(c) for key, c in inner.items()})


def _map(value):
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


@optimizers.add()
class MultiOptimizer(Optimizer):
    """One optimizer that hands each variable to the optimizer chosen for it.

    There is no learning rate here: each of `optimizers` has its own.

    Args:
        optimizer_map: an `OptimizerMap`, or a function from a variable to its optimizer.
        loss_scale_factor: as in `Optimizer`, for all of them.
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

    _left_out = (
        "learning_rate", "groups", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm",
        "use_ema", "ema_momentum", "ema_overwrite_frequency", "gradient_accumulation_steps",
    )  # fmt: skip
    weight_decay = clipnorm = clipvalue = global_clipnorm = gradient_accumulation_steps = None
    use_ema = False
    optimizer_map: Resolved("an OptimizerMap", _map, serialize=_serialized)

    def __post_init__(self):
        super().__post_init__()
        self._inner = []
        self._chosen = {}  # serial of a variable -> its optimizer
        chosen = self.optimizer_map
        if isinstance(chosen, OptimizerMap):
            for optimizer in [*(chosen[key] for key in chosen), chosen.default_optimizer]:
                self._meet(optimizer)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "loss_scale_factor":
            for optimizer in self.__dict__.get("_inner", ()):
                optimizer.loss_scale_factor = value

    def _meet(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise InvalidArgumentError(
                f"MultiOptimizer: expected an optimizer for each variable, got {optimizer!r}."
            )
        _refuse_wrappers(optimizer)
        if not any(optimizer is known for known in self._inner):
            optimizer.loss_scale_factor = self.loss_scale_factor
            self._inner.append(optimizer)

    def _optimizer_of(self, variable):
        found = self._chosen.get(variable.serial)
        if found is None:
            found = self._chosen[variable.serial] = self.optimizer_map(variable)
            self._meet(found)
        return found

    def _by_optimizer(self, variables, *others):
        """For each optimizer its share of parallel lists."""
        rows = [(self._optimizer_of(v), v, *rest) for v, *rest in zip(variables, *others)]
        for optimizer in self._inner:
            own = [row[1:] for row in rows if row[0] is optimizer]
            if own:
                yield optimizer, *map(list, zip(*own))

    @property
    def optimizers(self):
        """The optimizers, those of the map first."""
        return list(self._inner)

    @property
    def learning_rate(self):
        raise AttributeError(
            "A MultiOptimizer has no learning rate; each of its .optimizers has one."
        )

    @learning_rate.setter
    def learning_rate(self, value):
        raise AttributeError(
            "A MultiOptimizer has no learning rate; set that of each of its .optimizers."
        )

    @property
    def groups(self):
        """The rules of all of them, None where there are none."""
        return [rule for o in self._inner for rule in o.groups or ()] or None

    def scale_learning_rate(self, factor):
        for optimizer in self._inner:
            optimizer.scale_learning_rate(factor)

    @property
    def variables(self):
        """The number of updates, and all that the optimizers keep."""
        return [self._iterations, *(v for o in self._inner for v in o.variables)]

    @property
    def state_variables(self):
        return [self._iterations, *(v for o in self._inner for v in o.state_variables)]

    def build(self, variables):
        if hasattr(variables, "trainable_variables"):
            self.bind(variables)
            variables = variables.trainable_variables
        self._built_for, self.built = list(variables), True
        for optimizer, own in self._by_optimizer(self._built_for):
            optimizer.build(own)

    def bind(self, root):
        for optimizer in self._inner:
            optimizer.bind(root)

    def group_of(self, variable):
        return self._optimizer_of(variable).group_of(variable)

    def _apply(self, grads, variables, form):
        for optimizer, own, theirs in self._by_optimizer(variables, grads):
            optimizer._apply(theirs, own, form)
        form.write(self._iterations, form.number(form.count(self._iterations) + 1, COUNT))

    def finalize_variable_values(self, var_list):
        for optimizer, own in self._by_optimizer(var_list):
            optimizer.finalize_variable_values(own)


def _refuse_wrappers(optimizer):
    if isinstance(optimizer, (LossScaleOptimizer, MultiOptimizer)):
        raise InvalidArgumentError(
            f"{type(optimizer).__name__} cannot stand inside a MultiOptimizer; wrap the "
            "MultiOptimizer in it."
        )
