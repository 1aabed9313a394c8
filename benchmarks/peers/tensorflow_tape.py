"""TensorFlow with Keras 3, by the same code as ours, eager or in a `tf.function`."""

import tensorflow as tf

from peers import Library, tape


def library(mode: str) -> Library:
    """On a CPU a step is done when it returns."""
    function = {"eager": tape.eager, "function": tf.function}[mode]
    version = f"{tf.__version__}, keras {tf.keras.__version__}"
    return Library(version, tf.constant, tuple, tape.steps(tf, function))
