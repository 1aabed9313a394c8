"""The comparison of single calls in `make parity`: what it finds, excuses and counts."""

import re

import numpy as np
import pytest

from framework import keras
from parity import compare
from parity.compare import by_scenario, relative_distance, report, values_verdict
from parity.families.ops import Call
from parity.run import results_of
from parity.scenarios import FAMILIES, everything
from parity.values import Values, config_text, shape_text

CALLS = [row for row in everything() if row[0].startswith("calls of")]


def results(name="calls of x: y", **values):
    found = Values()
    for key, value in values.items():
        if isinstance(value, Exception):
            found.try_to(key, lambda error=value: _raise(error))
        else:
            found.add(key, value)
    return by_scenario(results_of(name, lambda _: found, None))[name]


def _raise(error):
    raise error


def verdict(ours, theirs):
    return values_verdict("calls of x: y", ours, theirs)


X = keras.ops.array([1.0, 200.0, 1e-4])


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (X, X * 1.000008, ""),
        (X, X + np.float32([0, 0, 2e-5]), "value: differs by 2e-05"),
        (X * 1e-6, X * 1e-6 + np.float32([0, 0, 1e-8]), "value: differs by"),
        (X, X[:2], "value: shape (3,), with Keras (2,)"),
        (X, keras.ops.cast(X, "float16"), "value dtype: float32, with Keras float16"),
        (keras.ops.cast(X, "bfloat16"), keras.ops.cast(X * 1.007, "bfloat16"), ""),
        ("a", "b", "value: a, with Keras b"),
        (X, ValueError("no"), "value: "),
        (ValueError("no"), X, "framework: ValueError: no"),
        ([X, X], [X], "only one side has it"),
    ],
)
def test_differences(ours, theirs, words):
    found = verdict(results(value=ours), results(value=theirs))
    assert words in found.problem
    assert bool(found.problem) == bool(words)


def test_derivatives_have_the_precision_of_their_values():
    narrow, other = keras.ops.cast(X, "bfloat16"), X * 1.007
    assert not verdict(
        results(value=narrow, gradient=X), results(value=narrow, gradient=other)
    ).problem
    assert verdict(results(value=X, gradient=X), results(value=X, gradient=other)).problem
    assert verdict(results(value=narrow, more=X), results(value=narrow, more=other)).problem


def test_a_refused_call_has_no_further_results():
    ours, theirs = results(value=X, gradient=X, symbolic="()"), results(value=ValueError("no"))
    assert "value: " in verdict(ours, theirs).problem
    assert "only one side has it" not in verdict(ours, theirs).problem
    assert "only one side has it" in verdict(ours, results(value=X, symbolic="()")).problem


def test_wide_integers_are_narrow_with_jax():
    wide, narrow = (keras.ops.array([1, 2], d) for d in ("int64", "int32"))
    assert not verdict(results(value=wide), results(value=narrow)).problem


def test_refused_by_both():
    error = ValueError("no")
    assert verdict(results(value=error), results(value=error)).refused
    assert not verdict(results(value=error, other=X), results(value=error, other=X)).refused


def test_known_differences(monkeypatch, capsys):
    monkeypatch.setattr(compare, "EXCUSED", [("calls of x: * | other", "value", "a known fault")])
    wrong = verdict(results(value=X), results(value=X + 1))
    assert (wrong.problem, wrong.excuse) == ("", "a known fault")
    assert report([wrong]) == 0
    assert "1 compared, 0 equal, 0 failed, 1 differ for a known reason" in capsys.readouterr().out
    assert verdict(results(value=X, more=X), results(value=X + 1, more=X + 1)).problem
    assert report([verdict(results(value=X), results(value=X))]) == 1  # needs no excuse
    assert "FAILED no comparison needs the excuse" in capsys.readouterr().out


def test_distances_are_relative():
    assert relative_distance([1000.0], [1001.0]) == pytest.approx(1 / 1001)
    assert relative_distance([1.0, 1e-9], [1.0, 0.0]) == pytest.approx(1e-9)
    assert relative_distance([np.inf, np.nan], [np.inf, np.nan]) == 0
    assert relative_distance([1.0], [np.nan]) == np.inf


def test_configs_are_equal_by_value():
    assert not verdict(results(config='{"a": [2.0]}'), results(config='{"a": [2]}')).problem
    assert verdict(results(config='{"a": [2.5]}'), results(config='{"a": [2]}')).problem


def test_factors_of_free_signs():
    x = np.float32([[4.0, 1.0], [1.0, 3.0]])
    for name in ("eigh", "svd"):
        found = Call(name, (x,), {}, "float32")(keras).found
        assert all(np.all(found[f"value.{i}"] >= 0) for i in (0, 1))
        *_, product = [v for k, v in found.items() if re.fullmatch(r"value\.\d", k)]
        np.testing.assert_allclose(product, x, rtol=1e-5)
    gradient = Call("eigh", (x,), {}, "float32")(keras).found["gradient"]
    np.testing.assert_allclose(gradient, gradient.T, rtol=1e-5)


def test_texts():
    assert shape_text([keras.KerasTensor((None, 2)), 3]) == "(None, 2) float32; 3"
    assert config_text({"b": (1, 2), "a": np.float32(1)}) == '{"a": 1.0, "b": [1, 2]}'


def test_there_are_enough_comparisons():
    assert len(CALLS) > 4000
    assert {name.partition(":")[0] for name, _ in CALLS} == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_runs(family):
    rows = [row for row in CALLS if row[0].startswith(f"{family}: ")]
    for name, run in rows[:: len(rows) // 5]:
        found = by_scenario(results_of(name, run, keras))[name]
        assert any(key[0] == "value" for key in found), name


def test_a_call_that_fails_is_refused():
    found = by_scenario(results_of("calls of x: y", lambda _: _raise(ValueError("no")), None))
    assert found["calls of x: y"][("note", "call")] == "ValueError: no"
