"""Conversion between the op calls of a functional model and Keras's configs of operations.

A Keras file names an operation by its class in `keras.src.ops`; some of the function's
arguments are in the config of this class, the others are the arguments of the call.
"""

import inspect
from importlib import import_module

from framework.core import nest
from framework.core.configs import custom_object
from framework.core.errors import LoadError, SaveError, UnknownObjectError
from framework.core.op import Op
from framework.core.registry import snake_case
from framework.core.tensor import Tensor

# ---- to Keras ------------------------------------------------------------------------------------

_SAME = {
    "numpy": """
        Absolute=abs Add=add Arccos=acos Arccosh=acosh Arcsin=asin Arcsinh=asinh Arctan=atan
        Arctan2=atan2 Arctanh=atanh Ceil=ceil Cos=cos Cosh=cosh Divide=divide
        DivideNoNan=divide_no_nan Equal=equal Exp=exp Expm1=expm1 Floor=floor
        FloorDivide=floor_divide Greater=greater GreaterEqual=greater_equal Isfinite=is_finite
        Isinf=is_inf Isnan=is_nan Less=less LessEqual=less_equal Log=log Log1p=log1p
        LogicalAnd=logical_and LogicalNot=logical_not LogicalOr=logical_or LogicalXor=logical_xor
        Matmul=matmul Maximum=maximum Minimum=minimum Mod=floor_mod Multiply=multiply
        Negative=negative NotEqual=not_equal Power=power Reciprocal=reciprocal Sign=sign Sin=sin
        Sinh=sinh Sqrt=sqrt Sqrt=root Square=square Subtract=subtract Tan=tan Tanh=tanh
        Trunc=trunc Where=select""",
    "nn": "Relu=relu Sigmoid=sigmoid Softplus=softplus",
    "math": "Erf=erf Rsqrt=rsqrt",
    "core": "StopGradient=stop_gradient",
}
"""Operations whose only arguments are those of the op's call."""

_REDUCTIONS = {
    "reduce_all": "numpy.All", "reduce_any": "numpy.Any", "reduce_logsumexp": "math.Logsumexp",
    "reduce_max": "numpy.Max", "reduce_mean": "numpy.Mean", "reduce_min": "numpy.Min",
    "reduce_prod": "numpy.Prod", "reduce_sum": "numpy.Sum",
}  # fmt: skip


def _axis(attrs):
    return {"axis": attrs["axis"]}


def _sections(attrs):
    sizes = attrs["sizes"]
    if len(set(sizes)) == 1:
        return {"indices_or_sections": len(sizes), "axis": attrs["axis"]}
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    return {"indices_or_sections": ends, "axis": attrs["axis"]}


def _one_hot(attrs):
    return {"num_classes": attrs["depth"], "axis": -1, "dtype": str(attrs["dtype"])}


_WITH_CONFIG = {
    "argmax": ("numpy.Argmax", lambda a: {"axis": a["axis"], "keepdims": False}),
    "argmin": ("numpy.Argmin", lambda a: {"axis": a["axis"], "keepdims": False}),
    "broadcast_to": ("numpy.BroadcastTo", lambda a: {"shape": a["shape"]}),
    "cast": ("core.Cast", lambda a: {"dtype": str(a["dtype"])}),
    "concat": ("numpy.Concatenate", _axis),
    "flip": ("numpy.Flip", _axis),
    "gather": ("numpy.Take", _axis),
    "gelu": ("nn.Gelu", lambda a: {"approximate": a["approximate"]}),
    "log_softmax": ("nn.LogSoftmax", _axis),
    "one_hot": ("nn.OneHot", _one_hot),
    "pad": ("numpy.Pad", lambda a: {"pad_width": a["widths"], "mode": "constant"}),
    "reshape": ("numpy.Reshape", lambda a: {"newshape": a["shape"]}),
    "roll": ("numpy.Roll", lambda a: {"shift": a["shift"], "axis": a["axis"]}),
    "softmax": ("nn.Softmax", _axis),
    "split": ("numpy.Split", _sections),
    "stack": ("numpy.Stack", _axis),
    "take_along_axis": ("numpy.TakeAlongAxis", _axis),
    "transpose": ("numpy.Transpose", lambda a: {"axes": a["perm"]}),
    **{
        op: (name, lambda a: {"axis": a["axis"], "keepdims": a["keepdims"]})
        for op, name in _REDUCTIONS.items()
    },
}
"""Operations with a config: {op: (class, function from the op's attributes to the config)}."""

