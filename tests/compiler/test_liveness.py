"""Kernels write into the arena, or over inputs that no later node reads."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import framework as tf
from framework.compiler.fusion import gains_as_loop
from framework.compiler.ir import OpNode, Value
from framework.compiler.liveness import may_end_call
from framework.compiler.lowering import KERNELS
from framework.core.op import table
from framework.kernels import conv, conv_pool, pool, tier
from framework.kernels import norm as norms
from framework.ops import norm
from framework.ops.pool import max_pool
from tests.looped import looped
from tests.plan_calls import calls_of
from tests.samples.ops import samples

WINDOW = {"size": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}


@pytest.fixture(autouse=True)
def _numpy():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


def written(forward, out_of, args, attrs):
    """Check that a call with `out` has the bits of a call without."""
    expected = forward(*args, **attrs)
    out = np.full_like(out_of(expected), 77)
    found = out_of(forward(*args, **attrs, out=out))
    assert found.shape == out.shape
    assert not out.size or np.shares_memory(found, out)
    np.testing.assert_array_equal(found, out_of(expected))


def first(found):
    while isinstance(found, tuple):
        found = found[0]
    return found


@pytest.fixture(params=["numpy", "numba"])
def form(request, change):
    if request.param == "numba":
        pytest.importorskip("numba")
        tier.set_tier("numba")
        for module, name in ((conv, "_SMALL"), (norms, "_FAST"), (pool, "_FAST")):
            change(module, **{name: 0})


@looped("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", [name for name in KERNELS if name in table])
def test_kernels_write_into_out(form, name, dtype):
    for sample in samples(name):
        if KERNELS[name](SimpleNamespace(attrs=sample.attrs)) is None:
            continue
        args = [a.astype(dtype) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
                for a in sample.args]  # fmt: skip
        with np.errstate(all="ignore"):
            written(table[name].forward, first, args, sample.attrs)


def arrays_of(found):
    if isinstance(found, tuple | list):
        return [array for part in found for array in arrays_of(part)]
    return [found] if isinstance(found, np.ndarray) and found.nbytes else []


@pytest.mark.parametrize("name", sorted(name for name, op in table.items() if op.fresh))
def test_fresh_results_share_no_memory(form, name):
    for sample in samples(name):
        with np.errstate(all="ignore"):
            args = [
                np.array(x, "f") if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
                for x in sample.args
            ]
            found = arrays_of(table[name].forward(*args, **sample.attrs))
        for array in arrays_of(args):
            assert not any(np.may_share_memory(array, made) for made in found)


@pytest.mark.parametrize("name", sorted(table))
def test_ops_that_raise_for_values_are_declared(name):
    op = table[name]
    for sample in samples(name):
        given = [Value(a) for a in sample.args if isinstance(a, np.ndarray)]
        for number in (0, 1000, -1000, np.nan):
            args = [filled(a, number) for a in sample.args]
            try:
                with np.errstate(all="ignore"):
                    op.forward(*args, **sample.attrs)
            except Exception:
                step = OpNode(op, given, sample.attrs, tuple(given[:1]), (), None)
                assert may_end_call(step), (name, number)


def filled(arg, number):
    """Return an array whose elements are the number or the next one of its dtype."""
    if not isinstance(arg, np.ndarray) or arg.dtype.kind not in "iufc":
        return arg
    if arg.dtype.kind in "iu":
        limits = np.iinfo(arg.dtype)
        number = 0 if np.isnan(number) else min(max(number, limits.min), limits.max)
    return np.full_like(arg, number)


def test_a_convolution_with_pooling_writes_into_out(form):
    rng = np.random.default_rng(2)
    x, w, b = (rng.normal(size=s).astype("float32") for s in [(2, 8, 8, 16), (3, 3, 16, 16), (16,)])
    options = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1), "groups": 1, "relu": True}
    y, (chosen,) = conv_pool.conv_max_pool(x, w, b, **options)
    assert not any(np.may_share_memory(x, made) for made in (y, chosen))
    options["needed"] = True, True, True
    written(conv_pool.conv_max_pool_back, first, [y, x, w, y, chosen], options)


def normalised(x, gamma, beta):
    return norm.batch_norm(x, gamma, beta, axis=3, epsilon=1e-3)[0]


def inputs():
    rng = np.random.default_rng(8)
    return [tf.constant(rng.normal(size=s).astype("float32")) for s in [(2, 4, 4, 3), (3,), (3,)]]


def test_a_cotangent_overwrites_the_previous_one():
    def run(x, gamma, beta):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = max_pool(normalised(x * 2.0, gamma, beta), **WINDOW)
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, x)

    calls = calls_of(run, *inputs())
    [first], [second] = calls["cell_put"], calls["batch_norm_back"]
    assert np.shares_memory(first.keywords["out"], second.keywords["out"])


def test_values_that_are_read_later_are_not_overwritten():
    def run(x, gamma, beta):
        with tf.GradientTape() as tape:
            tape.watch((x, beta))
            z = normalised(x * 2.0, gamma, beta) + beta
            y = max_pool(z, **WINDOW)
            loss = tf.reduce_sum(y * y)
        first, second = tape.gradient(loss, (x, beta))
        return first * 3.0, second

    assert "cell_put" in calls_of(run, *inputs())


def test_results_have_their_own_memory():
    [call] = calls_of(normalised, *inputs())["batch_norm"]
    assert "out" not in call.keywords


def test_a_result_lives_as_long_as_views_of_it():
    def run(x, gamma, beta):
        y = tf.reshape(normalised(x, gamma, beta), (8, 12))
        z = normalised(x * 2.0, gamma, beta)
        return tf.reduce_sum(z), y * 2.0

    calls = calls_of(run, *inputs())
    assert all("out" in call.keywords for call in calls["batch_norm"])


def test_a_view_of_an_input_keeps_it():
    """Cotangent and input share one array with different shapes."""

    def run(x, gamma, beta):
        both = x * 2.0
        g, zeros = tf.transpose(both, (0, 2, 1, 3)), tf.zeros_like(gamma)
        return (
            norm.batch_norm_back(
                g, zeros, zeros, both, gamma, beta, gamma, axis=3, needed=(True, True, True)
            )[0]
            * 1.0
        )

    calls_of(run, *inputs())


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [("relu", 1 << 20, True), ("relu", 1 << 10, False), ("negative", 1 << 20, False),
     ("softplus", 1 << 10, True)],
)  # fmt: skip
def test_which_single_nodes_become_loops(name, size, expected):
    x, y = (Value(np.broadcast_to(np.float32(0), (size,))) for _ in range(2))
    assert gains_as_loop(OpNode(table[name], [x], {}, (y,), (), None)) == expected


def test_a_trace_keeps_no_array_of_a_variable():
    variable, gone = tf.Variable(np.zeros(1000, np.float32)), []

    @tf.function
    def assign(x):
        before = weakref.ref(variable.array)
        variable.assign(x + variable)
        gone.append(before() is None)

    for _ in range(2):
        assign(tf.ones([1000]))
    assert gone == [True, True]
