"""`framework.config`, and the commands of `python -m framework`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import framework as tf
from framework import __main__ as program
from framework.kernels import threads, tier

PACKAGE = Path(tf.__file__).parent


@pytest.fixture(autouse=True)
def put_back(monkeypatch):
    monkeypatch.delenv("FRAMEWORK_COMPILE", raising=False)
    yield
    monkeypatch.undo()
    tier.set_tier()
    threads.set_count()


def test_the_tier_is_set_and_put_back():
    for name in ("off", "numpy", "auto"):
        assert tf.config.set_compile(name) is None
        assert tf.config.get_compile() == tier.tier() == name
    tf.config.set_compile("off")
    tf.config.set_compile()
    assert tf.config.get_compile() == "auto"


def test_the_environment_is_what_it_is_put_back_to(monkeypatch):
    monkeypatch.setenv("FRAMEWORK_COMPILE", "numpy")
    tf.config.set_compile()
    assert tf.config.get_compile() == "numpy"


def test_threads():
    tf.config.set_threads(3)
    assert tf.config.get_threads() == threads.count() == 3


def test_what_kernels_ask_for_is_there_and_can_be_compiled_ahead():
    pytest.importorskip("numba")
    asked = set()
    for file in PACKAGE.rglob("*.py"):
        asked |= set(re.findall(r'\blibrary\("(\w+)"\)', file.read_text("utf-8")))
    assert asked >= {"micro", "target"}
    assert asked <= set(tier.libraries())
    without = {name for name in asked if not hasattr(tier.library(name), "warm")}
    assert without <= {"jit", "target"}  # which have no kernels


def test_warmup_calls_every_module_once(monkeypatch, capsys):
    pytest.importorskip("numba")
    called = []
    for name in tier.libraries():
        module = tier.library(name)
        if hasattr(module, "warm"):
            monkeypatch.setattr(module, "warm", lambda name=name: called.append(name))
    assert program.main(["warmup"]) == 0
    assert called == [line.split()[0] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert {"micro", "math"} <= set(called)


def test_warmup_without_numba(monkeypatch, capsys):
    monkeypatch.setattr(tier, "_missing", "No module named 'numba'")
    assert program.main(["warmup"]) == 1
    assert "pip install 'framework[fast]'" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["config"], ["--help"]])
def test_commands_in_a_process_of_their_own(arguments):
    command = [sys.executable, "-m", "framework", *arguments]
    result = subprocess.run(
        command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True, timeout=120
    )
    assert "framework" in result.stdout
    assert result.stderr == ""


def test_an_unknown_command(capsys):
    with pytest.raises(SystemExit):
        program.main(["warm"])
    assert "invalid choice: 'warm'" in capsys.readouterr().err
