"""Conversion of scikit-learn's targets to a model's targets, and of its outputs to predictions."""

import numpy as np

from framework import losses
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.wrappers.scikit_learn import (
    check_classification_targets,
    column_or_1d,
    type_of_target,
)

MULTILABEL = "multilabel-indicator"


class Targets:
    """The base class of target encoders; it passes targets to the model unchanged."""

    def encode(self, y):
        """Return the targets in the form that the user's function `model(X, y)` receives."""
        return y

    def for_model(self, encoded, model, X):
        """Return encoded targets in the form that the model's loss and outputs need."""
        return encoded

    def strata(self, y):
        """Return labels by which the held-out rows are stratified; None if there are none."""


class Numbers(Targets):
    """Encodes regression targets: 1-D targets become a column, and predictions 1-D again."""

    def __init__(self, y):
        self.flat = y.ndim == 1

    def encode(self, y):
        return y.reshape(len(y), -1) if y.ndim == 1 else y

    def decode(self, outputs):
        # scikit-learn's regressors predict float64, too
        outputs = np.asarray(outputs, "float64")
        return outputs[:, 0] if self.flat and outputs.ndim == 2 else outputs


class Classes(Targets):
    """Encodes one column of class labels as one-hot rows, and decodes outputs to labels.

    A sparse loss gets class indices instead, a model with one output a column of 0 and 1.
    """

    def __init__(self, y):
        self.classes = np.unique(y)
        if len(self.classes) < 2:
            raise InvalidArgumentError(
                "SKLearnClassifier: y: expected at least two classes, got only one class, "
                f"{self.classes.tolist()}, in the rows with a weight above 0."
            )

    def numbers(self, y):
        """Return the index of each label of `y` in `classes`."""
        found = np.searchsorted(self.classes, y)
        found[found == len(self.classes)] = 0
        if (self.classes[found] != y).any():
            unknown = np.setdiff1d(y, self.classes).tolist()
            raise InvalidArgumentError(
                f"SKLearnClassifier: y contains the classes {unknown}, expected those of the first "
                f"fit, {self.classes.tolist()}. Pass `classes` to the first partial_fit."
            )
        return found

    def encode(self, y):
        return np.eye(len(self.classes), dtype="float32")[self.numbers(y)]

    def for_model(self, encoded, model, X):
        two = len(self.classes) == 2
        if is_sparse(model.loss) or (two and model(X[:1], training=False).shape[-1] == 1):
            return encoded.argmax(-1)[:, None]
        return encoded

    def strata(self, y):
        return y

    def is_single(self, width):
        """Return whether the model has one output for two classes."""
        return width == 1 and len(self.classes) == 2

    def decode(self, outputs, loss):
        outputs = self._rows(outputs)
        if self.is_single(outputs.shape[1]):
            return self.classes[(outputs[:, 0] > threshold(loss)).astype(int)]
        return self.classes[outputs.argmax(1)]

    def scores(self, outputs, loss):
        """Return the decision function: the outputs, or the score of the second of two classes."""
        outputs = self._rows(outputs)
        if self.is_single(outputs.shape[1]):
            return outputs[:, 0] - threshold(loss)
        return outputs[:, 1] - outputs[:, 0] if len(self.classes) == 2 else outputs

    def probabilities(self, outputs, loss):
        rows = as_probabilities(self._rows(outputs), loss)
        if self.is_single(rows.shape[1]):
            return np.concatenate([1 - rows, rows], 1)
        return rows / rows.sum(1, keepdims=True)

    def _rows(self, outputs):
        outputs = np.asarray(outputs, "float64").reshape(len(outputs), -1)
        width = len(self.classes)
        if outputs.shape[1] != width and not self.is_single(outputs.shape[1]):
            raise ShapeError(
                f"SKLearnClassifier: expected a model with {width} outputs, one for each class, "
                f"got {outputs.shape[1]}."
            )
        return outputs


class Labels(Targets):
    """Encodes multi-label targets: the model gets the matrix of 0 and 1 unchanged."""

    def __init__(self, y):
        # the classes are the column indices, as in scikit-learn's neural networks
        self.classes = np.arange(y.shape[1])

    def encode(self, y):
        return np.asarray(y, "float32")

    def decode(self, outputs, loss):
        return (outputs > threshold(loss)).astype(int)

    def scores(self, outputs, loss):
        return np.asarray(outputs, "float64") - threshold(loss)

    def probabilities(self, outputs, loss):
        return as_probabilities(np.asarray(outputs, "float64"), loss, several=True)


class Columns(Targets):
    """Encodes several columns of class labels, for a model with one output per column."""

    def __init__(self, y):
        self.columns = [Classes(column) for column in y.T]
        self.classes = [column.classes for column in self.columns]

    def encode(self, y):
        return [column.encode(part) for column, part in zip(self.columns, y.T, strict=True)]

    def for_model(self, encoded, model, X):
        if is_sparse(model.loss):
            return [part.argmax(-1)[:, None] for part in encoded]
        return encoded

    def decode(self, outputs, loss):
        return np.stack([c.decode(o, loss) for c, o in zip(self.columns, outputs)], 1)

    def scores(self, outputs, loss):
        return [c.scores(o, loss) for c, o in zip(self.columns, outputs)]

    def probabilities(self, outputs, loss):
        return [c.probabilities(o, loss) for c, o in zip(self.columns, outputs)]


def class_column(y):
    """Return class labels in scikit-learn's form; a column (n, 1) becomes a vector.

    Raises:
        ValueError: the targets are not classes.
    """
    check_classification_targets(y)
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def class_targets(y):
    """Return the encoder for class labels."""
    if y.ndim == 1:
        return Classes(y)
    return (Labels if type_of_target(y) == MULTILABEL else Columns)(y)


def _first(loss):
    """Return the loss object or function for a name, a config, or the first item of a list."""
    while isinstance(loss, (list, tuple)):
        loss = loss[0]
    return losses.get(loss) if isinstance(loss, (str, dict)) else loss


def is_sparse(loss):
    """Return whether the loss takes class indices instead of one-hot rows."""
    loss = _first(loss)
    sparse = losses.SparseCategoricalCrossentropy, losses.sparse_categorical_crossentropy
    return isinstance(loss, sparse[0]) or loss is sparse[1]


def from_logits(loss):
    return bool(getattr(_first(loss), "from_logits", False))


def threshold(loss):
    """Return the model output at which both classes are equally probable."""
    return 0.0 if from_logits(loss) else 0.5


def as_probabilities(outputs, loss, several=False):
    """Return probabilities: the softmax of logits; the sigmoid for one output or `several` labels.

    Raises:
        ValueError: the outputs are neither probabilities nor logits.
    """
    if from_logits(loss):
        if several or outputs.shape[1] == 1 or isinstance(_first(loss), losses.BinaryCrossentropy):
            return 0.5 * (1 + np.tanh(0.5 * outputs))
        shifted = np.exp(outputs - outputs.max(1, keepdims=True))
        return shifted / shifted.sum(1, keepdims=True)
    if ((outputs < 0) | (outputs > 1)).any():
        raise InvalidArgumentError(
            "SKLearnClassifier.predict_proba: expected outputs from 0 to 1, got "
            f"{outputs.min():.6g} to {outputs.max():.6g}. End the model with softmax or sigmoid, "
            "or compile it with a loss that has from_logits=True."
        )
    return outputs
