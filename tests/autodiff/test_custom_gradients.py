"""custom_gradient: section 6 of TensorFlow's contract for tapes, and what is made of it."""

import numpy as np
import pytest

import framework as tf
from framework.core import nest
from tests.autodiff.values import grad_of, values


@tf.custom_gradient
def doubled(x):
    return x, lambda dy: 2 * dy


@tf.custom_gradient
def tripled(x):
    return x, lambda dy: 3 * dy


# ---- outputs -------------------------------------------------------------------------------------


def test_an_input_returned_unchanged_is_no_pass_through():
    x = tf.constant(5.0)
    assert values(grad_of(doubled, x)) == [2.0]
    assert values(grad_of(lambda x: tripled(tripled(x)), x)) == [9.0]
    assert doubled(x) is not x
    assert values(doubled(x)) == 5.0


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (lambda x: 1.0, 1.0), (lambda x: np.sin(x.numpy()), np.sin(np.float32(5.0))),
        (lambda x: tf.Variable(4.0), 4.0), (lambda x: x * x, 25.0),
    ],
)  # fmt: skip
def test_results_are_converted_to_tensors(result, expected):
    f = tf.custom_gradient(lambda x: (result(x), lambda dy: 7 * dy))
    x = tf.constant(5.0)
    y = f(x)
    assert isinstance(y, tf.Tensor)
    assert values(y) == expected
    assert values(grad_of(f, x)) == [7.0]


def test_an_unused_result_gets_zeros():
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(da, db):
            seen.append(values([da, db]))
            return 2 * da + 3 * tf.reduce_sum(db)

        return (x, tf.stack([x, x])), grad

    x = tf.constant(5.0)
    assert values(grad_of(lambda x: f(x)[0] * 4.0, x)) == [8.0]
    assert values(grad_of(lambda x: f(x)[1] * 4.0, x)) == [24.0]
    assert values(grad_of(f, x)) == [8.0]
    assert seen == [[4.0, [0.0, 0.0]], [0.0, [4.0, 4.0]], [1.0, [1.0, 1.0]]]


STRUCTURES = [
    "a", (), [], ("a",), ["a", "b"], ("a", ["b", ()]), ((), "a", [("b",), []]), (("a", "b"), "c"),
]  # fmt: skip


@pytest.mark.parametrize("of_inputs", STRUCTURES)
@pytest.mark.parametrize("of_results", STRUCTURES)
def test_nests_in_both_directions(of_inputs, of_results):
    """y_i = (i + 1) Σ x_j: the nests reach f, come back and are asked for as they are."""
    inputs = nest.map_structure(lambda name: tf.constant(float(ord(name) - 96)), of_inputs)
    count = len(nest.flatten(of_inputs))
    seen = []

    @tf.custom_gradient
    def f(arranged):
        seen.append(arranged)
        total = sum(nest.flatten(arranged), tf.constant(0.0))
        names = iter(range(1, 9))
        results = nest.map_structure(lambda _: total * float(next(names)), of_results)

        def grad(*dys):
            upstream = sum((float(i) * dy for i, dy in enumerate(dys, 1)), tf.constant(0.0))
            return nest.pack_sequence_as(of_inputs, [upstream] * count)

        return results, grad

    dy = nest.map_structure(lambda _: tf.constant(10.0), of_results)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = f(inputs)
    found = tape.gradient(y, inputs, output_gradients=dy)
    nest.assert_same_structure(seen[0], of_inputs)
    nest.assert_same_structure(y, of_results)
    nest.assert_same_structure(found, of_inputs)
    results = len(nest.flatten(of_results))
    expected = 10.0 * sum(range(1, results + 1)) if results else None
    assert values(nest.flatten(found)) == [expected] * count


def test_named_structures_keep_their_types():
    f = tf.custom_gradient(lambda d: ({"b": d["x"], "a": [d["y"]]}, lambda a, b: {"x": b, "y": a}))
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        out = f({"y": y, "x": x})
        target = out["b"] * 5.0 + out["a"][0] * 7.0
    assert values(tape.gradient(target, [x, y])) == [5.0, 7.0]


