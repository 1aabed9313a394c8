"""Common code of all networks of keras.applications: the input, the head, and the weights.

The body of a network is a function from an image tensor to features. Layer names and their order
are Keras's, so that weights of Keras's networks load.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from framework import layers
from framework.core.errors import InvalidArgumentError
from framework.core.program_settings import image_data_format
from framework.core.symbolic import KerasTensor
from framework.models.model import Model


@dataclass
class NetworkArguments:
    """The arguments of every network; the docstring of `build` explains them."""

    include_top: bool
    weights: Any
    input_tensor: Any
    input_shape: Any
    pooling: str | None
    classes: int
    classifier_activation: Any
    name: str | None


def build(
    options: NetworkArguments, body: Callable, head: Callable | None = None, size: int = 224,
    least: int = 32, after_pooling: Any = None,
):  # fmt: skip
    """Return a network as a functional model.

    Args:
        options: `include_top`: end with the classifier; otherwise `pooling`, None, "avg" or "max",
            says how the features are pooled. `weights`: None, or the path of a file of weights.
            `input_tensor`: a KerasTensor to use as input. `input_shape`: the shape of an image.
            `classes` and `classifier_activation` are those of the classifier.
        body: a function from the input to features.
        head: a function from features and options to class scores; average pooling and a Dense
            layer if None.
        size: the default height and width of images.
        least: the smallest height and width of images if there is no classifier.
        after_pooling: a layer that is applied to the features if there is no classifier.

    Raises:
        ValueError: an argument is invalid, or the images are too small.
    """
    _check(options)
    shape = _input_shape(options, size, least)
    x = options.input_tensor
    if x is None:
        x = layers.Input(shape)
    elif not isinstance(x, KerasTensor):
        x = layers.Input(tensor=x)
    y = body(x)
    if options.include_top:
        y = (head or average_head)(y, options)
    elif options.pooling:
        pool = {"avg": layers.GlobalAveragePooling2D, "max": layers.GlobalMaxPooling2D}
        y = pool[options.pooling](name=f"{options.pooling}_pool")(y)
    if after_pooling and not options.include_top:
        y = after_pooling(y)
    model = Model(x, y, name=options.name)
    if options.weights is not None:
        model.load_weights(options.weights)
    return model


def average_head(x, options):
    """Return class scores from features: average pooling and a Dense layer."""
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    return predictions(x, options)


def predictions(x, options):
    """Return class scores of pooled features."""
    return layers.Dense(
        options.classes, activation=options.classifier_activation, name="predictions"
    )(x)


def _check(options):
    if options.weights is not None and not os.path.exists(options.weights):  # noqa: PTH110
        advice = (
            " The weights of ImageNet are not part of framework: download Keras's file of this "
            "network and pass its path, or pass None for random weights."
            if options.weights == "imagenet"
            else ""
        )
        raise InvalidArgumentError(
            "weights: expected None or the path of a file of weights, got "
            f"{options.weights!r}, which does not exist.{advice}"
        )
    if options.pooling not in (None, "avg", "max"):
        raise InvalidArgumentError(
            f'pooling: expected None, "avg" or "max", got {options.pooling!r}.'
        )


def _input_shape(options, size, least):
    channels_last = image_data_format() == "channels_last"
    shape = options.input_shape
    if shape is None:
        sizes = (size, size) if options.include_top else (None, None)
        return (*sizes, 3) if channels_last else (3, *sizes)
    shape = tuple(shape)
    if len(shape) != 3:
        raise InvalidArgumentError(
            f"input_shape: expected the three sizes of an image, got {shape}."
        )
    sizes = shape[:2] if channels_last else shape[1:]
    if any(s is not None and s < least for s in sizes):
        raise InvalidArgumentError(
            f"input_shape: expected images of at least {least} x {least}, got {shape}."
        )
    if options.include_top and None in shape:
        raise InvalidArgumentError(
            f"input_shape: with include_top=True expected known sizes, got {shape}."
        )
    return shape


def network(name, summary, paper):
    """Return a decorator that gives a network's function its name and docstring."""

    def named(function):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"""{summary} ({paper}).

Args:
    include_top: whether the network ends with the classifier.
    weights: the path of a file of weights, such as Keras's; None for random weights.
    input_tensor: a KerasTensor to use as input.
    input_shape: the shape of an image, (height, width, channels).
    pooling: without the classifier, None for feature maps, "avg" or "max" for their pooling.
    classes: the number of classes.
    classifier_activation: the activation of the classifier; None for logits.
    name: the name of the model.

Returns:
    A functional model from images (batch, height, width, channels) to class probabilities
    (batch, classes), or to features.

Raises:
    ValueError: an argument has no meaning, or the images are too small.
"""
        return function

    return named
