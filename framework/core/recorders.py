"""Who listens: the recorders open in this thread, and the five things they are told.

A recorder (a `GradientTape`, a trace) is opened with `push` and closed with `remove`. While it is
open it is told of

1. an op: its inputs, outputs, attributes and saved arrays        (raised in `core/op.py`)
2. a variable read: the variable and the fresh tensor             (`core/variable.py`)
3. a variable assigned: the variable and the new value            (`core/variable.py`)
4. a random draw: the draw and the tensor it gave                 (`core/random.py`)
5. a value read by Python: `bool`, `int`, `numpy`, printing, ...  (`core/tensor.py`)
"""

import itertools
import threading

serials = itertools.count(1)
"""Identities of tensors and variables: `next(serials)` is unique in the process and grows."""


class Recorder:
    """Listens to nothing; subclasses override the events they care for."""

    replays = False  # True for a recorder that must see every computation as ops, to redo it
    differentiates = False  # True for a recorder that may ask for derivatives of what it saw
    transposes = False  # True for the tape around a vjp that is run forward, to be transposed
    aside = None  # a recorder of what is done while this one is paused, where it cares for that

    def op(self, op, args, attrs, outputs, saved):
        """`op(*args, **attrs)` gave the tuple of tensors `outputs`; `saved` is for its backward."""

    def variable_read(self, variable, tensor):
        """`variable` was read, giving the new tensor `tensor`."""

    def variable_assigned(self, variable, value):
        """`variable` is about to hold the tensor `value`."""

    def random_draw(self, draw, tensor):
        """`draw`, when called again, makes the next draw of the same kind; it gave `tensor`."""

    def value_read(self, tensor, how):
        """Python read the value of `tensor` by `how` ("bool", "numpy", ...)."""

    def layer_call(self, layer):
        """Not of the five, and of no weight: `layer` is the innermost being called now, or None."""

    def loss_added(self, tensor):
        """Nor this: a layer keeps `tensor` as a loss, for whoever asks for `losses`."""


class _Thread(threading.local):
    def __init__(self):
        self.stack = ()  # innermost last; a tuple, so that a loop over it survives changes
        self.symbolic = None  # what is being called symbolically: its name, else None
        self.function = None  # the innermost open call of a `tf.function`: which
        self.call = None  # the innermost open call of a layer: (layer, training, outer call)
        self.missing = None  # what is known of the last sources that got no gradient
        self.numerics = None  # who checks the training steps of this thread
        self.working = False  # whether a compiled training step runs its Python here
        self.scope = ()  # names in front of the names of variables made now
        self.scope_of = (None, None)  # the layer that set `scope` last, and the open call then


thread = _Thread()


def push(recorder):
    """Open `recorder`, innermost of this thread."""
    thread.stack = (*thread.stack, recorder)


def remove(recorder):
    """Close `recorder`, wherever in this thread's stack it is."""
    thread.stack = tuple(r for r in thread.stack if r is not recorder)


def replaying():
    """Whether a recorder is open that must see every computation as ops."""
    return any(recorder.replays for recorder in thread.stack)


class pause_all:
    """Context in which nothing that happens in this thread is recorded."""

    def __enter__(self):
        self._stack = stack = thread.stack
        thread.stack = tuple([r.aside for r in stack if r.aside is not None]) if stack else ()

    def __exit__(self, *_):
        thread.stack = self._stack
