"""Every function at the points where its mathematics ends: TensorFlow's, or Keras's, numbers.

The functions and points are in `singular/calls.py`, the numbers of TensorFlow 2.21 and of Keras
3.15 on JAX in `singular/reference.json`, those of this package where they differ in
`singular/ours.json`, each with its reason in `singular/different.py` and docs/numbers.md.
"""

import contextlib
import functools
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework.kernels import tier
from tests.compiler import interpreted
from tests.looped import Properties, looped, try_all
from tests.ops.singular import record
from tests.ops.singular.calls import CALLS, POINTS, TENSORFLOW
from tests.ops.singular.different import DIFFERENT, REASONS

REFERENCE, OURS = record.rows("reference.json"), record.rows("ours.json")
PAGE = (Path(__file__).parents[2] / "docs" / "numbers.md").read_text("utf-8")
pytestmark = pytest.mark.filterwarnings("ignore")


def expected(text, at):
    return OURS.get((text, at), REFERENCE[text, at])


each_function = Properties()


@pytest.mark.parametrize("text", list(dict.fromkeys(text for text, _ in CALLS)))
def test_a_function(text):
    """All properties at all points: a test for each took more time than what it tests."""
    each_function.hold(text)


def at_its_points(test, text, calls=CALLS, **kwargs):
    """Call the test at each point of a function that is among the calls."""
    if cases := {at: {"text": text, "at": at, **kwargs} for t, at in calls if t == text}:
        try_all(test, cases)


row_of = functools.lru_cache(64)(record.row)  # several properties need the same rows


@each_function
def value_and_gradient_are_the_references(text):
    at_its_points(value_and_gradient, text)


def value_and_gradient(text, at):
    assert record.differences(row_of(text, at), expected(text, at)) == []


@each_function
def differences_are_ones_and_have_a_reason(text):
    at_its_points(differs_for_a_reason, text, OURS)


def differs_for_a_reason(text, at):
    assert record.differences(OURS[text, at], REFERENCE[text, at])
    assert f"**{DIFFERENT[text]}**" in PAGE


def test_every_reason_is_used():
    assert set(DIFFERENT) == {text for text, _ in OURS}
    assert all(f"**{reason}**" in PAGE for reason in REASONS)


# Not finite here though finite there: NaN that comes in goes out, or there is no value to have.
UNFIT = ("NaN propagates", "Beyond the domain", "Errors here")


@each_function
def finite_wherever_the_others_are(text):
    at_its_points(finite_where_the_others_are, text, OURS)


def finite_where_the_others_are(text, at):
    ours, theirs = OURS[text, at], REFERENCE[text, at]
    if DIFFERENT[text] in UNFIT or "error" in theirs:
        return
    for a, b in zip([ours["value"], *ours["gradients"]], [theirs["value"], *theirs["gradients"]]):
        lost = np.isfinite(b or []) & ~np.isfinite(a or [])
        given = np.concatenate([np.ravel(p) for p in POINTS[at]])
        assert not lost.any() or np.isnan(given).any()


EXTREME = {"line", "rows"}  # with numbers whose squares float32 does not hold


@each_function
def float64_is_finite_at_the_same_points(text):
    at_its_points(is_finite_at_the_same_points, text)


def is_finite_at_the_same_points(text, at):
    narrow, wide = row_of(text, at), row_of(text, at, "float64")
    assert ("error" in narrow) == ("error" in wide)
    if "error" in narrow or at in EXTREME or "losses" in text or "metrics" in text:
        return
    for a, b in zip([narrow["value"], *narrow["gradients"]], [wide["value"], *wide["gradients"]]):
        if a is not None:
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
            np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b))


# ---- floats of 16 bits ---------------------------------------------------------------------------

LARGEST = {"float16": 6e4, "bfloat16": 3e38}
IN_32_BITS = (
    "keras.layers",
    "keras.metrics",
    "keras.utils",
    "weights=",
    "tf.linalg",
    "zero_fraction",
)
NARROW = [
    (text, at) for text, at in CALLS if at != "rows" and not any(w in text for w in IN_32_BITS)
]


