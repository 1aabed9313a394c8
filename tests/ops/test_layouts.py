"""Arrays that are not contiguous, over the whole op table: gradients and tangents as of others."""

import numpy as np
import pytest

from framework.core.op import table
from tests.autodiff.test_forward_mode_ops import cases, pushed
from tests.looped import try_all
from tests.ops import derivatives as d
from tests.samples.ops import DIFFERENTIABLE, samples
from tests.samples.ops.arguments import generator

LAYOUTS = {
    "strided": lambda a: np.stack([a, a], -1)[..., 0],
    "negative strides": lambda a: np.flip(np.flip(a).copy()),
    "Fortran": lambda a: np.array(a, order="F"),
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
}
EACH_LAYOUT = {layout: {"layout": layout} for layout in LAYOUTS}


def laid_out(values, layout):
    return [LAYOUTS[layout](v) if isinstance(v, np.ndarray) and v.ndim else v for v in values]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    op, calls = table[name], []
    for sample in samples(name):
        weights = d.random_like(d.several(op(*sample.args, **sample.attrs)), generator(name))
        calls.append((sample, weights, d.gradients(op, sample.args, sample.attrs, weights)))

    def agree(layout):
        for sample, weights, expected in calls:
            args = laid_out(sample.args, layout)
            found = d.gradients(op, args, sample.attrs, laid_out(weights, layout))
            for g, r in zip(found, expected, strict=True):
                np.testing.assert_allclose(g.array, r.array, rtol=1e-10, atol=1e-12, err_msg=name)

    try_all(agree, EACH_LAYOUT)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_tangents(name):
    calls = [
        (*case, pushed(case[0], case[1].args, case[1].attrs, *case[2:4])) for case in cases(name)
    ]

    def agree(layout):
        for op, sample, positions, directions, _, expected in calls:
            args, vs = laid_out(sample.args, layout), laid_out(directions, layout)
            found = pushed(op, args, sample.attrs, positions, vs)
            for t, r in zip(found, expected, strict=True):
                np.testing.assert_allclose(t, r, rtol=1e-10, atol=1e-12, err_msg=name)

    try_all(agree, EACH_LAYOUT)
