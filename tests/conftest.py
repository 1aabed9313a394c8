"""What every test run has in common.

No display; the same Hypothesis examples each time; MNIST only where it is found.
Warnings are errors: `filterwarnings` in pyproject.toml.
"""

import contextlib
import gc
import logging
import os
import re
import sys
import threading
from pathlib import Path

import hypothesis
import pytest

from tests.changed import changed

os.environ["MPLBACKEND"] = "Agg"  # before anything imports matplotlib; processes inherit it
# before NumPy; on a busy machine BLAS threads wait for each other, and MNIST takes minutes
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# tests compare bits: kernels must not change from NumPy to Numba between two calls
os.environ.setdefault("FRAMEWORK_COMPILE_WAIT", "1")

hypothesis.settings.register_profile("framework", derandomize=True, deadline=None)
hypothesis.settings.load_profile("framework")


def mnist_is_here():
    folders = [Path.home() / ".framework/datasets", Path.home() / ".keras/datasets"]
    if named := os.environ.get("FRAMEWORK_DATA"):
        folders.insert(0, Path(named))
    return any((folder / "mnist.npz").is_file() for folder in folders)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let the garbage collector pass over what pytest collected.

    It is millions of objects: each `gc.collect()` of a test took a third of a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """`--doctest-modules` is for files of framework/: no file of tests has examples."""
    return [found for found in (yield) if type(found).__name__ != "DoctestModule"]


def pytest_collection_modifyitems(items):
    """Tests marked `mnist` run where the file is found; elsewhere the summary counts them."""
    if not mnist_is_here():
        for item in items:
            if item.get_closest_marker("mnist"):
                item.add_marker(pytest.mark.skip(reason="no mnist.npz; see `pytest --markers`"))


_FAILURE = re.compile(r"(writing|compiling|running) its (plan|loops) failed")


class _Failures(logging.Handler):
    """Keeps what the log says of the compiler's own failures."""

    def __init__(self):
        super().__init__()
        self.found = []

    def emit(self, record):
        if _FAILURE.search(message := record.getMessage()):
            self.found.append(message)


@pytest.fixture(autouse=True)
def no_failures_of_the_compiler():
    """Runs go on where the compiler fails, and the log says so: in a test it is an error.

    A module that has the compiler fail overrides this fixture; a test clears what it gives.
    """
    handler, logger = _Failures(), logging.getLogger("framework")
    logger.addHandler(handler)
    yield handler.found
    logger.removeHandler(handler)
    assert not handler.found


@pytest.fixture(scope="module")
def numba_tier():
    """Loops and kernels of Numba in all of a module."""
    pytest.importorskip("numba")
    from framework.kernels import tier  # late: it imports NumPy

    before = tier.tier()
    tier.set_tier("numba")
    yield
    tier.set_tier(before)


@pytest.fixture
def change():
    """`change(module, NAME=value)` until the test ends: see `tests/changed.py`."""
    with contextlib.ExitStack() as stack:
        yield lambda owner, **values: stack.enter_context(changed(owner, **values))


@pytest.fixture
def in_four_threads():
    """`in_four_threads(work)` calls `work` in four threads, which take turns as often as can be."""

    def run(work):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)

    return run
