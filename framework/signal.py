"""tf.signal: frames, windows, Fourier and cosine transforms, the mel scale."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
