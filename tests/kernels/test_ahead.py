"""Compilation of kernels in a second process."""

import os
import subprocess
import sys
import textwrap

import pytest

from framework.kernels import ahead, sealed

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path, change):
    """An empty cache and no worker."""
    monkeypatch.setenv("FRAMEWORK_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(ahead.VARIABLE)
    change(ahead, _pending={}, _failed=set(), _worker=None)
    return tmp_path


def run(program, folder, **variables):
    """What a program prints that finds an empty folder for machine code."""
    env = {**os.environ, "FRAMEWORK_CACHE_DIR": str(folder), **variables}
    code = textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", code], env=env, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.split(), done.stderr


def test_numpy_computes_until_a_second_process_has_compiled(tmp_path):
    program = """
        import time
        import numpy as np
        from framework.kernels import norm, tier

        def statistics():
            x = np.random.default_rng(0).standard_normal((64, 64), np.float32)
            (y, *_), _ = norm.batch_norm(x, x[0], x[1], axis=1, epsilon=1e-3)
            return y

        first = statistics()
        print(tier.library("norm"))
        end = time.monotonic() + 300
        while tier.library("norm") is None and time.monotonic() < end:
            time.sleep(0.05)
        print(tier.library("norm").__name__)
        print(np.abs(statistics() - first).max() < 1e-5)
    """
    found, log = run(program, tmp_path)
    assert found == ["None", "framework.kernels.fast.norm", "True"]
    assert log.count("in a second process; NumPy computes meanwhile") == 1
    again, log = run(program, tmp_path)
    assert again[-2:] == found[-2:]
    assert again[0] == "<module"
    assert "Compiling" not in log


def test_a_program_may_end_before_the_worker(tmp_path):
    found, log = run(
        """
        from framework.kernels import tier
        print(tier.library("norm"))
        """, tmp_path,
    )  # fmt: skip
    assert found == ["None"]
    assert "Error" not in log
    assert "ResourceWarning" not in log


def test_a_worker_that_ends_leaves_the_compilation_to_this_process(change, caplog):
    done = []

    def started():
        return subprocess.Popen(
            [sys.executable, "-c", ""], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    change(ahead, _started=started)
    ready = ahead.is_ready("norm", lambda: done.append("norm"))
    for _ in range(2):  # the write, or the end of the output, shows that it has ended
        if not ready:
            ahead._worker.wait(60)
            while not done:
                pass
            ready = ahead.is_ready("norm", None)
    assert ready
    assert not ahead._pending
    caplog.clear()


@pytest.mark.parametrize(
    "reason", ["the variable", "no folder", "no python", "not in a group", "a mark"]
)
def test_when_there_is_no_worker(reason, monkeypatch, change):
    def started():
        raise AssertionError("a process was started")

    change(ahead, _started=started)
    if reason == "the variable":
        monkeypatch.setenv(ahead.VARIABLE, "1")
    elif reason == "no folder":
        change(sealed, _folder=lambda: None)
    elif reason == "no python":
        monkeypatch.setattr(sys, "executable", "/opt/blender")
    elif reason == "a mark":
        ahead.mark("norm")
    assert ahead.is_ready("jit" if reason == "not in a group" else "norm", None)


def test_no_process_can_be_started(change):
    def started():
        raise OSError("no more processes")

    change(ahead, _started=started)
    assert ahead.is_ready("norm", None)


def test_groups_name_modules_with_warm():
    names = {module for group in ahead.GROUPS.values() for module in group}
    for name in names:
        assert hasattr(__import__(f"framework.kernels.fast.{name}", fromlist="x"), "warm")


def test_the_team_compiles_how_functions_are_queued(tmp_path):
    run("from framework.kernels.fast import team; team.warm()", tmp_path, FRAMEWORK_COMPILE="numba")
    assert list(tmp_path.rglob("*team._change*"))
