"""The base of the scikit-learn estimators: parameters, training and the fitted model."""

from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.random import temporary_seed
from framework.models.cloning import clone_model
from framework.models.model import Model
from framework.training.callbacks.early_stopping import EarlyStopping
from framework.wrappers.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_array,
    check_is_fitted,
    check_random_state,
    train_test_split,
    validate_data,
)
from framework.wrappers.targets import Numbers


class KerasEstimator(BaseEstimator):
    """A model with scikit-learn's methods; the base of `SKLearnClassifier` and the others.

    Args:
        model: a compiled functional or Sequential model, which each `fit` copies with new
            weights, or a function `model(X=X, y=y, **model_kwargs)` that returns a compiled
            model for the training data. `y` has two dimensions; classes are one-hot.
        warm_start: True to continue with the weights of the last `fit`; `fit` then trains the model
            passed as `model`, not a copy.
        model_kwargs: more arguments of the function `model`, a dict. `set_params` and searches
            set one of them as `model_kwargs__units`.
        fit_kwargs: arguments of the model's `fit`, a dict: `epochs`, `batch_size`, `callbacks`,
            ... (`verbose` is 0 by default.) Arguments of the estimator's `fit` override these.
        random_state: an int, a `numpy.random.RandomState` or None: the seed of weights, order of
            rows, dropout and the held-out rows. Results repeat for an int.
        early_stopping: True to hold out rows, and to stop when the loss on these rows no longer
            falls. The best epoch's weights are kept.
        validation_fraction: the fraction of rows that `early_stopping` holds out.
        n_iter_no_change: the number of epochs without a better loss after which training stops.
        tol: a smaller decrease of the loss does not count.
    """

    def __init__(
        self, model: Any, warm_start: bool = False, model_kwargs: Any = None,
        fit_kwargs: Any = None, random_state: Any = None, early_stopping: bool = False,
        validation_fraction: float = 0.1, n_iter_no_change: int = 10, tol: float = 1e-4,
    ):  # fmt: skip
        self.model, self.warm_start = model, warm_start
        self.model_kwargs, self.fit_kwargs = model_kwargs, fit_kwargs
        self.random_state, self.early_stopping = random_state, early_stopping
        self.validation_fraction, self.n_iter_no_change = validation_fraction, n_iter_no_change
        self.tol = tol

    # ---- parameters ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also the entries of parameters that are dicts."""
        params = super().get_params(deep)
        for name in ("model_kwargs", "fit_kwargs") if deep else ():
            if isinstance(params[name], dict):
                params |= {f"{name}__{key}": value for key, value in params[name].items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters; `model_kwargs__units=8` sets one entry of the dict `model_kwargs`."""
        plain = {}
        for name, value in params.items():
            group, _, key = name.partition("__")
            if key and group in ("model_kwargs", "fit_kwargs"):
                before = plain.get(group, getattr(self, group))
                plain[group] = {**(before or {}), key: value}
            else:
                plain[name] = value
        return super().set_params(**plain)

    # ---- training ----

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Train a new model, or with `warm_start` the last one.

        Args:
            X: an array or data frame of shape (n, features), or of more dimensions.
            y: the targets, of shape (n,) or (n, outputs).
            sample_weight: a weight for each row, >= 0, of shape (n,). The weights are scaled to a
                mean of 1; in one large batch a weight of 2 equals a repeated row.
            kwargs: arguments of the model's `fit`.

        Returns:
            The estimator, with `model_`, `history_` and `n_features_in_`.
        """
        X, y, weight = _checked_rows(self, X, y, sample_weight, reset=True)
        continued = self.warm_start and hasattr(self, "model_")
        if not continued:
            _start_targets(self, y)
        return _train(self, X, y, weight, _fit_arguments(self, kwargs), not continued)

    def _checked_y(self, y):
        """Return validated targets in the form that the estimator's class needs."""
        return y

    def _new_targets(self, y):
        """Return the encoder of the targets."""
        return Numbers(y)

    @property
    def epoch_(self) -> int:
        """The number of epochs that the last `fit` trained; 0 before."""
        return len(self.history_.epoch) if hasattr(self, "history_") else 0

    def predict(self, X: Any) -> Any:
        """Return the predictions, in the form of the targets of `fit`."""
        outputs = outputs_of(self, X)
        return self._targets.decode(outputs)


def outputs_of(estimator, X):
    """Return the fitted model's outputs for rows, as an array or a list of arrays."""
    check_is_fitted(estimator)
    X = validate_data(estimator, X, reset=False, allow_nd=True)
    return estimator.model_.predict(X, verbose=0)


def continue_fit(estimator, X, y, sample_weight, kwargs, known_y=None):
    """Train for one epoch, or for `epochs`; only the first call creates a new model.

    Args:
        estimator, X, y, sample_weight, kwargs: as in `partial_fit`.
        known_y: targets that contain all classes.
    """
    first = not hasattr(estimator, "model_")
    X, y, weight = _checked_rows(estimator, X, y, sample_weight, reset=first)
    if first:
        _start_targets(estimator, y if known_y is None else known_y)
    arguments = {**_fit_arguments(estimator, {}), "epochs": 1, **kwargs}
    return _train(estimator, X, y, weight, arguments, first, held_out=False)


def _fit_arguments(estimator, kwargs):
    return {"verbose": 0, **(estimator.fit_kwargs or {}), **kwargs}


def _checked_rows(estimator, X, y, sample_weight, reset):
    """Return the rows with a weight above 0, and their weights with a mean of 1."""
    X, y = validate_data(
        estimator, X, y, reset=reset, allow_nd=True, multi_output=True,
        y_numeric=not isinstance(estimator, ClassifierMixin),
    )  # fmt: skip
    y = estimator._checked_y(y)
    if sample_weight is None:
        return X, y, None
    weight = check_array(
        sample_weight, ensure_2d=False, dtype="float64", input_name="sample_weight"
    )
    if weight.shape != (len(X),):
        raise ShapeError(
            f"fit: sample_weight: expected shape {(len(X),)}, a weight for each row of X, got "
            f"{weight.shape}."
        )
    if (weight < 0).any() or not weight.any():
        raise InvalidArgumentError(
            "fit: sample_weight: expected weights >= 0 that are not all zero, got "
            f"{weight.min():.6g} to {weight.max():.6g}."
        )
    used = weight > 0
    weight = weight[used]
    return X[used], y[used], weight / weight.mean()


def _start_targets(estimator, y):
    estimator._targets = estimator._new_targets(y)


def _train(estimator, X, y, weight, arguments, new, held_out=None):
    """Train `model_`, with new weights if `new`."""
    targets = estimator._targets
    encoded = targets.encode(y)
    with temporary_seed(_seed(estimator, new)):
        if new:
            estimator.model_ = _made_model(estimator, X, encoded)
        model = estimator.model_
        encoded = targets.for_model(encoded, model, X)
        if estimator.early_stopping and held_out is None:
            X, encoded, weight, arguments = _held_out(estimator, X, y, encoded, weight, arguments)
        estimator.history_ = model.fit(X, encoded, sample_weight=weight, **arguments)
    return estimator


def _seed(estimator, new):
    """Return the seed of this training; a continued training gets another seed."""
    if estimator.random_state is None:
        return None
    trained = 0 if new else int(estimator.model_.optimizer.iterations)
    return (check_random_state(estimator.random_state).randint(2**31 - 1) + trained) % 2**31


def _made_model(estimator, X, encoded):
    model = estimator.model
    if not isinstance(model, Model):
        if not callable(model):
            raise InvalidArgumentError(
                f"{type(estimator).__name__}: model: expected a compiled model or a function that "
                f"returns one, got {model!r}."
            )
        model = model(X=X, y=encoded, **(estimator.model_kwargs or {}))
    elif not estimator.warm_start:
        model = clone_model(model)
    if not (getattr(model, "compiled", False) and model.loss is not None):
        raise RuntimeError(
            f"{type(estimator).__name__}: model: expected a compiled model, got one that is not "
            "compiled with a loss. Call model.compile(optimizer=..., loss=...) first."
        )
    return model


def _held_out(estimator, X, y, encoded, weight, arguments):
    """Return the rows to train on, and `fit` arguments with the held-out rows added."""
    several = isinstance(encoded, list)
    parts = [X, *(encoded if several else [encoded]), *([] if weight is None else [weight])]
    state = estimator.random_state
    halves = train_test_split(
        *parts, test_size=estimator.validation_fraction,
        random_state=None if state is None else check_random_state(state),
        stratify=estimator._targets.strata(y),
    )  # fmt: skip
    train, rest = halves[::2], halves[1::2]

    def packed(rows):
        targets = list(rows[1 : 1 + len(encoded)]) if several else rows[1]
        return (rows[0], targets, *(() if weight is None else rows[-1:]))

    stop = EarlyStopping(
        "val_loss", min_delta=estimator.tol, patience=estimator.n_iter_no_change,
        restore_best_weights=True,
    )  # fmt: skip
    callbacks = [*np.atleast_1d(arguments.get("callbacks") or []), stop]
    arguments = {**arguments, "validation_data": packed(rest), "callbacks": callbacks}
    X, encoded, *weight = packed(train)
    return X, encoded, weight[0] if weight else None, arguments
