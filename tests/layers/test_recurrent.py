"""Recurrent layers, cells and wrappers: Keras's numbers, masks, states, dropout and errors."""

import gc

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.configs import CustomObjectScope
from framework.layers import (
    GRU,
    LSTM,
    RNN,
    Bidirectional,
    Dense,
    GRUCell,
    Layer,
    LSTMCell,
    Masking,
    SimpleRNN,
    SimpleRNNCell,
    StackedRNNCells,
    TimeDistributed,
)
from tests.layers.keras_recurrent import VALUES
from tests.layers.recurrent_cases import ALL, MASK, STATE, X, cases, fill, flat, inputs

CASES = {name: (layer, arguments) for name, layer, arguments in cases(keras)}
LAYERS = (SimpleRNN, GRU, LSTM)
each_layer = pytest.mark.parametrize("cls", LAYERS)


@pytest.mark.parametrize("name", VALUES)
def test_values_are_keras(name):
    layer, arguments = CASES[name]
    if not layer.built:
        layer.build(inputs(layer).shape)
    outputs = fill(layer)(inputs(layer), **arguments)
    found = np.concatenate([a.reshape(-1) for a in flat(outputs)])
    np.testing.assert_allclose(found, VALUES[name], rtol=1e-5, atol=2e-6)


def test_every_case_has_its_values():
    assert set(CASES) == set(VALUES)


# ---- the op of whole sequences, and the loop over the steps --------------------------------------


def both_ways(cls, **config):
    """Return a layer that runs the op, and one with equal weights that runs step by step."""
    by_op = fill_built(
        cls(2, use_cudnn=True, **config) if cls is not SimpleRNN else cls(2, **config)
    )
    by_steps = RNN(by_op.cell, **{k: v for k, v in config.items() if k not in CELLS_OWN})
    by_steps.use_cudnn = False
    return by_op, by_steps


CELLS_OWN = ("dropout", "recurrent_dropout", "seed")


def fill_built(layer):
    layer.build(X.shape)
    return fill(layer)


@each_layer
@pytest.mark.parametrize("config", [{}, {"go_backwards": True}, {"zero_output_for_mask": True}])
def test_the_op_gives_what_steps_give(cls, config):
    by_op, by_steps = both_ways(cls, **ALL, **config)
    by_steps(X)
    found = []
    for layer in (by_op, by_steps):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs = layer(x, mask=MASK)
            loss = sum(tf.reduce_sum(y * y) for y in outputs)
        found.append([*outputs, *tape.gradient(loss, [x, *layer.trainable_variables])])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


@each_layer
def test_the_op_is_one_record(cls):
    layer = fill_built(cls(2))
    with tf.GradientTape() as tape:
        layer(X, mask=MASK)
    names = [op.name for op in tape.recorded_ops()]
    assert names == [{SimpleRNN: "simple_rnn", GRU: "gru", LSTM: "lstm"}[cls]]


@each_layer
def test_a_mask_of_ones_changes_nothing_and_other_dtypes_of_masks_serve(cls):
    layer = fill_built(cls(2, **ALL))
    for a, b in zip(layer(X), layer(X, mask=np.ones((2, 4), bool)), strict=True):
        np.testing.assert_array_equal(a, b)
    for mask in (MASK.astype("float32"), MASK.astype("int32"), MASK[:, :, None]):
        for a, b in zip(layer(X, mask=MASK), layer(X, mask=mask), strict=True):
            np.testing.assert_array_equal(a, b)


@each_layer
def test_what_is_masked_does_not_matter(cls):
    layer = fill_built(cls(2, return_sequences=True))
    other = np.where(MASK[:, :, None], X, 77).astype("float32")
    np.testing.assert_array_equal(layer(X, mask=MASK), layer(other, mask=MASK))


