"""The base of image layers, for one image or a batch, alone or in a dict with labels and boxes.

Each call draws one transformation (`get_random_transformation`) and applies it to the images,
labels, bounding boxes and segmentation masks. Users' subclasses may override each of these methods.
"""

from typing import Any

from framework.core import dtypes, random
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import fields_of
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.internal_state import builtin
from framework.core.operations import FunctionOperation, apply
from framework.core.random import SeedGenerator, Stateless
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.convolution_base import DataFormat
from framework.layers.images.boxes import densified
from framework.ops.movement import reshape


class BaseImagePreprocessingLayer(
    Layer, kw_only=True, in_inference=False, draws=True, moves=False, keeps_integers=False
):
    """The base class of layers that change images. Class arguments of the package's subclasses:

    - `in_inference`: whether the layer changes images in inference, too
    - `draws`: whether images change only if a transformation was drawn
    - `moves`: whether pixels move, so that boxes and masks change
    - `keeps_integers`: whether integer images keep their dtype

    A subclass defines `_transform_images(images, transformation, interpolation)` on a batch of
    floats, and `transform_bounding_boxes` if pixels move.

    Args:
        bounding_box_format: the format of boxes in dicts, as in `keras.utils.bounding_boxes`.
        data_format: "channels_last" or "channels_first".

    Inputs: images `(batch, height, width, channels)`, one image of rank 3, or a dict with "images"
    and perhaps "labels", "bounding_boxes" (a dict of "boxes" and "labels") and
    "segmentation_masks".
    """

    bounding_box_format: str | None = None
    data_format: DataFormat = None
    _allow_non_tensor_positional_args = True

    # ---- calls ----

    def call(self, data: TensorLike, training: bool = True) -> Any:
        transformation = self.get_random_transformation(data, training=training)
        if not isinstance(data, dict):
            single = is_single(data)
            return _applied(self, "image", tensor(data), single, transformation, training)
        single = is_single(data["images"])
        results = dict(data)
        for key, part in _PARTS.items():
            if key in data:
                value = data[key]
                if key == "bounding_boxes":
                    _check_format(self)
                    value = densified(value)
                else:
                    value = tensor(value)
                results[key] = _applied(self, part, value, single, transformation, training)
        return results

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        """Return the random values of one call in a dict; None if the layer draws none.

        Args:
            data: images, or the dict passed to the layer.
            training: False in inference.
            seed: an int, or a SeedGenerator; the layer's own generator if None.
        """
        return None

    # ---- batches ----

    def transform_images(
        self, images: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        """Return the changed images of a batch."""
        settings = builtin(self)._framework
        images = tensor(images)
        if not (settings.keeps_integers and images.dtype.is_integer):
            images = as_dtype(images, self.compute_dtype)
        if not (training or settings.in_inference) or (settings.draws and transformation is None):
            return images
        interpolation = getattr(self, "interpolation", None)
        return batched(self._transform_images, images, transformation, interpolation)

    def _transform_images(self, images, transformation, interpolation):
        raise NotImplementedError(
            f"{type(self).__name__} does not implement `_transform_images` or `transform_images`."
        )

    def transform_labels(
        self, labels: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        """Return the labels of the changed images."""
        return labels

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        """Return the boxes of the changed images: a dict of "boxes" and "labels"."""
        if builtin(self)._framework.moves:
            raise NotImplementedError(
                f"{type(self).__name__} does not implement `transform_bounding_boxes`."
            )
        return bounding_boxes

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        """Return the masks of the changed images, resampled to the nearest pixel."""
        settings = builtin(self)._framework
        if not settings.moves or not (training or settings.in_inference):
            return segmentation_masks
        if settings.draws and transformation is None:
            return segmentation_masks
        masks = tensor(segmentation_masks)
        return batched(self._transform_images, masks, transformation, "nearest")

    # ---- one image ----

    def transform_single_image(
        self, image: TensorLike, transformation: Any, training: bool = True
    ) -> Any:
        """Return one changed image, by `transform_images`."""
        return batched(self.transform_images, image, transformation, training)

    def transform_single_label(
        self, label: TensorLike, transformation: Any, training: bool = True
    ) -> Any:
        """Return the label of one changed image, by `transform_labels`."""
        labels = self.transform_labels(_expanded(label), transformation, training)
        return _squeezed(labels)

    def transform_single_bounding_box(
        self, bounding_box: Any, transformation: Any, training: bool = True
    ) -> Any:
        """Return the boxes of one changed image, by `transform_bounding_boxes`."""
        boxes = {**bounding_box, **{k: _expanded(bounding_box[k]) for k in ("boxes", "labels")}}
        boxes = self.transform_bounding_boxes(boxes, transformation, training)
        return {**boxes, **{k: _squeezed(boxes[k]) for k in ("boxes", "labels")}}

    def transform_single_segmentation_mask(
        self, segmentation_mask: TensorLike, transformation: Any, training: bool = True
    ) -> Any:
        """Return the mask of one changed image, by `transform_segmentation_masks`."""
        return batched(
            self.transform_segmentation_masks, segmentation_mask, transformation, training
        )

    # ---- shapes and config ----

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the changed images; for a dict of shapes also that of the masks."""
        if isinstance(input_shape, dict):
            images = ("images", "segmentation_masks")
            shape = self.compute_output_shape
            return {k: shape(v) if k in images else v for k, v in input_shape.items()}
        return output_shape(self, input_shape)

    def compute_output_spec(self, data: Any, training: bool = True) -> Any:
        """Return the outputs as KerasTensors."""
        base = BaseImagePreprocessingLayer
        own = builtin(self) is base and type(self).compute_output_shape is base.compute_output_shape
        if isinstance(data, dict) or own:
            return apply(FunctionOperation(self.call), (data,), {"training": training})
        dtype = dtypes.as_dtype(data.dtype)
        if not (builtin(self)._framework.keeps_integers and dtype.is_integer):
            dtype = self.compute_dtype
        return KerasTensor(self.compute_output_shape(tuple(data.shape)), dtype)

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "data_format": self.data_format}
        if self.bounding_box_format is not None:
            config["bounding_box_format"] = self.bounding_box_format
        return config

    def _get_seed_generator(self, backend=None):
        return self.generator


_PARTS = {
    "images": "image",
    "bounding_boxes": "bounding_box",
    "labels": "label",
    "segmentation_masks": "segmentation_mask",
}
"""Maps keys of the input dict to the singular in method names (`transform_single_label`)."""


def _applied(layer, part, value, single, transformation, training):
    """Return one part of the input, such as labels, transformed by the layer's method for it."""
    name = f"single_{part}" if single else f"{part}es" if part.endswith("x") else f"{part}s"
    method = getattr(layer, f"transform_{name}")
    return method(value, transformation=transformation, training=training)


def _check_format(layer):
    if not layer.bounding_box_format:
        raise InvalidArgumentError(
            f"{type(layer).__name__}: the input has 'bounding_boxes', but `bounding_box_format` is "
            "None. You didn't specify a bounding box format: pass for example "
            "bounding_box_format='xyxy' to the layer."
        )


def batched(function, images, *args):
    """Return `function(images, *args)`; one image of rank 3 is passed as a batch of one."""
    if len(images.shape) != 3:
        return function(images, *args)
    return _squeezed(function(_expanded(images), *args))


def _expanded(x):
    x = tensor(x)
    return reshape(x, shape=(1, *x.shape))


def _squeezed(x):
    return reshape(x, shape=tuple(x.shape[1:]))


# ---- helpers of the layers -----------------------------------------------------------------------


def as_dtype(x, dtype):
    x = tensor(x)
    return x if x.dtype == dtype else cast(x, dtype=dtypes.as_dtype(dtype).np)


def images_in(data):
    """Return the images of a call's input."""
    return data["images"] if isinstance(data, dict) else data


def is_single(images):
    """Return whether the input is one image of rank 3, not a batch of rank 4."""
    shape = tuple(images.shape)
    if len(shape) not in (3, 4):
        raise ShapeError(
            "Expected images of rank 3 (single image) or 4 (batch of images), got shape "
            f"{shape}. Reshape them to (batch, height, width, channels)."
        )
    return len(shape) == 3


def batch_size(data):
    """Return the number of images of a call's input."""
    images = images_in(data)
    return 1 if is_single(images) else images.shape[0]


def axes_of(layer):
    """Return the positions of height, width and channels, counted from the end."""
    return (-2, -1, -3) if layer.data_format == "channels_first" else (-3, -2, -1)


def sizes_of(layer, shape):
    """Return the height and width in a shape of images."""
    height, width, _ = axes_of(layer)
    return shape[height], shape[width]


def output_shape(layer, shape, sizes=None):
    """Return a shape of images with height and width replaced by `sizes` unless that is None."""
    if len(shape) not in (3, 4):
        raise ShapeError(
            f"{type(layer).__name__}: expected images of rank 3 (single image) or rank 4 (batch of "
            f"images), got input_shape={tuple(shape)}."
        )
    shape = list(shape)
    if sizes is not None:
        height, width, _ = axes_of(layer)
        shape[height], shape[width] = sizes
    return tuple(shape)


def source_of(layer, seed):
    """Return the source of random numbers for `seed`; an int gives equal numbers at each call."""
    if seed is None:
        return layer._get_seed_generator()
    return seed if isinstance(seed, SeedGenerator) else Stateless(seed)


def uniform(source, shape, low=0.0, high=1.0, dtype="float32"):
    """Draw uniform random numbers from the interval [low, high)."""
    return random.draw(source, "uniform", tuple(shape), dtype, float(low), float(high))


def per_image(x, rank=4):
    """Reshape one number per image so that it broadcasts to a batch of images."""
    return reshape(tensor(x), shape=(-1, *(1,) * (rank - 1)))


def part_of(layer, cls, **arguments):
    """Return a new inner layer with the outer layer's dtype policy and common fields."""
    for name in ("value_range", "interpolation", "seed", "data_format", "bounding_box_format"):
        if name in fields_of(cls) and name in fields_of(builtin(layer)):
            arguments.setdefault(name, getattr(layer, name))
    return cls(**arguments, dtype=layer.dtype_policy)
