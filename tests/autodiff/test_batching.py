"""Ops on many rows at once, over the whole op table: what a loop over the rows gives."""

import numpy as np
import pytest

import framework as tf
from framework.autodiff import jacobian
from framework.autodiff.batching import Batched, Level
from framework.autodiff.tape import GradientTape
from framework.core.op import table
from framework.core.recorders import serials
from framework.core.tensor import Tensor
from tests.looped import Properties
from tests.ops import derivatives as d
from tests.samples.ops import DIFFERENTIABLE, NAMES, SIZED_BY_VALUES, samples
from tests.samples.ops.arguments import generator

LARGE = 300  # elements: larger samples take the same way, and long
ROWS = 3


each_op, each_differentiable_op = Properties(), Properties()


@pytest.mark.parametrize("name", sorted(set(NAMES) - SIZED_BY_VALUES))
def test_an_op(name):
    each_op.hold(name)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_a_differentiable_op(name):
    each_differentiable_op.hold(name)


def small(name):
    return [s for s in samples(name) if all(np.size(a) < LARGE for a in s.args)]


def other_rows(array, rng):
    """Three arrays like this one: its elements in another order, which keeps them in the domain."""
    rows = [array, array]
    if array.dtype.kind == "f":
        rows = [array * scale for scale in rng.uniform(0.97, 1.0, 2)]
    elif array.ndim:
        rows = [rng.permutation(array) for _ in range(2)]
    return np.stack([array, *rows])


def subsets(positions):
    """Which arguments have rows: all, each alone, all but one."""
    chosen = {tuple(positions), *((p,) for p in positions)}
    chosen |= {tuple(q for q in positions if q != p) for p in positions}
    return sorted(c for c in chosen if c)


def agree(found, expected):
    for y, r in zip(found, expected, strict=True):
        assert y.dtype == r.dtype
        np.testing.assert_allclose(y, r, rtol=1e-9, atol=1e-11)


@each_op
def all_rows_at_once_give_what_each_alone_gives(name):
    op, rng = table[name], generator(name)
    for sample in small(name):
        places = [i for i, a in enumerate(sample.args) if isinstance(a, np.ndarray)]
        for with_rows in subsets(places):
            args = [other_rows(a, rng) if i in with_rows else a for i, a in enumerate(sample.args)]
            level = Level()
            batched = [Batched(a, level) if i in with_rows else a for i, a in enumerate(args)]
            outputs = d.several(op(*batched, **sample.attrs))
            each = [
                d.several(op(*(np.asarray(a[k]) if i in with_rows else a
                               for i, a in enumerate(args)), **sample.attrs))
                for k in range(ROWS)
            ]  # fmt: skip
            assert all(type(y) is Batched and y.level is level for y in outputs)
            assert [tuple(y.shape) for y in outputs] == [np.shape(y) for y in each[0]]
            agree([y.value for y in outputs], [np.stack(column) for column in zip(*each)])


@each_op
def no_rows_at_all(name):
    op = table[name]
    sample = samples(name)[0]
    args = [
        Batched(np.zeros((0, *a.shape), a.dtype), Level()) if i == 0 else a
        for i, a in enumerate(sample.args)
    ]
    if not isinstance(sample.args[0], np.ndarray):
        return
    one = d.several(op(*sample.args, **sample.attrs))
    for y, r in zip(d.several(op(*args, **sample.attrs)), one, strict=True):
        assert y.value.shape == (0, *np.shape(r))


def record(op, args, attrs):
    tensors = d.boxed(args)
    wanted = [tensors[i] for i in d.differentiable(op, args)]
    tape = GradientTape(persistent=True)
    with tape:
        tape.watch(wanted)
        outputs = d.several(op(*tensors, **attrs))
    return tape, outputs, wanted


def both_ways(tape, target, sources):
    """The jacobians by one walk and by a loop of walks; no falling back from one to the other."""
    eye = jacobian._Identity(target, target.shape, target.shape)
    target.serial = target.serial or next(serials)
    with np.errstate(all="ignore"):
        at_once = jacobian._at_once(tape, target, sources, eye, careful=False)
        return at_once, jacobian._one_by_one(tape, target, sources, eye)


@each_differentiable_op
def the_jacobian_by_one_walk_is_the_one_by_a_loop(name):
    op = table[name]
    for sample in small(name):
        tape, outputs, wanted = record(op, sample.args, sample.attrs)
        for output in outputs:
            if not output.size or output.array.dtype.kind != "f":
                continue
            for a, b in zip(*both_ways(tape, output, wanted), strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@each_differentiable_op
def the_jacobian_of_the_gradient_too(name):
    """The walk over what a walk recorded: the rules' own ops and composites."""
    op, rng = table[name], generator(name)
    for sample in [s for s in small(name) if all(np.size(a) for a in s.args)][:3]:
        tensors = d.boxed(sample.args)
        wanted = [tensors[i] for i in d.differentiable(op, sample.args)]
        with GradientTape(persistent=True) as outer:
            outer.watch(wanted)
            with GradientTape() as tape:
                tape.watch(wanted)
                outputs = d.several(op(*tensors, **sample.attrs))
            seeds = [Tensor(w) for w in d.random_like([y.array for y in outputs], rng)]
            grads = tape.gradient(list(outputs), wanted, output_gradients=seeds)
        for g in grads:
            dense = tf.convert_to_tensor(g)
            for a, b in zip(*both_ways(outer, dense, wanted), strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