@each_layer
def test_halves_give_what_the_whole_gives(cls):
    layer = fill_built(cls(2, **ALL))
    outputs, *states = layer(X)
    first, *middle = layer(X[:, :2])
    second, *last = layer(X[:, 2:], initial_state=middle)
    np.testing.assert_allclose(np.concatenate([first, second], 1), outputs, rtol=1e-6, atol=1e-7)
    for a, b in zip(states, last, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@each_layer
def test_mixed_precision(cls):
    layer = cls(2, dtype="mixed_float16", **ALL)
    layer.build(X.shape)
    fill(layer)
    wide = fill_built(cls(2, **ALL))
    with tf.GradientTape() as tape:
        outputs = layer(X, mask=MASK)
        loss = tf.reduce_sum(outputs[0])
    for y, r in zip(outputs, wide(X, mask=MASK), strict=True):
        assert y.dtype == "float16"
        np.testing.assert_allclose(y, r, atol=2e-3)
    for g, v in zip(
        tape.gradient(loss, layer.trainable_variables), layer.trainable_variables, strict=True
    ):
        assert v.dtype == "float32"
        assert g.dtype == "float32"


# ---- states --------------------------------------------------------------------------------------


@each_layer
def test_stateful_layers_go_on_where_they_stopped(cls):
    layer = fill_built(cls(2, stateful=True, return_sequences=True))
    whole = fill_built(cls(2, return_sequences=True))(X)
    first, second = layer(X[:, :2]), layer(X[:, 2:])
    np.testing.assert_allclose(np.concatenate([first, second], 1), whole, rtol=1e-6, atol=1e-7)
    layer.reset_state()
    np.testing.assert_array_equal(layer(X[:, :2]), first)
    assert all(v.name == "rnn_state" for v in layer.states)
    assert len(layer.weights) == 3  # states are no weights
    with pytest.raises(ValueError, match="Expected batch size: 2"):
        layer(X[:1])


def test_stateful_layers_need_a_batch_size():
    with pytest.raises(ValueError, match="batch size must be static"):
        LSTM(2, stateful=True)(keras.Input((4, 3)))


@each_layer
def test_states_and_a_mask_of_one_example_are_for_each(cls):
    layer = fill_built(cls(2, **ALL))
    state, mask = STATE[:1], MASK[:1]
    count = 2 if cls is LSTM else 1
    one = layer(X, initial_state=[state] * count, mask=mask)
    each = layer(X, initial_state=[np.repeat(state, 2, 0)] * count, mask=np.repeat(mask, 2, 0))
    for a, b in zip(one, each, strict=True):
        np.testing.assert_array_equal(a, b)


def test_symbolic_states():
    x, h, c = keras.Input((None, 3)), keras.Input((2,)), keras.Input((2,))
    layer = LSTM(2, **ALL)
    model = keras.Model([x, h, c], layer(x, initial_state=[h, c]))
    fill(layer)
    for a, b in zip(model([X, STATE, STATE]), layer(X, initial_state=[STATE, STATE]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_model_trains_and_its_length_is_free():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([
        keras.Input((None, 3)), Masking(), Bidirectional(GRU(4, return_sequences=True)), LSTM(4),
        Dense(1),
    ])  # fmt: skip
    x = np.random.default_rng(0).normal(size=(32, 5, 3)).astype("float32")
    x[::2, 3:] = 0
    y = x.sum((1, 2))[:, None]
    model.compile("adam", "mse")
    losses = model.fit(x, y, epochs=15, batch_size=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert model(x[:, :2]).shape == (32, 1)


# ---- masks ---------------------------------------------------------------------------------------


def mask_of(y):
    return getattr(y, "_keras_mask", None)


def test_masks_travel():
    masked = Masking()(X)
    np.testing.assert_array_equal(mask_of(masked), [[1, 1, 0, 0], [1, 1, 1, 1]])
    sequences = LSTM(2, return_sequences=True)(masked)
    assert mask_of(sequences) is mask_of(masked)
    assert mask_of(LSTM(2)(masked)) is None
    output, h, c = LSTM(2, **ALL)(masked)
    assert mask_of(output) is not None
    assert mask_of(h) is mask_of(c) is None
    assert mask_of(Bidirectional(GRU(2, return_sequences=True))(masked)) is not None
    assert mask_of(TimeDistributed(Dense(2))(masked)) is not None
    layer = Bidirectional(GRU(2, **ALL), merge_mode=None)
    assert [mask_of(y) is not None for y in layer(masked)] == [True, True, False, False]


def test_masking_by_another_value():
    x = np.array([[[7.0, 7.0], [7.0, 1.0]]], "float32")
    y = Masking(7.0)(x)
    np.testing.assert_array_equal(y, [[[0, 0], [7, 1]]])
    np.testing.assert_array_equal(mask_of(y), [[False, True]])


# ---- dropout -------------------------------------------------------------------------------------


def test_dropout_takes_whole_features_of_a_sequence():
    layer = fill_built(SimpleRNN(2, dropout=0.5, seed=1, activation="linear", use_bias=False))
    kernel, recurrent = (w.numpy() for w in layer.weights[:2])
    generator = keras.random.SeedGenerator(1)
    noise = keras.random.uniform((2, 3), seed=generator).numpy()
    kept = np.where(noise >= 0.5, 2, 0)
    h = np.zeros((2, 2))
    for t in range(4):
        h = X[:, t] * kept @ kernel + h @ recurrent
    np.testing.assert_allclose(layer(X, training=True), h, rtol=1e-5)
    np.testing.assert_allclose(layer(X), fill_built(
        SimpleRNN(2, activation="linear", use_bias=False))(X), rtol=1e-6)  # fmt: skip


@each_layer
@pytest.mark.parametrize("how", [{"dropout": 0.4}, {"recurrent_dropout": 0.4},
                                 {"dropout": 0.3, "recurrent_dropout": 0.3}])  # fmt: skip
def test_dropout_follows_its_seed(cls, how):
    made = [fill_built(cls(2, seed=5, **how)) for _ in range(2)]
    first, second = ([layer(X, training=True).numpy() for _ in range(3)] for layer in made)
    np.testing.assert_array_equal(first, second)
    assert len({y.tobytes() for y in first}) > 1  # new masks for each call
    np.testing.assert_array_equal(made[0](X), fill_built(cls(2))(X).numpy())
    assert not made[0].cell._framework.dropout_masks  # none is kept


def test_implementation_1_has_a_mask_for_each_gate():
    cell = GRUCell(2, dropout=0.5, seed=1, implementation=1)
    assert len(cell.get_dropout_mask(tf.constant(X[:, 0]))) == 3
    layer = fill_built(GRU(2, implementation=1))
    np.testing.assert_allclose(layer(X), fill_built(GRU(2))(X), rtol=1e-6)


# ---- cells ---------------------------------------------------------------------------------------


class Minimal(Layer):
    """A user-defined cell."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], self.units), name="kernel")
        self.recurrent_kernel = self.add_weight((self.units, self.units), name="recurrent")

    def call(self, inputs, states):
        h = keras.ops.matmul(inputs, self.kernel)
        h = h + keras.ops.matmul(states[0], self.recurrent_kernel)
        return h, [h]


class Plain:
    """A cell that is not a layer."""

    state_size = (3, 3)
    output_size = 3

    def call(self, inputs, states):
        h, c = states
        return inputs + h, (inputs + h, c + 1)


class Composed(Layer):
    """A cell made of layers, without a `build`."""

    state_size = output_size = 2

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = Dense(2, use_bias=False)

    def call(self, inputs, states, training=False):
        h = self.dense(inputs) + states[0] * (0.0 if training else 1.0)
        return h, h


def test_own_cells():
    layer = fill_built(RNN(Minimal(2), return_sequences=True))
    linear = fill_built(SimpleRNN(2, return_sequences=True, activation=None, use_bias=False))
    np.testing.assert_allclose(layer(X, mask=MASK), linear(X, mask=MASK), rtol=1e-6)
    assert [v.path.split("/", 1)[1] for v in layer.weights] == [
        "minimal/kernel", "minimal/recurrent",
    ]  # fmt: skip
    output, _, c = RNN(Plain(), return_state=True)(X)
    np.testing.assert_allclose(output, X.sum(1), rtol=1e-5)
    np.testing.assert_array_equal(c, np.full((2, 3), 4))


def test_a_cell_of_layers_is_built_with_its_rnn_and_gets_training():
    layer = RNN(Composed())
    assert layer(keras.Input((None, 3))).shape == (None, 2)
    (kernel,) = layer.trainable_weights
    np.testing.assert_allclose(layer(X), X.sum(1) @ kernel.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        layer(X, training=True), X[:, -1] @ kernel.numpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("cls", [SimpleRNNCell, GRUCell, LSTMCell])
def test_cells_alone(cls):
    cell = cls(2, bias_initializer="random_normal")
    states = cell.get_initial_state(batch_size=2)
    for t in range(4):
        output, states = cell(X[:, t], states)
    whole = RNN(cell, return_state=True)
    for a, b in zip(whole(X), [output, *states], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
    assert cls.from_config(cell.get_config()).get_config() == cell.get_config()
    symbolic, _ = cell(keras.KerasTensor((None, 3)), [keras.KerasTensor((None, 2))] * len(states))
    assert symbolic.shape == (None, 2)


def test_stacked_cells_are_layers_in_a_row():
    cells = [LSTMCell(2), GRUCell(3), SimpleRNNCell(2)]
    stacked = RNN(StackedRNNCells(cells), **ALL)
    y = stacked(X, mask=MASK)
    row = X
    for cell in cells:
        row, *last = RNN(cell, **ALL)(row, mask=MASK)
    np.testing.assert_allclose(y[0], row, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(y[-1][0], last[0], rtol=1e-6, atol=1e-7)
    stacked.use_cudnn = False
    np.testing.assert_allclose(stacked(X, mask=MASK)[0], y[0], rtol=1e-5, atol=1e-6)


def test_configs_make_equal_layers():
    for layer in (
        RNN([LSTMCell(2), GRUCell(3)], **ALL), Bidirectional(LSTM(2), merge_mode="sum"),
        TimeDistributed(Dense(2)), LSTM(2, zero_output_for_mask=True), RNN(Minimal(2)),
    ):  # fmt: skip
        with CustomObjectScope({"Minimal": Minimal}):
            again = type(layer).from_config(layer.get_config())
        assert again.get_config() == layer.get_config()
        again.build(X.shape)
        assert len(again.get_weights()) > 0
    assert "use_cudnn" not in LSTM(2).get_config()
    assert "cell" not in LSTM(2).get_config()


def test_bidirectional_weights_and_an_own_backward_layer():
    donor = fill_built(Bidirectional(GRU(2)))
    layer = Bidirectional(GRU(2), weights=donor.get_weights())
    np.testing.assert_array_equal(layer(X), donor(X))
    layer = Bidirectional(LSTM(2), backward_layer=GRU(3, go_backwards=True))
    assert layer(X).shape == (2, 5)


def test_stateful_bidirectional_layers():
    layer = Bidirectional(GRU(2, stateful=True))
    first = layer(X)
    assert np.abs(layer(X).numpy() - first.numpy()).max() > 1e-3
    assert len(layer.states) == 2
    layer.reset_state()
    np.testing.assert_array_equal(layer(X), first)
    with pytest.raises(AttributeError, match="stateful"):
        Bidirectional(GRU(2)).reset_state()


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "message"), [
    (lambda: RNN(3), "`call` method"),
    (lambda: RNN([LSTMCell(2), Dense(2)]), "`state_size` attribute"),
    (lambda: LSTM(0), "positive integer"),
    (lambda: LSTM(2)(X[0]), "expected ndim=3"),
    (lambda: LSTM(2, use_cudnn="x"), "use_cudnn"),
    (lambda: LSTM(2, use_cudnn=True, activation="relu")(X), "use_cudnn=True"),
    (lambda: RNN(Minimal(2))(X[:, :0]), "at least one step"),
    (lambda: Bidirectional(3), "layer must be a layer"),
    (lambda: Bidirectional(LSTM(2), merge_mode="x"), "merge_mode must be one of"),
    (lambda: Bidirectional(LSTM(2), backward_layer=LSTM(2)), "go_backwards"),
    (lambda: Bidirectional(LSTM(2), backward_layer=LSTM(2, go_backwards=True, stateful=True)),
     "stateful"),
    (lambda: TimeDistributed(3), "a layer"),
    (lambda: TimeDistributed(Dense(2))(X[0]), "at least 3 dimensions"),
    (lambda: TimeDistributed(Dense(2))(X, mask=MASK[:, :2]), "mask"),
])  # fmt: skip
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_step_leaves_no_cycles():
    layer = fill_built(LSTM(2))

    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(layer(X, mask=MASK))
        tape.gradient(y, layer.trainable_variables)

    step()
    gc.collect()
    gc.disable()
    try:
        step()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_the_shape_of_one_state_is_not_taken_for_two_sizes():
    """As real Keras refuses it; `TensorShape` is a tuple here, which would pass unseen."""

    class Cell(keras.layers.Layer):
        state_size = tf.TensorShape([3, 4])

        def call(self, inputs, states):
            return inputs, states

    with pytest.raises(ValueError, match="state_size must be an integer, or a list/tuple"):
        keras.layers.RNN(Cell())
