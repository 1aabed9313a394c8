"""The checks of `fit(doctor=True)`, after the first epoch, and of `model.fast_check`."""

import numpy as np

from framework.core import nest
from framework.core.tensor import Tensor
from framework.training.batch_plans import as_tensors
from framework.training.mistakes.inputs import (
    class_numbers,
    named_leaves,
    not_finite_in,
    sorted_rows,
    unscaled_images,
)
from framework.training.mistakes.one_pass import one_pass
from framework.training.mistakes.outputs import loss_kind, output_mistakes
from framework.training.mistakes.page import Page
from framework.training.mistakes.rates import unusual_rate
from framework.training.output_matching import output_layer
from framework.training.training_step import compiled_step

_SPREAD = 100
"""The largest ratio of two features' standard deviations that causes no message."""


def page_after_epoch(model, batches, batch):
    """Return the `Page` of `fit(doctor=True)` after its first epoch.

    Args:
        batches: the data, a result of `data.batches.as_batches`.
        batch: the last batch, (x, y, sample_weight) of tensors or arrays.
    """
    page = Page(f"doctor: model {model.name!r} after one epoch, on its last batch")
    x, y, sample_weight = (as_tensors(part) for part in batch)
    data_findings(page, model, x, y)
    page.add_all("order", list(filter(None, [sorted_rows(batches)])), "not sorted by class")
    seen = one_pass(compiled_step(model), x, y, sample_weight)
    step_findings(page, model, seen, y)
    compare_with_baseline(page, model, y, seen.y_pred, seen.loss, "this batch")
    return page


# ---- data ----------------------------------------------------------------------------------------


def data_findings(page, model, x, y):
    """Add findings about the inputs and targets of a batch, which are tensors or nests of them."""
    bad = not_finite_in(x, y)
    page.add_all("values", [f"{bad}. Replace or drop such rows."] if bad else [], "all are finite")
    for name, leaf in named_leaves(x, "x"):
        page.add("inputs", f"{name}: {_described(leaf.array)}")
    messages = [unscaled_images(model, x), None if bad else _unequal_features(x)]
    page.add_all("scale", list(filter(None, messages)), "")
    page.add_all("constant", _constant(x, y), "")
    for name, leaf in named_leaves(y, "y"):
        page.add("targets", f"{name}: {_described(leaf.array, classes=True)}")


def _described(array, classes=False):
    rows, shape = len(array) if array.ndim else 1, array.shape[1:]
    text = f"{rows} rows of shape {shape}, {array.dtype}"
    if array.dtype.kind not in "fiub" or not array.size:
        return text
    numbers = class_numbers(array) if classes else None
    if numbers is not None and len(np.unique(numbers)) <= 20:
        found, counts = np.unique(numbers, return_counts=True)
        shares = ", ".join(f"{c}: {n / rows:.0%}" for c, n in zip(found, counts, strict=True))
        return f"{rows} rows of classes {shares}"
    return (
        f"{text}, {array.min():.4g} to {array.max():.4g}, mean {array.mean():.4g}, "
        f"standard deviation {array.std():.4g}"
    )


def _unequal_features(x):
    """Return a message if features have very different scales or very large ones, else None."""
    leaves = [leaf.array for _, leaf in named_leaves(x, "x")]
    if len(leaves) != 1 or leaves[0].ndim != 2 or leaves[0].dtype.kind != "f":
        return None
    spreads = leaves[0].std(0)
    positive = spreads[spreads > 0]
    if not positive.size:
        return None
    if positive.max() > _SPREAD * max(positive.min(), 1e-30) or positive.max() > _SPREAD:
        return (
            f"the standard deviations of the features go from {positive.min():.4g} (column "
            f"{int(np.argmin(np.where(spreads > 0, spreads, np.inf)))}) to {positive.max():.4g} "
            f"(column {int(spreads.argmax())}). Put an adapted keras.layers.Normalization first."
        )
    return None


