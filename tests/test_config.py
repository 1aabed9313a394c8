"""`framework.config`."""

import re
from pathlib import Path

import pytest

import framework as tf
from framework.kernels import threads, tier

PACKAGE = Path(tf.__file__).parent


@pytest.fixture(autouse=True)
def put_back(monkeypatch):
    monkeypatch.delenv("FRAMEWORK_COMPILE", raising=False)
    yield
    monkeypatch.undo()
    tier.set_tier()
    threads.set_count()


def test_the_tier_is_set_and_restored():
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


def test_functions_run_eagerly_and_back():
    runs = []

    @tf.function
    def body(x):
        runs.append(1)
        return x + 1.0

    tf.config.set_compile("numpy")
    for eagerly, expected in ((False, 2), (True, 4), (False, 0)):
        runs.clear()
        tf.config.run_functions_eagerly(eagerly)
        assert tf.config.functions_run_eagerly() is eagerly
        for _ in range(4):
            body(tf.constant(1.0))
        assert len(runs) == expected
    assert tf.config.get_compile() == "numpy"
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        tf.config.run_functions_eagerly(True)
        runs.clear()
        y = body(x) + body(x)
    tf.config.run_functions_eagerly(False)
    assert len(runs) == 2
    assert tape.gradient(y, x) == 2.0


def test_off_in_the_environment_is_kept(monkeypatch):
    monkeypatch.setenv("FRAMEWORK_COMPILE", "off")
    tf.config.set_compile()
    for eagerly in (False, True, False):
        tf.config.run_functions_eagerly(eagerly)
        assert tf.config.functions_run_eagerly()


def test_there_is_one_device():
    (cpu,) = tf.config.list_physical_devices()
    assert [cpu] == tf.config.list_physical_devices("CPU") == tf.config.get_visible_devices()
    assert [d.name for d in tf.config.list_logical_devices("CPU")] == [tf.ones(2).device]
    for kind in ("GPU", "TPU"):
        assert tf.config.list_physical_devices(kind) == []
        assert tf.config.experimental.list_physical_devices(kind) == []
        assert tf.config.list_logical_devices(kind) == []
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(cpu, "CPU")
    with pytest.raises(ValueError, match="cannot be hidden"):
        tf.config.set_visible_devices([], "CPU")
    with pytest.raises(ValueError, match="does not exist"):
        tf.config.set_visible_devices([tf.config.PhysicalDevice("GPU:0", "GPU")])


NAMES_OF_DEVICES = (
    "cpu",
    "CPU:0",
    "/cpu:0",
    "/device:CPU:*",
    "/job:a/replica:0/task:1/device:CPU:0",
)


@pytest.mark.parametrize("name", [*NAMES_OF_DEVICES, None, ""])
def test_everything_is_placed_on_the_cpu(name, caplog):
    with tf.device(name):
        assert tf.constant(1.0).device == "/device:CPU:0"
    assert not caplog.records


def test_a_missing_device_is_replaced_with_one_warning(caplog):
    from framework.functions import devices

    devices._tell.cache_clear()
    for _ in range(2):
        with tf.device("/GPU:0"):
            assert float(tf.constant(1.0) + 1.0) == 2.0
    (record,) = caplog.records
    assert "no GPU" in record.message


@pytest.mark.parametrize("name", ["gpx:0", "CPU 0", "/device:CPU:x", 3, "cpu:0:1"])
def test_what_is_no_device(name):
    with pytest.raises(ValueError, match="must be a name such as"):
        tf.device(name)


def test_threads_by_tensorflows_names():
    tf.config.threading.set_intra_op_parallelism_threads(2)
    assert tf.config.get_threads() == tf.config.threading.get_intra_op_parallelism_threads() == 2
    tf.config.threading.set_intra_op_parallelism_threads(0)  # as many as there are
    tf.config.threading.set_inter_op_parallelism_threads(4)
    assert tf.config.get_threads() == threads.count()
