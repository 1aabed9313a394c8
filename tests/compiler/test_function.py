"""`tf.function`: decoration, arguments, results and `explain`."""

import copy
import functools
import inspect
import threading

import numpy as np
import pytest

import framework as tf
from tests.autodiff.values import values

# ---- decoration ----------------------------------------------------------------------------------


def double(x):
    """Twice x."""
    return x + x


class Model:
    def __init__(self, factor):
        self.factor = factor

    @tf.function
    def plain(self, x):
        return x * self.factor

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def with_signature(self, x):
        return x * self.factor

    @classmethod
    @tf.function
    def of_class(cls, x):
        return x + x


class Callable:
    def __call__(self, x):
        return x + x


APPLIED = {
    "call": lambda: tf.function(double),
    "call with arguments": lambda: tf.function(double, jit_compile=True, reduce_retracing=True),
    "decorator with arguments": lambda: tf.function(autograph=False)(double),
    "decorator with parentheses": lambda: tf.function()(double),
    "partial": lambda: tf.function(functools.partial(lambda n, x: x * n, 2.0)),
    "lambda": lambda: tf.function(lambda x: x * 2.0),
    "nested": lambda: tf.function(tf.function(double)),
    "bound method": lambda: tf.function(Model(2.0).plain),
    "method": lambda: Model(2.0).plain,
    "method with input_signature": lambda: Model(2.0).with_signature,
    "class method": lambda: Model.of_class,
    "object": lambda: tf.function(Callable()),
    "signature": lambda: tf.function(double, input_signature=[tf.TensorSpec(None)]),
}


@pytest.mark.parametrize("name", APPLIED)
def test_results_and_gradients(name):
    f = APPLIED[name]()
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert values(y) == [2.0, 4.0]
    assert values(tape.gradient(y, x)) == [2.0, 2.0]


def test_name_docstring_and_signature_are_kept():
    f = tf.function(double)
    assert (f.__name__, f.__doc__) == ("double", "Twice x.")
    assert f.__wrapped__ is f.python_function is double
    assert list(inspect.signature(f).parameters) == ["x"]


def test_methods_of_two_objects_have_separate_plans():
    a, b = Model(2.0), Model(3.0)
    assert values([a.plain(tf.constant(1.0)), b.plain(tf.constant(1.0))]) == [2.0, 3.0]
    assert values(Model.plain(b, tf.constant(1.0))) == 3.0


def test_decorating_an_object_that_is_not_callable():
    with pytest.raises(ValueError, match="expected a callable, got int"):
        tf.function(3)


def test_the_body_runs_twice_for_a_signature():
    calls = []
    f = tf.function(lambda x: calls.append(1) or x + 1.0)
    for n in range(5):
        assert values(f(tf.constant(float(n)))) == n + 1.0
    assert len(calls) == 2
    f(tf.zeros([2]))
    assert len(calls) == 3


def test_jit_compile_false_runs_the_body_at_every_call():
    calls = []
    f = tf.function(lambda x: calls.append(1) or x, jit_compile=False)
    for _ in range(3):
        f(tf.constant(1.0))
    assert len(calls) == 3
    assert f.explain() == "<lambda> runs eagerly: jit_compile=False."


def test_variables_are_read_and_assigned():
    v = tf.Variable(1.0)

    @tf.function
    def step(x):
        v.assign_add(x)
        return v

    assert values(step(tf.constant(2.0))) == 3.0
    assert isinstance(step(tf.constant(2.0)), tf.Tensor)
    assert values(v) == 5.0


@pytest.mark.parametrize("error", [KeyError("x"), ValueError("y"), ZeroDivisionError()])
def test_exceptions_of_the_body_propagate(error):
    @tf.function
    def f(x):
        raise error

    with pytest.raises(type(error)) as raised:
        f(tf.constant(1.0))
    assert raised.value is error


# ---- arguments and results -----------------------------------------------------------------------


def test_arrays_arrive_as_tensors_and_python_values_as_they_are():
    seen = []

    @tf.function
    def f(*args, **kwargs):
        seen.append(tf.nest.map_structure(type, (list(args), kwargs)))

    f(np.ones(2), 2, 3.0, "text", None, np.float32(1), [np.ones(1), 2], k={"a": np.ones(1)})
    assert seen[0] == (
        [tf.Tensor, int, float, str, type(None), tf.Tensor, [tf.Tensor, int]],
        {"k": {"a": tf.Tensor}},
    )


