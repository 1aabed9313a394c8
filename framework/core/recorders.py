"""Recorders: the stack of open recorders of each thread, and the events that they receive.

`push` opens a recorder (a `GradientTape`, a trace), `remove` closes it. While open it receives five
events, and others that it may ignore (`begin_block`, `layer_call`, ...):

1. an op: its inputs, outputs, attributes and saved arrays        (raised in `core/op.py`)
2. a variable read: the variable and the new tensor               (`core/variable.py`)
3. a variable assigned: the variable and the new value            (`core/variable.py`)
4. a random draw: the draw and its result, a tensor               (`core/random.py`)
5. a value read by Python: `bool`, `int`, `numpy`, printing, ...  (`core/tensor.py`)
"""

import itertools
import threading
from typing import Any

from framework.core.argument_types import TensorLike

serials = itertools.count(1)
"""Identities of tensors and variables: `next(serials)` is unique in the process and increases."""


class Recorder:
    """Base class: ignores all events; subclasses override methods for events that they need."""

    replays = False  # True if every computation must run as an op, so that it can be repeated
    differentiates = False  # True for a recorder that may differentiate the recorded ops
    # True for the tape around a vjp that forward-mode differentiation transposes
    transposes = False
    aside = None  # a recorder that replaces this one inside `pause_all`, or None

    def op(self, op: Any, args: Any, attrs: Any, outputs: Any, saved: Any) -> None:
        """Called after `op(*args, **attrs)` returned `outputs`; `saved` is for its derivatives."""

    def variable_read(self, variable: Any, tensor: TensorLike) -> None:
        """Called after reading `variable` returned the new tensor `tensor`."""

    def variable_assigned(self, variable: Any, value: TensorLike) -> None:
        """Called before `variable` is assigned the tensor `value`."""

    def random_draw(self, draw: Any, tensor: TensorLike) -> None:
        """Called after the random draw `draw` returned `tensor`; `draw()` makes the next draw."""

    def value_read(self, tensor: TensorLike, how: Any) -> None:
        """Called when Python code reads the value of `tensor` by `how` ("bool", "numpy", ...)."""

    def begin_block(self, key: TensorLike, inputs: TensorLike, variables: Any):
        """Called before the caller changes `variables` by ops that `key` and `inputs` determine.

        `key` is compared by `==`, `inputs` are tensors. Returns True if the recorder does not need
        these ops, for example because it has traced the same block before; the caller may then
        change the variables without ops. The caller always calls `end_block` afterwards.
        """
        return False

    def end_block(self):
        """Called after the ops that `begin_block` announced."""

    def layer_call(self, layer: Any) -> None:
        """Called when the innermost open layer call becomes that of `layer`; None: none is open."""

    def loss_added(self, tensor: TensorLike) -> None:
        """Called when a layer adds `tensor` to its `losses`."""

    def effect(self, what: str) -> None:
        """Called when `what`, such as "tf.print", has an effect outside the program."""


class _Thread(threading.local):
    def __init__(self):
        # the open recorders, innermost last; it is a tuple, so that a loop over it is safe
        self.stack = ()
        self.symbolic = None  # name of the layer or op that is called with KerasTensors, or None
        self.function = None  # the `tf.function` of the innermost open call
        self.call = None  # the innermost open layer call: (layer, training, outer call)
        self.stateless = None  # the innermost open `StatelessScope`, or None
        self.remat = None  # the innermost open `RematScope`, or None
        # an instance of `MissingGradients`: the sources of the latest tape that got no gradient
        self.missing = None
        self.numerics = None  # the open `debugging.numerics` context, or None
        self.working = False  # whether a compiled training step is calling its Python function
        self.scope = ()  # the open name scopes, prefixes of new variables' names
        self.budget = None  # the limit on variables' memory while a file is loaded, or None
        self.scope_of = (None, None)  # (layer that last set `scope`, layer call open at that time)


thread = _Thread()


def push(recorder):
    """Open `recorder` as the innermost recorder of this thread."""
    thread.stack = (*thread.stack, recorder)


def remove(recorder):
    """Close `recorder` at any position of this thread's stack."""
    thread.stack = tuple([r for r in thread.stack if r is not recorder])


def replaying():
    """Return whether an open recorder needs every computation as ops."""
    return any(recorder.replays for recorder in thread.stack)


class pause_all:
    """Context in which no recorder of this thread receives events."""

    def __enter__(self):
        self._stack = stack = thread.stack
        thread.stack = tuple([r.aside for r in stack if r.aside is not None]) if stack else ()

    def __exit__(self, *_):
        thread.stack = self._stack
