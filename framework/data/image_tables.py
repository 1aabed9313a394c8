"""Batches of augmented images from files listed in a table, for ImageDataGenerator."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from framework.core.errors import DTypeError, InvalidArgumentError
from framework.data.image_iterators import SUFFIXES, FileIterator, part_of

_OF_CLASSES = ("binary", "categorical", "sparse")


class DataFrameIterator(FileIterator):
    """Batches of augmented images for a table, as `flow_from_dataframe` returns them.

    Example:
        >>> import tempfile
        >>> from framework.data.images import save_img
        >>> folder = Path(tempfile.mkdtemp())
        >>> save_img(folder / "a.png", np.zeros((4, 4, 3)))
        >>> table = {"file": ["a.png"], "price": [2.5]}
        >>> batches = DataFrameIterator(table, folder, x_col="file", y_col="price",
        ...                             class_mode="raw", target_size=(2, 2))
        Found 1 validated image filenames.
        >>> next(batches)[1]
        array([2.5])
    """

    def __init__(
        self, dataframe: Any, directory: Any = None, image_data_generator: Any = None,
        x_col: str = "filename", y_col: Any = "class", weight_col: Any = None,
        target_size: Any = (256, 256), color_mode: str = "rgb", classes: Any = None,
        class_mode: Any = "categorical", batch_size: Any = 32, shuffle: bool = True,
        seed: Any = None, data_format: Any = "channels_last", save_to_dir: Any = None,
        save_prefix: str = "", save_format: str = "png", subset: Any = None,
        interpolation: str = "nearest", keep_aspect_ratio: bool = False, dtype: Any = "float32",
        validate_filenames: bool = True,
    ):  # fmt: skip
        self._configure(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
            save_format, interpolation, keep_aspect_ratio, class_mode, dtype,
        )  # fmt: skip
        self.directory = Path(directory or "")
        names = list(dataframe[x_col])
        if not all(isinstance(name, str) for name in names):
            raise DTypeError(f"DataFrameIterator: x_col: expected strings in column {x_col!r}.")
        rows = self._existing(names, x_col) if validate_filenames else list(range(len(names)))
        if class_mode in _OF_CLASSES:
            labels = list(dataframe[y_col])
            rows, classes = self._of_classes(labels, rows, classes, y_col)
        elif classes:
            warnings.warn(
                f"DataFrameIterator: classes is ignored with class_mode={class_mode!r}.",
                stacklevel=3,
            )
        start, stop = part_of("DataFrameIterator", len(rows), subset, image_data_generator)
        rows = rows[start:stop]
        self.filenames, self.samples = [names[row] for row in rows], len(rows)
        self._filepaths = [str(self.directory / name) for name in self.filenames]
        self._take_labels(dataframe, y_col, weight_col, rows)
        checked = "validated" if validate_filenames else "non-validated"
        of_classes = f" belonging to {len(classes)} classes" if self.class_indices else ""
        print(f"Found {self.samples} {checked} image filenames{of_classes}.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _existing(self, names, column):
        """Return the indices of the rows that name an existing image file."""
        rows = [
            row for row, name in enumerate(names)
            if name.lower().endswith(SUFFIXES) and (self.directory / name).is_file()
        ]  # fmt: skip
        if missing := len(names) - len(rows):
            warnings.warn(
                f"DataFrameIterator: {missing} names in the column {column!r} are not existing "
                "image files, so these rows are left out.", stacklevel=4,
            )  # fmt: skip
        return rows

    def _of_classes(self, labels, rows, classes, column):
        """Return (rows with a label of `classes`, the classes), and set `class_indices`."""
        kinds = (str, list, tuple) if self.class_mode == "categorical" else (str,)
        if not all(isinstance(labels[row], kinds) for row in rows):
            raise DTypeError(
                f"DataFrameIterator: y_col: with class_mode={self.class_mode!r}, expected strings "
                f"in column {column!r}. Use class_mode='raw' for numbers."
            )
        sets = {row: {labels[row]} if isinstance(labels[row], str) else set(labels[row])
                for row in rows}  # fmt: skip
        known = list(dict.fromkeys(classes)) if classes else sorted(set().union(*sets.values()))
        if self.class_mode == "binary" and len(known) != 2:
            raise InvalidArgumentError(
                f"DataFrameIterator: class_mode 'binary' needs two classes, got {len(known)}."
            )
        self.class_indices = {name: i for i, name in enumerate(known)}
        return [row for row in rows if sets[row] & set(known)], known

    def _take_labels(self, table, y_col, weight_col, rows):
        mode = self.class_mode
        if mode in _OF_CLASSES:
            labels = list(table[y_col])
            self.classes = [self._number(labels[row]) for row in rows]
        elif mode == "multi_output":
            if not isinstance(y_col, (list, tuple)):
                raise DTypeError(
                    "DataFrameIterator: y_col: with class_mode='multi_output', expected a list of "
                    f"columns, got {y_col!r}."
                )
            columns = [list(table[column]) for column in y_col]
            self._targets = [np.array([column[row] for row in rows]) for column in columns]
        elif mode == "raw":
            wanted = list(y_col) if isinstance(y_col, (list, tuple)) else [y_col]
            columns = [np.asarray(list(table[column]))[rows] for column in wanted]
            self._targets = columns[0] if isinstance(y_col, str) else np.stack(columns, -1)
        elif mode not in ("input", None):
            raise InvalidArgumentError(
                "DataFrameIterator: class_mode: expected 'categorical', 'binary', 'sparse', "
                f"'input', 'multi_output', 'raw' or None, got {mode!r}."
            )
        if weight_col:
            self._sample_weight = np.asarray(list(table[weight_col]))[rows]

    def _number(self, label):
        if isinstance(label, str):
            return self.class_indices[label]
        return [self.class_indices[each] for each in label if each in self.class_indices]
