"""Regression losses: Keras classes and functions of the same names."""

from framework.core.fields import ComputeDtype, Name
from framework.losses.base import Loss, ReductionField, losses, operands
from framework.ops import losses as composites

MEAN = "sum_over_batch_size"


@losses.add()
class MeanSquaredError(Loss):
    """The mean of the squared difference.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> MeanSquaredError()([[0.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 4.0]]).numpy()
        np.float32(0.5)
    """

    reduction: ReductionField = MEAN
    name: Name = "mean_squared_error"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.mean_squared_error(y_true, y_pred)


@losses.add("mse")
def mean_squared_error(y_true, y_pred):
    """The mean of the squared difference, over the last axis.

    Example:
        >>> mean_squared_error([[0.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 4.0]]).numpy()
        array([0.5, 0.5], dtype=float32)
    """
    return composites.mean_squared_error(*operands(y_true, y_pred))


@losses.add()
class MeanAbsoluteError(Loss):
    """The mean of the absolute difference.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> MeanAbsoluteError()([[0.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 4.0]]).numpy()
        np.float32(0.5)
    """

    reduction: ReductionField = MEAN
    name: Name = "mean_absolute_error"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.mean_absolute_error(y_true, y_pred)


@losses.add("mae")
def mean_absolute_error(y_true, y_pred):
    """The mean of the absolute difference, over the last axis.

    Example:
        >>> mean_absolute_error([[0.0, 1.0], [2.0, 3.0]], [[1.0, 1.0], [2.0, 4.0]]).numpy()
        array([0.5, 0.5], dtype=float32)
    """
    return composites.mean_absolute_error(*operands(y_true, y_pred))


@losses.add()
class MeanAbsolutePercentageError(Loss):
    """The mean of the absolute difference, as a percentage of the label.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> MeanAbsolutePercentageError()([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        np.float32(50.0)
    """

    reduction: ReductionField = MEAN
    name: Name = "mean_absolute_percentage_error"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.mean_absolute_percentage_error(y_true, y_pred)


@losses.add("mape")
def mean_absolute_percentage_error(y_true, y_pred):
    """The mean of the absolute difference, as a percentage of the label, over the last axis.

    Example:
        >>> mean_absolute_percentage_error([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        array([50.], dtype=float32)
    """
    return composites.mean_absolute_percentage_error(*operands(y_true, y_pred))


@losses.add()
class MeanSquaredLogarithmicError(Loss):
    """The mean of the squared difference of log(1 + value).

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> MeanSquaredLogarithmicError()([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        np.float32(0.08220098)
    """

    reduction: ReductionField = MEAN
    name: Name = "mean_squared_logarithmic_error"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.mean_squared_logarithmic_error(y_true, y_pred)


@losses.add("msle")
def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean of the squared difference of log(1 + value), over the last axis.

    Example:
        >>> mean_squared_logarithmic_error([[1.0, 2.0]], [[2.0, 2.0]]).numpy()
        array([0.08220098], dtype=float32)
    """
    return composites.mean_squared_logarithmic_error(*operands(y_true, y_pred))


@losses.add()
class Huber(Loss):
    """Half the squared error up to an error of `delta`, linear beyond (Huber 1964).

    Args:
        delta: the error at which the quadratic part ends.
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> Huber(delta=1.0)([[0.0, 0.0]], [[0.5, 3.0]]).numpy()
        np.float32(1.3125)
    """

    delta: float = 1.0
    reduction: ReductionField = MEAN
    name: Name = "huber_loss"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.huber(y_true, y_pred, self.delta)


@losses.add()
def huber(y_true, y_pred, delta=1.0):
    """Half the squared error up to an error of `delta`, linear beyond, averaged over the last axis.

    Example:
        >>> huber([[0.0, 0.0]], [[0.5, 3.0]]).numpy()
        array([1.3125], dtype=float32)
    """
    return composites.huber(*operands(y_true, y_pred), delta)


@losses.add()
class LogCosh(Loss):
    """The mean of log(cosh(error)): quadratic near 0, linear for large errors.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> LogCosh()([[0.0, 0.0]], [[1.0, 3.0]]).numpy()
        np.float32(1.3715546)
    """

    reduction: ReductionField = MEAN
    name: Name = "log_cosh"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.log_cosh(y_true, y_pred)


@losses.add("logcosh")
def log_cosh(y_true, y_pred):
    """The mean of log(cosh(y_pred - y_true)), over the last axis.

    Example:
        >>> log_cosh([[0.0, 0.0]], [[1.0, 3.0]]).numpy()
        array([1.3715546], dtype=float32)
    """
    return composites.log_cosh(*operands(y_true, y_pred))


@losses.add()
class Poisson(Loss):
    """The mean of y_pred - y_true log(y_pred): the Poisson log-likelihood up to a constant.

    Args:
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> Poisson()([[1.0, 0.0]], [[1.0, 2.0]]).numpy()
        np.float32(1.5)
    """

    reduction: ReductionField = MEAN
    name: Name = "poisson"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return composites.poisson(y_true, y_pred)


@losses.add()
def poisson(y_true, y_pred):
    """The mean of y_pred - y_true log(y_pred), over the last axis.

    Example:
        >>> poisson([[1.0, 0.0]], [[1.0, 2.0]]).numpy()
        array([1.5], dtype=float32)
    """
    return composites.poisson(*operands(y_true, y_pred))


@losses.add()
class CosineSimilarity(Loss):
    """Minus the cosine of the angle between labels and predictions: -1 for equal directions.

    Args:
        axis: the axis of the vectors.
        reduction, name, dtype: as in `Loss`.

    Example:
        >>> CosineSimilarity()([[0.0, 1.0]], [[1.0, 1.0]]).numpy()
        np.float32(-0.70710677)
    """

    axis: int = -1
    reduction: ReductionField = MEAN
    name: Name = "cosine_similarity"
    dtype: ComputeDtype = None

    def call(self, y_true, y_pred):
        return -composites.cosine_similarity(y_true, y_pred, self.axis)


@losses.add()
def cosine_similarity(y_true, y_pred, axis=-1):
    """Minus the cosine of the angle between labels and predictions along `axis`.

    Example:
        >>> cosine_similarity([[0.0, 1.0]], [[1.0, 1.0]]).numpy()
        array([-0.70710677], dtype=float32)
    """
    return -composites.cosine_similarity(*operands(y_true, y_pred), axis)
