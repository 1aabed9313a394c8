"""GradientTape: records the ops on watched tensors and their descendants, and differentiates them.

A tensor is *tracked* if it is watched or computed from watched tensors. The record is a list of
edges, in the order of the ops: for each tracked input with a rule
`(produced, last, op, rule, serial, shape, count, read)`, where

- `produced` is the serial of the output, `serial` that of the input;
- `last` marks the op's edge that the backward pass reaches last, after which it drops the
  cotangent;
- `shape` is the input's shape if the op may broadcast the input, otherwise None;
- `read` holds the `count` values that the rule reads after the cotangent: None if 0, the value if
  1, otherwise a tuple.

An op with a joint rule or with several outputs is one edge whose rule is None: `produced` is then a
tuple of (serial, shape, dtype), and `read` a list of results of `_joined_read`.

The record keeps nothing else: arrays that no rule reads are freed with their tensors.

The gradient for a complex variable is TensorFlow's, the conjugate of the derivative. The backward
pass conjugates at its start and its end; rules multiply by plain derivatives.
"""

from typing import Any

import numpy as np

from framework.autodiff.batching import Batched
from framework.autodiff.cotangents import (
    SOURCES,
    UnconnectedGradients,
    accumulate,
    add_slices,
    added,
    arrays,
    check_source,
    cotangents,
    descendants,
    seeds,
    tracked_mask,
    wants_zero,
)
from framework.autodiff.jacobian import Jacobians
from framework.autodiff.notes import BLOCKED, CUT, PAUSED, RESET, UNMET, TapeNotes
from framework.core import nest, recorders
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError, TapeError
from framework.core.op import READS_INPUT, READS_PICKED
from framework.core.recorders import serials, thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.elementwise import conj, identity, unchanged
from framework.ops.movement import sum_to
from framework.ops.slices import IndexedSlices, finished, sliced


