"""What holds forward for every op of the table: against differences, and against the tape."""

import numpy as np
import pytest

from framework.autodiff.forward_mode import ForwardAccumulator
from framework.autodiff.tape import GradientTape
from framework.core.op import table
from framework.core.tensor import Tensor
from tests.looped import Properties
from tests.ops import derivatives as d
from tests.samples.ops import DIFFERENTIABLE, samples
from tests.samples.ops.arguments import generator

each_op = Properties()


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_an_op(name):
    each_op.hold(name)


def cases(name):
    """(op, sample, positions of its differentiable arguments, a direction for each, generator)."""
    op, rng = table[name], generator(name)
    for sample in samples(name):
        if d.all_finite(d.several(op(*sample.args, **sample.attrs))):
            positions = d.differentiable(op, sample.args)
            directions = d.directions_like(sample, positions, rng)
            yield op, sample, positions, directions, rng


def pushed(op, args, attrs, positions, directions):
    """The tangents of the outputs as arrays; zeros where unconnected."""
    tensors = d.boxed(args)
    primals = [tensors[i] for i in positions]
    with ForwardAccumulator(primals, [Tensor(v) for v in directions]) as acc:
        outputs = d.several(op(*tensors, **attrs))
    found = acc.jvp(list(outputs), "zero")
    for y, t in zip(outputs, found, strict=True):
        assert type(t) is Tensor
        assert t.array.shape == y.array.shape
        assert t.array.dtype == y.array.dtype
    return [t.array for t in found]


def differences(function, step=d.STEP):
    """The central difference of lists of arrays."""
    ends = [function(h) for h in (step, -step)]
    return [(np.asarray(a) - b) / (2 * step) for a, b in zip(*ends, strict=True)]


def close(found, expected, op):
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=2e-6, atol=2e-7, err_msg=op.name)


@each_op
def tangents_are_differences_along_the_direction(name):
    for op, sample, positions, directions, _ in cases(name):

        def values(h, op=op, sample=sample, positions=positions, directions=directions):
            args = d.moved(sample.args, positions, directions, h)
            return d.several(op(*args, **sample.attrs))

        close(pushed(op, sample.args, sample.attrs, positions, directions), differences(values), op)


@each_op
def forward_is_reverse_transposed(name):
    for op, sample, positions, directions, rng in cases(name):
        tangents = pushed(op, sample.args, sample.attrs, positions, directions)
        weights = d.random_like(d.several(op(*sample.args, **sample.attrs)), rng)
        grads = d.gradients(op, sample.args, sample.attrs, weights)
        forward = sum(np.sum(w * t).real for w, t in zip(weights, tangents, strict=True))
        backward = sum(np.sum(g.array * v) for g, v in zip(grads, directions, strict=True))
        np.testing.assert_allclose(forward, backward, rtol=1e-9, atol=1e-11, err_msg=name)


@each_op
def by_each_input_alone(name):
    for op, sample, positions, directions, _ in cases(name):
        whole = pushed(op, sample.args, sample.attrs, positions, directions)
        parts = [
            pushed(op, sample.args, sample.attrs, [i], [v])
            for i, v in zip(positions, directions, strict=True)
        ]
        for k, each in enumerate(whole):
            total = sum(part[k] for part in parts)
            np.testing.assert_allclose(each, total, rtol=1e-9, atol=1e-11, err_msg=name)


@each_op
def second_order_by_every_mixture(name):
    """The derivative along v of the one along u: two accumulators, and one with a tape."""
    for op, sample, positions, us, rng in cases(name):
        args, attrs = sample.args, sample.attrs
        vs = d.directions_like(sample, positions, rng)
        weights = d.random_like(d.several(op(*args, **attrs)), rng)

        def first(h, op=op, args=args, attrs=attrs, positions=positions, us=us, vs=vs):
            return pushed(op, d.moved(args, positions, vs, h), attrs, positions, us)

        expected = differences(first)
        close(_twice(op, args, attrs, positions, us, vs), expected, op)
        number = sum(np.sum(w * e).real for w, e in zip(weights, expected, strict=True))
        for mixture in (_forward_over_reverse, _reverse_over_forward):
            found = mixture(op, args, attrs, positions, us, vs, weights)
            close([found], [number], op)


def _primals(args, positions):
    tensors = d.boxed(args)
    return tensors, [tensors[i] for i in positions]


def _twice(op, args, attrs, positions, us, vs):
    tensors, primals = _primals(args, positions)
    with ForwardAccumulator(primals, [Tensor(v) for v in vs]) as outer:
        with ForwardAccumulator(primals, [Tensor(u) for u in us]) as inner:
            outputs = d.several(op(*tensors, **attrs))
        first = inner.jvp(list(outputs), "zero")
    return [t.array for t in outer.jvp(first, "zero")]


def _forward_over_reverse(op, args, attrs, positions, us, vs, weights):
    tensors, primals = _primals(args, positions)
    with ForwardAccumulator(primals, [Tensor(v) for v in vs]) as acc:
        with GradientTape() as tape:
            tape.watch(primals)
            outputs = d.several(op(*tensors, **attrs))
        seeds = [Tensor(w) for w in weights]
        grads = tape.gradient(list(outputs), primals, seeds, unconnected_gradients="zero")
        grads = d.dense(grads)
    return sum(np.sum(t.array * u) for t, u in zip(acc.jvp(grads, "zero"), us, strict=True))


def _reverse_over_forward(op, args, attrs, positions, us, vs, weights):
    tensors, primals = _primals(args, positions)
    with GradientTape() as tape:
        tape.watch(primals)
        with ForwardAccumulator(primals, [Tensor(u) for u in us]) as acc:
            outputs = d.several(op(*tensors, **attrs))
        total = acc.jvp(list(outputs), "zero")
    seeds = [Tensor(w) for w in weights]
    grads = d.dense(tape.gradient(total, primals, seeds, unconnected_gradients="zero"))
    return sum(np.sum(g.array * v) for g, v in zip(grads, vs, strict=True))
