"""Input pipelines: `Dataset` with tf.data's methods, and the batches that `fit` trains on."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