# ---- what grad_fn returns ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (lambda dy: [dy * 2, dy * 3], [2.0, 3.0]), (lambda dy: (dy * 2, dy * 3), [2.0, 3.0]),
        (lambda dy: ([dy * 2], (dy * 3,)), [2.0, 3.0]), (lambda dy: (dy * 2, None), [2.0, None]),
        (lambda dy: (None, None), [None, None]), (lambda dy: (2.0, np.float64(3.0)), [2.0, 3.0]),
    ],
)  # fmt: skip
def test_gradients_of_two_inputs(returned, expected):
    f = tf.custom_gradient(lambda a, b: (a + b, returned))
    assert values(grad_of(f, tf.constant(1.0), tf.constant(2.0))) == expected


def test_none_for_one_input():
    f = tf.custom_gradient(lambda a: (a, lambda dy: None))
    assert grad_of(f, tf.constant(1.0)) == [None]
    assert values(grad_of(f, tf.constant(1.0), unconnected_gradients="zero")) == [0.0]


@pytest.mark.parametrize(
    ("returned", "count"), [([], 0), ((), 0), ([1.0, 2.0], 2), ([[1.0], [2.0, 3.0]], 3)]
)
def test_a_wrong_number_of_gradients(returned, count):
    f = tf.custom_gradient(lambda a: (a, lambda dy: returned))
    message = f"custom_gradient function expected to return 1 gradients, but returned {count} inst"
    with pytest.raises(ValueError, match=message):
        grad_of(f, tf.constant(1.0))


def test_a_gradient_of_the_wrong_shape():
    f = tf.custom_gradient(lambda a, b: (a + b, lambda dy: (dy, dy)))
    with pytest.raises(
        ValueError, match=r"number 1: expected the shape \(\) of its input, got \(3,\)"
    ):
        grad_of(f, tf.ones([3]), tf.constant(1.0))


def test_gradients_are_of_their_inputs_dtype():
    wide = tf.constant(2.0, tf.float64)
    f = tf.custom_gradient(lambda a: (tf.cast(a, tf.float32), lambda dy: dy * 3))
    (g,) = grad_of(f, wide)
    assert g.dtype == tf.float64
    assert values(g) == 3.0


@pytest.mark.parametrize("error", [RuntimeError("of the user"), ValueError("x"), KeyError("y")])
def test_exceptions_of_grad_fn_come_through_unchanged(error):
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            raise error

        return x, grad

    with pytest.raises(type(error)) as raised:
        grad_of(f, tf.constant(1.0))
    assert raised.value is error


@pytest.mark.parametrize("returned", [None, 3.0, (1.0, 2.0), (1.0, lambda dy: dy, 3)])
def test_a_function_that_returns_no_pair(returned):
    def forgetful(x):
        return returned

    with pytest.raises(TypeError, match=r"forgetful must return \(result, grad_fn\)"):
        tf.custom_gradient(forgetful)(tf.constant(1.0))


# ---- arguments -----------------------------------------------------------------------------------


def test_arrays_numbers_and_keywords():
    seen = []

    @tf.custom_gradient
    def f(x, scale, *, shift=0.0):
        seen.append((type(x), type(scale), shift))
        return x * scale + shift, lambda dy: (dy * 5, None)

    x = tf.constant([1.0, 2.0])
    assert values(f(x, 2.0, shift=1.0)) == [3.0, 5.0]
    assert f(np.float32([1, 2]), 3).numpy().tolist() == [3.0, 6.0]
    assert values(grad_of(lambda x: f(x, 2.0), x)) == [[5.0, 5.0]]
    assert seen[0] == (tf.Tensor, float, 1.0)
    assert seen[1] == (np.ndarray, int, 0.0)


def test_methods():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @tf.custom_gradient
        def f(self, x):
            """Of a method."""
            return x * self.factor, lambda dy: dy * self.factor * 100

    x = tf.constant(2.0)
    assert values(Scaled(3.0).f(x)) == 6.0
    assert values(grad_of(Scaled(3.0).f, x)) == [300.0]
    assert Scaled.f.__name__ == "f"
    assert Scaled.f.__doc__ == "Of a method."


def test_inside_function():
    f = tf.function(lambda x: doubled(x) * 5.0)
    assert values(grad_of(f, tf.constant(1.0))) == [10.0]


