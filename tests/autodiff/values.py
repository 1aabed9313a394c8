"""What tensors hold, as plain Python, for comparing nests of them."""

import framework as tf
from framework.core import nest


def values(structure):
    """Tensors and variables in a nest as numbers and lists; None stays None."""
    return nest.map_structure(
        lambda leaf: None if leaf is None else leaf.numpy().tolist(), structure
    )


def grad_of(f, *args, **options):
    """The gradients of `f(*args)` with respect to the arguments, a list."""
    with tf.GradientTape() as tape:
        tape.watch(args)
        y = f(*args)
    return tape.gradient(y, list(args), **options)
