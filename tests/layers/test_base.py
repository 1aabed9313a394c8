"""Tests of the base class Layer, mostly by user-defined layers."""

import copy
import threading

import numpy as np
import pytest

import framework as tf
from framework import layers
from framework.autodiff.tape import GradientTape
from framework.core import random
from framework.core.auto_names import forget_names
from framework.core.errors import InvalidArgumentError, ShapeError, SymbolicValueError
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.layers import Dense, Dropout, InputSpec, Lambda, Layer

ONES = np.ones((2, 3), "float32")


class Linear(Layer):
    """A layer written in the usual Keras style."""

    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, inputs, training=False):
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Block(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.layers = [Linear(2), Linear(3)]
        self.by_name = {"drop": Dropout(0.5, seed=1)}
        self.pair = (Linear(1), "text")

    def call(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.pair[0](self.by_name["drop"](x))


# ---- building, names and paths -------------------------------------------------------------------


def test_a_users_layer():
    forget_names()
    layer = Linear()
    assert not layer.built
    assert layer(ONES).shape == (2, 4)
    assert layer.built
    assert layer.get_build_config() == {"input_shape": (2, 3)}
    assert [v.path for v in layer.weights] == ["linear/w", "linear/b"]
    assert (layer.path, layer.count_params()) == ("linear", 16)
    assert Linear().name == "linear_1"
    assert Linear(name="mine").name == "mine"
    assert Linear().name == "linear_2"
    again = Linear.from_config(layer.get_config())
    again.build_from_config(layer.get_build_config())
    assert again.w.shape == (3, 4)
    assert again.get_config() == layer.get_config()


def test_paths_give_the_position_of_a_layer():
    forget_names()
    block = Block()
    block(ONES)
    assert [v.path for v in block.weights] == [
        "block/linear/w", "block/linear/b", "block/linear_1/w", "block/linear_1/b",
        "block/linear_2/w", "block/linear_2/b",
    ]  # fmt: skip
    assert (block.path, block.layers[0].path) == ("block", "block/linear")


def test_layers_built_in_a_build():
    class Outer(Layer):
        def build(self, input_shape):
            self.scale = self.add_weight(name="scale")
            self.inner = Linear(2, name="inner")
            self.inner.build(input_shape)

        def call(self, x):
            return self.inner(x) * self.scale

    layer = Outer(name="outer")
    layer(ONES)
    assert [v.path for v in layer.weights] == ["outer/scale", "outer/inner/w", "outer/inner/b"]


def test_build_with_several_shapes():
    class Two(Layer):
        def build(self, a_shape, b_shape):
            self.shapes = (a_shape, b_shape)

        def call(self, a, b=None):
            return a

    layer = Two()
    layer(ONES, b=np.ones(4))
    assert layer.shapes == ((2, 3), (4,))
    again = Two()
    again.build_from_config(layer.get_build_config())
    assert again.shapes == layer.shapes

    class Misnamed(Two):
        def build(self, a_shape, c_shape):
            pass

    with pytest.raises(InvalidArgumentError, match="has 'c_shape', but its call"):
        Misnamed()(ONES, b=ONES)


def test_build_by_a_symbolic_run():
    block = Block()
    block.build((None, 3))
    assert block.built
    assert len(block.weights) == 6
    with pytest.raises(InvalidArgumentError, match="already built: 'block"):
        block.more = Linear()


def test_a_parents_build_is_part_of_the_childs():
    class Child(Linear):
        def build(self, input_shape):
            super().build(input_shape)
            assert not self.built
            self.extra = self.add_weight((2,), "ones", name="extra")

    layer = Child()
    layer(ONES)
    assert [v.name for v in layer.weights] == ["w", "b", "extra"]


def test_a_failed_build_leaves_nothing_behind_the_next():
    class Once(Linear):
        def build(self, input_shape):
            super().build(input_shape)
            if input_shape[-1] == 3:
                raise ShapeError("not three")

    layer = Once()
    with pytest.raises(ShapeError, match="not three"):
        layer(ONES)
    layer(np.ones((2, 5)))
    assert [tuple(v.shape) for v in layer.weights] == [(5, 4), (4,)]


def test_weights_made_under_a_tape_or_in_a_symbolic_call_are_the_same():
    random.set_seed(1)
    plain = Dense(2)
    plain(ONES)
    random.set_seed(1)
    with GradientTape() as tape:
        taped = Dense(2)
        y = taped(ONES)
    assert [g.shape for g in tape.gradient(y, taped.trainable_variables)] == [(3, 2), (2,)]
    random.set_seed(1)
    symbolic = Dense(2)
    symbolic(KerasTensor((None, 3)))
    np.testing.assert_array_equal(plain.kernel, taped.kernel)
    np.testing.assert_array_equal(plain.kernel, symbolic.kernel)


# ---- what it owns --------------------------------------------------------------------------------


def test_counts():
    block = Block()
    block(ONES)
    assert len(block.trainable_variables) == len(block.trainable_weights) == len(block.weights) == 6
    assert block.non_trainable_weights == []
    assert [v.shape for v in block.non_trainable_variables] == [(2,)]  # the dropout's seed state
    assert len(block.variables) == 7
    assert block._flatten_layers() == [
        block, *block.layers, block.by_name["drop"], block.pair[0],
    ]  # fmt: skip


def test_lists_and_dicts_notify_of_changes():
    class Holder(Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = [], {}

    holder, layers = Holder(), [Linear() for _ in range(6)]
    holder.b["x"] = layers[0]
    holder.a.append(layers[1])
    holder.a += [layers[2], [layers[3]]]
    holder.b.update(y=(layers[4],))
    assert holder._layers == layers[:5]  # in the order in which they came, as in Keras
    holder.a.pop(0)
    del holder.b["x"]
    holder.a[0] = layers[5]
    assert holder._layers == [layers[3], layers[4], layers[5]]
    holder.a.clear()
    holder.b = None
    assert holder._layers == []
    assert isinstance(holder.a, list)
    assert holder.a == []


def test_a_replaced_layer_is_let_go_unless_it_is_held_elsewhere():
    class Holder(Layer):
        def __init__(self):
            super().__init__()
            self.all = []
            for _ in range(3):
                self.last = Linear()
                self.all.append(self.last)

    holder = Holder()
    assert holder._layers == list(holder.all)
    holder.all.pop()
    assert len(holder._layers) == 3
    holder.last = None
    assert len(holder._layers) == 2


def test_the_list_of_variables_follows_changes_deep_inside():
    block = Block()
    block(ONES)
    assert len(block.variables) == 7
    block.layers[0]._framework.locked = False
    block.layers[0].extra = block.layers[0].add_weight(name="extra")
    assert len(block.variables) == 8
    block.variables.clear()  # the user's own copy
    assert len(block.variables) == 8


def test_variables_and_modules_of_both_apis_are_owned():
    class Inner(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)

    class Holder(Layer):
        def __init__(self):
            super().__init__()
            self.raw = tf.Variable(1.0)
            self.module = Inner()

    holder = Holder()
    assert holder.trainable_variables[0] is holder.raw
    assert holder.weights[1] is holder.module.v


def test_trainable_goes_down():
    block = Block()
    block(ONES)
    block.trainable = False
    assert block.trainable_variables == []
    assert len(block.non_trainable_variables) == 7
    assert not block.layers[0].w.trainable
    with GradientTape() as tape:
        y = block(ONES)
    assert tape.watched_variables() == ()
    assert tape.gradient(y, block.weights) == [None] * 6
    block.trainable = True
    block.layers[0].trainable = False
    assert len(block.trainable_variables) == 4
    frozen = Linear(trainable=False)
    frozen(ONES)
    assert frozen.trainable_variables == []
    assert not frozen.w.trainable


def test_get_and_set_weights():
    a, b = Linear(), Linear()
    a(ONES), b(ONES)
    b.set_weights(a.get_weights())
    np.testing.assert_array_equal(a(ONES), b(ONES))
    with pytest.raises(InvalidArgumentError, match="length 1, but the layer was expecting 2"):
        a.set_weights(a.get_weights()[:1])
    with pytest.raises(ShapeError, match=r"'b': expected a value of shape \(4,\), got \(5,\)"):
        a.set_weights([np.zeros((3, 4)), np.zeros(5)])
    with pytest.raises(InvalidArgumentError, match="isn't built"):
        Linear().count_params()


def test_copies_are_whole():
    block = Block()
    block(ONES)
    other = copy.deepcopy(block)
    np.testing.assert_array_equal(block(ONES), other(ONES))
    assert other._layers[0] is other.layers[0] is not block.layers[0]
    other.layers[0].w.assign(np.zeros((3, 2)))
    assert np.any(block.layers[0].w.numpy())
    other._framework.locked = False
    other.layers.append(Linear())
    assert (len(other._layers), len(block._layers)) == (5, 4)


# ---- training ------------------------------------------------------------------------------------


class Told(Layer):
    """A layer that records its argument `training`."""

    def call(self, x, training=None):
        self.told = training
        return x


def test_training_explicit_then_outer_then_default():
    class Outer(Layer):
        def __init__(self, given=None):
            super().__init__()
            self.inner, self.given = Told(), given

        def call(self, x):
            return self.inner(x, training=self.given)

    class Defaulting(Outer):
        def call(self, x, training=True):
            return self.inner(x)

    layer = Told()
    for training in (True, False, None):
        for _ in range(2):  # the general call, then the straight one
            layer(ONES, training=training)
            assert layer.told is training
    for outer, given, expected in [
        (Outer(), None, None),
        (Outer(), True, True),
        (Outer(False), True, False),
        (Defaulting(), None, True),
        (Defaulting(), False, False),
    ]:
        for x in (ONES, tf.constant(ONES), tf.constant(ONES), KerasTensor((2, 3))):
            outer(x, training=given)
            assert outer.inner.told is expected
    layer(ONES)
    assert layer.told is None  # nothing is left of calls that are over


def test_an_error_leaves_no_call_open():
    class Fails(Layer):
        def call(self, x):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Fails()(ONES, training=True)
    layer = Told()
    layer(ONES)
    assert layer.told is None


def test_threads_have_their_own_calls():
    layer, seen = Told(), []

    class Waits(Layer):
        def call(self, x):
            other = threading.Thread(target=lambda: seen.append((layer(ONES), layer.told)[1]))
            other.start()
            other.join()
            return x

    Waits()(ONES, training=True)
    assert seen == [None]


# ---- inputs --------------------------------------------------------------------------------------


def test_float_inputs_come_in_the_compute_dtype_others_as_they_are():
    layer = Lambda(lambda x: x)
    assert layer(np.ones(2)).dtype == "float32"
    assert layer(tf.constant([1.0], "float64")).dtype == "float32"
    assert layer(np.ones(2, "int64")).dtype == "int64"
    assert layer(np.array([True])).dtype == "bool"
    assert layer(tf.Variable(ONES)).dtype == "float32"
    assert layer(KerasTensor((2,), "float64")).dtype == "float32"
    wide = Lambda(lambda x: x, autocast=False)
    assert wide(np.ones(2)).dtype == "float64"
    array = np.ones(3, "float32")
    assert layer(array).array is array  # wrapped, not copied


def test_gradients_reach_inputs_through_the_cast():
    x = tf.Variable(np.ones((2, 3)))
    with GradientTape() as tape:
        y = Lambda(lambda x: x * 2)(x)
    assert tape.gradient(y, x).dtype == "float64"


def test_nested_and_keyword_inputs():
    class Nest(Layer):
        def call(self, inputs, scale=None, flag="text"):
            assert type(inputs["b"][0]) is Tensor
            assert type(scale) is Tensor
            return {"sum": inputs["a"] + inputs["b"][0] * scale, "flag": flag}

    out = Nest()({"a": ONES, "b": [ONES]}, scale=np.float64(2.0), flag="other")
    np.testing.assert_array_equal(out["sum"], 3 * ONES)
    assert out["flag"] == "other"


def test_input_specs_complain_as_keras_does():
    class Picky(Layer):
        def __init__(self, spec):
            super().__init__()
            self.input_spec = spec

        def call(self, x):
            return x

    for spec, x, message in [
        (InputSpec(ndim=3), ONES, "expected ndim=3, found ndim=2"),
        (InputSpec(min_ndim=3), ONES, "expected min_ndim=3, found ndim=2"),
        (InputSpec(max_ndim=1), ONES, "expected max_ndim=1, found ndim=2"),
        (InputSpec(axes={-1: 4}), ONES, r"expected axis -1 .* value 4, .* with shape \(2, 3\)"),
        (InputSpec(shape=(None, 4)), ONES, r"expected shape=\(None, 4\), found shape=\(2, 3\)"),
        (InputSpec(dtype="int32"), ONES, "expected dtype=int32, found dtype=float32"),
        ([InputSpec(), InputSpec()], [ONES], r"expects 2 input\(s\), but it received 1"),
        (InputSpec(shape=(None, 3, 1), allow_last_axis_squeeze=True), np.ones((2, 4)), "shape="),
    ]:
        with pytest.raises(ValueError, match=message):
            Picky(spec)(x)
    InputSpec(shape=(None, 3, 1), allow_last_axis_squeeze=True)
    Picky(InputSpec(shape=(None, 3, 1), allow_last_axis_squeeze=True))(ONES)
    named = [InputSpec(name="a"), InputSpec(name="b")]
    with pytest.raises(ValueError, match="Missing data for input 'b'"):
        Picky(named)({"a": ONES})


def test_wrong_sizes_are_reported_with_the_layers_name_also_after_the_first_call():
    layer = Dense(2, name="mine")
    layer(ONES)
    layer(tf.constant(ONES))
    for x in (np.ones((2, 5), "float32"), tf.constant(np.ones((2, 5), "float32"))):
        with pytest.raises(
            ShapeError,
            match=r"layer 'mine' .* have value 3, but received input with shape \(2, 5\)",
        ):
            layer(x)


# ---- masks ---------------------------------------------------------------------------------------


class Masks(Layer):
    """A layer that sets a mask on its output."""

    def call(self, x):
        return x * 1

    def compute_mask(self, inputs, mask=None):
        return inputs[:, 0] > 0


class TakesMask(Layer):
    supports_masking = True

    def call(self, x, mask=None):
        self.mask = mask
        return x + 1


def test_masks_travel_with_tensors():
    layer, masks = TakesMask(), Masks()
    x = np.array([[1.0], [-1.0]], "float32")
    assert masks.supports_masking
    for fresh in (x, x, tf.constant(x)):
        masked = masks(fresh)
        np.testing.assert_array_equal(masked._keras_mask, [True, False])
        out = layer(Dense(1)(masked))
        np.testing.assert_array_equal(layer.mask, [True, False])
        assert out._keras_mask is layer.mask
        layer(x)
        assert layer.mask is None
    given = tf.constant([False, True])
    assert layer(x, mask=given)._keras_mask is given
    symbolic = layer(masks(KerasTensor((None, 1))))
    assert (symbolic._keras_mask.shape, symbolic._keras_mask.dtype) == ((None,), "bool")


def test_a_layer_without_mask_support_raises():
    class Plain(Layer):
        def call(self, x):
            return x * 1

    masked = Masks()(np.ones((2, 1)))
    with pytest.warns(UserWarning, match="does not support masking"):
        out = Plain()(masked)
    assert not hasattr(out, "_keras_mask")


def test_masks_of_several_arguments():
    class Two(Layer):
        def call(self, a, b, a_mask=None, b_mask=None):
            self.masks = a_mask, b_mask
            return a

    layer = Two()
    layer.supports_masking = True
    masked = Masks()(np.ones((2, 1)))
    layer(ONES, masked)
    assert layer.masks[0] is None
    assert layer.masks[1] is masked._keras_mask


# ---- losses --------------------------------------------------------------------------------------


class AddsLoss(Layer):
    def call(self, x):
        self.add_loss(tf.reduce_sum(x))
        return x


def test_losses_are_those_of_the_last_call():
    class Outer(Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b = AddsLoss(), AddsLoss()

        def call(self, x, both=True):
            return self.b(self.a(x)) if both else self.b(x)

    outer = Outer()
    for x in (ONES, tf.constant(ONES), tf.constant(ONES)):
        outer(x)
        assert [float(v) for v in outer.losses] == [6, 6]
        assert [float(v) for v in outer.a.losses] == [6]
    outer(2 * ONES, both=False)
    assert [float(v) for v in outer.losses] == [12]
    outer(KerasTensor((2, 3)))
    assert [float(v) for v in outer.losses] == [12]  # a symbolic call changes nothing
    with pytest.raises(InvalidArgumentError, match="add_loss: expected a tensor, got 'x'"):
        outer.add_loss("x")


def test_regularizers_and_activity():
    """Values of real Keras 3.15 (jax)."""
    layer = Dense(
        2, activation="tanh", kernel_regularizer="l2", bias_regularizer="l1",
        activity_regularizer="l1",
    )  # fmt: skip
    layer.build((None, 3))
    layer.set_weights([np.arange(6).reshape(3, 2) / 10 - 0.2, np.array([0.1, -0.1])])
    x = np.array([[1, -2, 3], [0.5, 0, -1]], "float32")
    expected = [[0.462117, 0.462117], [-0.197375, -0.421899]]
    for inputs in (x, tf.constant(x)):
        np.testing.assert_allclose(layer(inputs).numpy(), expected, rtol=1e-5)
        np.testing.assert_allclose(
            [float(v) for v in layer.losses], [0.007718, 0.0019, 0.002], rtol=1e-3
        )
    with GradientTape() as tape:
        layer(x)
        loss = tf.add_n(layer.losses)
    assert all(g is not None for g in tape.gradient(loss, layer.trainable_variables))
    layer.trainable = False
    assert len(layer.losses) == 1  # what is not trained is not regularised


# ---- symbolic calls ------------------------------------------------------------------------------


def test_reading_a_value_in_a_symbolic_call_names_the_layer():
    class Reads(Layer):
        def call(self, x):
            return x if tf.reduce_sum(x) > 0 else -x

    with pytest.raises(SymbolicValueError, match="symbolic call of 'reads"):
        Reads()(KerasTensor((2, 3)))
    assert Reads()(ONES).shape == (2, 3)


def test_a_symbolic_call_moves_no_state():
    class Counts(Layer):
        def build(self, input_shape):
            self.n = self.add_weight((), "zeros", trainable=False)
            self.drop = Dropout(0.5)

        def call(self, x):
            self.n.assign_add(1.0)
            return self.drop(x, training=True)

    layer = Counts()
    layer(KerasTensor((None, 3)))
    assert layer.n.numpy() == 0
    assert layer.drop.seed_generator.state.numpy()[1] == 0
    layer(ONES)
    assert layer.n.numpy() == 1
    assert layer.drop.seed_generator.state.numpy()[1] == 1


def test_building_is_real_even_in_a_symbolic_call():
    class Prepares(Layer):
        def build(self, input_shape):
            self.n = self.add_weight((), "zeros")
            self.n.assign(5.0)

        def call(self, x):
            if not hasattr(self, "late"):
                self._framework.locked = False
                self.late = self.add_weight((2,), "random_normal", name="late")
            return x * self.n

    layer = Prepares()
    layer(KerasTensor((None, 3)))
    assert layer.n.numpy() == 5
    assert layer.late.numpy().any()
    assert layer.late.path == f"{layer.name}/late"


def test_the_users_compute_output_shape_wins():
    class Own(Layer):
        def call(self, x):
            return {"a": x.numpy(), "b": [x]}

        def compute_output_shape(self, input_shape):
            return {"a": (input_shape[0], 7), "b": [input_shape]}

    out = Own()(KerasTensor((None, 3)))
    assert (out["a"].shape, out["b"][0].shape) == ((None, 7), (None, 3))
    assert out["a"].origin[3] == 0
    assert out["b"][0].origin[3] == 1


def test_input_and_output_are_those_of_the_first_symbolic_call():
    layer = Dense(2)
    with pytest.raises(AttributeError, match="never been called"):
        layer.output  # noqa: B018
    x = KerasTensor((None, 3))
    y = layer(x)
    layer(KerasTensor((None, 3)))
    assert layer.input is x
    assert layer.output is y


def test_inferring_a_shape_changes_neither_names_nor_seeds():
    forget_names()
    random.set_seed(3)
    state = random.global_generator().state.numpy()
    layer = Block()
    taken = random.global_generator().state.numpy()
    assert layer.compute_output_shape((None, 3)) == (None, 1)
    assert not layer.built
    np.testing.assert_array_equal(random.global_generator().state.numpy(), taken)
    assert Linear().name == "linear_3"

    class Rare(Layer):
        def call(self, x):
            return x

    class Makes(Layer):
        def __init__(self):
            super().__init__()
            self.inner = [Rare(name="own")] if not hasattr(Makes, "made") else [Rare()]
            Makes.made = True

        def call(self, x):
            return self.inner[0](x)

    Makes().compute_output_shape((2,))
    assert Rare().name == "rare"
    assert state[0] == taken[0]


# ---- errors --------------------------------------------------------------------------------------


def test_a_forgotten_super_call():
    class Forgets(Layer):
        def __init__(self):
            self.units = 3

        def call(self, x):
            return x

    with pytest.raises(RuntimeError, match="In layer 'Forgets', you forgot to call"):
        Forgets()(ONES)


def test_an_op_error_names_the_innermost_layer():
    class Bad(Layer):
        def call(self, x):
            return tf.matmul(x, x)

    class Outer(Layer):
        def __init__(self):
            super().__init__()
            self.bad = Bad(name="culprit")

        def call(self, x):
            return self.bad(x)

    outer = Outer()
    for x in (ONES, tf.constant(ONES)):
        with pytest.raises(ShapeError) as error:
            outer(x)
        assert str(error.value).count("[in layer 'culprit', a Bad]") == 1
        assert "outer" not in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dense(), "Dense.. needs the argument 'units'"),
        (lambda: Dense(0), "Dense: argument units=0: expected a positive integer"),
        (lambda: Dense(2, unitz=3), "Unrecognized keyword arguments passed to Dense: {'unitz': 3}"),
        (lambda: Dense(2, activation="rleu"), "activation='rleu': Unknown activation"),
        (lambda: Dense(2, name="a/b"), "without '/', got 'a/b'"),
        (lambda: Dropout(1.5), "rate=1.5: expected a float between 0 and 1"),
        (lambda: Dropout(0.5, noise_shape=3), "noise_shape: expected a tuple"),
        (lambda: Linear(dtype="float99"), "dtype='float99'"),
        (lambda: Dense(2)([[1.0, 2.0]]), "Only input tensors may be passed as positional"),
        (lambda: Dense(2)(ONES, "x"), "should be passed as a keyword argument: 'x'"),
        (lambda: Dense(2)(ONES[0]), "expected min_ndim=2, found ndim=1"),
        (lambda: Dense(2)(KerasTensor((None, None))), "must be fully known, got .None, 2"),
        (lambda: Layer().add_weight("kernel", (1,), shape=(2,)), "shape is given twice"),
        (lambda: Layer().add_weight("kernel", *[None] * 7), "there are too many"),
        (lambda: Layer()(ONES), "does not have a `call"),
    ],
)
def test_bad_arguments_are_one_clear_error(make, message):
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=message):
        make()


