"""Variables: TensorFlow's face and Keras's, assigning, in-place updates, copies."""

import copy
import gc
import pickle

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.variable import CoreVariable


def test_tensorflows_constructor():
    v = tf.Variable([1, 2], trainable=False, name="count")
    assert (v.name, v.dtype, v.shape, v.trainable) == ("count:0", "int32", (2,), False)
    assert tf.Variable(1).dtype == "int32"
    assert tf.Variable(1.0, dtype=tf.float64).dtype == "float64"
    assert tf.Variable(lambda: tf.ones([2])).numpy().tolist() == [1, 1]
    assert tf.Variable(tf.Variable(3.0)).numpy() == 3.0
    assert tf.Variable(2.0).trainable is True


def test_kerass_constructor():
    v = keras.Variable(lambda shape, dtype: tf.ones(shape, dtype), shape=(2, 3), name="kernel")
    assert (v.name, v.path, v.dtype, tuple(v.shape)) == ("kernel", "kernel", "float32", (2, 3))
    assert isinstance(v.dtype, str)
    assert v.value.numpy().tolist() == [[1, 1, 1]] * 2
    with keras.name_scope("block"), keras.name_scope("dense"):
        assert keras.Variable(1.0, name="bias").path == "block/dense/bias"


def test_the_apis_differ_where_tensorflow_and_keras_differ():
    t, k = tf.Variable([1.0, 2.0]), keras.Variable([1.0, 2.0])
    assert t.value().numpy().tolist() == k.value.numpy().tolist()
    assert isinstance(k, tf.Variable)
    assert isinstance(t, tf.Variable)
    assert not isinstance(t, keras.Variable)
    assert not isinstance(tf.constant(1.0), tf.Variable)
    with pytest.raises(TypeError, match=r"float32.*int32"):  # TensorFlow's promotes nothing
        t + tf.constant([1, 2])
    assert (k + tf.constant([1, 2])).dtype == "float32"
    with pytest.raises(TypeError, match=r"assign got a value of dtype int32, expected float32"):
        t.assign(tf.constant([1, 2]))
    assert k.assign(tf.constant([3, 4])).numpy().tolist() == [3, 4]


@pytest.mark.parametrize("kind", [tf.Variable, keras.Variable])
def test_assigning(kind):
    v = kind([1.0, 2.0])
    assert v.assign([3.0, 4.0]) is v
    assert v.assign_add([1.0, 1.0]).numpy().tolist() == [4, 5]
    assert v.assign_sub(np.float32([1, 2])).numpy().tolist() == [3, 3]
    assert v.assign_add(tf.constant([1.0, 0.0])).numpy().tolist() == [4, 3]
    assert v.assign_sub(v).numpy().tolist() == [0, 0]
    assert v.assign(tf.Variable([7.0, 8.0])).numpy().tolist() == [7, 8]
    assert v.dtype == "float32"


@pytest.mark.parametrize("kind", [tf.Variable, keras.Variable])
def test_an_assigned_value_of_another_shape(kind):
    v = kind([1.0, 2.0], name="w")
    with pytest.raises(ValueError, match=r"'w.*shape \(3,\), expected \(2,\)"):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"shape \(\), expected \(2,\)"):
        v.assign(1.0)
    with pytest.raises(ValueError, match=r"assign_add.*\(2, 1\)"):
        v.assign_add([[1.0], [1.0]])
    assert v.numpy().tolist() == [1, 2]


INTEGERS = [
    ("assign", 2.7), ("assign_add", 0.5), ("assign_sub", [1.5]), ("assign", None),
    ("assign", tf.constant(1.0)), ("assign", True * 1j),
]  # fmt: skip


@pytest.mark.parametrize(("how", "value"), INTEGERS, ids=str)
def test_integers_are_assigned_integers(how, value):
    v = tf.Variable(1)
    with pytest.raises(TypeError):
        getattr(v, how)(value)
    assert v.numpy() == 1
    assert keras.Variable(1, dtype="int32").assign(2.7).numpy() == 2  # Keras's casts


