"""A Keras-style training framework on its own autodiff tape: `import framework as tf`.

    >>> import framework as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> tape.gradient(y, x).numpy()
    np.float32(6.0)
"""

from framework.core.lazy import lazy as _lazy, table as _table
from framework.ops import operators as _operators  # noqa: F401 (gives tensors their operators)

__version__ = "0.1.0"

newaxis = None

_NAMES = _table({
    "framework.core.dtypes": """
        DType TensorShape=Shape as_dtype bool=bool_ complex64 complex128 double=float64 float16
        float32 float64 half=float16 int16 int32 int64 int8 string uint16 uint32 uint64 uint8""",
    "framework.core.tensor": "Tensor",
    "framework.core.variable": "Variable name_scope",
    "framework.autodiff.tape": "GradientTape UnconnectedGradients",
    "framework.autodiff.custom": "custom_gradient grad_pass_through recompute_grad stop_gradient",
    "framework.compiler.function": "function",
    "framework.core.spec": "TensorSpec",
    "framework.functions.elementwise": """
        abs acos acosh add add_n asin asinh atan atan2 atanh cast cos cosh divide equal exp floor
        greater greater_equal less less_equal logical_and logical_not logical_or maximum minimum
        multiply negative not_equal pow realdiv round saturate_cast scalar_mul sigmoid sign sin sinh
        sqrt square subtract tan tanh truediv truncatediv truncatemod""",
    "framework.functions.reduction": """
        argmax argmin cumsum reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
        reduce_min reduce_prod reduce_sum""",
    "framework.functions.creation": """
        constant convert_to_tensor eye fill is_tensor linspace one_hot ones ones_like range zeros
        zeros_like""",
    "framework.functions.movement": """
        broadcast_to concat ensure_shape expand_dims identity meshgrid pad rank repeat reshape
        reverse roll shape size split squeeze stack tile transpose unstack""",
    "framework.functions.indexing": """
        argsort boolean_mask gather gather_nd sequence_mask slice sort where""",
    "framework.functions.contraction": """
        clip_by_global_norm clip_by_norm clip_by_value matmul norm tensordot""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)
