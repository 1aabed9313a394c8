"""tf.experimental.numpy: NumPy's functions on tensors, with NumPy's dtypes and with gradients.

>>> import framework as tf
>>> import framework.experimental.numpy as tnp
>>> tnp.add([1, 2], 0.5).dtype
tf.float64
"""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
