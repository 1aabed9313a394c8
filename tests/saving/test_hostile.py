import socket
import time
import tracemalloc

import pytest

from framework import keras
from framework.core.errors import LoadError
from tests.saving import hostile, hostile_others

CASES = {name: (make, hostile_others.load_model) for name, make in hostile.CASES.items()}
CASES |= hostile_others.CASES

# Each flaw of Keras since 2024 that has a number.
FLAWS = (
    "CVE-2024-3660", "CVE-2024-55459", "CVE-2025-1550", "CVE-2025-8747", "CVE-2025-9905",
    "CVE-2025-9906", "CVE-2025-12058", "CVE-2025-12060", "CVE-2025-12638", "CVE-2025-49655",
    "CVE-2026-0897", "CVE-2026-1462", "CVE-2026-1669", "CVE-2026-12481", "GHSA-hqp4",
)  # fmt: skip


@pytest.fixture
def guarded(tmp_path, monkeypatch):
    """A folder to run in: no network, no process; nothing but the file may be created."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("loading used the network or started a process")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("os.system", refuse)
    monkeypatch.setattr("subprocess.Popen", refuse)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def everything(folder):
    """Return the paths in a test's folder, and what lies beside the folder.

    A process of another test may still write compiled kernels into that test's folder.
    """
    return sorted(p.as_posix() for p in (*folder.rglob("*"), *folder.parent.iterdir()))


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_is_one_clear_error(name, guarded):
    hostile.good()
    make, load = CASES[name]
    path = make(guarded)
    before = everything(guarded)
    tracemalloc.start()
    start = time.process_time()  # other processes may slow this one down
    try:
        with pytest.raises(LoadError) as caught:
            load(path)
        seconds = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(caught.value)
    assert seconds < 4  # of 2, with memory traced
    assert peak < 300 * 2**20
    assert everything(guarded) == before


def test_there_are_many_cases():
    assert len(CASES) >= 80


@pytest.mark.parametrize("flaw", FLAWS)
def test_each_flaw_of_keras_has_a_case(flaw):
    names = [name.replace("_", "-").lower() for name in CASES]
    assert any(name.startswith(flaw.lower()) for name in names)


@pytest.mark.parametrize("name", [name for name in CASES if "SavedModel by" in name])
def test_a_saved_model_of_tensorflow_says_what_to_use(name, guarded):
    make, load = CASES[name]
    with pytest.raises(LoadError, match=r"model\.save\('NAME.keras'\)"):
        load(make(guarded))


def test_the_unchanged_file_loads(guarded):
    assert keras.models.load_model(hostile.write(guarded)).count_params() == 15
