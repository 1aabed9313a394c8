"""What an Op can be: several outputs, a joint rule, saved arrays, a composite; and what is kept."""

import gc
import weakref

import numpy as np
import pytest

import framework.ops.operators  # noqa: F401  hangs the operators on tensors
from framework.autodiff.tape import GradientTape
from framework.core import random as core_random
from framework.core.axes import all_axes
from framework.core.errors import FrameworkError, ShapeError
from framework.core.op import Op, no_derivative, table
from framework.core.recorders import Recorder, push, remove
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.kernels.sums import added
from framework.ops import elementwise as e
from framework.ops import random, recurrent, rows, spectral
from framework.ops.movement import split
from framework.ops.reduction import reduce_sum
from tests.looped import looped
from tests.samples.ops import SAMPLES


def tensor(*shape, seed=0):
    return Tensor(np.random.default_rng(seed).normal(size=shape))


def total(x):
    return reduce_sum(x, axis=tuple(range(x.ndim)), keepdims=False)


def gradient(function, *xs):
    with GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    return tape.gradient(y, list(xs))


def unlisted(*args, **options):
    return Op(*args, listed=False, **options)


class Ops(Recorder):
    """Writes down the names of ops and what they saved."""

    replays = True

    def __enter__(self):
        self.names, self.saved = [], {}
        push(self)
        return self

    def __exit__(self, *_):
        remove(self)

    def op(self, op, args, attrs, outputs, saved):
        self.names.append(op.name)
        self.saved[op.name] = saved


# ---- several outputs -----------------------------------------------------------------------------


def test_outputs_that_are_not_used_count_as_zeros():
    x = tensor(2, 6)
    (g,) = gradient(lambda x: split(x, sizes=(1, 3, 2), axis=1)[1] * 2.0, x)
    assert g.array.tolist() == [[0, 2, 2, 2, 0, 0]] * 2


def test_zeros_for_outputs_that_are_not_used_take_no_memory():
    seen = []

    def forward(x):
        return x, x, x

    op = unlisted("three", forward, lambda g: seen.append(g) or g[1], outputs=3)
    gradient(lambda x: op(x)[1], tensor(4, 5))
    ((unused, used, _),) = seen
    assert unused.strides == (0, 0)
    assert not unused.any()
    assert used.all()


def test_an_op_whose_outputs_are_all_unused_is_passed_over():
    op = unlisted("two", lambda x: (x, x), lambda g: 1 / 0, outputs=2)

    def function(x):
        op(x)
        return x * 3.0

    (g,) = gradient(function, Tensor(np.ones(2)))
    assert g.array.tolist() == [3, 3]


def test_second_derivative_through_split():
    x = Tensor(np.array([2.0, 3.0]))

    def function(x):
        a, b = split(x, sizes=(1, 1), axis=0)
        return a * a * b

    with GradientTape(persistent=True) as outer:
        outer.watch(x)
        (g,) = gradient(function, x)  # 2ab, a²
    (h,) = outer.gradient(g, [x])
    assert g.array.tolist() == [12, 4]
    assert h.array.tolist() == [2 * 3 + 2 * 2, 2 * 2]


# ---- a joint rule --------------------------------------------------------------------------------


def test_a_joint_rule_receives_which_gradients_are_needed():
    asked = []

    def backward(g, a, b, needed):
        asked.append(needed)
        return g * b if needed[0] else None, g * a if needed[1] else None

    op = unlisted("times", lambda a, b: a * b, backward=backward)
    a, b = Tensor(np.array(3.0)), Tensor(np.array(5.0))
    (g,) = gradient(lambda a: op(a, b), a)
    assert g.array == 5
    (g,) = gradient(lambda b: op(a, b), b)
    assert g.array == 3
    with GradientTape() as tape:
        tape.watch([a, b])
        y = op(a, b)
    assert tape.gradient(y, a).array == 5  # b is watched, but not asked for
    assert asked == [(True, False), (False, True), (True, False)]


def test_the_lstm_backward_computes_what_is_needed_and_no_more():
    arguments = [tensor(3, 4), tensor(3, 2), tensor(3, 2), tensor(4, 8), tensor(2, 8), tensor(8)]
    with GradientTape() as tape:
        tape.watch(arguments)
        h, _ = recurrent.lstm_cell(*arguments)
    calls = []
    forward = recurrent.lstm_cell_back.forward

    def counted(*args, needed):
        result = forward(*args, needed=needed)
        calls.append((needed, len(result)))
        return result

    recurrent.lstm_cell_back.forward = counted
    try:
        tape.gradient(h, [arguments[3], arguments[5]])
    finally:
        recurrent.lstm_cell_back.forward = forward
    assert calls == [((False, False, False, True, False, True), 2)]


