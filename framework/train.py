"""tf.train: checkpoints of variables, and examples in TFRecord files."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
