"""Floating-point operations by op, from shapes."""

import pytest

from framework.autodiff.debug.flops import FORMULAS, backward_flops, flops
from framework.core.op import table
from tests.samples import ops  # noqa: F401 (adds all ops to the table)

LSTM = [(4, 9, 5), (4, 6), (4, 6), (5, 24), (6, 24), (24,)]
COUNTS = [
    ("matmul", [(3, 4), (4, 5)], [(3, 5)], {}, 2 * 3 * 4 * 5),
    ("matmul", [(4, 3), (4, 5)], [(3, 5)], {"transpose_a": True}, 2 * 3 * 4 * 5),
    ("matmul", [(7, 3, 4), (4, 5)], [(7, 3, 5)], {}, 7 * 2 * 3 * 4 * 5),
    ("conv", [(2, 8, 8, 3), (3, 3, 3, 16)], [(2, 6, 6, 16)], {}, 2 * (2 * 36 * 16) * 27),
    ("conv_input", [(2, 6, 6, 16), (3, 3, 3, 16)], [(2, 8, 8, 3)], {}, 2 * (2 * 36 * 16) * 27),
    ("conv_kernel", [(2, 8, 8, 3), (2, 6, 6, 16)], [(3, 3, 3, 16)], {}, 2 * (2 * 36 * 16) * 27),
    ("attention", [(2, 5, 4, 8), (2, 7, 4, 8), (2, 7, 4, 6)], [(2, 5, 4, 6)], {},
     2 * 2 * 4 * 5 * 7 * (8 + 6)),
    ("lstm", LSTM, [(4, 9, 6)], {}, 2 * 4 * 9 * (5 * 24 + 6 * 24)),
    ("tanh", [(3, 4)], [(3, 4)], {}, 12),
    ("add", [(3, 4), (4,)], [(3, 4)], {}, 12),
    ("reduce_sum", [(3, 4)], [(3,)], {"axis": (1,)}, 12),
    ("transpose", [(3, 4)], [(4, 3)], {}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes", "made", "attrs", "count"), COUNTS)
def test_operations_of_a_call(name, shapes, made, attrs, count):
    assert flops(table[name], shapes, made, attrs) == count


def test_every_contraction_has_a_formula():
    assert not [n for n, op in table.items() if op.kind == "contraction" and n not in FORMULAS]


def test_a_contraction_goes_back_to_each_input_that_has_a_gradient():
    matmul, tanh = table["matmul"], table["tanh"]
    assert [backward_flops(matmul, 10, live) for live in (1, 2, 3)] == [10, 20, 20]
    assert backward_flops(tanh, 10, 1) == 10
    assert backward_flops(table["lstm"], 10, 5) == 20
