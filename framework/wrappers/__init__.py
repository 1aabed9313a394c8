"""Models as scikit-learn estimators (needs scikit-learn: the extra `sklearn`).

Each module is imported at its first use.
"""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
