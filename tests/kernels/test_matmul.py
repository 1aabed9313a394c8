"""Matrix products against float64; the same bits for any number of threads."""

import math
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from framework.kernels import blas, matmul, products, threads, tier

SHAPES = [
    # rows, depth, columns: with tails of rows, panels, blocks of the depth, several parts
    (64, 784, 128), (784, 64, 128), (129, 257, 143), (16, 4000, 40), (1030, 300, 60),
    (300, 300, 300), (17, 1030, 1056), (200, 300, 1050), (1, 2000, 1000), (3000, 2000, 1),
]  # fmt: skip
LAYOUTS = [(False, False), (False, True), (True, False), (True, True)]


@pytest.fixture(autouse=True)
def put_back():
    before = blas.threads()
    yield
    threads.set_count()
    tier.set_tier()
    blas.set_threads(before)


def pair(m, k, n, layout=(False, False)):
    rng = np.random.default_rng(m + k + n)
    a, b = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    return [np.asfortranarray(x) if turned else x for x, turned in zip((a, b), layout)]


def assert_product(found, a, b):
    exact = a.astype(np.float64) @ b
    size = np.abs(a).astype(np.float64) @ np.abs(b)  # rounding errors are relative to this
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    assert np.max(np.abs(found - exact) / size) < 1e-6


