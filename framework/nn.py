"""tf.nn: convolution, pooling, activations, cross-entropies, normalization, dropout."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
