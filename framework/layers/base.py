"""Layer, the base class of layers: weights, calls, losses, dtype policy and config."""

from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from framework import constraints, initializers, regularizers
from framework.core import dtypes, nest
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.change_counters import changes
from framework.core.configs import copy_of, serialize_value
from framework.core.configurable import (
    Configurable,
    bind,
    fields_of,
    own_init,
    serialize_field,
)
from framework.core.dtype_policy import DTypePolicyMap, PolicyField
from framework.core.dtype_policy import get as dtype_policy_of
from framework.core.errors import FrameworkError, InvalidArgumentError, suggest
from framework.core.keras2_arguments import name_first
from framework.core.module import living
from framework.core.recorders import thread
from framework.core.stored import load_variables, store_variables
from framework.core.symbolic import calling
from framework.core.tensor import Tensor, masks
from framework.core.torch_words import LayerWords
from framework.core.variable import CoreVariable, KerasVariable
from framework.layers import calls, rematerialization, stateless_calls, symbolic_calls
from framework.layers.arguments import checked_name, checked_shape, take_input_shape, undisturbed
from framework.layers.autoconfig import with_init_arguments
from framework.layers.building import around, making_variables, naming
from framework.layers.call_signature import signature_of
from framework.layers.input_spec import InputSpec
from framework.layers.tracking import LayerRecord, VariableOwner, add_owned


class _BaseFields(Configurable, kw_only=True):
    """The keyword arguments of every layer."""

    # Type checkers must not see a field here, so that a subclass can redeclare the argument and
    # thereby choose its position in the constructor.
    if TYPE_CHECKING:
        activity_regularizer: ClassVar[regularizers.Regularizer | None]
    else:
        activity_regularizer: regularizers.RegularizerField = None
    trainable: bool = True
    dtype: PolicyField = None
    autocast: bool = True
    name: str | None = None


