"""What a tape watches and records: sections 1 and 7 of TensorFlow's contract for tapes."""

import numpy as np
import pytest

import framework as tf
from framework.core import nest as nests
from tests.autodiff.values import values

# ---- recording -----------------------------------------------------------------------------------


def test_a_constant_never_watched_gives_none():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_watching_is_not_retroactive():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    assert tape.gradient(y, x) is None


def test_ops_before_and_after_the_block_are_not_recorded():
    x = tf.Variable(3.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        inside = before * x
    after = x * inside
    assert values(tape.gradient(inside, x)) == 9.0
    assert tape.gradient(after, x) is None


@pytest.mark.parametrize(
    "arranged",
    [
        lambda a, b, c: a,
        lambda a, b, c: [a, b, c],
        lambda a, b, c: (a, (b, [c])),
        lambda a, b, c: {"a": a, "rest": [b, {"c": c}]},
    ],
)
def test_watch_takes_any_nest(arranged):
    a, b, c = tf.constant(2.0), tf.constant(3.0), tf.Variable(4.0, trainable=False)
    nest = arranged(a, b, c)
    with tf.GradientTape() as tape:
        tape.watch(nest)
        y = a * b * c
    found = tape.gradient(y, nest)
    expected = {2.0: 12.0, 3.0: 8.0, 4.0: 6.0}
    assert values(found) == nests.map_structure(lambda leaf: expected[float(leaf)], nest)


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (np.ones(2), "ndarray"), ([tf.constant(1.0), np.ones(2)], "ndarray"), (3.0, "float"),
        ("x", "str"), (None, "NoneType"), ({"a": np.float32(1)}, "float32"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("entered", [True, False])
def test_watch_refuses_what_has_no_identity(item, named, entered):
    tape = tf.GradientTape()
    if entered:
        with tape, pytest.raises(ValueError, match=named) as raised:
            tape.watch(item)
    else:
        with pytest.raises(ValueError, match=named) as raised:
            tape.watch(item)
    assert "convert_to_tensor" in str(raised.value)


@pytest.mark.parametrize("other", [tf.constant(3), tf.constant("text"), tf.constant(True)])
def test_what_has_no_derivative_may_be_watched_and_gets_none(other):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, other])
        y = x * x
    assert values(tape.gradient(y, [x, other])) == [4.0, None]


# ---- variables -----------------------------------------------------------------------------------

READS = {
    "operator": (lambda v: v * v, 4.0),
    "value": (lambda v: v.value() * 2.0, 2.0),
    "read_value": (lambda v: v.read_value() * 2.0, 2.0),
    "number": (lambda v: v + 1.0, 1.0),
    "reflected": (lambda v: 1.0 / v, -0.25),
    "convert_to_tensor": (lambda v: tf.convert_to_tensor(v) * 3.0, 3.0),
    "identity": (lambda v: tf.identity(v) * 3.0, 3.0),
    "function": (lambda v: tf.square(v), 4.0),
    "reduction": (lambda v: tf.reduce_sum(v), 1.0),
    "in a list": (lambda v: tf.add_n([v, v]), 2.0),
    "stacked": (lambda v: tf.stack([v, v]), 2.0),
    "negative": (lambda v: -v, -1.0),
    "numpy": (lambda v: np.float32(3.0) * v, 3.0),
    "numpy's function": (lambda v: np.square(v), 4.0),
    "max": (lambda v: max([tf.Variable(1.0), v]) * 1.0, 1.0),
}


