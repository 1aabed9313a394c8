"""Groups: rules that set the learning rate, decay or clipping of some variables.

    Adam(1e-3, groups={"encoder/*": {"learning_rate": 1e-5}, "*/bias": {"weight_decay": 0}})

A key is an `fnmatch` pattern on variable paths, a layer or model, or a predicate of a variable; if
a key is not a pattern, the rules are a list of pairs. Later rules override earlier ones.
"""

import difflib
import fnmatch
import weakref

from framework.core.configurable import serialize_value
from framework.core.errors import InvalidArgumentError, suggest
from framework.optimizers import paths
from framework.optimizers.schedules import as_rate


def _not_negative(value):
    if value is None:
        return None
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__") or not float(value) >= 0:
        raise InvalidArgumentError("expected None or a number >= 0")
    return float(value)


def _boolean(value):
    if not isinstance(value, bool):
        raise InvalidArgumentError("expected True or False")
    return value


SETTINGS = {
    "learning_rate": as_rate,
    "weight_decay": _not_negative,
    "clipnorm": _not_negative,
    "clipvalue": _not_negative,
    "trainable": _boolean,
}
"""The settings of a rule, each with the function that checks and converts its value."""


def as_rules(groups):
    """Return the argument `groups` as a list of checked pairs (key, settings), or None if empty.

    Raises:
        TypeError, ValueError: a key or a setting is not valid.
    """
    if groups is None:
        return None
    pairs = groups.items() if isinstance(groups, dict) else groups
    try:
        pairs = [(key, dict(settings)) for key, settings in pairs]
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            "expected a dict {pattern: settings} or a list of pairs (pattern, settings), where "
            'settings is a dict like {"learning_rate": 1e-4}'
        ) from None
    return [(_key(key), _settings(key, settings)) for key, settings in pairs] or None


def _key(key):
    if isinstance(key, str) or paths.is_holder(key) or callable(key):
        return key
    raise InvalidArgumentError(
        f"expected a pattern, a layer or a predicate of variables as key, got {key!r}"
    )


def _settings(key, settings):
    checked = {}
    for name, value in settings.items():
        if name not in SETTINGS:
            raise InvalidArgumentError(
                f"{key!r} sets {name!r}, which is not a setting of a group{suggest(name, SETTINGS)}"
            )
        try:
            checked[name] = SETTINGS[name](value)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{key!r} sets {name}={value!r}: {error}") from None
    if checked.get("clipnorm") and checked.get("clipvalue"):
        raise InvalidArgumentError(f"{key!r} sets clipnorm and clipvalue; set only one")
    return checked


def serialize_rules(rules):
    """Return rules as JSON values; every key must be a pattern."""
    if rules is None:
        return None
    for key, _ in rules:
        if not isinstance(key, str):
            raise InvalidArgumentError(
                f"groups: the key {key!r} cannot be saved; use a pattern such as 'encoder/*'."
            )
    return [
        [key, {name: serialize_value(v) for name, v in settings.items()}] for key, settings in rules
    ]


class Groups:
    """Rules, and the paths of the variables that they apply to.

    Args:
        rules: the pairs that `as_rules` returned.
    """

    def __init__(self, rules):
        self.rules = rules
        self._root = None
        self._paths = {}  # maps the serial number of a variable to (path, variable)

    def bind(self, root):
        """Make all paths of variables start at `root`, a layer, model or Module."""
        # the reference is weak because the model refers to its optimizer
        self._root = weakref.ref(root)
        self._paths = {}
        known = paths.paths_in(root)
        # an unbuilt model will create more variables, so the rules are checked later
        if known and getattr(root, "built", True):
            self._paths = known
            self.check()

    def meet(self, variables):
        """Compute the paths of all given variables that have no path yet."""
        if all(v.serial in self._paths for v in variables):
            return
        first = not self._paths
        root = None if self._root is None else self._root()
        known = {} if root is None else paths.paths_in(root)
        missing = [v for v in variables if v.serial not in known]
        self._paths.update(known if not missing else {**paths.holders_of(missing), **known})
        if first:
            self.check()

    def path(self, variable):
        """Return the path of a variable, which patterns are matched against."""
        return self._paths[variable.serial][0]

    def settings(self, variable):
        """Return the settings for a variable; {} if no rule matches it."""
        merged = {}
        for key, settings in self.rules:
            if _matches(key, self.path(variable), variable):
                merged.update(settings)
                # a rule's clipping replaces all clipping of earlier rules
                if {"clipnorm", "clipvalue"} & settings.keys():
                    for name in {"clipnorm", "clipvalue"} - settings.keys():
                        merged.pop(name, None)
        return merged

    def check(self):
        """Raise an error if a rule matches no variable."""
        for key, _ in self.rules:
            if not any(_matches(key, path, v) for path, v in self._paths.values()):
                raise InvalidArgumentError(
                    f"groups: the rule {key!r} matches no variable{self._near(key)} "
                    f"The paths are {', '.join(path for path, _ in self._paths.values())}."
                )

    def _near(self, key):
        if not isinstance(key, str):
            return "."
        known = dict.fromkeys(path for path, _ in self._paths.values())
        for path in list(known):
            parts = path.split("/")
            known.update(dict.fromkeys("/".join([*parts[:n], "*"]) for n in range(1, len(parts))))
            known.update(dict.fromkeys("/".join(["*", *parts[n:]]) for n in range(1, len(parts))))
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
        return f"; did you mean {' or '.join(map(repr, near))}?" if near else "."


def _matches(key, path, variable):
    if isinstance(key, str):
        return fnmatch.fnmatchcase(path, key)
    if paths.is_holder(key):
        return any(v is variable for v in key.variables)
    return bool(key(variable))


def layerwise_decay(model, rate, decay):
    """Return groups in which each layer's rate is `decay` times the rate of the next layer.

    The last layer with variables trains at `rate`. For fine-tuning: Howard & Ruder 2018,
    arXiv:1801.06146, section 3.2.

    Args:
        model: a built model; its `layers` count from its inputs to its outputs.
        rate: a number.
        decay: a number in (0, 1].

    Example:
        >>> import framework as tf
        >>> from framework import keras
        >>> model = keras.Sequential([keras.layers.Dense(2, name=n) for n in ("first", "last")])
        >>> model.build((None, 3))
        >>> layerwise_decay(model, 0.1, 0.5)
        {'first/*': {'learning_rate': 0.05}, 'last/*': {'learning_rate': 0.1}}
    """
    layers = [layer for layer in model.layers if layer.variables]
    if not layers:
        raise InvalidArgumentError(
            "layerwise_decay: the model has no variables yet; build it first: "
            "model.build(input_shape)."
        )
    depths = range(len(layers) - 1, -1, -1)
    return {
        f"{layer.name}/*": {"learning_rate": float(rate * decay**depth)}
        for layer, depth in zip(layers, depths)
    }
