"""Datasets of the images or texts in a folder, with labels from its subfolders."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.program_settings import data_format_of
from framework.core.tensor import Tensor
from framework.data import image_resizing
from framework.data.dataset import Dataset
from framework.data.images import MODES, load_img

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
TEXTS = (".txt",)
# Pillow releases the GIL while it decodes, so threads run in parallel
_READERS = min(8, os.cpu_count() or 1)


def image_dataset_from_directory(
    directory: Any, labels: Any = "inferred", label_mode: Any = "int", class_names: Any = None,
    color_mode: str = "rgb", batch_size: Any = 32, image_size: Any = (256, 256),
    shuffle: bool = True, seed: Any = None, validation_split: Any = None, subset: Any = None,
    interpolation: str = "bilinear", follow_links: bool = False,
    crop_to_aspect_ratio: bool = False, pad_to_aspect_ratio: bool = False,
    data_format: Any = None, format: str = "tf", verbose: bool = True,
) -> Any:  # fmt: skip
    """Return a dataset of the images in a folder; needs Pillow (the extra `image`).

    Args:
        directory: a folder; with inferred labels, it has one subfolder for each class.
        labels: "inferred" from the subfolders, a list with one int for each file in the order of
            sorted paths, or None.
        label_mode: "int" (int32), "categorical" (one-hot float32), "binary" (float32 of shape
            (batch, 1)), or None for images alone.
        class_names: the subfolders to use, in the order of their labels; by default all, sorted.
        color_mode: "rgb", "rgba" or "grayscale".
        batch_size: the number of images in a batch; None for single images.
        image_size: (height, width), or one int for both.
        shuffle: True for a new order of all images in each epoch; False for sorted paths.
        seed: the seed of the order. With it, both subsets get the same files as in Keras.
        validation_split: the fraction of the images for validation.
        subset: "training", "validation", or "both" for the two datasets.
        interpolation: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5",
            "gaussian" or "mitchellcubic".
        follow_links: True to visit subfolders that are links.
        crop_to_aspect_ratio: True to crop images to the aspect ratio of `image_size` instead of
            distorting them.
        pad_to_aspect_ratio: True to add black margins instead.
        data_format: "channels_first" for images of shape (channels, height, width).
        format: "tf", for a Dataset.
        verbose: True to print how many files were found.

    Returns:
        A Dataset of (images, labels): images from 0 to 255 of shape (batch, height, width,
        channels), float32 (uint8 with "nearest"). It has the attributes `class_names` and
        `file_paths`. Of an animation, the first frame is used.

    Raises:
        ValueError: an argument is unknown, or there are no images.
        ImportError: Pillow is not installed.
    """
    name = "image_dataset_from_directory"
    _one_of(name, "color_mode", color_mode, MODES)
    method = interpolation.lower()
    _one_of(name, "interpolation", method, image_resizing.METHODS)
    data_format = data_format_of(data_format, f"{name}: ")
    size = (image_size, image_size) if isinstance(image_size, int) else image_size
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise InvalidArgumentError(f"{name}: image_size: expected two ints, got {image_size!r}.")

    def load(path):
        image = np.asarray(load_img(path, color_mode))
        image = image[:, :, None] if image.ndim == 2 else image
        if crop_to_aspect_ratio:
            image = image_resizing.cropped(image, size)
        elif pad_to_aspect_ratio:
            image = image_resizing.padded(image, size)
        image = image_resizing.resized(image, size, method)
        return image.transpose(2, 0, 1) if data_format == "channels_first" else image

    _one_of(name, "format", format, ("tf",))
    found = _index(name, directory, IMAGES, labels, label_mode, class_names, follow_links, verbose)
    return _datasets(name, found, load, batch_size, shuffle, seed, validation_split, subset)


def text_dataset_from_directory(
    directory: Any, labels: Any = "inferred", label_mode: Any = "int", class_names: Any = None,
    batch_size: Any = 32, max_length: Any = None, shuffle: bool = True, seed: Any = None,
    validation_split: Any = None, subset: Any = None, follow_links: bool = False,
    format: str = "tf", verbose: bool = True,
) -> Any:  # fmt: skip
    """Return a dataset of the texts (.txt files) in a folder, as strings.

    Args:
        directory: a folder; with inferred labels, it has one subfolder for each class.
        labels: "inferred" from the subfolders, a list with one int for each file in the order of
            sorted paths, or None.
        label_mode: "int" (int32), "categorical" (one-hot float32), "binary" (float32 of shape
            (batch, 1)), or None for texts alone.
        class_names: the subfolders to use, in the order of their labels; by default all, sorted.
        batch_size: the number of texts in a batch; None for single texts.
        max_length: the number of bytes to keep of a text; None for all.
        shuffle: True for a new order of all texts in each epoch; False for sorted paths.
        seed: the seed of the order. With it, both subsets get the same files as in Keras.
        validation_split: the fraction of the texts for validation.
        subset: "training", "validation", or "both" for the two datasets.
        follow_links: True to visit subfolders that are links.
        format: "tf", for a Dataset.
        verbose: True to print how many files were found.

    Returns:
        A Dataset of (texts, labels), with the attributes `class_names` and `file_paths`.

    Raises:
        ValueError: an argument is unknown, or there are no texts.
    """
    name = "text_dataset_from_directory"
    _one_of(name, "format", format, ("tf",))

    def load(path):
        return Path(path).read_bytes()[:max_length]

    found = _index(name, directory, TEXTS, labels, label_mode, class_names, follow_links, verbose)
    return _datasets(name, found, load, batch_size, shuffle, seed, validation_split, subset)


# ---- finding files -------------------------------------------------------------------------------


def _one_of(function, name, value, known):
    if value not in known:
        raise InvalidArgumentError(
            f"{function}: {name}: expected one of {', '.join(map(repr, known))}, got {value!r}."
        )


def _index(name, directory, suffixes, labels, label_mode, class_names, follow_links, verbose):
    """Return (paths, encoded labels or None, class names or None), sorted by path."""
    _one_of(name, "label_mode", label_mode, ("int", "categorical", "binary", None))
    if labels not in ("inferred", None) and not isinstance(labels, (list, tuple)):
        raise InvalidArgumentError(
            f"{name}: labels: expected 'inferred', None or a list of ints, got {labels!r}."
        )
    if labels != "inferred" and class_names:
        raise InvalidArgumentError(
            f"{name}: class_names: expected None unless labels is 'inferred', got {class_names!r}."
        )
    labels = None if label_mode is None else labels
    folder = Path(os.fsdecode(directory))
    if labels == "inferred":
        class_names = _classes(name, folder, class_names)
        files = [_files(folder / each, suffixes, follow_links) for each in class_names]
        numbers = np.repeat(np.arange(len(files), dtype=np.int32), list(map(len, files)))
        paths = [path for each in files for path in each]
    else:
        paths, class_names = _files(folder, suffixes, follow_links), None
        numbers = None if labels is None else np.asarray(labels, np.int32)
    if labels not in ("inferred", None):
        if len(numbers) != len(paths):
            raise InvalidArgumentError(
                f"{name}: labels: expected one for each of the {len(paths)} files in {folder}, "
                f"got {len(numbers)}."
            )
        class_names = [str(label) for label in sorted(set(labels))]
    if not paths:
        raise InvalidArgumentError(
            f"{name}: directory: no files that end with {', '.join(suffixes)} in {folder}."
        )
    if verbose:
        classes = "" if class_names is None else f" belonging to {len(class_names)} classes"
        print(f"Found {len(paths)} files{classes}.")
    return paths, _encoded(name, numbers, label_mode, class_names), class_names


def _classes(name, folder, given):
    there = sorted(p.name for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    if given is not None and not set(given) <= set(there):
        raise InvalidArgumentError(
            f"{name}: class_names: expected names from the subfolders {there}, got {list(given)}."
        )
    return there if given is None else list(given)


def _files(folder, suffixes, follow_links):
    """Return the paths of all files with these suffixes, sorted by folder as in Keras."""
    found = []
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links)):
        kept = (each for each in sorted(names) if each.lower().endswith(suffixes))
        found.extend(os.path.join(root, each) for each in kept)  # noqa: PTH118 (faster)
    return found


def _encoded(name, numbers, label_mode, class_names):
    if numbers is None or label_mode == "int":
        return numbers
    if label_mode == "binary":
        if len(class_names) != 2:
            raise InvalidArgumentError(
                f"{name}: label_mode 'binary' needs two classes, got {class_names}."
            )
        return numbers[:, None].astype(np.float32)
    return (numbers[:, None] == np.arange(len(class_names))).astype(np.float32)


# ---- datasets ------------------------------------------------------------------------------------


def _datasets(
    name, found, load, batch_size, shuffle, seed, validation_split, subset, stack=None
):  # fmt: skip
    paths, labels, class_names = found
    _one_of(name, "subset", subset, ("training", "validation", "both", None))
    if (validation_split is None) != (subset is None):
        raise InvalidArgumentError(
            f"{name}: expected both or none of validation_split and subset, got "
            f"{validation_split!r} and {subset!r}."
        )
    order = np.arange(len(paths))
    # Keras's random generator is used, to get the same split of the files
    if shuffle and seed is not None:
        np.random.RandomState(seed).shuffle(order)
    parts = {None: (order, shuffle)}
    if subset is not None:
        if not 0 < validation_split < 1:
            raise InvalidArgumentError(
                f"{name}: validation_split: expected a number in (0, 1), got {validation_split}."
            )
        if shuffle and seed is None:
            raise InvalidArgumentError(
                f"{name}: seed: expected an int, because training and validation are shuffled "
                "and must not overlap, got None."
            )
        held_out = int(validation_split * len(paths))
        training, validation = order[: len(order) - held_out], order[len(order) - held_out :]
        # as in Keras, the validation files stay unshuffled only if subset="both"
        parts = {
            "training": (training, shuffle),
            "validation": (validation, shuffle and subset != "both"),
        }
    made = []
    for part in parts if subset in ("both", None) else [subset]:
        rows, shuffled = parts[part]
        if not len(rows):
            raise InvalidArgumentError(
                f"{name}: validation_split={validation_split} leaves no file for {part}, "
                f"of {len(paths)} files."
            )
        chosen = [paths[row] for row in rows], None if labels is None else labels[rows]
        stages = load, stack or _stacked, batch_size, shuffled, seed
        made.append(_dataset(*chosen, *stages, class_names))
    return made if subset == "both" else made[0]


def _dataset(paths, labels, load, stack, batch_size, shuffle, seed, class_names):
    """Return a dataset of the files; threads read a batch's files (or the next single files)."""
    rows = Dataset.from_tensor_slices(np.arange(len(paths)))
    if shuffle:
        rows = rows.shuffle(len(paths), seed=seed)
    if batch_size is not None:
        rows = rows.batch(batch_size)

    def take(row):
        at = row.array
        if at.ndim:
            with ThreadPoolExecutor(_READERS) as readers:
                values = stack(list(readers.map(load, [paths[i] for i in at])))
        else:
            values = stack([load(paths[at])])[0]
        values = Tensor(np.asarray(values, object if isinstance(values, bytes) else None))
        return values if labels is None else (values, Tensor(np.asarray(labels[at])))

    dataset = rows.map(take, _READERS if batch_size is None else None).prefetch(2)
    dataset.class_names, dataset.file_paths = class_names, paths
    return dataset


def _stacked(values):
    """Return the values as one array; an array of texts holds bytes objects."""
    if not isinstance(values[0], bytes):
        return np.stack(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array
