"""What holds for every op of the table; a new op needs a row in `tests/samples/ops/`.

`test_an_op` and `test_a_differentiable_op` try all functions here that state a property of an op; a
failure names those that failed.
"""

import functools

import numpy as np
import pytest

from framework.core.op import table
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from tests.changed import changed
from tests.looped import Properties, try_all
from tests.ops import derivatives as d
from tests.samples.ops import (
    DIFFERENTIABLE,
    NAMES,
    SAMPLES,
    SIZED_BY_VALUES,
    reference,
    samples,
)
from tests.samples.ops.arguments import generator

each_op, each_differentiable_op = Properties(), Properties()


@pytest.mark.parametrize("name", NAMES)
def test_an_op(name):
    each_op.hold(name)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_differentiable_op(name):
    each_differentiable_op.hold(name)


def arrays_of(value):
    return [np.asarray(getattr(v, "array", v)) for v in d.several(value)]


def agree(found, expected, rtol=1e-12, atol=1e-14):
    found, expected = arrays_of(found), arrays_of(expected)
    assert len(found) == len(expected)
    for y, r in zip(found, expected, strict=True):
        assert y.shape == r.shape
        np.testing.assert_allclose(y, r, rtol=rtol, atol=atol)


@each_op
def an_op_has_a_sample(name):
    assert SAMPLES.get(name), f"the op {name!r} needs a row in tests/samples/ops"


def test_there_are_samples_of_ops_only():
    assert set(SAMPLES) <= set(NAMES)


@each_op
def some_sample_is_empty(name):
    assert any(np.size(a) == 0 for s in samples(name) for a in s.args)


@each_op
def forward_is_the_reference(name):
    for sample in samples(name):
        agree(
            table[name](*sample.args, **sample.attrs), reference(name)(*sample.args, **sample.attrs)
        )


@each_op
def tensors_in_give_the_tensor_of_what_arrays_in_give(name):
    for sample in samples(name):
        from_arrays = d.several(table[name](*sample.args, **sample.attrs))
        from_tensors = d.several(table[name](*d.boxed(sample.args), **sample.attrs))
        for y, t in zip(from_arrays, from_tensors, strict=True):
            assert type(t) is Tensor
            assert type(t.array) is np.ndarray
            assert t.array.dtype == y.dtype
            np.testing.assert_array_equal(t.array, y)


@each_op
def memory_layout_does_not_matter(name):
    layouts = (
        lambda a: np.stack([a, a], -1)[..., 0],  # strided
        lambda a: np.flip(np.flip(a).copy()),  # negative strides
        lambda a: np.array(a, order="F"),
    )
    for sample in samples(name):
        expected = table[name](*sample.args, **sample.attrs)
        for layout in layouts:
            args = [layout(a) if isinstance(a, np.ndarray) else a for a in sample.args]
            agree(table[name](*args, **sample.attrs), expected)


@each_op
def inputs_are_not_written_to(name):
    for sample in samples(name):
        before = [np.array(a) for a in sample.args]
        table[name](*sample.args, **sample.attrs)
        for a, b in zip(sample.args, before, strict=True):
            np.testing.assert_array_equal(a, b)


@each_differentiable_op
def derivatives(name):
    for sample in samples(name):
        d.check_first(table[name], sample, generator(name))


@each_differentiable_op
def second_derivatives(name):
    for sample in samples(name):
        d.check_second(table[name], sample, generator(name))


@each_differentiable_op
def a_recorded_backward_pass_gives_the_same(name):
    op = table[name]
    for sample in samples(name):
        weights = d.random_like(d.several(op(*sample.args, **sample.attrs)), generator(name))
        plain = d.gradients(op, sample.args, sample.attrs, weights)
        taped = d.gradients(op, sample.args, sample.attrs, weights, taped=True)
        for g, t in zip(plain, taped, strict=True):
            np.testing.assert_allclose(g.array, t.array, rtol=1e-12, atol=1e-14)


@each_op
def other_floats_stay_what_they_are(name):
    op = table[name]
    for sample in samples(name):
        for dtype in map(np.dtype, sample.other_floats.split()):
            _check_dtype(op, sample, dtype, generator(name))