def test_what_else_does_not_become_a_variables_value():
    with pytest.raises(ValueError, match="ragged"):
        tf.Variable([1.0, 2.0]).assign([[1.0], [1.0, 2.0]])
    with pytest.raises(TypeError, match="requested dtype int32 for a tensor of dtype float32"):
        tf.Variable(tf.constant(1.5), dtype=tf.int32)
    assert tf.Variable(1, dtype=tf.float64).assign(np.float32(2)).dtype == "float64"


def test_slices_are_assigned():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    before = v[0]
    assert v[0, 1].assign(42.0) is v
    v[:, 0].assign([5, tf.constant(6.0)])
    v[tf.newaxis, 1:].assign(tf.reshape(v[1] * 2.0, [1, 1, 2]))
    assert v.numpy().tolist() == [[5, 42], [12, 8]]
    assert before.numpy().tolist() == [1, 2]
    v[:, 0].assign(1.0)
    v[1].assign([[7.0, 8.0]])
    assert v.numpy().tolist() == [[1, 42], [7, 8]]
    tf.strided_slice(v, [0], [1], var=v).assign([[0.0, 1.0]])
    assert v.numpy().tolist() == [[0, 1], [7, 8]]
    with pytest.raises(ValueError, match=r"shape \(\), got shape \(2,\)"):
        v[0, 1].assign([1.0, 2.0])
    with pytest.raises(TypeError, match="float32"):
        v[0, 1].assign(tf.constant(1))
    assert not hasattr(v[0] * 1.0, "assign")
    assert not hasattr(tf.constant([1.0])[0], "assign")


def test_plans_assign_slices():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v[1:].assign(v[:2] * x)
        return v[2] + x

    for n in range(4):
        v.assign([1.0, 2.0, 3.0])
        assert f(tf.constant(float(n))).numpy() == 3 * n
        assert v.numpy().tolist() == [1, n, 2 * n]
    assert "1 plan" in f.explain()


def test_threads_lose_no_update(in_four_threads):
    v, large = tf.Variable(0.0), tf.Variable(tf.zeros([50000]))
    in_four_threads(lambda: [(v.assign_add(1.0), large.assign_sub(1.0)) for _ in range(500)])
    assert v.numpy() == 2000
    assert np.all(large.numpy() == -2000)


@pytest.mark.parametrize("kind", [tf.Variable, keras.Variable])
def test_what_was_read_never_changes(kind):
    """Every way to look at a variable, taken before in-place updates of it."""
    v = kind(np.arange(4.0, dtype=np.float32))
    looks = [v.read(), v[1:], v.numpy(), np.asarray(v), tf.reshape(v, [2, 2]), v + 0.0,
             np.asarray(v.read()), v.read().numpy(), tf.identity(v)]  # fmt: skip
    before = [np.array(look) for look in looks]
    for _ in range(3):
        v.assign_add(np.ones(4, np.float32))
    for look, old in zip(looks, before, strict=True):
        np.testing.assert_array_equal(np.array(look), old)
    assert v.numpy().tolist() == [3, 4, 5, 6]


def test_updates_without_other_references_are_in_place():
    v = tf.Variable(np.zeros(1000, np.float32))
    place = v.array.ctypes.data
    for _ in range(5):
        v.assign_sub(np.ones(1000, np.float32))
    assert v.array.ctypes.data == place
    read = v.read()
    v.assign_sub(np.ones(1000, np.float32))
    assert v.array.ctypes.data != place
    assert read.numpy()[0] == -5


def test_a_variable_does_not_share_what_it_was_made_from():
    source = np.zeros(2, np.float32)
    v, k = tf.Variable(source), keras.Variable(source)
    t = tf.Variable(tf.constant(source))
    source[:] = 5
    for each in (v, k, t):
        assert each.numpy().tolist() == [0, 0]
    v.assign(source)
    source[:] = 6
    assert v.numpy().tolist() == [5, 5]


def test_the_gradient_is_at_the_value_that_was_read():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        z = y + v * v
    assert float(tape.gradient(z, v)) == 14.0