class GradientTape(TapeNotes, Jacobians):
    """Records operations for automatic differentiation.

    Reading a trainable variable watches it; other tensors are watched by `watch`.

    Args:
        persistent: allow several `gradient` calls; the record lives as long as the tape.
        watch_accessed_variables: watch trainable variables automatically.
        trace: keep the source line of every op, for `explain` and `print(tape)`.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.gradient(y, x).numpy()
        np.float32(6.0)
    """

    differentiates = True

    def __init__(
        self, persistent: bool = False, watch_accessed_variables: bool = True, *,
        trace: bool = False,
    ):  # fmt: skip
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._recording = False
        # A new tape has no record, so it counts as consumed; it is fresh until it is entered.
        self._consumed = self._fresh = True
        self._clear()
        if trace:
            self._trace()

    def _clear(self):
        self._edges = []
        self._tracked = set()  # serials of watched tensors and their descendants
        self._watched = set()  # serials of watched tensors
        self._variables = {}  # serial of a watched variable -> the variable
        self._reads = {}  # serial of a variable -> serials of the tensors read from it
        self._notes = []  # events that explain missing gradients, such as ops without derivative

    # ---- start and stop of recording ----

    def __enter__(self):
        if self._recording:
            raise InvalidArgumentError("Tape is still recording. This can happen if you try to "
                                       "re-enter an already-active tape.")  # fmt: skip
        if self._consumed and not self._fresh:
            self._clear()  # A backward pass has emptied the record, so start a new one.
        self._consumed = self._fresh = False
        if self._owns_event_log:
            self._event_log.open()
        self._start()
        return self

    def __exit__(self, typ, value, traceback):
        if self._recording:
            self._stop()
        if self._owns_event_log:
            self._event_log.close()

    def _start(self):
        recorders.push(self)
        self._recording = True

    def _stop(self):
        recorders.remove(self)
        self._recording = False

    def stop_recording(self):
        """Return a context in which this tape records nothing; other tapes continue."""
        if not self._recording:
            raise TapeError("Tape is not recording: stop_recording() needs an active tape.")
        return _PausedTape(self)

    def reset(self):
        """Drop the record and all watched tensors and variables; possible only while recording."""
        if not self._recording:
            raise InvalidArgumentError(
                "reset() works only while the tape records: call it within the `with` block."
            )
        dropped = self._tracked.union(self._variables)
        self._clear()
        self._notes.append((RESET, 0, None, dropped))

    def watch(self, tensor: TensorLike) -> None:
        """Record all ops on these tensors or variables, so that they can be sources of gradients.

        Args:
            tensor: a tensor or variable, or a nest of them.

        Raises:
            ValueError: another type. A NumPy array cannot be watched: each use of it makes a new
                tensor.
        """
        for item in nest.flatten(tensor):
            if isinstance(item, CoreVariable):
                self._watch_variable(item)
            elif isinstance(item, IndexedSlices):
                self.watch(item.values)
            elif isinstance(item, (Tensor, Batched)):
                if item.serial is None:
                    item.serial = next(serials)
                self._watched.add(item.serial)
                self._note_watched(item)
                self._tracked.add(item.serial)
            else:
                raise InvalidArgumentError(
                    f"watch: passed in object {item!r} of type '{type(item).__name__}', not "
                    "tf.Tensor or tf.Variable. Convert it first, x = tf.convert_to_tensor(x), "
                    "and use that x inside the tape."
                )

    def watched_variables(self):
        """Return the watched variables as a tuple, in the order of their creation."""
        return tuple(self._variables[serial] for serial in sorted(self._variables))

    def _watch_variable(self, variable):
        self._variables[variable.serial] = variable
        self._reads.setdefault(variable.serial, [])

    # ---- recorder events ----

    # The hot path of recording: code is inlined, because each call costs time per op.
    def op(self, op, args, attrs, outputs, saved, mask=0):  # noqa: C901, PLR0912
        tracked = self._tracked
        if not mask:
            if len(args) == 2:
                a, b = args
                if type(a) is Tensor and a.serial in tracked:
                    mask = 1
                if type(b) is Tensor and b.serial in tracked:
                    mask += 2
            elif len(args) == 1:
                (a,) = args
                mask = 1 if type(a) is Tensor and a.serial in tracked else 0
            else:
                mask = tracked_mask(args, tracked)
            if not mask:
                return
        try:
            chain = op.chains[mask]
        except KeyError:
            chain = op.chain(mask)
        if chain is None:
            self._without_rules(op, op.plan(mask), args, attrs, outputs, saved)
            return
        (output,) = outputs
        produced = output.serial
        if produced is None:
            produced = output.serial = next(serials)
        tracked.add(produced)
        last = True  # the backward pass runs in reverse and reaches this edge of the op last
        while chain is not None:
            i, rule, reads, pick, chain = chain
            arg = args[i]
            if reads == READS_INPUT:
                read = args[pick]
            elif not reads:
                read = None
            elif reads == READS_PICKED:
                read = pick(args, attrs, outputs, saved)
            else:
                # The rule reads only the output, so the edge stores the output as the value read.
                read, reads = output, READS_INPUT
            shape = arg.array.shape if op.broadcasts else None
            self._edges.append((produced, last, op, rule, arg.serial, shape, reads, read))
            last = False

    def _without_rules(self, op, plan, args, attrs, outputs, saved):
        """Record an op that has a joint rule or no derivative."""
        if plan is None:
            self._notes.append((CUT, 0, op, [a.serial for a in args if type(a) is Tensor]))
            return
        produced = tuple([self._made(output) for output in outputs])
        read = [self._joined_read(op, *each, args, attrs, outputs, saved) for each in plan]
        self._edges.append((produced, True, op, None, None, None, 0, read))

    def _made(self, output):
        """Mark one of an op's outputs as tracked, and return its (serial, shape, dtype)."""
        if output.serial is None:
            output.serial = next(serials)
        self._tracked.add(output.serial)
        return output.serial, output.array.shape, output.array.dtype

    def _joined_read(self, op, tracked, rule, pick, args, attrs, outputs, saved):
        """Return the values to keep for a joint rule, or for one rule of an op of several outputs.

        These are (serials, shapes, rule, arguments, needed, inputs): `needed` is a bool per input,
        whether it is tracked; `inputs` is (args, attrs) if the op's composite may replace the
        rule, otherwise None.
        """
        ends, shapes, needed = [], [], []
        tracked = tracked if type(tracked) is tuple else (tracked,)
        for i, arg in enumerate(args):
            is_tracked = i in tracked
            needed.append(is_tracked)
            ends.append(arg.serial if is_tracked else None)
            shapes.append(arg.array.shape if is_tracked else None)
        arguments = () if pick is None else pick(args, attrs, outputs, saved)
        inputs = (args, attrs) if op.composite is not None else None
        return ends, shapes, rule, arguments, tuple(needed), inputs

    def variable_read(self, variable: Any, tensor: TensorLike) -> None:
        reads = self._reads.get(variable.serial)
        if reads is None:
            if not (self._watch_accessed and variable._trainable):
                return
            self._watch_variable(variable)
            reads = self._reads[variable.serial]
        serial = tensor.serial
        if serial is None:
            serial = tensor.serial = next(serials)
        self._tracked.add(serial)
        reads.append(serial)

    def recorded_ops(self):
        """Return the recorded ops, in order."""
        return [op for _, last, op, *_ in self._edges if last]

    # ---- gradients ----

    def gradient(
        self, target: TensorLike, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:  # fmt: skip
        """Return the gradient of the sum of `target` with respect to `sources`.

        Args:
            target: a tensor or variable, or a nest of them, whose sum is differentiated.
            sources: a tensor or variable, or any nest of them.
            output_gradients: factors of the targets, in the structure of `target`; ones if None.
            unconnected_gradients: "none" or "zero", or the enum: the gradient of a source that the
                target does not depend on.

        Returns:
            Tensors in the structure of `sources`, each of its source's shape and dtype; None
            for an unconnected source.

        Raises:
            RuntimeError: a second call on a tape that is not persistent.
        """
        zero = wants_zero(unconnected_gradients)
        self._use()
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors or Variables "
                "to be differentiated, but received None."
            )
        flat = type(sources) is list and SOURCES.issuperset(map(type, sources))
        flat_sources = sources if flat else nest.flatten(sources)
        if not flat:
            for source in flat_sources:
                check_source(source)
        stack = thread.stack
        taped = bool(stack) and any(r.differentiates or r.replays for r in stack)
        grads = seeds(target, output_gradients, taped)
        with np.errstate(all="ignore"):
            self._walk_back(grads, flat_sources, taped)
            results = [self._result(grads, s, zero, target) for s in flat_sources]
        return results if flat else nest.pack_sequence_as(sources, results)

    def _use(self):
        if self._consumed:
            raise TapeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians). Use GradientTape(persistent=True) for more, and enter the tape "
                "(`with tape:`) before."
            )
        if not self._persistent:
            if self._recording:
                self._stop()
            self._consumed = True

    # The hot loop of the backward pass: code is inlined, because each call costs time per edge.
    def _walk_back(self, grads, sources, taped):  # noqa: C901, PLR0912
        serials_of_sources = self._serials_of(sources)
        needed = self._on_the_way(serials_of_sources)
        # The backward pass keeps the cotangents of these serials.
        kept = serials_of_sources & self._tracked
        keeps = self._persistent or self._event_log is not None
        edges = list(self._edges) if keeps else self._edges
        note = _ignore if keeps else self._notes.append
        while edges:
            produced, last, op, rule, serial, shape, count, read = edges.pop()
            if rule is None:
                # Free cotangents, because a joint rule may need much memory to recompute values.
                g = d = None
                self._joined(op, produced, read, grads, needed, kept, taped)
                continue
            g = grads.pop(produced, None) if last else grads.get(produced)
            if g is None:
                note((UNMET, len(edges), op, (serial,), (produced,)))
                continue
            if produced in kept:
                grads[produced] = g
                g = g.dense() if type(g) is IndexedSlices else g
            if needed is not None and serial not in needed:
                continue
            if rule is unchanged:
                d = g
            elif not count:
                d = rule(g)
            elif count == 1:
                d = rule(g, read if taped or type(read) is not Tensor else read.array)
            else:
                if not taped:
                    read = [
                        x.array if type(x) is Tensor else arrays(x) if type(x) is tuple else x
                        for x in read
                    ]
                d = rule(g, *read)
                if type(d) is IndexedSlices:
                    add_slices(grads, serial, d, kept)
                    continue
            if d is None:
                note((BLOCKED, len(edges), op, (serial,)))
                continue
            if shape is not None and d.shape != shape:
                whole = taped or type(d) is Batched
                d = sum_to(d, shape=shape) if whole else sum_to.forward(d, shape=shape)
            grads[serial] = grads[serial] + d if serial in grads else d

    def _joined(self, op, produced, read, grads, needed, kept, taped):
        """Run the derivative rules of an op with several outputs or one rule for all inputs."""
        g = cotangents(grads, kept, produced, taped, op.takes_none)
        if g is None:
            self._note_unmet(op, produced, read)
            return
        if op.outputs == 1:
            (g,) = g
        for ends, shapes, rule, arguments, tracked, inputs in read:
            asked = tracked
            if needed is not None:
                asked = tuple([a and s in needed for a, s in zip(tracked, ends, strict=True)])
            if not any(asked):
                continue
            if taped and inputs is not None and _differentiating():
                ds = through_composite(op, inputs, asked, g)
            else:
                values = arguments if taped else [arrays(a) for a in arguments]
                if op.backward is None:
                    ds = [rule(g, *values) if a else None for a in asked]
                else:
                    ds = op.call_backward(g, values, asked)
            for serial, shape, d, is_asked in zip(ends, shapes, ds, asked, strict=True):
                if d is not None and is_asked:
                    fits = not op.broadcasts or d.shape == shape
                    accumulate(grads, serial, d if fits else sum_to(d, shape=shape))

    def _serials_of(self, sources):
        source_serials = set()
        for source in sources:
            if type(source) is Tensor or not isinstance(source, CoreVariable):
                source_serials.add(source.serial)
            else:
                source_serials.update(self._reads.get(source.serial, ()))
        source_serials.discard(None)  # a tensor that no tape recorded has no serial
        return source_serials

    def _on_the_way(self, source_serials):
        """Return the serials whose cotangents the sources need; None means all tracked serials."""
        if source_serials >= self._watched:
            for reads in self._reads.values():
                if not source_serials.issuperset(reads):
                    break
            else:
                return None
        return descendants(self._edges, source_serials)

    def _result(self, grads, source, zero, target):
        """Return the gradient of one source as the user gets it."""
        g = grads.get(source.serial)  # `grads` contains a variable only if it is itself a target
        if type(source) is not Tensor:
            for serial in self._reads.get(source.serial, ()):
                if serial in grads:
                    g = grads[serial] if g is None else added(g, grads[serial])
        array = source.array
        if g is not None and array.dtype.kind in "fcV":
            if type(g) is IndexedSlices:
                values = conj(g.values) if array.dtype.kind == "c" else g.values
                return finished(sliced(values, g.indices, g.dense_shape))
            if array.dtype.kind == "c":
                g = conj(g)
            # NumPy computes bfloat16 times a Python number in float32, so cast the result back.
            if type(g) is Tensor:
                return g if g.array.dtype == array.dtype else cast(g, dtype=array.dtype)
            return g if type(g) is Batched else Tensor(np.asarray(g, array.dtype))
        if zero:
            return Tensor(np.zeros(array.shape, array.dtype))
        self._note_missing(source, target)
        return None


