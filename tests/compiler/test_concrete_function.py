"""fn.get_concrete_function: TensorFlow's signatures, texts and errors."""

import numpy as np
import pytest

import framework as tf


@tf.function
def f(x, y=2.0, *, training=False):
    return {"a": x + y, "b": [x * 2, training]}


SPEC = tf.TensorSpec([None], tf.float32)


def test_calls():
    concrete = f.get_concrete_function(SPEC)
    for values in ([1.0, 2.0], [3.0], [4.0]):
        found = concrete(tf.constant(values))
        np.testing.assert_array_equal(found["a"].numpy(), np.array(values) + 2)
    assert concrete(x=np.float32([1]))["b"][1].numpy() == np.False_
    assert concrete(tf.Variable([1.0]))["a"].numpy().tolist() == [3]
    bound = f.get_concrete_function(tf.constant(1.0), 3.0, training=True)
    assert bound(tf.constant(2.0))["a"].numpy() == 5
    assert bound(tf.constant(2.0), 3.0)["b"][1].numpy() == np.True_


def test_texts():
    concrete = f.get_concrete_function(tf.constant(1.0))
    spec = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    kind = "TensorSpec(shape=(), dtype=tf.bool, name=None)"
    result = f"Dict[['a', {spec}], ['b', List[{spec}, {kind}]]]"
    assert concrete.pretty_printed_signature() == (
        f"Input Parameters:\n  x (POSITIONAL_OR_KEYWORD): {spec}\n"
        "  y (POSITIONAL_OR_KEYWORD): Literal[2.0]\n  training (KEYWORD_ONLY): Literal[False]\n"
        f"Output Type:\n  {result}"
    )
    assert repr(concrete).startswith(f"<ConcreteFunction (x: {spec}, y: Literal[2.0]")
    assert str(concrete).startswith("ConcreteFunction Input Parameters:\n  x")


def test_attributes():
    concrete = f.get_concrete_function(SPEC)
    assert concrete.structured_input_signature == ((SPEC, 2.0), {"training": False})
    assert concrete.inputs == [SPEC]
    assert [o.shape.as_list() for o in concrete.outputs] == [[None], [None], []]
    assert concrete.name == "f"
    with pytest.raises(AttributeError, match="not graphs: read `source`"):
        concrete.graph  # noqa: B018


def test_input_signature_is_the_default():
    g = tf.function(lambda x: x + 1, input_signature=[SPEC])
    assert g.get_concrete_function()(tf.constant([1.0])).numpy().tolist() == [2]


def test_gradients():
    x = tf.Variable(3.0)
    square = tf.function(lambda: x * x).get_concrete_function()
    with tf.GradientTape() as tape:
        y = square()
    assert tape.gradient(y, x).numpy() == 6


def test_methods_take_the_object():
    class Module(tf.Module):
        @tf.function
        def double(self, x):
            return x * 2

    module = Module()
    concrete = Module.double.get_concrete_function(module, SPEC)
    assert concrete(module, tf.constant([2.0])).numpy().tolist() == [4]
    with pytest.raises(TypeError, match="For a method, the object is the first argument"):
        Module.double.get_concrete_function(SPEC)


def test_bound_methods_know_their_object():
    class Scaled(tf.Module):
        def __init__(self, by):
            super().__init__()
            self.by = by

        @tf.function
        def scaled(self, x, plus=0.0):
            return x * self.by + plus

    two, three = Scaled(2.0), Scaled(3.0)
    concrete = two.scaled.get_concrete_function(SPEC, plus=1.0)
    assert concrete(tf.constant([2.0])).numpy().tolist() == [5]
    assert concrete.structured_input_signature == ((SPEC, 1.0), {})
    assert concrete.pretty_printed_signature(verbose=False).startswith("(x: TensorSpec")
    also = three.scaled.get_concrete_function(three, SPEC)
    assert also(tf.constant([2.0])).numpy().tolist() == [6]
    assert two.scaled == two.scaled != three.scaled
    assert hash(two.scaled) == hash(two.scaled)
    assert two.scaled.instance is two
    assert "bound function scaled" in repr(two.scaled)
    assert "scaled has" in two.scaled.explain()


def test_arguments_that_are_no_tensors_can_be_left_out():
    @tf.function
    def scaled(by, x, /, *, plus=1.0):
        return x * by["factor"] + plus

    concrete = scaled.get_concrete_function({"factor": 2.0}, SPEC)
    assert concrete(tf.constant([2.0])).numpy().tolist() == [5]
    assert concrete({"factor": 2.0}, tf.constant([2.0])).numpy().tolist() == [5]
    several = tf.function(lambda *x: x[0] + x[1]).get_concrete_function(SPEC, SPEC)
    assert several(tf.constant([2.0]), tf.constant([3.0])).numpy().tolist() == [5]


def test_a_signature_is_printed_even_if_no_symbolic_call_is_possible():
    text = tf.function(tf.strings.length).get_concrete_function(tf.TensorSpec([], tf.string))
    assert "Output Type:" in str(text)
    of_any_rank = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec(None))
    assert "x: TensorSpec(shape=<unknown>" in repr(of_any_rank)
    assert of_any_rank(tf.constant([1.0])).numpy().tolist() == [2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c(tf.constant([3])), "input 'x' was expected to be TensorSpec"),
        (lambda c: c(tf.constant(3.0)), "input 'x' was expected to be TensorSpec"),
        (lambda c: c(tf.constant([3.0]), 4.0), "input 'y' was expected to be 2.0, got 4.0"),
        (lambda c: c(), "missing a required argument: 'x'"),
        (lambda c: c(tf.constant([3.0]), z=1), "unexpected keyword argument 'z'"),
    ],
)
def test_other_signatures_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call(f.get_concrete_function(SPEC))
