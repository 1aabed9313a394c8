"""The report of `show_config`, and its warnings."""

import os

import numpy as np
import pytest

import framework as tf
from framework.core.errors import InvalidArgumentError
from framework.kernels import blas, report, threads, tier


@pytest.fixture
def plain(monkeypatch):
    """Start no second process, for any environment."""
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)


def test_dicts_hold_what_is_printed(plain, capsys):
    found = tf.show_config(mode="dicts")
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["framework"] == tf.__version__
    assert found["threads"]["used"] == threads.count()
    assert found["blas"]["gigaflops"] > 0
    assert found["warnings"] == []
    assert tf.show_config() is None
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:5]] == [
        "framework",
        "cpu",
        "threads",
        "blas",
        "numba",
    ]
    assert np.__version__ in lines[0]
    assert found["blas"]["name"] in lines[3]


def test_numba_is_timed_if_it_is_used(plain):
    pytest.importorskip("numba")
    tier.set_tier("auto")
    found = tf.show_config(mode="dicts")["numba"]
    assert found["gigaflops"] > 1
    assert "float32" in found["vectors"]
    try:
        tier.set_tier("numpy")
        assert "gigaflops" not in tf.show_config(mode="dicts")["numba"]
    finally:
        tier.set_tier()


def test_missing_packages_name_their_extra(plain, change, capsys):
    change(report, _version=lambda library: None)
    change(tier, _missing="No module named 'numba'")
    change(tier, library=lambda name: None)
    tf.show_config()
    printed = capsys.readouterr().out
    assert "numba    not installed\n" in printed
    for extra in ("fast", "bf16", "plot"):
        assert f"pip install 'framework[{extra}]'" in printed


def test_an_incompatible_numba_is_reported(plain, change, capsys):
    reason = "Numba 0.62.1 cannot be used, 0.63 to 0.68 can: it is too old"
    change(report, _version=lambda library: "0.62.1")
    change(tier, _missing=reason)
    change(tier, library=lambda name: None)
    tf.show_config()
    printed = capsys.readouterr().out
    assert f"numba    0.62.1, not used: {reason}\n" in printed
    assert f"WARNING  Numba is installed, but cannot be used: {reason}\n" in printed


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
def test_a_blas_core_of_another_cpu_is_reported(change, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    change(report, _by_itself=lambda: ("SkylakeX", 200.0))
    change(blas, core=lambda: "Haswell")
    [warning] = tf.show_config(mode="dicts")["warnings"]
    assert warning.startswith("OPENBLAS_CORETYPE=Haswell makes OpenBLAS compute for Haswell at ")
    assert "OpenBLAS chooses SkylakeX, at 200 GF/s" in warning
    assert warning.endswith("Unset OPENBLAS_CORETYPE.")
    change(blas, core=lambda: "SkylakeX")
    assert tf.show_config(mode="dicts")["warnings"] == []


@pytest.mark.skipif(blas.core() is None, reason="NumPy has another BLAS")
def test_the_core_that_openblas_chooses(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    core, speed = report._by_itself()
    assert core != "Nehalem" or os.uname().machine != "x86_64"
    assert speed > 0


def test_an_unknown_mode():
    with pytest.raises(InvalidArgumentError, match="mode must be 'stdout' or 'dicts', got 'json'"):
        tf.show_config(mode="json")