@pytest.mark.parametrize("name", ["numpy", "auto"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_and_layout(name, shape, change):
    tier.set_tier(name)
    change(matmul, _before_loading=0)
    for layout in LAYOUTS:
        a, b = pair(*shape, layout)
        assert_product(matmul.dot(a, b), a, b)


@pytest.mark.parametrize("shape", [(20, 30, 40), (70, 80, 90), (120, 130, 140)], ids=str)
def test_out_receives_the_product(shape):
    a, b = pair(*shape)
    out = np.full((shape[0], shape[2]), np.nan, np.float32)
    assert matmul.dot(a, b, out) is out
    assert_product(out, a, b)


def test_sizes_that_do_not_match():
    with pytest.raises(ValueError, match="not aligned"):
        matmul.dot(np.ones((200, 310), np.float32), np.ones((300, 200), np.float32))


def test_unaligned_matrices(change):
    change(matmul, _before_loading=0)
    a, b = pair(150, 160, 170)
    whole = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(a.shape)
    whole[...] = a
    assert not whole.flags.aligned
    assert_product(matmul.dot(whole, b), a, b)


WHOLE = np.random.default_rng(3).standard_normal((1500, 1500), np.float32)
VIEWS = {  # of 300 rows and 600 columns
    "columns": WHOLE[:300, 700:1300], "rows": WHOLE[:600:2, :600], "both": WHOLE[:900:3, :1200:2],
    "backwards": WHOLE[300:0:-1, 600:0:-1], "of rows": WHOLE[:600, :300].T,
    "one row": np.broadcast_to(WHOLE[0, :600], (300, 600)), "turned": WHOLE[:1200:2, :300].T,
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_bits_do_not_depend_on_the_memory_order(name, change):
    pytest.importorskip("numba")
    tier.set_tier("numba")
    change(matmul, _before_loading=0)
    view, (_, other) = VIEWS[name], pair(300, 600, 400)
    assert tier.library("matmul").prepared(view, other).suits
    np.testing.assert_array_equal(matmul.dot(view, other), matmul.dot(view.copy(), other))
    np.testing.assert_array_equal(matmul.dot(other.T, view.T), matmul.dot(other.T, view.T.copy()))
    assert_product(matmul.dot(view, other), view, other)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.complex64])
def test_other_dtypes_use_numpy(dtype):
    a, b = (np.arange(130 * 130).reshape(130, 130).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(matmul.dot(a, b), np.dot(a, b))


def test_numba_is_imported_after_many_products():
    pytest.importorskip("numba")
    program = (
        "import sys, numpy as np; from framework.kernels import matmul, tier;"
        "x = np.ones((200, 200), np.float32); matmul._before_loading = 20_000_000;"
        "first, second = np.dot(x, x), matmul.dot(x, x); assert 'numba' not in sys.modules;"
        "[matmul.dot(x, x) for _ in range(3)]; assert 'numba' in sys.modules"
    )
    environment = {**os.environ, "FRAMEWORK_COMPILE": "auto"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)


@pytest.fixture
def fast():
    pytest.importorskip("numba")
    return tier.library("matmul")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_bits_for_any_number_of_threads(fast, layout):
    for shape in SHAPES[2:9:2]:
        a, b = pair(*shape, layout)
        results = []
        for number in (1, 2, 3):
            threads.set_count(number)
            results.append(fast.dot(a, b).tobytes())
        assert len(set(results)) == 1


@pytest.mark.parametrize("shape", [(64, 700, 1000), (70, 90, 8003), (2010, 17, 8100)], ids=str)
def test_a_product_with_a_large_transposed_matrix(fast, shape):
    a, b = pair(*shape, (False, True))
    m, k, n = shape
    assert products.swaps(m, n, k, False, True)
    for number in (1, 3):
        threads.set_count(number)
        assert_product(fast.dot(a, b), a, b)


def test_nan_and_inf_propagate(fast):
    a, b = (np.ones((130, 130), np.float32) for _ in range(2))
    a[3, 5], b[7, 11], a[9, 9] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(fast.dot(a, b), np.dot(a, b))


def test_chunks_are_multiples_of_a_unit_and_cover_everything(fast):
    threads.set_count(4)
    for size in (1, 31, 32, 33, 100, 128, 4096):
        for number in (10_000, 3_000_000, 100_000_000):
            parts, share = fast.shares(size, 32, number)
            assert share % 32 == 0
            assert (parts - 1) * share < size <= parts * share
            assert parts <= (4 if number < fast._LARGE else 8)


def test_concurrent_callers(fast):
    threads.set_count(2)
    pairs = [pair(150 + i, 160, 170) for i in range(4)]
    wrong = []

    def call(a, b):
        expected = fast.dot(a, b)
        wrong.extend(1 for _ in range(40) if not np.array_equal(fast.dot(a, b), expected))

    callers = [threading.Thread(target=call, args=p) for p in pairs]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []
    for a, b in pairs:
        assert_product(fast.dot(a, b), a, b)


def test_the_team_sleeps_and_wakes(fast):
    threads.set_count(2)
    a, b = pair(200, 200, 200)
    expected = fast.dot(a, b)
    for pause in (0, 0.001, 0.02) * 3:
        threading.Event().wait(pause)
        np.testing.assert_array_equal(fast.dot(a, b), expected)


def test_the_team_runs_python_functions_between_products(fast):
    threads.set_count(2)
    a, b = pair(200, 200, 200)
    expected = fast.dot(a, b)
    for pause in (0, 0, 0.001, 0.02) * 5:
        meeting = threading.Barrier(2)
        threads.run(lambda _, meeting=meeting: meeting.wait(timeout=10), range(2))
        threading.Event().wait(pause)
        np.testing.assert_array_equal(fast.dot(a, b), expected)
    assert team_size() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_a_team_of_its_own(fast):
    threads.set_count(2)
    a, b = pair(200, 200, 200)
    expected = fast.dot(a, b)
    child = os.fork()
    if not child:
        os._exit(0 if np.array_equal(fast.dot(a, b), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(fast.dot(a, b), expected)


def test_the_leader_works_alone_if_no_thread_can_start(fast, monkeypatch):
    threads.set_count(3)  # with a thread team of its own
    a, b = pair(300, 300, 300)

    def refuse(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(2):
            assert_product(fast.dot(a, b), a, b)
    threads.set_count(2)
    assert_product(fast.dot(a, b), a, b)


def team_size():
    return sum(thread.name.startswith("framework-kernels") for thread in threading.enumerate())


def test_another_number_of_threads_creates_another_team(fast):
    threads.set_count(1)
    a, b = pair(300, 300, 300)
    for number in (3, 1, 2):
        end = time.monotonic() + 10
        while team_size() and time.monotonic() < end:
            time.sleep(0.001)
        assert team_size() == 0  # those of before have gone
        threads.set_count(number)
        assert_product(fast.dot(a, b), a, b)
        assert team_size() == number - 1
        threads.set_count(1)


def test_a_program_ends_while_the_team_waits(fast):
    program = (
        "import numpy as np; from framework.kernels import matmul, threads;"
        "threads.set_count(2); x = np.ones((200, 200), np.float32);"
        "matmul._before_loading = 0; matmul.dot(x, x)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
def test_small_products_use_one_blas_thread(monkeypatch):
    threads.set_count(2)
    blas.set_threads(2)
    seen = []
    monkeypatch.setattr(np, "dot", lambda *args: seen.append(blas.threads()))
    for size in (50, 70, 90):
        a, b = pair(size, size, size)
        matmul.dot(a, b)
    assert seen == [2, 1, 1]  # the first is so small that OpenBLAS has no use for a second thread
    assert blas.threads() == 2


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
def test_blas_uses_one_thread_beside_numba(fast, monkeypatch):
    threads.set_count(2)
    blas.set_threads(2)
    seen = []
    monkeypatch.setattr(np, "dot", lambda *args: seen.append(blas.threads()))
    a, b = pair(128, 3136, 8)  # too few columns for panels
    matmul.dot(a, b)
    matmul.dot(a.astype(np.float64), b.astype(np.float64))
    tier.set_tier("numpy")
    matmul.dot(a, b)
    assert seen == [1, 1, 1]
    assert blas.threads() == 2


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
def test_stacks_of_small_products_use_one_blas_thread(monkeypatch):
    threads.set_count(2)
    blas.set_threads(2)
    seen = []
    monkeypatch.setattr(np, "matmul", lambda *args: seen.append(blas.threads()))
    for size in (50, 70, 90, 120, 300):
        matmul.stacked(*(x[None] for x in pair(size, size, size)))
    assert seen == [2, 1, 1, 1, 1]
    assert blas.threads() == 2


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
def test_shared_products_use_one_blas_thread_each():
    threads.set_count(1)
    blas.set_threads(2)
    seen = []
    matmul.alone(lambda: seen.append(blas.threads()))
    assert seen == [1]
    assert blas.threads() == 2


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_below_the_shared_ones_use_one_blas_thread_without_numba(monkeypatch, dtype):
    """OpenBLAS's threads wait up to 400 ms for each other while other processes compute."""
    threads.set_count(2)
    blas.set_threads(2)
    tier.set_tier("numpy")
    seen = []
    monkeypatch.setattr(np, "dot", lambda *args: seen.append(blas.threads()))
    for m, k, n in [(64, 256, 256), (64, 784, 128), (300, 301, 303)]:
        a, b = pair(m, k, n)
        matmul.dot(a.astype(dtype), b.astype(dtype))
    assert seen == [1, 1, 1]
    assert blas.threads() == 2
    tier.set_tier(None)


def test_stacks():
    a, b = pair(6 * 70, 80, 5 * 90)
    a, b = a.reshape(2, 3, 70, 80), b.reshape(5, 80, 90)[:3]
    np.testing.assert_allclose(matmul.stacked(a, b), np.matmul(a, b), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("of_a", "of_b"),
    [
        ((7,), (7,)),
        ((7, 1), (3,)),
        ((), (2, 7)),
        ((1, 7), (7,)),
        ((2, 3), (2, 1)),
        ((1,), (1,)),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_stacks_shared_among_threads(of_a, of_b, count, change):
    a, b = pair(math.prod(of_a) * 60, 50, math.prod(of_b) * 40)
    a, b = a.reshape(*of_a, 60, 50), b.reshape(*of_b, 40, 50).swapaxes(-1, -2)
    threads.set_count(1)
    one_thread, expected = matmul.stacked(a, b), np.matmul(a, b)
    threads.set_count(count)
    change(matmul, SHARED=0)
    handed, run = [], threads.run
    change(threads, run=lambda f, parts: (handed.append(len(parts)), run(f, parts)))
    found = matmul.stacked(a, b)
    assert bool(handed) == (count > 1 and expected.ndim > 2 and max(expected.shape[:-2]) > 1)
    np.testing.assert_array_equal(found, one_thread)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("sizes", [(40, 70, 50), (3, 20, 90), (90, 20, 3), (33, 1, 33)])
def test_numpy_on_two_threads(sizes, turned, change):
    change(threads, _count=2)
    tier.set_tier("numpy")
    for name in "PAYS", "ALONE", "SHARED":
        change(matmul, **{name: 0})
    m, k, n = sizes
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    for dtype in np.float32, np.float64:
        x, y = (
            np.ascontiguousarray(v.T.astype(dtype)).T if t else v.astype(dtype)
            for v, t in zip((a, b), turned, strict=True)
        )
        out = np.empty((m, n), dtype)
        assert matmul.dot(x, y, out) is out
        np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(matmul.dot(x, y), out)
    tier.set_tier(None)
