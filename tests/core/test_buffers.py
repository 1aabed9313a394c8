"""`exclusive`: true only if there is no other reference to the array, on every supported Python."""

import functools
import gc
import sys
import threading
import types

import numpy as np
import pytest

import framework as tf
from framework.core.buffers import exclusive
from framework.core.tensor import Tensor

counting = sys.implementation.name == "cpython"


def fresh():
    return np.zeros(8, np.float32)


def closure(x):
    return lambda: x


class Owner:
    """Holds an array as an attribute and asks about it, as variables and batches do."""

    def __init__(self):
        self.array = fresh()

    def alone(self):
        array = self.array
        return exclusive(array, holders=2)


def test_an_array_under_one_name():
    a = fresh()
    assert exclusive(a) is counting
    b = a
    assert exclusive(a) is exclusive(b) is False
    del a
    assert exclusive(b) is counting


def test_an_attribute_and_a_name():
    owner = Owner()
    assert owner.alone() is counting
    assert [owner.alone() for _ in range(3)] == [counting] * 3


HOLDS = {
    "list": lambda o: [o.array],
    "dict": lambda o: {"a": o.array},
    "tuple in a list": lambda o: [(o.array,)],
    "view": lambda o: o.array[2:],
    "empty view": lambda o: o.array[:0],
    "view of a view": lambda o: o.array.reshape(2, 4).T[1:],
    "broadcast view": lambda o: np.broadcast_to(o.array, (3, 8)),
    "memoryview": lambda o: memoryview(o.array),
    "closure": lambda o: closure(o.array),
    "default argument": lambda o: lambda x=o.array: x,
    "attribute": lambda o: types.SimpleNamespace(x=o.array),
    "tensor": lambda o: Tensor(o.array),
    "iterator": lambda o: iter(o.array),
    "partial": lambda o: functools.partial(np.add, o.array),
    "bound method": lambda o: o.array.sum,
    "exception": lambda o: ValueError(o.array),
}


@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
def test_an_array_with_another_reference(hold):
    owner = Owner()
    holder = hold(owner)
    assert owner.alone() is False
    del holder
    gc.collect()
    assert owner.alone() is counting


def test_a_running_generator_holds():
    owner = Owner()

    def rows(array):
        yield from array

    generator = rows(owner.array)
    next(generator)
    assert owner.alone() is False
    generator.close()
    del generator
    assert owner.alone() is counting


def test_a_name_in_a_frame_below_holds():
    """From Python 3.14 on, names that came as arguments are not counted; what lent them is."""
    owner = Owner()

    def lowest():
        mine = owner.array
        return middle(mine), mine

    def middle(lent):
        again = lent
        return highest(again), lent, again

    def highest(lent):
        return owner.alone(), lent

    assert lowest()[0][0][0] is False
    assert owner.alone() is counting


def test_views_are_never_exclusive():
    a = fresh()
    view = a[:4]
    assert not exclusive(view)
    del a
    assert not exclusive(view)
    assert not exclusive(np.broadcast_to(np.zeros(1), 4))
    assert not exclusive(np.frombuffer(b"12345678", np.float32))
    frozen = fresh()
    frozen.flags.writeable = False
    assert not exclusive(frozen)


def test_arrays_in_another_order():
    a = np.zeros((2, 3), order="F")
    assert exclusive(a) is counting
    assert not exclusive(a, contiguous=True)
    a = np.zeros((2, 3))
    assert exclusive(a, contiguous=True) is counting


# ---- through variables, the one place where users' data is at stake ------------------------------


def updated_in_place(look):
    """Whether a variable's next update keeps its buffer, while `look(v)` is alive."""
    v = tf.Variable(fresh())
    seen = look(v)
    before = np.array(seen.array if hasattr(seen, "array") else seen, copy=True) if (
        isinstance(seen, (Tensor, np.ndarray))
    ) else None  # fmt: skip
    place = v.array.ctypes.data
    v.assign_add(np.ones(8, np.float32))
    if before is not None:
        now = seen.array if hasattr(seen, "array") else seen
        np.testing.assert_array_equal(now, before)
    return v.array.ctypes.data == place


def test_alone():
    assert updated_in_place(lambda v: None) is counting


LOOKS = {
    "read": lambda v: v.read(),
    "value": lambda v: v.value(),
    "identity": lambda v: tf.identity(v),
    "view by slicing": lambda v: v[2:],
    "view by reshape": lambda v: tf.reshape(v, [2, 4]),
    "the raw buffer": lambda v: v.array,
    "a user's view of it": lambda v: v.array[1:],
    "np.asarray of a read": lambda v: np.asarray(v.read()),
    "closure over a read": lambda v: closure(v.read()),
    "list of reads": lambda v: [v.read()],
    "a tensor made of it": lambda v: tf.convert_to_tensor(v),
    "broadcast": lambda v: tf.broadcast_to(v, [2, 8]),
    "stop_gradient": lambda v: tf.stop_gradient(v),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_with_a_view_of_the_array(look):
    assert updated_in_place(look) is False


def test_a_copy_is_no_look():
    assert updated_in_place(lambda v: v.numpy()) is counting
    assert updated_in_place(lambda v: np.asarray(v)) is counting


def test_a_user_array_is_never_written():
    mine = fresh()
    v = tf.Variable(mine)
    v.assign(mine)
    v.assign_add(np.ones(8, np.float32))
    value = tf.constant(mine)
    v.assign(value)
    v.assign_add(np.ones(8, np.float32))
    assert mine.sum() == 0
    assert value.numpy().sum() == 0
    assert v.numpy().sum() == 8


def test_a_record_keeps_the_value_it_saw():
    v = tf.Variable(np.full(8, 3.0, np.float32))
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    v.assign_add(np.ones(8, np.float32))
    v.assign_sub(np.ones(8, np.float32) * 2)
    np.testing.assert_array_equal(tape.gradient(y, v).numpy(), np.full(8, 6.0))


def test_two_variables_made_of_one_tensor():
    source = tf.constant(fresh())
    v, w = tf.Variable(source), tf.Variable(source)
    v.assign(source)
    w.assign(source)
    del source
    v.assign_add(np.ones(8, np.float32))
    assert w.numpy().sum() == 0
    w.assign(v)
    v.assign_add(np.ones(8, np.float32))
    assert (v.numpy().sum(), w.numpy().sum()) == (16, 8)


def test_a_result_is_not_taken_back():
    """What an assign gave is the variable; what a read gave is its own from then on."""
    v = tf.Variable(fresh())
    results = []
    for _ in range(3):
        v.assign_add(np.ones(8, np.float32))
        results.append(v.read())
    assert [float(r[0]) for r in results] == [1, 2, 3]


def test_other_threads_hold_too():
    owner, held, release = Owner(), threading.Event(), threading.Event()

    def worker():
        mine = owner.array
        held.set()
        release.wait()
        return mine

    thread = threading.Thread(target=worker)
    thread.start()
    held.wait()
    seen = owner.alone()
    release.set()
    thread.join()
    assert seen is False
    assert owner.alone() is counting
