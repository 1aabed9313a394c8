import numpy as np
import pytest

import framework as tf
from framework.core.errors import InvalidArgumentError
from framework.core.module import Module
from framework.layers import Dense, Dropout, Flatten


class Inner(Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(5.0, trainable=False)


class Outer(Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.b = tf.Variable(1.0, name="bb")
        self.a = [tf.Variable(2.0), {"z": tf.Variable(3.0), "y": (tf.Variable(4.0),)}]
        self.sub, self.aa = Inner(), Inner()
        self.again = self.b

    @Module.with_name_scope
    def __call__(self, x):
        if not hasattr(self, "w"):
            self.w = tf.Variable(x, name="w")
        return x


def values(variables):
    return [float(v.numpy()) for v in variables]


def test_variables_in_tensorflows_order():
    """TF 2.21 gives the same: own ones by attribute, dicts by key, then the submodules'."""
    module = Outer()
    assert values(module.variables) == [2, 4, 3, 1, 5, 5]
    assert values(module.trainable_variables) == [2, 4, 3, 1]
    assert values(module.non_trainable_variables) == [5, 5]
    assert module.submodules == (module.aa, module.sub)
    assert isinstance(module.variables, tuple)


def test_names():
    class SimpleNN2D(Outer):
        pass

    assert SimpleNN2D().name == "simple_nn2_d"
    module = Outer("mine")
    module(1.0)
    assert module.w.name == "mine/w:0"
    with module.name_scope:
        assert tf.Variable(0.0, name="x").name == "mine/x:0"
    assert tf.Variable(0.0, name="x").name == "x:0"
    with pytest.raises(InvalidArgumentError, match="'a b' is not a valid module name"):
        Outer("a b")


class SimpleNN(Module):
    def __init__(self):
        super(SimpleNN, self).__init__()  # noqa: UP008 (as tutorials print it)
        self.flatten = Flatten()
        self.dense1 = Dense(4, activation="relu")
        self.rest = {"b": [Dropout(0.5), Dense(2)], "a": Inner()}

    def __call__(self, x):
        x = self.dense1(self.flatten(x))
        for layer in self.rest["b"]:
            x = layer(x)
        return x * self.rest["a"].v


def test_layers_are_found_and_trained():
    model = SimpleNN()
    assert model.trainable_variables == ()
    x = np.ones((2, 2, 3), "float32")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    variables = model.trainable_variables
    assert [v.path for v in variables] == [
        f"{layer.name}/{weight}" for layer in (model.dense1, model.rest["b"][1])
        for weight in ("kernel", "bias")
    ]  # fmt: skip
    grads = tape.gradient(loss, variables)
    assert [g.shape for g in grads] == [v.shape for v in variables]
    # the dropout's seed state and the inner module's variable
    assert len(model.variables) == 6
    assert model.submodules == (
        model.dense1, model.flatten, model.rest["a"], *model.rest["b"],
    )  # fmt: skip


def test_layers_report_what_is_inside_them_and_cycles_end():
    a, b = Inner(), Inner()
    a.other, b.other = b, a
    assert values(a.variables) == [5, 5]
    assert a.submodules == (b,)