def _check_dtype(op, sample, dtype, rng):
    args = [np.asarray(a.astype(dtype)) if d.is_float(a) else a for a in sample.args]
    narrow = d.several(op(*args, **sample.attrs))
    wide = d.several(op(*sample.args, **sample.attrs))
    close = {"rtol": 2e-5, "atol": 2e-5} if dtype == np.float32 else {"rtol": 0.05, "atol": 0.05}
    for y, r in zip(narrow, wide, strict=True):
        assert y.dtype == (dtype if r.dtype == np.float64 else r.dtype)
        if r.dtype == np.float64:
            np.testing.assert_allclose(y, r, **close)
    weights = d.random_like(narrow, rng)
    precise = [w.astype(r.dtype) for w, r in zip(weights, wide, strict=True)]
    slopes = d.gradients(op, sample.args, sample.attrs, precise)
    for g, r in zip(d.gradients(op, args, sample.attrs, weights), slopes, strict=True):
        assert g.array.dtype == dtype
        np.testing.assert_allclose(g.array, r.array, **close)


# ---- symbolic calls ------------------------------------------------------------------------------


def symbolic_arguments(args, unknown):
    """KerasTensors for arrays; the leading size of those at the positions in `unknown` is so."""
    return [
        KerasTensor((None, *a.shape[1:]) if i in unknown and a.ndim else a.shape, a.dtype)
        if isinstance(a, np.ndarray) else a
        for i, a in enumerate(args)
    ]  # fmt: skip


@each_op
def symbolic_calls_know_shape_and_dtype(name):
    for sample in samples(name):
        real = d.several(table[name](*sample.args, **sample.attrs))
        made = d.several(table[name](*symbolic_arguments(sample.args, ()), **sample.attrs))
        for y, k in zip(real, made, strict=True):
            assert isinstance(k, KerasTensor)
            assert k.shape == y.shape or name in SIZED_BY_VALUES
            assert len(k.shape) == y.ndim
            assert k.dtype == y.dtype


@each_op
def symbolic_calls_with_an_unknown_leading_size(name):
    for sample in samples(name):
        if not sample.any_batch:
            continue
        unknown = range(len(sample.args)) if sample.any_batch is True else sample.any_batch
        real = d.several(table[name](*sample.args, **sample.attrs))
        made = d.several(table[name](*symbolic_arguments(sample.args, unknown), **sample.attrs))
        for y, k in zip(real, made, strict=True):
            assert len(k.shape) == y.ndim
            assert all(m in (None, n) for m, n in zip(k.shape, y.shape, strict=True)), k.shape
            assert k.dtype == y.dtype


# ---- wrong rules are found ----------------------------------------------------------------------


def bent(rule, which=None):
    """The rule, its result (or the `which`-th of its results) wrong by 1 %."""

    @functools.wraps(rule)  # with the names of the parameters
    def wrong(*args, **kwargs):
        result = rule(*args, **kwargs)
        if which is None:
            return _off(result)
        return [_off(r) if i == which else r for i, r in enumerate(result)]

    return wrong


def _off(result):
    if result is None:
        return None
    values = getattr(result, "array", result)
    return result * 1.01 + (0.0 if np.any(values) else 0.01)


PLACES = {name: d.differentiable(table[name], SAMPLES[name][0].args) for name in DIFFERENTIABLE}


@pytest.mark.parametrize("name", [name for name, places in PLACES.items() if places])
def test_rules_wrong_by_one_percent_are_found(name):
    cases = {f"input {i}": {"op": table[name], "i": i} for i in PLACES[name]}
    try_all(a_wrong_rule_is_found, cases)


def a_wrong_rule_is_found(op, i):
    if op.backward is None:
        wrong = {"vjps": (*op.vjps[:i], bent(op.vjps[i]), *op.vjps[i + 1 :])}
    else:
        wrong = {"backward": bent(op.backward, i)}
    with (
        changed(op, plans={0: None}, chains={}, **wrong),
        pytest.raises(AssertionError, match=op.name),
    ):
        derivatives(op.name)
