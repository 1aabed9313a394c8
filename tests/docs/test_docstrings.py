"""The examples in docstrings print what they say that they print.

One test for each module: one for each of its examples, as pytest has them, took longer than most
examples run.
"""

import doctest
import functools
import importlib
import importlib.util
from pathlib import Path

import pytest

import framework

PACKAGE = Path(framework.__file__).parent
HAS_NUMBA = importlib.util.find_spec("numba")
FILES = sorted(
    file for file in PACKAGE.rglob("*.py") if HAS_NUMBA or file.parent != PACKAGE / "kernels/fast"
)


def name_of(file):
    parts = ("framework", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(p for p in parts if p != "__init__")


class Finder(doctest.DocTestFinder):
    def _from_module(self, module, thing):
        """Until Python 3.13 a `cached_property` belongs to no module."""
        if isinstance(thing, functools.cached_property):
            thing = thing.func
        return super()._from_module(module, thing)


def report_on(thing, name):
    """Run the examples of a module or function; what the failed ones should print and do."""
    runner, report = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS), []
    for test in Finder().find(thing, name):
        runner.run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("name", [name_of(f) for f in FILES if ">>>" in f.read_text("utf-8")])
def test_examples(name):
    report = report_on(importlib.import_module(name), name)
    assert not report, report


def test_every_module_can_be_imported():
    for file in FILES:
        importlib.import_module(name_of(file))


def wrong():
    """
    >>> 1 + 1
    3
    >>> 2 + 2
    4
    """


def test_a_wrong_example_is_named():
    report = report_on(wrong, "function")
    assert "in function\nFailed example:\n    1 + 1\nExpected:\n    3\nGot:\n    2\n" in report
    assert "2 + 2" not in report
