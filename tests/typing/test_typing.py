"""What type checkers and editors know, shown by pyright in strict mode."""

import importlib
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import framework as tf
from framework.core.configurable import Configurable, own_init
from tests.looped import try_all

ROOT = Path(tf.__file__).parents[1]
KERAS = ("activations", "callbacks", "constraints", "initializers", "layers", "losses", "metrics",
         "models", "ops", "optimizers", "random", "regularizers", "utils")  # fmt: skip
NAMESPACES = ["tf", "tf.math", "tf.nn", "tf.linalg", "tf.random", "tf.keras"]
NAMESPACES += [f"tf.keras.{name}" for name in KERAS]
# Subclasses pass what they like to the constructors of these.
BASES = {
    "Layer",
    "Model",
    "Metric",
    "Optimizer",
    "Loss",
    "Constraint",
    "Initializer",
    "Regularizer",
}

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pyright") is None,
    reason="pyright is not installed; `make lint` installs it and runs these tests",
)


def pyright(folder, programs):
    """Return {name of a program: [(line, message), ...]} for a user's programs."""
    for name, program in programs.items():
        (folder / name).write_text(program, "utf-8")
    config = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "pythonVersion": "3.10"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    found = subprocess.run([*command, "-p", folder], capture_output=True, text=True, check=False)
    messages = {name: [] for name in programs}
    for m in json.loads(found.stdout)["generalDiagnostics"]:
        messages[Path(m["file"]).name].append((m["range"]["start"]["line"], m["message"]))
    return messages


def test_what_pyright_says(tmp_path):
    """One run for both programs: most of its time is for what they import."""
    user = Path(__file__).with_name("user.py").read_text("utf-8")
    names, classes = names_and_classes()
    revealed = [f"reveal_type({name})" for name in names]
    revealed += [f"reveal_type({name}.__init__)" for name in classes]
    programs = {"user.py": user, "names.py": "\n".join(["import framework as tf", *revealed])}
    messages = pyright(tmp_path, programs)
    checks = {
        "mistakes": lambda: mistakes_are_reported_and_nothing_else(user, messages["user.py"]),
        "names": lambda: public_names_and_constructors_are_known(
            names, classes, messages["names.py"]
        ),
    }
    try_all(lambda check: check(), {name: {"check": check} for name, check in checks.items()})


def mistakes_are_reported_and_nothing_else(program, messages):
    wrong = []
    for number, line in enumerate(program.splitlines()):
        found = [message for at, message in messages if at == number]
        expected = re.search(r"  # error: (.*)$", line)
        if expected and not any(expected[1] in message for message in found):
            wrong.append(f"{number + 1}: expected {expected[1]!r}, got {found}")
        if found and not expected:
            wrong.append(f"{number + 1}: {found}")
    assert not wrong, "\n".join(wrong)


def names_and_classes():
    """The public names, and those of built-in classes with fields."""
    names = {}
    for prefix in NAMESPACES:
        module = importlib.import_module(prefix.replace("tf", "framework"))
        names.update((f"{prefix}.{n}", getattr(module, n)) for n in dir(module) if n != "bfloat16")
    classes = {n: c for n, c in names.items() if inspect.isclass(c) and issubclass(c, Configurable)
               and c.__name__ not in BASES and not own_init(c)}  # fmt: skip
    return names, classes


def public_names_and_constructors_are_known(names, classes, messages):
    """Editors complete each name with its type, and each built-in class with all its fields."""
    matches = [re.match(r'Type of "(\S+)" is "(.*)"$', m, re.DOTALL) for _, m in messages]
    types = {match[1]: match[2] for match in matches if match}
    assert [name for name in names if types.get(name, "Unknown") == "Unknown"] == []
    assert len(classes) > 150
    for name, cls in classes.items():
        known = set(re.findall(r"(\**\w+)(?=: )", types[f"{name}.__init__"]))
        unknown = set(inspect.signature(cls).parameters) - known
        assert unknown <= {"activity_regularizer"}, name  # layers/base.py says why
        assert not any(parameter.startswith("*") for parameter in known), name
