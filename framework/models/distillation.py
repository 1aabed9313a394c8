"""Distillation: train a small model on the outputs and features of a large one.

Hinton et al. 2015, arXiv:1503.02531; Romero et al. 2014, arXiv:1412.6550.
"""

import functools
import operator
from typing import Any

from framework import losses
from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.configs import deserialize, serialize_value
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.metrics import Mean
from framework.models.model import Model
from framework.ops.reduction import reduce_mean
from framework.ops.rows import softmax


class DistillationLoss:
    """The base class of distillation losses; a subclass defines `compute_loss`."""

    def compute_loss(self, teacher_outputs: Any, student_outputs: Any, **kwargs: Any) -> Any:
        """Return the loss, a 0-d tensor, for outputs or features of both models."""
        raise NotImplementedError("A subclass of DistillationLoss must implement compute_loss")

    def validate_outputs(self, teacher_outputs: Any, student_outputs: Any) -> None:
        """Raise ValueError unless both outputs have the same structure."""
        nest.assert_same_structure(teacher_outputs, student_outputs)

    def validate_model_compatibility(self, teacher: Any, student: Any) -> None:
        """Raise ValueError if the loss does not fit these models; the base class never raises."""


class LogitsDistillation(DistillationLoss):
    """A loss of the student's logits, with the teacher's logits as targets.

    The logits of both are divided by a temperature.

    Args:
        temperature: a number > 0.
        loss: a name, a function or a Loss, or a nest of them like the outputs, with None for
            outputs without a loss. A `KLDivergence` compares softmax probabilities and is
            multiplied by the temperature squared; as in Keras, other losses get the divided logits.

    Raises:
        ValueError: the temperature is not a number > 0, or there is no loss.

    Example:
        >>> from framework import keras
        >>> loss = LogitsDistillation(2.0, keras.losses.KLDivergence())
        >>> logits = keras.ops.array([[1.0, 2.0]])
        >>> bool(loss.compute_loss(logits, logits) < 1e-6)
        True
    """

    def __init__(self, temperature: Any = 3.0, loss: Any = "kl_divergence"):
        self.temperature = temperature
        self.loss = _as_losses(loss)
        if not any(f is not None for f in nest.flatten(self.loss)):
            raise InvalidArgumentError("loss: At least one loss must be non-`None`.")
        if isinstance(temperature, bool) or not isinstance(temperature, (int, float)):
            raise InvalidArgumentError(f"temperature must be a number, got {type(temperature)}")
        if temperature <= 0:
            raise InvalidArgumentError(f"temperature must be positive, got {temperature}.")

    def compute_loss(self, teacher_outputs: Any, student_outputs: Any, **kwargs: Any) -> Any:
        """Return the sum of the losses of all outputs."""

        def loss_of(loss, teacher, student):
            teacher, student = (tensor(x) / self.temperature for x in (teacher, student))
            if isinstance(loss, losses.KLDivergence):
                teacher, student = softmax(teacher, axis=-1), softmax(student, axis=-1)
                return _mean(loss(teacher, student)) * self.temperature**2
            return _mean(loss(teacher, student))

        return _sum_of(loss_of, self.loss, teacher_outputs, student_outputs)

    def get_config(self) -> dict[str, Any]:
        return {"temperature": self.temperature, "loss": _serialized(self.loss)}

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """Return a loss for a config that `get_config` returned."""
        return cls(**{**config, "loss": _deserialized(config["loss"])})


class FeatureDistillation(DistillationLoss):
    """A loss between the outputs of a layer of the teacher and of a layer of the student.

    Args:
        loss: a name, a function or a Loss, or a nest of them like the features, with None for
            features without a loss.
        teacher_layer_name, student_layer_name: the names of the layers; None: the model's outputs.

    Raises:
        ValueError: there is no loss.
    """

    def __init__(
        self, loss: Any = "mse", teacher_layer_name: Any = None, student_layer_name: Any = None
    ):
        self.teacher_layer_name, self.student_layer_name = teacher_layer_name, student_layer_name
        self.loss = _as_losses(loss)
        if not any(f is not None for f in nest.flatten(self.loss)):
            raise InvalidArgumentError(
                "The `loss` argument in `FeatureDistillation` must contain at least one "
                "non-`None` value."
            )

    def validate_model_compatibility(self, teacher: Any, student: Any) -> None:
        """Raise ValueError if a model lacks the layer that an argument names."""
        models = ("teacher", teacher), ("student", student)
        names = self.teacher_layer_name, self.student_layer_name
        for which, model in models if any(n is not None for n in names) else ():
            if getattr(model, "inputs", None) is None:
                raise InvalidArgumentError(
                    "FeatureDistillation with specific layer names requires Functional or "
                    f"Sequential models. The {which} model has no symbolic inputs; distill its "
                    "final outputs, without layer names."
                )
        for (which, model), name in zip(models, names):
            if name is not None:
                try:
                    model.get_layer(name=name)
                except ValueError as error:
                    raise InvalidArgumentError(f"In {which} model: {error}") from None

    def validate_outputs(self, teacher_outputs: Any, student_outputs: Any) -> None:
        """Raise ValueError unless features and losses have the same structure."""
        super().validate_outputs(teacher_outputs, student_outputs)
        if len(nest.flatten(self.loss)) != len(nest.flatten(teacher_outputs)):
            raise InvalidArgumentError(
                f"Loss structure mismatch: expected losses like the outputs {teacher_outputs}, "
                f"got {self.loss}."
            )

    def compute_loss(self, teacher_outputs: Any, student_outputs: Any, **kwargs: Any) -> Any:
        """Return the sum of the losses of all features."""

        def loss_of(loss, teacher, student):
            return _mean(loss(teacher, student))

        return _sum_of(loss_of, self.loss, teacher_outputs, student_outputs)

    def get_config(self) -> dict[str, Any]:
        return {
            "loss": _serialized(self.loss), "teacher_layer_name": self.teacher_layer_name,
            "student_layer_name": self.student_layer_name,
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: Any) -> Any:
        """Return a loss for a config that `get_config` returned."""
        return cls(**{**config, "loss": _deserialized(config["loss"])})


