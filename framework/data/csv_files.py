"""Datasets of CSV files: CsvDataset, and make_csv_dataset, which finds names and dtypes."""

import csv
import functools
import io
import itertools
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data import csv_blocks
from framework.data.dataset import Dataset
from framework.data.file_readers import Files, text
from framework.data.parallel import AUTOTUNE, Parallel
from framework.data.records import as_path, compression, matching, opened
from framework.data.row_gathering import Rows
from framework.data.structure import array_in

_DTYPES = ("float32", "float64", "int32", "int64", "string")


class CsvDataset(Dataset):
    """A dataset of the rows of CSV files, tuples of one scalar tensor for each column.

    Args:
        filenames: a path, a list or tensor of paths, or a Dataset of them.
        record_defaults: for each column a dtype (float32, float64, int32, int64 or string), or a
            value for empty fields, which gives the dtype.
        compression_type: "GZIP", "ZLIB", or None.
        buffer_size: accepted, without effect.
        header: True to skip the first line of each file.
        field_delim: the character between fields.
        use_quote_delim: False to treat quotes as ordinary characters.
        na_value: a text that means an empty field, besides "".
        select_cols: the columns to read, increasing ints; `record_defaults` has an item for each.
        exclude_cols: the columns not to read, instead of `select_cols`.

    Raises:
        InvalidArgumentError: a line has a wrong number of fields, or an invalid number.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "two.csv")
        >>> with open(path, "w") as file:
        ...     _ = file.write("1,a\\n,b\\n")
        >>> list(CsvDataset(path, [7, "string"]).as_numpy_iterator())
        [(np.int32(1), b'a'), (np.int32(7), b'b')]
    """

    def __init__(
        self, filenames: Any, record_defaults: Any, compression_type: Any = None,
        buffer_size: Any = None, header: bool = False, field_delim: str = ",",
        use_quote_delim: bool = True, na_value: str = "", select_cols: Any = None,
        exclude_cols: Any = None,
    ):  # fmt: skip
        kind = compression("CsvDataset", compression_type)
        if select_cols is not None and exclude_cols is not None:
            raise InvalidArgumentError(
                "CsvDataset: expected one of select_cols and exclude_cols, got both."
            )
        columns = [_column(value) for value in record_defaults]
        rows = _Rows(
            kind, bool(header), field_delim, use_quote_delim, na_value, columns,
            None if select_cols is None else list(select_cols),
            None if exclude_cols is None else set(exclude_cols),
        )  # fmt: skip
        spec = tuple(TensorSpec((), dtype) for dtype, _ in columns)
        super().__init__(CsvFiles("CsvDataset", filenames, rows, spec))


class CsvFiles(Files):
    """A pipeline stage that yields the rows of CSV files, read in blocks of lines."""

    streams = True

    def __init__(self, name, filenames, rows, spec):
        super().__init__(name, filenames, rows.read, spec)
        self.rows_of = rows

    def passes(self):
        paths = map(as_path, self.parent.iterate())
        return map(_raised, itertools.chain.from_iterable(map(self.rows_of.blocks, paths)))


def _raised(item):
    """Return an item, or raise it if it is an error. The iterator can continue after the error."""
    if not isinstance(item, Exception):
        return item
    try:
        raise item
    finally:
        del item  # deleted because the error and its traceback would form a reference cycle


def _column(value):
    """Return (dtype, default value or None) of an item of `record_defaults`."""
    if isinstance(value, (dtypes.DType, np.dtype, type)) or str(value) in _DTYPES:
        dtype, default = dtypes.as_dtype(value), None
    else:
        array = array_in(value, "CsvDataset: record_defaults")
        dtype = dtypes.of_array(array)
        default = array.reshape(-1)[0] if array.size else None
    if dtype.name not in _DTYPES:
        raise InvalidArgumentError(
            f"CsvDataset: record_defaults: expected dtypes {', '.join(_DTYPES)}, got {dtype}."
        )
    return dtype, default