RESULTS = {
    "float": (lambda: 1.5, tf.float32),
    "int": (lambda: 2, tf.int32),
    "bool": (lambda: True, tf.bool),
    "float64 array": (lambda: np.ones(2), tf.float64),
    "scalar": (lambda: np.float32(1), tf.float32),
    "text": (lambda: "text", tf.string),
    "shape": (lambda: tf.zeros([]).shape, tf.int32),
    "variable": (lambda: tf.Variable(1.0), tf.float32),
    "tensor": (lambda: tf.constant(1), tf.int32),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_tensors(name):
    result, dtype = RESULTS[name]
    for found in (
        tf.function(result)(),
        tf.function(lambda: (None, [result()], {"a": result()}))()[1][0],
    ):
        assert type(found) is tf.Tensor
        assert found.dtype == dtype


def test_results_keep_their_structure():
    y = tf.function(lambda x: {"a": x, "b": (x, [1, None])})(tf.constant(1.0))
    assert values(y) == {"a": 1.0, "b": (1.0, [1, None])}
    assert tf.function(lambda: None)() is None
    marker = object()
    assert tf.function(lambda: marker)() is marker


# ---- input_signature -----------------------------------------------------------------------------


@tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)])
def signed(x, n=3):
    """Its first parameter is a matrix."""
    return x * tf.cast(n, tf.float32)


ROWS = [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((tf.constant(ROWS), tf.constant(2)), {}), ((np.array(ROWS), 2), {}), ((ROWS, 2), {}),
        (([[1, 2]],), {"n": 2}), ((), {"n": np.int64(2), "x": ROWS}), ((tf.Variable(ROWS), 2), {}),
    ],
)  # fmt: skip
def test_arguments_are_converted_to_the_signature(args, kwargs):
    assert values(signed(*args, **kwargs)) == [[2.0, 4.0]]
    assert values(signed(tf.constant(ROWS))) == [[3.0, 6.0]]


@pytest.mark.parametrize(
    ("args", "kwargs", "named"),
    [
        ((tf.ones([1, 3]), 2), {}, r"'x' is TensorSpec\(shape=\(1, 3\).*expects .*\(None, 2\)"),
        ((tf.ones([2]), 2), {}, r"'x' is TensorSpec\(shape=\(2,\)"),
        ((tf.ones([1, 2], tf.float64), 2), {}, "'x' is .*tf.float64.*expects .*tf.float32"),
        ((tf.ones([1, 2]), 2.5), {}, "'n' is 2.5"),
        ((tf.ones([1, 2]), "a"), {}, "'n' is 'a'"),
        ((tf.ones([1, 2]), None), {}, "'n' is None"),
        ((), {}, "missing a required argument: 'x'"),
        ((1, 2, 3), {}, "too many positional"),
        ((tf.ones([1, 2]),), {"q": 1}, "unexpected keyword argument 'q'"),
    ],
)
def test_arguments_that_do_not_fit(args, kwargs, named):
    with pytest.raises(TypeError, match=named) as raised:
        signed(*args, **kwargs)
    assert "signed" in str(raised.value)
    assert isinstance(raised.value, ValueError)


def test_parameters_without_a_spec_keep_their_defaults():
    f = tf.function(lambda x, y=2.0, *, z=1.0: x * y * z, input_signature=[tf.TensorSpec([])])
    assert values(f(3.0)) == 6.0
    for args, kwargs in (((3.0, 4.0), {}), ((3.0,), {"z": 4.0})):
        with pytest.raises(TypeError, match="takes 1 arguments by its input_signature, got 2"):
            f(*args, **kwargs)