def test_variables_are_unhashable_but_have_refs():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)
    assert {v.ref(): 1, w.ref(): 2}[v.ref()] == 1
    assert v.ref().deref() is v
    assert bool(v == w) is True


def test_python_reads_them():
    v = tf.Variable(2.0)
    assert (float(v), int(v), bool(v), complex(v)) == (2.0, 2, True, 2)
    assert list(range(tf.Variable(2))) == [0, 1]
    assert len(tf.Variable([1.0, 2.0])) == 2
    assert [float(x) for x in tf.Variable([1.0, 2.0])] == [1, 2]
    assert max([tf.Variable(1.0), tf.Variable(3.0)]).numpy() == 3


def test_copies():
    v = tf.Variable([1.0, 2.0], trainable=False, name="w")
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        other.assign_add([1.0, 1.0])
        assert other.numpy().tolist() == [2, 3]
        assert (other.name, other.trainable) == ("w:0", False)
    assert v.numpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"copy\.deepcopy"):
        copy.copy(v)
    k = copy.deepcopy(keras.Variable(1.0, name="k"))
    assert (k.path, float(k)) == ("k", 1.0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tf.Variable(), "`initial_value` arg to `tf.Variable` must be specified"),
        (lambda: tf.Variable([1.0, 2.0], shape=(3,)), r"expected shape \(3,\), got \(2,\)"),
        (lambda: keras.Variable(lambda shape, dtype: None), "needs shape="),
        (lambda: keras.Variable(1.0, name="a/b"), "must not contain '/'"),
    ],
)
def test_bad_arguments(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_an_array_goes_with_its_variable():
    """Nothing keeps a variable, or its array, alive."""
    gc.collect()
    before = sum(issubclass(type(o), CoreVariable) for o in gc.get_objects())
    v = tf.Variable(np.zeros(10))
    v.assign_add(np.ones(10))
    with tf.GradientTape() as tape:
        tape.gradient(tf.reduce_sum(v * v), v)
    del v, tape
    assert sum(issubclass(type(o), CoreVariable) for o in gc.get_objects()) == before


def test_a_shape_may_leave_sizes_open():
    v = tf.Variable([[1.0, 2.0]], shape=tf.TensorShape([None, 2]))
    assert v.shape == v.get_shape() == (None, 2)
    assert tf.shape(v).numpy().tolist() == [1, 2]
    v.assign(tf.ones([3, 2]))
    assert v.numpy().shape == (v + 1.0).shape == (3, 2)
    v.assign_add(tf.ones([3, 2]))
    keras.optimizers.SGD(0.5).apply_gradients([(tf.ones([3, 2]), v)])
    assert v.numpy().tolist() == [[1.5, 1.5]] * 3
    for change, value in ((v.assign, [1.0]), (v.assign, [[1.0]]), (v.assign_add, [[1.0, 1.0]])):
        with pytest.raises(ValueError, match=r"expected \(None, 2\)"):
            change(value)
    other = copy.deepcopy(v)
    other.assign(tf.zeros([1, 2]))
    assert v.numpy().shape == (3, 2)
    with pytest.raises(ValueError, match=r"expected shape \(None, 3\), got"):
        tf.Variable([[1.0, 2.0]], shape=[None, 3])


def test_plans_see_that_a_variable_has_another_size():
    v = tf.Variable([1.0, 2.0], shape=[None])

    @tf.function
    def taken(x):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v) * x + tf.cast(tf.shape(v)[0], "float32")
        return y, tape.gradient(y, v)

    for size in (2, 2, 2, 2, 4, 4, 4, 3, 2, 4):
        v.assign(tf.fill([size], 2.0))
        y, gradient = taken(1.0)
        assert (float(y), gradient.numpy().tolist()) == (5.0 * size, [4.0] * size)

    @tf.function
    def grow(x):
        v.assign(tf.concat([v, [x]], 0))
        return tf.reduce_sum(v)

    v.assign([1.0])
    assert [float(grow(2.0)) for _ in range(8)] == [3, 5, 7, 9, 11, 13, 15, 17]
