"""Twenty-five mistakes in training: what the package says by itself, and what when asked.

Each mistake gives at most 3 points: 3 if a warning or error names the place (layer, argument, line
or batch), the cause and the remedy; 2 for cause and remedy; 1 for a hint. `by_itself` and `asked`
are patterns that the texts must match for the stated points. The package is "asked" by
`fit(doctor=True)`, `fit(debug="numerics")`, `model.fast_check` or `tape.explain`.
"""

import re
import warnings
from typing import NamedTuple

import numpy as np
import pytest

import framework as tf
from framework import keras

RNG = np.random.default_rng(0)
LABELS = np.arange(256) % 4
X = (RNG.normal(size=(256, 8)) + LABELS[:, None]).astype("float32")
Y = X[:, :1] * 2
layers, optimizers = keras.layers, keras.optimizers
LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def made(last, loss, optimizer="adam", hidden=None, **options):
    keras.utils.set_random_seed(1)
    hidden = hidden or layers.Dense(8, "relu", name="hidden")
    model = keras.Sequential([hidden, last], name="net")
    model.compile(optimizer, loss, **options)
    return model


def fitted(model, x, y, epochs=1, **options):
    model.fit(x, y, epochs=epochs, verbose=0, **options)


class Case(NamedTuple):
    """One mistake."""

    run: object  # run(**options of fit)
    by_itself: str
    points: int
    asked: object = None  # function that returns a text, if `by_itself` gives fewer than 3 points
    answer: str = ""
    points_asked: int = 0


def head(units=1, activation=None, **options):
    return layers.Dense(units, activation, name="head", **options)


def logarithm(x):
    return tf.math.log(x)


def nan_in_fit(**options):
    model = made(head(), "mse", hidden=layers.Lambda(logarithm, name="log"))
    fitted(model, X, Y, **options)


def all_frozen():
    model = made(head(), "mse")
    model.trainable = False
    fitted(model, X, Y, 2)


def no_return():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, x):
            self.dense(x)

    model = Net()
    model.compile("sgd", "mse")
    fitted(model, X, Y)


def two_inputs(age, word):
    inputs = keras.Input((8,), name="age"), keras.Input((1,), name="word")
    model = keras.Model(list(inputs), head()(layers.Concatenate()(list(inputs))), name="net")
    model.compile("sgd", "mse")
    fitted(model, {"age": age, "word": word}, Y)


def images():
    x = RNG.integers(0, 256, (64, 8, 8)).astype("float32")
    keras.utils.set_random_seed(1)
    model = keras.Sequential([layers.Flatten(), layers.Dense(4, name="first")])
    model.compile("adam", LOGITS)
    fitted(model, x, LABELS[:64])


def sorted_rows():
    data = tf.data.Dataset.from_tensor_slices((X, np.sort(LABELS))).batch(32)
    fitted(made(head(4), LOGITS), data, None)


def dead_units():
    hidden = layers.Dense(
        8, "relu", name="hidden", bias_initializer=keras.initializers.Constant(-99)
    )
    fitted(made(head(4), LOGITS, hidden=hidden), X, LABELS, 4)


