"""tf.random: draws from the global generator, from a Generator, or from a seed alone."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
