"""keras.wrappers: scikit-learn's own checks, and the estimators in its pipelines and searches."""

import pickle
import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import framework as tf
from framework import keras
from framework.keras import layers
from framework.keras.wrappers import SKLearnClassifier, SKLearnRegressor, SKLearnTransformer

X, NUMBERS = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[NUMBERS]


def compiled(model, loss, rate=0.05, **settings):
    model.compile(keras.optimizers.Adam(rate), loss, **settings)
    return model


def dense(X, width, units, activation):
    return keras.Sequential(
        [
            keras.Input(X.shape[1:]),
            layers.Dense(units, "relu"),
            layers.Dense(width, activation),
        ]
    )


def classes(X, y, units=16, loss="categorical_crossentropy"):
    if (y.sum(1) != 1).any():  # several labels a row
        return compiled(dense(X, y.shape[1], units, "sigmoid"), "binary_crossentropy")
    return compiled(dense(X, y.shape[1], units, "softmax"), loss)


def numbers(X, y):
    return compiled(dense(X, y.shape[1], 16, None), "mse")


def one_output(X, y, logits=False):
    loss = keras.losses.BinaryCrossentropy(from_logits=logits)
    return compiled(dense(X, 1, 16, None if logits else "sigmoid"), loss)


def two_outputs(X, y, loss="categorical_crossentropy"):
    x = keras.Input(X.shape[1:])
    outputs = [layers.Dense(part.shape[1], "softmax")(x) for part in y]
    return compiled(keras.Model(x, outputs), [loss] * len(y))


# ---- scikit-learn's checks -----------------------------------------------------------------------

# Batches of all rows in their order: then weights equal repeated rows, one of the checks.
WHOLE = {"epochs": 25, "batch_size": 1024, "shuffle": False}

SKIPPED = {"check_array_api_input": "SCIPY_ARRAY_API is not set: not checking array_api input"}
"""Checks that scikit-learn does not run, and the reasons that it gives."""


@pytest.fixture
def double():
    """Float64: scikit-learn compares weights with repeated rows to 1e-7."""
    before = keras.config.floatx()
    keras.config.set_floatx("float64")
    yield
    keras.config.set_floatx(before)


@pytest.mark.parametrize(
    ("wrapper", "model", "least"),
    [(SKLearnClassifier, classes, 60), (SKLearnRegressor, numbers, 54),
     (SKLearnTransformer, numbers, 47)],
)  # fmt: skip
def test_every_check_of_scikit_learn_passes(double, wrapper, model, least):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks warn of what they provoke
        found = check_estimator(wrapper(model, fit_kwargs=WHOLE), on_fail=None, on_skip=None)
    by_status = {}
    for check in found:
        reason = str(check["exception"] or "")
        by_status.setdefault(check["status"], {})[check["check_name"]] = reason
    assert by_status.get("failed", {}) == {}
    assert by_status.get("skipped", {}).items() <= SKIPPED.items()
    assert sum(check["status"] == "passed" for check in found) >= least


# ---- what scikit-learn does with estimators ------------------------------------------------------


def classifier(**settings):
    return SKLearnClassifier(
        classes, **{"fit_kwargs": {"epochs": 15}, "random_state": 1, **settings}
    )


def test_searches_and_pipelines():
    pipeline = make_pipeline(StandardScaler(), classifier())
    assert cross_val_score(pipeline, X, Y, cv=2).min() > 0.8
    grid = {"sklearnclassifier__model_kwargs__units": [1, 16]}
    search = GridSearchCV(pipeline, grid, n_jobs=2, cv=2).fit(X, Y)
    assert search.best_params_ == {"sklearnclassifier__model_kwargs__units": 16}
    calibrated = CalibratedClassifierCV(classifier(), cv=2).fit(X, Y)
    assert calibrated.score(X, Y) > 0.8


def test_entries_of_dicts_are_parameters():
    estimator = classifier(model_kwargs={"units": 3})
    assert estimator.get_params()["fit_kwargs__epochs"] == 15
    assert "fit_kwargs__epochs" not in estimator.get_params(deep=False)
    changed = clone(estimator).set_params(model_kwargs__units=5, fit_kwargs__epochs=1)
    assert (changed.model_kwargs, changed.fit_kwargs) == ({"units": 5}, {"epochs": 1})
    assert estimator.model_kwargs == {"units": 3}
    assert classifier().set_params(model_kwargs__units=5).model_kwargs == {"units": 5}


def test_a_seed_repeats_results_and_leaves_the_global_one():
    def next_number():
        classifier(fit_kwargs=None).fit(X, Y)
        return float(tf.random.uniform(()))

    tf.random.set_seed(1)
    alone = float(tf.random.uniform(()))
    tf.random.set_seed(1)
    assert next_number() == alone
    first, second = (classifier().fit(X, Y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (first != classifier(random_state=2).fit(X, Y).predict_proba(X)).any()


def test_copies_and_pickles():
    model = compiled(dense(X, 3, 8, "softmax"), "categorical_crossentropy", metrics=["accuracy"])
    before = model.get_weights()
    fitted = SKLearnClassifier(model, fit_kwargs={"epochs": 2}, random_state=0).fit(X, Y)
    assert fitted.history_.history["accuracy"]
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)  # `fit` trained a copy
    loaded = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert not hasattr(clone(fitted), "model_")


def test_early_stopping_keeps_the_best_epoch():
    settings = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2}
    stopped = classifier(fit_kwargs={"epochs": 80}, tol=0.02, **settings)
    stopped.fit(X, Y, sample_weight=np.ones(len(X)))
    losses = stopped.history_.history["val_loss"]
    assert stopped.epoch_ == len(losses) < 80
    assert stopped.score(X, Y) > 0.8
    assert min(losses) < losses[0]


