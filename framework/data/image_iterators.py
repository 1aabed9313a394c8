"""Endless batches of augmented images from arrays and folders, for ImageDataGenerator."""

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError, OutOfRangeError, ShapeError
from framework.core.program_settings import data_format_of
from framework.data.images import array_to_img, img_to_array, load_img
from framework.data.pydataset import PyDataset

CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")


class Iterator(PyDataset):
    """Batches of rows, in a new order in each epoch: `self[i]` is batch i, `next(self)` never ends.

    A subclass defines `_get_batches_of_transformed_samples(index_array)`.

    Args:
        n: the number of rows.
        batch_size: the number of rows in a batch.
        shuffle: True for a new order in each epoch.
        seed: the seed of the orders and transformations: before each batch, NumPy's global
            generator is seeded with it plus the number of batches so far.
        **kwargs: `workers`, `use_multiprocessing`, `max_queue_size` as in `PyDataset`.

    Example:
        >>> class Rows(Iterator):
        ...     def _get_batches_of_transformed_samples(self, index_array):
        ...         return index_array.tolist()
        >>> batches = Rows(3, 2, shuffle=False, seed=None)
        >>> len(batches), [next(batches) for _ in range(3)]
        (2, [[0, 1], [2], [0, 1]])
    """

    white_list_formats = tuple(s[1:] for s in SUFFIXES)

    def __init__(self, n: Any, batch_size: Any, shuffle: bool, seed: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = self.total_batches_seen = 0
        self.index_array: Any = None
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, idx: Any) -> Any:
        if idx >= len(self):
            raise OutOfRangeError(
                f"{type(self).__name__}: batch {idx} is out of range for {len(self)} batches."
            )
        with self.lock:
            self._seed()
            self.total_batches_seen += 1
            if self.index_array is None:
                self._set_index_array()
            start = self.batch_size * idx
            return self._get_batches_of_transformed_samples(
                self.index_array[start : start + self.batch_size]
            )

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            self._seed()
            if self.batch_index == 0 or self.index_array is None:
                self._set_index_array()
            start = self.batch_index * self.batch_size
            self.batch_index = 0 if start + self.batch_size >= self.n else self.batch_index + 1
            self.total_batches_seen += 1
            return self._get_batches_of_transformed_samples(
                self.index_array[start : start + self.batch_size]
            )

    def next(self):
        """Return the next batch."""
        return self.__next__()

    def reset(self):
        """Make the following call of `next` begin a new epoch."""
        self.batch_index = 0

    def on_epoch_end(self):
        """Draw a new order of the rows."""
        self._set_index_array()

    def _seed(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def _set_index_array(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} must define _get_batches_of_transformed_samples(index_array)."
        )

    def _save(self, images, index_array, prefix, suffix, folder):
        """Write the images of a batch to a folder, for inspection."""
        for image, index in zip(images, index_array):
            name = f"{prefix}_{index}_{np.random.randint(10**4)}.{suffix}"
            array_to_img(image, self.data_format, scale=True).save(Path(folder) / name)

    data_format: Any = None


def part_of(name, count, subset, generator):
    """Return (start, stop), the range of a subset's rows among `count` rows."""
    if subset is None:
        return 0, count
    held = int(generator._validation_split * count)
    if subset not in ("training", "validation"):
        raise InvalidArgumentError(
            f"{name}: subset: expected 'training', 'validation' or None, got {subset!r}."
        )
    return (0, held) if subset == "validation" else (held, count)


