"""The table of scenarios: each module's `scenarios()` yields names and functions."""

from importlib import import_module

MODULES = (
    "optimizers", "schedules", "losses", "metrics", "models", "outputs", "fitting", "callbacks",
    "scaling", "overridden", "attention", "recurrent", "normalisation", "files",
)  # fmt: skip


def everything():
    """[(name, run)] of all modules; the names begin with the module's."""
    found = {}
    for module in MODULES:
        for title, run in import_module(f"parity.scenarios.{module}").scenarios():
            name = f"{module}: {title}"
            if name in found:
                raise ValueError(f"two scenarios are called {name!r}")
            found[name] = run
    return list(found.items())