def test_warm_start_and_partial_fit():
    once = classifier().fit(X, Y)
    again = classifier(warm_start=True).fit(X, Y)
    model = again.model_
    assert again.fit(X, Y).model_ is model
    assert int(model.optimizer.iterations) == 2 * int(once.model_.optimizer.iterations)
    own = numbers(X, X)
    assert SKLearnTransformer(own, warm_start=True).fit(X).model_ is own
    steps = classifier()
    for _ in range(20):
        steps.partial_fit(X, Y, classes=np.unique(Y))
    assert steps.epoch_ == 1
    assert steps.score(X, Y) > 0.8
    with pytest.raises(ValueError, match=r"classes \['rose'\], expected those of the first fit"):
        steps.partial_fit(X[:2], ["rose", "setosa"])


# ---- targets -------------------------------------------------------------------------------------

TWO = slice(0, 100)  # the rows of two classes


@pytest.mark.parametrize(
    "model_kwargs",
    [{}, {"loss": "sparse_categorical_crossentropy"},
     {"loss": keras.losses.SparseCategoricalCrossentropy()}],
)  # fmt: skip
@pytest.mark.parametrize("rows", [slice(None), TWO])
def test_one_hot_and_sparse_losses(model_kwargs, rows):
    fitted = classifier(model_kwargs=model_kwargs).fit(X[rows], Y[rows])
    check_scores(fitted, X[rows], Y[rows])


@pytest.mark.parametrize("logits", [False, True])
def test_one_output_for_two_classes(logits):
    fitted = SKLearnClassifier(
        one_output, model_kwargs={"logits": logits}, fit_kwargs={"epochs": 20}, random_state=0
    )
    check_scores(fitted.fit(X[TWO], Y[TWO]), X[TWO], Y[TWO])


def check_scores(fitted, x, y):
    assert fitted.score(x, y) > 0.9
    probabilities, scores = fitted.predict_proba(x), fitted.decision_function(x)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    np.testing.assert_array_equal(fitted.classes_[probabilities.argmax(1)], fitted.predict(x))
    positions = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)
    np.testing.assert_array_equal(fitted.classes_[positions], fitted.predict(x))


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "sparse_categorical_crossentropy"])
def test_several_columns_of_classes(loss):
    columns = np.stack([Y, np.where(X[:, 0] > 5.5, "long", "short")], 1)
    fitted = SKLearnClassifier(
        two_outputs, model_kwargs={"loss": loss}, fit_kwargs={"epochs": 20}, random_state=0
    ).fit(X, columns)
    assert ((fitted.predict(X) == columns).mean(0) > 0.7).all()
    assert [p.shape for p in fitted.predict_proba(X)] == [(150, 3), (150, 2)]
    assert [list(c) for c in fitted.classes_] == [sorted(set(Y)), ["long", "short"]]


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    wrapped = SKLearnTransformer(numbers).set_output(transform="pandas").fit(frame)
    assert list(wrapped.feature_names_in_) == list("abcd")
    result = wrapped.transform(frame)
    assert list(result.columns) == [f"sklearntransformer{i}" for i in range(4)]
    np.testing.assert_array_equal(result, wrapped.model_.predict(X, verbose=0))


# ---- errors --------------------------------------------------------------------------------------


def not_compiled(X, y):
    return dense(X, 3, 2, "softmax")


def linear(X, y):
    return compiled(dense(X, 3, 2, None), "hinge")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: SKLearnClassifier(not_compiled).fit(X, Y), RuntimeError, "model: expected a comp"),
        (lambda: SKLearnClassifier("mlp").fit(X, Y), ValueError, "model: expected .*got 'mlp'"),
        (lambda: SKLearnClassifier(numbers).fit(X, Y[:50]), ValueError, "inconsistent numbers"),
        (lambda: SKLearnClassifier(classes).fit(X[:50], Y[:50]), ValueError, "only one class"),
        (lambda: SKLearnClassifier(classes).fit(X, X[:, 0]), ValueError, "Unknown label type"),
        (lambda: classifier().fit(X, Y, np.ones(3)), ValueError, r"sample_weight: expected shape"),
        (lambda: classifier().fit(X, Y, -np.ones(150)), ValueError, "sample_weight: .* >= 0"),
        (lambda: SKLearnClassifier(linear).fit(X, Y).predict_proba(X), ValueError, "from_logits"),
        (
            lambda: SKLearnClassifier(linear).fit(X[:100], Y[:100]).predict(X),
            ValueError,
            "expected a model with 2 outputs, one for each class, got 3|shape",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    path = Path(tf.__file__).parent / "wrappers" / "scikit_learn.py"
    with pytest.raises(ImportError, match=r"needs scikit-learn.*pip install.*framework\[sklearn\]"):
        runpy.run_path(str(path))
