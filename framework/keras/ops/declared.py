"""Functions of keras.ops that ops declare with `public`, each created at its first use.

>>> from framework import keras
>>> keras.ops.arctan([0.0, 1.0]).numpy().round(3)
array([0.   , 0.785], dtype=float32)
"""

from framework.functions.wrappers import creating
from framework.keras.ops.wrappers import RULES, KerasWrappers
from framework.ops.public import KERAS

__getattr__ = creating(KerasWrappers(__name__), RULES, KERAS)
