"""Calling a layer: everything beyond the one case that `Layer.__call__` does itself.

In order: inputs become tensors of the compute dtype, the input spec is checked, the layer is built,
`training` and masks are found, `call` runs (on KerasTensors: symbolically), activity is penalised,
masks go on.
"""

import warnings

import numpy as np

from framework.core import dtypes, nest
from framework.core.conversion import array_of
from framework.core.doors import cast, tensor
from framework.core.errors import FrameworkError, InvalidArgumentError
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.layers import spec
from framework.layers.building import finish_build, naming
from framework.layers.facts import facts_of
from framework.layers.symbolic import fresh, is_tensors, mask_of, remember, shapes_for

ANY = object()
"""In `direct` of a layer's record: tensors of every dtype are passed to `call` as they are."""

entries = [0]
"""How many outermost calls there were: losses belong to the call in which they were added."""


# ---- the call ------------------------------------------------------------------------------------


def call(layer, args, kwargs):
    """`layer(*args, **kwargs)`, whatever they are."""
    original = args, kwargs
    facts = facts_of(layer)
    training, kwargs = _taken_training(layer, kwargs)
    args, kwargs = _checked(layer, args, kwargs)
    inputs = args[0] if args else kwargs.get(facts.first)
    if layer.input_spec is not None:
        spec.check(layer.input_spec, inputs, layer.name)
    shapes = None if layer.built else _build(layer, args, kwargs)
    kwargs, previous = _masks(facts, args, kwargs, inputs)
    symbolic = _any_symbolic(args) or _any_symbolic(kwargs)
    outputs = _run(layer, args, kwargs, training, inputs, previous, symbolic)
    if not layer.built:
        finish_build(layer, dict(zip(["input_shape"], shapes)))
    if symbolic:
        remember(layer, *original, outputs)
    elif layer.autocast and not _makes_masks(layer):
        layer._framework.direct = layer.input_dtype.np if layer._convert_input_args else ANY
    return outputs


def _makes_masks(layer):
    """Whether outputs may have a mask where the inputs have none."""
    own = layer._framework.makes_masks
    return type(layer)._framework.makes_masks if own is None else own


def _taken_training(layer, kwargs):
    """The value of `training` for this call and those inside, and the kwargs without it."""
    training = kwargs.get("training")
    if "training" in kwargs:
        kwargs = {k: v for k, v in kwargs.items() if k != "training"}
    if training is None:
        outer = thread.call
        inherited = outer is not None and outer[1] is not None
        training = outer[1] if inherited else facts_of(layer).training
    return training, kwargs


def _checked(layer, args, kwargs):
    """The arguments with tensors for all that holds arrays."""
    if not layer._framework.initialized:
        raise RuntimeError(
            f"In layer {type(layer).__name__!r}, you forgot to call `super().__init__()` as the "
            "first statement in the `__init__()` method. Go add it!"
        )
    if type(layer)._framework.takes_lists:
        args = tuple([tensor(a) for a in args])
    if layer._convert_input_args:
        args, kwargs = _converted(layer, args, kwargs)
    if not layer._allow_non_tensor_positional_args:
        _refuse_non_tensors(layer, args)
    return args, kwargs


def _build(layer, args, kwargs):
    """Build the layer for these inputs, unless running it is what builds it; their shapes."""
    facts = facts_of(layer)
    shapes = shapes_for(facts.build_names or ["input_shape"], facts, args, kwargs, layer)
    if facts.build_names is not None:
        layer.build(*shapes)
    else:
        with naming(layer) as path:
            layer._framework.path = path
    return shapes


def _run(layer, args, kwargs, training, inputs, previous, symbolic):
    """`call` with the layer as the innermost open call."""
    outer = thread.call
    facts = facts_of(layer)
    if facts.takes_training and training is not None and "training" not in facts.names[: len(args)]:
        kwargs = {**kwargs, "training": training}
    if outer is None and not symbolic:
        entries[0] += 1
        layer._framework.entered = entries[0]
    thread.call = (layer, training, outer)
    stack = thread.stack
    tell(stack, layer)
    try:
        if symbolic:
            outputs = fresh(layer.compute_output_spec(*args, **kwargs))
        else:
            outputs = layer.call(*args, **kwargs)
            if layer.activity_regularizer is not None:
                _penalise(layer, outputs)
        _pass_masks_on(layer, inputs, outputs, previous)
        return outputs
    except FrameworkError as error:
        name_layer(error, layer)
        raise
    finally:
        thread.call = outer
        tell(stack, None if outer is None else outer[0])


