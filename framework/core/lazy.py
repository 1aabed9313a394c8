"""Namespaces that read their names from their stubs, and import a name at its first use (SPEC 1).

As in every stub, `from module import name as name` exports a name, `from module import name` does
not. Other lines are `from module import *`, for the names in `__all__` of a namespace or module
(a list in the module's text, read without importing it), `other = name`, and declarations of names
that the namespace itself defines.
"""

import os
import re
import sys
from importlib import import_module

from framework.core.errors import suggest

# The patterns are compiled at the first use: `import framework` does not need them.
_IMPORT = r"(?m)^from (\S+) import (?:\(([^)]+)\)|([^(\n]+))"
_ALIAS = r"(?m)^(\w+) = (\w+)$"
_DECLARATION = r"(?m)^(?:def |class )?(\w+)[:(]"
_ALL = r"(?m)^__all__ = \[([^]]*)\]"


def attach_stub(namespace):
    """Return `__getattr__` and `__dir__` for a module, given its `__name__`; they use its stub."""
    names = {}

    def listed():
        if not names:  # The stub is read at the first use, not at import.
            names.update(_names(sys.modules[namespace]))
        return names

    def __getattr__(name):  # noqa: N807 (the module's `__getattr__`)
        if name == "__all__":
            return __dir__()
        home, own = (None, None) if name.startswith("__") else listed().get(name, (None, None))
        if home is None:
            raise AttributeError(
                f"module {namespace!r} has no attribute {name!r}{_hint(namespace, name, listed)}",
                name=name, obj=sys.modules[namespace],
            )  # fmt: skip
        is_submodule = home == namespace
        found = (
            import_module(f"{home}.{own}") if is_submodule else getattr(import_module(home), own)
        )
        setattr(sys.modules[namespace], name, found)
        return found

    def __dir__():  # noqa: N807 (as above)
        return sorted(listed())

    return __getattr__, __dir__


def defining_modules(namespace):
    """Return the names of the modules that define the namespace's names, in the stub's order."""
    homes = (home for home, _ in _names(sys.modules[namespace]).values())
    return [home for home in dict.fromkeys(homes) if home not in (None, namespace)]


def _hint(namespace, name, listed):
    """Return the end of the error message: why the name is left out, or a similar name."""
    if name.startswith("_"):
        return ""
    # Only error messages need this import, so it is not at the top of the file.
    from framework.core.left_out import why_left_out

    if reason := why_left_out(namespace, name):
        return f"; {reason}"
    hint = suggest(name, listed())
    return hint if hint.startswith("; did you mean") else ""


def _names(module):
    """Return {public name: (name of the module that defines it, its name there)} from a stub.

    A name that the namespace itself defines has (None, its name).
    """
    stub = _text(module, f"{module.__file__.rpartition(os.sep)[2].removesuffix('.py')}.pyi")
    names = {name: (None, name) for name in re.findall(_DECLARATION, stub)}
    imported = {}
    for home, several, single in re.findall(_IMPORT, stub):
        for entry in (several or single).split(","):
            name, _, public = entry.strip().partition(" as ")
            if name == "*":
                names.update((name, (home, name)) for name in _exported(home))
            elif name:
                (names if public else imported)[name] = home, name
    for public, name in re.findall(_ALIAS, stub):
        names[public] = names.get(name) or imported[name]
    return names


def _exported(home):
    """Return `__all__` of a module, from its source text if it is not imported yet."""
    if home not in sys.modules:
        package, _, name = home.rpartition(".")
        try:
            listed = re.search(_ALL, _text(import_module(package), f"{name}.py"))
        # A package has no file of this name, and an installation may lack source files.
        except OSError:
            listed = None
        if listed:
            return re.findall(r"\w+", listed[1])
    return import_module(home).__all__


def _text(module, name):
    """Return the text of the file `name` in the directory of a module."""
    # The import of pathlib would take 4 ms.
    folder, separator, _ = module.__file__.rpartition(os.sep)
    return module.__spec__.loader.get_data(folder + separator + name).decode()