class NumpyArrayIterator(Iterator):
    """Batches of augmented images of an array, as `ImageDataGenerator.flow` returns them.

    Example:
        >>> from framework.data.image_generator import ImageDataGenerator
        >>> images, labels = np.ones((5, 4, 4, 3)), np.arange(5)
        >>> batches = NumpyArrayIterator(images, labels, ImageDataGenerator(), batch_size=2)
        >>> next(batches)[1].tolist()
        [0, 1]
    """

    def __init__(
        self, x: Any, y: Any, image_data_generator: Any, batch_size: Any = 32,
        shuffle: bool = False, sample_weight: Any = None, seed: Any = None, data_format: Any = None,
        save_to_dir: Any = None, save_prefix: str = "", save_format: str = "png",
        subset: Any = None, ignore_class_split: bool = False, dtype: Any = None,
    ):  # fmt: skip
        others: Any = []
        if isinstance(x, (tuple, list)) and len(x) == 2 and not np.isscalar(x[1]):
            x, others = x[0], x[1] if isinstance(x[1], list) else [x[1]]
        x = np.asarray(x)
        rows = {"x": others, "y": y, "sample_weight": sample_weight}
        for name, value in rows.items():
            for each in value if name == "x" else [value]:
                if each is not None and len(each) != len(x):
                    raise InvalidArgumentError(
                        f"NumpyArrayIterator: {name}: expected {len(x)} rows, as many as images, "
                        f"got {len(each)}."
                    )
        self.data_format = data_format_of(data_format, "NumpyArrayIterator: ")
        self.dtype = as_dtype(dtype or floatx()).np
        start, stop = part_of("NumpyArrayIterator", len(x), subset, image_data_generator)
        if subset is not None and y is not None and not ignore_class_split:
            held = int(image_data_generator._validation_split * len(x))
            if not np.array_equal(np.unique(y[:held]), np.unique(y[held:])):
                raise InvalidArgumentError(
                    "NumpyArrayIterator: y: expected all classes in both training and validation. "
                    "Shuffle the rows first, or pass ignore_class_split=True."
                )
        self.x = np.asarray(x[start:stop], self.dtype)
        if self.x.ndim != 4:
            raise ShapeError(
                f"NumpyArrayIterator: x: expected images of rank 4, got shape {self.x.shape}."
            )
        self.x_misc = [np.asarray(each[start:stop]) for each in others]
        self.y = None if y is None else np.asarray(y[start:stop])
        self.sample_weight = (
            None if sample_weight is None else np.asarray(sample_weight)[start:stop]
        )
        self.image_data_generator = image_data_generator
        self.save_to_dir, self.save_prefix = save_to_dir, save_prefix
        self.save_format = save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array):
        generator = self.image_data_generator
        images = np.zeros((len(index_array), *self.x.shape[1:]), self.dtype)
        for i, j in enumerate(index_array):
            image = self.x[j]
            changed = generator.apply_transform(image, generator.get_random_transform(image.shape))
            images[i] = generator.standardize(changed)
        if self.save_to_dir:
            self._save(images, index_array, self.save_prefix, self.save_format, self.save_to_dir)
        x = [images, *(each[index_array] for each in self.x_misc)] if self.x_misc else images
        if self.y is None:
            return x
        if self.sample_weight is None:
            return x, self.y[index_array]
        return x, self.y[index_array], self.sample_weight[index_array]


class FileIterator(Iterator):
    """Batches of augmented images from files; subclasses set `_filepaths` and `classes`."""

    _filepaths: Any
    _targets: Any = None  # the labels, if class_mode is "raw" or "multi_output"
    _sample_weight: Any = None
    classes: Any = None
    class_indices: Any = None

    @property
    def filepaths(self):
        """The paths of the files."""
        return self._filepaths

    @property
    def labels(self):
        """The label of each file."""
        return self.classes if self._targets is None else self._targets

    @property
    def sample_weight(self):
        """The weight of each file; None if there are none."""
        return self._sample_weight

    def _configure(
        self, image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
        save_format, interpolation, keep_aspect_ratio, class_mode, dtype,
    ):  # fmt: skip
        if color_mode not in CHANNELS:
            raise InvalidArgumentError(
                f"{type(self).__name__}: color_mode: expected 'rgb', 'rgba' or 'grayscale', got "
                f"{color_mode!r}."
            )
        self.image_data_generator, self.target_size = image_data_generator, tuple(target_size)
        self.color_mode, self.class_mode = color_mode, class_mode
        self.data_format = data_format_of(data_format, f"{type(self).__name__}: ")
        self.interpolation, self.keep_aspect_ratio = interpolation, keep_aspect_ratio
        self.save_to_dir, self.save_prefix = save_to_dir, save_prefix
        self.save_format, self.dtype = save_format, as_dtype(dtype or floatx()).np
        channels = CHANNELS[color_mode]
        first = self.data_format == "channels_first"
        self.image_shape = (channels, *self.target_size) if first else (*self.target_size, channels)

    def _get_batches_of_transformed_samples(self, index_array):
        images = np.zeros((len(index_array), *self.image_shape), self.dtype)
        generator = self.image_data_generator
        for i, j in enumerate(index_array):
            image = img_to_array(
                load_img(
                    self.filepaths[j], self.color_mode, self.target_size, self.interpolation,
                    self.keep_aspect_ratio,
                ),
                self.data_format,
            )  # fmt: skip
            if generator is not None:
                image = generator.apply_transform(
                    image, generator.get_random_transform(image.shape)
                )
                image = generator.standardize(image)
            images[i] = image
        if self.save_to_dir:
            self._save(images, index_array, self.save_prefix, self.save_format, self.save_to_dir)
        labels = self._labels(images, index_array)
        if labels is None:
            return images
        if self.sample_weight is None:
            return images, labels
        return images, labels, np.asarray(self.sample_weight)[index_array]

    def _labels(self, images, index_array):
        """Return the labels of a batch in the form for `class_mode`."""
        mode = self.class_mode
        if mode is None:
            return None
        if mode == "input":
            return images.copy()
        if mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if mode == "categorical":
            hot = np.zeros((len(index_array), len(self.class_indices)), self.dtype)
            for row, j in zip(hot, index_array):
                row[self.labels[j]] = 1  # a label is one class or a list of classes
            return hot
        chosen = np.asarray(self.labels)[index_array]
        return chosen if mode == "raw" else chosen.astype(self.dtype)


