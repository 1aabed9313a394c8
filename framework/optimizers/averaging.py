"""What an optimizer keeps beside its slots: means of gradients over calls, averages of variables.

Both are Keras's. Arrays or tensors, as the form says.
"""

import numpy as np

from framework.core.cast import cast
from framework.ops.elementwise import not_equal
from framework.optimizers.forms import zeros_for


def accumulate(grads, accumulators, form):
    """Add the gradients of a call that is not the last of its round."""
    for grad, accumulator in zip(grads, accumulators):
        form.write(accumulator, form.read(accumulator) + grad)


def means(grads, accumulators, steps, form):
    """The mean gradients of a round of `steps` calls, the last with `grads`; the next begins."""
    found = [(g + form.read(a)) / steps for g, a in zip(grads, accumulators)]
    for accumulator in accumulators:
        form.write(accumulator, zeros_for(accumulator, form))
    return found


def update_averages(variables, averages, momentum, updates, form):
    """`average = momentum * average + (1 - momentum) * variable`; at first the variable's value.

    Args:
        updates: the number of updates before this one, 0-d.
    """
    for variable, average in zip(variables, averages):
        dtype = np.dtype(variable.array.dtype)
        share = cast(not_equal(updates, 0), dtype=dtype) * momentum
        form.write(average, share * form.read(average) + (1 - share) * form.read(variable))