class _Rows:
    """Reads the rows of one file."""

    def __init__(self, kind, header, delimiter, quotes, missing, columns, select, exclude):
        self.kind, self.header, self.columns = kind, header, columns
        self.missing, self.select, self.exclude = missing, select, exclude
        quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
        self.how = {"delimiter": delimiter, "quoting": quoting, "strict": True}

    def read(self, path):
        """Return an iterator over the rows of a file, which continues after a row with an error."""
        return self._elements(path, read_rows(path, self.kind, self.how), 0)

    def _elements(self, path, rows, first):
        numbered = (
            (row, path, number)
            for number, row in enumerate(rows, first)
            if (number or not self.header) and row
        )
        return itertools.starmap(self.element, numbered)

    def blocks(self, path):
        """Yield `Rows` of many lines each; an invalid line yields its error at its position.

        Lines with quotes, empty lines and lines with a wrong number of fields are read one by one.
        So are all lines after a quote, because a quoted field may contain a line break.
        """
        delimiter = self.how["delimiter"]
        with opened(path, self.kind) as file:
            columns = self._fields(path) if len(delimiter.encode()) == 1 else 0
            if not columns:
                yield from self._one_by_one(path, _text(file.read()), 0)
                return

            def parsed(part, _=None):
                data, is_plain, has_header = part
                lines = csv_blocks.CsvLines(data, ord(delimiter), columns) if is_plain else None
                return data, lines, has_header

            parts, number = self._parts(file), int(self.header)
            # A thread parses the following blocks ahead; a file of one block needs no thread.
            first = map(parsed, itertools.islice(parts, 1))
            for data, lines, has_header in itertools.chain(
                first, Parallel(parsed, parts, itertools.count(), 1)
            ):
                if lines is None:
                    yield from self._one_by_one(path, _text(data), 0 if has_header else number)
                    return
                try:
                    found = self._columns(lines, path, number) if lines.regular else None
                except InvalidArgumentError:  # the row-by-row reader reports the error at its row
                    found = None
                if found is None:
                    yield from self._one_by_one(path, _text(data), number)
                else:
                    yield found
                number += lines.rows

    def _parts(self, file):
        """Yield blocks as (bytes, whether they have no quotes, whether they include the header).

        The header is dropped, unless its block has a quote: the first such block contains all
        bytes that follow, too.
        """
        has_header = self.header
        blocks = csv_blocks.CsvBlocks(file, _BLOCK)
        for data in blocks:
            if b"\r" in data:
                data = data.replace(b"\r\n", b"\n")  # noqa: PLW2901
            if b'"' in data or b"\r" in data:
                yield data + blocks.remaining(), False, has_header
                return
            if has_header:
                data, has_header = data.partition(b"\n")[2], False  # noqa: PLW2901
            if data:
                yield data, True, False

    def _fields(self, path):
        """Return the number of fields of the first row; 0 if it is not the expected number."""
        count = len(next(read_rows(path, self.kind, self.how), []))
        if self.select is not None:
            return count if max(self.select, default=0) < count else 0
        return count if count - len(self.exclude or ()) == len(self.columns) else 0

    def _columns(self, lines, path, number):
        """Return `Rows` of lines that are `regular`; `number` is the first line's row number."""
        chosen = self.select
        if chosen is None:
            chosen = [i for i in range(lines.columns) if i not in (self.exclude or ())]
        arrays = []
        for place, (i, column) in enumerate(zip(chosen, self.columns)):
            value = functools.partial(self._number, column, path, number, place)
            if column[0].name == "string":
                array = np.empty(lines.rows, object)
                array[:] = [text or value(row, text) for row, text in enumerate(lines.texts(i))]
            else:
                array = lines.numbers(i, column[0].np, value)
            arrays.append(array)
        return Rows.of(tuple(arrays), [str(i) for i in chosen])

    def _number(self, column, path, first, place, row, field):
        """Return the value of a field that the block parser cannot convert, or raise an error."""
        return self._value(_decoded(field), column, path, first + row, place).array[()]

    def _one_by_one(self, path, lines, first):
        """Yield `Rows` of up to _GROUP lines; an invalid row yields its error at its position."""
        elements, group = self._elements(path, csv.reader(lines, **self.how), first), []
        while True:
            element, errors = None, []
            try:
                element = next(elements, None)
            except InvalidArgumentError as raised:
                errors = [raised.with_traceback(None)]
            except csv.Error as raised:
                errors = [InvalidArgumentError(f"{path}: {raised}.")]
            if element is not None:
                group.append(element)
            if group and (element is None or len(group) == _GROUP):
                columns = zip(*group)
                arrays = [_column_of(c, d) for c, (d, _) in zip(columns, self.columns)]
                yield Rows.of(tuple(arrays), [str(i) for i in range(len(arrays))])
                group = []
            if errors:
                yield errors.pop()
            elif element is None:
                return

    def element(self, row, path, number):
        if self.select is not None:
            if max(self.select) >= len(row):
                raise InvalidArgumentError(
                    f"{path}: row {number}: expected a field with index {max(self.select)}, got "
                    f"{len(row)} fields."
                )
            row = [row[i] for i in self.select]
        elif self.exclude is not None:
            row = [field for i, field in enumerate(row) if i not in self.exclude]
        if len(row) != len(self.columns):
            raise InvalidArgumentError(
                f"{path}: row {number}: expected {len(self.columns)} fields, got {len(row)}."
            )
        fields = zip(row, self.columns)
        return tuple([self._value(f, c, path, number, i) for i, (f, c) in enumerate(fields)])

    def _value(self, field, column, path, number, i):
        dtype, default = column
        if field in ("", self.missing):
            if default is None:
                raise InvalidArgumentError(
                    f"{path}: row {number}: field {i} is required but is empty. Pass a "
                    "default value in record_defaults."
                )
            return text(default) if dtype.name == "string" else Tensor(np.array(default, dtype.np))
        if dtype.name == "string":
            return text(field.encode("utf-8", "surrogateescape"))
        try:
            value = int(field) if dtype.name.startswith("int") else float(field)
            return Tensor(np.array(value, dtype.np))
        except (ValueError, OverflowError):
            raise InvalidArgumentError(
                f"{path}: row {number}: field {i} is not a valid {dtype.name}: {field!r}."
            ) from None


