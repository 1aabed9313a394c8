"""keras.preprocessing.image: Pillow's images from and to arrays and files."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
