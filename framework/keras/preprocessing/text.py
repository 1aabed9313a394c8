"""keras.preprocessing.text: words of texts as numbers."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
