import socket
import time
import tracemalloc

import pytest

from framework import keras
from framework.core.errors import LoadError
from tests.saving import hostile


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
    return sorted(p.as_posix() for p in folder.parent.rglob("*"))


@pytest.mark.parametrize("name", hostile.CASES)
def test_a_hostile_file_is_one_clear_error(name, guarded):
    hostile.good()
    path = hostile.CASES[name](guarded)
    before = everything(guarded)
    tracemalloc.start()
    start = time.process_time()  # other processes may slow this one down
    try:
        with pytest.raises(LoadError) as caught:
            keras.models.load_model(path, safe_mode=False)
        seconds = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(caught.value)
    assert seconds < 4  # of 2, with memory traced
    assert peak < 300 * 2**20
    assert everything(guarded) == before


def test_there_are_many_cases():
    assert len(hostile.CASES) >= 80


def test_the_unchanged_file_loads(guarded):
    assert keras.models.load_model(hostile.write(guarded)).count_params() == 15