def test_labels_without_a_reader_cost_nothing():
    logits, labels = tensor(3, 4), tensor(3, 4, seed=1)
    with GradientTape() as tape:
        tape.watch([logits, labels])
        y = rows.softmax_cross_entropy(logits, labels)
    with Ops() as seen:
        tape.gradient(y, logits)
    assert seen.names == ["cross_entropy_back"]


def test_second_derivatives_take_the_composite_and_first_ones_do_not():
    x, labels = tensor(3, 4), Tensor(np.array([0, 3, 1]))
    with Ops() as seen:
        gradient(lambda x: rows.sparse_softmax_cross_entropy(x, labels), x)
    assert "sparse_cross_entropy_back" in seen.names
    with Ops() as seen, GradientTape() as outer:
        outer.watch(x)
        gradient(lambda x: rows.sparse_softmax_cross_entropy(x, labels), x)
    assert "sparse_cross_entropy_back" not in seen.names
    assert "log_softmax" in seen.names


def test_one_tensor_in_two_places_gets_both_parts_once():
    """Also through the composite, which has to tell the two places apart."""
    w = np.random.default_rng(0).normal(size=(2, 8))
    kernel, bias, x = Tensor(w), Tensor(np.zeros(8)), tensor(3, 2)

    def cell(x):
        return recurrent.lstm_cell(x, x, x, kernel, kernel, bias)[0]

    (plain,) = gradient(cell, x)
    with GradientTape() as outer:
        outer.watch(x)
        (taped,) = gradient(cell, x)
    np.testing.assert_allclose(plain.array, taped.array, rtol=1e-12)


def test_a_trace_sees_the_fused_backward_as_one_op():
    arguments = [tensor(3, 4), tensor(3, 2), tensor(3, 2), tensor(4, 8), tensor(2, 8), tensor(8)]
    with Ops() as seen:
        gradient(lambda *args: recurrent.lstm_cell(*args)[0], *arguments)
    assert seen.names[:2] == ["lstm_cell", "lstm_cell_back"]


def test_the_backward_of_a_fused_op_is_not_differentiated_in_silence():
    g, labels = tensor(3), Tensor(np.array([0, 1, 1]))
    e_, s = tensor(3, 2), tensor(3)
    with GradientTape() as tape:
        tape.watch(e_)
        y = rows.sparse_cross_entropy_back(g, labels, e_, s)
    with pytest.raises(FrameworkError, match="has no derivative: for higher orders, differentiate"):
        tape.gradient(y, e_)


# ---- qr ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("used", [0, 1])
def test_qr_with_one_factor_unused(used):
    """A = QR: with Q = A / r and R = r for one column, the slopes are known."""
    a = np.array([[3.0], [4.0]])
    sign = np.sign(np.linalg.qr(a)[1][0, 0])
    (g,) = gradient(lambda x: spectral.qr(x)[used], Tensor(a))
    unit = a / 5
    expected = (np.ones((2, 1)) - unit * unit.sum()) / 5 if used == 0 else unit
    np.testing.assert_allclose(g.array, sign * expected, atol=1e-12)


def test_qr_of_a_wide_matrix_says_why_it_has_no_gradient():
    with pytest.raises(ShapeError, match=r"qr: .*rows as columns.*\(2, 3\)"):
        gradient(lambda x: spectral.qr(x)[1], tensor(2, 3))


# ---- saved arrays: dropout -----------------------------------------------------------------------


def test_dropout_keeps_the_mask_and_neither_input_nor_noise():
    noise = core_random.draw(core_random.Stateless(7), "uniform", (100, 20))
    x = Tensor(np.full((100, 20), 2.0, np.float32))
    gone = weakref.ref(noise), weakref.ref(x)
    with GradientTape() as tape, Ops() as seen:
        leaf = Tensor(np.float32(1.0) * np.ones((), np.float32))
        tape.watch(leaf)
        x = e.multiply(x, leaf)
        gone = (*gone, weakref.ref(x), weakref.ref(x.array))
        y = random.dropout(x, noise, rate=0.25)
        del x, noise
    (mask,) = seen.saved["dropout"]
    assert mask.array.dtype == bool
    gc.collect()
    assert [ref() is None for ref in gone] == [True, False, True, True]  # the product reads x
    kept = mask.array.mean()
    assert 0.7 < kept < 0.8
    np.testing.assert_allclose(y.array, np.where(mask.array, 2 / 0.75, 0), rtol=1e-6)
    g = tape.gradient(y, leaf)
    np.testing.assert_allclose(g.array, mask.array.sum() * 2 / 0.75, rtol=1e-5)


def test_dropout_second_derivative_has_the_same_mask():
    x, noise = tensor(4, 5), Tensor(np.random.default_rng(0).random((4, 5)))
    kept = (noise.array >= 0.5) * 2.0
    with GradientTape() as outer:
        outer.watch(x)
        (g,) = gradient(lambda x: random.dropout(x * x, noise, rate=0.5), x)
    np.testing.assert_allclose(g.array, 2 * x.array * kept)
    np.testing.assert_allclose(outer.gradient(g, x).array, 2 * kept)


