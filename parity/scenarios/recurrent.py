"""Recurrent layers of all kinds, with and without padding, inside models that train."""

import numpy as np

from parity.scenarios.attention import LENGTH, WORDS, sentences, series
from parity.scenarios.problems import Fit, compiled, seeded, sgd


def _rnn(name, **options):
    return lambda layers, x: getattr(layers, name)(6, **options)(x)


def _both_ways(name, mode, **options):
    return lambda layers, x: layers.Bidirectional(
        getattr(layers, name)(4, **options), merge_mode=mode
    )(x)


def _in_a_row(layers, x):
    x = layers.LSTM(6, return_sequences=True)(x)
    x = layers.TimeDistributed(layers.Dense(5, activation="tanh"))(x)
    return layers.GRU(4, go_backwards=True)(x)


def _stacked(layers, x):
    return layers.RNN([layers.LSTMCell(5), layers.GRUCell(4), layers.SimpleRNNCell(3)])(x)


def _handed_over(layers, x):
    """The last states of one layer are the first ones of another, as in a decoder."""
    _, *states = layers.LSTM(4, return_state=True)(x)
    return layers.LSTM(4)(x, initial_state=states)


MODELS = {
    "simple": _rnn("SimpleRNN"),
    "gru": _rnn("GRU"),
    "gru, reset before": _rnn("GRU", reset_after=False),
    "lstm": _rnn("LSTM"),
    "lstm, other activations": _rnn(
        "LSTM", activation="softsign", recurrent_activation="hard_sigmoid", unit_forget_bias=False
    ),
    "lstm without bias": _rnn("LSTM", use_bias=False, kernel_regularizer="l2"),
    "both ways": _both_ways("LSTM", "concat"),
    "both ways, summed": _both_ways("GRU", "sum"),
    "in a row": _in_a_row,
    "stacked": _stacked,
    "handed over": _handed_over,
}


def of_words(recur):
    """Embedding with a mask, what `recur(layers, hidden)` makes of it, three classes."""

    def model(keras):
        layers = keras.layers
        words = keras.Input((LENGTH,), dtype="int32")
        hidden = layers.Embedding(WORDS, 8, mask_zero=True)(words)
        return seeded(keras.Model(words, layers.Dense(3)(recur(layers, hidden))))

    return model


def of_series(recur):
    """Steps of zeros masked, what `recur(layers, hidden)` makes of it, one number."""

    def model(keras):
        layers = keras.layers
        inputs = keras.Input((None, 4))
        hidden = recur(layers, layers.Masking()(inputs))
        return seeded(keras.Model(inputs, layers.Dense(1)(hidden)))

    return model


def gaps():
    """Series with steps missing anywhere."""
    x, y = series()
    x[np.random.default_rng(9).random(x.shape[:2]) < 0.3] = 0
    return x, y


def _classes(keras):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _adam(keras):
    return keras.optimizers.Adam(1e-2)


def scenarios():
    to_classes = compiled(loss=_classes, optimizer=_adam)
    slow = compiled(optimizer=lambda keras: sgd(keras, 0.1))
    for name, recur in MODELS.items():
        yield f"words, {name}", Fit(to_classes, sentences, of_words(recur))
        yield f"series, {name}", Fit(slow, gaps, of_series(recur))