def test_nests_in_the_signature():
    one = tf.TensorSpec([], tf.float32)
    f = tf.function(lambda a, b: a[0] * a[1] + b["k"], input_signature=[(one, one), {"k": one}])
    assert values(f((2, 3), {"k": 4})) == 10.0
    for args, named in [
        (((2, 3, 4), {"k": 4}), "'a'"), ((2, {"k": 4}), "'a'"), (((2, 3), {"q": 4}), "'b'"),
        (((2, "x"), {"k": 4}), r"'a\[1\]'"), (((2, 3), {"k": "x"}), r"b\['k'\]"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=named):
            f(*args)


@pytest.mark.parametrize(
    ("signature", "named"),
    [
        (3, "tuple or a list, got <class 'int'>"),
        ([3], "got 3"),
        ([[tf.float32]], "sequence of Ten"),
    ],
)
def test_signatures_that_are_none(signature, named):
    with pytest.raises(TypeError, match=named):
        tf.function(double, input_signature=signature)


# ---- explain -------------------------------------------------------------------------------------


def test_explain():
    f = tf.function(double)
    assert f.explain() == "double has 0 plans; it was called 0 times."
    for _ in range(2):
        f(tf.ones([2, 3]))
        f(tf.zeros([2, 3]))
        f(np.ones(4, np.int64))
        f(2.0)
    assert f.explain() == (
        "double has 3 plans; it was called 8 times.\n"
        "(float32[2, 3]): 1 plan.\n(int64[4]): 1 plan.\n(2.0): 1 plan."
    )
    assert f.pretty_printed_concrete_signatures().count("\n") == 2


def test_one_plan_for_each_path_through_conditions():
    @tf.function
    def f(x):
        return x * 2.0 if x > 0.0 else -x

    for n in (1.0, -1.0, 3.0, -3.0, 2.0, -2.0):
        assert values(f(tf.constant(n))) == (2 * n if n > 0 else -n)
    assert f.explain() == (
        "f has 2 plans; it was called 6 times.\n"
        "(float32[]): 2 plans, one for each path of values that Python reads (bool)."
    )


def test_functions_that_cannot_be_compiled_run_eagerly_and_log_once(caplog):
    seen = []

    @tf.function
    def f(x):
        y = tf.tanh(x)
        seen.append(y.numpy())
        return y

    for n in (1.0, 2.0):
        f(tf.constant([n]))
    assert np.allclose(seen, np.tanh([[1.0], [2.0]]))
    (record,) = caplog.records
    told = record.getMessage()
    assert told.startswith(
        "f runs eagerly: Python reads the result of tanh as an array (numpy) at "
    )
    assert "test_function.py:" in told
    assert "runs eagerly: Python reads the result of tanh" in f.explain()


def test_the_number_of_plans_is_limited(caplog):
    f = tf.function(lambda x, n: x * float(n))
    for n in range(200):
        assert values(f(tf.constant(2.0), float(n // 2))) == 2.0 * (n // 2)
    assert "31 plans" in f.explain()
    assert len(f.explain()) < 3000
    (record,) = caplog.records
    assert "called with more than 32 signatures" in record.getMessage()


def test_a_thousand_numbers_share_one_plan():
    calls = []

    def body(x, n):
        calls.append(n)
        return x * n + (n * 0.5 - 1)

    f = tf.function(body)
    x = tf.constant([1.5, -2.0, 3.0])
    found = [f(x, 0.1 + 0.37 * i).numpy() for i in range(1000)]
    assert len(calls) == 2 + 7  # two traces, and audits of calls 10 to 640
    expected = [body(x, 0.1 + 0.37 * i).numpy() for i in range(1000)]
    assert np.array(found).tobytes() == np.array(expected).tobytes()
    assert f.explain() == (
        "body has 1 plan; it was called 1000 times.\n(float32[3], any float): 1 plan."
    )


def test_explain_says_which_numbers_are_values_and_which_are_read():
    f = tf.function(lambda x, n, rate: x * rate if n > 3 else x / rate)
    for n in range(1, 9):
        for rate in (0.1, 0.2):
            f(tf.ones([2]), n, rate * n)
    assert f.explain().splitlines()[-1] == (
        "(float32[2], any int, any float): 2 plans, one for each path of values that Python reads "
        "(bool)."
    )


@pytest.mark.parametrize("numbers", [(1.0, 2.5, 3.0, 1.5), (2, 3, 2.5, 3.5, 4)])
def test_numbers_that_do_not_fit_raise_as_in_python(numbers):
    whole = tf.constant([1, 2])
    f = tf.function(lambda x, n: x + n)
    for n in numbers:
        if type(n) is int:
            assert values(f(whole, n)) == [1 + n, 2 + n]
            continue
        with pytest.raises(TypeError) as raised:
            f(whole, n)
        with pytest.raises(TypeError) as expected:
            f.python_function(whole, n)
        assert str(raised.value) == str(expected.value)


@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_too_large_for_any_dtype():
    f = tf.function(lambda x, n: x * n)
    for x, numbers in (
        (tf.constant([1.0, -2.0]), (1.0, 2.0, 1e300, 3.0, -1e300)),
        (tf.constant([1, 2]), (1, 2, 3)),
    ):
        for n in numbers:
            assert values(f(x, n)) == values(f.python_function(x, n))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"got the number .*, expected -2147483648 to"):
            f(tf.constant([1, 2]), 2**40)


def test_numbers_that_a_dtype_cannot_hold():
    wanted = [tf.float32]
    whole = tf.function(lambda n: tf.constant(n, wanted[0]))
    free = tf.function(lambda n: tf.constant(n))
    assert values(whole(0.5)) == 0.5
    wanted[0] = tf.int32
    for n in (1.5, 2.5):
        with pytest.raises(TypeError, match=f"Cannot convert {n}"):
            whole(n)
    for n in (1, 2, 3):
        assert values(free(n)) == n
    assert "any int" in free.explain()
    assert free(2**40).dtype == "int64"


def test_a_body_that_rejects_symbolic_numbers_is_undone_and_repeated():
    v = tf.Variable(0.0)

    @tf.function
    def f(n):
        v.assign_add(1.0)
        noise = tf.random.uniform([2], seed=3)
        return noise * float.__mul__(n, 2.0)

    tf.random.set_seed(1)
    found = [values(f(float(n))) for n in range(5)]
    assert values(v) == 5.0
    tf.random.set_seed(1)
    assert found == [values(f.python_function(float(n))) for n in range(5)]


def test_a_symbolic_number_kept_after_the_trace_acts_as_a_plain_one():
    kept = []

    @tf.function
    def f(x, n):
        kept.append(n)
        return x * n

    for n in (1.5, 2.5):
        f(tf.constant([1.0]), n)
    number = kept[1]
    assert isinstance(number, float)
    assert not isinstance(number, int)
    assert type(number * 2) is float
    assert (number, number + 1, f"{number:.2f}", round(number), {2.5: 1}[number]) == (
        2.5, 3.5, "2.50", 2, 1,
    )  # fmt: skip
    assert type(copy.deepcopy(number)) is float
    assert number.is_integer() is False
    assert values(tf.constant([2.0]) * number) == [5.0]
    with pytest.raises(AttributeError, match="'float' object has no attribute 'size'"):
        number.size  # noqa: B018


def test_a_number_as_learning_rate():
    w = tf.Variable([1.0, -2.0])
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def step(rate):
        optimizer.learning_rate = rate
        optimizer.apply_gradients([(w * 2.0, w)])
        return optimizer.learning_rate * 1.0

    for n in range(20):
        assert values(step(0.5**n)) == 0.5**n
    assert "(any float): 1 plan, one" in step.explain()
    with pytest.raises(ValueError, match="expected a number >= 0"):
        step(-1.0)


def test_threads():
    f = tf.function(double)
    found = []
    threads = [
        threading.Thread(target=lambda k=k: found.append(values(f(tf.constant(k))) == 2 * k))
        for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_signatures_of_many_objects_are_known():
    class Module(tf.Module):
        @tf.function
        def f(self, x):
            return x

    for _ in range(600):
        module = Module()
        module.f(tf.ones([2]))
    assert Module.f.signatures_of(module) == [([tf.TensorSpec([2])], {})]
    assert len(Module.f._signatures._seen) <= 256


class Table:
    """As a table of pandas: `==` returns no bool."""

    def __init__(self, rows):
        self.rows = rows

    def __eq__(self, other):
        raise ValueError("the truth value is ambiguous")

    __hash__ = None


def test_arguments_without_an_equality():
    twice = tf.function(lambda x: tf.constant(x.rows) * 2)
    tables = [Table([n]) for n in range(4)]
    assert [twice(table).tolist() for table in tables + tables] == [[0], [2], [4], [6]] * 2
    total = tf.function(tf.sparse.reduce_sum)
    assert [total(tf.sparse.eye(n)).item() for n in (2, 3, 2)] == [2, 3, 2]


def test_sparse_specs_in_signatures():
    spec = tf.SparseTensorSpec([None, None])
    dense = tf.function(tf.sparse.to_dense, input_signature=[spec])
    assert dense(tf.sparse.eye(2)).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(TypeError, match="expects SparseTensorSpec"):
        dense(tf.eye(2))
