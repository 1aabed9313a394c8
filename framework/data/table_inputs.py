"""Tables as the inputs and targets of a model: one array per input, or a matrix of all columns."""

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.tables import columns_of, is_table, listed, matrix


def in_arrays(model, x, y=None):
    """Return (x, y) with tables as arrays or dicts of arrays; other data unchanged.

    A model with several inputs, or with a dict of them, gets each input from the column of its
    name. Any other model gets a matrix if all columns are numbers, else a dict of all columns.
    """
    if is_table(x):
        x = _by_name(x, _input_names(model), "x", "inputs") or _whole(x)
    if is_table(y):
        names = _output_names(model)
        y = (_by_name(y, names, "y", "outputs") if names else None) or matrix(y, "y")
    return x, y


def all_in_arrays(model, x, y, validation_data):
    """Return (x, y, validation_data) of `fit` with tables as arrays."""
    if isinstance(validation_data, (tuple, list)) and any(map(is_table, validation_data[:2])):
        validation_data = (*in_arrays(model, *validation_data[:2]), *validation_data[2:])
    return *in_arrays(model, x, y), validation_data


def _whole(table):
    columns = columns_of(table)
    texts = any(array.dtype.kind == "O" for array in columns.values())
    return columns if texts else matrix(table)


def _input_names(model):
    """Return the names of a functional model's inputs if it has several or a dict, else []."""
    inputs = getattr(model, "inputs", None)
    if getattr(model._framework, "graph", None) is None or not inputs:
        return []
    structure = model._framework.inputs_structure
    if isinstance(structure, dict):
        return list(structure)
    names = [tensor.name for tensor in nest.flatten(inputs)]
    return names if len(names) > 1 else []


def _output_names(model):
    names = getattr(model, "output_names", None)
    return names if isinstance(names, list) and len(names) > 1 else []


def _by_name(table, names, argument, what):
    """Return {name: column} for the names of the inputs or outputs; {} without names."""
    if not names:
        return {}
    columns = columns_of(table)
    missing = [name for name in names if name not in columns]
    if missing:
        raise InvalidArgumentError(
            f"{argument}: the table has no column for the {what[:-1]} {missing[0]!r} of the model. "
            f"Its columns are {listed(columns)}; the {what} are {listed(names)}."
        )
    return {name: columns[name] for name in names}