@each_function
@looped("dtype", LARGEST)
def floats_of_16_bits_stay_and_are_finite_where_float32_is(text, dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
    at_its_points(stays_and_is_finite_where_float32_is, text, NARROW, dtype=dtype)


def stays_and_is_finite_where_float32_is(text, at, dtype):
    wide = row_of(text, at)
    xs = [tf.cast(tf.constant(p, tf.float32), dtype) for p in POINTS[at]]
    y, grads = record.computed(record.function_of(text), xs)
    of_class = "keras.losses." in text and "()" in text.replace("axis=0", "")
    expected = wide["dtype"] if of_class or wide["dtype"] != "float32" else dtype
    assert y.dtype.name == expected
    ordinary = np.isin(np.abs(np.ravel(POINTS[at][0])), [1e30, 1e-30], invert=True)
    if ordinary.size == np.size(y):  # where the power itself overflows, its derivative is NaN
        ordinary &= ~(np.isinf(np.ravel(np.asarray(y, np.float64))) & ("** x" in text))
    for found, there in zip([y, *grads], [wide["value"], *wide["gradients"]], strict=True):
        if found is not None and there is not None:
            here = np.isfinite(np.ravel(np.asarray(found, np.float64)))
            lost = (np.abs(np.asarray(there, np.float64)) < LARGEST[dtype]) & ~here
            assert not (lost & ordinary if lost.size == ordinary.size else lost).any()


# ---- in compiled functions -----------------------------------------------------------------------

COMPILED = [c for c in CALLS if c[0].startswith(("tf.", "lambda x: tf", "lambda x, y: tf"))]
COMPILED += [c for c in CALLS if "keras.losses" in c[0] or "keras.ops" in c[0]]
RAISES = {c for c in COMPILED if "error" in expected(*c)}
COMPILED = [c for c in dict.fromkeys(COMPILED) if c not in RAISES]


@contextlib.contextmanager
def plans(kind):
    """Plans of NumPy calls, or plans whose loops Python runs from their own text."""
    tier.set_tier("numpy")
    try:
        with interpreted.loops() if kind == "loops" else contextlib.nullcontext():
            yield
    finally:
        tier.set_tier(None)


@looped("kind", ["numpy", "loops"])
@pytest.mark.parametrize("text", list(dict.fromkeys(text for text, _ in COMPILED)))
def test_the_same_inside_a_function(text, kind):
    with plans(kind):
        at_its_points(same_inside_a_function, text, COMPILED)


def same_inside_a_function(text, at):
    xs = [tf.constant(p, tf.float32) for p in POINTS[at]]
    function = record.function_of(text)
    y, grads = record.computed(function, xs)
    present = [g is not None for g in grads]

    @tf.function
    def compiled(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            value = function(*xs)
        if not any(present):
            return [value]
        found = tape.gradient(value, xs)
        return [value, *(tf.convert_to_tensor(g) for g in found if g is not None)]

    for _ in range(4):
        found = compiled(*xs)
    assert at not in ("line", "pairs") or "1 plan" in compiled.explain()
    for a, b in zip(found, [y, *(g for g in grads if g is not None)], strict=True):
        assert record.same(np.asarray(a), b)


@pytest.mark.usefixtures("numba_tier")
@pytest.mark.parametrize("at", ["line", "pairs"])
def test_the_same_in_numbas_loops(at):
    """All functions of one point as one compiled function: one loop, compiled once."""
    pytest.importorskip("numba")
    functions = [record.function_of(text) for text in TENSORFLOW[at]]
    xs = [tf.constant(p, tf.float32) for p in POINTS[at]]

    def run(*xs):
        values = []
        for function in functions:
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = function(*xs)
            grads = tape.gradient(y, xs, unconnected_gradients="zero")
            values += [tf.cast(y, tf.float32), *map(tf.convert_to_tensor, grads)]
        return values

    plain, compiled = run(*xs), tf.function(run)
    for _ in range(4):
        found = compiled(*xs)
    assert "1 plan" in compiled.explain()
    for i, (a, b) in enumerate(zip(found, plain, strict=True)):
        text = TENSORFLOW[at][i // (1 + len(xs))]
        assert record.same(np.asarray(a), np.asarray(b)), text
