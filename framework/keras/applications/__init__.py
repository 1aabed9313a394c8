"""keras.applications: networks for images, without weights or with Keras's from a file."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
