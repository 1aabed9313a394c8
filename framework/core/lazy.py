"""Namespaces that read their names from their stubs, and import a name at its first use (SPEC 1).

As in every stub, `from module import name as name` exports a name, `from module import name` does
not. Other lines are `from module import *`, for the names in `__all__` of a namespace or module,
`other = name`, and declarations of names that the namespace itself defines.
"""

import re
import sys
from importlib import import_module
from pathlib import Path

from framework.core.errors import suggest

_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]+)\)|([^(\n]+))", re.MULTILINE)
_ALIAS = re.compile(r"^(\w+) = (\w+)$", re.MULTILINE)
_DECLARATION = re.compile(r"^(?:def |class )?(\w+)[:(]", re.MULTILINE)


def attach_stub(namespace):
    """Return `__getattr__` and `__dir__` for the module with this `__name__`, from its stub."""
    names = {}

    def listed():
        if not names:  # read the stub at the first use, not at import
            names.update(_names(sys.modules[namespace]))
        return names

    def __getattr__(name):  # noqa: N807 (the module's `__getattr__`)
        if name == "__all__":
            return __dir__()
        home, own = (None, None) if name.startswith("__") else listed().get(name, (None, None))
        if home is None:
            hint = "" if name.startswith("_") else suggest(name, listed())
            raise AttributeError(
                f"module {namespace!r} has no attribute {name!r}"
                + (hint if hint.startswith("; did you mean") else ""),
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


def _names(module):
    """Return {public name: (module, name in it)} from a stub; None instead of `module` itself."""
    stub = module.__spec__.loader.get_data(str(Path(module.__file__).with_suffix(".pyi"))).decode()
    names = {name: (None, name) for name in _DECLARATION.findall(stub)}
    imported = {}
    for home, several, single in _IMPORT.findall(stub):
        for entry in (several or single).split(","):
            name, _, public = entry.strip().partition(" as ")
            if name == "*":
                names.update((name, (home, name)) for name in import_module(home).__all__)
            elif name:
                (names if public else imported)[name] = home, name
    for public, name in _ALIAS.findall(stub):
        names[public] = names.get(name) or imported[name]
    return names
