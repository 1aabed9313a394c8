"""ImageDataGenerator: batches of randomly augmented images, for older Keras programs."""

import warnings
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.program_settings import data_format_of
from framework.data import image_transforms as transforms
from framework.data.image_iterators import DirectoryIterator, NumpyArrayIterator
from framework.data.image_tables import DataFrameIterator

_TINY = 1e-6  # added to standard deviations, so that divisions by them stay finite


class ImageDataGenerator:
    """Batches of images that are randomly augmented, and scaled.

    As in Keras, NumPy's global generator draws the transformations, so equal seeds give equal
    images. For new programs, layers such as `RandomRotation` and `RandomZoom` are faster.

    Args:
        featurewise_center, featurewise_std_normalization: True to subtract the mean, and divide by
            the standard deviation, of the images passed to `fit`.
        samplewise_center, samplewise_std_normalization: the same with the mean and the standard
            deviation of each image itself.
        zca_whitening: True to whiten with the matrix that `fit` computes.
        zca_epsilon: the number that keeps the whitening finite.
        rotation_range: the largest angle in degrees.
        width_shift_range, height_shift_range: the largest shift: a fraction of the size if below 1,
            else pixels; an int for whole pixels; a list to draw one of its numbers. As in Keras 3,
            `height_shift_range` shifts sideways, `width_shift_range` up and down.
        brightness_range: the smallest and the largest factor.
        shear_range: the largest angle of a shear in degrees.
        zoom_range: a number z for factors from 1 - z to 1 + z, or the two factors.
        channel_shift_range: the largest number to add to the values, or to subtract.
        fill_mode, cval: how pixels beyond the image are filled, as in `apply_affine_transform`.
        horizontal_flip, vertical_flip: True to flip half of the images.
        rescale: a factor for all values; None or 0 for none.
        preprocessing_function: a function of one image, called before it is scaled.
        data_format: "channels_last" or "channels_first".
        validation_split: the fraction of the images for `subset="validation"`.
        interpolation_order: 0, 1, or up to 5 for splines by SciPy.
        dtype: the dtype of the batches; floatx by default.

    Example:
        >>> images = np.arange(5 * 4 * 4).reshape(5, 4, 4, 1) % 256
        >>> generator = ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
        >>> x, y = next(generator.flow(images, [0, 1, 0, 1, 0], batch_size=3, seed=1))
        >>> x.shape, x.dtype, y.shape
        ((3, 4, 4, 1), dtype('float32'), (3,))
    """

    def __init__(
        self, featurewise_center: bool = False, samplewise_center: bool = False,
        featurewise_std_normalization: bool = False, samplewise_std_normalization: bool = False,
        zca_whitening: bool = False, zca_epsilon: Any = 1e-06, rotation_range: Any = 0,
        width_shift_range: Any = 0.0, height_shift_range: Any = 0.0, brightness_range: Any = None,
        shear_range: Any = 0.0, zoom_range: Any = 0.0, channel_shift_range: Any = 0.0,
        fill_mode: str = "nearest", cval: Any = 0.0, horizontal_flip: bool = False,
        vertical_flip: bool = False, rescale: Any = None, preprocessing_function: Any = None,
        data_format: Any = None, validation_split: Any = 0.0, interpolation_order: int = 1,
        dtype: Any = None,
    ):  # fmt: skip
        self.featurewise_center, self.samplewise_center = featurewise_center, samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range, self.shear_range = rotation_range, shear_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.channel_shift_range, self.fill_mode, self.cval = channel_shift_range, fill_mode, cval
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.interpolation_order = interpolation_order
        self.data_format = data_format_of(data_format, "ImageDataGenerator: ")
        self.dtype = as_dtype(dtype or floatx()).name
        first = self.data_format == "channels_first"
        self.row_axis, self.col_axis, self.channel_axis = (2, 3, 1) if first else (1, 2, 3)
        self.mean: Any = None
        self.std: Any = None
        self.zca_whitening_matrix: Any = None
        self._validation_split, self.brightness_range = validation_split, brightness_range
        is_number = np.ndim(zoom_range) == 0
        self.zoom_range = [1 - zoom_range, 1 + zoom_range] if is_number else zoom_range
        self._check()

    def _check(self):
        if self._validation_split and not 0 < self._validation_split < 1:
            raise InvalidArgumentError(
                "ImageDataGenerator: validation_split: expected a number in (0, 1), got "
                f"{self._validation_split!r}."
            )
        for name in ("zoom_range", "brightness_range"):
            value = getattr(self, name)
            if value is not None and np.shape(value) != (2,):
                raise InvalidArgumentError(
                    f"ImageDataGenerator: {name}: expected two numbers, got {value!r}."
                )
        if self.fill_mode not in transforms.FILL_MODES:
            raise InvalidArgumentError(
                "ImageDataGenerator: fill_mode: expected one of "
                f"{', '.join(map(repr, transforms.FILL_MODES))}, got {self.fill_mode!r}."
            )
        if self.zca_whitening and self.featurewise_std_normalization:
            self.featurewise_std_normalization = False
            self._warn("zca_whitening replaces featurewise_std_normalization.")
        for name in ("featurewise", "samplewise"):
            scales = getattr(self, f"{name}_std_normalization")
            scales = scales or (name == "featurewise" and self.zca_whitening)
            if scales and not getattr(self, f"{name}_center"):
                setattr(self, f"{name}_center", True)
                self._warn(f"{name}_center is set, which the chosen normalization needs.")

    def _warn(self, text):
        warnings.warn(f"ImageDataGenerator: {text}", stacklevel=4)

    # ---- batches ----

    def flow(
        self, x: Any, y: Any = None, batch_size: Any = 32, shuffle: bool = True,
        sample_weight: Any = None, seed: Any = None, save_to_dir: Any = None,
        save_prefix: str = "", save_format: str = "png", ignore_class_split: bool = False,
        subset: Any = None,
    ) -> Any:  # fmt: skip
        """Return endless batches of augmented images of an array; `Model.fit` accepts them.

        Args:
            x: images of rank 4, or (images, other arrays with as many rows, left unchanged).
            y: labels, or None for images alone.
            batch_size: the number of images in a batch.
            shuffle: True for a new order in each epoch.
            sample_weight: a weight for each image.
            seed: the seed of orders and transformations.
            save_to_dir, save_prefix, save_format: the folder to which augmented images are
                written for inspection, None for none; the prefix and the suffix of their names.
            ignore_class_split: True to allow classes that are in one subset only.
            subset: "training" or "validation", by the generator's `validation_split`.

        >>> generator = ImageDataGenerator(validation_split=0.25)
        >>> images = np.ones((8, 4, 4, 3))
        >>> next(generator.flow(images, subset="validation")).shape
        (2, 4, 4, 3)
        """
        return NumpyArrayIterator(
            x, y, self, batch_size, shuffle, sample_weight, seed, self.data_format, save_to_dir,
            save_prefix, save_format, subset, ignore_class_split, self.dtype,
        )  # fmt: skip

    def flow_from_directory(
        self, directory: Any, target_size: Any = (256, 256), color_mode: str = "rgb",
        classes: Any = None, class_mode: Any = "categorical", batch_size: Any = 32,
        shuffle: bool = True, seed: Any = None, save_to_dir: Any = None, save_prefix: str = "",
        save_format: str = "png", follow_links: bool = False, subset: Any = None,
        interpolation: str = "nearest", keep_aspect_ratio: bool = False,
    ) -> Any:  # fmt: skip
        """Return endless batches of augmented images of a folder with one subfolder per class.

        Args:
            directory: the folder.
            target_size: (height, width) of the images in the batch.
            color_mode: "rgb", "rgba" or "grayscale".
            classes: the subfolders to use, in the order of their classes; by default all, sorted.
            class_mode: "categorical" for one-hot labels, "binary" or "sparse" for numbers,
                "input" for the images themselves, None for no labels.
            batch_size, shuffle, seed, save_to_dir, save_prefix, save_format, subset: as in `flow`.
            follow_links: True to visit subfolders that are links.
            interpolation, keep_aspect_ratio: as in `keras.utils.load_img`.

        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> os.mkdir(os.path.join(folder, "cats"))
        >>> len(ImageDataGenerator().flow_from_directory(folder))
        Found 0 images belonging to 1 classes.
        0
        """
        return DirectoryIterator(
            directory, self, target_size, color_mode, classes, class_mode, batch_size, shuffle,
            seed, self.data_format, save_to_dir, save_prefix, save_format, follow_links, subset,
            interpolation, keep_aspect_ratio, self.dtype,
        )  # fmt: skip

    def flow_from_dataframe(
        self, dataframe: Any, directory: Any = None, x_col: str = "filename", y_col: Any = "class",
        weight_col: Any = None, target_size: Any = (256, 256), color_mode: str = "rgb",
        classes: Any = None, class_mode: Any = "categorical", batch_size: Any = 32,
        shuffle: bool = True, seed: Any = None, save_to_dir: Any = None, save_prefix: str = "",
        save_format: str = "png", subset: Any = None, interpolation: str = "nearest",
        validate_filenames: bool = True, keep_aspect_ratio: bool = False,
    ) -> Any:  # fmt: skip
        """Return endless batches of augmented images from the files listed in a table.

        Args:
            dataframe: a pandas or polars table, or a dict of lists.
            directory: the folder of the files; None if the table has whole paths.
            x_col: the column of the file names.
            y_col: the column of the labels; a list of columns with "multi_output" and "raw".
            weight_col: the column of the weights; None for none.
            class_mode: as in `flow_from_directory`, for labels that are strings (or lists of
                strings, if an image has several classes); "raw" for labels that are numbers,
                "multi_output" for several columns of labels.
            validate_filenames: False to trust that all files exist.
            target_size, color_mode, classes, batch_size, shuffle, seed, save_to_dir, save_prefix,
                save_format, subset, interpolation, keep_aspect_ratio: as in `flow_from_directory`.
        """
        return DataFrameIterator(
            dataframe, directory, self, x_col, y_col, weight_col, target_size, color_mode, classes,
            class_mode, batch_size, shuffle, seed, self.data_format, save_to_dir, save_prefix,
            save_format, subset, interpolation, keep_aspect_ratio, self.dtype, validate_filenames,
        )  # fmt: skip

    # ---- transformations of one image ----

    def standardize(self, x: TensorLike) -> Any:
        """Return an image, or a batch of images, scaled as the constructor's arguments say.

        >>> ImageDataGenerator(rescale=0.5).standardize(np.ones((1, 2, 3))).max()
        np.float64(0.5)
        """
        x = np.asarray(x)
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x = x * np.asarray(self.rescale, x.dtype if x.dtype.kind == "f" else None)
        if self.samplewise_center:
            x = x - np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x = x / (np.std(x, keepdims=True) + np.asarray(_TINY, x.dtype))
        if self.featurewise_center and self._is_fitted("featurewise_center", self.mean):
            x = x - self.mean
        if self.featurewise_std_normalization and self._is_fitted(
            "featurewise_std_normalization", self.std
        ):
            x = x / (self.std + np.asarray(_TINY, x.dtype))
        if self.zca_whitening and self._is_fitted("zca_whitening", self.zca_whitening_matrix):
            flat = x.reshape(-1, np.prod(x.shape[-3:], dtype=int))
            x = (flat @ self.zca_whitening_matrix).reshape(x.shape)
        return x

    def _is_fitted(self, name, value):
        if value is None:
            self._warn(f"{name} has no effect before fit(images) has computed what it needs.")
        return value is not None

    def get_random_transform(self, img_shape: Any, seed: Any = None) -> dict:
        """Return random parameters for images of this shape, a dict for `apply_transform`.

        >>> change = ImageDataGenerator(rotation_range=20).get_random_transform((4, 4, 3), seed=1)
        >>> round(change["theta"], 3), change["zx"], change["flip_vertical"]
        (-3.319, 1, False)
        """
        if seed is not None:
            np.random.seed(seed)
        rows, columns = img_shape[self.row_axis - 1], img_shape[self.col_axis - 1]
        made = {"theta": _symmetric(self.rotation_range)}
        made["tx"] = _shift(self.height_shift_range, rows)
        made["ty"] = _shift(self.width_shift_range, columns)
        made["shear"] = _symmetric(self.shear_range)
        made["zx"], made["zy"] = transforms.zoom_factors(self.zoom_range)
        made["flip_horizontal"] = bool((np.random.random() < 0.5) * self.horizontal_flip)
        made["flip_vertical"] = bool((np.random.random() < 0.5) * self.vertical_flip)
        shift = _symmetric(self.channel_shift_range) if self.channel_shift_range else None
        made["channel_shift_intensity"] = shift
        between = self.brightness_range
        made["brightness"] = None if between is None else np.random.uniform(*between)
        return made

    def apply_transform(self, x: TensorLike, transform_parameters: dict) -> Any:
        """Return an image transformed with given parameters.

        Args:
            x: an array of rank 3.
            transform_parameters: a dict with any of the entries "theta", "tx", "ty", "shear", "zx",
                "zy" (see `apply_affine_transform`), "flip_horizontal", "flip_vertical",
                "channel_shift_intensity" and "brightness".

        >>> image = np.array([[[1.0], [2.0]]])
        >>> ImageDataGenerator().apply_transform(image, {"flip_horizontal": True}).ravel()
        array([2., 1.])
        """
        axes = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        change = transform_parameters
        x = transforms.apply_affine_transform(
            x, change.get("theta", 0), change.get("tx", 0), change.get("ty", 0),
            change.get("shear", 0), change.get("zx", 1), change.get("zy", 1), *axes,
            fill_mode=self.fill_mode, cval=self.cval, order=self.interpolation_order,
        )  # fmt: skip
        if change.get("channel_shift_intensity") is not None:
            x = transforms.apply_channel_shift(x, change["channel_shift_intensity"], axes[2])
        if change.get("flip_horizontal"):
            x = np.flip(x, axes[1])
        if change.get("flip_vertical"):
            x = np.flip(x, axes[0])
        if change.get("brightness") is not None:
            x = transforms.apply_brightness_shift(x, change["brightness"], False)
        return x

    def random_transform(self, x: TensorLike, seed: Any = None) -> Any:
        """Return an image transformed with parameters from `get_random_transform`.

        >>> ImageDataGenerator(zoom_range=0.2).random_transform(np.ones((4, 4, 3))).shape
        (4, 4, 3)
        """
        return self.apply_transform(x, self.get_random_transform(np.shape(x), seed))

    def fit(
        self, x: TensorLike, augment: bool = False, rounds: int = 1, seed: Any = None
    ) -> None:  # fmt: skip
        """Compute the mean, the standard deviation and the whitening matrix of images.

        Args:
            x: images of rank 4.
            augment: True to compute them from augmented images.
            rounds: the number of augmented copies of each image.
            seed: the seed of the transformations.

        >>> generator = ImageDataGenerator(featurewise_center=True)
        >>> generator.fit(np.full((2, 3, 3, 1), 4.0))
        >>> generator.mean.item()
        4.0
        """
        x = np.asarray(x, as_dtype(self.dtype).np)
        if x.ndim != 4:
            raise ShapeError(
                f"ImageDataGenerator.fit: x: expected images of rank 4, got shape {x.shape}."
            )
        if seed is not None:
            np.random.seed(seed)
        if augment:
            x = np.stack([self.random_transform(image) for _ in range(rounds) for image in x])
        axes = 0, self.row_axis, self.col_axis
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = x.shape[self.channel_axis]
        if self.featurewise_center:
            self.mean = np.mean(x, axis=axes).reshape(shape)
            x = x - self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=axes).reshape(shape)
            x = x / (self.std + np.asarray(_TINY, x.dtype))
        if self.zca_whitening:
            vectors, values, _ = np.linalg.svd(x.reshape(len(x), -1).T, full_matrices=False)
            scaled = vectors * (np.sqrt(len(x)) / (values + self.zca_epsilon))
            self.zca_whitening_matrix = (scaled @ vectors.T).astype(x.dtype)


def _symmetric(most):
    return np.random.uniform(-most, most) if most else 0


def _shift(most, size):
    """Return a random shift in pixels, for an argument `most` such as `width_shift_range`."""
    if np.ndim(most) == 0 and not most:
        return 0
    if np.ndim(most) == 1 or isinstance(most, (int, np.integer)):
        return np.random.choice(most) * np.random.choice([-1, 1])
    move = np.random.uniform(-most, most)
    return move * size if most < 1 else move