def rebound_name():
    x = tf.Variable(1.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = x * x
        if not isinstance(x, tf.Variable):
            return tape.explain(y, x)
        gradient = tape.gradient(y, x)
        x = x - 0.1 * gradient
    return ""


def assigned_between(explained=True):
    x, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x.assign(w * 3)
        y = x * x
    optimizer = optimizers.SGD()
    if not explained:
        optimizer.apply_gradients([(tape.gradient(y, w), w)])
    return tape.explain(y, w)


def left_by_numpy(explained=False):
    w = tf.Variable(2.0)
    with tf.GradientTape(trace=explained) as tape:
        y = tf.constant(np.sin(w.numpy())) * 2
    if explained:
        return tape.explain(y, w)
    optimizers.SGD().apply_gradients([(tape.gradient(y, w), w)])
    return ""


def torch_words():
    w = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(w * w)
    loss.backward()


def holes():
    x = X.copy()
    x[17, 3] = np.nan
    fitted(made(head(), "mse"), x, Y, shuffle=False)


CASES = {
    "nan": Case(
        nan_in_fit, r"nan from batch 1 of epoch 1.*debug=\"numerics\".*log, root or division", 2,
        lambda: error_of(lambda: nan_in_fit(debug="numerics")),
        r"the op log \(in layer 'net/log', at .*test_mistakes.py:\d+\).*rows of the batch", 3,
    ),
    "all frozen": Case(
        all_frozen, r"'net' has no trainable weights: all 4 are frozen.*'hidden'.*trainable =", 3
    ),
    "softmax of one unit": Case(
        lambda: fitted(made(head(1, "softmax"), "binary_crossentropy"), X, Y > 0),
        r"layer 'head' is always 1: it has one unit.*activation=\"sigmoid\"", 3,
    ),
    "sigmoid of classes": Case(
        lambda: fitted(made(head(4, "sigmoid"), "sparse_categorical_crossentropy"), X, LABELS),
        r"layer 'head'.*computed by sigmoid. Use activation=\"softmax\"", 3,
    ),
    "labels from 1": Case(
        lambda: fitted(made(head(4), LOGITS), X, LABELS + 1),
        r"y_true: got the label 4, but y_pred has 4 classes.*Shift labels that start at 1", 3,
    ),
    "unscaled images": Case(
        images, r"x has values from 0 to 255.*layer 'first'.*Divide x by 255", 3
    ),
    "sorted rows": Case(
        sorted_rows, r"256 rows are sorted by class.*Call shuffle\(1000\)", 3
    ),
    "dead units": Case(
        dead_units, r"does not move.*All 8 units of relu \(in layer 'net/hidden'.*leaky_relu", 3
    ),
    "rate too small": Case(
        lambda: fitted(made(head(), "mse", optimizers.SGD(1e-9)), X, Y, 4),
        r"does not move: it is .* the last 3 epochs. The learning rate 1e-09 is below.*Pass", 3,
    ),
    "x = x - g": Case(
        lambda: None, "", 0, rebound_name,
        r"`x = x - 0.1 \* gradient` \(at .*test_mistakes.py:\d+\).*x.assign_sub\(", 3,
    ),
    "assign": Case(
        lambda: assigned_between(False),
        r"value went into the variable 'Variable.*assign\(\).*compute with the tensor", 3,
        assigned_between, r"went into the variable 'Variable.*assign\(\).*compute with", 3,
    ),
    "numpy": Case(
        left_by_numpy, r"'Variable.*left the tape through .numpy\(\): compute with tf functions", 2,
        lambda: left_by_numpy(True), r"through .numpy\(\) \(at .*_mistakes.py:\d+\): compute", 3,
    ),
    "no return": Case(
        no_return, r"Net.call \(at .*test_mistakes.py:\d+\) returned None.*return outputs", 3
    ),
    "text": Case(
        lambda: two_inputs(X, np.full((256, 1), "red")),
        r"Input 'word' of model 'net': expected numbers.*got text such as 'red'.*StringLookup", 3,
    ),
    "rate too large": Case(
        lambda: fitted(made(head(), "mse", optimizers.Adam(10.0)), X, Y),
        r"the loss rises, .* epoch 1; the learning rate 10 is above.*such as Adam\(0.001\)", 3,
    ),
    "logits as probabilities": Case(
        lambda: fitted(made(head(4), "sparse_categorical_crossentropy"), X, LABELS),
        r"layer 'head' range from .*look like logits. Use from_logits=True", 3,
    ),
    "probabilities as logits": Case(
        lambda: fitted(made(head(4, "softmax"), LOGITS), X, LABELS),
        r"layer 'head' are probabilities, computed by softmax. Use from_logits=False", 3,
    ),
    "unseen classes": Case(
        lambda: fitted(made(head(4), LOGITS), X, np.sort(LABELS), validation_split=0.25),
        r"validation_split takes the last rows.*classes that the training.*: 3.*Shuffle them", 3,
    ),
    "one-hot": Case(
        lambda: fitted(made(head(4, "softmax"), "categorical_crossentropy"), X, LABELS),
        r"categorical_crossentropy: y_true of shape .*sparse_categorical_crossentropy", 3,
    ),
    "nan in the data": Case(
        holes, r"nan from batch 1 .*x has nan in row 17 of the batch, position \(3,\).*dropna", 3
    ),
    "accuracy of numbers": Case(
        lambda: fitted(made(head(), "mse", metrics=["accuracy"]), X, Y),
        r"metrics: 'accuracy' compares classes, but y has .*'mae'", 3,
    ),
    "PyTorch's words": Case(
        torch_words, r"'Tensor' has no attribute 'backward'.*GradientTape\(\) as tape", 3
    ),
    "range of the activation": Case(
        lambda: fitted(made(head(1, "relu"), "mse"), X, -np.abs(Y) - 1),
        r"'relu' of layer 'head' gives only values of at least 0, but y has .*Leave out", 3,
    ),
    "labels of -1 and 1": Case(
        lambda: fitted(made(head(1, "sigmoid"), "binary_crossentropy"), X, np.sign(Y)),
        r"y: the loss 'binary_crossentropy' expects labels from 0 to 1.*Map the two classes", 3,
    ),
    "columns": Case(
        lambda: fitted(made(head(5), "mse"), X, Y),
        r"y has the shape \(32, 1\), but the outputs of layer 'head' have \(32, 5\).*1 unit", 3,
    ),
}  # fmt: skip


def error_of(call):
    try:
        call()
    except Exception as error:
        return str(error)
    return ""


def said(call):
    """Return the warnings and the error of a call, a list of texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = error_of(call)
    return [*(str(w.message) for w in caught), *filter(None, [error])]


def test_there_are_25_mistakes():
    assert len(CASES) == 25
    assert sum(case.points for case in CASES.values()) >= 60
    assert sum(max(case.points, case.points_asked) for case in CASES.values()) >= 70


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_by_itself(case):
    texts = said(case.run)
    if case.points:
        assert any(re.search(case.by_itself, text, re.DOTALL) for text in texts), texts
        assert len(texts) <= 2, texts
    else:
        assert texts == []


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.asked])
def test_asked(name):
    assert re.search(CASES[name].answer, CASES[name].asked(), re.DOTALL)


def test_a_search_for_causes_that_fails_does_not_end_the_training(change):
    from framework.training.mistakes import one_pass

    change(one_pass, one_pass=lambda *_: 1 / 0)
    assert said(dead_units) == []


def test_a_loss_at_its_minimum_is_no_mistake():
    """Equal losses alone are none: a model that has learned all it can has them too."""
    noisy = Y + np.random.default_rng(1).normal(size=Y.shape)
    model = made(head(), "mse", optimizers.SGD(0.01), hidden=layers.Dense(1, name="hidden"))
    assert said(lambda: fitted(model, X, noisy, 400, batch_size=256)) == []
    losses = model.history.history["loss"][-3:]
    assert max(losses) < 1.0005 * min(losses)
    assert "flat" in model._framework.training.told  # the cause was looked for


def test_each_mistake_is_told_once():
    model = made(head(), "mse", optimizers.SGD(1e-9))
    texts = said(lambda: [fitted(model, X, Y, 4) for _ in range(3)])
    assert len(texts) == 1
