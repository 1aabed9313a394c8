"""Translation rules: for each op of the op table, the ONNX nodes that compute it.

A rule is `rule(b, *args, **attrs)`: the Builder, the arguments of the op (References, numbers and
None) and its attributes. It returns the Reference of the output, or a list of them. The modules of
this package group rules by kind, as `framework/ops/` does. An op without a rule is translated by
its composite (its definition by other ops), if it has one. For each other op, `without_rule.py`
says why it has no rule.
"""

from importlib import import_module

_MODULES = (
    "contraction", "elementwise", "movement", "normalization", "pooling", "random",
    "recurrent", "reduction", "resampling", "scatter", "special", "tables",
)  # fmt: skip

RULES = {}


def rule(*names):
    """Return a decorator that makes a function the rule of the ops with these names."""

    def add(function):
        for name in names:
            RULES[name] = function
        return function

    return add


def rules():
    """Return {name of an op: its rule}."""
    for module in _MODULES:
        import_module(f"{__name__}.{module}")
    return RULES
