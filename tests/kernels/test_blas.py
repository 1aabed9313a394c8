"""Control of NumPy's OpenBLAS."""

import threading

import numpy as np
import pytest

from framework.kernels import blas

needs_openblas = pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")


def test_openblas_is_found_if_numpy_is_built_with_it():
    configured = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    assert ("openblas" in configured.lower()) == (blas.core() is not None)


@needs_openblas
def test_the_number_of_threads_is_set_and_restored():
    before = blas.threads()
    for number in (1, 2, 1):
        with blas.limited(number):
            assert blas.threads() == number
        assert blas.threads() == before
    with pytest.raises(KeyError), blas.limited(before + 1):
        raise KeyError
    assert blas.threads() == before


@needs_openblas
def test_a_limit_holds_until_the_last_one_leaves():
    before, seen = blas.threads(), []
    inside, first_left = threading.Event(), threading.Event()

    def second():
        with blas.limited(1):
            inside.set()
            first_left.wait(10)
            seen.append(blas.threads())

    blas.set_threads(2)
    other = threading.Thread(target=second)
    with blas.limited(1):
        other.start()
        inside.wait(10)
    first_left.set()
    other.join()
    assert [*seen, blas.threads()] == [1, 2]
    blas.set_threads(before)


@needs_openblas
def test_its_version_names_its_core():
    assert "OpenBLAS" in blas.version()
    assert blas.core() in blas.version()


def test_other_blas_libraries_are_not_changed(change):
    change(blas, _function=lambda name, result: None)
    assert (blas.core(), blas.version(), blas.threads()) == (None, None, 0)
    with blas.limited(1):
        blas.set_threads(1)
