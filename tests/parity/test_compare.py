"""`make parity` is only as good as its comparison: what it lets pass and what it does not."""

import numpy as np
import pytest

from parity.compare import by_scenario, compare, distance
from parity.run import results_of
from parity.scenarios import everything
from parity.scenarios.problems import Outcome


def results(history=(), after=2.0, extra=(), **more):
    outcome = Outcome(
        {"loss": [1.0, 0.5], **dict(history)}, [np.zeros(3)], [np.full(3, after)], dict(extra)
    )
    found = results_of("run", lambda keras: outcome, None)
    return by_scenario({**found, **more})


def problem(ours, theirs=None):
    (found,) = compare(ours, results() if theirs is None else theirs)
    return found.problem


def failing(keras):
    raise ValueError("no such thing")


def test_equal_results_pass():
    assert not problem(results())
    assert not problem(results(after=2.0005))


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (results(after=2.0007), "after/000"),
        (results({"loss": [1.0, 0.5003 + 1e-5]}), "history/loss"),
        (results({"loss": [1.0, np.nan]}), "history/loss"),
        (results({"loss": [1.0, 0.6, 0.5]}), "shape"),
        (results({"mae": [1.0, 0.5]}), "only one side has history/mae"),
        (results(extra={"predicted": np.ones(2)}), "only one side has extra/predicted"),
        (by_scenario(results_of("run", failing, None)), "framework: ValueError: no such thing"),
    ],
)
def test_differences_fail(ours, words):
    assert words in problem(ours)


@pytest.mark.parametrize(
    "both",
    [
        results(after=0.001),
        results({"loss": [1.0, 0.999]}),
        results({"loss": [1.0, 1.5]}),
        results({"loss": [np.nan, np.nan]}),
    ],
)
def test_a_run_that_shows_nothing_fails(both):
    assert "void" in problem(both, both)


def test_a_run_of_one_side_alone_fails():
    assert [v.problem for v in compare(results(), {})] == ["only one side ran it"]
    assert [v.problem for v in compare({}, results())] == ["only one side ran it"]


def test_distance_is_in_units_of_the_tolerance():
    assert distance([3.0], [3.0008]) == pytest.approx(1.0, rel=1e-3)
    assert distance(np.zeros((0, 2)), np.zeros((0, 2))) == 0
    assert distance([np.inf, np.nan], [np.inf, np.nan]) == 0
    assert distance([1.0], [np.nan]) == np.inf


def test_the_table_is_large():
    assert len(everything()) >= 120
