"""keras.utils.bounding_boxes: formats, overlaps and encodings of bounding boxes."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