# _BLOCK is the size of a block in bytes, _GROUP the number of rows that the row-by-row reader
# yields together.
_BLOCK, _GROUP = 1 << 18, 256


def _decoded(data):
    return data.decode("utf-8", "surrogateescape")


def _text(data):
    """Return bytes as a text stream."""
    return io.StringIO(_decoded(data), newline="")


def _column_of(tensors, dtype):
    array = np.empty(len(tensors), dtype.np)
    array[:] = [tensor.array[()] for tensor in tensors]
    return array


def decode_csv(
    records: TensorLike, record_defaults: Any, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", select_cols: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return lines of CSV as a list of tensors, one for each column.

    Args:
        records: strings of any shape, one row in each.
        record_defaults, field_delim, use_quote_delim, na_value, select_cols: those of `CsvDataset`.

    Returns:
        A list of tensors of the shape of `records`.

    Raises:
        InvalidArgumentError: a line has a wrong number of fields, or an invalid number.

    >>> numbers, texts = decode_csv(["1,a", ",b"], [[7], [""]])
    >>> numbers.tolist(), texts.tolist()
    ([1, 7], [b'a', b'b'])
    """
    lines = np.array(records, object) if isinstance(records, bytes) else records
    lines = array_in(lines, "decode_csv: records")
    columns = [_column(value) for value in record_defaults]
    select = None if select_cols is None else list(select_cols)
    rows = _Rows("", False, field_delim, use_quote_delim, na_value, columns, select, None)
    found = []
    for number, line in enumerate(lines.reshape(-1)):
        try:
            parsed = next(csv.reader([line.decode("utf-8", "surrogateescape")], **rows.how), [])
        except csv.Error as error:
            raise InvalidArgumentError(f"decode_csv: row {number}: {error}.") from None
        found.append([value.array for value in rows.element(parsed, "decode_csv", number)])
    outputs = []
    for place, (dtype, _) in enumerate(columns):
        array = np.empty(len(found), dtype.np)
        array[:] = [row[place][()] for row in found]
        outputs.append(Tensor(array.reshape(lines.shape)))
    return outputs


def read_rows(path, kind, how):
    """Yield the rows of a CSV file as lists of strings.

    Raises:
        InvalidArgumentError: a line has a misplaced or missing quote.
    """
    with opened(path, kind) as file:
        lines = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")
        try:
            yield from csv.reader(lines, **how)
        except csv.Error as error:
            raise InvalidArgumentError(f"{path}: {error}.") from None


# ---- names and dtypes from the files -------------------------------------------------------------


def make_csv_dataset(
    file_pattern: Any, batch_size: Any, column_names: Any = None, column_defaults: Any = None,
    label_name: Any = None, select_columns: Any = None, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None, num_parallel_reads: Any = None, sloppy: bool = False,
    num_rows_for_inference: Any = 100, compression_type: Any = None, ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:  # fmt: skip
    """Return a dataset of batches of CSV files: {column: tensor of shape (batch,)}.

    Args:
        file_pattern: a pattern such as "data/*.csv", or a list of patterns.
        batch_size: the number of rows in a batch.
        column_names: the names of all columns; from the first line of the first file if None.
        column_defaults: a dtype or a default value for each column that is read; inferred if None:
            the first of int32, int64, float32, float64 and string that all fields fit.
        label_name: a column; elements are then pairs ({other column: tensor}, tensor).
        select_columns: the names or indices of the columns to read.
        field_delim, use_quote_delim, na_value, compression_type: those of `CsvDataset`.
        header: True if the first line of each file has the names.
        num_epochs: the number of passes over the rows; infinite if None, and then all batches are
            full.
        shuffle: False to keep the order of the rows.
        shuffle_buffer_size, shuffle_seed: those of `Dataset.shuffle`.
        prefetch_buffer_size: the number of batches computed ahead; AUTOTUNE if None.
        num_parallel_reads, sloppy: accepted, without effect: files are read one after the other.
        num_rows_for_inference: the number of rows that dtypes are inferred from; all if None.
        ignore_errors: True to leave out rows with errors.
        encoding: must be "utf-8".

    Raises:
        InvalidArgumentError: no file matches, or an argument is unknown.
    """
    name = "make_csv_dataset"
    paths = matching(file_pattern)
    if not paths:
        raise InvalidArgumentError(f"{name}: file_pattern: no file matches {file_pattern!r}.")
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    how = {"delimiter": field_delim, "quoting": quoting, "strict": True}
    kind = compression(name, compression_type)
    names = _names(name, paths, kind, how, header, column_names)
    select = _selected(name, names, select_columns)
    if column_defaults is None:
        column_defaults = _inferred(
            paths, kind, how, header, na_value, select, num_rows_for_inference
        )
    if len(column_defaults) != len(select):
        raise InvalidArgumentError(
            f"{name}: column_defaults: expected {len(select)}, one for each column, got "
            f"{len(column_defaults)}."
        )
    names = [names[i] for i in select]
    if label_name is not None and label_name not in names:
        raise InvalidArgumentError(
            f"{name}: label_name: expected one of the columns {names}, got {label_name!r}."
        )
    rows = CsvDataset(
        paths, column_defaults, compression_type, None, header, field_delim, use_quote_delim,
        na_value, select,
    )  # fmt: skip
    if ignore_errors:
        rows = rows.ignore_errors()
    if shuffle:
        rows = rows.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        rows = rows.repeat(num_epochs)
    batches = rows.batch(batch_size, drop_remainder=num_epochs is None)

    def named(*columns):
        features = dict(zip(names, columns))
        return features if label_name is None else (features, features.pop(label_name))

    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return batches.map(named).prefetch(ahead)


def _names(name, paths, kind, how, header, given):
    if given is None and not header:
        raise InvalidArgumentError(f"{name}: column_names: expected names, because header=False.")
    names = list(given) if given is not None else next(read_rows(paths[0], kind, how), [])
    for path in paths if header else ():
        found = next(read_rows(path, kind, how), [])
        if given is None and found != names:
            raise InvalidArgumentError(
                f"{name}: {path}: expected the columns {names} of {paths[0]}, got {found}."
            )
    if len(set(names)) != len(names):
        raise InvalidArgumentError(f"{name}: column_names: expected distinct names, got {names}.")
    return names


def _selected(name, names, columns):
    """Return the indices of the columns to read, in increasing order."""
    if columns is None:
        return list(range(len(names)))
    numbers = []
    for column in columns:
        number = names.index(column) if column in names else column
        if not isinstance(number, int) or not 0 <= number < len(names):
            raise InvalidArgumentError(
                f"{name}: select_columns: expected names or indices of {names}, got {column!r}."
            )
        numbers.append(number)
    return sorted(numbers)


def _inferred(paths, kind, how, header, missing, select, count):
    """Return a zero or "" for each column, in the first dtype that fits its first `count` rows."""
    kinds, seen = [0] * len(select), 0
    for path in paths:
        for number, row in enumerate(read_rows(path, kind, how)):
            if (header and not number) or not row:
                continue
            if count is not None and seen >= count:
                break
            seen += 1
            for place, i in enumerate(select):
                field = row[i] if i < len(row) else ""
                while field not in ("", missing) and not _fits(field, kinds[place]):
                    kinds[place] += 1
    return [_EMPTY[each] for each in kinds]


_EMPTY = [np.int32(0), np.int64(0), np.float32(0), np.float64(0), ""]


def _fits(field, kind):
    """Return whether a field fits dtype number `kind` of int32, int64, float32, float64, string."""
    try:
        if kind < 2:
            return abs(int(field)) < 2 ** (31 if kind == 0 else 63)
        return kind == 4 or abs(float(field)) <= np.finfo((np.float32, np.float64)[kind - 2]).max
    except ValueError:
        return kind == 4
