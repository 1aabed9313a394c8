"""`fit(doctor=True)`: one page after the first epoch."""

import numpy as np
import pytest

from framework import keras

RNG = np.random.default_rng(0)
LABELS = np.arange(128) % 4
X = (RNG.normal(size=(128, 6)) + LABELS[:, None]).astype("float32")
layers = keras.layers


@pytest.fixture(autouse=True)
def _seed():
    keras.utils.set_random_seed(1)  # before layers are created: initializers take their seeds then


def made(*stack, loss=None, optimizer="adam"):
    model = keras.Sequential([*stack], name="net")
    loss = loss or keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss)
    return model


def classifier(**options):
    return made(layers.Dense(16, "relu", name="hidden"), layers.Dense(4, name="head"), **options)


def printed(model, x, y, capsys, **options):
    model.fit(x, y, epochs=2, verbose=0, doctor=True, **options)
    return capsys.readouterr().out


def test_the_page_of_a_sound_model(capsys):
    page = printed(classifier(optimizer=keras.optimizers.Adam(0.05)), X, LABELS, capsys)
    assert page.startswith("doctor: model 'net' after one epoch, on its last batch: no mistake")
    assert page.count("doctor:") == 1  # not again after the second epoch
    subjects = [line.split()[1] for line in page.splitlines()[1:] if line[2:4] in ("ok", "!!")]
    assert subjects == [
        "values", "inputs", "targets", "order", "outputs", "gradients", "units", "rate", "loss"
    ]  # fmt: skip
    assert max(map(len, page.splitlines())) <= 88


@pytest.mark.filterwarnings("ignore")  # plain fit warns about some of them too
@pytest.mark.parametrize(
    ("model", "x", "y", "text"),
    [
        (classifier, X * [1, 1, 1, 1, 1, 1e4], LABELS, "of the features go from .* (column 5)"),
        (classifier, X * 0, LABELS, "x is the same in all 32 rows"),
        (classifier, X, LABELS * 0, "y is the same in all 32 rows"),
        (lambda: classifier(optimizer=keras.optimizers.Adam(3.0)), X, LABELS, "rate 3 is above"),
        (lambda: made(layers.Dense(4, "softmax", name="head")), X, LABELS, "computed by softmax"),
        (
            lambda: made(
                layers.Dense(8, "relu", name="hidden", bias_initializer=_some_dead),
                layers.Dense(4, name="head"),
            ),
            X, LABELS, "5 of the 8 units of relu (in layer 'net/hidden'",
        ),
        (
            lambda: made(layers.Dense(8, "sigmoid", name="hidden"), layers.Dense(4, "tanh"),
                         loss="mse"),
            X * 1e5, LABELS[:, None] / 4 * np.ones(4), "values of sigmoid (in layer 'net/hidden",
        ),
    ],
)  # fmt: skip
def test_what_the_page_says(model, x, y, text, capsys):
    page = " ".join(printed(model(), x, y, capsys).split())
    for part in text.split(" .* "):
        assert part in page


def _some_dead(shape, dtype=None):
    return np.where(np.arange(shape[0]) < 5, -1e3, 0.0).astype("float32")


def test_an_own_train_step_is_not_seen(capsys):
    class Own(keras.Sequential):
        def train_step(self, data):
            return super().train_step(data)

    model = Own([layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], verbose=0, doctor=True)
    assert "overrides train_step" in capsys.readouterr().out


def test_debug_takes_one_word():
    with pytest.raises(ValueError, match='debug must be None or "numerics", got True'):
        classifier().fit(X, LABELS, debug=True, verbose=0)
