"""Metrics that average a loss: regression errors, cross-entropies and others."""

from framework.core.fields import ComputeDtype, Name
from framework.metrics.base import metrics, on_tensors, operand
from framework.metrics.reduction import Mean, MeanOfLoss, accumulate, call_on_tensors
from framework.ops import losses as composites
from framework.ops.elementwise import sqrt, square


@metrics.add("mse")
class MeanSquaredError(MeanOfLoss):
    """The mean squared difference.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> MeanSquaredError()([[0.0, 1.0]], [[1.0, 3.0]]).numpy()
        np.float32(2.5)
    """

    name: Name = "mean_squared_error"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.mean_squared_error(y_true, y_pred)


@metrics.add("rmse")
class RootMeanSquaredError(Mean, direction="down"):
    """The root of the mean squared difference.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> RootMeanSquaredError()([[0.0, 1.0]], [[1.0, 2.0]]).numpy()
        np.float32(1.0)
    """

    name: Name = "root_mean_squared_error"
    dtype: ComputeDtype = None

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Update the state with one batch; weights are one per sample or one per value."""
        tensors, dtype = on_tensors(), self.dtype
        y_true, y_pred = operand(y_true, dtype, tensors), operand(y_pred, dtype, tensors)
        y_true, y_pred = composites.matched(y_true, y_pred, self.name)
        accumulate(self, square(y_pred - y_true), sample_weight, None, tensors)

    def result(self):
        """Return the root of the mean so far."""
        return sqrt(super().result())


@metrics.add("mae")
class MeanAbsoluteError(MeanOfLoss):
    """The mean absolute difference.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> MeanAbsoluteError()([[0.0, 1.0]], [[1.0, 3.0]]).numpy()
        np.float32(1.5)
    """

    name: Name = "mean_absolute_error"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.mean_absolute_error(y_true, y_pred)


@metrics.add("mape")
class MeanAbsolutePercentageError(MeanOfLoss):
    """The mean absolute difference, as a percentage of the label.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> MeanAbsolutePercentageError()([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        np.float32(50.0)
    """

    name: Name = "mean_absolute_percentage_error"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.mean_absolute_percentage_error(y_true, y_pred)


@metrics.add("msle")
class MeanSquaredLogarithmicError(MeanOfLoss):
    """The mean squared difference of log(1 + value).

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> MeanSquaredLogarithmicError()([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        np.float32(0.08220098)
    """

    name: Name = "mean_squared_logarithmic_error"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.mean_squared_logarithmic_error(y_true, y_pred)


@metrics.add()
class LogCoshError(MeanOfLoss):
    """The mean of log(cosh(error)).

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> LogCoshError()([[0.0, 1.0]], [[1.0, 3.0]]).numpy()
        np.float32(0.87939173)
    """

    name: Name = "logcosh"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.log_cosh(y_true, y_pred)


@metrics.add()
class CosineSimilarity(MeanOfLoss, direction="up"):
    """The mean cosine of the angle between labels and predictions.

    Args:
        name, dtype: as in `Metric`.
        axis: the axis of the vectors.

    Example:
        >>> CosineSimilarity()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.70710677)
    """

    name: Name = "cosine_similarity"
    dtype: ComputeDtype = None
    axis: int = -1

    def loss(self, y_true, y_pred):
        return composites.cosine_similarity(y_true, y_pred, self.axis)


@metrics.add()
class Poisson(MeanOfLoss):
    """The mean of y_pred - y_true log(y_pred).

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> Poisson()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.8465735)
    """

    name: Name = "poisson"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.poisson(y_true, y_pred)


@metrics.add("kld", "kullback_leibler_divergence")
class KLDivergence(MeanOfLoss):
    """The mean Kullback-Leibler divergence of y_pred from y_true.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> KLDivergence()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.69314563)
    """

    name: Name = "kl_divergence"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.kl_divergence(y_true, y_pred)


@metrics.add()
class Hinge(MeanOfLoss):
    """The mean of max(1 - y_true y_pred, 0); labels are -1 and 1, or 0 and 1.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> Hinge()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(1.0)
    """

    name: Name = "hinge"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.hinge(y_true, y_pred)


@metrics.add()
class SquaredHinge(MeanOfLoss):
    """The mean of max(1 - y_true y_pred, 0)²; labels are -1 and 1, or 0 and 1.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> SquaredHinge()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(1.25)
    """

    name: Name = "squared_hinge"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.squared_hinge(y_true, y_pred)


@metrics.add()
class CategoricalHinge(MeanOfLoss):
    """The mean of max(1 + best wrong score - right score, 0), for one-hot labels.

    Args:
        name, dtype: as in `Metric`.

    Example:
        >>> CategoricalHinge()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(1.0)
    """

    name: Name = "categorical_hinge"
    dtype: ComputeDtype = None

    def loss(self, y_true, y_pred):
        return composites.categorical_hinge(y_true, y_pred)


@metrics.add("bce")
class BinaryCrossentropy(MeanOfLoss):
    """The mean cross-entropy of binary labels.

    Args:
        name, dtype: as in `Metric`.
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.

    Example:
        >>> BinaryCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.6931472)
    """

    name: Name = "binary_crossentropy"
    dtype: ComputeDtype = None
    from_logits: bool = False
    label_smoothing: float = 0

    def loss(self, y_true, y_pred):
        return composites.binary_crossentropy(
            y_true, y_pred, self.from_logits, self.label_smoothing
        )


@metrics.add()
class CategoricalCrossentropy(MeanOfLoss):
    """The mean cross-entropy of one-hot labels.

    Args:
        name, dtype: as in `Metric`.
        from_logits: whether y_pred holds logits instead of probabilities.
        label_smoothing: the fraction of each label that is spread evenly over the classes.
        axis: the axis of the classes.

    Example:
        >>> CategoricalCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]]).numpy()
        np.float32(0.6931472)
    """

    name: Name = "categorical_crossentropy"
    dtype: ComputeDtype = None
    from_logits: bool = False
    label_smoothing: float = 0
    axis: int = -1

    def loss(self, y_true, y_pred):
        return composites.categorical_crossentropy(
            y_true, y_pred, self.from_logits, self.label_smoothing, self.axis
        )


@metrics.add()
class SparseCategoricalCrossentropy(MeanOfLoss):
    """The mean cross-entropy of integer labels, which are class indices.

    Args:
        name, dtype: as in `Metric`.
        from_logits: whether y_pred holds logits instead of probabilities.
        ignore_class: a label whose elements do not count if there are sample weights; without
            weights their zeros count in the mean, as in Keras.
        axis: the axis of the classes.

    Example:
        >>> SparseCategoricalCrossentropy()([1], [[0.5, 0.5]]).numpy()
        np.float32(0.6931472)
    """

    name: Name = "sparse_categorical_crossentropy"
    dtype: ComputeDtype = None
    from_logits: bool = False
    ignore_class: int = None
    axis: int = -1

    def values(self, y_true, y_pred):
        y_pred = composites.floating(y_pred)
        if self.ignore_class is None:
            return self.loss(y_true, y_pred)
        # Only a tensor carries the mask of ignored elements.
        return call_on_tensors(self.loss, y_true, y_pred)

    def loss(self, y_true, y_pred):
        return composites.sparse_categorical_crossentropy(
            y_true, y_pred, self.from_logits, self.ignore_class, self.axis
        )
