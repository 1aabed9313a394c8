"""The public namespaces: every name resolves, type checkers see it, it costs nothing unasked."""

import ast
import functools
import importlib
import importlib.util
import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import framework as tf
from framework import keras, losses, metrics
from framework.core.left_out import entries
from tests.looped import looped

PACKAGE = Path(tf.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def name_of(file):
    parts = ("framework", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(p for p in parts if p != "__init__")


MODULES = [importlib.import_module(name_of(stub)) for stub in STUBS]


@functools.cache
def listed(stub):
    """Return {name: (module, name in it)} as type checkers read a stub."""
    names, imported = {}, {}
    for node in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    starred = importlib.import_module(node.module).__all__
                    names.update({name: (node.module, name) for name in starred})
                else:
                    assert alias.asname in (None, alias.name)  # others are private in a stub
                    exported = names if alias.asname else imported
                    exported[alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Assign):
            names[node.targets[0].id] = {**imported, **names}[node.value.id]
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = (None, node.target.id)
        else:
            assert isinstance(node, ast.FunctionDef), f"{stub}:{node.lineno}"
            names[node.name] = (None, node.name)
    return names


NAMES = [(m, name, *place) for m, s in zip(MODULES, STUBS) for name, place in listed(s).items()]


def test_the_namespaces_have_stubs():
    assert {"framework", "framework.math", "framework.keras.ops", "framework.keras.layers"} <= {
        m.__name__ for m in MODULES
    }
    assert len(NAMES) > 1000


@pytest.mark.parametrize(
    ("module", "stub"), list(zip(MODULES, STUBS)), ids=[m.__name__ for m in MODULES]
)
def test_dir_shows_the_names_of_the_stub(module, stub):
    assert dir(module) == sorted(listed(stub)) == module.__all__


@pytest.mark.parametrize(
    ("module", "stub"), list(zip(MODULES, STUBS)), ids=[m.__name__ for m in MODULES]
)
def test_functions_have_the_signatures_of_the_stub(module, stub):
    for node in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            known = [argument.arg for argument in node.args.args]
            parameters = inspect.signature(getattr(module, node.name)).parameters.values()
            optional = [p for p in parameters if p.default is not p.empty]
            assert [p.name for p in parameters] == known, node.name
            assert len(optional) == len(node.args.defaults), node.name


def resolves(module, name, home, own):
    """Whether a name of a namespace is what its stub says that it is."""
    if name == "bfloat16" and importlib.util.find_spec("ml_dtypes") is None:
        return True  # NumPy itself has no bfloat16
    if home == module.__name__:
        return getattr(module, name) is importlib.import_module(f"{home}.{own}")
    if not home:
        return getattr(module, name, None) is vars(module).get(name, tf)
    return getattr(module, name) is getattr(importlib.import_module(home), own)


# One test for each namespace: one for each of 3,000 names took more time than what it tests.
@pytest.mark.parametrize("module", MODULES, ids=[m.__name__ for m in MODULES])
def test_every_name_resolves(module):
    names = [entry for entry in NAMES if entry[0] is module]
    assert [name for _, name, *place in names if not resolves(module, name, *place)] == []


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"'framework' has no attribute 'reduce_sun'; did you "
                       "mean 'reduce_sum'"):  # fmt: skip
        getattr(tf, "reduce_sun")  # noqa: B009
    with pytest.raises(AttributeError, match=r"'framework\.keras' has no attribute 'zzz'$"):
        getattr(keras, "zzz")  # noqa: B009
    assert not hasattr(tf, "__wrapped__")


def test_a_name_that_is_left_out():
    for full, entry in entries().items():
        module, name = outermost_missing(full)
        with pytest.raises(AttributeError) as raised:
            getattr(module, name)
        if name != full.rpartition(".")[2]:
            continue  # the whole namespace is missing
        home = "Keras" if full.startswith("keras") else "TensorFlow"
        assert f" is in {home}, not in framework, because {entry.reason}; inst" in str(raised.value)
        assert "did you mean" not in str(raised.value)
        assert entry.instead
    with pytest.raises(AttributeError, match=r"^module 'framework.keras' has no attribute 'distri"
                       r"bution'; keras\.distribution is in Keras, not in framework, because .*; "
                       r"instead: tf\.config\.set_threads\(n\)"):  # fmt: skip
        keras.distribution.DeviceMesh  # noqa: B018


def outermost_missing(full):
    """Return (module, name): where a lookup of a dotted name fails, as `left_out.txt` says."""
    module, parts = tf, full.split(".")
    for part in parts if parts[0] == "keras" else parts[1:]:
        if not hasattr(module, part):
            return module, part
        module = getattr(module, part)
    raise AssertionError(f"{full} exists: remove it from framework/core/left_out.txt")


def test_the_page_of_what_is_left_out_is_new():
    """Else run `python docs/make_coverage.py`."""
    maker = runpy.run_path(str(PACKAGE.parent / "docs" / "make_coverage.py"))
    assert maker["PAGE"].read_text("utf-8") == maker["page"]()


def run(program):
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.split()


def test_unused_packages_are_not_imported():
    """`import framework` loads core and ops; the first use of a name imports its package."""
    loaded = set(run("import sys, framework; print(*sys.modules)"))
    assert "framework.core.left_out" not in loaded
    packages = {m.split(".")[1] for m in loaded if m.startswith("framework.")}
    assert packages <= {"core", "ops", "kernels"}
    heavy = {"tqdm", "h5py", "asyncio", "unittest", "concurrent.futures", "framework.keras"}
    assert heavy & loaded == set()
    after = set(run("import sys, framework as tf; tf.nn.relu; tf.keras.ops; print(*sys.modules)"))
    assert "framework.functions.neural" in after
    assert "framework.optimizers" not in after


@pytest.mark.parametrize(
    "line",
    [
        "import framework.keras as keras; keras.ops.add",
        "from framework import keras; keras.losses.MeanSquaredError",
        "from framework.keras.losses import MeanSquaredError",
        "from framework.keras import ops; ops.numpy.add; ops.nn.relu",
        "import framework as tf; tf.keras.optimizers.Adam; tf.losses; tf.optimizers.SGD",
        "import framework as tf; tf.math.add; tf.nn.relu; tf.linalg.matmul; tf.random.normal",
        "import framework as tf; tf.contrib.eager.gradients_function; tf.compat.lin_space",
        "import framework as tf; tf.data.Dataset; tf.autodiff.GradientTape; tf.initializers.Zeros",
        "from framework import math, nn, random; random.set_seed(1); math.exp(1.0)",
    ],
)
def test_every_way_of_importing(line):
    assert run(line + "; print('ok')") == ["ok"]


def test_one_function_under_all_its_names():
    for name in ("add", "multiply", "exp", "reduce_sum", "argmax", "cumsum", "sigmoid", "tanh"):
        assert getattr(tf, name) is getattr(tf.math, name)
    assert tf.matmul is tf.linalg.matmul
    assert tf.norm is tf.linalg.norm
    assert tf.nn.tanh is tf.tanh
    assert tf.math.softmax is tf.nn.softmax
    assert tf.cast is tf.dtypes.cast
    assert tf.nn.swish is tf.nn.silu
    assert keras.ops.swish is keras.ops.silu
    assert keras.initializers.glorot_uniform is keras.initializers.GlorotUniform
    assert tf.half is tf.dtypes.float16


FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (tf, tf.math, tf.nn, tf.linalg, tf.random, tf.debugging)
    for name in dir(module)
    if not name.startswith("_") and inspect.isfunction(getattr(module, name, None))
    and getattr(module, name).__module__.startswith("framework.functions")
}  # fmt: skip


