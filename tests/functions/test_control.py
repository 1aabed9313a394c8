"""Control flow by Python, TensorArray, Python functions; behaviour as TensorFlow 2.21's."""

import numpy as np
import pytest

import framework as tf


def same(found, expected):
    if not tf.nest.is_nested(found):
        np.testing.assert_array_equal(np.asarray(found), expected)
        return
    expected = list(expected.values()) if isinstance(expected, dict) else expected
    for y, r in zip(tf.nest.flatten(found), expected, strict=True):
        same(y, r)


# ---- branches ------------------------------------------------------------------------------------


def test_cond_runs_one_branch():
    ran = []
    branches = lambda: ran.append("true") or 1, lambda: ran.append("false") or [tf.constant(2)]
    assert tf.cond(tf.constant(True), *branches) == 1
    same(tf.cond(tf.constant([0]), *branches), [2])
    assert ran == ["true", "false"]


def test_cond_differentiates():
    x = tf.Variable(3.0)
    for limit, slope in ((2.0, 6.0), (4.0, 1.0)):
        with tf.GradientTape() as tape:
            y = tf.cond(x > limit, lambda: x * x, lambda: x + 1.0)
        assert float(tape.gradient(y, x)) == slope


def test_case_takes_the_first_true():
    pairs = [(tf.constant(p), lambda p=p: p) for p in (False, True, True)]
    assert tf.case(pairs) is True
    assert tf.case([(tf.constant(False), lambda: 1)], default=lambda: 3) == 3
    assert tf.case({tf.constant(True).ref(): lambda: 4}) == 4
    with pytest.raises(ValueError, match="none of the predicates is true"):
        tf.case([(tf.constant(False), lambda: 1)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one predicate is true"):
        tf.case(pairs, exclusive=True)


@pytest.mark.parametrize(("index", "expected"), [(0, "a"), (1, "b"), (2, "b"), (-1, "b")])
def test_switch_case(index, expected):
    a, b = (lambda: "a"), (lambda: "b")
    for branches in ([a, b], {1: b, 0: a}, [(1, b), (0, a)]):
        assert tf.switch_case(tf.constant(index), branches) == expected
    found = tf.switch_case(tf.constant(index), [a, b], default=lambda: "other")
    assert found == (expected if index in (0, 1) else "other")


# ---- loops ---------------------------------------------------------------------------------------


def test_while_loop_keeps_the_structure():
    same(tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j * 2), [0, 1.0]), (3, 8.0))
    same(tf.while_loop(lambda i: i < 3, lambda i: [i + 1], (tf.constant(0),)), [3])
    found = tf.while_loop(
        lambda i, j: i < 3, lambda i, j: (i + 1, {"a": j["a"] * 2}), [0, {"a": 1.0}]
    )
    same(found[1]["a"], 8.0)
    assert all(tf.is_tensor(v) for v in tf.while_loop(lambda *_: False, None.__class__, [0, 1.0]))


def test_while_loop_stops_at_its_maximum():
    same(tf.while_loop(lambda i: True, lambda i: (i + 1,), [0], maximum_iterations=5), [5])


def test_while_loop_differentiates():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.constant(1.0)))
    assert float(tape.gradient(y, x)) == 12


def test_map_fn():
    x = tf.constant([[1, 2], [3, 4], [5, 6]])
    same(tf.map_fn(lambda row: row * 2, x), x * 2)
    same(tf.map_fn(tf.reduce_sum, x), [3, 7, 11])
    same(tf.map_fn(lambda r: (r[0], float(r[1])), x, fn_output_signature=(tf.int32, tf.float32)),
         ([1, 3, 5], [2.0, 4.0, 6.0]))  # fmt: skip
    found = tf.map_fn(lambda ab: ab[0] + ab[1]["b"], (x, {"b": 2 * x}), dtype=tf.int32)
    same(found, 3 * x)
    same(tf.map_fn(lambda r: {"s": r}, x, fn_output_signature={"s": tf.TensorSpec([2], tf.int32)}),
         {"s": x})  # fmt: skip
    empty = tf.map_fn(lambda row: tf.reduce_sum(row, keepdims=True), tf.zeros([0, 3]))
    assert (empty.shape, empty.dtype) == ((0, 1), tf.float32)


def test_map_fn_of_rows_of_different_lengths():
    x = tf.ragged.constant([[1, 2, 3], [], [4]])
    assert tf.map_fn(tf.math.square, x).to_list() == [[1, 4, 9], [], [16]]
    same(tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.int32), [6, 0, 4])
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    counts = tf.map_fn(tf.ragged.range, tf.constant([[2, 0], [1, 0]]), fn_output_signature=spec)
    assert (counts.to_list(), counts.dtype) == ([[[0, 1], []], [[0], []]], tf.int32)
    nested = tf.ragged.constant([[[1], [2, 3]], [[4]]])
    assert tf.map_fn(lambda rows: rows + 1, nested).to_list() == [[[2], [3, 4]], [[5]]]
    assert tf.map_fn(tf.math.square, x[:0]).to_list() == []
    with pytest.raises(ValueError, match="fn_output_signature"):
        tf.map_fn(tf.reduce_sum, x)


