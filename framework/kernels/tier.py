"""Which form of a kernel runs: plain NumPy, or Numba's where it is installed.

The tier is read from the environment variable FRAMEWORK_COMPILE, or given to `set_tier`:

    off     no compiled plans and no Numba: everything op by op
    numpy   plans, but no Numba
    numba   plans and Numba kernels; an error where Numba is missing
    auto    Numba's kernels where it is installed (the default)

Numba is imported here only, when a kernel is first asked for.
"""

import functools
import os
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

from framework.core.errors import InvalidArgumentError

VARIABLE = "FRAMEWORK_COMPILE"
TIERS = ("off", "numpy", "numba", "auto")

_tier = None  # until it is asked for: the environment may be set after the import
_modules = {}  # name: module or None
_missing = None  # why Numba cannot be imported, "" where it can, None until it is tried


def tier():
    """The tier in force: "off", "numpy", "numba" or "auto"."""
    return _tier or set_tier(None)


def set_tier(name=None):
    """Choose the tier for what is computed from now on, and return it.

    Args:
        name: one of `TIERS`; None goes back to the environment's.

    Raises:
        InvalidArgumentError: there is no such tier.
        ImportError: "numba" without Numba.
    """
    global _tier
    source = "tier"
    if name is None:
        source = f"the environment variable {VARIABLE}"
        name = os.environ.get(VARIABLE) or "auto"
    if name not in TIERS:
        raise InvalidArgumentError(f"{source} must be one of {', '.join(TIERS)}, got {name!r}.")
    if name == "numba" and (reason := numba_missing()):
        raise ImportError(
            f"{source} is 'numba', but Numba cannot be imported ({reason}): "
            "pip install 'framework[fast]', or choose 'auto'."
        )
    _modules.clear()
    _tier = name
    return name


def library(name):
    """The module `framework.kernels.fast.<name>`, or None where Numba is not to be used.

    The answer is kept: ask at every call.
    """
    try:
        return _modules[name]
    except KeyError:
        module = None
        if tier() in ("numba", "auto") and not numba_missing():
            module = import_module(f"framework.kernels.fast.{name}")
        return _modules.setdefault(name, module)


def without_numba():
    """Whether Numba's kernels are sure not to be used; it is not loaded to find that out."""
    return tier() in ("off", "numpy") or bool(_missing) or not _installed()


@functools.cache
def _installed():
    return PathFinder.find_spec("numba") is not None


def libraries():
    """The names of all modules that `library` can give."""
    folder = Path(__file__).parent / "fast"
    return sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")


def numba_missing():
    """Why Numba cannot be imported; "" where it can."""
    global _missing
    if _missing is None:
        try:
            import_module("numba")
        except ImportError as error:  # not there, or too old for this NumPy
            _missing = str(error) or "ImportError"
        else:
            _missing = ""
    return _missing
