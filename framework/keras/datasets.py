"""keras.datasets: small datasets, each a module with `load_data`."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
