"""The table of scenarios: each module's `scenarios()` yields names and functions.

Families of single calls, in `parity/families/`, are part of it.
"""

from importlib import import_module

MODULES = (
    "optimizers", "schedules", "losses", "metrics", "models", "outputs", "fitting", "callbacks",
    "scaling", "overridden", "attention", "recurrent", "normalisation", "files",
)  # fmt: skip


FAMILIES = {
    "calls of ops": "ops", "calls of activations": "activations",
    "calls of layers": "layers", "calls of losses": "losses", "calls of metrics": "metrics",
}  # fmt: skip


def everything():
    """[(name, run)] of all modules; the names begin with the module's."""
    found = {}
    for family, rows in _tables():
        for title, run in rows:
            name = f"{family}: {title}"
            if name in found:
                raise ValueError(f"two scenarios are called {name!r}")
            found[name] = run
    return list(found.items())


def _tables():
    for module in MODULES:
        yield module, import_module(f"parity.scenarios.{module}").scenarios()
    for family, module in FAMILIES.items():
        yield family, import_module(f"parity.families.{module}").comparisons()
