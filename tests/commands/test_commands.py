"""The commands of `framework` and `python -m framework`."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import __main__ as program
from framework import keras
from framework.kernels import tier

PACKAGE = Path(tf.__file__).parent


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a model, its weights and data."""
    folder = tmp_path_factory.mktemp("files")
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(1)], name="net"
    )
    model.compile("adam", "mse")
    model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)  # so that the optimizer has its state
    model.save(folder / "net.keras")
    model.save_weights(folder / "net.npz")
    x = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]], "float32")
    np.savez(folder / "x.npz", x=x)
    (folder / "x.csv").write_text("a,b\n1,2\n3,4\n-1,0.5\n")
    np.save(folder / "expected.npy", model.predict(x, verbose=0))
    return folder


def run(*arguments, capsys):
    status = program.main([str(a) for a in arguments])
    return status, capsys.readouterr()


def test_warmup_calls_every_module_once(change, capsys):
    pytest.importorskip("numba")
    called = []
    for name in tier.libraries():
        module = tier.library(name)
        if hasattr(module, "warm"):
            change(module, warm=lambda name=name: called.append(name))
    assert program.main(["warmup"]) == 0
    assert called == [line.split()[0] for line in capsys.readouterr().out.splitlines()[:-1]]
    assert {"micro", "math"} <= set(called)


def test_warmup_without_numba(change, capsys):
    change(tier, _missing="No module named 'numba'")
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


def test_a_bare_call_lists_the_commands(capsys):
    assert program.main([]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n    {name}" in printed for name in program.COMMANDS)


def test_summary_of_a_model(files, capsys):
    status, printed = run("summary", files / "net.keras", capsys=capsys)
    assert status == 0
    assert 'Model: "net"' in printed.out
    assert re.search(r"Trainable params: 13\b", printed.out)


def test_summary_of_weights(files, capsys):
    status, printed = run("summary", files / "net.npz", capsys=capsys)
    assert status == 0
    assert re.search(r"layers/dense/kernel +\(2, 3\) +float32", printed.out)
    assert printed.out.splitlines()[-1].startswith("4 arrays, 13 numbers")


@pytest.mark.parametrize("data", ["x.npz", "x.csv"])
@pytest.mark.parametrize("output", [None, "y.csv", "y.npz", "y.npy"])
def test_predict(files, data, output, capsys, tmp_path):
    expected = np.load(files / "expected.npy")
    arguments = [] if output is None else ["--output", tmp_path / output]
    status, printed = run("predict", files / "net.keras", files / data, *arguments, capsys=capsys)
    assert status == 0
    if output in ("y.npz", "y.npy"):
        found = np.load(tmp_path / output)
        found = found["output"] if output == "y.npz" else found
    else:
        text = printed.out if output is None else (tmp_path / output).read_text()
        assert text.splitlines()[0] == "output"
        found = np.array([[float(line)] for line in text.splitlines()[1:]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_predict_with_named_inputs_and_outputs(tmp_path, capsys):
    inputs = {name: keras.Input((1,), name=name) for name in ("age", "size")}
    both = keras.layers.Concatenate()(list(inputs.values()))
    outputs = {"p": keras.layers.Dense(1)(both), "q": keras.layers.Dense(2)(both)}
    model = keras.Model(inputs, outputs)
    model.save(tmp_path / "two.keras")
    (tmp_path / "x.csv").write_text("size,other,age\n1,9,2\n3,9,4\n")
    status, printed = run("predict", tmp_path / "two.keras", tmp_path / "x.csv", capsys=capsys)
    assert status == 0
    lines = printed.out.splitlines()
    assert lines[0] == "p,q_0,q_1"
    x = {"age": np.array([[2.0], [4.0]]), "size": np.array([[1.0], [3.0]])}
    expected = model.predict(x, verbose=0)
    found = np.array([line.split(",") for line in lines[1:]], float)
    np.testing.assert_allclose(found, np.hstack([expected["p"], expected["q"]]), rtol=1e-5)


@pytest.mark.parametrize("name", ["b.keras", "b.weights.h5", "b.npz", "b.safetensors"])
def test_convert_a_model(files, name, tmp_path, capsys):
    target = tmp_path / name
    status, printed = run("convert", files / "net.keras", target, capsys=capsys)
    assert status == 0
    assert printed.out.startswith(f"{target}: ")
    model = keras.models.load_model(files / "net.keras")
    expected = model.get_weights()
    if name == "b.keras":
        model = keras.models.load_model(target)
    else:
        model.set_weights([w * 0 for w in expected])
        model.load_weights(target)
    for a, b in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_convert_weights(files, tmp_path, capsys):
    a, b, c = (tmp_path / name for name in ("a.safetensors", "b.weights.h5", "c.npz"))
    assert run("convert", files / "net.npz", a, capsys=capsys)[0] == 0
    assert run("convert", a, b, "--model", files / "net.keras", capsys=capsys)[0] == 0
    assert run("convert", b, c, "--model", files / "net.keras", capsys=capsys)[0] == 0
    first, last = np.load(files / "net.npz"), np.load(c)
    assert sorted(first) == sorted(last)
    for name in first:
        np.testing.assert_array_equal(first[name], last[name])


MISTAKES = {
    "no file": (["summary", "none.keras"], "none.keras"),
    "ending": (["summary", "x.csv"], "expected a file of a model.*got .*x.csv"),
    "data": (["predict", "net.keras", "net.keras"], r"expected data in .*\.npz.*net.keras"),
    "columns": (["predict", "net.keras", "bad.csv"], "column 'b', row 2: expected a number.*'no'"),
    "target": (["convert", "net.keras", "net.doc"], r"expected .*\.safetensors.*net.doc"),
    "no model": (["convert", "net.npz", "net.weights.h5"], "--model"),
    "exists": (["convert", "net.keras", "net.npz"], "exists.*--force"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_give_one_line(files, name, capsys, monkeypatch):
    monkeypatch.chdir(files)
    Path("bad.csv").write_text("a,b\n1,2\n3,no\n")
    arguments, message = MISTAKES[name]
    status, printed = run(*arguments, capsys=capsys)
    assert status == 1
    assert printed.out == ""
    assert re.search(message, printed.err)
    assert len(printed.err.splitlines()) == 1


def test_doctor(capsys):
    status, printed = run("doctor", capsys=capsys)
    assert status == 0, printed.out
    for subject in ("versions", "threads", "cache", "training", "saving"):
        assert re.search(rf"^  (ok|--)  {subject} ", printed.out, re.MULTILINE)


def test_doctor_without_numba(change, capsys):
    change(tier, _missing="No module named 'numba'")
    printed = run("doctor", capsys=capsys)[1].out
    assert re.search(r"^  --  numba +.*pip install 'framework\[fast\]'", printed, re.MULTILINE)
