"""keras.applications.mobilenet_v2."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