def test_dropout_at_the_ends():
    x, noise = tensor(3, 4), Tensor(np.random.default_rng(0).random((3, 4)))
    np.testing.assert_array_equal(random.dropout(x, noise, rate=0.0).array, x.array)
    assert not random.dropout(x, noise, rate=1.0).array.any()


@looped("name", sorted(table))
def test_what_an_op_saves_is_constant_or_has_a_composite(name):
    """The outer tape does not see saved arrays: floats in them would be taken for constants."""
    op = table[name]
    if op.saves and op.composite is None:
        sample = SAMPLES[name][0]
        _, saved = op.forward(*sample.args, **sample.attrs)
        assert all(s.dtype.kind in "biu" for s in saved)


# ---- what a record keeps -------------------------------------------------------------------------


def test_a_record_keeps_what_its_rules_read_and_nothing_else():
    x = Tensor(np.ones(3))
    with GradientTape() as tape:
        tape.watch(x)
        product = x * 2.0
        result = e.exp(product)  # reads its output, not its input
        read = weakref.ref(result)
        unread = weakref.ref(product)
        array = weakref.ref(product.array)
        del product, result
    assert unread() is None
    assert array() is None
    assert read() is not None
    del tape
    assert read() is None


def test_a_joint_rule_keeps_what_it_names_and_nothing_else():
    op = unlisted(
        "first", lambda a, b: a * 1.0, backward=lambda g, a, b_shape: (g, np.zeros(b_shape))
    )
    a, b = Tensor(np.ones(3)), Tensor(np.ones(4))
    x = Tensor(np.ones(()))
    with GradientTape() as tape:
        tape.watch(x)
        a, b = a * x, b * x
        y = op(a, b)
        refs = weakref.ref(a), weakref.ref(b)
        del a, b
    assert [r() is None for r in refs] == [False, True]
    assert tape.gradient(y, x).array == 3


def test_what_is_kept_is_freed_as_the_tape_walks_back():
    x = Tensor(np.ones(3))
    with GradientTape() as tape:
        tape.watch(x)
        y = e.exp(x)
        ref = weakref.ref(y.array)
        z = total(y)
        del y
    assert ref() is not None
    tape.gradient(z, x)
    assert ref() is None


# ---- definition ----------------------------------------------------------------------------------


def test_an_op_without_derivative_gives_none():
    op = unlisted("count", lambda x: np.sum(x > 0) * 1.0, no_derivative)
    assert gradient(lambda x: op(x) * 1.0, tensor(3)) == [None]


def test_an_input_without_derivative_gives_none_beside_one_that_has_one():
    op = unlisted("half", lambda a, b: a + b, lambda g: g, no_derivative)
    g, none = gradient(op, tensor(3), tensor(3))
    assert g.array.tolist() == [1, 1, 1]
    assert none is None


def test_a_differentiable_op_needs_a_rule_for_every_input():
    with pytest.raises(FrameworkError, match=r"'lame': expected one rule per input.*got 1"):
        Op("lame", lambda a, b: a + b, lambda g: g)
    with pytest.raises(FrameworkError, match="'bare': expected derivative rules, or no_derivative"):
        Op("bare", lambda a: a)
    assert "lame" not in table
    assert "bare" not in table


def test_two_ops_of_one_name_are_refused():
    with pytest.raises(FrameworkError, match="'add' already"):
        Op("add", lambda a: a, no_derivative)


def test_several_outputs_of_a_symbolic_call():
    q, r = spectral.qr(KerasTensor((None, 4, 3)))
    assert (q.shape, r.shape) == ((None, 4, 3), (None, 3, 3))
    h, c = recurrent.lstm_cell(
        KerasTensor((None, 4)), KerasTensor((None, 2)), KerasTensor((None, 2)),
        tensor(4, 8), tensor(2, 8), tensor(8),
    )  # fmt: skip
    assert h.shape == c.shape == (None, 2)


def test_numbers_beside_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
    x = Tensor(np.asarray([1.0, 2.0], ml_dtypes.bfloat16))
    for op in (e.maximum, e.multiply, e.divide_no_nan, e.power, e.floor_mod):
        assert op(x, 1.5).dtype == op(1.5, x).dtype == "bfloat16"
    assert e.clip(x, 0.5, 1.5).dtype == "bfloat16"


@pytest.mark.parametrize(
    "function",
    [
        Op.__call__, Op.wrap, type(e.exp).__call__, type(e.add).__call__, Tensor.__add__,
        GradientTape.op, GradientTape._walk_back, added, all_axes,
    ],
    ids=lambda f: f.__qualname__,
)  # fmt: skip
def test_hot_functions_make_no_closures(function):
    """A comprehension or lambda that reads a local variable turns it into a cell, which every
    call makes anew: 3 % of the time of a reduction."""
    assert not function.__code__.co_cellvars
