"""Parameters whose values are tried one after the other within one test.

A test costs pytest some milliseconds, however little it does, and tables of thousands of small
cases took minutes of it. `looped` stands where `pytest.mark.parametrize` would:

    @looped("within", [False, True])
    @pytest.mark.parametrize("name", NAMES)
    def test_of_tensors(name, within):

is one test for each name. It tries every value, also after one that fails, and then fails with the
label and the error of each that did.
"""

import functools
import inspect
import traceback
from pathlib import Path

import pytest

TESTS = str(Path(__file__).parent)


class CasesError(AssertionError):
    """Some cases of a test failed.

    Args:
        failed: [(label of the case, its exception)].
    """

    def __init__(self, failed):
        self.failed = failed
        super().__init__("\n".join([f"{len(failed)} failed:", *map(_line, failed)]))


def try_all(test, cases):
    """Call the test for every case, then fail if some failed.

    Args:
        test: a function that asserts.
        cases: {label: the arguments by name}.
    """
    __tracebackhide__ = True
    assert cases, f"no cases of {test}"
    failed, skipped = [], []
    for label, case in cases.items():
        failed += _failures(test, label, case, skipped)
    if failed:
        raise CasesError(failed) from failed[0][1]
    if skipped:
        raise skipped[0]


def _failures(test, label, case, skipped):
    try:
        test(**case)
    except CasesError as error:  # of a loop within this one
        return [(f"{label}, {inner}", e) for inner, e in error.failed]
    except pytest.skip.Exception as error:
        skipped.append(error)
    except (Exception, pytest.fail.Exception) as error:
        return [(label, error)]
    return []


def looped(names, values, ids=None):
    """Call the test with each of the values; see the module.

    Args:
        names: names of parameters, as for `pytest.mark.parametrize`.
        values: a value for each case; a tuple of them where there are several names.
        ids: a label for each case; made of names and values where it is None.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [(value,) if len(names) == 1 else tuple(value) for value in values]
    rows = [dict(zip(names, row, strict=True)) for row in rows]
    labels = list(ids) if ids else list(map(_label, rows))
    cases = dict(zip(labels, rows, strict=True))
    assert cases, f"no values of {names}"
    assert len(cases) == len(rows), f"each case needs a label of its own: {labels}"

    def loop_over(test):
        @functools.wraps(test)
        def over_all(*args, **kwargs):
            __tracebackhide__ = True
            try_all(functools.partial(test, *args, **kwargs), cases)

        signature = inspect.signature(test)
        others = [p for p in signature.parameters.values() if p.name not in names]
        assert len(others) == len(signature.parameters) - len(names), f"{test} has no {names}"
        over_all.__signature__ = signature.replace(parameters=others)
        return over_all

    return loop_over


class Properties:
    """Functions that each state one property of a row of a table, tried one after the other:

    each_op = Properties()

    @each_op
    def inputs_are_not_written_to(name):
        ...

    @pytest.mark.parametrize("name", NAMES)
    def test_every_op(name):
        each_op.hold(name)
    """

    def __init__(self):
        self._functions = {}

    def __call__(self, function):
        assert function.__name__ not in self._functions, f"two properties {function.__name__}"
        self._functions[function.__name__] = {"function": function}
        return function

    def hold(self, *row, **kwargs):
        """Fail if some do not hold for a row, naming them."""
        __tracebackhide__ = True
        try_all(lambda function: function(*row, **kwargs), self._functions)


def _label(case):
    return ", ".join(f"{name}={getattr(v, '__name__', repr(v))}" for name, v in case.items())


def _line(failure):
    """`[label] error, line of the test: message`."""
    label, error = failure
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(TESTS)]
    place = f", {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"[{label}] {type(error).__name__}{place}: {str(error).strip()}"
