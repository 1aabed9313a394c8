"""Classification and distribution losses: Keras classes and functions of the same names."""

from framework.core.configurable import Resolved
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.fields import ComputeDtype, Name
from framework.losses.base import Loss, ReductionField, losses, operands
from framework.ops import losses as composites


def _fraction(value):
    if not hasattr(value, "__float__") or not 0 <= float(value) <= 1:
        raise InvalidArgumentError("expected a number in [0, 1]")
    return float(value)


Fraction = Resolved("a number in [0, 1]", _fraction)
MEAN = "sum_over_batch_size"


@losses.add()
class BinaryCrossentropy(Loss):
    """The cross-entropy of binary labels, averaged over `axis`.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the mean.
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> BinaryCrossentropy()([[0.0], [1.0]], [[0.5], [0.25]]).numpy()
        np.float32(1.0397208)
    """

    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    axis: int = -1
    reduction: ReductionField = MEAN
    name: Name = "binary_crossentropy"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.binary_crossentropy(
            y_true, y_pred, self.from_logits, self.label_smoothing, self.axis
        )


@losses.add("bce")
def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """The cross-entropy of binary labels, averaged over `axis`.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the mean.

    Example:
        >>> binary_crossentropy([[0.0], [1.0]], [[0.0], [2.0]], from_logits=True).numpy()
        array([0.6931472, 0.126928 ], dtype=float32)
    """
    return composites.binary_crossentropy(
        *operands(y_true, y_pred), from_logits, label_smoothing, axis
    )


@losses.add()
class CategoricalCrossentropy(Loss):
    """The cross-entropy of one-hot labels, or of distributions over classes.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the classes.
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> CategoricalCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.6931472)
    """

    from_logits: bool = False
    label_smoothing: Fraction = 0.0
    axis: int = -1
    reduction: ReductionField = MEAN
    name: Name = "categorical_crossentropy"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.categorical_crossentropy(
            y_true, y_pred, self.from_logits, self.label_smoothing, self.axis
        )


@losses.add()
def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    """The cross-entropy of one-hot labels, or of distributions over classes.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the classes.

    Example:
        >>> categorical_crossentropy([[0.0, 1.0]], [[0.0, 0.0]], from_logits=True).numpy()
        array([0.6931472], dtype=float32)
    """
    return composites.categorical_crossentropy(
        *operands(y_true, y_pred), from_logits, label_smoothing, axis
    )


@losses.add()
class SparseCategoricalCrossentropy(Loss, casts_labels=False):
    """The cross-entropy of integer labels, which are class indices.

    Args:
        from_logits: whether y_pred holds logits instead of probabilities.
        ignore_class: a label whose elements do not count, such as -1 or 255 for "unlabelled".
        axis: the axis of the classes.
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> SparseCategoricalCrossentropy()([1, 0], [[0.5, 0.5], [0.25, 0.75]]).numpy()
        np.float32(1.0397208)
    """

    from_logits: bool = False
    ignore_class: int = None
    reduction: ReductionField = MEAN
    axis: int = -1
    name: Name = "sparse_categorical_crossentropy"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.sparse_categorical_crossentropy(
            y_true, y_pred, self.from_logits, self.ignore_class, self.axis
        )


@losses.add()
def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    """The cross-entropy of integer labels, which are class indices.

    Args:
        y_true: the class indices, of shape (...,) or (..., 1) for y_pred of (..., classes).
        from_logits: whether y_pred holds logits instead of probabilities.
        ignore_class: a label whose elements do not count, such as -1 or 255 for "unlabelled".
        axis: the axis of the classes.

    Example:
        >>> logits = [[0.0, 0.0], [0.0, 2.0]]
        >>> sparse_categorical_crossentropy([1, 0], logits, from_logits=True).numpy()
        array([0.6931472, 2.126928 ], dtype=float32)
    """
    return composites.sparse_categorical_crossentropy(
        tensor(y_true), composites.floating(tensor(y_pred)), from_logits, ignore_class, axis
    )


@losses.add()
class KLDivergence(Loss):
    """The Kullback-Leibler divergence: the sum of y_true log(y_true / y_pred) over the last axis.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> KLDivergence()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.69314563)
    """

    reduction: ReductionField = MEAN
    name: Name = "kl_divergence"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.kl_divergence(y_true, y_pred)


@losses.add("kld", "kullback_leibler_divergence")
def kl_divergence(y_true, y_pred):
    """The Kullback-Leibler divergence: the sum of y_true log(y_true / y_pred) over the last axis.

    Example:
        >>> kl_divergence([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        array([0.69314563], dtype=float32)
    """
    return composites.kl_divergence(*operands(y_true, y_pred))


@losses.add()
class Hinge(Loss):
    """The mean of max(1 - y_true y_pred, 0); labels are -1 and 1, or 0 and 1.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> Hinge()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(1.0)
    """

    reduction: ReductionField = MEAN
    name: Name = "hinge"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.hinge(y_true, y_pred)


@losses.add()
def hinge(y_true, y_pred):
    """The mean of max(1 - y_true y_pred, 0); labels are -1 and 1, or 0 and 1.

    Example:
        >>> hinge([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        array([1.], dtype=float32)
    """
    return composites.hinge(*operands(y_true, y_pred))


@losses.add()
class SquaredHinge(Loss):
    """The mean of max(1 - y_true y_pred, 0)²; labels are -1 and 1, or 0 and 1.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> SquaredHinge()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(1.25)
    """

    reduction: ReductionField = MEAN
    name: Name = "squared_hinge"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.squared_hinge(y_true, y_pred)


@losses.add()
def squared_hinge(y_true, y_pred):
    """The mean of max(1 - y_true y_pred, 0)²; labels are -1 and 1, or 0 and 1.

    Example:
        >>> squared_hinge([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        array([1.25], dtype=float32)
    """
    return composites.squared_hinge(*operands(y_true, y_pred))


@losses.add()
class CategoricalHinge(Loss):
    """max(1 + best wrong score - right score, 0), for one-hot labels.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> CategoricalHinge()([[0.0, 1.0]], [[0.5, 1.0]]).numpy()
        np.float32(0.5)
    """

    reduction: ReductionField = MEAN
    name: Name = "categorical_hinge"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.categorical_hinge(y_true, y_pred)


@losses.add()
def categorical_hinge(y_true, y_pred):
    """max(1 + best wrong score - right score, 0), for one-hot labels.

    Example:
        >>> categorical_hinge([[0.0, 1.0]], [[0.5, 1.0]]).numpy()
        array([0.5], dtype=float32)
    """
    return composites.categorical_hinge(*operands(y_true, y_pred))
