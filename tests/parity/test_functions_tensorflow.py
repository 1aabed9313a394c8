"""`make parity-tf` is only as good as its comparison: what it calls, and what it finds."""

from types import SimpleNamespace

import numpy as np
import pytest

import framework as tf
from parity.functions_tensorflow import differences
from parity.functions_tensorflow.calls import Call, calls, names
from parity.functions_tensorflow.outcomes import compared, outcome


def differing(call, **functions):
    """The aspects in which this package differs from itself with other functions of tf.math."""
    other = SimpleNamespace(**{n: getattr(tf, n) for n in dir(tf) if not n.startswith("_")})
    other.math = SimpleNamespace(**{n: getattr(tf.math, n) for n in dir(tf.math)} | functions)
    return {aspect for aspect, said in compared(call, tf, other) if said}


CALL = Call("math.exp", "row", (np.array([0.5, 1.0]),), {})


def test_a_function_is_equal_to_itself():
    assert differing(CALL) == set()


@pytest.mark.parametrize(
    ("function", "aspects"),
    [
        (lambda x: tf.exp(x) * (1 + 3e-6), {"value", "gradient"}),
        (lambda x: tf.exp(x) + tf.stop_gradient(x * 0), set()),
        (lambda x: tf.stop_gradient(tf.exp(x)), {"gradient"}),
        (lambda x: tf.cast(tf.exp(x), tf.float32), {"dtype"}),
        (lambda x: tf.exp(x)[None], {"shape", "value"}),
        (lambda x: (tf.exp(x), x), {"shape"}),
        (lambda x: tf.exp(x, bad=1), {"error"}),
    ],
)
def test_what_differs_is_found(function, aspects):
    assert differing(CALL, exp=function) == aspects


def test_errors_are_equal_by_their_families():
    def fails(kind):
        def function(x):
            raise kind("no")

        return function

    ours = {"exp": fails(tf.errors.InvalidArgumentError)}
    call = Call("math.exp", "row", ("a",), {})  # ours raises a DTypeError
    assert differing(call, **ours) == set()
    assert differing(call, exp=fails(TypeError)) == set()
    assert differing(call, exp=fails(ZeroDivisionError)) == set()  # of no family
    assert isinstance(outcome(call, tf).error, TypeError)


def test_every_function_has_calls():
    assert len(set(names())) > 420
    found = [c for pattern in ("linalg.", "math.l") for c in calls([pattern])]
    assert len({c.name for c in found}) > 45
    assert {"row", "float32", "others", "int32", "strings", "empty", "rank more"} <= {
        c.variant for c in found
    }


def test_differences_are_explained_by_one_entry():
    said = "LookupError: gradient registry has no entry for: AdjustHue, ours no error"
    assert differences.accepted(CALL, "gradient", said)
    assert differences.accepted(CALL, "value", "1 at (0,), ours 2") is None
