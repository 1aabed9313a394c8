"""Why a training step finds no gradient for some variables: for the warning that comes."""

from framework.core.recorders import thread
from framework.training.rewind import State


def explain(step, batch, traced):
    """Called where the last walk back of a step's tape missed a gradient.

    The first time the computation is done once more with tracing on, so that the warning names
    lines; nothing else comes of that, for what it assigns and draws is put back. Later steps warn
    with the same words.

    Args:
        batch: the arguments of `step._differentiate`.
        traced: whether this is the run with tracing on.
    """
    model = step.model
    if traced:
        step._reasons = thread.missing.told(model.trainable_variables)
    elif step._reasons is None:
        state = State([*model.variables, *model.metrics_variables])
        try:
            step._differentiate(*batch, trace=True)
        finally:
            state.restore()
    if step._reasons is not None:
        thread.missing = step._reasons