def test_map_fn_differentiates():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.map_fn(lambda v: v**3, x)
    same(tape.gradient(y, x), [3, 12, 27])


def test_folds():
    x, digits = tf.constant([1, 2, 3]), lambda a, v: 10 * a + v
    same(tf.foldl(digits, x), 123)
    same(tf.foldr(digits, x), 321)
    same(tf.foldl(digits, x, initializer=4), 4123)
    same(tf.foldr(lambda a, v: 10 * a + v[0], (x, x), initializer=4), 4321)
    same(tf.foldl(digits, tf.zeros([0]), initializer=1.0), 1.0)


def test_scan():
    x = tf.constant([1, 2, 3])
    same(tf.scan(lambda a, v: a + v, x), [1, 3, 6])
    same(tf.scan(lambda a, v: a + v, x, reverse=True), [6, 5, 3])
    same(tf.scan(lambda a, v: a + v, x, initializer=10), [11, 13, 16])
    same(tf.scan(lambda a, v: a + v, x, initializer=10, reverse=True), [16, 15, 13])
    same(tf.scan(lambda a, v: (a[0] + v, a[1] * v), x, initializer=(0, 1)), ([1, 3, 6], [1, 2, 6]))
    none = tf.scan(lambda a, v: a + v, tf.zeros([0]), initializer=[1.0, 2.0])
    assert [tuple(n.shape) for n in none] == [(0,), (0,)]
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.scan(lambda a, v: a * v, x)
    same(tape.gradient(y, x), [1 + 2 + 6, 1 + 3, 2])


# ---- TensorArray ---------------------------------------------------------------------------------


def test_a_tensor_array_is_written_and_read():
    array = tf.TensorArray(tf.float32, size=2)
    assert array.write(0, 1.0).write(1, tf.constant(2.0)) is array
    same(array.stack(), [1, 2])
    same(array.size(), 2)
    same(array.write(0, 5.0).read(0), 5)
    assert (array.dtype, array.dynamic_size, array.element_shape) == (tf.float32, False, ())
    assert array.handle is None
    assert tf.is_tensor(array.flow)
    assert array.identity() is array
    array.close()
    same(array.size(), 0)


def test_places_that_were_not_written_hold_zeros():
    same(tf.TensorArray(tf.float32, size=2).write(0, [1.0]).stack(), [[1], [0]])
    same(tf.TensorArray(tf.float32, size=0, dynamic_size=True).write(2, 1.0).stack(), [0, 0, 1])
    same(tf.TensorArray(tf.float32, size=2, element_shape=[2]).read(0), [0, 0])
    assert tf.TensorArray(tf.float32, size=0, element_shape=[2]).stack().shape == (0, 2)
    assert tf.TensorArray(tf.float32, size=0).stack().shape == (0,)