def test_the_decorator_with_parentheses():
    @tf.custom_gradient()
    def f(x):
        return x, lambda dy: dy * 4

    assert values(grad_of(f, tf.constant(1.0))) == [4.0]


def test_a_variable_as_argument():
    seen, v, captured = [], tf.Variable(3.0), tf.constant(2.0)

    @tf.custom_gradient
    def f(x):
        seen.append(x)
        return x * captured, lambda dy: 4.0 * captured * dy

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(captured)
        y = f(v)
    assert seen[0] is v
    assert values(tape.gradient(y, v)) == 8.0
    assert tape.gradient(y, captured) is None
    assert (v,) == tape.watched_variables()


def test_integers_among_the_arguments():
    f = tf.custom_gradient(lambda x, n: (x * 2.0, lambda dy: (dy, dy)))
    x, n = tf.constant(1.0), tf.constant(3)
    assert values(grad_of(f, x, n)) == [1.0, None]


# ---- variables used inside -----------------------------------------------------------------------

TAKES = {
    "keyword-only": lambda: lambda dy, *, variables: ([dy * 5], [dy * 7] * len(variables)),
    "after all": lambda: lambda *dys, variables=None: (dys[0] * 5, [dys[0] * 7] * len(variables)),
    "anything": lambda: lambda dy, **k: (dy * 5, [dy * 7] * len(k["variables"])),
    "plainly": lambda: lambda dy, variables: (dy * 5, [dy * 7] * len(variables)),
}


@pytest.mark.parametrize("name", TAKES)
def test_variables_reach_grad_fn(name):
    w, x = tf.Variable(2.0), tf.constant(3.0)
    f = tf.custom_gradient(lambda x: (x * w, TAKES[name]()))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert values(tape.gradient(y, [x, w])) == [5.0, 7.0]


def test_the_list_holds_the_very_variables_that_were_used():
    before, w1, w2 = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    frozen, argument = tf.Variable(4.0, trainable=False), tf.Variable(5.0)
    seen = []

    @tf.custom_gradient
    def f(x, v):
        def grad(dy, variables=None):
            seen.extend(variables)
            return (dy, dy), [dy * float(u) for u in variables]

        return x * w2 * w1 * w1 * frozen * v, grad

    x = before * 1.0
    with tf.GradientTape() as tape:
        y = f(x, argument) + before
    assert values(tape.gradient(y, [w1, w2, argument, frozen, before])) == [
        2.0, 3.0, 1.0, None, 1.0,
    ]  # fmt: skip
    assert len(seen) == 2
    assert seen[0] is w1
    assert seen[1] is w2


def test_variables_without_a_place_for_them():
    w = tf.Variable(2.0, name="w")
    f = tf.custom_gradient(lambda x: (x * w, lambda dy: dy))
    message = "grad_fn must accept keyword argument 'variables', since function uses variables: w"
    with pytest.raises(TypeError, match=message):
        f(tf.constant(1.0))


def test_a_place_for_variables_without_any():
    f = tf.custom_gradient(lambda x: (x, lambda dy, variables=None: dy * 2 if not variables else 0))
    assert values(grad_of(f, tf.constant(1.0))) == [2.0]


@pytest.mark.parametrize("count", [0, 2])
def test_a_wrong_number_of_gradients_of_variables(count):
    w = tf.Variable(2.0)
    f = tf.custom_gradient(lambda x: (x * w, lambda dy, variables: (dy, [dy] * count)))
    with pytest.raises(
        ValueError, match="Must return gradient for each variable from @custom_grad"
    ):
        grad_of(f, tf.constant(1.0))


def test_no_arguments_at_all():
    w = tf.Variable(2.0)
    f = tf.custom_gradient(lambda: (w * 3.0, lambda dy, variables: ((), [dy * 11])))
    with tf.GradientTape() as tape:
        y = f()
    assert values(tape.gradient(y, w)) == 11.0


def test_a_variable_used_inside_and_outside():
    w = tf.Variable(2.0)
    f = tf.custom_gradient(lambda x: (x * w, lambda dy, variables: (dy, [dy * 100])))
    with tf.GradientTape() as tape:
        y = f(w * 1.0) + w
    assert values(tape.gradient(y, w)) == 102.0
