"""Checks the derivative rules of each op of a function against finite differences."""

import numpy as np

from framework.autodiff.debug.event_log import user_line
from framework.autodiff.debug.explanation import where
from framework.autodiff.tape import GradientTape
from framework.core import recorders
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor


class Ops(Recorder):
    """Records every op with its tensors, and checks the ops one by one."""

    def __init__(self):
        self._calls = []  # a tuple (op, args, attrs, outputs, layer, line) for each call of an op
        self._reads = {}  # serial of a tensor -> serial of the variable that was read

    def __enter__(self):
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)

    def op(self, op, args, attrs, outputs, saved):
        for tensor in (*args, *outputs):
            if type(tensor) is Tensor and tensor.serial is None:
                tensor.serial = next(serials)
        layer = None if thread.call is None else thread.call[0]
        self._calls.append((op, args, attrs, outputs, layer, user_line()))

    def variable_read(self, variable, tensor):
        tensor.serial = tensor.serial or next(serials)
        self._reads[tensor.serial] = variable.serial

    def first_wrong(self, random, differences):
        """Return a sentence about the first op with a wrong rule; "" if there is none."""
        for i, (op, args, attrs, outputs, layer, line) in enumerate(self._calls):
            if not op.derivative:
                continue
            values = self._custom(i) if "call" in attrs else _forward(op, args, attrs)
            if values is None:
                continue
            error = _errors(op, args, attrs, outputs, values, random, differences)
            if error is not None:
                position, by_rule, by_differences = error
                name = op.inputs[position] if position < len(op.inputs) else position
                kind = "the custom gradient" if "call" in attrs else "the rule of the op"
                label = position if op.variadic else repr(name)
                return (
                    f"The first wrong derivative: {kind} {op.name}{where(layer, line)}, for its "
                    f"input {label}: expected a slope of {by_differences:.6g} (by differences), "
                    f"got {by_rule:.6g}."
                )
        return ""

    def _custom(self, at):
        """Return a custom_gradient's forward as a function of its inputs.

        The ops inside the custom_gradient were recorded before it; the function runs them again.
        """
        op, args = self._calls[at][:2]
        count = op.count

        def values(arrays):
            present = {}  # serial of a tensor -> its array in this evaluation
            variables = {}
            for arg, array in zip(args[:count], arrays):
                present[arg.serial] = array
                if arg.serial in self._reads:
                    variables[self._reads[arg.serial]] = array
            for serial, variable in self._reads.items():
                if variable in variables:
                    present[serial] = variables[variable]
            for inner, inputs, inner_attrs, outputs, *_ in self._calls[:at]:
                if any(type(a) is Tensor and a.serial in present for a in inputs):
                    results = _outputs(inner, [_array(a, present) for a in inputs], inner_attrs)
                    present.update((o.serial, r) for o, r in zip(outputs, results))
            return [present.get(a.serial, a.array) for a in args[count:]]

        return values


def _array(arg, present):
    if type(arg) is not Tensor:
        return arg
    return present.get(arg.serial, arg.array)


def _outputs(op, arrays, attrs):
    """Return the output arrays of an op, without the arrays saved for its rule."""
    value = op.forward(*arrays, **attrs)
    value = value[0] if op.saves else value
    return [np.asarray(v) for v in ((value,) if op.outputs == 1 else value)]


def _forward(op, args, attrs):
    def values(arrays):
        return _outputs(op, arrays, attrs)

    return values


def _errors(op, args, attrs, outputs, values, random, differences):
    """Return (position, derivative by rule, by finite differences) of the first wrong rule."""
    arrays = [a.array if type(a) is Tensor else a for a in args]
    positions = [i for i, a in enumerate(arrays) if _is_float(a) and type(args[i]) is Tensor]
    if "call" in attrs:
        positions = [i for i in positions if i < op.count]
    targets = [k for k, o in enumerate(outputs) if _is_float(o.array)]
    if not positions or not targets:
        return None
    weights = {k: random.standard_normal(outputs[k].array.shape) for k in targets}
    size = sum(float(np.sum(np.abs(w * outputs[k].array))) for k, w in weights.items())
    gradients = _by_rule(op, args, attrs, positions, weights)
    for i, gradient in zip(positions, gradients):
        if _has_no_rule(op, i, gradient) or not arrays[i].size:
            continue
        direction = random.standard_normal(arrays[i].shape)

        def value(step, i=i, direction=direction):
            moved = list(arrays)
            moved[i] = (arrays[i] + step * direction).astype(arrays[i].dtype)
            results = values(moved)
            return sum(float(np.sum(weights[k] * results[k])) for k in targets)

        gradient_array = 0.0 if gradient is None else np.asarray(gradient)
        slope = float(np.sum(gradient_array * direction))
        compared = differences.compare(value, slope, size)
        if compared is not None and compared[0] > differences.tolerance:
            return i, slope, compared[1]
    return None


def _by_rule(op, args, attrs, positions, weights):
    """Return the gradients that the op's derivative rules give for the inputs at `positions`."""
    copies = list(args)
    for i in positions:
        copies[i] = Tensor(args[i].array)
    sources = [copies[i] for i in positions]
    with GradientTape() as tape:
        tape.watch(sources)
        outputs = op(*copies, **attrs)
    outputs = outputs if type(outputs) is tuple else (outputs,)
    seeds = [Tensor(weights[k].astype(outputs[k].array.dtype)) for k in weights]
    return tape.gradient([outputs[k] for k in weights], sources, output_gradients=seeds)


def _has_no_rule(op, position, gradient):
    """Return whether the op table declares no derivative for this input."""
    return gradient is None and op.backward is None and op.plan(1 << position) is None


def _is_float(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
