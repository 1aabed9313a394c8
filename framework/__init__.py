"""A Keras-style training framework on its own autodiff tape: `import framework as tf`.

>>> import framework as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x * x
>>> tape.gradient(y, x).numpy()
np.float32(6.0)
"""

from framework.core.lazy import attach_stub
from framework.ops import assigning, operators  # noqa: F401 (they complete Tensor and Variable)

__getattr__, __dir__ = attach_stub(__name__, "framework.functions.declared")

__version__ = "0.1.0"

newaxis = None
