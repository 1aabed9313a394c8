"""Lazy namespaces: their .pyi stub lists the names, which are imported at first use (SPEC 1).

As in every stub, `from module import name as name` exports a name, `from module import name` does
not. Other lines of a stub are `from module import *`, for the names in `__all__` of a namespace or
module (read from the module's source without importing it), `other = name`, and declarations of
names that the namespace itself defines or that `ops/public.py` generates from ops.
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


_stubs = {}
"""Maps each namespace to its Stub."""


class Stub:
    """The names of a namespace, read from its stub when one of them is first used.

    The modules of `from module import *` are read one by one until one has the requested name.

    Args:
        namespace: the `__name__` of the module.
        declared: the name of the module that creates the functions whose signatures are in the
            stub; None if the namespace itself defines them.
    """

    def __init__(self, namespace, declared=None):
        self.namespace, self.declared = namespace, declared
        self.homes = []  # modules from which the stub imports public names, in its order
        self._names = None  # {public name: (module that defines it, its name there)}
        self._private, self._aliases = {}, {}
        self._stars = []  # sources of `from ... import *`: modules not read yet, and namespaces

    def find(self, name):
        """Return (name of the module that defines `name`, its name there), or None.

        A name that the namespace itself defines has (None, its name).
        """
        if self._names is None:
            self._read()
        if name not in self._names and (own := self._aliases.get(name)):
            return self._private.get(own) or self.find(own)
        for home in list(self._stars):
            if name in self._names:
                break
            if (exported := _exported(home)) is not None:
                self._stars.remove(home)
                for each in exported:
                    self._names.setdefault(each, (home, each))
            elif _stubs[home].find(name):
                self._names[name] = home, name
        return self._names.get(name)

    def all(self):
        """Return all public names, sorted."""
        self.find("")  # no module has this name, so the search reads all of them
        inherited = [name for home in self._stars for name in _stubs[home].all()]
        return sorted({*self._names, *self._aliases, *inherited})

    def _read(self):
        module = sys.modules[self.namespace]
        file = module.__file__.rpartition(os.sep)[2].removesuffix(".py")
        stub = _text(module, f"{file}.pyi")
        self._names = {name: (self.declared, name) for name in re.findall(_DECLARATION, stub)}
        self._aliases = dict(re.findall(_ALIAS, stub))
        for home, several, single in re.findall(_IMPORT, stub):
            if (several or single).strip() == "*":
                self._stars.append(home)
                self.homes.append(home)
                continue
            for entry in filter(None, map(str.strip, (several or single).split(","))):
                name, _, public = entry.partition(" as ")
                (self._names if public else self._private)[name] = home, name
            self.homes.append(home)


def attach_stub(namespace, declared=None):
    """Return `__getattr__` and `__dir__` for a module; they use its stub.

    Args:
        namespace, declared: see `Stub`.
    """
    stub = _stubs[namespace] = Stub(namespace, declared)

    def __getattr__(name):  # noqa: N807 (the module's `__getattr__`)
        if name == "__all__":
            return stub.all()
        home, own = (None, None) if name.startswith("__") else stub.find(name) or (None, None)
        if home is None:
            raise AttributeError(
                f"module {namespace!r} has no attribute {name!r}{_hint(stub, name)}",
                name=name, obj=sys.modules[namespace],
            )  # fmt: skip
        is_submodule = home == namespace
        found = (
            import_module(f"{home}.{own}") if is_submodule else getattr(import_module(home), own)
        )
        setattr(sys.modules[namespace], name, found)
        return found

    return __getattr__, stub.all


def defining_modules(namespace):
    """Return the names of the modules that define the namespace's names, in the stub's order."""
    stub = _stubs[namespace]
    stub.find("")
    return [home for home in dict.fromkeys(stub.homes) if home != namespace]


def _hint(stub, name):
    """Return the end of the error message: why the name is left out, or a similar name."""
    if name.startswith("_"):
        return ""
    # Only error messages need this import, so it is not at the top of the file.
    from framework.core.left_out import why_left_out

    if reason := why_left_out(stub.namespace, name):
        return f"; {reason}"
    hint = suggest(name, stub.all())
    return hint if hint.startswith("; did you mean") else ""


def _exported(home):
    """Return `__all__` of a module, from its source text if it is not imported yet.

    Import a namespace that has a stub of its own, and return None.
    """
    if home not in sys.modules:
        package, _, name = home.rpartition(".")
        try:
            listed = re.search(_ALL, _text(import_module(package), f"{name}.py"))
        # `home` is a package, which has no file of this name, or source files are not installed.
        except OSError:
            listed = None
        if listed:
            return re.findall(r"\w+", listed[1])
    module = import_module(home)
    return None if home in _stubs else module.__all__


def _text(module, name):
    """Return the text of the file `name` in the directory of a module."""
    # The import of pathlib would take 4 ms.
    folder, separator, _ = module.__file__.rpartition(os.sep)
    return module.__spec__.loader.get_data(folder + separator + name).decode()
