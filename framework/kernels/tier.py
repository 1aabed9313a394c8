"""Which backend runs a kernel: plain NumPy, or Numba where it is installed.

The environment variable FRAMEWORK_COMPILE or `set_tier` chooses the tier:

    off     neither compiled plans nor Numba: each op runs by itself
    numpy   plans, but no Numba
    numba   plans and Numba kernels; an error where Numba is missing
    auto    plans, and Numba kernels where it is installed (the default)

Only this module imports Numba, at the first call of `library`. With "auto", a second process
(`ahead`) compiles kernels whose machine code is not on disk, and NumPy computes until they are
ready.

The kernels use private parts of Numba. So releases before `OLDEST` are refused, and releases after
`NEWEST` must pass a trial first. A refused release causes one warning, and NumPy is used.
"""

import functools
import os
import re
from importlib import import_module
from importlib.machinery import PathFinder

from framework.core.errors import InvalidArgumentError

VARIABLE = "FRAMEWORK_COMPILE"
TIERS = ("off", "numpy", "numba", "auto")
# the oldest supported Numba release, and the newest tested one
OLDEST, NEWEST = (0, 63), (0, 68)

# The tier is read at its first use, because a program may set the environment after the import.
_tier = None
_modules = {}  # cache of `library`: name -> module, or None if Numba is not used
_missing = None  # why Numba cannot be used, "" if it can be used, None before the check
_unfit = False  # whether Numba is installed but cannot be used


def tier():
    """Return the current tier: "off", "numpy", "numba" or "auto"."""
    return _tier or set_tier(None)


def set_tier(name=None):
    """Set the tier for all later computations, and return it.

    Args:
        name: one of `TIERS`; None restores the value of the environment variable.

    Raises:
        InvalidArgumentError: `name` is not a tier.
        ImportError: `name` is "numba", and Numba is missing or cannot be used.
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
    """Return the module `framework.kernels.fast.<name>`, or None if Numba is not used.

    The result is cached, so callers may call this at every use.
    """
    try:
        return _modules[name]
    except KeyError:
        module = None
        if tier() == "auto" and not _missing and _installed() and not _is_ready(name):
            return None
        if tier() in ("numba", "auto") and not numba_missing():
            try:
                module = import_module(f"framework.kernels.fast.{name}")
            # An incompatible release of Numba may raise any exception.
            except Exception as error:
                _refuse(error)
        if _unfit:
            _tell(_missing)
        elif module is None and name in _GAINS and tier() == "auto":
            _advise()
        return _modules.setdefault(name, module)


def _is_ready(name):
    """Return whether a module of kernels can be used now; if not, `library` returns None for it."""
    # This import is not at the top of the file, because most programs need no kernel at import.
    from framework.kernels import ahead

    _modules[name] = None
    if ahead.is_ready(name, lambda: _modules.pop(name, None)):
        # `pop` has a default, because another thread may have removed the entry.
        _modules.pop(name, None)
        return True
    return False


def without_numba():
    """Return whether it is certain, without importing Numba, that no Numba kernels are used."""
    return tier() in ("off", "numpy") or bool(_missing) or not _installed()


@functools.cache
def _installed():
    return PathFinder.find_spec("numba") is not None


def libraries():
    """Return the names of all modules that `library` accepts."""
    # Importing pathlib takes some ms, so it is not at the top of the file.
    from pathlib import Path

    folder = Path(__file__).parent / "fast"
    return sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")


def numba_missing():
    """Return why Numba cannot be used, or "" if it can."""
    global _missing
    if _missing is None:
        _missing = ""  # This is set before `_examine`, whose trial calls this function again.
        try:
            _examine(import_module("numba").__version__)
        # Numba is missing, or incompatible with this NumPy or with the kernels.
        except Exception as error:
            _refuse(error)
    return _missing


def _examine(version):
    """Raise an error if the kernels cannot use this release of Numba."""
    match = re.match(r"(\d+)\.(\d+)", version)
    release = tuple(map(int, match.groups())) if match else None
    if release and release < OLDEST:
        raise ImportError("it is too old")
    if not release or release > NEWEST:
        import_module("framework.kernels.fast.trial").run()


def _refuse(error):
    """Stop using Numba because `error` occurred, and store the reason."""
    global _missing, _unfit
    _unfit = not (isinstance(error, ModuleNotFoundError) and error.name == "numba")
    _missing = str(error) or type(error).__name__
    if _unfit:
        prefix = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        _missing = f"Numba {_version()} cannot be used, {_known()} can: {prefix}{_missing}"
    _modules.clear()


@functools.cache
def _tell(reason):
    import logging

    (first, oldest), (_, newest) = OLDEST, NEWEST
    logging.getLogger("framework").warning(
        f"{reason}. NumPy is used instead; remedy: "
        f"pip install 'numba>={first}.{oldest},<{first}.{newest + 1}'"
    )


_GAINS = ("conv", "depthwise", "recurrent")
"""Kernels that Numba makes 2 to 8 times as fast as NumPy."""
ADVICE = "pip install 'framework[fast]'"


@functools.cache
def _advise():
    """Log, once per process, that convolutions and recurrent layers are faster with Numba."""
    import logging

    logging.getLogger("framework").warning(
        "Numba is not installed. Convolutions and recurrent layers are 2 to 8 times as fast with "
        f"it: {ADVICE}"
    )


def _known():
    return " to ".join(".".join(map(str, release)) for release in (OLDEST, NEWEST))


def _version():
    # Importing importlib.metadata takes some ms, so it is not at the top of the file.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return "of an unknown version"