def _constant(x, y):
    """Return messages about inputs or targets that are the same in all rows."""
    found = []
    for part, name in ((x, "x"), (y, "y")):
        for path, leaf in named_leaves(part, name):
            array = leaf.array
            several = array.ndim and len(array) > 1 and array.dtype.kind in "fiub"
            if several and (array == array[:1]).all():
                found.append(f"{path} is the same in all {len(array)} rows of the batch.")
    return found


# ---- the step ------------------------------------------------------------------------------------


def step_findings(page, model, seen, y):
    """Add findings about outputs, gradients and units of a `Pass`."""
    messages = []
    for i, loss, target, output in outputs_of(model, y, seen.y_pred):
        messages += output_mistakes(loss, target, output, output_layer(model, i))
    page.add_all("outputs", messages, "they fit the loss")
    variables = seen.variables
    if not variables:
        page.add("weights", "no weight is trainable. Set `trainable = True` on a layer.", False)
        return
    lost = [v.path for v, g in zip(variables, seen.gradients, strict=True) if g is None]
    dead = seen.mistakes()
    norms = [float(np.linalg.norm(g)) for g in seen.gradients if g is not None]
    message = f"{len(lost)} variables get no gradient: {', '.join(lost[:5])}. Remove the layers, "
    message += "or call tape.explain(loss, variable)."
    flow = f"all {len(variables)} variables get a gradient, with norms from "
    flow += f"{min(norms, default=0):.2g} to {max(norms, default=0):.2g}"
    page.add_all("gradients", [message] if lost else [], "" if dead else flow)
    page.add_all("units", dead + seen.partly_dead(), "no layer is dead or saturated")
    side, rate = unusual_rate(model.optimizer)
    page.add_all(
        "rate", [f"{rate}."] if side else [], "the learning rate is usual for this optimizer"
    )


def outputs_of(model, y, y_pred):
    """Return [(index, loss, target, output)] of the compiled losses."""
    compiled = model._framework.training.loss
    if not compiled._rows:
        return []
    outputs = nest.flatten(y_pred)
    targets = compiled._outputs.spread(y, "y") if nest.is_nested(y) else [y] * len(outputs)
    return [(i, loss, targets[i], outputs[i]) for i, loss, *_ in compiled._rows]


def compare_with_baseline(page, model, y, y_pred, loss, of):
    """Add a finding: whether `loss` is below the loss of the best constant prediction."""
    found = baseline(model, y, y_pred)
    if found is None:
        page.add("loss", f"{loss:.4g} for {of}")
    elif loss < found:
        page.add("loss", f"{loss:.4g} for {of}, below {found:.4g} of the best constant output")
    else:
        page.add(
            "loss", f"{loss:.4g} for {of} is not below {found:.4g}, the loss of the best constant "
            "output: the model has learned nothing from x.", False,
        )  # fmt: skip


def baseline(model, y, y_pred):
    """Return the loss of the best constant prediction on a batch; None if it is not known.

    It is known for cross-entropies (predicting the classes' frequencies), squared errors (the mean)
    and absolute errors (the median).
    """
    known = outputs_of(model, y, y_pred)
    if len(known) != 1 or type(known[0][2]) is not Tensor:
        return None
    _, loss, target, output = known[0]
    labels = np.asarray(target.array, np.float64)
    kind = loss_kind(loss)
    if kind == "classes":
        numbers = class_numbers(target.array)
        if numbers is None or output.array.ndim != 2:
            return None
        shares = np.bincount(numbers - numbers.min()) / len(numbers)
        return float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
    if kind == "binary":
        shares = np.clip(labels.mean(0), 1e-7, 1 - 1e-7)
        return float(-(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).mean())
    if kind == "squared":
        return float(labels.var(0).mean())
    return float(np.abs(labels - np.median(labels, 0)).mean()) if kind == "absolute" else None
