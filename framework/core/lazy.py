"""Namespaces whose stub lists their names; a name is imported when it is first used (SPEC 1).

The stub (`.pyi`) beside such a module is read by type checkers and by `attach_stub`. It consists of
`from module import name as public, ...` (in parentheses if it has several lines), `from module
import *`, and declarations of what the module itself defines.
"""

import re
import sys
from importlib import import_module
from pathlib import Path

from framework.core.errors import suggest

_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]+)\)|([^(\n]+))", re.MULTILINE)
_DECLARATION = re.compile(r"^(?:def |class )?(\w+)[:(]", re.MULTILINE)


def attach_stub(namespace):
    """Return `__getattr__` and `__dir__` for the module with this `__name__`, from its stub."""
    names = {}

    def listed():
        if not names:  # read at the first use, not when the namespace is imported
            names.update(_names(sys.modules[namespace]))
        return names

    def __getattr__(name):  # noqa: N807 (the module's function of this name)
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
    """Return {public name: (module, name in it)} from a stub; what `module` defines has no home."""
    stub = module.__spec__.loader.get_data(str(Path(module.__file__).with_suffix(".pyi"))).decode()
    names = {public: (None, public) for public in _DECLARATION.findall(stub)}
    for home, several, single in _IMPORT.findall(stub):
        for entry in (several or single).split(","):
            own, _, public = entry.strip().partition(" as ")
            if own == "*":
                names.update((name, (home, name)) for name in dir(import_module(home)))
            elif public:  # as for type checkers: without "as" a name is not exported
                names[public] = home, own
    return names