def tell(stack, layer):
    """Tell these recorders that `layer` is the innermost one being called from here on."""
    for recorder in stack:
        recorder.layer_call(layer)


def name_layer(error, layer):
    """Let the error's message end in the layer in which it arose: the innermost one."""
    if getattr(error, "layer", None) is None:
        error.layer = layer
        message = str(error)
        if repr(layer.name) not in message:
            error.args = (f"{message} [in layer {layer.name!r}, a {type(layer).__name__}]",)


# ---- arguments -----------------------------------------------------------------------------------


def _converted(layer, args, kwargs):
    dtype = layer.input_dtype if layer.autocast else None

    def convert(leaf):
        return as_input(leaf, dtype)

    args = tuple(nest.map_structure(convert, a) for a in args)
    return args, {k: nest.map_structure(convert, v) for k, v in kwargs.items()}


def as_input(value, dtype):
    """A tensor for anything that holds an array, floating ones in `dtype` if it is not None.

    A NumPy array of the right dtype is wrapped as it is; what is no array passes unchanged.
    """
    if isinstance(value, CoreVariable):
        value = value.read()
    elif not isinstance(value, (Tensor, Operand)):
        if not hasattr(value, "__array__"):
            return value
        array = (
            value if type(value) is np.ndarray and value.dtype.kind in "fiub" else array_of(value)
        )
        if dtype is not None and array.dtype.kind == "f" and dtype.is_floating:
            array = array.astype(dtype.np, copy=False)
        return Tensor(array)
    if dtype is None or value.dtype is dtype or not (value.dtype.is_floating and dtype.is_floating):
        return value
    made = cast(value, dtype=dtype.np)
    mask = mask_of(value)
    if mask is not None:
        made._keras_mask = mask
    return made


def _refuse_non_tensors(layer, args):
    for leaf in nest.flatten(args):
        if leaf is not None and not isinstance(leaf, (Tensor, Operand)):
            raise InvalidArgumentError(
                "Only input tensors may be passed as positional arguments. The following argument "
                f"value should be passed as a keyword argument: {leaf!r} (of type "
                f"{type(leaf).__name__}, to layer {layer.name!r}). Lists of numbers become a "
                "tensor by tf.constant(...)."
            )


def _any_symbolic(structure):
    return any(isinstance(leaf, KerasTensor) for leaf in nest.flatten(structure))


# ---- masks ---------------------------------------------------------------------------------------


def _masks(facts, args, kwargs, inputs):
    """kwargs with the masks that `call` takes, and the mask of the inputs."""
    if facts.masks:
        tensors = {k: v for k, v in facts.bind(args, kwargs).items() if is_tensors(v)}
        inner = [k for k in tensors if k not in facts.masks]
        for name in facts.masks:
            source = (
                name.removesuffix("_mask")
                if name != "mask"
                else inner[0]
                if len(inner) == 1
                else None
            )
            if tensors.get(name) is None and source in tensors:
                found = nest.map_structure(mask_of, tensors[source])
                if any(m is not None for m in nest.flatten(found)):
                    kwargs = {**kwargs, name: found}
    if kwargs.get("mask") is not None:
        return kwargs, kwargs["mask"]
    return kwargs, nest.map_structure(mask_of, inputs)


def _pass_masks_on(layer, inputs, outputs, previous):
    if not layer.supports_masking:
        if any(m is not None for m in nest.flatten(previous)):
            warnings.warn(
                f"Layer {layer.name!r} (of type {type(layer).__name__}) was passed an input with a "
                "mask attached to it. However, this layer does not support masking and will "
                "therefore destroy the mask information. Downstream layers will not see the mask.",
                stacklevel=3,
            )
        return
    flat = nest.flatten(outputs)
    if all(mask_of(x) is not None for x in flat):
        return
    masks = layer.compute_mask(inputs, previous)
    if masks is None:
        return
    for x, mask in zip(flat, nest.flatten(masks)):
        if mask is not None and mask_of(x) is None and isinstance(x, (Tensor, Operand)):
            x._keras_mask = mask


# ---- losses --------------------------------------------------------------------------------------


def _penalise(layer, outputs):
    """The activity regularizer's loss, per row of the batch."""
    for output in nest.flatten(outputs):
        if type(output) is Tensor:
            if not output.dtype.is_inexact:
                output = cast(output, dtype=dtypes.floatx().np)  # noqa: PLW2901
            loss = layer.activity_regularizer(output)
            layer.add_loss(loss / max(output.shape[0], 1) if output.ndim else loss)
