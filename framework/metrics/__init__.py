"""Metrics: values accumulated over batches in variables.

Each module is imported at its first use.
"""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
