"""debugging.numerics: where the first value that is not finite comes from."""

import inspect

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.recorders import thread

LAYERS = keras.layers
numerics, NumericsError = tf.debugging.numerics, tf.debugging.NumericsError


def line_of(function, mark="# MARK"):
    lines, start = inspect.getsourcelines(function)
    (offset,) = [i for i, line in enumerate(lines) if line.rstrip().endswith(mark)]
    return f"test_debugging.py:{start + offset}"


# ---- hand-written code ---------------------------------------------------------------------------


def test_the_forward_pass_at_once():
    x = tf.constant([[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]])
    with numerics(), pytest.raises(NumericsError) as caught:
        tf.math.log(x)  # MARK
    error = caught.value
    assert (error.op, error.phase, error.rows) == ("log", "forward", [1, 2])
    assert error.line.endswith(line_of(test_the_forward_pass_at_once))
    assert "computed -inf from inputs 0 to 4" in str(error)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("function", "op", "kind"),
    [
        (lambda x: tf.sqrt(x - 2.0), "sqrt", "nan"),
        (lambda x: tf.exp(x * 1000.0), "exp", "inf"),
        (lambda x: x / (x - 1.0), "divide", "inf"),
        (lambda x: tf.math.log(x - 1.0), "log", "-inf"),
    ],
)
def test_kinds(function, op, kind):
    with numerics(), pytest.raises(NumericsError, match=f"op {op} .*computed {kind} from inputs"):
        function(tf.constant([1.0]))


def test_a_layer_is_named():
    layer = LAYERS.Lambda(lambda x: tf.math.log(x), name="logs")
    with numerics(), pytest.raises(NumericsError, match=r"log \(in layer 'logs', at ") as caught:
        layer(np.zeros((2, 2), "float32"))
    assert caught.value.layer == "logs"


def test_kinds_of_inputs():
    with numerics(), pytest.raises(NumericsError, match=r"an input already has nan.*op multiply"):
        tf.constant([np.nan, 1.0]) * 2.0
    v = tf.Variable([1.0, np.inf], name="broken")
    with numerics(), pytest.raises(NumericsError, match="the variable 'broken:0' already has inf"):
        v * 2.0


def test_an_infinite_mask_is_allowed():
    scores = tf.constant([[1.0, 2.0]])
    with numerics():
        masked = tf.where(tf.constant([[True, False]]), scores, -np.inf)
        assert tf.nn.softmax(masked).numpy().tolist() == [[1.0, 0.0]]


def test_a_mask_of_everything_is_found():
    with numerics(), pytest.raises(NumericsError, match="computed nan"):
        tf.nn.softmax(tf.fill((1, 2), -np.inf))


def backward_of_sqrt():
    v = tf.Variable([[1.0], [0.0]], name="v")
    with numerics():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sqrt(v))  # MARK
        keras.optimizers.SGD().apply_gradients([(tape.gradient(y, v), v)])


def test_the_backward_pass():
    with pytest.raises(NumericsError) as caught:
        backward_of_sqrt()
    error = caught.value
    assert (error.op, error.phase, error.rows) == ("sqrt", "backward", [1])
    assert error.line.endswith(line_of(backward_of_sqrt))
    assert "in the backward pass the rule of the op sqrt" in str(error)


def test_a_gradient_that_is_read():
    v = tf.Variable(0.0)
    with numerics():
        with tf.GradientTape() as tape:
            y = tf.sqrt(v)
        gradient = tape.gradient(y, v)
        with pytest.raises(NumericsError, match="backward"):
            gradient.numpy()
        repr(gradient)  # to look at it is allowed


def test_what_a_rule_masks_again_is_no_harm():
    v = tf.Variable([-1.0, 4.0])
    with numerics():
        with tf.GradientTape() as tape:
            root = tf.sqrt(tf.maximum(v, 0.0))
            y = tf.reduce_sum(tf.where(v > 0.0, root, 0.0))
        assert tape.gradient(y, v).numpy().tolist() == [0.0, 0.25]


def test_the_update():
    v = tf.Variable([3e38], name="v")
    with numerics(), pytest.raises(NumericsError) as caught:
        keras.optimizers.SGD(1.0).apply_gradients([(tf.constant([-3e38]), v)])
    assert caught.value.phase == "update"
    assert "in the update of 'v:0' the op subtract" in str(caught.value)


def test_what_is_finite_goes_on_as_ever():
    v = tf.Variable([2.0])

    def run():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.exp(v) * v)
        return tape.gradient(y, v).numpy()

    expected = run()
    with numerics():
        np.testing.assert_array_equal(run(), expected)


def test_forward_mode_and_jacobians():
    v = tf.Variable([1.0, 2.0])
    with numerics():
        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as accumulator:
            y = tf.sqrt(v)
        np.testing.assert_array_equal(accumulator.jvp(y), [0.5, 0.0])
        with tf.GradientTape() as tape:
            y = v * v
        np.testing.assert_array_equal(tape.jacobian(y, v), [[2.0, 0.0], [0.0, 4.0]])


def test_the_context_ends():
    with pytest.raises(NumericsError), numerics():
        tf.math.log(tf.constant(0.0))
    assert thread.stack == ()
    assert thread.numerics is None
    tf.math.log(tf.constant(0.0))


# ---- fit and training steps ----------------------------------------------------------------------


class Logs(LAYERS.Layer):
    def call(self, inputs):
        return tf.math.log(inputs)  # the line