@pytest.mark.parametrize("name", READS)
def test_every_kind_of_read_is_watched(name):
    function, expected = READS[name]
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = function(v)
    assert any(v is each for each in tape.watched_variables())
    assert values(tape.gradient(y, v)) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda v: v[1], [0, 1, 0]), (lambda v: v[1:] * 2.0, [0, 2, 2]),
        (lambda v: v[::-1] * [1.0, 2.0, 3.0], [3, 2, 1]), (lambda v: v[tf.newaxis, 0], [1, 0, 0]),
        (lambda v: sum(v), [1, 1, 1]), (lambda v: v[0] * v[2] + v[-1], [2, 0, 1]),
    ],
)  # fmt: skip
def test_slices_and_items_of_a_variable_are_watched(function, expected):
    v = tf.Variable([0.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        y = function(v)
    assert values(tf.convert_to_tensor(tape.gradient(y, v))) == expected


def test_variables_that_are_not_trainable_are_watched_when_asked():
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    assert tape.watched_variables()[0] is v
    assert values(tape.gradient(y, v)) == 6.0


def test_watch_accessed_variables_off():
    v, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert [each is w for each in tape.watched_variables()] == [True]
    assert values(tape.gradient(y, [v, w])) == [None, 3.0]


def test_a_read_counts_even_if_its_value_is_not_used():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        v.value()
    assert tape.watched_variables()[0] is v


def test_an_int_variable_is_watched_and_gets_none():
    v = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = v + v
    assert tape.watched_variables()[0] is v
    assert tape.gradient(y, v) is None


def test_watched_variables_are_a_tuple_in_order_of_creation_without_duplicates():
    v0, v1, v2 = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        assert tape.watched_variables() == ()
        y = v1 * v0 * v1
        tape.watch(v0)
    found = tape.watched_variables()
    assert type(found) is tuple
    assert (v0, v1) == found
    tape.gradient(y, v2)
    assert (v0, v1) == tape.watched_variables()  # still known when the record is used up


def test_watched_variables_after_reset_and_of_another_tape():
    v0, v1 = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        v0 * v0
        tape.reset()
        assert tape.watched_variables() == ()
        v1 * v1
    assert (v1,) == tape.watched_variables()
    with tf.GradientTape() as tape:
        assert tape.watched_variables() == ()


def test_after_gradient_inside_the_block_reads_are_not_watched():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.gradient(v * 2.0, v)
        w * 2.0
    assert (v,) == tape.watched_variables()


# ---- identity ------------------------------------------------------------------------------------


def test_watching_is_local_to_one_tape():
    x1, x2 = tf.constant(2.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as outer:
        outer.watch(x1)
        with tf.GradientTape() as inner:
            inner.watch([x1, x2])
            y, z = x1**3, x2**2
        grads = inner.gradient([y, z], [x1, x2])
    assert values(grads) == [12.0, 4.0]
    assert values(outer.gradient(grads, [x1, x2])) == [12.0, None]


def test_equal_constants_are_different_tensors():
    a, b = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a + b
    assert values(tape.gradient(y, a)) == 1.0


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable])
def test_constants_and_variables_get_the_same_gradients(kind):
    a, b = kind(2.0), kind(2.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        targets = [a**3, b**2]
    assert values(tape.gradient(targets, [a, b])) == [12.0, 4.0]


def test_copies_are_new_tensors_and_aliases_are_not():
    x = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        x1, x2, x3, x4 = tf.identity(x), x + 0.0, x - 0.0, x * 1.0
        alias = x
        tape.watch([x1, x2, x3, x4, alias])
        y = 2 * x + 3 * x1 + 3 * x2 + 3 * x3 + 3 * x4
    copies = [x1, x2, x3, x4]
    assert len({id(each) for each in [x, *copies]}) == 5
    assert values(tape.gradient(y, [x, *copies])) == [14.0, 3.0, 3.0, 3.0, 3.0]


def test_convert_to_tensor_keeps_the_tensor_and_identity_does_not():
    x = tf.constant(1.0)
    assert tf.convert_to_tensor(x) is x
    assert tf.identity(x) is not x


# ---- assignments ---------------------------------------------------------------------------------


def test_each_read_is_a_fresh_tensor():
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        a, b, c = v.value(), v.read_value(), tf.convert_to_tensor(v)
        y = a * b * c
    assert len({id(a), id(b), id(c)}) == 3
    assert values([tape.gradient(each, v) for each in (a, b, c)]) == [1.0, 1.0, 1.0]
    assert values(tape.gradient(y, [a, b, v])) == [4.0, 4.0, 12.0]


@pytest.mark.parametrize("assign", ["assign", "assign_add", "assign_sub"])
def test_what_is_assigned_gets_no_gradient(assign):
    v, z = tf.Variable(1.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = getattr(v, assign)(z**2) * 2.0
    assert tape.gradient(y, z) is None
    assert values(tape.gradient(y, v)) == 2.0


def test_the_gradient_uses_values_at_the_time_of_the_read():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        z = y + v * v
    assert values(tape.gradient(z, v)) == 14.0


def test_changing_a_variable_in_place_leaves_the_record_alone():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    for _ in range(3):
        v.assign_add([10.0, 10.0])
    assert values(tape.gradient(y, v)) == [2.0, 4.0]


def test_references_are_hashable_and_equality_is_elementwise():
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 3.0])
    assert values(x == y) == [True, False]
    table = {x.ref(): "x", y.ref(): "y"}
    assert table[x.ref()] == "x"
    assert x.ref().deref() is x
    with pytest.raises(TypeError):
        hash(x)


def test_pythons_max_of_variables_picks_one():
    variables = [tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)]
    with tf.GradientTape() as tape:
        y = max(variables) * 1.0
    assert values(tape.gradient(y, variables)) == [None, None, 1.0]
