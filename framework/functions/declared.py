"""TensorFlow's functions that call a single op (`ops/public.py`), each created at its first use.

>>> import framework as tf
>>> tf.math.atan([0.0, 1.0]).numpy().round(3)
array([0.   , 0.785], dtype=float32)
"""

from framework.functions.wrappers import RULES, Wrappers, creating
from framework.ops.public import TENSORFLOW

__getattr__ = creating(Wrappers(__name__), RULES, TENSORFLOW)
