"""A recorder that keeps everything: its records are a graph."""

from framework.core.recorders import Recorder, thread


class Trace(Recorder):
    """Collects the events of one run, in order, as tuples that start with the event's name.

    Example:
        >>> import numpy as np
        >>> from framework.core.tensor import Tensor
        >>> from framework.ops.elementwise import tanh
        >>> with Trace() as trace:
        ...     y = tanh(Tensor(np.zeros(3)))
        >>> [op.name for event, op, *_ in trace.events]
        ['tanh']
    """

    replays = True

    def __init__(self):
        self.events = []

    def __enter__(self):
        self._outer, thread.stack = thread.stack, (self,)  # it alone listens
        return self

    def __exit__(self, *_):
        thread.stack = self._outer

    def op(self, op, args, attrs, outputs, saved):
        self.events.append(("op", op, args, attrs, outputs, saved))

    def variable_read(self, variable, tensor):
        self.events.append(("variable_read", variable, tensor))

    def variable_assigned(self, variable, value):
        self.events.append(("variable_assigned", variable, value))

    def random_draw(self, draw, tensor):
        self.events.append(("random_draw", draw, tensor))

    def value_read(self, tensor, how):
        self.events.append(("value_read", tensor, how))
