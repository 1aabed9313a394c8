"""The samples and references of every op, gathered from the files of this folder.

`SAMPLES` has for each op the calls it is tested with, in float64, away from kinks and ties.
`samples(name)` adds 0-d, empty and broadcast arguments of elementwise ops. `REFERENCES` has the
same functions by NumPy and SciPy alone; an op that is NumPy's function of the same name needs none.
"""

import importlib
import pkgutil
from dataclasses import replace

import numpy as np

import framework.ops
from framework.core.op import first_order_only, table
from tests.samples.ops.arguments import restart


def _modules(package, path):
    found = []
    for module in pkgutil.iter_modules(path):
        restart(module.name)
        found.append(importlib.import_module(f"{package}.{module.name}"))
    return found


def _gathered(modules, name):
    rows = [(k, v) for module in modules for k, v in getattr(module, name, {}).items()]
    twice = {k for k, _ in rows if [other for other, _ in rows].count(k) > 1}
    assert not twice, f"{sorted(twice)} have {name} in two files"
    return dict(rows)


_modules("framework.ops", framework.ops.__path__)  # each adds its ops to the table
_FILES = _modules(__name__, __path__)
SAMPLES = _gathered(_FILES, "SAMPLES")
REFERENCES = _gathered(_FILES, "REFERENCES")

NAMES = sorted(table)
DIFFERENTIABLE = [
    n for n in NAMES if table[n].derivative and table[n].backward is not first_order_only
]
SIZED_BY_VALUES = {name for name in NAMES if table[name].sized_by_values}


def samples(name):
    """The op's samples; of elementwise ops also 0-d, empty and broadcast ones."""
    found = list(SAMPLES[name])
    op, first = table[name], SAMPLES[name][0]
    if op.kind == "elementwise":
        found.append(_changed(first, lambda a, _: a.reshape(-1)[0]))
        found.append(_changed(first, lambda a, _: a[:0]))
    if op.kind == "elementwise" and op.broadcasts:
        for thin in range(len(first.args)):
            found.append(_changed(first, lambda a, i, t=thin: a[:1] if i == t else a))
            found.append(_changed(first, lambda a, i, t=thin: a[0] if i == t else a))
            found.append(_changed(first, lambda a, i, t=thin: a[:, 1:2] if i == t else a[:1]))
            found.append(_changed(first, lambda a, i, t=thin: a[0, 0] if i == t else a))
            found.append(_changed(first, lambda a, i, t=thin: a[:1] if i == t else a[:0]))
    return found


def _changed(sample, change):
    args = [
        np.asarray(change(a, i)) if isinstance(a, np.ndarray) else a
        for i, a in enumerate(sample.args)
    ]
    return replace(sample, args=tuple(args))


def reference(name):
    """Return the reference of the op `name`; raise KeyError if there is none."""
    function = REFERENCES.get(name) or getattr(np, name, None)
    if function is None:
        raise KeyError(f"the op {name!r} needs a reference in a file of tests/samples/ops")
    return function
