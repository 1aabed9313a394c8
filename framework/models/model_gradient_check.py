"""model.check_gradients: compares the loss's gradients with finite differences, in float64."""

from framework.autodiff.debug.gradient_check import check_gradients
from framework.autodiff.debug.repeatable_function import in_double
from framework.core import nest
from framework.core.dtypes import as_dtype
from framework.core.errors import InvalidArgumentError
from framework.layers.core import InputLayer
from framework.losses import Loss, get
from framework.training.batch_plans import as_tensors
from framework.training.training_step import require_compiled


def check_model(model, x, y, sample_weight, loss, options):
    """Implement `Model.check_gradients`."""
    x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
    if not model.built:
        model(x)
    compute, losses = _loss_of(model, loss)
    inputs = nest.flatten(x)
    floating = [i for i, leaf in enumerate(inputs) if leaf.array.dtype.kind == "f"]

    def function(*moved):
        leaves = list(inputs)
        for i, leaf in zip(floating, moved, strict=True):
            leaves[i] = leaf
        batch = nest.pack_sequence_as(x, leaves)
        y_pred = model(batch, training=True)
        return compute(batch, y, y_pred, sample_weight)

    floats = [v for v in model.variables if v.array.dtype.kind == "f"]
    with _Double(model, losses), in_double(floats):
        return check_gradients(
            function, [inputs[i].array for i in floating], model.trainable_variables, **options
        )


def _loss_of(model, loss):
    """Return a function `compute(x, y, y_pred, sample_weight)` and the Loss objects in it."""
    if loss is None and model.compiled:
        losses = require_compiled(model, "check_gradients").loss.losses
        objects = [loss for loss in nest.flatten(losses) if isinstance(loss, Loss)]

        def compiled(x, y, y_pred, sample_weight):
            return model.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)

        return compiled, objects
    if loss is None:
        raise InvalidArgumentError(
            f"check_gradients: the model {model.name!r} is not compiled, so it has no loss. Pass "
            "loss=, or compile the model."
        )
    function = get(loss)

    def compute(x, y, y_pred, sample_weight):
        weights = () if sample_weight is None else (sample_weight,)
        total = function(y, y_pred, *weights)
        for part in model.losses:
            total = total + part
        return total

    return compute, [function] if isinstance(function, Loss) else []


class _Double:
    """A context manager in which the model's layers and the losses compute in float64."""

    def __init__(self, model, losses):
        layers = list(model._flatten_layers())
        starts = [getattr(layer._framework, "input_layer", None) for layer in layers]
        layers += [layer for layer in starts if layer is not None]
        inputs = [layer.output for layer in layers if isinstance(layer, InputLayer)]
        for layer in layers:
            if getattr(layer._framework, "graph", None) is not None:
                inputs += nest.flatten(layer.inputs)
        self._changed = [(layer, "dtype_policy", "float64") for layer in layers]
        double = as_dtype("float64")
        floating = [x for x in (*inputs, *losses) if x.dtype.is_floating]
        self._changed += [(x, "dtype", double) for x in floating]

    def __enter__(self):
        self._before = [getattr(owner, name) for owner, name, _ in self._changed]
        for owner, name, value in self._changed:
            setattr(owner, name, value)

    def __exit__(self, *_):
        for (owner, name, _), value in zip(self._changed, self._before, strict=True):
            setattr(owner, name, value)