class _PausedTape:
    """The re-entrant context of `stop_recording`, after which the tape records again."""

    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        self._was_recording = self._tape._recording
        if self._was_recording:
            self._tape._stop()
            self._since = next(serials)

    def __exit__(self, *_):
        if self._was_recording:
            self._tape._notes.append((PAUSED, self._since, next(serials), ()))
            if not self._tape._recording:
                self._tape._start()


def _ignore(_):
    """Store no note: a persistent tape keeps its record, which has the same information."""


def _differentiating():
    return any(r.differentiates for r in thread.stack)


def through_composite(op, inputs, asked, g):
    """Return the gradients of a joint rule by differentiating the op's composite, for outer tapes.

    Args:
        inputs: (args, attrs) of the op.
        asked: a bool per input: whether its gradient is needed.
        g: the output's cotangent, or a tuple with None for outputs without one.
    """
    args, attrs = inputs
    with GradientTape() as tape:
        # Copy the inputs, so that a tensor that is passed twice gets a gradient for each input.
        args = [identity(a) if is_asked else a for a, is_asked in zip(args, asked, strict=True)]
        wanted = [a for a, is_asked in zip(args, asked, strict=True) if is_asked]
        tape.watch(wanted)
        outputs = op.composite(*args, **attrs)
    grads = {}
    several = type(outputs) is tuple
    for output, each in zip(outputs if several else (outputs,), g if several else (g,)):
        if each is not None:
            accumulate(grads, output.serial, each)
    tape._walk_back(grads, wanted, True)
    return [grads.get(a.serial) if is_asked else None for a, is_asked in zip(args, asked)]