class Distiller(Model):
    """A model that trains `student` on targets and on the outputs of `teacher`, which is frozen.

    With w = `student_loss_weight`, its loss is w times the compiled loss plus (1 - w) times the
    sum of the distillation losses.

    Args:
        teacher, student: models with equal shapes and dtypes of inputs and outputs.
        distillation_losses: a DistillationLoss or a list of them.
        distillation_loss_weights: a factor for each loss; 1 if None.
        student_loss_weight: a number in [0, 1].
        name: a string.

    Raises:
        ValueError: an argument is wrong, or the models' shapes or dtypes differ.

    Example:
        >>> import numpy as np
        >>> from framework import keras
        >>> teacher = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        >>> student = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        >>> distiller = Distiller(teacher, student, LogitsDistillation(2.0, "mse"))
        >>> distiller.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        >>> history = distiller.fit(np.ones((8, 3)), np.arange(8) % 2, verbose=0).history
        >>> sorted(history)
        ['distillation_loss', 'loss', 'student_loss', 'total_loss']
    """

    def __init__(
        self, teacher: Any, student: Any, distillation_losses: Any,
        distillation_loss_weights: Any = None, student_loss_weight: Any = 0.5,
        name: Any = "distiller", **kwargs: Any,
    ):  # fmt: skip
        super().__init__(name=name, **kwargs)
        _check_models(teacher, student)
        self.teacher, self.student = teacher, student
        self.student_loss_weight = _checked_weight(student_loss_weight)
        found, weights = _checked_losses(distillation_losses, distillation_loss_weights)
        self.distillation_losses, self.distillation_loss_weights = found, weights
        for loss in found:
            loss.validate_model_compatibility(teacher, student)
        own = self._framework
        own.extractors = [
            _extractor(model, [getattr(loss, f"{which}_layer_name", None) for loss in found])
            for which, model in (("teacher", teacher), ("student", student))
        ]
        teacher.trainable = False
        self.student_loss_tracker = Mean(name="student_loss")
        self.distillation_loss_tracker = Mean(name="distillation_loss")
        self.total_loss_tracker = Mean(name="total_loss")

    def compile(
        self, optimizer: Any = "adam", loss: Any = None, metrics: Any = None, **kwargs: Any
    ) -> None:
        """Configure training: `loss` is the student's loss, `metrics` a list of its metrics."""
        if loss is None:
            raise InvalidArgumentError("'loss' cannot be `None`. Pass the student's loss.")
        if metrics is not None and not isinstance(metrics, (list, tuple)):
            raise InvalidArgumentError(f"metrics must be a list or tuple, got {type(metrics)}")
        self._framework.student_loss = _as_losses(loss)
        super().compile(optimizer=optimizer, loss=None, metrics=metrics, **kwargs)
        self._framework.compile_arguments["loss"] = loss

    def call(self, inputs: TensorLike, training: Any = None, **kwargs: Any) -> Any:
        """Return the student's outputs."""
        return self.student(inputs, training=training, **kwargs)

    def compute_loss(
        self, x: TensorLike = None, y: TensorLike = None, y_pred: TensorLike = None,
        sample_weight: Any = None, training: bool = True,
    ) -> Any:  # fmt: skip
        """Return the total loss of a batch, and update the metrics that report the three losses."""
        if y_pred is None:
            y_pred = self(x, training=training)
        weight = self.student_loss_weight
        of_student, of_teacher = tensor(0.0), tensor(0.0)
        if weight > 0 and y is not None:
            of_student = _sum_of(
                lambda loss, a, b: _mean(loss(a, b)), self._framework.student_loss, y, y_pred
            )
        if weight < 1:
            of_teacher = _distillation(self, x, y_pred)
        total = of_student * weight + of_teacher * (1.0 - weight)
        self.student_loss_tracker.update_state(of_student)
        self.distillation_loss_tracker.update_state(of_teacher)
        self.total_loss_tracker.update_state(total)
        return total

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        config |= {name: serialize_value(getattr(self, name)) for name in ("teacher", "student")}
        config["distillation_losses"] = [serialize_value(x) for x in self.distillation_losses]
        config["distillation_loss_weights"] = list(self.distillation_loss_weights)
        config["student_loss_weight"] = self.student_loss_weight
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return the model for a config that `get_config` returned."""
        made = {name: deserialize(config[name], custom_objects) for name in ("teacher", "student")}
        found = [deserialize(x, custom_objects) for x in config["distillation_losses"]]
        return cls(**{**config, **made, "distillation_losses": found})


# ---- the loss ------------------------------------------------------------------------------------


def _distillation(model, x, y_pred):
    """Return the weighted sum of the distillation losses."""
    teacher, student = model._framework.extractors
    of_teacher = (
        {_FINAL: model.teacher(x, training=False)}
        if teacher is None
        else teacher(x, training=False)
    )
    of_student = {_FINAL: y_pred} if student is None else student(x, training=True)
    total = tensor(0.0)
    for loss, weight in zip(model.distillation_losses, model.distillation_loss_weights):
        pair = of_teacher[_FINAL], y_pred
        if getattr(loss, "teacher_layer_name", None) is not None:
            pair = (
                of_teacher[loss.teacher_layer_name], of_student[loss.student_layer_name or _FINAL]
            )  # fmt: skip
        loss.validate_outputs(*pair)
        value = loss.compute_loss(*pair)
        if tuple(getattr(value, "shape", ())):
            raise ShapeError(
                f"Distillation loss {type(loss).__name__} returned a non-scalar loss with shape "
                f"{tuple(value.shape)}. Return a 0-d tensor from compute_loss."
            )
        total = total + value * weight
    return total


_FINAL = "final_output"


def _extractor(model, names):
    """Return a model whose outputs are the final ones and those of `names`; None without names."""
    names = [name for name in dict.fromkeys(names) if name]
    if not names:
        return None
    outputs = {_FINAL: model.outputs[0] if len(model.outputs) == 1 else model.output}
    outputs.update((name, model.get_layer(name=name).output) for name in names)
    return Model(model.inputs, outputs, name=f"{model.name}_multi_feature_extractor")


def _mean(value):
    value = tensor(value)
    return reduce_mean(value, axis=tuple(range(value.ndim)), keepdims=False)


def _sum_of(loss_of, structure, *outputs):
    """Return the sum of `loss_of(loss, *outputs)` over a nest of losses; None counts as 0."""

    def value_of(loss, *parts):
        return None if loss is None else loss_of(loss, *parts)

    values = nest.flatten(nest.map_structure(value_of, structure, *outputs))
    return functools.reduce(operator.add, [v for v in values if v is not None])


# ---- arguments -----------------------------------------------------------------------------------


def _as_losses(loss):
    return nest.map_structure(lambda x: losses.get(x) if isinstance(x, str) else x, loss)


def _serialized(structure):
    return nest.map_structure(serialize_value, structure)


def _deserialized(config):
    if isinstance(config, list):
        return [_deserialized(x) for x in config]
    if isinstance(config, dict) and "class_name" not in config:
        return {key: _deserialized(x) for key, x in config.items()}
    return deserialize(config) if isinstance(config, dict) else config


def _checked_weight(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidArgumentError(f"student_loss_weight must be a number, got {type(value)}")
    if not 0 <= value <= 1:
        raise InvalidArgumentError(f"student_loss_weight must be between 0.0 and 1.0, got {value}")
    return value


def _checked_losses(found, weights):
    """Return the list of distillation losses and the list of their weights."""
    if found is None:
        raise InvalidArgumentError(
            "'distillation_losses' cannot be `None`. Provide a distillation loss, such as "
            "LogitsDistillation(), or a list of them."
        )
    if not isinstance(found, (list, tuple)):
        return [found], [1.0]
    weights = [1.0] * len(found) if weights is None else list(weights)
    if len(weights) != len(found):
        raise InvalidArgumentError(
            f"Number of distillation_loss_weights ({len(weights)}) must match number of "
            f"distillation_losses ({len(found)})"
        )
    return list(found), weights


def _check_models(teacher, student):
    """Raise an error if an argument is not a model, or if known shapes or dtypes differ."""
    for which, model in (("Teacher", teacher), ("Student", student)):
        if not isinstance(model, Model):
            raise InvalidArgumentError(f"{which} must be a keras.Model, got {type(model)}")
    for what in ("input", "output"):
        ends = [getattr(model, f"{what}s", None) for model in (teacher, student)]
        if None in ends:
            continue
        nest.assert_same_structure(*ends)
        for a, b in zip(*map(nest.flatten, ends)):
            fits = len(a.shape) == len(b.shape) and all(
                m is None or n is None or m == n for m, n in zip(a.shape, b.shape)
            )
            if not fits:
                raise ShapeError(
                    f"Teacher and student {what} shapes are incompatible. Teacher: {a.shape}, "
                    f"Student: {b.shape}. All dimensions must match."
                )
            if a.dtype != b.dtype:
                raise InvalidArgumentError(
                    f"Teacher and student {what} dtypes must match. Teacher: {a.dtype}, Student: "
                    f"{b.dtype}."
                )
