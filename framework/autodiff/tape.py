"""GradientTape: records what descends from the watched, and walks the record back.

The record is a list of edges, in the order of the operations: for each live input with a rule
`(made, last, op, rule, serial, shape, count, read)`, where

- `made` is the output's serial, `serial` the input's;
- `last` says that walking back, this is the last edge of its op: the cotangent is used up;
- `shape` is the input's where it may have been broadcast, else None;
- `read` is what the rule reads after the cotangent: nothing (`count` 0), one value, or a tuple.

An op with a joint rule or with several outputs is one edge whose rule is None: `made` is then a
tuple of (serial, shape, dtype) and `read` what `_joined` takes.

Nothing else is kept: arrays that no rule names die with their tensors.

The gradient by a complex number is TensorFlow's, the conjugate of the derivative. It is conjugated
where a walk starts and where it ends; on the way rules multiply by plain derivatives.
"""

import numpy as np

from framework.autodiff.batching import Batched
from framework.autodiff.ends import (
    SOURCES,
    UnconnectedGradients,
    accumulate,
    add_slices,
    added,
    arrays,
    check_source,
    cotangents,
    descendants,
    live_mask,
    seeds,
    wants_zero,
)
from framework.autodiff.explaining import Explaining
from framework.autodiff.jacobian import Jacobians
from framework.autodiff.notes import BLOCKED, CUT, PAUSED, RESET, UNMET
from framework.core import nest, recorders
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError, TapeError
from framework.core.op import READS_INPUT, READS_PICKED
from framework.core.recorders import serials, thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.elementwise import conj, identity, unchanged
from framework.ops.movement import sum_to
from framework.ops.slices import IndexedSlices, finished, sliced


