"""keras.visualization: images with bounding boxes and masks, and galleries of images."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
