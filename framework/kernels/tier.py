"""Which form of a kernel runs: plain NumPy, or Numba's where it is installed.

The tier is read from the environment variable FRAMEWORK_COMPILE, or given to `set_tier`:

    off     no compiled plans and no Numba: everything op by op
    numpy   plans, but no Numba
    numba   plans and Numba kernels; an error where Numba is missing
    auto    Numba's kernels where it is installed (the default)

Numba is imported here only, when a kernel is first asked for. The kernels use places of it that are
not public: a release before `OLDEST` is not used, one after `NEWEST` is tried out first. One that
cannot be used is told once, and NumPy computes.
"""

import functools
import logging
import os
import re
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path

from framework.core.errors import InvalidArgumentError

VARIABLE = "FRAMEWORK_COMPILE"
TIERS = ("off", "numpy", "numba", "auto")
OLDEST, NEWEST = (0, 63), (0, 68)  # of Numba: the first that has what is needed, the last tested

_tier = None  # until it is asked for: the environment may be set after the import
_modules = {}  # name: module or None
_missing = None  # why Numba cannot be used, "" where it can, None until it is tried
_unfit = False  # is it installed, and cannot be used?


def tier():
    """The tier in force: "off", "numpy", "numba" or "auto"."""
    return _tier or set_tier(None)


def set_tier(name=None):
    """Choose the tier for what is computed from now on, and return it.

    Args:
        name: one of `TIERS`; None goes back to the environment's.

    Raises:
        InvalidArgumentError: there is no such tier.
        ImportError: "numba" without a Numba that can be used.
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
            f"{source} is 'numba', but Numba cannot be used ({reason}): "
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
            try:
                module = import_module(f"framework.kernels.fast.{name}")
            except Exception as error:  # whatever an unfitting Numba does
                _refuse(error)
        if _unfit:
            _tell(_missing)
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
    """Why Numba cannot be used; "" where it can."""
    global _missing
    if _missing is None:
        _missing = ""  # for what is asked meanwhile
        try:
            _examine(import_module("numba").__version__)
        except Exception as error:  # not there, or it does not fit this NumPy or the kernels
            _refuse(error)
    return _missing


def _examine(version):
    """Raise an error if this release of Numba cannot be used."""
    found = re.match(r"(\d+)\.(\d+)", version)
    release = tuple(map(int, found.groups())) if found else None
    if release and release < OLDEST:
        raise ImportError("it is too old")
    if not release or release > NEWEST:
        import_module("framework.kernels.fast.trial").run()


def _refuse(error):
    """From now on Numba is not used, because of an error."""
    global _missing, _unfit
    _unfit = not (isinstance(error, ModuleNotFoundError) and error.name == "numba")
    _missing = str(error) or type(error).__name__
    if _unfit:
        kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        _missing = f"Numba {_version()} does not fit, {_known()} are known to: {kind}{_missing}"
    _modules.clear()


@functools.cache
def _tell(reason):
    (first, oldest), (_, newest) = OLDEST, NEWEST
    logging.getLogger("framework").warning(
        f"{reason}. NumPy computes without it; remedy: "
        f"pip install 'numba>={first}.{oldest},<{first}.{newest + 1}'"
    )


def _known():
    return " to ".join(".".join(map(str, release)) for release in (OLDEST, NEWEST))


def _version():
    from importlib.metadata import PackageNotFoundError, version  # some ms, on bad days only

    try:
        return version("numba")
    except PackageNotFoundError:
        return "of an unknown version"
