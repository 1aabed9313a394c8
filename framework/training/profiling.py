"""Time and memory of a training step by layer: `model.profile(x, y)`.

The step runs op by op, without fusion across layers, so that each op is attributed to the layer
that called it. In the forward pass a recorder is notified when a layer begins. For the backward
pass, the derivative rules on the tape are replaced by wrappers that measure time. A separate run
measures the memory that NumPy allocates.
"""

import time
import tracemalloc

import numpy as np

from framework.autodiff.debug.flops import backward_flops, flops
from framework.autodiff.debug.recorded_ops import Layers, name_of
from framework.autodiff.tape import GradientTape
from framework.core import recorders
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import Recorder, thread
from framework.core.tensor import Tensor
from framework.ops.elementwise import unchanged
from framework.training.batch_plans import as_tensors, rows_of
from framework.training.profile_report import LayerProfile, Profile
from framework.training.snapshot import Snapshot

OUTSIDE = "(loss)"  # the name of the row for ops outside all layers


def profile(model, step, x, y, sample_weight, repeats):
    """Return a `Profile` of `step` on a batch; the model's state is restored."""
    if isinstance(repeats, bool) or not hasattr(repeats, "__index__") or repeats < 1:
        raise InvalidArgumentError(f"profile: repeats must be an int >= 1, got {repeats!r}.")
    x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
    batch = x, y, sample_weight
    if not model.built:
        model(x, training=False)
    held = [*model.variables, *model.metrics_variables, *step.optimizer.variables]
    state = Snapshot(held, step.optimizer)
    stack, thread.stack = thread.stack, ()
    try:
        with np.errstate(all="ignore"):
            _run(step, batch, Meter())  # unmeasured: creates slots, compiles kernels
            times = [_run(step, batch, Meter()) for _ in range(repeats)]
            sizes = _measured_memory(step, batch)
            counts = _run(step, batch, Count())
    finally:
        thread.stack = stack
        state.restore()
    return _report(model, times, sizes, counts, rows_of(x))


def _measured_memory(step, batch):
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    try:
        return _run(step, batch, Bytes())
    finally:
        if ours:
            tracemalloc.stop()


def _run(step, batch, meter):
    """Run one training step under the meter and return the meter."""
    x, y, sample_weight = batch
    optimizer = step.optimizer
    meter.begin("forward")
    with GradientTape() as tape, meter:
        y_pred = step.model(x, training=True)
        loss = step._compute_loss(x, y, y_pred, sample_weight)
        target = loss
        if step._scaled:
            target = optimizer.get_scaled_loss(loss)
        elif step._factor is not None:
            target = optimizer.scale_loss(loss)
    meter.end()
    variables = step.model.trainable_variables
    meter.watch(tape)
    meter.begin("backward")
    grads = tape.gradient(target, variables)
    meter.end()
    meter.begin("update")
    if step._scaled:
        grads = optimizer.get_unscaled_gradients(grads)
    elif step._factor is not None:
        grads = [None if g is None else g / step._factor for g in grads]
    step._bind()
    step._update(grads, variables)
    meter.end()
    return meter


# ---- meters --------------------------------------------------------------------------------------


class Meter(Recorder):
    """Measures seconds by phase (forward, backward, update) and layer.

    Time is credited to the current layer until the next layer begins.
    """

    def __init__(self):
        self.by_phase = {"forward": {}, "backward": {}, "update": {}}
        self.kept = {}
        self._layer = self._phase = self._last = None

    def __enter__(self):
        # opened after the tape, which gives outputs the serial numbers that this recorder uses
        recorders.push(self)

    def __exit__(self, *_):
        recorders.remove(self)

    def begin(self, phase):
        """Begin a phase of the step; until a layer begins, measurements belong to no layer."""
        self._phase, self._layer = self.by_phase[phase], OUTSIDE
        self._last = self.look()

    def end(self):
        """End the phase."""
        self.to(OUTSIDE)

    def to(self, layer):
        """Credit what was measured since the last `to` to the current layer; switch to `layer`."""
        now = self.look()
        phase, before = self._phase, self._layer
        phase[before] = self.joined(phase.get(before), now)
        self._layer = layer
        self._last = self.look()

    def layer_call(self, layer):
        self.to(OUTSIDE if layer is None else layer)

    def watch(self, tape):
        """Wrap the derivative rules on the tape, so that each calls `to` with its layer."""
        layers = Layers(tape)
        edges = tape._edges
        for i, edge in enumerate(edges):
            layer = layers.at(i)
            edges[i] = self._watched(edge, OUTSIDE if layer is None else layer)

    def _watched(self, edge, layer):
        output, last, op, rule, serial, shape, count, read = edge
        if rule is None:
            read = [(*part[:2], self._timed(part[2], layer), *part[3:]) for part in read]
            return output, last, TimedOp(op, self, layer), rule, serial, shape, count, read
        if rule is not unchanged:
            rule = self._timed(rule, layer)
        return output, last, op, rule, serial, shape, count, read

    def _timed(self, rule, layer):
        def timed(*args, **more):
            if self._layer is not layer:
                self.to(layer)
            return rule(*args, **more)

        return timed

    def look(self):
        """Read the clock; subclasses read another quantity."""
        return time.perf_counter()

    def joined(self, before, now):
        """Return a layer's total, `before`, plus what was measured up to the reading `now`."""
        return (before or 0.0) + now - self._last


