"""tf.summary.hparams: hyperparameters for TensorBoard's HParams page.

The names are those of `tensorboard.plugins.hparams.api`, which cannot be imported without
TensorFlow.
"""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
