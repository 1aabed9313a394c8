"""What a call gives on one side, and how two outcomes differ."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parity.functions_tensorflow.calls import is_floating

TOLERANCES = {"float32": 1e-5, "float64": 1e-6, "float16": 4e-3, "complex64": 1e-5}
FAMILIES = ("InvalidArgumentError", "ValueError", "TypeError")


@dataclass
class Outcome:
    """The results of a call as arrays, their gradients, or the errors of either."""

    results: list = field(default_factory=list)
    gradients: list = field(default_factory=list)
    error: Any = None
    untaken: Any = None  # the error of the gradients


def compared(call, ours, theirs):
    """Yield (aspect, what differs); the latter is "" where both sides are equal."""
    here, there = outcome(call, ours), outcome(call, theirs)
    if here.error is not None or there.error is not None:
        yield "error", _of_errors(here.error, there.error)
        return
    if len(here.results) != len(there.results):
        yield "shape", f"{len(there.results)} results, ours {len(here.results)}"
        return
    for aspect, look in (("dtype", _dtype), ("shape", np.shape)):
        pairs = [(look(t), look(o)) for o, t in zip(here.results, there.results)]
        yield aspect, "; ".join(f"{t}, ours {o}" for t, o in pairs if t != o)
    yield "value", _first(here.results, there.results)
    if here.untaken or there.untaken:
        yield "gradient", _of_errors(here.untaken, there.untaken)
    elif any(g is not None for g in (*here.gradients, *there.gradients)):
        yield "gradient", _first(here.gradients, there.gradients)


def outcome(call, module):
    """Make the call with tensors for its arrays of floats, and take the gradients of its results.

    The gradient is of the sum of each floating result times cosines.
    """
    args, kwargs = call.arguments(module)
    function = module
    for part in call.name.split("."):
        function = getattr(function, part)
    random = module.random
    random.set_seed(1)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            args = [
                module.constant(a) if _is_data(a, number) else a for number, a in enumerate(args)
            ]
            watched = [a for a in args if _slopes(a)]
            with module.GradientTape() as tape:
                tape.watch(watched)
                results = leaves(function(*args, **kwargs), module)
                total = [_weighted(r, module) for r in results if _slopes(r)]
            made = Outcome([_array(r) for r in results])
            try:
                found = tape.gradient(total, watched) if total and watched else []
                made.gradients = [
                    None if g is None else _array(module.convert_to_tensor(g)) for g in found
                ]
            except Exception as error:
                made.untaken = error
            return made
    except Exception as error:  # whatever it is, it is compared
        return Outcome(error=error)


def _is_data(value, number):
    """Whether the argument becomes a tensor: arrays, and a nest of floats that is the first."""
    return isinstance(value, np.ndarray) or (number == 0 and is_floating(value))


def leaves(results, module):
    """The tensors of a structure; ragged and sparse ones by their parts."""
    if results is None or isinstance(results, (bool, int, float, str, bytes)):
        return [results]
    if isinstance(results, dict):
        return [x for key in sorted(results) for x in leaves(results[key], module)]
    if isinstance(results, (list, tuple)) and not hasattr(results, "rank"):
        return [x for part in results for x in leaves(part, module)]
    for parts in (("flat_values", "row_splits"), ("indices", "values", "dense_shape")):
        if all(hasattr(results, part) for part in parts):
            return [getattr(results, part) for part in parts]
    return [results]


def _slopes(result):
    dtype = getattr(result, "dtype", None)
    return dtype is not None and bool(getattr(dtype, "is_floating", False))


def _weighted(result, module):
    flat = module.reshape(result, [-1])
    size = int(np.prod(result.shape))
    return module.reduce_sum(flat * np.cos(np.arange(size)).astype(flat.dtype.as_numpy_dtype))


def _array(value):
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def _dtype(array):
    return np.asarray(array).dtype.name


def _of_errors(here, there):
    if here is None or there is None:
        one = "no error" if there is None else _told(there)
        return f"{one}, ours {'no error' if here is None else _told(here)}"
    kinds = {c.__name__ for c in type(there).__mro__} & set(FAMILIES)
    missing = kinds - {c.__name__ for c in type(here).__mro__}
    return f"{_told(there)}, ours {_told(here)}" if missing else ""


def _told(error):
    return f"{type(error).__name__}: {str(error)[:110]}".replace("\n", " ")


def _first(ours, theirs):
    for o, t in zip(ours, theirs, strict=True):
        if said := _apart(o, t):
            return said
    return ""


def _apart(ours, theirs):
    """Say how two arrays differ by more than the tolerance times the largest finite element."""
    if ours is None or theirs is None:
        return "" if ours is theirs else f"{_brief(theirs)}, ours {_brief(ours)}"
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return f"shape {theirs.shape}, ours {ours.shape}"
    if ours.dtype.kind not in "fcV":
        same = ours.tolist() == theirs.tolist()
        return "" if same else f"{_brief(theirs)}, ours {_brief(ours)}"
    wide = complex if "c" in (ours.dtype.kind, theirs.dtype.kind) else np.float64
    tolerance = TOLERANCES.get(theirs.dtype.name, 1e-9)
    ours, theirs = ours.astype(wide), theirs.astype(wide)
    finite = np.isfinite(theirs)
    scale = np.max(np.abs(theirs[finite]), initial=1e-30 if finite.any() else 1.0)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        same |= np.abs(ours - theirs) <= tolerance * scale
    if same.all():
        return ""
    place = tuple(int(n) for n in np.argwhere(~same)[0])
    return f"{theirs[place]:.8g} at {place}, ours {ours[place]:.8g}"


def _brief(value):
    return str(None if value is None else np.asarray(value).tolist())[:90]