class Bytes(Meter):
    """Measures peak allocated bytes by phase and layer, and the bytes that the tape keeps."""

    def __init__(self):
        super().__init__()
        self._start = tracemalloc.get_traced_memory()[0]

    def look(self):
        peak = tracemalloc.get_traced_memory()[1] - self._start
        tracemalloc.reset_peak()
        return peak

    def joined(self, before, now):
        return max(before or 0, now)

    def watch(self, tape):
        seen = set()
        layers = Layers(tape)
        for i, edge in enumerate(tape._edges):
            layer = layers.at(i)
            size = sum(array.nbytes for array in _arrays(edge[-1]) if _is_new(array, seen))
            layer = OUTSIDE if layer is None else layer
            self.kept[layer] = self.kept.get(layer, 0) + size
        super().watch(tape)


class Count(Meter):
    """Counts floating-point operations by phase and layer."""

    def __init__(self):
        super().__init__()
        self._taken = {}  # maps the serial of an op's first output to the FLOPs of the op

    def op(self, op, args, attrs, outputs, saved):
        shapes = [arg.array.shape if type(arg) is Tensor else np.shape(arg) for arg in args]
        count = flops(op, shapes, [output.array.shape for output in outputs], attrs)
        counts = self.by_phase["forward"]
        counts[self._layer] = counts.get(self._layer, 0) + count
        if outputs[0].serial is not None:
            self._taken[outputs[0].serial] = count

    def watch(self, tape):
        layers, counts = Layers(tape), self.by_phase["backward"]
        # maps the serial of an op's first output to (op, layer, number of inputs with a gradient)
        live = {}
        for i, (output, _, op, rule, _, _, _, read) in enumerate(tape._edges):
            serial = output[0][0] if rule is None else output
            inputs = sum(end is not None for part in read for end in part[0]) if rule is None else 1
            layer = layers.at(i)
            _, _, before = live.get(serial, (op, layer, 0))
            live[serial] = op, OUTSIDE if layer is None else layer, before + inputs
        for serial, (op, layer, inputs) in live.items():
            count = backward_flops(op, self._taken.get(serial, 0), inputs)
            counts[layer] = counts.get(layer, 0) + count

    def look(self):
        return 0

    def joined(self, before, now):
        return before or 0


class TimedOp:
    """Wraps an op with a joint derivative rule to measure the time of its backward pass."""

    def __init__(self, op, meter, layer):
        self._op, self._meter, self._layer = op, meter, layer

    def __getattr__(self, name):
        return getattr(self._op, name)

    def call_backward(self, g, arguments, needed):
        """Make the layer current in the meter, then run the op's rule."""
        if self._meter._layer is not self._layer:
            self._meter.to(self._layer)
        return self._op.call_backward(g, arguments, needed)


def _arrays(read):
    """Yield the arrays in `read`, which the tape keeps for a rule; for a view, its base array."""
    array = read.array if type(read) is Tensor else read
    if isinstance(array, np.ndarray):
        while isinstance(array.base, np.ndarray):
            array = array.base
        yield array
    elif isinstance(array, (tuple, list)):
        for part in array:
            yield from _arrays(part)


def _is_new(array, seen):
    if id(array) in seen:
        return False
    seen.add(id(array))
    return True


# ---- the report ----------------------------------------------------------------------------------


def _report(model, times, sizes, counts, rows):
    """Return the Profile, with layers in the order in which they ran."""
    forward, backward = (_medians(times, phase) for phase in ("forward", "backward"))
    (update,) = _medians(times, "update").values()
    order = [*dict.fromkeys([*forward, *backward])]
    if OUTSIDE in order:  # the row for ops outside all layers comes last
        order = [*(layer for layer in order if layer is not OUTSIDE), OUTSIDE]
    trained = _trained(order)
    total = sum(trained.values()) or 1
    profiles = []
    for layer in order:
        peaks = [sizes.by_phase[phase].get(layer, 0) for phase in ("forward", "backward")]
        taken = [counts.by_phase[phase].get(layer, 0) for phase in ("forward", "backward")]
        profiles.append(
            LayerProfile(
                name=layer if layer is OUTSIDE else name_of(layer),
                kind="" if layer is OUTSIDE else type(layer).__name__,
                parameters=trained[layer],
                forward=forward.get(layer, 0.0),
                backward=backward.get(layer, 0.0),
                update=update * trained[layer] / total,
                flops=sum(taken),
                kept=sizes.kept.get(layer, 0),
                peak=max(peaks),
            )
        )
    peak = max(max(phase.values(), default=0) for phase in sizes.by_phase.values())
    return Profile(model.name, profiles, rows=rows, update=update, peak=peak)


def _medians(meters, phase):
    layers = dict.fromkeys(layer for meter in meters for layer in meter.by_phase[phase])
    return {
        layer: float(np.median([meter.by_phase[phase].get(layer, 0.0) for meter in meters]))
        for layer in layers
    }


def _trained(layers):
    """Return the number of trainable parameters per layer, without those of inner layers."""
    variables = {la: la.trainable_variables if la is not OUTSIDE else [] for la in layers}
    counts, seen = {}, set()
    inner_first = layers[::-1]  # a variable counts only for the innermost layer that has it
    for layer in sorted(inner_first, key=lambda layer: len(variables[layer])):
        own = [v for v in variables[layer] if v.serial not in seen]
        seen.update(v.serial for v in own)
        counts[layer] = sum(v.array.size for v in own)
    return counts
