"""SKLearnTransformer: a model as a transformer of scikit-learn."""

from typing import Any

from framework.wrappers.estimator import KerasEstimator, continue_fit, outputs_of
from framework.wrappers.scikit_learn import ClassNamePrefixFeaturesOutMixin, TransformerMixin


class SKLearnTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KerasEstimator):
    """A model as a transformer of scikit-learn: `transform` returns the model's outputs.

    After `set_output(transform="pandas")` it returns data frames.

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
        >>> def autoencoder(X, y, size):
        ...     layers = [keras.layers.Dense(size), keras.layers.Dense(y.shape[1])]
        ...     model = keras.Sequential([keras.Input(X.shape[1:]), *layers])
        ...     model.compile("adam", "mse")
        ...     return model
        >>> X = np.random.default_rng(0).normal(size=(32, 5))
        >>> SKLearnTransformer(autoencoder, model_kwargs={"size": 2}).fit_transform(X).shape
        (32, 5)
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Train a new model, or with `warm_start` the last model, as the other estimators do.

        Args:
            X: an array or data frame of shape (n, features), or of more dimensions.
            y: the targets; None for `X` itself, as for autoencoders.
            sample_weight: a weight for each row.
            kwargs: arguments of the model's `fit`.
        """
        return super().fit(X, X if y is None else y, sample_weight, **kwargs)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Train for one more epoch, or for `epochs`; the first call creates the model."""
        return continue_fit(self, X, X if y is None else y, sample_weight, kwargs)

    def transform(self, X: Any) -> Any:
        """Return the model's outputs for the rows of `X`."""
        return outputs_of(self, X)

    @property
    def _n_features_out(self):
        """The number of output columns, from which scikit-learn derives the names of columns."""
        return self.model_.output_shape[-1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # the outputs have the same dtype for all dtypes of inputs
        tags.transformer_tags.preserves_dtype = []
        return tags
