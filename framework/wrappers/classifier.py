"""SKLearnClassifier: a model as a classifier of scikit-learn."""

from typing import Any

from framework.wrappers.estimator import KerasEstimator, continue_fit, outputs_of
from framework.wrappers.scikit_learn import ClassifierMixin
from framework.wrappers.targets import class_column, class_targets


class SKLearnClassifier(ClassifierMixin, KerasEstimator):
    """A model as a classifier of scikit-learn.

    The model has one output per class, or one output for two classes. Its loss takes one-hot
    rows or, if it is sparse, class numbers. `y` can also be a matrix of 0 and 1, one column for
    each of several labels, or several columns of classes for a model with a list of outputs.

    Args:
        model: a compiled functional or Sequential model, which each `fit` copies with new
            weights, or a function `model(X=X, y=y, **model_kwargs)` that returns a compiled model
            for the training data; the classes in `y` are one-hot.
        warm_start: True to continue with the weights of the last `fit`; `fit` then trains the model
            passed as `model`, not a copy.
        model_kwargs: more arguments of the function `model`, a dict. `set_params` and searches
            set one of them as `model_kwargs__units`.
        fit_kwargs: arguments of the model's `fit`, a dict; `verbose` is 0 by default.
        random_state: an int, a `numpy.random.RandomState` or None: the seed of weights, order of
            rows, dropout and the held-out rows. Results repeat for an int.
        early_stopping: True to hold out rows, and to stop when the loss on these rows no longer
            falls. The best epoch's weights are kept.
        validation_fraction: the fraction of rows that `early_stopping` holds out.
        n_iter_no_change: the number of epochs without a better loss after which training stops.
        tol: a smaller decrease of the loss does not count.

    Raises:
        ImportError: scikit-learn is not installed.

    Example:
        >>> import numpy as np
        >>> from framework import keras
        >>> def network(X, y, units=8):
        ...     dense = keras.layers.Dense
        ...     model = keras.Sequential([dense(units, "relu"), dense(y.shape[1], "softmax")])
        ...     model.compile(keras.optimizers.Adam(0.1), "categorical_crossentropy")
        ...     return model
        >>> X, y = np.repeat(np.eye(2), 20, axis=0), np.repeat(["no", "yes"], 20)
        >>> classifier = SKLearnClassifier(network, fit_kwargs={"epochs": 10}, random_state=0)
        >>> classifier.fit(X, y).score(X, y)
        1.0
    """

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, **kwargs: Any
    ) -> Any:
        """Train for one more epoch, or for `epochs`; the first call creates the model.

        Args:
            X, y, sample_weight: as in `fit`.
            classes: all classes, if the first call's `y` lacks some.
            kwargs: arguments of the model's `fit`.
        """
        return continue_fit(self, X, y, sample_weight, kwargs, known_y=classes)

    def decision_function(self, X: Any) -> Any:
        """Return the model's outputs; for two classes a vector, positive for the second."""
        outputs = outputs_of(self, X)
        return self._targets.scores(outputs, self.model_.loss)

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row."""
        outputs = outputs_of(self, X)
        return self._targets.decode(outputs, self.model_.loss)

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, of shape (n, classes); logits pass a softmax.

        Raises:
            ValueError: the outputs are not probabilities, and the loss has no from_logits=True.
        """
        outputs = outputs_of(self, X)
        return self._targets.probabilities(outputs, self.model_.loss)

    def _checked_y(self, y):
        return class_column(y)

    def _new_targets(self, y):
        targets = class_targets(y)
        self.classes_ = targets.classes
        return targets

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = True
        return tags
