"""The general path of a layer call; `Layer.__call__` has the fast path.

The order: convert inputs to tensors of the compute dtype, check the input spec, build the layer,
determine `training` and masks, run `call` (symbolically on KerasTensors), add the activity penalty,
propagate masks.
"""

import warnings

import numpy as np

from framework.core import dtypes, nest
from framework.core.cast import cast
from framework.core.composite import Composite
from framework.core.conversion import array_of, tensor
from framework.core.errors import FrameworkError, InvalidArgumentError, SignatureError
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable
from framework.layers import input_spec
from framework.layers.building import finish_build, naming
from framework.layers.call_signature import signature_of
from framework.layers.symbolic_calls import detached, is_tensors, mask_of, remember, shapes_for

ANY = object()
"""A value of `LayerRecord.direct`: `call` gets tensors of every dtype without a cast."""

entries = [0]
"""The number of outermost calls so far; losses remember the number of the call that added them."""


# ---- the call ------------------------------------------------------------------------------------


def call(layer, args, kwargs):
    """Return `layer(*args, **kwargs)`."""
    original = args, kwargs
    signature = signature_of(layer)
    training, kwargs = _taken_training(layer, kwargs)
    args, kwargs = _checked(layer, args, kwargs)
    inputs = args[0] if args else kwargs.get(signature.first)
    if layer.input_spec is not None:
        input_spec.check(layer.input_spec, inputs, layer.name)
    shapes = None if layer.built else _build(layer, args, kwargs)
    kwargs, previous = _masks(signature, args, kwargs, inputs)
    symbolic = _any_symbolic(args) or _any_symbolic(kwargs)
    outputs = _run(layer, args, kwargs, training, inputs, previous, symbolic)
    if not layer.built:
        finish_build(layer, dict(zip(["input_shape"], shapes)))
    if symbolic:
        remember(layer, *original, outputs)
    elif layer.autocast and not _makes_masks(layer) and layer._framework.remat is None:
        layer._framework.direct = layer.input_dtype.np if layer._convert_input_args else ANY
    return outputs


def _makes_masks(layer):
    """Return whether the layer's outputs may have a mask although its inputs have none."""
    own = layer._framework.makes_masks
    return type(layer)._framework.makes_masks if own is None else own


def _taken_training(layer, kwargs):
    """Return `training` for this call and the calls inside it, and `kwargs` without `training`."""
    training = kwargs.get("training")
    if "training" in kwargs:
        kwargs = {k: v for k, v in kwargs.items() if k != "training"}
    if training is None:
        outer = thread.call
        inherited = outer is not None and outer[1] is not None
        training = outer[1] if inherited else signature_of(layer).training
    return training, kwargs


def _checked(layer, args, kwargs):
    """Return the arguments with arrays converted to tensors."""
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
    """Call `build` if the class defines it (otherwise `call` builds); return the input shapes."""
    signature = signature_of(layer)
    given = signature.bind(args, kwargs)
    if missing := [name for name in signature.required if name not in given]:
        raise SignatureError(
            f"{type(layer).__name__}.call() of layer {layer.name!r}: the argument {missing[0]!r} "
            f"is missing; call() takes {', '.join(signature.names)}."
        )
    if thread.call is None:
        layer._framework.built_for = _specs_of(args, kwargs)
    shapes = shapes_for(signature.build_names or ["input_shape"], signature, args, kwargs, layer)
    if signature.build_names is not None:
        layer.build(*shapes)
    else:
        with naming(layer) as path:
            layer._framework.path = path
    return shapes


def _specs_of(args, kwargs):
    """Return TensorSpecs (any batch size) of positional tensors; None if there is anything else."""
    if kwargs or not all(isinstance(a, (Tensor, KerasTensor)) for a in nest.flatten(args)):
        return None
    return nest.map_structure(
        lambda a: TensorSpec((None, *a.shape[1:]) if a.shape else (), a.dtype), list(args)
    )


