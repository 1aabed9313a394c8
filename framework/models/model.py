"""Model: the base class of models, a layer with `compile`, `fit`, `summary` and `profile`."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.program_settings import print_message
from framework.layers.base import Layer
from framework.layers.tracking import LayerRecord
from framework.training.trainer import Trainer
from framework.training.training_step import compiled_step, overrides, require_compiled


class ModelRecord(LayerRecord):
    """The internal state of a model.

    Attributes:
        training: the `Compilation`.
        compile_arguments: the arguments of `compile`.
        plans: (the Compilation, {method: its `Plans`}), the compiled plans of `fit`, ...
        losses_read: whether `losses` was read since this was set to False.
        graph: the `FunctionalGraph` of a functional model.
        sequence: the `CallSequence` of a functional model, which `call` runs.
        graph_layers: the layers that a functional model calls.
        inputs_structure, outputs_structure: its KerasTensors in the structure that the user passed.
        unpacks: whether the user passed the only output in a list; calls return it without one.
        stack: the layers of a Sequential model without its input layer, possibly repeated.
        input_layer: the InputLayer of a Sequential model, once the input's shape is known.
        output: the output KerasTensor of a Sequential model, once the input's shape is known.
        is_symbolic: whether the layers of a Sequential model can be called on KerasTensors.
    """

    training = compile_arguments = plans = None
    losses_read = False
    graph = sequence = inputs_structure = outputs_structure = None
    unpacks = False
    graph_layers = stack = ()
    input_layer = output = None
    is_symbolic = True

    def held(self):
        return self.graph_layers, self.stack, self.input_layer

    def __getstate__(self):  # a copied model compiles its own plans
        return {**vars(self), "plans": None}


_NO_SETTINGS = Layer._framework.no_settings.union(
    ("optimizer", "loss", "history", "stop_training", "run_eagerly"),
    ("jit_compile", "steps_per_execution"),
    ("train_function", "test_function", "predict_function"),
)


class Model(Trainer, Layer, record=ModelRecord, no_settings=_NO_SETTINGS):
    """A layer that consists of layers and that `fit` can train.

    `Model(inputs, outputs)` returns a functional model: the layer calls between KerasTensors; a
    subclass creates its layers in `__init__` and calls them in `call`.

    Example:
        >>> import numpy as np
        >>> from framework.layers import Dense, Input
        >>> inputs = Input((3,))
        >>> model = Model(inputs, Dense(2)(inputs))
        >>> model(np.ones((4, 3))).shape
        TensorShape([4, 2])
    """

    def __init__(self, *args: Any, **kwargs: Any):
        functional = Model._framework.functional
        if _is_functional(args, kwargs) and not isinstance(self, functional):
            self.__class__ = _functional_form(type(self))
            functional.__init__(self, *args, **kwargs)
        else:
            super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; a subclass implements this method."""
        raise NotImplementedError(
            f"Model {type(self).__name__} does not have a `call` method implemented."
        )

    @property
    def layers(self):
        """The layers that are attributes of the model, without their inner layers."""
        return self._flatten_layers(include_self=False, recursive=False)

    @layers.setter
    def layers(self, _: Any):
        raise AttributeError(
            "`Model.layers` attribute is reserved and should not be used. Please use another name."
        )

    def get_layer(self, name: str | None = None, index: Any = None):
        """Return the layer with this name, or at this index of `layers`."""
        layers = self.layers
        if (name is None) == (index is None):
            raise InvalidArgumentError(
                f"get_layer: expected a name or an index, got name={name!r}, index={index!r}."
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

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Return the model that `get_config` described, with new layers and new weights.

        Args:
            config: a dict.
            custom_objects: a dict from names to user-defined classes and functions.
        """
        return Model._framework.from_config(cls, config, custom_objects)

    # ---- files (their modules are imported at the first use) ----

    def save(self, filepath: Any, overwrite: bool = True, zipped: Any = None) -> None:
        """Save the model with its weights, optimizer state and vocabularies to "NAME.keras".

        The file is written whole or not at all; Keras 3 can load it.

        Args:
            filepath: a path, or a binary file.
            overwrite: whether to replace an existing file.
            zipped: False writes a folder with the same contents instead of a file.
        """
        from framework.saving.model_file import save_model

        save_model(self, filepath, overwrite, zipped)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, max_shard_size: Any = None,
    ) -> None:  # fmt: skip
        """Save the weights to a file.

        Args:
            filepath: "NAME.weights.h5", Keras's format, which also has the optimizer's state; or
                "NAME.npz" or "NAME.safetensors", which have the weights by name.
            overwrite: whether to replace an existing file.
            max_shard_size: write several files of at most this size in GB; `filepath` is then
                "NAME.weights.json", which names them.
        """
        from framework.saving.weights import save_weights

        save_weights(self, filepath, overwrite, max_shard_size)

    def load_weights(self, filepath: Any, skip_mismatch: bool = False, limits: Any = None) -> None:
        """Set the weights from a file that `save_weights` or `save` of the same model wrote.

        Args:
            filepath: a path.
            skip_mismatch: leave layers that do not fit unchanged, with a warning.
            limits: a `keras.saving.Limits`: upper bounds for the contents; the defaults if None.
        """
        from framework.saving.weights import load_weights

        load_weights(self, filepath, skip_mismatch, limits)

    def to_json(self, **kwargs: Any):
        """Return the config of the model as a JSON text, without weights.

        Args:
            **kwargs: passed to `json.dumps`.
        """
        from framework.saving.model_file import to_json

        return to_json(self, **kwargs)

    def export(
        self, filepath: Any, format: Any = "tf_saved_model", verbose: Any = None,
        input_signature: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Write what `model(x, training=False)` computes to an ONNX file or a folder.

        An ONNX file is for onnxruntime and other runtimes (docs/saving.md). Its inputs and outputs
        have the names of the model's. It needs the package onnx. A folder is for
        `tf.saved_model.load` of this package, without the model's code: the loaded object has
        the function `serve`. Both accept any batch size.

        Args:
            filepath: a path that ends in ".onnx", or the path of the folder.
            format: "onnx" or "tf_saved_model"; a path that ends in ".onnx" is always an ONNX file.
            verbose: whether to print a summary of the file.
            input_signature: the specs of the inputs (`keras.InputSpec`, `tf.TensorSpec`), a list
                with one nest for each argument; by default those the model was built with. A size
                None is unknown.
            **kwargs: `opset_version`, the version of ONNX's operators (18 to 23, 20 by default).

        Raises:
            ExportError: ONNX cannot express an op; the error names it, its layer and its line.
                Nothing is written then.

        Example:
            >>> import os, tempfile
            >>> from framework import keras
            >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
            >>> model.export(os.path.join(tempfile.mkdtemp(), "model.onnx"))
        """
        from framework.saving.export import export_model

        export_model(self, filepath, format, verbose, input_signature, kwargs)

    # ---- state as values ----

    def get_state_tree(self, value_format: Any = "backend_tensor") -> dict[str, Any]:
        """Return the variables of the model, its optimizer and its metrics as a tree of values.

        Args:
            value_format: "backend_tensor" for tensors, "numpy_array" for arrays.

        Returns:
            A dict with "trainable_variables", "non_trainable_variables", "optimizer_variables" and
            "metrics_variables"; each is a nested dict, keyed by the parts of the variables' paths.

        Raises:
            ValueError: two variables have the same path, or `value_format` is unknown.

        Example:
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(1, name="d")], name="m")
            >>> model.build((None, 2))
            >>> model.get_state_tree()["trainable_variables"]["m"]["d"]["kernel"].shape
            TensorShape([2, 1])
        """
        from framework.models.state_tree import get_state_tree

        return get_state_tree(self, value_format)

    def set_state_tree(self, state_tree: Any) -> None:
        """Assign the values of a tree from `get_state_tree`; variables that it lacks are unchanged.

        Raises:
            ValueError: a key of the tree is not the name of a group of variables.
        """
        from framework.models.state_tree import set_state_tree

        set_state_tree(self, state_tree)

    # ---- checks and reports ----

    def check_gradients(
        self, x: TensorLike, y: TensorLike = None, sample_weight: Any = None, *, loss: Any = None,
        n: Any = 5, tolerance: Any = None, seed: Any = 0,
    ):  # fmt: skip
        """Compare the gradients of the loss with finite differences, in float64.

        Args:
            x, y, sample_weight: a batch; a small one is enough.
            loss: as in `compile`; the compiled one if None.
            n, tolerance, seed: as in `debugging.check_gradients`.

        Returns:
            A report with a row for each input and trainable variable, which is true if all
            gradients are right. If not, it names the first op or custom gradient with a wrong rule.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(2, "tanh")])
            >>> bool(model.check_gradients(np.ones((3, 4)), np.zeros((3, 2)), loss="mse"))
            True
        """
        options = {"n": n, "tolerance": tolerance, "seed": seed}
        from framework.models.model_gradient_check import check_model

        return check_model(self, x, y, sample_weight, loss, options)

    def profile(
        self, x: TensorLike, y: TensorLike = None, sample_weight: Any = None, *,
        repeats: TensorLike = 5, print_fn: Any = None,
    ):  # fmt: skip
        """Print the time and memory of a training step, layer by layer.

        The compiled step runs op by op on the batch, several times; then the model's state is
        restored. The time of the update is divided among layers by their numbers of parameters;
        metrics are not measured. A compiled plan (see `step_source`) has less overhead per op.

        Args:
            x, y, sample_weight: a batch.
            repeats: the number of timed steps; the table shows medians.
            print_fn: called with the table instead of `print`.

        Returns:
            A `Profile`, whose `str` is the table: `.layers`, `.total`, and `profile["name"]`, a
            layer's numbers: forward, backward, update (seconds), flops, gflops (billions per
            second), kept (bytes for the backward pass), peak (bytes while it ran).

        Raises:
            ValueError: the model is not compiled, or its class overrides `train_step`.

        Example:
            >>> import numpy as np
            >>> from framework import keras
            >>> model = keras.Sequential([keras.layers.Dense(2, name="dense")])
            >>> model.compile("adam", "mse")
            >>> result = model.profile(np.ones((4, 3)), np.zeros((4, 2)))  # doctest: +ELLIPSIS
            A training step of 'sequential...' on 4 rows, op by op
            layer ...
            >>> result["dense"].parameters
            8
        """
        from framework.training.profiling import profile

        require_compiled(self, "profile")
        if overrides(self, "train_step"):
            raise InvalidArgumentError(
                f"profile: {type(self).__name__} overrides train_step, and only the built-in step "
                "can be profiled. Profile a model of the same layers without that override."
            )
        result = profile(self, compiled_step(self), x, y, sample_weight, repeats)
        (print_fn or print)(str(result))
        return result

    def summary(
        self, line_length: Any = None, positions: Any = None, print_fn: Any = None,
        expand_nested: bool = False, show_trainable: bool = False, layer_range: Any = None,
        show_groups: bool = False,
    ) -> None:  # fmt: skip
        """Print a table of the layers, their output shapes and their numbers of parameters.

        Args:
            line_length: the width of the table in characters.
            positions: the right ends of the columns, as fractions of the width.
            print_fn: called with the text instead of `print`.
            expand_nested: show the layers of nested models too.
            show_trainable: show whether each layer is trainable.
            layer_range: two names (or patterns): the first and the last layer to show.
            show_groups: show each layer's settings from the `groups` of the optimizer.
        """
        from framework.models.summary import summary_text

        text = summary_text(
            self, line_length, positions, expand_nested, show_trainable, layer_range, show_groups
        )
        (print_fn or print_message)(text)

    def _repr_html_(self):
        from framework.models.summary import summary_html

        return summary_html(self)


def _is_functional(args, kwargs):
    given = {*kwargs, *("inputs", "outputs")[: len(args)]}
    return len(args) <= 3 and {"inputs", "outputs"} <= given


def _functional_form(cls):
    """Return a subclass of `cls` and Functional, which the first call creates."""
    if cls is Model:
        return Model._framework.functional
    subclass = cls._framework.own.get("functional_form")
    if subclass is None:
        names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
        subclass = type(cls.__name__, (cls, Model._framework.functional), names)
        cls._framework.functional_form = subclass
    return subclass
