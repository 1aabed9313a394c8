"""Layer: weights, the call that uses them, and what Keras's users lean on around both."""

from framework import constraints, initializers, regularizers
from framework.core import dtypes, nest, policy
from framework.core.changes import changes
from framework.core.configurable import (
    Configurable,
    bind,
    fields_of,
    own_init,
    serialize_field,
    serialize_value,
)
from framework.core.errors import FrameworkError, InvalidArgumentError, suggest
from framework.core.older import name_first
from framework.core.recorders import thread
from framework.core.symbolic import calling
from framework.core.tensor import Tensor, masks
from framework.core.variable import CoreVariable, KerasVariable
from framework.layers import calls, symbolic
from framework.layers.arguments import checked_name, checked_shape, take_input_shape, undisturbed
from framework.layers.autoconfig import with_init_arguments
from framework.layers.building import around, making_variables, naming
from framework.layers.owner import Owner
from framework.layers.spec import InputSpec


class _BaseFields(Configurable, base_fields=True):
    """What every layer can be given, by keyword."""

    activity_regularizer: regularizers.RegularizerField = None
    trainable: bool = True
    dtype: policy.PolicyField = None
    autocast: bool = True
    name: str = None


class Layer(Owner, _BaseFields):
    """Base of layers.

    A subclass makes its weights in `build(input_shape)` with `add_weight` and computes in
    `call(inputs)`; `call` may take `training` and `mask`. Constructor arguments are declared as
    typed fields, or taken by an `__init__` that calls `super().__init__(**kwargs)`.

    Args:
        activity_regularizer: penalises outputs.
        trainable: whether its variables are trained.
        dtype: of weights and computation; floatx where None.
        autocast: bring floating inputs to the compute dtype.
        name: unique in a model; made from the class's name where None.

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
    _builds_at_init = False  # True in classes that have nothing to build
    _convert_input_args = True
    _allow_non_tensor_positional_args = False
    _takes_lists = False  # whether a list of numbers is an array, as where data are prepared
    _input_shape_arg = None
    _makes_masks = False  # whether outputs may have a mask where the inputs have none
    _initialized = _building = False
    _entered = 0
    _its_facts = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._its_facts = None
        if "build" in cls.__dict__:
            cls.build = around(cls.build)
        if "compute_mask" in cls.__dict__:
            cls.supports_masking = True
            cls._makes_masks = cls.__dict__.get("_makes_masks", True)

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._begin_tracking()
        self.__dict__.update(
            built=False, _path=None, _losses=[], _losses_entry=0, _direct=None, _first_call=None,
            _build_shapes=None, _trainable=True,
        )  # fmt: skip
        if own_init(cls):
            self.__dict__["_init_arguments"] = (args, kwargs)
        return self

    def __init__(self, *args, **kwargs):
        cls = type(self)
        self.__dict__["_initialized"] = True
        take_input_shape(self, kwargs)
        unknown = {k: v for k, v in kwargs.items() if k not in fields_of(cls)}
        if unknown:
            hint = suggest(next(iter(unknown)), fields_of(cls))
            raise InvalidArgumentError(
                f"Unrecognized keyword arguments passed to {cls.__name__}: {unknown}{hint}"
            )
        values = bind(cls, args, kwargs)
        self.__dict__["_trainable"] = values.pop("trainable")
        self.__dict__["_dtype_policy"] = values.pop("dtype")
        self.name = checked_name(values.pop("name"), cls)
        for name, value in values.items():
            setattr(self, name, value)
        self.__post_init__()
        if self._builds_at_init and cls.build is Layer.build:
            self.built = True

    __init__._from_fields = True

    @property
    def _facts(self):
        cls = type(self)
        if cls._its_facts is None:
            cls._its_facts = calls.Facts(cls, Layer.build)
        return cls._its_facts

    # ---- calling ----

    def __call__(self, *args, **kwargs):
        """`call` on one tensor of the right dtype, straight away; anything else by `calls.call`."""
        direct = self._direct
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
                    return self._call_on(x, kwargs.get("training"))
        return calls.call(self, args, kwargs)

    def _call_on(self, x, training):
        outer = thread.call
        facts = type(self)._its_facts
        if outer is None:
            calls.entries[0] += 1
            self.__dict__["_entered"] = calls.entries[0]
        elif training is None:
            training = outer[1]
        if training is None:
            training = facts.training
        thread.call = (self, training, outer)
        stack = thread.stack
        for recorder in stack:
            recorder.layer_call(self)
        try:
            if training is not None and facts.takes_training:
                return self.call(x, training=training)
            return self.call(x)
        except FrameworkError as error:
            calls.name_layer(error, self)
            raise
        finally:
            thread.call = outer
            for recorder in stack:
                recorder.layer_call(None if outer is None else outer[0])

    def call(self, *args, **kwargs):
        """What the layer computes."""
        raise NotImplementedError(
            f"Layer {type(self).__name__} does not have a `call()` method implemented."
        )

    def compute_mask(self, inputs, previous_mask):
        """The mask of the outputs; by default that of the inputs."""
        return previous_mask

    # ---- building ----

    @around
    def build(self, input_shape=None, **shapes):
        """Make the weights for inputs of this shape; by default those of the layers inside."""
        if self._layers and (input_shape is not None or shapes):
            args = () if input_shape is None else (input_shape,)
            symbolic.run_symbolically(self, *symbolic.arguments_of_shapes(self, args, shapes))

    def _finish_build(self, shapes):
        if shapes is not None:
            self.__dict__["_build_shapes"] = shapes
        self.built = True
        self._lock()

    def _lock(self):
        self.__dict__["_locked"] = True

    @name_first(
        "name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint"
    )  # fmt: skip
    def add_weight(
        self, shape=None, initializer=None, dtype=None, trainable=True, autocast=True,
        regularizer=None, constraint=None, aggregation="none", overwrite_with_gradient=False,
        name=None,
    ):  # fmt: skip
        """A new variable of this layer.

        Keras 2's order is taken too: name, shape, dtype, initializer, regularizer, trainable,
        constraint.

        Args:
            shape: a tuple of ints; a scalar where None.
            initializer: "glorot_uniform" for floats and "zeros" for others where None.
            dtype: the layer's variable dtype where None.
            regularizer: its penalty joins `losses`.
            constraint: applied after each update.
        """
        shape = checked_shape(self, shape, name)
        dtype = dtypes.as_dtype(dtype or self.variable_dtype)
        trainable = trainable is None or trainable
        if initializer is None:
            initializer = "glorot_uniform" if dtype.is_floating else "zeros"
        with naming(self), making_variables():
            variable = KerasVariable(
                initializers.get(initializer), shape=shape, dtype=dtype, trainable=trainable,
                autocast=autocast, aggregation=aggregation, name=name,
            )  # fmt: skip
        variable._regularizer = regularizers.get(regularizer)
        variable._constraint = constraints.get(constraint)
        variable.overwrite_with_gradient = overwrite_with_gradient
        self._own("_trainable_variables" if trainable else "_non_trainable_variables", variable)
        return variable

    add_variable = add_weight

    def get_build_config(self):
        """What `build_from_config` needs to make the weights again."""
        shapes = self._build_shapes
        if not shapes:
            return None
        if len(shapes) == 1:
            return {"input_shape": next(iter(shapes.values()))}
        return {"shapes_dict": shapes}

    def build_from_config(self, config):
        """Make the weights as described by `get_build_config`."""
        if config and "input_shape" in config:
            self.build(config["input_shape"])
        elif config and "shapes_dict" in config:
            self.build(**config["shapes_dict"])

    # ---- shapes ----

    def compute_output_spec(self, *args, **kwargs):
        """The outputs for these inputs as KerasTensors; the layer must be built."""
        if type(self).compute_output_shape is not Layer.compute_output_shape:
            shapes = symbolic.output_shapes(self, args, kwargs)
            return symbolic.spec_from_shapes(self, shapes)
        return symbolic.run_symbolically(self, args, kwargs)

    def compute_output_shape(self, *args, **kwargs):
        """The shape of the outputs for inputs of a shape, by a symbolic call."""
        args, kwargs = symbolic.arguments_of_shapes(self, args, kwargs)
        with undisturbed(), calling(self.name):
            return symbolic.shape_of(self._built_twin()(*args, **kwargs))

    def _built_twin(self):
        """The layer, or one like it that may be built in its stead."""
        try:
            return self if self.built else type(self).from_config(self.get_config())
        except NotImplementedError:  # it has no config
            return self

    @property
    def input(self):
        """The KerasTensors of the layer's first symbolic call."""
        args, kwargs, _ = self._symbolic_call()
        return args[0] if args else kwargs[self._facts.first]

    @property
    def output(self):
        """The KerasTensors that the layer's first symbolic call gave."""
        return self._symbolic_call()[2]

    def _symbolic_call(self):
        if self._first_call is None:
            raise AttributeError(
                f"The layer {self.name!r} has never been called on KerasTensors and thus has no "
                "defined input and output."
            )
        return self._first_call

    # ---- losses ----

    def add_loss(self, loss):
        """Add 0-d tensors to the losses of the call that is going on."""
        if thread.symbolic is not None:
            return
        link, entry = thread.call, calls.entries[0]
        while link is not None:
            entry, link = link[0]._entered, link[2]
        if self._losses_entry != entry:
            self.__dict__.update(_losses=[], _losses_entry=entry)
        for value in nest.flatten(loss):
            if not isinstance(value, (Tensor, CoreVariable)):
                raise InvalidArgumentError(
                    f"add_loss: expected a tensor, got {value!r} (layer {self.name!r})."
                )
            self._losses.append(value)
            for recorder in thread.stack:
                recorder.loss_added(value)

    @property
    def losses(self):
        """Losses added in the last call, by `add_loss` and activity regularizers, then weights'."""
        found = []
        for layer in self._flatten_layers():
            if layer._losses and layer._losses_entry >= self._entered:
                found += layer._losses
        penalties = (getattr(v, "regularizer", None) for v in self.trainable_weights)
        return found + [p(v) for p, v in zip(penalties, self.trainable_weights) if p is not None]

    # ---- dtype, names, config ----

    @property
    def dtype_policy(self):
        policies = self._dtype_policy
        if isinstance(policies, policy.DTypePolicyMap):
            return policies[self.path or self.name]
        return policies

    @dtype_policy.setter
    def dtype_policy(self, value):
        old = self.__dict__.get("_dtype_policy")
        self.__dict__.update(_dtype_policy=policy.get(value), _direct=None)
        if self.built:
            changes.note(self, "dtype_policy", old, self._dtype_policy)

    @property
    def dtype(self):
        """The dtype of its weights."""
        return self.dtype_policy.variable_dtype

    variable_dtype = dtype

    @property
    def compute_dtype(self):
        """The dtype it computes in, and floating inputs are brought to."""
        return self.dtype_policy.compute_dtype

    @property
    def input_dtype(self):
        return self.compute_dtype

    @property
    def quantization_mode(self):
        return self.dtype_policy.quantization_mode

    @property
    def path(self):
        """Its name after those of the layers that it was built in; None until it is built."""
        return self._path

    def get_config(self):
        """The constructor's arguments as plain values: `from_config` makes an equal layer."""
        config = {
            "name": self.name,
            "trainable": self._trainable,
            "dtype": serialize_value(self._dtype_policy),
        }
        if self.activity_regularizer is not None:
            config["activity_regularizer"] = serialize_value(self.activity_regularizer)
        for name, field in fields_of(type(self)).items():
            if not field.keyword_only:
                config[name] = serialize_field(field, getattr(self, name))
        if own_init(type(self)) and type(self).get_config in _GENERAL:
            config = with_init_arguments(self, config)
        return config

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


_GENERAL = {Layer.get_config}
"""The `get_config`s that know nothing of a user's own `__init__`."""
