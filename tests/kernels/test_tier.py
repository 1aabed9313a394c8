"""The tier that kernels run in: the environment's, or the one set."""

import importlib.util
import subprocess
import sys

import pytest

from framework.core.errors import InvalidArgumentError
from framework.kernels import tier


@pytest.fixture(autouse=True)
def put_back(monkeypatch):
    monkeypatch.delenv("FRAMEWORK_COMPILE", raising=False)
    yield
    monkeypatch.undo()
    tier.set_tier()


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(tier, "_missing", "No module named 'numba'")


@pytest.mark.parametrize("name", tier.TIERS)
def test_the_environment_names_the_tier(monkeypatch, name):
    if name == "numba":
        pytest.importorskip("numba")
    monkeypatch.setenv("FRAMEWORK_COMPILE", name)
    tier.set_tier()
    assert tier.tier() == name


def test_the_default_is_auto():
    tier.set_tier()
    assert tier.tier() == "auto"


@pytest.mark.parametrize("name", ["off", "numpy"])
def test_no_library_below_numba(name):
    tier.set_tier(name)
    assert tier.library("micro") is None


@pytest.mark.parametrize("name", ["numba", "auto"])
def test_the_library_where_numba_is(name):
    pytest.importorskip("numba")
    tier.set_tier(name)
    assert tier.library("micro").__name__ == "framework.kernels.fast.micro"
    assert tier.library("micro") is tier.library("micro")


def test_auto_without_numba_is_plain_numpy(without_numba):
    tier.set_tier("auto")
    assert tier.library("micro") is None


def test_numba_without_numba_names_the_remedy(without_numba):
    with pytest.raises(ImportError, match=r"pip install 'framework\[fast\]'"):
        tier.set_tier("numba")


def test_an_unknown_tier_says_where_it_stood(monkeypatch):
    with pytest.raises(InvalidArgumentError, match=r"tier must be one of .*, got 'fast'"):
        tier.set_tier("fast")
    monkeypatch.setenv("FRAMEWORK_COMPILE", "on")
    with pytest.raises(InvalidArgumentError, match="FRAMEWORK_COMPILE must be one of"):
        tier.set_tier()


def test_numba_is_imported_when_a_kernel_is_asked_for():
    pytest.importorskip("numba")
    program = (
        "import sys; from framework.kernels import tier; tier.set_tier('auto'); tier.tier();"
        "assert 'numba' not in sys.modules; tier.library('micro'); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_whether_numba_is_there_is_asked_without_loading_it(without_numba):
    code = (
        "import sys; from framework.kernels import tier; found = [tier.without_numba()];"
        "tier.set_tier('numpy'); print(*found, tier.without_numba(), 'numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    there = importlib.util.find_spec("numba") is not None
    assert run.stdout.split() == [str(not there), "True", "False"]
    tier.set_tier("auto")
    assert tier.without_numba()  # it cannot be imported