class Layer(
    VariableOwner,
    LayerWords,
    _BaseFields,
    record=LayerRecord,
    signature=None,
    builds_at_init=False,
    makes_masks=False,
    takes_lists=False,
    takes_sparse=False,
    locks=True,
    no_settings=frozenset(("built", "name")),
):
    """The base class of layers.

    A subclass creates weights with `add_weight` in `build(input_shape)` and computes in
    `call(inputs)`; `call` may take `training` and `mask`. Constructor arguments are typed fields,
    or parameters of an `__init__` that calls `super().__init__(**kwargs)`.

    Args:
        activity_regularizer: a penalty on the outputs.
        trainable: whether training changes the variables.
        dtype: the dtype or dtype policy of weights and computation; floatx if None.
        autocast: whether to cast floating inputs to the compute dtype.
        name: unique in a model; derived from the class name if None.

    Example:
        >>> import numpy as np
        >>> class Scale(Layer):
        ...     def build(self, input_shape):
        ...         self.factor = self.add_weight(shape=(input_shape[-1],), initializer="ones")
        ...     def call(self, inputs):
        ...         return inputs * self.factor
        >>> layer = Scale()
        >>> layer(np.ones((2, 3))).shape, layer.count_params()
        (TensorShape([2, 3]), 3)
    """

    supports_masking = False
    input_spec = None
    _convert_input_args = True
    _allow_non_tensor_positional_args = False

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        cls._framework.signature = None
        if "build" in cls.__dict__:
            cls.build = around(cls.build)
        if "compute_mask" in cls.__dict__:
            cls.supports_masking = True
            cls._framework.makes_masks = settings.get("makes_masks", True)

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        own = self.__dict__["_framework"] = cls._framework.record()
        own.remat = thread.remat
        self.__dict__["built"] = False
        living.add(self)
        if own_init(cls):
            own.init_arguments = (args, kwargs)
        return self

    def __init__(self, *args: Any, **kwargs: Any):
        cls, own = type(self), self._framework
        own.initialized = True
        take_input_shape(self, kwargs)
        unknown = {k: v for k, v in kwargs.items() if k not in fields_of(cls)}
        if unknown:
            hint = suggest(next(iter(unknown)), fields_of(cls))
            raise InvalidArgumentError(
                f"Unrecognized keyword arguments passed to {cls.__name__}: {unknown}{hint}"
            )
        values = bind(cls, args, kwargs)
        own.trainable = values.pop("trainable")
        if not isinstance(kwargs.get("trainable"), (bool, np.bool_, NoneType)):
            raise InvalidArgumentError(
                f"Expected `trainable` to be a boolean. Received: trainable={kwargs['trainable']} "
                f"(of type {type(kwargs['trainable'])})"
            )
        own.dtype_policy = values.pop("dtype")
        self.name = checked_name(values.pop("name"), cls)
        for name, value in values.items():
            setattr(self, name, value)
        self.__post_init__()
        if cls._framework.builds_at_init and cls.build is Layer.build:
            self.built = True

    __init__._from_fields = True

    # ---- calling ----

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer by a fast path for one tensor of the right dtype, else by `calls.call`."""
        record = self._framework
        direct = record.direct
        if direct is not None and len(args) == 1:
            (x,) = args
            if type(x) is Tensor and (not kwargs or (len(kwargs) == 1 and "training" in kwargs)):
                array = x.array
                spec = self.input_spec
                if (
                    (array.dtype is direct or direct is calls.ANY or array.dtype.kind not in "fV")
                    and (spec is None or (type(spec) is InputSpec and spec.fits(array.shape)))
                    and self.activity_regularizer is None
                    and (not masks.in_use or getattr(x, "_keras_mask", None) is None)
                ):
                    return _call_on(self, record, x, kwargs.get("training"))
        return calls.call(self, args, kwargs)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; subclasses override this method."""
        raise NotImplementedError(
            f"Layer {type(self).__name__} does not have a `call` method implemented."
        )

    def stateless_call(
        self, trainable_variables: Any, non_trainable_variables: Any, *args: Any,
        return_losses: bool = False, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Call the layer with the given values of its variables; the variables do not change.

        Args:
            trainable_variables: a value for each of the layer's `trainable_variables`.
            non_trainable_variables: a value for each of its `non_trainable_variables`.
            *args, **kwargs: the arguments of the call.
            return_losses: whether to also return a list of the losses of the call.

        Returns:
            (outputs, new values of `non_trainable_variables`), and the losses if `return_losses`.

        Raises:
            ValueError: the layer is not built, or the number of values is wrong.
        """
        return stateless_calls.stateless_call(
            self, trainable_variables, non_trainable_variables, args, kwargs, return_losses
        )

    def symbolic_call(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs for these KerasTensors as KerasTensors."""
        return self.compute_output_spec(*args, **kwargs)

    def rematerialized_call(self, layer_call: Any, *args: Any, **kwargs: Any) -> Any:
        """Return `layer_call`, rematerialized if the layer was created in a `RematScope`."""
        return rematerialization.rematerialized(
            self, self._framework.remat, layer_call, args, kwargs
        )

    def compute_mask(self, inputs: TensorLike, previous_mask: Any):
        """Return the mask of the outputs; by default it is the mask of the inputs."""
        return previous_mask

    # ---- building ----

    @around
    def build(self, input_shape: ShapeLike = None, **shapes: Any):
        """Create the weights for inputs of this shape; by default build the inner layers."""
        if self._framework.layers and (input_shape is not None or shapes):
            args = () if input_shape is None else (input_shape,)
            symbolic_calls.run_symbolically(
                self, *symbolic_calls.arguments_of_shapes(self, args, shapes)
            )

    @name_first(
        "name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint"
    )  # fmt: skip
    def add_weight(
        self, shape: ShapeLike = None, initializer: Any = None, dtype: DTypeLike = None,
        trainable: bool = True, autocast: bool = True, regularizer: Any = None,
        constraint: Any = None, aggregation: Any = "none", overwrite_with_gradient: bool = False,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Return a new variable of this layer.

        Keras 2's argument order also works: name, shape, dtype, initializer, regularizer,
        trainable, constraint.

        Args:
            shape: a tuple of ints; None for a scalar.
            initializer: if None, "glorot_uniform" for floating dtypes and "zeros" for others.
            dtype: the variable dtype of the layer if None.
            regularizer: a penalty, which is part of `losses`.
            constraint: a function applied after each update.
        """
        shape = checked_shape(self, shape, name)
        dtype = dtypes.as_dtype(dtype or self.variable_dtype)
        trainable = trainable is None or trainable
        if initializer is None:
            initializer = "glorot_uniform" if dtype.is_floating else "zeros"
        budget = thread.budget
        if budget is not None and budget.has_values and _loads_all(self):
            # zeros, because the model file sets the value later, and random values are slow to draw
            initializer = "zeros"
        with naming(self), making_variables():
            variable = KerasVariable(
                initializers.get(initializer), shape=shape, dtype=dtype, trainable=trainable,
                autocast=autocast, aggregation=aggregation, name=name,
            )  # fmt: skip
        variable._regularizer = regularizers.get(regularizer)
        variable._constraint = constraints.get(constraint)
        variable.overwrite_with_gradient = overwrite_with_gradient
        add_owned(self, "trainable_variables" if trainable else "non_trainable_variables", variable)
        return variable

    add_variable = add_weight

    def get_build_config(self):
        """Return the input shapes, from which `build_from_config` creates the weights again."""
        shapes = self._framework.build_shapes
        if not shapes:
            return None
        if len(shapes) == 1:
            return {"input_shape": next(iter(shapes.values()))}
        return {"shapes_dict": shapes}

    def build_from_config(self, config: Any) -> None:
        """Create the weights for the shapes that `get_build_config` returned."""
        if config and "input_shape" in config:
            self.build(_shapes(config["input_shape"]))
        elif config and "shapes_dict" in config:
            self.build(**{k: _shapes(shape) for k, shape in config["shapes_dict"].items()})

    # ---- files ----

    def save_own_variables(self, store: Any) -> None:
        """Write the layer's own variables, without those of inner layers, to a store.

        Args:
            store: a mapping from names to arrays. The default names are "0", "1", ...
        """
        record = self._framework
        store_variables([*record.trainable_variables, *record.non_trainable_variables], store)

    def load_own_variables(self, store: Any) -> None:
        """Set the layer's own variables from what `save_own_variables` stored."""
        record = self._framework
        variables = [*record.trainable_variables, *record.non_trainable_variables]
        load_variables(variables, store, f"Layer {self.name!r} ({type(self).__name__})")

    # ---- shapes ----

    def compute_output_spec(self, *args: Any, **kwargs: Any):
        """Return the outputs for these inputs as KerasTensors, without changing the layer."""
        if type(self).compute_output_shape is not Layer.compute_output_shape:
            shapes = symbolic_calls.output_shapes(self, args, kwargs)
            return symbolic_calls.spec_from_shapes(self, shapes)
        return spec_by_call(self, args, kwargs)

    def compute_output_shape(self, *args: Any, **kwargs: Any) -> Any:
        """Return the shape of the outputs for an input shape, by a symbolic call."""
        args, kwargs = symbolic_calls.arguments_of_shapes(self, args, kwargs)
        with undisturbed(), calling(self.name):
            return symbolic_calls.shape_of(_built_or_copy(self)(*args, **kwargs))

    @property
    def input(self):
        """The KerasTensors passed to the layer's first symbolic call."""
        args, kwargs, _ = _symbolic_call(self)
        return args[0] if args else kwargs[signature_of(self).first]

    @property
    def output(self):
        """The KerasTensors that the layer's first symbolic call returned."""
        return _symbolic_call(self)[2]

    # ---- losses ----

    def add_loss(self, loss: Any) -> None:
        """Add 0-d tensors to the losses of the current call."""
        if thread.symbolic is not None:
            return
        link, entry = thread.call, calls.entries[0]
        while link is not None:
            entry, link = link[0]._framework.entered, link[2]
        record = self._framework
        if record.losses_entry != entry:
            record.losses, record.losses_entry = [], entry
        for value in nest.flatten(loss):
            if not isinstance(value, (Tensor, CoreVariable)):
                raise InvalidArgumentError(
                    f"add_loss: expected a tensor, got {value!r} (layer {self.name!r})."
                )
            record.losses.append(value)
            for recorder in thread.stack:
                recorder.loss_added(value)

    @property
    def losses(self):
        """The last call's losses (`add_loss`, activity penalties), then the weights' penalties."""
        losses = []
        for layer in self._flatten_layers():
            record = layer._framework
            if record.losses and record.losses_entry >= self._framework.entered:
                losses += record.losses
        penalties = (getattr(v, "regularizer", None) for v in self.trainable_weights)
        return losses + [p(v) for p, v in zip(penalties, self.trainable_weights) if p is not None]

    # ---- dtype, names, config ----

    @property
    def dtype_policy(self):
        policies = self._framework.dtype_policy
        if isinstance(policies, DTypePolicyMap):
            return policies[self.path or self.name]
        return policies

    @dtype_policy.setter
    def dtype_policy(self, value: TensorLike):
        record = self._framework
        old = record.dtype_policy
        record.dtype_policy, record.direct = dtype_policy_of(value), None
        if self.built:
            changes.note(self, "dtype_policy", old, record.dtype_policy)

    @property
    def dtype(self):
        """The dtype of the weights."""
        return self.dtype_policy.variable_dtype

    variable_dtype = dtype

    @property
    def compute_dtype(self):
        """The dtype of the computation, to which floating inputs are cast."""
        return self.dtype_policy.compute_dtype

    @property
    def input_dtype(self):
        return self.compute_dtype

    @property
    def quantization_mode(self):
        return self.dtype_policy.quantization_mode

    @property
    def path(self):
        """The names of the outer layers and this layer, joined by "/"; None until it is built."""
        return self._framework.path

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain values, for `from_config`."""
        config = {
            "name": self.name,
            "trainable": self._framework.trainable,
            "dtype": serialize_value(self._framework.dtype_policy),
        }
        if self.activity_regularizer is not None:
            config["activity_regularizer"] = serialize_value(self.activity_regularizer)
        for name, field in fields_of(type(self)).items():
            if not field.keyword_only:
                config[name] = serialize_field(field, getattr(self, name))
        if own_init(type(self)) and type(self).get_config in _BASE_CONFIGS:
            config = with_init_arguments(self, config)
        return config

    @classmethod
    def from_config(cls, config: Any):
        """Return a layer for a config that `get_config` returned.

        A dtype policy is passed as its name, because a constructor may compare the argument.
        """
        policy = config.get("dtype")
        if isinstance(policy, dict) and policy.get("class_name") == "DTypePolicy":
            config = {**config, "dtype": policy["config"]["name"]}
        return cls(**config)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


Layer._framework.default_build = Layer.build

_BASE_CONFIGS = {Layer.get_config}
"""The `get_config` methods that know no arguments of a user-defined `__init__`."""


def _loads_all(layer):
    """Return whether loading sets all variables: no user class overrides `load_own_variables`."""
    return type(layer).load_own_variables.__module__.startswith("framework.")


def _shapes(value):
    """Convert the lists in a nest of shapes to tuples: JSON has no tuples."""
    if isinstance(value, dict):
        return {key: _shapes(part) for key, part in value.items()}
    if isinstance(value, list) and any(isinstance(part, (list, dict)) for part in value):
        return [_shapes(part) for part in value]
    return tuple(value) if isinstance(value, list) else value


def _call_on(layer, own, x, training):
    outer = thread.call
    signature = type(layer)._framework.signature
    if outer is None:
        calls.entries[0] += 1
        own.entered = calls.entries[0]
    elif training is None:
        training = outer[1]
    if training is None:
        training = signature.training
    thread.call = (layer, training, outer)
    stack = thread.stack
    for recorder in stack:
        recorder.layer_call(layer)
    try:
        if training is not None and signature.takes_training:
            return layer.call(x, training=training)
        return layer.call(x)
    except FrameworkError as error:
        calls.name_layer(error, layer)
        raise
    finally:
        thread.call = outer
        for recorder in stack:
            recorder.layer_call(None if outer is None else outer[0])


def spec_by_call(layer, args, kwargs):
    """Return the outputs of `call` as KerasTensors, without changing the layer."""
    if thread.call is not None and thread.call[0] is layer:
        return symbolic_calls.run_symbolically(layer, args, kwargs)
    with undisturbed(), calling(layer.name):  # calling the layer also builds it and casts inputs
        return symbolic_calls.detached(_built_or_copy(layer)(*args, **kwargs))


def _built_or_copy(layer):
    """Return the layer if it is built, else a copy, so that symbolic calls build the copy only."""
    try:
        return layer if layer.built else copy_of(layer)
    except NotImplementedError:  # the layer has no config from which to copy it
        return layer


def _symbolic_call(layer):
    if layer._framework.first_call is None:
        raise AttributeError(
            f"The layer {layer.name!r} has never been called on KerasTensors and thus has no "
            "defined input and output."
        )
    return layer._framework.first_call
