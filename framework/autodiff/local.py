"""Each op that a function runs, its rules checked alone against differences of its forward."""

import numpy as np

from framework.autodiff.journal import user_line
from framework.autodiff.tape import GradientTape
from framework.autodiff.verdict import where
from framework.core import recorders
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor


class Ops(Recorder):
    """Records every op with its very tensors, and checks them one by one."""

    def __init__(self):
        self._calls = []  # (op, args, attrs, outputs, layer, line)
        self._reads = {}  # serial of a tensor -> serial of the variable that it was read from

    def __enter__(self):
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)

    def op(self, op, args, attrs, outputs, saved):
        for each in (*args, *outputs):
            if type(each) is Tensor and each.serial is None:
                each.serial = next(serials)
        layer = None if thread.call is None else thread.call[0]
        self._calls.append((op, args, attrs, outputs, layer, user_line()))

    def variable_read(self, variable, tensor):
        tensor.serial = tensor.serial or next(serials)
        self._reads[tensor.serial] = variable.serial

    def first_wrong(self, random, differences):
        """A sentence on the first op with a wrong rule; "" if there is none."""
        for i, (op, args, attrs, outputs, layer, line) in enumerate(self._calls):
            if not op.derivative:
                continue
            values = self._custom(i) if "call" in attrs else _forward(op, args, attrs)
            if values is None:
                continue
            found = _errors(op, args, attrs, outputs, values, random, differences)
            if found is not None:
                position, expected, actual = found
                name = op.inputs[position] if position < len(op.inputs) else position
                kind = "the custom gradient" if "call" in attrs else "the rule of the op"
                label = position if op.variadic else repr(name)
                return (
                    f"The first wrong derivative: {kind} {op.name}{where(layer, line)}, of its "
                    f"input {label}: it gives a slope of {expected:.6g} where differences give "
                    f"{actual:.6g}."
                )
        return ""

    def _custom(self, at):
        """The results of a custom_gradient's function as a function of its inputs.

        The ops inside the function were recorded before its own record: they are done again.
        """
        op, args = self._calls[at][:2]
        count = op.count

        def values(arrays):
            now = {}  # serial -> array
            variables = {}
            for arg, array in zip(args[:count], arrays):
                now[arg.serial] = array
                if arg.serial in self._reads:
                    variables[self._reads[arg.serial]] = array
            for serial, variable in self._reads.items():
                if variable in variables:
                    now[serial] = variables[variable]
            for inner, inputs, inner_attrs, made, *_ in self._calls[:at]:
                if any(type(a) is Tensor and a.serial in now for a in inputs):
                    given = [_present(a, now) for a in inputs]
                    found = _outputs(inner, given, inner_attrs)
                    now.update((m.serial, f) for m, f in zip(made, found))
            return [now.get(a.serial, a.array) for a in args[count:]]

        return values


def _present(arg, now):
    if type(arg) is not Tensor:
        return arg
    return now.get(arg.serial, arg.array)


def _outputs(op, arrays, attrs):
    """The arrays that an op gives, without what it saves."""
    value = op.forward(*arrays, **attrs)
    value = value[0] if op.saves else value
    return [np.asarray(v) for v in ((value,) if op.outputs == 1 else value)]


def _forward(op, args, attrs):
    def values(arrays):
        return _outputs(op, arrays, attrs)

    return values


def _errors(op, args, attrs, outputs, values, random, differences):
    """(position, slope by the rule, slope by differences) of the first wrong rule, else None."""
    arrays = [a.array if type(a) is Tensor else a for a in args]
    places = [i for i, a in enumerate(arrays) if _is_float(a) and type(args[i]) is Tensor]
    if "call" in attrs:
        places = [i for i in places if i < op.count]
    targets = [k for k, o in enumerate(outputs) if _is_float(o.array)]
    if not places or not targets:
        return None
    weights = {k: random.standard_normal(outputs[k].array.shape) for k in targets}
    size = sum(float(np.sum(np.abs(w * outputs[k].array))) for k, w in weights.items())
    gradients = _by_rule(op, args, attrs, places, weights)
    for place, gradient in zip(places, gradients):
        if _has_no_rule(op, place, gradient) or not arrays[place].size:
            continue
        direction = random.standard_normal(arrays[place].shape)

        def value(step, place=place, direction=direction):
            moved = list(arrays)
            moved[place] = (arrays[place] + step * direction).astype(arrays[place].dtype)
            made = values(moved)
            return sum(float(np.sum(weights[k] * made[k])) for k in targets)

        given = 0.0 if gradient is None else np.asarray(gradient)
        expected = float(np.sum(given * direction))
        compared = differences.compare(value, expected, size)
        if compared is not None and compared[0] > differences.tolerance:
            return place, expected, compared[1]
    return None


def _by_rule(op, args, attrs, places, weights):
    """The gradients that the op's rules give for the inputs at `places`."""
    copies = list(args)
    for i in places:
        copies[i] = Tensor(args[i].array)
    sources = [copies[i] for i in places]
    with GradientTape() as tape:
        tape.watch(sources)
        made = op(*copies, **attrs)
    made = made if type(made) is tuple else (made,)
    seeds = [Tensor(weights[k].astype(made[k].array.dtype)) for k in weights]
    return tape.gradient([made[k] for k in weights], sources, output_gradients=seeds)


def _has_no_rule(op, place, gradient):
    """Whether this input has no derivative by the table: that is no mistake."""
    return gradient is None and op.backward is None and op.plan(1 << place) is None


def _is_float(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
