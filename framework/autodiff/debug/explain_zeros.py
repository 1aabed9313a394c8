"""Find the ops at which a gradient becomes zero, by a backward pass that checks each cotangent."""

import numpy as np

from framework.autodiff.cotangents import seeds
from framework.autodiff.debug.explanation import Explanation, where
from framework.autodiff.debug.recorded_ops import steps
from framework.core.tensor import Tensor

SHOWN = 8
"""The maximum number of ops of a path that an explanation names."""


def explain_zero(tape, targets, source, serials):
    """Return the Explanation for a target that depends on the source.

    Args:
        targets: tensors and variables.
        source: a tensor or variable; `serials` are its serials on the tape.
    """
    recorded = steps(tape)
    path, reached = _path(recorded, targets, serials)
    grads, blocks = _walk(tape, recorded, targets, path, reached)
    found = [grads[s] for s in serials if s in grads]
    if (found and _nonzero(sum(found[1:], found[0]))) or _is_target(targets, source, serials):
        return Explanation("connected", _by_way_of([s for s in recorded if s in path]))
    if not found:
        names = ", ".join(f"{step.name}{where(step.layer, step.line)}" for step in blocks)
        return Explanation(
            "None", "the derivative rules on the path give no gradient for the source"
            f"{': ' * bool(names)}{names}", "use differentiable ops between source and target",
        )  # fmt: skip
    if not blocks:
        return Explanation(
            "zero", "the contributions of several paths, or of the elements of a sum, cancel out",
            "check each path by tape.gradient(target, intermediate)",
        )  # fmt: skip
    causes = [_zeroed_by(step, recorded) for step in blocks[:3]]
    return Explanation("zero", " and ".join(reason for reason, _ in causes), causes[0][1])


def _is_target(targets, source, serials):
    return any(t is source or t.serial in serials for t in targets)


def _path(recorded, targets, serials):
    """Return the ops on paths from the source to the targets, and the source's descendants."""
    reached = set(serials)
    for step in recorded:
        if not reached.isdisjoint(step.inputs):
            reached.update(step.outputs)
    leading = {t.serial for t in targets}
    path = []
    for step in reversed(recorded):
        if not leading.isdisjoint(step.outputs):
            leading.update(step.inputs)
            if not reached.isdisjoint(step.inputs):
                path.append(step)
    return path[::-1], reached


def _walk(tape, recorded, targets, path, reached):
    """Return the cotangents by serial, and the ops of the path whose rules returned only zeros."""
    grads = seeds(list(targets), None, False)
    blocks = []
    bounds = [step.index for step in recorded[1:]] + [len(tape._edges)]
    with np.errstate(all="ignore"):
        for step, end in zip(recorded[::-1], bounds[::-1]):
            here = {o: grads[o] for o in step.outputs if o in grads}
            if not here:
                continue
            alive = any(_nonzero(g) for g in here.values())
            found = _contributions(tape, tape._edges[step.index : end], here)
            for serial, d in found.items():
                grads[serial] = grads[serial] + d if serial in grads else d
            passed = [_nonzero(d) for serial, d in found.items() if serial in reached]
            if alive and step in path and not any(passed):
                blocks.append(step)
    return grads, blocks


def _contributions(tape, edges, grads):
    """Return {serial of an input: the cotangent that the input gets from this op}."""
    single = object.__new__(type(tape))
    single.__dict__.update(
        tape.__dict__, _edges=edges, _watched=set(), _reads={}, _persistent=True, _notes=[]
    )
    grads = dict(grads)
    outputs = set(grads)
    single._walk_back(grads, [], False)
    return {serial: d for serial, d in grads.items() if serial not in outputs}


def _nonzero(g):
    """Return whether a cotangent has a nonzero element."""
    values = getattr(g, "values", g)  # Elements of IndexedSlices outside `values` are 0.
    return bool(np.any(np.asarray(getattr(values, "array", values)) != 0))


def _by_way_of(path):
    if not path:
        return "the target is the source"
    names = [f"{step.name}{where(step.layer, step.line)}" for step in path]
    if len(names) > SHOWN:
        left = len(names) - SHOWN
        names[SHOWN // 2 : -SHOWN // 2] = [f"... {left} more ..."]
    return f"the target depends on the source through {', '.join(names)}"


def _zeroed_by(step, recorded):
    """Return (reason, remedy) for an op whose rule returned only zeros."""
    name = f"{step.name}{where(step.layer, step.line)}"
    if step.name in _DEAD:
        y = step.edges[0][1].get("y")
        if y is not None:
            share = float(np.mean(np.asarray(y.array) == 0)) if y.size else 1.0
            which = "" if share == 1 else ", including all units with a nonzero cotangent"
            return f"{name} multiplies every path by zero ({_dead(share)}{which})", _REVIVE
    if step.name in _FLAT:
        return f"the slope of {name} is zero everywhere", "use a function that has a slope"
    if step.name in _CHOICES:
        return (
            f"{name} selects none of the source's values",
            "check the condition or the bounds",
        )
    zero = _zero_operand(step)
    if zero is not None:
        producer = next((s for s in recorded if zero.serial in s.outputs), None)
        if producer is not None and producer.name in _DEAD:
            by = f"{producer.name}{where(producer.layer, producer.line)}"
            return f"{name} multiplies the gradient by the output of {by} ({_dead(1.0)})", _REVIVE
        by = ""
        if producer is not None:
            by = f", the output of {producer.name}{where(producer.layer, producer.line)}"
        return (
            f"{name} multiplies every path by zero: its other input{by} is 0 everywhere",
            "check that input",
        )
    return (
        f"{name} multiplies every path by zero",
        "check the factors of that op",
    )


def _dead(share):
    return f"{share * 100:.0f} % of its units are 0: dead"


_REVIVE = "use a smaller learning rate, another initializer, or leaky_relu"


def _zero_operand(step):
    """Return a recorded input that is 0 everywhere, or None."""
    for _, reads in step.edges:
        for value in reads.values():
            if type(value) is Tensor and value.size and not np.any(value.array):
                return value
            if isinstance(value, (int, float)) and value == 0:
                return Tensor(np.asarray(value))
    return None


_DEAD = ("relu", "relu6")
_FLAT = ("sign",)
_CHOICES = ("clip", "maximum", "minimum", "select", "masked", "reduce_max", "reduce_min")
