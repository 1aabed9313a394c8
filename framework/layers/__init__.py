"""Layers: the base class and the built-in layers; each module is imported at its first use."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