def _run(layer, args, kwargs, training, inputs, previous, symbolic):
    """Run `call`, or its symbolic form, with this layer as the innermost one being called."""
    outer = thread.call
    signature = signature_of(layer)
    by_position = signature.names[: len(args)]
    if signature.takes_training and training is not None and "training" not in by_position:
        kwargs = {**kwargs, "training": training}
    if outer is None and not symbolic:
        entries[0] += 1
        layer._framework.entered = entries[0]
    thread.call = (layer, training, outer)
    stack = thread.stack
    notify(stack, layer)
    try:
        if symbolic:
            outputs = detached(layer.compute_output_spec(*args, **kwargs))
        else:
            compute = layer.call
            if layer._framework.remat is not None:
                compute = layer.rematerialized_call(compute, *args, **kwargs)
            outputs = compute(*args, **kwargs)
            if layer.activity_regularizer is not None:
                _add_activity_loss(layer, outputs)
        _propagate_masks(layer, inputs, outputs, previous)
        return outputs
    except FrameworkError as error:
        name_layer(error, layer)
        raise
    finally:
        thread.call = outer
        notify(stack, None if outer is None else outer[0])


def notify(stack, layer):
    """Notify the recorders in `stack` that `layer` is now the innermost layer being called."""
    for recorder in stack:
        recorder.layer_call(layer)


def name_layer(error, layer):
    """Append the innermost layer's name to the error message."""
    if getattr(error, "layer", None) is None:
        error.layer = layer
        message = str(error)
        if repr(layer.name) not in message:
            error.args = (f"{message} [in layer {layer.name!r}, a {type(layer).__name__}]",)


# ---- arguments -----------------------------------------------------------------------------------


def _converted(layer, args, kwargs):
    dtype = layer.input_dtype if layer.autocast else None

    # Built-in layers expect dense tensors, except those that declare `takes_sparse`.
    dense = type(layer).__module__.startswith("framework.layers.") and not (
        type(layer)._framework.takes_sparse
    )

    def convert(leaf):
        if dense and isinstance(leaf, Composite):
            leaf = tensor(leaf)
        return as_input(leaf, dtype)

    args = tuple(nest.map_structure(convert, a) for a in args)
    return args, {k: nest.map_structure(convert, v) for k, v in kwargs.items()}


def as_input(value, dtype):
    """Return a tensor for an array-like value, cast to `dtype` if it is floating.

    A NumPy array of the right dtype is not copied; other values are returned unchanged.
    """
    if isinstance(value, CoreVariable):
        value = value.read()
    elif isinstance(value, Composite):
        return value._with_parts([as_input(part, dtype) for part in value._parts()])
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
    converted = cast(value, dtype=dtype.np)
    mask = mask_of(value)
    if mask is not None:
        converted._keras_mask = mask
    return converted


def _refuse_non_tensors(layer, args):
    for leaf in nest.flatten(args):
        if leaf is not None and not isinstance(leaf, (Tensor, Operand, Composite)):
            raise InvalidArgumentError(
                "Only input tensors may be passed as positional arguments. The following argument "
                f"value should be passed as a keyword argument: {leaf!r} (of type "
                f"{type(leaf).__name__}, to layer {layer.name!r}). Convert lists of numbers "
                "with tf.constant(...)."
            )


def _any_symbolic(structure):
    return any(isinstance(leaf, KerasTensor) for leaf in nest.flatten(structure))


# ---- masks ---------------------------------------------------------------------------------------


def _masks(signature, args, kwargs, inputs):
    """Return `kwargs` plus the input masks that `call` accepts, and the mask of `inputs`."""
    if signature.masks:
        tensors = {k: v for k, v in signature.bind(args, kwargs).items() if is_tensors(v)}
        inner = [k for k in tensors if k not in signature.masks]
        for name in signature.masks:
            source = (
                name.removesuffix("_mask")
                if name != "mask"
                else inner[0]
                if len(inner) == 1
                else None
            )
            if tensors.get(name) is None and source in tensors:
                mask = nest.map_structure(mask_of, tensors[source])
                if any(m is not None for m in nest.flatten(mask)):
                    kwargs = {**kwargs, name: mask}
    if kwargs.get("mask") is not None:
        return kwargs, kwargs["mask"]
    return kwargs, nest.map_structure(mask_of, inputs)


def _propagate_masks(layer, inputs, outputs, previous):
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


def _add_activity_loss(layer, outputs):
    """Add the activity regularizer's loss, divided by the batch size."""
    for output in nest.flatten(outputs):
        if type(output) is Tensor:
            if not output.dtype.is_inexact:
                output = cast(output, dtype=dtypes.floatx().np)  # noqa: PLW2901
            loss = layer.activity_regularizer(output)
            layer.add_loss(loss / max(output.shape[0], 1) if output.ndim else loss)
