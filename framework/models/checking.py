"""model.check_gradients: the loss's gradients by all weights and the inputs, in float64."""

from framework.autodiff.check import check_gradients
from framework.autodiff.repeat import in_double
from framework.core import nest
from framework.core.dtypes import as_dtype
from framework.core.errors import InvalidArgumentError
from framework.layers.core import InputLayer
from framework.losses import Loss, get
from framework.training.inputs import as_tensors
from framework.training.model_steps import require_compiled


def check_model(model, x, y, sample_weight, loss, options):
    """See `Model.check_gradients`."""
    x, y, sample_weight = as_tensors(x), as_tensors(y), as_tensors(sample_weight)
    if not model.built:
        model(x)
    compute, losses = _loss_of(model, loss)
    inputs = nest.flatten(x)
    floating = [i for i, each in enumerate(inputs) if each.array.dtype.kind == "f"]

    def function(*moved):
        given = list(inputs)
        for i, each in zip(floating, moved, strict=True):
            given[i] = each
        batch = nest.pack_sequence_as(x, given)
        y_pred = model(batch, training=True)
        return compute(batch, y, y_pred, sample_weight)

    floats = [v for v in model.variables if v.array.dtype.kind == "f"]
    with _Double(model, losses), in_double(floats):
        return check_gradients(
            function, [inputs[i].array for i in floating], model.trainable_variables, **options
        )


def _loss_of(model, loss):
    """`compute(x, y, y_pred, sample_weight)` and the Loss objects in it."""
    if loss is None and model.compiled:
        losses = require_compiled(model, "check_gradients").loss.losses
        given = [each for each in nest.flatten(losses) if isinstance(each, Loss)]

        def compiled(x, y, y_pred, sample_weight):
            return model.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)

        return compiled, given
    if loss is None:
        raise InvalidArgumentError(
            f"check_gradients: the model {model.name!r} is not compiled; pass loss=, or compile it."
        )
    found = get(loss)

    def compute(x, y, y_pred, sample_weight):
        weights = () if sample_weight is None else (sample_weight,)
        total = found(y, y_pred, *weights)
        for part in model.losses:
            total = total + part
        return total

    return compute, [found] if isinstance(found, Loss) else []


class _Double:
    """Context in which the layers of a model, and losses, take and compute float64."""

    def __init__(self, model, losses):
        layers = list(model._flatten_layers())
        starts = [getattr(each._framework, "input_layer", None) for each in layers]
        layers += [each for each in starts if each is not None]
        inputs = [each.output for each in layers if isinstance(each, InputLayer)]
        for each in layers:
            if getattr(each._framework, "graph", None) is not None:
                inputs += nest.flatten(each.inputs)
        self._changed = [(layer, "dtype_policy", "float64") for layer in layers]
        double = as_dtype("float64")
        floating = [x for x in (*inputs, *losses) if x.dtype.is_floating]
        self._changed += [(x, "dtype", double) for x in floating]

    def __enter__(self):
        self._before = [getattr(thing, name) for thing, name, _ in self._changed]
        for thing, name, value in self._changed:
            setattr(thing, name, value)

    def __exit__(self, *_):
        for (thing, name, _), value in zip(self._changed, self._before, strict=True):
            setattr(thing, name, value)