class DirectoryIterator(FileIterator):
    """Batches of augmented images of a folder, as `ImageDataGenerator.flow_from_directory` returns
    them.

    Example:
        >>> import tempfile
        >>> from framework.data.images import save_img
        >>> folder = Path(tempfile.mkdtemp())
        >>> for name in ("cats", "dogs"):
        ...     (folder / name).mkdir()
        ...     save_img(folder / name / "1.png", np.zeros((4, 4, 3)))
        >>> batches = DirectoryIterator(folder, None, target_size=(2, 2), shuffle=False)
        Found 2 images belonging to 2 classes.
        >>> x, y = next(batches)
        >>> x.shape, y.tolist(), batches.class_indices
        ((2, 2, 2, 3), [[1.0, 0.0], [0.0, 1.0]], {'cats': 0, 'dogs': 1})
    """

    allowed_class_modes = frozenset(("categorical", "binary", "sparse", "input", None))

    def __init__(
        self, directory: Any, image_data_generator: Any, target_size: Any = (256, 256),
        color_mode: str = "rgb", classes: Any = None, class_mode: Any = "categorical",
        batch_size: Any = 32, shuffle: bool = True, seed: Any = None, data_format: Any = None,
        save_to_dir: Any = None, save_prefix: str = "", save_format: str = "png",
        follow_links: bool = False, subset: Any = None, interpolation: str = "nearest",
        keep_aspect_ratio: bool = False, dtype: Any = None,
    ):  # fmt: skip
        if class_mode not in self.allowed_class_modes:
            raise InvalidArgumentError(
                "DirectoryIterator: class_mode: expected 'categorical', 'binary', 'sparse', "
                f"'input' or None, got {class_mode!r}."
            )
        self._configure(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
            save_format, interpolation, keep_aspect_ratio, class_mode, dtype,
        )  # fmt: skip
        self.directory = folder = Path(directory)
        if not classes:
            classes = sorted(p.name for p in folder.iterdir() if p.is_dir())
        self.class_indices = {name: i for i, name in enumerate(classes)}
        self.num_classes = len(classes)
        self.filenames, labels = [], []
        for label, name in enumerate(classes):
            found = files_in(folder / name, follow_links)
            start, stop = part_of("DirectoryIterator", len(found), subset, image_data_generator)
            self.filenames += [str(path.relative_to(folder)) for path in found[start:stop]]
            labels += [label] * (stop - start)
        self.samples, self.classes = len(labels), np.array(labels, np.int32)
        self._filepaths = [str(folder / name) for name in self.filenames]
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)


def files_in(folder, follow_links=False):
    """Return the paths of the images below a folder, sorted by folder, then by name."""
    return [
        Path(root) / name
        for root, _, names in sorted(os.walk(folder, followlinks=follow_links))
        for name in sorted(names)
        if name.lower().endswith(SUFFIXES)
    ]