def test_configs_of_classes_with_their_own_init():
    class Simple(Layer):
        def __init__(self, size, scale=2.0, **kwargs):
            super().__init__(**kwargs)

    config = Simple(3, name="s", trainable=False).get_config()
    assert (config["size"], config["scale"], config["name"]) == (3, 2.0, "s")
    assert Simple.from_config(config).get_config() == config

    class Holds(Layer):
        def __init__(self, layer):
            super().__init__()

    with pytest.raises(NotImplementedError, match="its argument 'layer' is not a number, string"):
        Holds(Dense(2)).get_config()


def test_fields_of_a_users_layer():
    class Scale(Layer):
        factor: float = 2.0

        def call(self, x):
            return x * self.factor

    layer = Scale(3, name="s")
    np.testing.assert_array_equal(layer(ONES), 3 * ONES)
    assert Scale.from_config(layer.get_config()).factor == 3.0


def test_a_spec_with_a_rank_accepts_at_once():
    spec = InputSpec(ndim=3, axes={-1: 4})
    assert spec.fits((2, 3, 4))
    assert not any(spec.fits(s) for s in ((3, 4), (2, 3, 5), (1, 2, 3, 4)))
    assert not InputSpec(ndim=3, max_ndim=2).fits((2, 3, 4))


def test_weights_in_keras_2_s_order():
    class Older(Layer):
        def build(self, input_shape):
            size = input_shape[-1]
            self.a = self.add_weight("a", shape=[size, 2], initializer="uniform", trainable=True)
            self.b = self.add_weight("b", (size,), "float64", "ones", "l2", False, "nonneg")
            self.c = self.add_weight("c", initializer=tf.ones_initializer(), trainable=None)
            self.d = self.add_variable("d", (1,))

        def call(self, x):
            return x + self.c

    layer = Older()
    np.testing.assert_array_equal(layer(ONES), ONES + 1)
    size = ONES.shape[-1]
    made = layer.a, layer.b, layer.c, layer.d
    assert [(v.name, v.shape, v.dtype, v.trainable) for v in made] == [
        ("a", (size, 2), "float32", True), ("b", (size,), "float64", False),
        ("c", (), "float32", True), ("d", (1,), "float32", True),
    ]  # fmt: skip
    assert layer.b.numpy().tolist() == [1.0] * size
    assert type(layer.b.regularizer).__name__ == "L2"
    assert type(layer.b.constraint).__name__ == "NonNeg"