class GradientTape(Explaining, Jacobians):
    """Records operations for automatic differentiation.

    Trainable variables are watched when they are read; other tensors by `watch`.

    Args:
        persistent: allow several `gradient` calls; the record lives as long as the tape.
        watch_accessed_variables: watch trainable variables automatically.
        trace: keep the code position of every op, for `explain` and `print(tape)`.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.gradient(y, x).numpy()
        np.float32(6.0)
    """

    differentiates = True

    def __init__(self, persistent=False, watch_accessed_variables=True, *, trace=False):
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._recording = False
        self._consumed = self._fresh = True  # until it is entered
        self._clear()
        if trace:
            self._trace()

    def _clear(self):
        self._edges = []
        self._live = set()  # serials of the watched and of all that descends from them
        self._watched = set()  # serials of watched tensors
        self._variables = {}  # serial -> watched variable
        self._reads = {}  # serial of a variable -> serials of the tensors its reads gave
        self._notes = []  # what `explain` needs beside the edges

    # ---- life ----

    def __enter__(self):
        if self._recording:
            raise InvalidArgumentError("Tape is still recording. This can happen if you try to "
                                       "re-enter an already-active tape.")  # fmt: skip
        if self._consumed and not self._fresh:
            self._clear()  # its record is used up: it starts anew
        self._consumed = self._fresh = False
        if self._own_journal:
            self._journal.open()
        self._start()
        return self

    def __exit__(self, typ, value, traceback):
        if self._recording:
            self._stop()
        if self._own_journal:
            self._journal.close()

    def _start(self):
        recorders.push(self)
        self._recording = True

    def _stop(self):
        recorders.remove(self)
        self._recording = False

    def stop_recording(self):
        """Context in which this tape records nothing; other tapes go on."""
        if not self._recording:
            raise TapeError("Tape is not recording: stop_recording() needs an active tape.")
        return _Pause(self)

    def reset(self):
        """Forget the record and everything watched; only while recording."""
        if not self._recording:
            raise InvalidArgumentError(
                "reset() works only while the tape is recording (within its `with` block)."
            )
        forgotten = self._live.union(self._variables)
        self._clear()
        self._notes.append((RESET, 0, None, forgotten))

    def watch(self, tensor):
        """Make tensors or variables (any nest of them) ones that gradients can be asked for.

        Raises:
            ValueError: for anything else, NumPy arrays too: only an object can be watched, and
                an array becomes a new tensor at each use.
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
                self._live.add(item.serial)
            else:
                raise InvalidArgumentError(
                    f"watch: passed in object {item!r} of type '{type(item).__name__}', not "
                    "tf.Tensor or tf.Variable. Convert it first, x = tf.convert_to_tensor(x), "
                    "and use that x inside the tape."
                )

    def watched_variables(self):
        """The variables watched, a tuple in the order of their creation."""
        return tuple(self._variables[serial] for serial in sorted(self._variables))

    def _watch_variable(self, variable):
        self._variables[variable.serial] = variable
        self._reads.setdefault(variable.serial, [])

    # ---- events ----

    # Every recorded op comes through here: what a call would cost is said in line.
    def op(self, op, args, attrs, outputs, saved, mask=0):  # noqa: C901, PLR0912
        live = self._live
        if not mask:
            if len(args) == 2:
                a, b = args
                if type(a) is Tensor and a.serial in live:
                    mask = 1
                if type(b) is Tensor and b.serial in live:
                    mask += 2
            elif len(args) == 1:
                (a,) = args
                mask = 1 if type(a) is Tensor and a.serial in live else 0
            else:
                mask = live_mask(args, live)
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
        made = output.serial
        if made is None:
            made = output.serial = next(serials)
        live.add(made)
        last = True  # the first edge appended is the last one met on the way back
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
                read, reads = output, READS_INPUT  # one value as well
            shape = arg.array.shape if op.broadcasts else None
            self._edges.append((made, last, op, rule, arg.serial, shape, reads, read))
            last = False

    def _without_rules(self, op, plan, args, attrs, outputs, saved):
        """Record an op whose inputs have no rules of their own: none at all, or a joint one."""
        if plan is None:
            self._notes.append((CUT, 0, op, [a.serial for a in args if type(a) is Tensor]))
            return
        made = tuple([self._made(output) for output in outputs])
        read = [self._joined_read(op, *each, args, attrs, outputs, saved) for each in plan]
        self._edges.append((made, True, op, None, None, None, 0, read))

    def _made(self, output):
        """One of several outputs, as a record keeps it."""
        if output.serial is None:
            output.serial = next(serials)
        self._live.add(output.serial)
        return output.serial, output.array.shape, output.array.dtype

    def _joined_read(self, op, live, rule, pick, args, attrs, outputs, saved):
        """What is kept of one entry of an op's plan, for a joint rule or one of several outputs.

        (serials, shapes, rule, arguments, needed, inputs): `needed` says which inputs are live;
        `inputs` are all of them, kept where a composite may have to stand in for the rule.
        """
        ends, shapes, needed = [], [], []
        live = live if type(live) is tuple else (live,)
        for i, arg in enumerate(args):
            is_live = i in live
            needed.append(is_live)
            ends.append(arg.serial if is_live else None)
            shapes.append(arg.array.shape if is_live else None)
        arguments = () if pick is None else pick(args, attrs, outputs, saved)
        inputs = (args, attrs) if op.composite is not None else None
        return ends, shapes, rule, arguments, tuple(needed), inputs

    def variable_read(self, variable, tensor):
        reads = self._reads.get(variable.serial)
        if reads is None:
            if not (self._watch_accessed and variable._trainable):
                return
            self._watch_variable(variable)
            reads = self._reads[variable.serial]
        serial = tensor.serial
        if serial is None:
            serial = tensor.serial = next(serials)
        self._live.add(serial)
        reads.append(serial)

    def recorded_ops(self):
        """The ops on the record, in order."""
        return [op for _, last, op, *_ in self._edges if last]

    # ---- gradients ----

    def gradient(
        self, target, sources, output_gradients=None,
        unconnected_gradients=UnconnectedGradients.NONE,
    ):  # fmt: skip
        """The gradient of the sum of `target` with respect to `sources`.

        Args:
            target: a tensor or variable, or a nest of them, whose sum is differentiated.
            sources: a tensor or variable, or any nest of them.
            output_gradients: what multiplies each target's gradient, in the structure of
                `target`; ones where None.
            unconnected_gradients: "none" or "zero", or the enum: what unconnected sources get.

        Returns:
            Tensors in the structure of `sources`, each of its source's shape and dtype; None
            where unconnected.

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
            found = [self._found(grads, s, zero, target) for s in flat_sources]
        return found if flat else nest.pack_sequence_as(sources, found)

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

    # The loop over all edges: what a call would cost is said in line.
    def _walk_back(self, grads, sources, taped):  # noqa: C901, PLR0912
        serials_of_sources = self._serials_of(sources)
        needed = self._on_the_way(serials_of_sources)
        kept = serials_of_sources & self._live  # intermediates asked for: not forgotten on the way
        keeps = self._persistent or self._journal is not None
        edges = list(self._edges) if keeps else self._edges
        note = _ignore if keeps else self._notes.append
        while edges:
            made, last, op, rule, serial, shape, count, read = edges.pop()
            if rule is None:
                g = d = None  # such an op may take long (a recomputed block), and much memory
                self._joined(op, made, read, grads, needed, kept, taped)
                continue
            g = grads.pop(made, None) if last else grads.get(made)
            if g is None:
                note((UNMET, len(edges), op, (serial,), (made,)))
                continue
            if made in kept:
                grads[made] = g
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

    def _joined(self, op, made, read, grads, needed, kept, taped):
        """Walk back over an op with a joint rule or several outputs."""
        g = cotangents(grads, kept, made, taped, op.takes_none)
        if g is None:
            self._note_unmet(op, made, read)
            return
        if op.outputs == 1:
            (g,) = g
        for ends, shapes, rule, arguments, live, inputs in read:
            asked = live
            if needed is not None:
                asked = tuple([a and s in needed for a, s in zip(live, ends, strict=True)])
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
        found = set()
        for source in sources:
            if type(source) is Tensor or not isinstance(source, CoreVariable):
                found.add(source.serial)
            else:
                found.update(self._reads.get(source.serial, ()))
        found.discard(None)  # tensors that no tape has met
        return found

    def _on_the_way(self, source_serials):
        """Serials whose cotangent matters to the sources; None if all that is live does."""
        if source_serials >= self._watched:
            for reads in self._reads.values():
                if not source_serials.issuperset(reads):
                    break
            else:
                return None
        return descendants(self._edges, source_serials)

    def _found(self, grads, source, zero, target):
        """The finished gradient of one source."""
        g = grads.get(source.serial)  # of a variable: it was a target itself
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
            if type(g) is Tensor:  # the dtype: bfloat16 times a Python number is float32 in NumPy
                return g if g.array.dtype == array.dtype else cast(g, dtype=array.dtype)
            return g if type(g) is Batched else Tensor(np.asarray(g, array.dtype))
        if zero:
            return Tensor(np.zeros(array.shape, array.dtype))
        self._note_missing(source, target)
        return None


class _Pause:
    """`stop_recording`'s context: the tape is closed within, and open again after; re-entrant."""

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
    """What a record that stays need not note."""


def _differentiating():
    return any(r.differentiates for r in thread.stack)


def through_composite(op, inputs, asked, g):
    """The joint rule's gradients by differentiating the op's composite: for an outer tape.

    None stands in `g` for an output that has no cotangent.
    """
    args, attrs = inputs
    with GradientTape() as tape:
        # fresh identities: one tensor may stand in two places, each to get its own part
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
