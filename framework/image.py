"""tf.image: images resized, cropped, recoloured, compared, augmented, read from files."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
