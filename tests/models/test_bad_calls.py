"""Wrong calls raise the exception that Keras raises, with a message that names what is wrong."""

import builtins
import json
import re
from pathlib import Path

import pytest

from framework import keras
from tests.models.bad_calls.calls import ROWS, run

KERAS = json.loads((Path(__file__).parent / "bad_calls" / "reference.json").read_text())
"""Recorded by `bad_calls/reference.py`: call -> the builtin class of Keras's exception."""

BY_ACCIDENT = {
    "np.ones((2, 5)), verbose=0)": "JAX's TypeError; on TensorFlow it is another error",
    "validation_split=2, verbose=0)": "an empty StopIteration",
    "m.fit(verbose=0)": "KeyError: pop from an empty set",
    "initial_state=[np.ones((2, 4), 'float32')])": "IndexError: list index out of range",
}
"""How calls end that Keras does not check; here they raise a ValueError."""


@pytest.mark.parametrize(("sort", "call", "message"), ROWS, ids=[call for _, call, _ in ROWS])
def test_wrong_calls(sort, call, message):
    expected = getattr(builtins, KERAS[call])
    if any(call.endswith(end) for end in BY_ACCIDENT):
        expected = (expected, ValueError)
    with pytest.raises(expected) as raised:
        run(call, keras)
    text = str(raised.value)
    assert re.search(message, text, re.DOTALL)
    assert "Traceback" not in text
    assert len(text) < 1500


def test_the_table_is_the_recorded_one():
    assert {call for _, call, _ in ROWS} == set(KERAS)
    assert len(ROWS) > 100
    for end in BY_ACCIDENT:
        assert any(call.endswith(end) for call in KERAS)
