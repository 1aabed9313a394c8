"""Parallel regions: phases, which nodes join, equal bits for any number of threads."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.parallel_regions import MemoryAccess, RegionTask, phases
from framework.kernels import products, threads, tier
from tests.compiler import interpreted
from tests.plan_calls import plan_calls


@pytest.fixture(autouse=True)
def put_back():
    yield
    threads.set_count()
    tier.set_tier()


def piece(*accesses, extent=64, unit=8, work=1e-4):
    return RegionTask(None, (), (), (), extent, unit, accesses, work)


def read(key, unit=None, **kind):
    return MemoryAccess(key, unit, written=False, **kind)


def write(key, unit=None, **kind):
    return MemoryAccess(key, unit, written=True, **kind)


ONE_PHASE = {
    "own rows of what was written": [write("a", 256), read("a", 256)],
    "another memory": [write("a"), read("b")],
    "read by both": [read("a"), read("a")],
    "own rows written over": [read("a", 256), write("a", 256)],
    "own columns of what was written": [
        write("a", 256, columns=True),
        read("a", 256, columns=True),
    ],
}
TWO_PHASES = {
    "all of what was written": [write("a", 256), read("a")],
    "rows of another size": [write("a", 256), read("a", 128)],
    "all is written": [write("a"), read("a", 256)],
    "written over what was read by all": [read("a"), write("a", 256)],
    "both write": [write("a", 256), write("a", 128)],
    "columns of written rows": [write("a", 256), read("a", 256, columns=True)],
}


@pytest.mark.parametrize(
    ("accesses", "number"),
    [(c, 1) for c in ONE_PHASE.values()] + [(c, 2) for c in TWO_PHASES.values()],
    ids=[*ONE_PHASE, *TWO_PHASES],
)
def test_which_tasks_share_a_phase(accesses, number):
    threads.set_count(2)
    assert len(phases([piece(a) for a in accesses])) == number


def test_rows_cut_differently_start_a_phase():
    threads.set_count(2)
    first = piece(write("a", 256))
    for other in (piece(read("a", 256), extent=32), piece(read("a", 256), unit=1)):
        assert len(phases([first, other])) == 2


def test_a_task_waits_for_all_of_its_phase():
    threads.set_count(2)
    pieces = [piece(write("a", 4)), piece(write("b", 4)), piece(read("b", 4)), piece(read("a"))]
    assert [found[:2] for found in phases(pieces)] == [(0, 3), (3, 4)]


def test_number_of_chunks():
    threads.set_count(2)
    for work, parts in ((1e-7, 1), (1e-5, 2), (1e-2, 4)):
        assert phases([piece(write("a", 4), work=work)]) == [(0, 1, parts)]
    assert phases([piece(write("a"), extent=1, unit=1)]) == [(0, 1, 1)]
    assert phases([piece(write("a", 4), extent=9, work=1e-2)]) == [(0, 1, 2)]  # units of 8
    threads.set_count(1)
    assert phases([piece(write("a", 4), work=1e-2)]) == [(0, 1, 1)]
    assert [piece(extent=e).cut(2) for e in (64, 65, 8, 9)] == [32, 40, 8, 8]


def test_products_wait_for_their_operands():
    """Chunks run in reverse order here."""
    with interpreted.loops():
        rng = np.random.default_rng(0)
        x, y = (tf.constant(rng.standard_normal((32, 32), "f")) for _ in range(2))
        variables = tf.Variable(y), tf.Variable(y)

        def body(v, x, y):
            a, b = tf.tanh(x) * 2.0, tf.tanh(y) + y
            read = a @ b + a @ v
            v.assign(tf.tanh(v) * 0.5 + v)  # in place
            return tf.tanh(a @ b) + read, tf.matmul(a, b, transpose_a=True) - a @ v

        compiled = tf.function(lambda x, y: body(variables[0], x, y))
        with plan_calls() as calls:
            for _ in range(6):
                found, expected = compiled(x, y), body(variables[1], x, y)
                for a, b in zip((*found, variables[0]), (*expected, variables[1]), strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        assert "region" in calls


SHAPES = [
    # rows, depth, columns: multiples of blocks, and with remainders
    (256, 64, 64), (64, 256, 96), (131, 301, 62), (17, 600, 120), (70, 290, 2050),
]  # fmt: skip


@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
@pytest.mark.parametrize("parts", [1, 3])
def test_products_as_tasks(turned, parts):
    pytest.importorskip("numba")
    tier.set_tier("numba")
    team = tier.library("team")
    threads.set_count(3)
    rng = np.random.default_rng(0)
    for m, depth, n in SHAPES:
        a, b = rng.standard_normal((m, depth), "f"), rng.standard_normal((depth, n), "f")
        c, exact = np.full((m, n), np.nan, "f"), a.astype("d") @ b
        a, b = [np.ascontiguousarray(x.T) if t else x for x, t in zip((a, b), turned)]
        product = products.prepared(m, n, depth, *map(bool, turned))
        numbers = np.array([*(x.ctypes.data for x in (c, a, b)), *product.numbers], np.int64)
        share = -(-product.extent // (parts * product.unit)) * product.unit
        task = [product.address(), numbers.ctypes.data, product.extent, share]
        team.do(np.array(task), np.array([0, 1, parts]), parts)
        np.testing.assert_allclose(c, exact, rtol=1e-4, atol=1e-4)


def network(count, kind):
    """Return losses and weights of second-order steps of a network, with `count` threads."""
    tier.set_tier(kind)
    threads.set_count(count)
    keras.utils.set_random_seed(0)
    model = keras.Sequential([
        keras.Input((1,)), *(keras.layers.Dense(64, "tanh") for _ in range(3)),
        keras.layers.Dense(1),
    ])  # fmt: skip
    optimizer = keras.optimizers.Adam(1e-3)
    points = np.linspace(-1, 1, 250, dtype="f").reshape(250, 1)  # not a multiple of blocks

    @tf.function
    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = model(x, training=True)
            slope = inner.gradient(y, x)
            loss = tf.reduce_mean(tf.square(slope + y))
        optimizer.apply(outer.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    with plan_calls() as calls:
        losses = [step(tf.constant(points)).numpy() for _ in range(6)]
    return calls, [*losses, *(v.numpy() for v in model.trainable_variables)]


def test_a_step_with_any_number_of_threads():
    pytest.importorskip("numba")
    _, expected = network(1, "numpy")
    found = []
    for count in (1, 2, 3):
        calls, values = network(count, "numba")
        assert "region" in calls
        found.append([v.tobytes() for v in values])
        for a, b in zip(values, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    assert found[0] == found[1] == found[2]


def test_sums_over_rows_join_a_product_by_columns():
    """The thread that computes the gradient of a wide layer's inputs also masks and sums it."""
    pytest.importorskip("numba")
    tier.set_tier("numba")
    rng = np.random.default_rng(0)
    w, g, x = (rng.standard_normal(s, "f") for s in ((2050, 290), (70, 290), (70, 2050)))

    @tf.function
    def f(w, g, x):
        gated = tf.where(x > 0, tf.matmul(g, w, transpose_b=True), tf.zeros_like(x))
        return tf.reduce_sum(gated, 0) * 2.0, gated * 0.5

    exact = np.where(x > 0, g.astype("d") @ w.T, 0)
    bits = set()
    for count in (1, 2, 3):
        threads.set_count(count)
        with plan_calls() as calls:
            for _ in range(4):
                calls.clear()
                total, half = f(*map(tf.constant, (w, g, x)))
        if count == 1:  # when the plan was made
            assert len(calls["region"]) == 1
            assert calls.keys() & {"dot", "loop"} == set()
        np.testing.assert_allclose(total, exact.sum(0) * 2, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(half, exact / 2, rtol=1e-4, atol=1e-3)
        bits.add((total.numpy().tobytes(), half.numpy().tobytes()))
    assert len(bits) == 1


def test_other_arrays_of_variables_are_found():
    pytest.importorskip("numba")
    tier.set_tier("numba")
    v, w = (tf.Variable(np.ones((64, 128), "f")) for _ in range(2))

    @tf.function
    def f(x):
        a = tf.tanh(x @ v) * 2.0
        return tf.tanh(a @ tf.transpose(w)) + 1.0

    x = tf.constant(np.ones((256, 64), "f"))
    with plan_calls() as calls:
        expected = [f(x).numpy() for _ in range(3)]
    assert "region" in calls
    for array in (np.ones((64, 128), "f"), np.zeros((64, 128), "f")):
        v.assign(array)  # other arrays of the same size
        assert np.array_equal(f(x).numpy(), expected[0]) == bool(array.any())


W, B, C = (
    tf.constant(np.random.default_rng(n).standard_normal(shape, "f"))
    for n, shape in enumerate([(128, 128), (128,), (2048, 128)])
)
CUBE = (32, 64, 128)


def twice_read(x):
    y = x @ W
    return tf.nn.softmax(y + B), tf.nn.softmax(y * y) + tf.nn.softmax(y @ W)


def turned(x):
    y = tf.matmul(x, x, transpose_a=True)
    return tf.nn.softmax(y + tf.transpose(y))


def seen_in_part(x):
    y = x @ W
    return tf.nn.softmax(y + B), tf.reduce_sum(y[:3])


def less_its_row(x):
    y = x @ W
    return tf.nn.softmax(tf.nn.relu(y - y[0]))


FOLLOWED = {  # (function, size of the arena in products)
    "bias": (lambda x: tf.nn.softmax(tf.nn.relu(x @ W + B)), 1),
    "another shape": (lambda x: tf.nn.softmax(tf.reshape(x @ W, CUBE) + B), 1),
    "shapes in turn": (
        lambda x: tf.nn.softmax(tf.reshape(tf.reshape(x @ W, CUBE) + B, (2048, 128)) - C),
        1,
    ),
    "more than one": (lambda x: tf.nn.softmax(x @ W + B) + tf.nn.softmax(C @ W - B), 1),
    "returned": (lambda x: x @ W + B, 1),
    "read again": (twice_read, 2),
    "turned": (turned, 1 / 16),
    "seen in part": (seen_in_part, 2),
    "less its row": (less_its_row, 2),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_loops_over_a_large_product_join_it(name):
    pytest.importorskip("numba")
    tier.set_tier("numba")
    function, products = FOLLOWED[name]
    body = lambda x: [2.0 * y - 1.0 for y in tf.nest.flatten(function(x))]
    compiled = tf.function(body)
    rng = np.random.default_rng(5)
    with plan_calls() as calls:
        for _ in range(5):
            x = tf.constant(rng.standard_normal((2048, 128), "f"))
            given = x.numpy().copy()
            for found, expected in zip(compiled(x), body(x), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-4)
            np.testing.assert_array_equal(x, given)
    ((entry,),) = compiled._plan_cache.plans.values()
    assert "region" in calls
    assert products <= entry.plan.nbytes[0] / C.numpy().nbytes < products + 0.01


def test_a_loop_behind_a_product_is_part_of_its_call():
    pytest.importorskip("numba")
    tier.set_tier("numba")
    compiled = tf.function(lambda x: 2.0 * FOLLOWED["another shape"][0](x) - 1.0)
    with plan_calls() as calls:
        for _ in range(4):
            calls.clear()
            compiled(C)
    assert len(calls["region"]) == 2  # before and after softmax
    assert calls.keys() & {"dot", "loop"} == set()


def test_gelu_joins_its_product_in_both_passes():
    pytest.importorskip("numba")
    tier.set_tier("numba")

    @tf.function
    def gradient(x, w):
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_sum(tf.nn.gelu(tf.nn.gelu(x @ w) @ W))
        return tape.gradient(loss, w)

    with plan_calls() as calls:
        for _ in range(3):
            gradient(C, W)
    together = [line.strip() for line in gradient.source.splitlines() if "#     loop" in line]
    assert sum("gelu" in line for line in together) == 3  # no other node reads the sum
    assert sum("gelu_slope" in line for line in together) == 2  # they share subexpressions
    assert "region" in calls
    assert calls.keys() & {"gelu", "gelu_slope", "gelu_with_slope", "loop"} == set()


def test_a_plan_adapts_to_the_number_of_threads(change):
    pytest.importorskip("numba")
    tier.set_tier("numba")
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.standard_normal((512, 512), "f")) for _ in range(2))
    f = tf.function(lambda x, w: tf.nn.relu(tf.matmul(x, w)) + 1.0)
    threads.set_count(2)
    expected = [f(x, w).numpy() for _ in range(5)][-1]
    asked, team = [], tier.library("team")
    do = team.ThreadTeam.do
    change(team.ThreadTeam, do=lambda *given: asked.append(given[1]) or do(*given))
    for count, parts in ((2, [4]), (1, []), (3, [6])):
        threads.set_count(count)
        asked.clear()
        np.testing.assert_array_equal(f(x, w), expected)
        assert asked == parts


def unaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    found = raw[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    assert not found.flags.aligned
    return found


@pytest.mark.parametrize("where", ["in a loop", "in a stretch"])
def test_arguments_in_any_memory_order(where):
    """A function traced with contiguous arrays also takes others."""
    pytest.importorskip("numba")
    tier.set_tier("numba")
    rng = np.random.default_rng(4)
    w = tf.constant(rng.normal(size=(300, 300)) / 17, tf.float32)
    before = (lambda x: x @ w) if where == "in a stretch" else (lambda x: x)
    function = tf.function(lambda x: tf.tanh(before(x)) * 2.0 + x)
    usual = [rng.normal(size=(300, 300)).astype(np.float32) for _ in range(4)]
    for x in (*usual, unaligned(usual[0]), np.asfortranarray(usual[1]), usual[2][::-1], usual[3]):
        expected = np.tanh(x @ w.numpy() if where == "in a stretch" else x) * 2 + x
        np.testing.assert_allclose(function(x), expected, rtol=1e-4, atol=1e-5)
    assert "1 plan;" in function.explain()
