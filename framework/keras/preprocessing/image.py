"""keras.preprocessing.image: images from files and arrays, and batches of augmented images."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
