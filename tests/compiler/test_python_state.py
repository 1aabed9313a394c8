"""Compiled functions that depend on Python state give the results of eager calls.

An entry makes a function and `before(n)`, which changes the state before call number n. What is
compared are results and what variables hold, to the last bit, with the function run in Python.
"""

import random
import sys
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import framework as tf
from framework import config, keras
from framework.core import nest

pytestmark = pytest.mark.usefixtures("kind")
OFFSETS = {"a": 1.0}
X = tf.constant([1.0, -2.0, 3.0])
CALLS = 26
SETTING, FLAG, FACTOR = 2.0, False, 3.0


def nothing(_):
    pass


# ---- functions that change what they read ----


def counts_its_calls():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * 2.0 if n % 2 else x * 3.0

    return f, nothing, ()


def flips_a_global():
    def f(x):
        global FLAG
        FLAG = not FLAG
        return x * 2.0 if FLAG else x * 3.0

    return f, nothing, ()


def trains_two_variables_in_turn():
    variables, i = [tf.Variable(0.0), tf.Variable(0.0)], 0

    def f(x):
        nonlocal i
        variables[i % 2].assign_add(tf.reduce_sum(x))
        i += 1

    return f, nothing, variables


def moves_through_a_list():
    factors = [2.0, 2.0, 5.0]

    def f(x):
        factors.append(factors.pop(0))
        return x * factors[0]

    return f, nothing, ()


def counts_in_an_attribute():
    state = types.SimpleNamespace(n=0)

    def f(x):
        state.n = (state.n + 1) % 3
        return x * state.n

    return f, nothing, ()


# ---- random numbers outside the package ----


def draws_from_a_generator():
    rng = np.random.default_rng(0)

    def f(x):
        return x * float(rng.integers(0, 3))

    return f, nothing, ()


def draws_from_numpy():
    np.random.seed(1)  # noqa: NPY002 the global generator is what is tested

    def f(x):
        return x * float(np.random.randint(0, 2))  # noqa: NPY002

    return f, nothing, ()


def draws_from_python():
    random.seed(1)

    def f(x):
        return x * random.choice([1.0, 2.0])

    return f, nothing, ()


# ---- state that changes between calls ----


def reads_a_global():
    def f(x):
        return x * SETTING

    def before(n):
        globals()["SETTING"] = 2.0 if n < 9 else 5.0 + n // 13

    return f, before, ()


def reads_a_global_in_a_helper():
    def scaled(x):
        return x * FACTOR

    def f(x):
        return scaled(x) + 1.0

    def before(n):
        globals()["FACTOR"] = n // 7

    return f, before, ()


