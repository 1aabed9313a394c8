"""TensorFlow with Keras 3, by the same code as ours: eager, in a `tf.function`, and by fit."""

from functools import partial

import tensorflow as tf

from peers import Library, tape
from peers.fitting import Fit


def library(mode: str) -> Library:
    """On a CPU a step is done when it returns."""
    if mode == "one thread":
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    functions = {
        "eager": tape.eager,
        "function": tf.function,
        "one thread": tf.function,
        "xla": tf.function(jit_compile=True),
    }
    version = f"{tf.__version__}, keras {tf.keras.__version__}"
    make = partial(Fit, tf.keras) if mode == "fit" else partial(tape.step, tf, functions[mode])
    return Library(version, tf.constant, tuple, make)
