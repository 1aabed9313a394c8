"""keras.applications: image networks, without weights or with Keras's weights from a file."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
