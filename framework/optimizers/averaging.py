"""Gradient accumulation and moving averages of variables, as in Keras.

The argument `form`, `Arrays` or `Tensors` of `forms.py`, says whether values are arrays or tensors.
"""

import numpy as np

from framework.core.cast import cast
from framework.ops.elementwise import not_equal
from framework.optimizers.forms import zeros_for


def accumulate(grads, accumulators, form):
    """Add gradients to the accumulated sums, in a call that does not update the variables."""
    for grad, accumulator in zip(grads, accumulators):
        form.write(accumulator, form.read(accumulator) + grad)


def means(grads, accumulators, steps, form):
    """Return the mean gradients of the last `steps` calls, `grads` included; clear the sums."""
    mean_grads = [(g + form.read(a)) / steps for g, a in zip(grads, accumulators)]
    for accumulator in accumulators:
        form.write(accumulator, zeros_for(accumulator, form))
    return mean_grads


def update_averages(variables, averages, momentum, updates, form):
    """Set `average = momentum * average + (1 - momentum) * variable`.

    Args:
        updates: the number of earlier updates, 0-d. If it is 0, the averages are set to the
            variables.
    """
    for variable, average in zip(variables, averages):
        dtype = np.dtype(variable.array.dtype)
        share = cast(not_equal(updates, 0), dtype=dtype) * momentum
        form.write(average, share * form.read(average) + (1 - share) * form.read(variable))
