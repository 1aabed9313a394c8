"""Model: a layer that can be trained."""

from framework.core.errors import InvalidArgumentError
from framework.layers.base import Layer
from framework.layers.tracking import LayerRecord
from framework.models.checking import check_model
from framework.models.summary import summary_text
from framework.training.model_steps import compiled_step, overrides, require_compiled
from framework.training.profiling import profile
from framework.training.trainer import Trainer


class ModelRecord(LayerRecord):
    """What is internal to a model.

    Attributes:
        training: the `Compilation`.
        compile_arguments: the arguments of `compile`.
        plans: (the Compilation, {method: its `Plans`}).
        losses_read: whether `losses` was asked for since it was set to False.
        graph, program, graph_layers: of a functional model: the calls, and the layers called.
        inputs_structure, outputs_structure: its KerasTensors as they were given.
        unpacks: whether its only output is given in a list.
        stack: the layers of a Sequential model, without its input layer; one may be twice in it.
        input_layer, output: a Sequential model's KerasTensors at its ends, once the shape of the
            input is known.
        is_symbolic: whether its layers can be called on them.
    """

    training = compile_arguments = plans = None
    losses_read = False
    graph = program = inputs_structure = outputs_structure = None
    unpacks = False
    graph_layers = stack = ()
    input_layer = output = None
    is_symbolic = True

    def held(self):
        return self.graph_layers, self.stack, self.input_layer


_NO_SETTINGS = Layer._framework.no_settings.union(
    ("optimizer", "loss", "history", "stop_training", "run_eagerly"),
    ("jit_compile", "steps_per_execution"),
    ("train_function", "test_function", "predict_function"),
)


class Model(Trainer, Layer, record=ModelRecord, no_settings=_NO_SETTINGS):
    """Layers put together into what `fit` trains.

    `Model(inputs, outputs)` makes a functional model of the calls between KerasTensors; a subclass
    makes its layers in `__init__` and calls them in `call`.

    Example:
        >>> import numpy as np
        >>> from framework.layers import Dense, Input
        >>> inputs = Input((3,))
        >>> model = Model(inputs, Dense(2)(inputs))
        >>> model(np.ones((4, 3))).shape
        TensorShape([4, 2])
    """

    def __init__(self, *args, **kwargs):
        functional = Model._framework.functional
        if _is_functional(args, kwargs) and not isinstance(self, functional):
            self.__class__ = _functional_form(type(self))
            functional.__init__(self, *args, **kwargs)
        else:
            super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def call(self, *args, **kwargs):
        """What the model computes."""
        raise NotImplementedError(
            f"Model {type(self).__name__} does not have a `call()` method implemented."
        )

    @property
    def layers(self):
        """The layers held directly by the model."""
        return self._flatten_layers(include_self=False, recursive=False)

    @layers.setter
    def layers(self, _):
        raise AttributeError(
            "`Model.layers` attribute is reserved and should not be used. Please use another name."
        )

    def get_layer(self, name=None, index=None):
        """The layer of that name, or at that index of `layers`."""
        layers = self.layers
        if (name is None) == (index is None):
            raise InvalidArgumentError(
                f"get_layer: give a name or an index, got name={name!r}, index={index!r}."
            )
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise InvalidArgumentError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(layers)} layers."
                )
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise InvalidArgumentError(
            f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}."
        )

    def check_gradients(
        self, x, y=None, sample_weight=None, *, loss=None, n=5, tolerance=None, seed=0
    ):
        """Compare the gradients of the loss with differences of its values, in float64.

        Args:
            x, y, sample_weight: a batch; a small one is enough.
            loss: as in `compile`; the compiled one where None.
            n, tolerance, seed: as for `debugging.check_gradients`.

        Returns:
            A report with a row for each input and trainable variable; true where all is right.
            Where not, it names the first op, or custom gradient, whose rule is wrong.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(2, "tanh")])
            >>> bool(model.check_gradients(np.ones((3, 4)), np.zeros((3, 2)), loss="mse"))
            True
        """
        options = {"n": n, "tolerance": tolerance, "seed": seed}
        return check_model(self, x, y, sample_weight, loss, options)

    def profile(self, x, y=None, sample_weight=None, *, repeats=5, print_fn=None):
        """Print where the time and the memory of a training step go, layer by layer.

        The step that `compile` made runs on the batch op by op, a few times, and the model is put
        back to what it was. The update is timed as a whole and shared by the numbers of parameters;
        metrics do not count. As a plan (see `step_source`) it takes less time between ops.

        Args:
            x, y, sample_weight: a batch.
            repeats: steps that are timed; the medians count.
            print_fn: called with the table in place of `print`.

        Returns:
            A `Profile`, whose `str` is the table: `.layers`, `.total`, and a layer's numbers by
            `profile["name"]`: forward, backward, update (seconds), flops, gflops (billions a
            second), kept (bytes for the backward pass), peak (bytes while it ran).

        Raises:
            ValueError: the model is not compiled, or has a `train_step` of its own.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(2, name="dense")])
            >>> model.compile("adam", "mse")
            >>> found = model.profile(np.ones((4, 3)), np.zeros((4, 2)))  # doctest: +ELLIPSIS
            A training step of 'sequential...' on 4 rows, op by op
            layer ...
            >>> found["dense"].parameters
            8
        """
        require_compiled(self, "profile")
        if overrides(self, "train_step"):
            raise InvalidArgumentError(
                f"profile: {type(self).__name__} has its own train_step; only the step that "
                "compile() makes can be taken apart. Profile a model without it."
            )
        found = profile(self, compiled_step(self), x, y, sample_weight, repeats)
        (print_fn or print)(str(found))
        return found

    def summary(
        self, line_length=None, positions=None, print_fn=None, expand_nested=False,
        show_trainable=False, layer_range=None, show_groups=False,
    ):  # fmt: skip
        """Print a table of the layers, their output shapes and their numbers of parameters.

        Args:
            line_length: of the table, in characters.
            positions: where columns end, as shares of the line.
            print_fn: called with the text in place of `print`.
            expand_nested: show the layers inside models too.
            show_trainable: show whether each layer is trainable.
            layer_range: two names (or patterns): the first and last layer to show.
            show_groups: show what the `groups` of the model's optimizer set for each layer.
        """
        text = summary_text(
            self, line_length, positions, expand_nested, show_trainable, layer_range, show_groups
        )
        (print_fn or print)(text)


def _is_functional(args, kwargs):
    given = {*kwargs, *("inputs", "outputs")[: len(args)]}
    return len(args) <= 3 and {"inputs", "outputs"} <= given


def _functional_form(cls):
    """The class of functional models that has the methods of `cls` too."""
    if cls is Model:
        return Model._framework.functional
    found = cls._framework.own.get("functional_form")
    if found is None:
        names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
        found = type(cls.__name__, (cls, Model._framework.functional), names)
        cls._framework.functional_form = found
    return found
