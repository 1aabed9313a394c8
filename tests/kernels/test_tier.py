"""The tier: from the environment or from `set_tier`."""

import importlib.util
import logging
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from framework import keras
from framework.core.errors import InvalidArgumentError
from framework.kernels import tier


@pytest.fixture(autouse=True)
def put_back(monkeypatch):
    monkeypatch.delenv("FRAMEWORK_COMPILE", raising=False)
    before = tier._missing, tier._unfit
    yield
    monkeypatch.undo()
    tier._missing, tier._unfit = before
    tier._tell.cache_clear()
    tier.set_tier()


@pytest.fixture
def without_numba(change):
    change(tier, _missing="No module named 'numba'")


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
def test_no_library_without_the_numba_tier(name):
    tier.set_tier(name)
    assert tier.library("micro") is None


@pytest.mark.parametrize("name", ["numba", "auto"])
def test_the_library_with_numba(name):
    pytest.importorskip("numba")
    tier.set_tier(name)
    assert tier.library("micro").__name__ == "framework.kernels.fast.micro"
    assert tier.library("micro") is tier.library("micro")


def test_auto_without_numba_is_numpy(without_numba):
    tier.set_tier("auto")
    assert tier.library("micro") is None


def test_numba_without_numba_names_the_remedy(without_numba):
    with pytest.raises(ImportError, match=r"pip install 'framework\[fast\]'"):
        tier.set_tier("numba")


def test_an_unknown_tier_is_an_error_that_names_its_source(monkeypatch):
    with pytest.raises(InvalidArgumentError, match=r"tier must be one of .*, got 'fast'"):
        tier.set_tier("fast")
    monkeypatch.setenv("FRAMEWORK_COMPILE", "on")
    with pytest.raises(InvalidArgumentError, match="FRAMEWORK_COMPILE must be one of"):
        tier.set_tier()


def test_numba_is_imported_by_the_first_library_call():
    pytest.importorskip("numba")
    program = (
        "import sys; from framework.kernels import tier; tier.set_tier('auto'); tier.tier();"
        "assert 'numba' not in sys.modules; tier.library('micro'); assert 'numba' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_numba_imports_nothing(without_numba):
    code = (
        "import sys; from framework.kernels import tier; found = [tier.without_numba()];"
        "tier.set_tier('numpy'); print(*found, tier.without_numba(), 'numba' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    there = importlib.util.find_spec("numba") is not None
    assert run.stdout.split() == [str(not there), "True", "False"]
    tier.set_tier("auto")
    assert tier.without_numba()  # it cannot be imported


OLD, NEW = "0.62.1", "0.999.0"


def release(change, monkeypatch, version):
    """Simulate an installed Numba of some version that is not imported yet."""
    monkeypatch.setitem(sys.modules, "numba", types.SimpleNamespace(__version__=version))
    change(tier, _version=lambda: version)
    tier._missing, tier._unfit = None, False
    tier.set_tier("auto")


@pytest.fixture
def trial(monkeypatch):
    """Replace trials of a new release: return the stand-in module, and a list of its runs."""
    ran = []
    place = types.SimpleNamespace(run=lambda: ran.append(1))
    monkeypatch.setitem(sys.modules, "framework.kernels.fast.trial", place)
    return place, ran


def fit_a_step():
    model = keras.Sequential([keras.layers.Dense(64, activation="gelu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((256, 256), np.float32)
    return model.fit(x, x[:, :1], epochs=3, verbose=0).history["loss"]


def test_an_old_release_causes_one_warning_and_no_error(change, monkeypatch, caplog):
    release(change, monkeypatch, OLD)
    assert tier.library("micro") is None
    assert np.isfinite(fit_a_step()).all()
    assert [tier.library(name) for name in ("matmul", "rows")] == [None, None]
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        "Numba 0.62.1 cannot be used, 0.63 to 0.68 can: it is too old. "
        "NumPy is used instead; remedy: pip install 'numba>=0.63,<0.69'"
    )


@pytest.mark.parametrize("error", [AttributeError("no '_reload_init'"), ImportError("moved")])
def test_a_later_release_that_fails_its_trial_causes_no_error(
    change, monkeypatch, caplog, trial, error
):
    def run():
        raise error

    trial[0].run = run
    release(change, monkeypatch, NEW)
    assert np.isfinite(fit_a_step()).all()
    assert tier.library("micro") is None
    [record] = caplog.records
    for part in (NEW, str(error), "numba>=0.63,<0.69"):
        assert part in record.getMessage()


@pytest.mark.parametrize(
    ("version", "trials"),
    [("0.63.0", 0), ("0.68.1", 0), ("0.69.0rc1", 1), ("1.0", 1), ("unknown", 1)],
)
def test_untested_releases_are_tried(change, monkeypatch, caplog, trial, version, trials):
    release(change, monkeypatch, version)
    assert tier.numba_missing() == ""
    assert len(trial[1]) == trials
    assert not caplog.records


def test_a_kernel_that_cannot_be_imported_causes_one_warning(change, monkeypatch, caplog):
    release(change, monkeypatch, "0.68.0")
    monkeypatch.setitem(sys.modules, "framework.kernels.fast.micro", None)  # raises ImportError
    assert tier.library("micro") is None
    assert tier.library("rows") is None
    assert ["Numba 0.68.0 cannot be used" in text for text in caplog.messages] == [True]


def test_an_unusable_release_with_tier_numba_is_an_error(change, monkeypatch):
    release(change, monkeypatch, OLD)
    with pytest.raises(ImportError, match=r"Numba 0\.62\.1 cannot be used, 0\.63 to 0\.68 can"):
        tier.set_tier("numba")


def test_missing_numba_causes_no_warning(change, caplog):
    tier._missing, tier._unfit = None, False
    tier.set_tier("auto")
    missing = ModuleNotFoundError("No module named 'numba'", name="numba")
    change(tier, import_module=lambda name: (_ for _ in ()).throw(missing))
    assert tier.library("micro") is None
    assert tier.numba_missing() == "No module named 'numba'"
    assert not caplog.records


def test_the_trial_passes_and_notices_wrong_values(change):
    pytest.importorskip("numba")
    from framework.kernels.fast import trial

    trial.run()
    change(trial.matmul, dot=lambda a, b: a @ b + 1)
    with pytest.raises(RuntimeError, match="matrix product has wrong values"):
        trial.run()


def test_the_extra_names_the_oldest_release():
    text = (Path(tier.__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    needed = re.search(r"fast = \[\"numba>=(\d+)\.(\d+)\"\]", text)
    assert tuple(map(int, needed.groups())) == tier.OLDEST


@pytest.mark.parametrize("name", ["conv", "recurrent", "micro"])
def test_numba_is_advised_once_where_it_gains(name, without_numba, caplog):
    tier.set_tier("auto")
    tier._advise.cache_clear()
    for _ in range(3):
        assert tier.library(name) is None
        tier.set_tier("auto")  # forgets the modules
    told = [r for r in caplog.records if "Numba is not installed" in r.message]
    assert len(told) == (name != "micro")
    assert all("pip install 'framework[fast]'" in r.message for r in told)


def test_numba_is_not_advised_where_numpy_was_chosen(without_numba, caplog):
    tier._advise.cache_clear()
    tier.set_tier("numpy")
    assert tier.library("conv") is None
    assert not caplog.records
