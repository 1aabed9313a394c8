"""keras.ops.vectorized_map: apply a function to each element along the first axis."""

from typing import Any

from framework.autodiff import vectorized_map as autodiff_vectorized


def vectorized_map(function: Any, elements: Any) -> Any:
    """Apply `function` to each element along the first axis of `elements`, in one call.

    Args:
        function: takes one argument, in the structure of `elements`, and returns a nest of tensors.
        elements: a tensor, or a nest of them.

    Returns:
        The results, stacked along a new first axis.

    Example:
        >>> import framework as tf
        >>> tf.keras.ops.vectorized_map(lambda x: x * x, tf.constant([1.0, 2.0])).numpy()
        array([1., 4.], dtype=float32)
    """
    return autodiff_vectorized.vectorized_map(function, elements, warn=False)
