"""Entry points check their arguments before they access them."""

import sys
import threading

import numpy as np
import pytest

pytest.importorskip("numba")

from framework.compiler.loop_kernels import LoopProgram, build, full, number
from framework.kernels.fast import entry_point

pytestmark = pytest.mark.usefixtures("numba_tier")


class Kind(np.ndarray):
    """A subclass."""


def squares():
    """y = k x²"""
    program = LoopProgram(
        [full("x", "float32", 2), number("k", "float32")],
        [("square", "square", ("x",)), ("y", "multiply", ("square", "k"))], {"y": None}, ndim=2,
    )  # fmt: skip
    return build(program).compiled()


X, K = np.arange(6, dtype=np.float32).reshape(2, 3), np.asarray(2, np.float32)


def unaligned():
    found = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
    assert not found.flags.aligned
    return found


def read_only():
    found = np.empty_like(X)
    found.flags.writeable = False
    return found


WRONG = {
    "too few": lambda: (X, K),
    "too many": lambda: (X, K, X.copy(), X),
    "no array": lambda: (X.tolist(), K, X.copy()),
    "a number": lambda: (X, np.float32(2), X.copy()),
    "None": lambda: (X, K, None),
    "a class": lambda: (np.ndarray, K, X.copy()),
    "another dtype": lambda: (X.astype(np.int32), K, X.copy()),
    "a wider dtype": lambda: (X.astype(np.float64), K, X.copy()),
    "the other byte order": lambda: (X.astype(">f4"), K, X.copy()),
    "fewer dimensions": lambda: (X.reshape(-1), K, X.copy()),
    "columns": lambda: (np.asfortranarray(X), K, X.copy()),
    "every other": lambda: (np.zeros((2, 6), np.float32)[:, ::2], K, X.copy()),
    "unaligned": lambda: (unaligned(), K, X.copy()),
    "read-only": lambda: (X, K, read_only()),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments_are_refused(what):
    given = WRONG[what]()
    before = [np.array(g, copy=True) for g in given[2:] if type(g) is np.ndarray]
    with pytest.raises(TypeError, match="a loop expects contiguous arrays"):
        squares()(*given)
    for found, kept in zip([g for g in given[2:] if type(g) is np.ndarray], before, strict=True):
        np.testing.assert_array_equal(found, kept)


def test_sizes_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="sizes of the arrays"):
        squares()(X, K, np.empty((2, 2), np.float32))


@pytest.mark.parametrize("same", [
    X.copy, lambda: X.view(Kind), lambda: X.astype(X.dtype.newbyteorder("=")), read_only,
    lambda: np.empty((0, 3), np.float32), lambda: np.ones((100, 200), np.float32),
])  # fmt: skip
def test_arrays_of_the_same_layout_are_accepted(same):
    x = same()
    y = np.full(x.shape, 7, np.float32)
    assert squares()(x, K, y) is None
    np.testing.assert_array_equal(y, 2 * np.asarray(x) ** 2)


def test_a_call_keeps_no_references():
    given = X.copy(), K.copy(), X.copy()
    call = squares()
    counts = [sys.getrefcount(g) for g in (*given, None, np.ndarray)]
    for _ in range(1000):
        call(*given)
        with pytest.raises(TypeError):
            call(None, *given[1:])
    after = [sys.getrefcount(g) for g in (*given, None, np.ndarray)]
    assert np.abs(np.subtract(after, counts)).max() < 100


def test_a_long_loop_releases_the_gil():
    order, go = [], threading.Lock()
    x = np.full((2000, 2000), 0.5, np.float32)
    y, call = np.empty_like(x), squares()
    go.acquire()

    def other():
        with go:
            order.append("other")

    thread = threading.Thread(target=other)
    thread.start()
    before = sys.getswitchinterval()
    sys.setswitchinterval(30)  # other threads run only if the loop releases the GIL
    try:
        go.release()
        for _ in range(20):
            call(x, K, y)
        order.append("this")
    finally:
        sys.setswitchinterval(before)
    thread.join()
    assert order == ["other", "this"]


def test_an_unknown_array_layout_is_refused(change):
    assert entry_point._is_known()
    change(entry_point, _NDIM=entry_point._FLAGS)
    with pytest.raises(entry_point.FrameworkError, match="memory layout"):
        entry_point.EntryPoint(lambda kind, things, count: 0, fastmath=False, cache=False)


def test_two_threads_may_create_a_function_at_once():
    """`cached_property` has no lock since Python 3.12; this test simulates the race."""
    program = LoopProgram([full("x", "float32", 1)], [("y", "square", ("x",))], {"y": None}, ndim=1)
    native = build(program).native()
    make = type(native).__dict__["call"].func
    first, second = make(native), make(native)
    assert first.__module__[-1] is not second.__module__[-1]  # each keeps its own machine code
    y = np.empty(3, np.float32)
    first(np.float32([1, 2, 3]), y)
    np.testing.assert_array_equal(y, [1, 4, 9])