def model_of(*layers, optimizer="sgd", loss="mse"):
    keras.utils.set_random_seed(2)
    model = keras.Sequential([LAYERS.Input((3,)), *layers])
    model.compile(optimizer, loss)
    return model


X = np.abs(np.random.default_rng(0).normal(size=(16, 3))).astype("float32") + 0.1
Y = np.ones((16, 1), "float32")


def snapshot(model):
    return [v.numpy() for v in (*model.variables, *model.optimizer.variables)]


def test_fit_names_layer_line_and_rows_and_puts_everything_back():
    model = model_of(Logs(name="logs"), LAYERS.Dense(1), optimizer=keras.optimizers.Adam())
    x = X.copy()
    x[[9, 13]] = 0.0
    with numerics():
        model.fit(X, Y, verbose=0)
        with pytest.raises(NumericsError) as caught:
            fit_and_compare(model, x)
    error = caught.value
    assert (error.op, error.phase, error.rows) == ("log", "forward", [1, 5])
    assert error.line.endswith(line_of(Logs.call, "# the line"))
    assert error.layer.endswith("logs")
    assert "rows of the batch: 1, 5" in str(error)
    assert "The model is as it was before the step." in str(error)


def fit_and_compare(model, x):
    """Fit, and see that the model is what it was before the last step."""
    before = None

    class Keep(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            nonlocal before
            before = snapshot(model)

    try:
        model.fit(x, Y, batch_size=8, shuffle=False, verbose=0, callbacks=[Keep()])
    finally:
        for now, then in zip(snapshot(model), before, strict=True):
            np.testing.assert_array_equal(now, then)


def test_a_step_with_random_draws_is_found_again():
    model = model_of(LAYERS.Dropout(0.5, seed=4), Logs(name="logs"), LAYERS.Dense(1))
    before = snapshot(model)
    with numerics(), pytest.raises(NumericsError, match="the op log"):
        model.fit(X, Y, batch_size=16, verbose=0)
    for now, then in zip(snapshot(model), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_the_data_is_named():
    model = model_of(LAYERS.Dense(1))
    x, y = X.copy(), Y.copy()
    x[3, 1] = np.nan
    with numerics(), pytest.raises(NumericsError, match="x already has nan") as caught:
        model.fit(x, Y, shuffle=False, verbose=0)
    assert caught.value.rows == [3]
    y[[2, 5]] = np.nan
    with numerics(), pytest.raises(NumericsError, match="y already has nan") as caught:
        model.fit(X, y, shuffle=False, verbose=0)
    assert caught.value.rows == [2, 5]


class Roots(LAYERS.Layer):
    def call(self, inputs):
        return tf.sqrt(tf.nn.relu(inputs))  # the line


def test_the_backward_pass_of_a_training_step():
    model = model_of(LAYERS.Dense(1, kernel_initializer="zeros"), Roots(name="roots"))
    step = model.training_step(loss="mse", optimizer="sgd")
    with numerics(), pytest.raises(NumericsError) as caught:
        step(X, Y)
    error = caught.value
    assert (error.op, error.phase) == ("sqrt", "backward")
    assert error.line.endswith(line_of(Roots.call, "# the line"))
    assert error.rows == list(range(16))
    assert "and 6 more" in str(error)


def test_the_update_of_a_training_step():
    model = model_of(LAYERS.Dense(1, use_bias=False, name="only"))
    step = model.training_step(loss="mse", optimizer=keras.optimizers.SGD(3e38))
    with numerics(), pytest.raises(NumericsError) as caught:
        step(X * 10, Y)
    assert caught.value.phase == "update"
    assert "only/kernel'" in str(caught.value)


def test_weights_that_are_broken_before():
    model = model_of(LAYERS.Dense(1, name="only"))
    model.layers[0].kernel.assign(np.full((3, 1), np.nan))
    with (
        numerics(),
        pytest.raises(NumericsError, match=r"the variable '.*only/kernel' already has nan"),
    ):
        model.fit(X, Y, verbose=0)


def test_a_custom_train_step_is_checked_too():
    class Own(keras.Sequential):
        def train_step(self, data):
            x, y = data[:2]
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return {"loss": loss}

    model = Own([Logs(name="logs"), LAYERS.Dense(1)])
    model.compile("sgd", "mse")
    with numerics(), pytest.raises(NumericsError, match="the op log"):
        model.fit(X * 0, Y, verbose=0)


def test_a_finite_fit_is_the_same_to_the_bit():
    def trained(checked):
        keras.utils.set_random_seed(2)
        model = model_of(LAYERS.Dense(4, "tanh"), LAYERS.Dropout(0.3, seed=1),
                         LAYERS.Dense(1), optimizer=keras.optimizers.Adam())  # fmt: skip
        if checked:
            with numerics():
                model.fit(X, Y, epochs=3, verbose=0)
        else:
            model.fit(X, Y, epochs=3, verbose=0)
        return snapshot(model)

    for mine, theirs in zip(trained(True), trained(False), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_evaluate_and_predict_are_checked():
    model = model_of(Logs(name="logs"), LAYERS.Dense(1))
    with numerics(), pytest.raises(NumericsError, match="the op log"):
        model.predict(X * 0, verbose=0)


def test_without_the_context_nothing_is_checked():
    model = model_of(Logs(), LAYERS.Dense(1))
    with pytest.warns(UserWarning, match="the loss is inf from batch 1"):
        model.fit(X * 0, Y, verbose=0)
    assert not np.isfinite(model.layers[-1].kernel.numpy()).all()