@looped("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_tensorflows_functions_are_declared(function):
    """A real signature, with TensorFlow's `name`, and a sentence of documentation."""
    parameters = inspect.signature(function).parameters
    without_name = {"set_seed", "get_global_generator", "set_global_generator", "silu", "is_tensor",
                    "is_numeric_tensor", "assert_proper_iterable", "assert_same_float_dtype",
                    "disable_check_numerics", "enable_check_numerics", "device", "init_scope",
                    "enable_eager_execution", "executing_eagerly", "get_static_value",
                    "fold_in", "split", "isotonic_regression", "ctc_greedy_decoder",
                    "ctc_beam_search_decoder", "compute_average_loss",
                    "scale_regularization_loss", "get_log_device_placement",
                    "set_log_device_placement"}  # fmt: skip
    assert "name" in parameters or function.__name__ in without_name
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert function.__doc__


def test_constants():
    assert tf.newaxis is None
    assert keras.backend.backend() == keras.config.backend() == "framework"
    assert keras.version() == keras.__version__
    for setting in (
        keras.config.enable_traceback_filtering,
        keras.config.disable_traceback_filtering,
    ):
        setting()
        assert keras.config.is_traceback_filtering_enabled() is False
    assert tf.UnconnectedGradients.ZERO.value == "zero"
    assert tf.executing_eagerly() is True
    assert tf.enable_eager_execution() is None


LATE = """
import sys
from importlib import import_module
from framework import losses, metrics
from framework.core.lazy import defining_modules
assert "Tversky" in dir(losses) and "AUC" in dir(metrics)
assert not {"framework.losses.overlap", "framework.metrics.auc"} & set(sys.modules)
assert losses.get("tversky") is losses.tversky
assert type(metrics.get("auc")) is metrics.AUC
assert "framework.losses.similarity" not in sys.modules
for package in losses, metrics:
    for module in reversed(defining_modules(package.__name__)):
        import_module(module)
print(sorted(losses.losses._spellings.items()), sorted(metrics.metrics._spellings.items()))
"""


def test_modules_of_losses_and_metrics_load_late_and_in_any_order():
    command = [sys.executable, "-c", LATE]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not found.stderr
    for registry in (losses.losses, metrics.metrics):
        registry.load_all()
    in_order = [sorted(r._spellings.items()) for r in (losses.losses, metrics.metrics)]
    assert found.stdout.strip() == f"{in_order[0]} {in_order[1]}"
