"""einsum against NumPy's, its gradients against differences of NumPy's."""

import numpy as np
import pytest

from framework.autodiff.tape import GradientTape
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.ops.einsum import einsum

CASES = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("i,i->", (3,), (3,)),
    ("i,j->ij", (3,), (2,)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)),
    ("ii->i", (3, 3)), ("ii", (3, 3)), ("iij->j", (2, 2, 3)), ("jii->ij", (2, 3, 3)),
    ("iii->i", (2, 2, 2)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("bij,bij->b", (2, 3, 4), (2, 3, 4)),
    ("bij,bij->b", (2, 3, 4), (2, 3, 4)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 2)), ("...ij,jk->...ik", (2, 5, 3, 4), (4, 2)),
    ("...i,...i->...", (2, 1, 3), (4, 3)), ("i...->...", (2, 3)), ("...->...", (2, 3)),
    ("b...h,hd->b...d", (2, 3, 4), (4, 5)), ("aecd,abcd->acbe", (2, 3, 2, 4), (2, 5, 2, 4)),
    ("ij,ij->ij", (2, 3), (2, 3)), ("ij,jk->ik", (2, 1), (1, 2)),
    ("ij...,j->i...", (2, 3, 4), (3,)), ("...,...->...", (2, 1), (1, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)), ("i,j,k->kji", (2,), (3,), (4,)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 2), (2, 3)), ("ij,kl->", (2, 3), (2, 2)),
    (" b i j , b j -> b i ", (2, 3, 4), (2, 4)), ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)), ("ij,ik,il->jkl", (2, 3), (2, 2), (2, 4)), (",i->i", (), (3,)),
]  # fmt: skip
cases = pytest.mark.parametrize(("equation", "shapes"), [(c[0], c[1:]) for c in CASES])


def arrays(shapes):
    rng = np.random.default_rng(0)
    return [np.asarray(rng.normal(size=s)) for s in shapes]


@cases
def test_values_are_numpys(equation, shapes):
    xs = arrays(shapes)
    expected = np.einsum(equation, *xs)
    found = einsum(equation, *map(Tensor, xs)).array
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@cases
def test_gradients(equation, shapes):
    xs = arrays(shapes)
    tensors = [Tensor(x) for x in xs]
    with GradientTape() as tape:
        tape.watch(tensors)
        y = einsum(equation, *tensors)
    weights = np.random.default_rng(1).normal(size=y.shape)
    found = tape.gradient(y, tensors, output_gradients=Tensor(np.asarray(weights)))
    for i, g in enumerate(found):
        v = np.random.default_rng(2).normal(size=shapes[i])
        # linear in each operand, if it occurs once: the difference is exact
        difference = np.einsum(equation, *(v if i == k else x for k, x in enumerate(xs)))
        np.testing.assert_allclose(np.sum(g.array * v), np.sum(weights * difference), rtol=1e-9)


def test_unknown_sizes_stay_unknown():
    x, w = KerasTensor((None, 5, 3)), Tensor(np.zeros((3, 4), np.float32))
    assert einsum("...i,ij->...j", x, w).shape == (None, 5, 4)
    assert einsum("abi,ij->baj", x, w).shape == (5, None, 4)
    assert einsum("bti,bsi->bts", x, x).shape == (None, 5, 5)


@pytest.mark.parametrize(("equation", "shapes", "error", "words"), [
    ("ij,jk->ik", [(2, 3)], InvalidArgumentError, "names 2 operands, got 1"),
    ("ij->i", [(2, 3, 4)], InvalidArgumentError, "'ij' .* rank 3"),
    ("ij->k", [(2, 3)], InvalidArgumentError, "each letter of the result"),
    ("ij->ii", [(2, 3)], InvalidArgumentError, "each letter of the result"),
    ("i!->i", [(2, 3)], InvalidArgumentError, "letters"),
    ("ij,jk->ik", [(2, 3), (4, 2)], ShapeError, "'j' .* sizes 3 and 4"),
    ("ii->i", [(2, 3)], ShapeError, "'i' .* sizes 2 and 3"),
    ("ii->i", [(1, 3)], ShapeError, "'i' .* sizes 1 and 3"),
    ("ij,jk->ik", [(2, 1), (3, 4)], ShapeError, "'j' .* sizes 1 and 3; only .* broadcast"),
    ("ij,jk->ik", [(2, 3), (1, 4)], ShapeError, "'j' .* sizes 3 and 1; only .* broadcast"),
    ("ij,jk->ik", [(2, 0), (1, 4)], ShapeError, "'j' .* sizes 0 and 1"),
    ("ij,ij->ij", [(1, 3), (2, 3)], ShapeError, "'i' .* sizes 1 and 2"),
    ("ij,ij->", [(1, 3), (2, 3)], ShapeError, "'i' .* sizes 1 and 2"),
    ("bi,bj->bij", [(1, 2), (3, 2)], ShapeError, "'b' .* sizes 1 and 3"),
    ("i,i,i->i", [(1,), (3,), (3,)], ShapeError, "'i' .* sizes 1 and 3|sizes 3 and 1"),
    ("ij,jk,kl->il", [(2, 3), (3, 1), (4, 2)], ShapeError, "'k' .* sizes"),
    ("a...,a...->...", [(1, 3), (2, 3)], ShapeError, "'a' .* sizes 1 and 2"),
    ("ij...,j->i...", [(2, 1, 4), (3,)], ShapeError, "'j' .* sizes 1 and 3"),
    ("...ij,...jk->...ik", [(2, 2, 3), (5, 3, 4)], ShapeError, r"'\.\.\.' in .* sizes 2 and 5"),
    ("...i->i", [(2, 3)], InvalidArgumentError, "lacks '...'"),
    ("...ij->...ji", [(2,)], InvalidArgumentError, "'...ij' .* rank 1"),
    ("ij,jk", [(2, 3)], InvalidArgumentError, "names 2 operands"),
])  # fmt: skip
def test_errors_name_what_does_not_fit(equation, shapes, error, words):
    with pytest.raises(error, match=words):
        einsum(equation, *arrays(shapes))