def test_many_places_at_once():
    make = lambda n, **more: tf.TensorArray(tf.float32, size=n, **more)
    same(make(2).unstack([[1.0], [2.0]]).concat(), [1, 2])
    same(make(2).unstack([[1.0], [2.0]]).gather([1, 0]), [[2], [1]])
    same(make(3).scatter([2, 0], [[1.0], [2.0]]).stack(), [[2], [0], [1]])
    parts = make(2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    same(parts.concat(), [1, 2, 3])
    same(parts.read(1), [2, 3])


def test_reading_clears():
    array = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 0 was read before"):
        array.read(0)
    kept = tf.TensorArray(tf.float32, size=1, clear_after_read=False).write(0, 3.0)
    same([kept.read(0), kept.read(0)], [3, 3])


def test_gathering_clears_nothing():
    array = tf.TensorArray(tf.float32, size=3).unstack([1.0, 2.0, 3.0])
    for _ in range(2):
        same(array.gather([0, 2]), [1, 3])
    array.read(0)
    with pytest.raises(ValueError, match="gather: index 0 was read before"):
        array.gather([0])
    with pytest.raises(IndexError, match="gather: index 3 is out of range for 3"):
        array.gather([3])


def test_unstacking_and_splitting_set_the_size():
    array = tf.TensorArray(tf.float32, size=5).write(4, 9.0)
    same(array.unstack([1.0, 2.0]).size(), 2)
    same(array.stack(), [1, 2])
    parts = tf.TensorArray(tf.float32, size=4, infer_shape=False).split([1.0, 2.0, 3.0], [2, 1])
    same(parts.size(), 2)


@pytest.mark.parametrize("value", [3.0, 3, np.float64(3), np.float32(3), np.int64(3)], ids=repr)
def test_a_tensor_array_takes_numpys_numbers(value):
    for write in (
        lambda array: array.write(0, value),
        lambda array: array.unstack(np.array([value])),
        lambda array: array.scatter([0], np.array([value])),
        lambda array: array.split(np.array([value]), [1]),
    ):
        found = write(tf.TensorArray(tf.float32, size=1)).stack()
        assert found.dtype == "float32"
        assert found.numpy().ravel().tolist() == [3]


def test_gradients_go_through_a_tensor_array():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        array, power = tf.TensorArray(tf.float32, size=3), x
        for i in range(3):
            array, power = array.write(i, power), power * x
        y = tf.reduce_sum(array.stack())
    assert float(tape.gradient(y, x)) == 1 + 6 + 27


# ---- Python functions ----------------------------------------------------------------------------


def test_py_function_differentiates():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y, z = tf.py_function(lambda v: [v * 2, v * v], [x], [tf.float32, tf.float32])
        total = y + z
    same(tape.gradient(total, x), [4, 6])
    same(tf.py_function(lambda: 1, [], tf.int32), 1)
    assert tf.py_function(lambda x: None, [x], []) == []

    @tf.py_function(Tout=tf.float32)
    def halved(v):
        return v / 2

    same(halved(x), [0.5, 1])


def test_numpy_function_takes_arrays():
    def sums(x):
        assert type(x) is np.ndarray
        return x.sum(), x.sum(0)

    x = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        total, columns = tf.numpy_function(sums, [x], [tf.float32, tf.float32])
    same((total, columns), (3, [1, 2]))
    assert tape.gradient(total, x) is None
    same(tf.numpy_function(lambda v: 2.0, [x], tf.float32), 2)


@pytest.mark.parametrize("function", [tf.gradients, tf.hessians])
def test_functions_that_need_a_graph_raise(function):
    with pytest.raises(RuntimeError, match=r"needs a graph.*tape"):
        function(tf.ones(1), tf.ones(1))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: tf.cond(True, 1, 2), TypeError, "'true_fn' must be callable, got 1"),
        (lambda: tf.cond(tf.constant([True, False]), int, int), ValueError, "ambiguous"),
        (lambda: tf.switch_case(tf.constant(0.5), [int]), TypeError, "an integer, got float32"),
        (lambda: tf.switch_case(tf.constant(0), {1: int}), ValueError, r"from 0 to 0, got \[1\]"),
        (lambda: tf.while_loop(bool, bool, tf.constant(0)), ValueError, "list or tuple"),
        (lambda: tf.while_loop(lambda i, j: i < 3, lambda i, j: (i,), [0, 1]), ValueError,
         "same number of elements: 2 and 1"),
        (lambda: tf.map_fn(int, tf.constant(1)), ValueError, "at least one axis"),
        (lambda: tf.map_fn(float, tf.constant([1])), TypeError, "int32"),
        (lambda: tf.map_fn(lambda v: v, (tf.zeros([2]), tf.zeros([3]))), ValueError, r"\[2, 3\]"),
        (lambda: tf.foldl(max, tf.zeros([0])), ValueError, "no rows, and `initializer` is None"),
        (lambda: tf.TensorArray(tf.int32), ValueError, "`size` is required"),
        (lambda: tf.TensorArray(tf.int32, 2).write(5, 1), IndexError, "5 is out of range for 2"),
        (lambda: tf.TensorArray(tf.int32, 2).read(5), IndexError, "index 5 is out of range for 2"),
        (lambda: tf.TensorArray(tf.int32, 2).read(0), ValueError, "pass element_shape"),
        (lambda: tf.TensorArray(tf.int32, 1).write(0, tf.ones(1)), TypeError, "got float32"),
        (lambda: tf.TensorArray(tf.int32, 1).write(0, np.array(2.7)), TypeError, "got float64"),
        (lambda: tf.TensorArray(tf.int32, 2).write(0, [1]).write(1, 1), ValueError, r"\(1,\), got"),
        (lambda: tf.TensorArray(tf.int32, 1).unstack([1, 2]), IndexError, "2 elements for size 1"),
        (lambda: tf.TensorArray(tf.int32, 1).scatter([0], [1, 2]), ValueError, "got 1 indices"),
        (lambda: tf.TensorArray(tf.int32, 1).split([1, 2], [1]), ValueError, "do not add up"),
        (lambda: tf.py_function(int, [1]), ValueError, "Tout, the dtype of the result"),
        (lambda: tf.py_function(lambda x: x, [1], [tf.int32] * 2), ValueError, "2 results.*got 1"),
        (lambda: tf.numpy_function(np.float64, [1.0], tf.float32), TypeError, "got float64"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()
