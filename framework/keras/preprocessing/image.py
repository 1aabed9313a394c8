"""keras.preprocessing.image: images from files and arrays, and batches of changed ones."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