_TAKE_LISTS = frozenset(("concat", "stack"))


def _written():
    found = {}
    for module, names in _SAME.items():
        for entry in names.split():
            name, op = entry.split("=")
            found[op] = f"{module}.{name}", lambda _: {}
    return found | _WITH_CONFIG


_WRITTEN = _written()


def record_of(node):
    """Return the dict that describes an op call in Keras's files, and the call's arguments.

    Raises:
        SaveError: Keras has no such operation.
    """
    op = node.operation
    place, config_of = _WRITTEN.get(op.name, (None, None))
    if place is None or not isinstance(op, Op):
        raise SaveError(
            f"The operation {node.name!r} ({op.name}) of this functional model "
            "cannot be saved in Keras's files. Put it into the call() of a registered layer."
        )
    args, attrs = list(node.args), node.kwargs
    if op.name == "getitem":
        place, args, config_of = "numpy.GetItem", [*args, attrs["index"]], lambda _: {}
    elif op.name == "clip":
        args, bounds = args[:1], [number(a, node) for a in args[1:]]
        place, config_of = "numpy.Clip", lambda _: dict(zip(("x_min", "x_max"), bounds))
    elif op.name in _TAKE_LISTS:
        args = [args]
    module, _, name = place.partition(".")
    record = {
        "module": f"keras.src.ops.{module}", "class_name": name,
        "config": {"name": node.name, **config_of(attrs)}, "registered_name": name,
    }  # fmt: skip
    return record, args


_WRITTEN |= {"getitem": ("numpy.GetItem", None), "clip": ("numpy.Clip", None)}


def number(value, node):
    """Return a constant argument as a Python number."""
    if isinstance(value, Tensor) and not value.shape:
        return value.array.item()
    if isinstance(value, (int, float)):
        return value
    raise SaveError(f"The operation {node.name!r}: expected a number as argument, got {value!r}.")


# ---- from Keras ----------------------------------------------------------------------------------

_PREFIX = "keras.src.ops."

# These functions of keras.ops cannot be operations of a model, because they take functions as
# arguments or do not return tensors.
_REFUSED = frozenset((
    "associative_scan", "cond", "custom_gradient", "dtype", "fori_loop", "is_tensor", "map", "scan",
    "switch", "vectorized_map", "while_loop",
))  # fmt: skip


_ARGUMENTS_OF_LAYERS = frozenset(("dtype", "layers", "trainable"))


def is_operation(record):
    """Return whether `record`, a dict of a file, describes an operation instead of a layer.

    Dicts of ".h5" files have no key "module", but the config of each built-in layer has a key of
    `_ARGUMENTS_OF_LAYERS`.
    """
    if "module" in record:
        return isinstance(record["module"], str) and record["module"].startswith(_PREFIX)
    return custom_object(record) is None and _ARGUMENTS_OF_LAYERS.isdisjoint(record["config"])


class LoadedOperation:
    """An operation of a file: a function of `keras.ops`, with the arguments in its config.

    Args:
        record: the dict of the file.

    Raises:
        UnknownObjectError: there is no such function.
    """

    def __init__(self, record):
        name, config = record.get("class_name"), dict(record.get("config") or {})
        self.name = config.pop("name", name)
        self._function = _get_item if name == "GetItem" else _function(name)
        known = inspect.signature(self._function).parameters
        self._config = {k: v for k, v in config.items() if v is not None or k in known}
        unknown = [k for k in self._config if k not in known]
        if unknown:
            raise LoadError(f"Operation {name!r}: unknown argument {unknown[0]!r}.")

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs, **self._config)


def _function(name):
    ops = import_module("framework.keras.ops")
    own = snake_case(name) if isinstance(name, str) else ""
    found = getattr(ops, own, None) if own.isidentifier() and own[0] != "_" else None
    if own in _REFUSED or not inspect.isfunction(found):
        raise UnknownObjectError(
            f"Unknown operation {name!r}. Put the computation into the call() of a registered "
            "layer."
        )
    return found


def _get_item(x, key):
    return x[nest.map_structure(lambda k: k, tuple(key)) if isinstance(key, list) else key]