@pytest.mark.parametrize(
    ("layer", "shape", "weights"),
    [
        (Dense(2), (1, 3), {"kernel": (3, 2), "bias": (2,)}),
        (layers.Conv1D(2, 2), (1, 4, 3), {"kernel": (2, 3, 2), "bias": (2,)}),
        (layers.EinsumDense("ab,bc->ac", 2, bias_axes="c"), (1, 3), {"bias": (2,)}),
        (layers.LayerNormalization(), (1, 3), {"gamma": (3,), "beta": (3,)}),
    ],
)
def test_a_tensor_may_stand_in_a_weight_s_place(layer, shape, weights):
    """As hypernetworks do: the outer network's weights are another network's outputs."""
    x = tf.ones(shape)
    layer(x)
    made = {name: tf.random.normal(size, seed=1) for name, size in weights.items()}
    for name, value in made.items():
        getattr(layer, name).assign(value)
    expected = layer(x)
    with GradientTape() as tape:
        for name, value in made.items():
            tape.watch(value)
            setattr(layer, name, value)
        found = layer(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert all(g is not None for g in tape.gradient(found, list(made.values())))


def test_training_without_a_default():
    """As in layers written for Keras 2; `training` is then False, and True in fit."""
    seen = []

    class Block(Layer):
        def __init__(self):
            super().__init__()
            self.drop = Dropout(0.5)

        def call(self, inputs, training):
            seen.append(training)
            return self.drop(inputs, training=training)

    class Outer(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def call(self, inputs, training):
            return self.block(inputs)

    inputs = tf.keras.Input((3,))
    ones = np.ones((2, 3), "float32")
    for model in (tf.keras.Model(inputs, Block()(inputs)), tf.keras.Sequential([Block()]), Outer()):
        seen.clear()
        np.testing.assert_array_equal(model(ones), ones)
        np.testing.assert_array_equal(model.predict(ones, verbose=0), ones)
        assert set(seen) == {False}
        seen.clear()
        model(ones, training=True)
        assert seen == [True]
        model.compile("sgd", "mse")
        seen.clear()
        with pytest.warns(UserWarning, match="no trainable weights"):
            model.fit(ones, ones, verbose=0)
        assert set(seen) == {True}
