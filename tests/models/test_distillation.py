"""keras.distillation: losses and training as in Keras 3.15 on TensorFlow, files, refusals."""

import numpy as np
import pytest

from framework import keras

layers, distillation = keras.layers, keras.distillation
LOGITS, FEATURES = distillation.LogitsDistillation, distillation.FeatureDistillation
Distiller = distillation.Distiller

rng = np.random.default_rng(0)
T, S = rng.normal(size=(2, 4, 3)).astype("float32")
X = np.random.default_rng(1).normal(size=(4, 12, 3)).astype("float32")
Y = np.arange(12) % 3

# a loss, the teacher's outputs, the student's, Keras's value
VALUES = {
    "logits": (lambda: LOGITS(), T, S, 1.55729),  # no softmax for the loss by name, as in Keras
    "mse": (lambda: LOGITS(2.0, "mse"), T, S, 0.39362),
    "classes": (
        lambda: LOGITS(4.0, keras.losses.CategoricalCrossentropy(from_logits=True)),
        np.exp(T) / np.exp(T).sum(-1, keepdims=True), S, 0.27806,
    ),
    "one of two": (lambda: LOGITS(3.0, ["kl_divergence", None]), [T, S], [S, T], 1.55729),
    "features": (lambda: FEATURES(), T, S, 1.57446),
    "cosine": (lambda: FEATURES("cosine_similarity"), T, S, 0.05506),
    "by name": (
        lambda: FEATURES({"a": "mse", "b": "mae"}), {"a": T, "b": S}, {"a": S, "b": T}, 2.449
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_of_losses(name):
    make, teacher, student, expected = VALUES[name]
    loss = make()
    assert float(loss.compute_loss(teacher, student)) == pytest.approx(expected, abs=2e-5)
    again = type(loss).from_config(loss.get_config())
    assert float(again.compute_loss(teacher, student)) == pytest.approx(expected, abs=2e-5)


def test_softmax_of_a_divergence():
    found = LOGITS(2.0, keras.losses.KLDivergence()).compute_loss(T, S)
    p, q = (np.exp(x / 2) / np.exp(x / 2).sum(-1, keepdims=True) for x in (T, S))
    expected = 4 * (p * np.log(p / q)).sum(-1).mean()
    assert float(found) == pytest.approx(expected, rel=1e-5)


def net(seed):
    model = keras.Sequential(
        [keras.Input((3,)), layers.Dense(4, "tanh", name="h"), layers.Dense(3, name="o")]
    )
    for i, w in enumerate(model.weights):
        numbers = np.arange(w.size).reshape(w.shape)
        w.assign(np.sin(numbers * (seed + i) + seed) * 0.5)
    return model


def distiller(losses, weights=None, share=0.5):
    model = Distiller(net(1), net(2), losses, weights, share)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, metrics=["accuracy"])
    return model


# arguments, Keras's history: loss, student_loss and distillation_loss of two epochs
RUNS = {
    "logits": (
        lambda: distiller(LOGITS()), [1.5834, 1.5812], [1.1745, 1.1738], [1.9924, 1.9887]
    ),
    "several": (
        lambda: distiller([LOGITS(2.0), FEATURES("mse", "h", "h")], [1.0, 0.5], 0.3),
        [2.3758, 2.3695], [1.1827, 1.1835], [2.8871, 2.8778],
    ),
    "features alone": (
        lambda: distiller(FEATURES("mae"), None, 0.0), [0.5938, 0.5777], [0, 0], [0.5938, 0.5777]
    ),
    "targets alone": (
        lambda: distiller(LOGITS(), None, 1.0), [1.1372, 1.1323], [1.1372, 1.1323], [0, 0]
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "x"), list(zip(RUNS, X)))
def test_training_as_in_keras(name, x):
    make, *expected = RUNS[name]
    model = make()
    teacher = model.teacher.get_weights()
    history = model.fit(x, Y, epochs=2, batch_size=4, shuffle=False, verbose=0).history
    for key, values in zip(("loss", "student_loss", "distillation_loss"), expected):
        assert history[key] == pytest.approx(values, abs=2e-4)
    assert history["total_loss"] == pytest.approx(history["loss"])
    assert not model.teacher.trainable
    assert all(map(np.array_equal, model.teacher.get_weights(), teacher))
    np.testing.assert_array_equal(model.predict(x, verbose=0), model.student.predict(x, verbose=0))


def test_files(tmp_path):
    model = distiller([LOGITS(2.0), FEATURES("mse", "h", "h")])
    model.fit(X[0], Y, verbose=0)
    model.save(tmp_path / "d.keras")
    again = keras.models.load_model(tmp_path / "d.keras")
    np.testing.assert_allclose(again.predict(X[0], verbose=0), model.predict(X[0], verbose=0))
    assert again.fit(X[0], Y, verbose=0).history.keys() == model.history.history.keys()


REFUSED = {
    "no loss": (lambda: LOGITS(loss=None), "At least one loss"),
    "negative temperature": (lambda: LOGITS(-1), "must be positive"),
    "a word": (lambda: LOGITS("a"), "must be a number"),
    "no feature": (lambda: FEATURES([None]), "at least one non-`None`"),
    "no losses": (lambda: Distiller(net(1), net(2), None), "cannot be `None`"),
    "no model": (lambda: Distiller(net(1), 3, LOGITS()), "Student must be"),
    "weights": (lambda: Distiller(net(1), net(2), [LOGITS()], [1, 2]), "must match"),
    "share": (lambda: distiller(LOGITS(), None, 2.0), "between 0.0 and 1.0"),
    "layer": (lambda: distiller(FEATURES(teacher_layer_name="z")), "In teacher model: No such"),
    "compile": (lambda: distiller(LOGITS()).compile("sgd"), "'loss' cannot be `None`"),
    "shapes": (
        lambda: Distiller(net(1), keras.Sequential([keras.Input((3,)), layers.Dense(2)]), LOGITS()),
        "output shapes are incompatible",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    make, told = REFUSED[name]
    with pytest.raises(ValueError, match=told):
        make()
