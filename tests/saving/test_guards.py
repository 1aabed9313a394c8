from contextlib import ExitStack

import pytest

from framework import keras
from framework.core.errors import LoadError
from tests.saving import guards, hostile


def refusal(path):
    """Return the error of loading a file as a text, None if it loads."""
    try:
        keras.models.load_model(path)
    except LoadError as error:
        return str(error)
    return None


@pytest.mark.parametrize(("name", "outcome", "removed"), guards.ROWS)
def test_a_hostile_file_needs_the_guard(name, outcome, removed, tmp_path):
    path = hostile.CASES[name](tmp_path)
    guarded = refusal(path)
    assert guarded is not None
    with ExitStack() as stack:
        guards.without(stack, removed)
        found = refusal(path)
    assert (found is None) if outcome == guards.LOADS else found not in (None, guarded)
    assert refusal(path) == guarded


def test_every_guard_has_a_file():
    assert {guard for *_, removed in guards.ROWS for guard in removed} == set(guards.GUARDS)