def reads_a_closure():
    factor = 1.0

    def f(x):
        return x * factor

    def before(n):
        nonlocal factor
        factor = [1.0, -0.0, 0.0, 1, True][n // 6]

    return f, before, ()


class Settings:
    scale = 2.0

    def __init__(self):
        self.inner = types.SimpleNamespace(offset=1.0)

    def scaled(self, x):
        return x * self.scale + self.inner.offset


def reads_attributes_of_an_object():
    settings = Settings()

    def f(x):
        return settings.scaled(x)

    def before(n):
        if n == 7:
            settings.scale = 3.0
        if n == 12:
            settings.inner.offset = 5.0
        if n == 17:
            settings.inner = types.SimpleNamespace(offset=7.0)

    return f, before, ()


def reads_another_object():
    settings = Settings()

    def f(x):
        return settings.scaled(x)

    def before(n):
        nonlocal settings
        if n % 6 == 5:
            settings = Settings()
            settings.scale = n

    return f, before, ()


def reads_items():
    chosen = {"scale": 2.0, "parts": [1.0, 2.0]}

    def f(x):
        return x * chosen["scale"] + chosen["parts"][1]

    def before(n):
        if n == 8:
            chosen["scale"] = 4.0
        if n == 15:
            chosen["parts"][1] = 9.0

    return f, before, ()


def reads_a_tensor():
    held = types.SimpleNamespace(tensor=tf.constant(2.0))

    def f(x):
        return x * held.tensor

    def before(n):
        if n % 9 == 8:
            held.tensor = tf.constant(float(n))

    return f, before, ()


def calls_another_function():
    def double(x):
        return x * 2.0

    def triple(x):
        return x * 3.0

    called = double

    def f(x):
        return called(x)

    def before(n):
        nonlocal called
        called = [double, triple][n // 5 % 2]

    return f, before, ()


def updates_another_variable():
    variables = [tf.Variable(0.0), tf.Variable(0.0)]
    chosen = variables[0]

    def f(x):
        chosen.assign_add(tf.reduce_sum(x))

    def before(n):
        nonlocal chosen
        chosen = variables[n // 4 % 2]

    return f, before, variables


class Scaling(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.factor = 2.0

    def call(self, x):
        return x * self.factor


def reads_an_attribute_in_a_layer():
    layer = Scaling()

    def f(x):
        return layer(x)

    def before(n):
        layer.factor = 2.0 + n // 8

    return f, before, ()


def gives_other_structures():
    kind = "tuple"

    def f(x):
        given = {"tuple": (x, None), "list": [x, None], "other": [None, x], "dict": {"a": x}}
        return given[kind]

    def before(n):
        nonlocal kind
        kind = ["tuple", "list", "other", "dict"][n // 6 % 4]

    return f, before, ()


ENTRIES = [value for value in list(globals().values()) if isinstance(value, types.FunctionType)
           and value.__module__ == __name__ and value is not nothing]  # fmt: skip


def results(make, compiled):
    globals().update(SETTING=2.0, FLAG=False, FACTOR=3.0)
    f, before, variables = make()
    f = tf.function(f) if compiled else f
    found = []
    for n in range(CALLS):
        before(n)
        given = f(X)
        leaves = [given] if given is None else nest.flatten(given)
        values = [None if each is None else each.numpy().tobytes() for each in leaves]
        found.append((str(type(given)), values, [float(v) for v in variables]))
    return found


@pytest.mark.parametrize("make", ENTRIES, ids=lambda make: make.__name__)
def test_compiled_equals_eager(make):
    config.set_audit(False)  # guards alone see these changes
    try:
        assert results(make, compiled=True) == results(make, compiled=False)
    finally:
        config.set_audit()


@pytest.mark.parametrize(
    "make", [reads_a_global, reads_attributes_of_an_object, reads_items], ids=lambda m: m.__name__
)
def test_functions_of_constant_state_have_plans(make):
    f, _, _ = make()
    f = tf.function(f)
    for _ in range(3):
        f(X)
    assert "1 plan" in f.explain()
    assert "# Python read " in f.source


class Pair(NamedTuple):
    a: Any
    b: Any


def test_making_a_named_tuple_adds_no_guard():
    @tf.function
    def f(x):
        pair = Pair(x, 2.0)
        return pair.a * pair.b

    for _ in range(3):
        f(tf.constant(3.0))
    assert "_tuple_new" not in f.source


def test_a_count_of_calls_alone_is_no_guard():
    n = 0

    @tf.function
    def f(x):
        nonlocal n
        n += 1
        return x * 2.0

    for _ in range(9):
        f(X)
    assert n == 2
    assert "Python read" not in f.source


def test_a_cache_that_the_first_run_fills():
    held = types.SimpleNamespace(table=None)

    @tf.function
    def f(x):
        if held.table is None:
            held.table = tf.constant([1.0, 2.0, 3.0])
        return x * held.table

    for _ in range(5):
        assert f(X).numpy().tolist() == [1.0, -4.0, 9.0]
    assert "1 plan" in f.explain()


def test_the_reason_names_the_read():
    f = tf.function(counts_its_calls()[0])
    for _ in range(4):
        f(X)
    assert "the function changes n, which it reads" in f.explain()


def test_guards_do_not_keep_objects_alive():
    import gc
    import weakref

    settings = Settings()
    f = tf.function(lambda x, s: s.scaled(x))
    for _ in range(3):
        f(X, settings)
    gone = weakref.ref(settings)
    del settings
    gc.collect()
    assert gone() is None


def test_what_a_closure_holds_goes_with_the_function():
    import gc
    import weakref

    def made():
        settings = Settings()
        f = tf.function(lambda x: settings.scaled(x) + f.__dict__.get("number", 0.0))
        return f, weakref.ref(settings)

    f, gone = made()
    for _ in range(3):
        f(X)
    assert "# Python read settings" in f.source
    del f
    gc.collect()
    assert gone() is None


def test_arguments_named_as_a_plan_names_its_own():
    scale = 2.0

    @tf.function
    def f(now, global_variables):
        return now * scale + global_variables * OFFSETS["a"]

    for n in range(6):
        scale = 2.0 if n < 4 else 5.0
        assert float(f(tf.constant(1.0), tf.constant(2.0))) == scale + 2.0
    assert "2 plans" in f.explain()


def test_a_closure_variable_that_is_deleted():
    scale = 2.0

    @tf.function
    def f(x):
        return x * scale  # noqa: F821 (deleted below)

    for _ in range(3):
        f(X)
    del scale
    with pytest.raises(NameError, match="scale"):
        f(X)


def test_callbacks_of_the_garbage_collector_are_ignored():
    import gc

    runs = 0

    def callback(phase, info):
        nonlocal runs
        runs = runs + 1

    @tf.function
    def f(x):
        cycles = [[] for _ in range(2000)]
        for cycle in cycles:
            cycle.append(cycle)
        return x * 2.0

    gc.callbacks.append(callback)
    try:
        for _ in range(5):
            f(X)
    finally:
        gc.callbacks.remove(callback)
    assert "1 plan" in f.explain()
    assert gc.isenabled()


def test_debuggers_and_profilers_keep_working():
    import cProfile

    seen, f = [], tf.function(lambda x: x * SETTING)
    before = sys.gettrace()

    def tool(frame, event, arg):
        seen.append(frame.f_code)

    sys.settrace(tool)
    try:
        for _ in range(3):
            f(X)
        assert sys.gettrace() is tool
    finally:
        sys.settrace(before)
    assert seen.count(f.python_function.__code__) == 2
    with cProfile.Profile():
        for _ in range(3):
            f(tf.ones([4]))
    assert f.explain().count("1 plan") == 2


class _Hook:
    """An import hook that reads a global and asks for types, such as pytest's."""

    reads = 0

    def find_spec(self, name, path, target=None):
        _Hook.reads += type(name) is str and OFFSETS is not None


def test_import_hooks_are_no_user_code(monkeypatch):
    def f(x, n):
        import colorsys  # noqa: F401 (the import is what is tested)

        return x * n

    monkeypatch.setattr(sys, "meta_path", [_Hook(), *sys.meta_path])
    compiled = tf.function(f)
    for n in range(4):
        monkeypatch.delitem(sys.modules, "colorsys", raising=False)
        compiled(X, 0.5 * n)
    assert _Hook.reads
    assert "(float32[3], any float): 1 plan" in compiled.explain()
