"""SKLearnRegressor: a model as a regressor of scikit-learn."""

from typing import Any

from framework.wrappers.estimator import KerasEstimator, continue_fit
from framework.wrappers.scikit_learn import RegressorMixin


class SKLearnRegressor(RegressorMixin, KerasEstimator):
    """A model as a regressor of scikit-learn, for one or several targets.

    Args:
        model: a compiled functional or Sequential model, which each `fit` copies with new
            weights, or a function `model(X=X, y=y, **model_kwargs)` that returns a compiled model
            for the training data; `y` has two dimensions.
        warm_start, model_kwargs, fit_kwargs, random_state: as in `SKLearnClassifier`.
        early_stopping, validation_fraction, n_iter_no_change, tol: as in `SKLearnClassifier`.

    Raises:
        ImportError: scikit-learn is not installed.

    Example:
        >>> import numpy as np
        >>> from framework import keras
        >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        >>> model.compile(keras.optimizers.Adam(0.1), "mse")
        >>> X = np.linspace(-1, 1, 64)[:, None]
        >>> line = SKLearnRegressor(model, fit_kwargs={"epochs": 60}, random_state=0)
        >>> line.fit(X, 3 * X[:, 0] + 1).score(X, 3 * X[:, 0] + 1) > 0.99
        True
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Train for one more epoch, or for `epochs`; the first call creates the model."""
        return continue_fit(self, X, y, sample_weight, kwargs)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
