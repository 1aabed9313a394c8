"""Loops over cases within one test: every case is tried, and each that fails is named."""

import inspect

import pytest

from tests.looped import CasesError, looped


def test_every_case_is_tried_and_each_failure_is_named():
    tried = []

    @looped("sign", [1, -1])
    @looped("n, limit", [(1, 0), (2, 5), (3, 0)], ids=["one", "two", "three"])
    def compare(n, limit, sign):
        tried.append((n, sign))
        assert sign * n > limit

    with pytest.raises(CasesError) as caught:
        compare()
    assert tried == [(1, 1), (2, 1), (3, 1), (1, -1), (2, -1), (3, -1)]
    lines = str(caught.value).splitlines()
    assert lines[0] == "4 failed:"
    labels = [line.partition("]")[0] for line in lines if line.startswith("[")]
    assert labels == ["[sign=1, two", "[sign=-1, one", "[sign=-1, two", "[sign=-1, three"]
    assert "AssertionError, test_looped.py:" in lines[1]
    assert isinstance(caught.value.__cause__, AssertionError)  # with the traceback of the first


def test_pytest_sees_the_other_parameters_and_the_marks():
    @looped("n", [1, 2])
    @pytest.mark.parametrize("name", ["a"])
    def compare(name, n):
        assert name * n

    assert list(inspect.signature(compare).parameters) == ["name"]
    assert [mark.name for mark in compare.pytestmark] == ["parametrize"]
    compare(name="a")
    with pytest.raises(CasesError, match=r"2 failed:\n\[n=1\] AssertionError"):
        compare(name="")


def test_failures_of_pytest_count_and_a_skipped_case_skips_after_the_others():
    tried = []

    @looped("kind", ["skips", "passes", "fails"])
    def run(kind, fails=True):
        tried.append(kind)
        if kind == "skips":
            pytest.skip("not here")
        if kind == "fails" and fails:
            pytest.fail("not raised")

    with pytest.raises(CasesError, match=r"\[kind='fails'\] Failed.*: not raised"):
        run()
    with pytest.raises(pytest.skip.Exception, match="not here"):
        run(fails=False)
    assert tried == ["skips", "passes", "fails"] * 2


def test_a_table_without_cases_or_with_a_wrong_name_is_an_error():
    with pytest.raises(AssertionError, match="no values of"):
        looped("n", [])
    with pytest.raises(AssertionError, match="each case needs a label"):
        looped("n", [1, 2], ids=["same", "same"])
    with pytest.raises(AssertionError, match=r"has no \['m'\]"):
        looped("m", [1])(lambda n: n)
