"""The variables of a model, its optimizer and its metrics as nested dicts, keyed by path."""

from framework.core.errors import InvalidArgumentError

GROUPS = (
    "trainable_variables",
    "non_trainable_variables",
    "optimizer_variables",
    "metrics_variables",
)

_VALUES = {"backend_tensor": lambda v: v.read(), "numpy_array": lambda v: v.numpy()}


def get_state_tree(model, value_format):
    """Return {group of variables: tree of their values} for a model."""
    if value_format not in _VALUES:
        raise InvalidArgumentError(
            "get_state_tree: value_format: expected 'backend_tensor' or 'numpy_array', got "
            f"{value_format!r}."
        )
    return {group: _tree(variables_of(model, group), _VALUES[value_format]) for group in GROUPS}


def set_state_tree(model, state_tree):
    """Assign the values of a tree to the variables with the same paths."""
    for group, tree in state_tree.items():
        if group not in GROUPS:
            raise InvalidArgumentError(
                f"set_state_tree: state_tree: expected keys among {', '.join(GROUPS)}, got "
                f"{group!r}."
            )
        values = _flat(tree)
        for variable in variables_of(model, group):
            if variable.path in values:
                variable.assign(values[variable.path])


def variables_of(model, group):
    """Return the variables of a group; [] for the optimizer of a model that is not compiled."""
    if group == "optimizer_variables":
        return [] if model.optimizer is None else model.optimizer.variables
    return getattr(model, group)


def _tree(variables, value_of):
    tree, paths = {}, set()
    for variable in variables:
        if variable.path in paths:
            raise InvalidArgumentError(
                "get_state_tree: The following variable path is found twice in the model: "
                f"{variable.path!r}. Give the layers and metrics unique names."
            )
        paths.add(variable.path)
        *outer, last = variable.path.split("/")
        inner = tree
        for name in outer:
            inner = inner.setdefault(name, {})
        inner[last] = value_of(variable)
    return tree


def _flat(tree, prefix=""):
    values = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            values.update(_flat(value, f"{prefix}{name}/"))
        else:
            values[prefix + name] = value
    return values
