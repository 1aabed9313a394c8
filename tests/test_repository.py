"""What the repository promises: version, typing, dependencies, sizes, class names, layer order."""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import framework
from tests.modules import TESTED_IN

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "framework"


def test_version_is_the_declared_one():
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert framework.__version__ == declared[1] == importlib.metadata.version("framework")


def test_type_checkers_find_the_package_typed():
    assert (Path(framework.__file__).parent / "py.typed").is_file()


def test_installing_brings_three_libraries():
    needed = [r for r in importlib.metadata.requires("framework") if "extra ==" not in r]
    assert {re.match(r"\w+", r)[0] for r in needed} == {"numpy", "tqdm", "h5py"}


def test_importing_loads_no_optional_library():
    optional = {"numba", "ml_dtypes", "matplotlib", "scipy", "sklearn", "PIL", "onnx"}
    program = f"import sys, framework; print(*sorted({optional} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_programs_in_the_folder_above_a_checkout_find_the_package(tmp_path):
    """The checkout is a folder `framework` there, which Python would take for a namespace."""
    (tmp_path / "framework").mkdir()
    program = "import framework; print(framework.__version__)"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.stdout.strip() == framework.__version__, result.stderr


def test_every_module_has_a_test_file():
    """Of its own name, or the one that `tests/modules.py` gives."""
    modules = {file.relative_to(PACKAGE).with_suffix("") for file in PACKAGE.rglob("*.py")}
    modules = {module for module in modules if module.name != "__init__"}
    tests = ROOT / "tests"
    own = {m for m in modules if (tests / m.parent / f"test_{m.name}.py").is_file()}
    listed = [entry for entries in TESTED_IN.values() for entry in entries.split()]
    assert sorted(set(listed)) == sorted(listed)
    packages = {str(module.parent / "*") for module in modules - own}
    assert [name for name in TESTED_IN if not (tests / name).is_file()] == []
    assert set(listed) <= {m.as_posix() for m in modules - own} | packages
    named = {Path(entry) for entry in listed}
    assert [m.as_posix() for m in modules - own - named if m.parent / "*" not in named] == []


def test_every_folder_of_code_is_a_package():
    """Without __init__.py a folder works until another of the same name is on the path."""
    folders = {file.parent for file in PACKAGE.rglob("*.py")}
    assert [str(f) for f in sorted(folders) if not (f / "__init__.py").is_file()] == []


def test_no_file_has_more_than_500_lines():
    lengths = {f: len(f.read_text("utf-8").splitlines()) for f in PACKAGE.rglob("*.py")}
    assert {str(f.relative_to(ROOT)): n for f, n in lengths.items() if n > 500} == {}


KERAS_NAMES_BOTH = {
    # a loss and the metric of the same formula
    **dict.fromkeys(
        (
            "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge",
            "CosineSimilarity", "Hinge", "KLDivergence", "MeanAbsoluteError",
            "MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError",
            "Poisson", "SparseCategoricalCrossentropy", "SquaredHinge",
        ),
        ("losses", "metrics"),
    ),
    # an initializer and a layer
    "Identity": ("initializers", "layers"),
    # a feature of an example, and one of FeatureSpace
    "Feature": ("data", "models"),
    # an iterator over a data set, and the batches of an ImageDataGenerator
    "Iterator": ("data", "data"),
}  # fmt: skip
"""Names that Keras and TensorFlow give to two public classes, and the packages that define them."""


def class_names():
    """Return {name: modules that define a class of the name, inside functions too}."""
    modules = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules.setdefault(node.name, set()).add(file.relative_to(PACKAGE))
    return modules


def test_a_class_name_means_one_thing():
    doubles = {name: modules for name, modules in class_names().items() if len(modules) > 1}
    packages = {
        name: tuple(sorted(module.with_suffix("").parts[0] for module in modules))
        for name, modules in doubles.items()
    }
    assert packages == KERAS_NAMES_BOTH


def test_classifiers_and_workflow_name_the_same_pythons():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    pythons = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert re.search(r"python: \[(.+)\]", workflow)[1] == ", ".join(f'"{p}"' for p in pythons)
    assert f'requires-python = ">={pythons[0]}"' in project


def test_the_workflow_runs_the_makefile_and_nothing_else():
    commands = re.findall(r"- run: (.+)", (ROOT / ".github/workflows/test.yml").read_text("utf-8"))
    assert commands == ["make test PYTHON=python", "PYTHON=python bash .ci/run"]


def test_the_citation_names_the_version_and_the_description():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == framework.__version__
    description = re.search(r'^description = "(.+)"$', project, re.MULTILINE)[1]
    assert f"abstract: {description}\n" in citation


def test_the_package_index_shows_no_links_into_the_repository():
    shown = importlib.metadata.metadata("framework").get_payload()
    assert shown.startswith("# framework")
    assert re.findall(r"\]\((?!https?:)", shown) == []


def lint_imports(folder):
    """The import contracts of pyproject.toml, held against the `framework` in `folder`."""
    pytest.importorskip("importlinter")
    program = "import sys, importlinter.cli as c; sys.exit(c.lint_imports(no_cache=True))"
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_imports_follow_the_layer_order():
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("ops/new.py", "from framework.core import op", None),
        ("math.py", "from framework.ops import new", None),
        ("core/new.py", "from framework.ops import op", "framework.core is not allowed to import"),
        ("losses/new.py", "import framework.layers", "framework.losses is not allowed to import"),
        ("layers/new.py", "from framework import keras", "framework.layers is not allowed to"),
        ("models/new.py", "import framework as tf", "framework.models.new -> framework"),
        ("attic/new.py", "", "framework.attic"),
    ],
)
def test_the_contracts_notice(tmp_path, file, line, complaint):
    """Empty packages keep the contracts until one line breaks them."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in ("", "core", "ops", "layers", "losses", "models", "keras"):
        (tmp_path / "framework" / name).mkdir(exist_ok=True)
        (tmp_path / "framework" / name / "__init__.py").touch()
    new = tmp_path / "framework" / file
    new.parent.mkdir(exist_ok=True)
    (new.parent / "__init__.py").touch()
    new.write_text(line + "\n")

    result = lint_imports(tmp_path)
    if complaint is None:
        assert result.returncode == 0, result.stdout + result.stderr
    else:
        assert result.returncode == 1
        assert complaint in " ".join(result.stdout.split())


def test_names_of_files_are_portable():
    """A test that writes to the working directory would add files with odd names."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = listed.stdout.splitlines()  # empty in an unpacked source distribution
    assert [name for name in names if not re.fullmatch(r"[\w./+-]+", name)] == []
