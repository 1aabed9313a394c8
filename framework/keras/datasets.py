"""keras.datasets: modules of small datasets; each has a function `load_data`."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
