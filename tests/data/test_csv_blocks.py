"""CSV read in blocks: the numbers of `float(text)` and `int(text)`, the rows of the csv module."""

import numpy as np
import pytest

from framework.core.errors import InvalidArgumentError
from framework.data import csv_files
from framework.data.csv_blocks import CsvLines
from framework.data.experimental import CsvDataset
from framework.kernels import csv_fields
from tests import kernel_forms
from tests.changed import changed


@pytest.fixture(autouse=True, params=kernel_forms.FORMS)
def form(request, change):
    kernel_forms.use(request.param, csv_fields, change)


FLOATS = [
    "-0", "0.0", "-0.0", "1e5", "nan", "-inf", "12345678901234567890", "+3.25", ".5", "5.", " 4",
    "123456789012345", "1234567890.12345", "0.000000000000001", "999999999999999.9", "1_0",
    *[repr(v) for v in np.random.default_rng(0).normal(size=500).tolist()],
    *[f"{v:.7g}" for v in (np.random.default_rng(1).normal(size=500) * 1e4).tolist()],
]  # fmt: skip
INTS = ["0", "-1", "+7", "007", "2147483647", "-2147483648", " 3", "1_000"]


def test_floats_are_those_of_python():
    data = "".join(f"{text},x\n" for text in FLOATS).encode()
    for dtype in ("float64", "float32"):
        found = CsvLines(data, ord(","), 2).numbers(0, dtype, lambda row, text: float(text))
        assert found.tobytes() == np.array([float(t) for t in FLOATS]).astype(dtype).tobytes()


def test_integers_are_those_of_python():
    data = "".join(f"{text}\n" for text in INTS).encode()
    for dtype in ("int32", "int64"):
        found = CsvLines(data, ord(","), 1).numbers(0, dtype, lambda row, text: int(text))
        assert found.tolist() == [int(t) for t in INTS]


@pytest.mark.parametrize("delimiter", ["-", "+", ".", "5", ";"])
def test_delimiters_that_occur_in_numbers(delimiter):
    rows = [["1", "22"], ["3", "4"]]
    data = "".join(delimiter.join(row) + "\n" for row in rows).encode()
    lines = CsvLines(data, ord(delimiter), 2)
    assert lines.regular
    assert [lines.numbers(i, "int64", None).tolist() for i in (0, 1)] == [[1, 3], [22, 4]]
    three_fields = f"{delimiter}1{delimiter}2\n".encode()
    assert not CsvLines(three_fields, ord(delimiter), 2).regular


@pytest.mark.parametrize("bad", ["", "1.5.2", "1-2", "--1", "a", "1e", ".", "-"])
def test_what_is_no_number_is_asked_for(bad):
    asked = []
    slow = lambda row, text: asked.append((row, text)) or 9
    found = CsvLines(f"1\n{bad or ','}\n".encode(), ord(","), 1 + (not bad)).columns
    data = f"1,1\n2,{bad}\n".encode()
    assert CsvLines(data, ord(","), 2).numbers(1, "float32", slow).tolist() == [1, 9]
    assert asked == [(1, bad.encode())]
    assert found


@pytest.mark.parametrize(
    "text", ["1,2\n3\n", "1\n2,3\n", "1,2,3\n4\n", "1\n\n2\n", "1,2\n3,4,5\n6\n", "\n"]
)
def test_lines_of_other_numbers_of_fields_are_irregular(text):
    for columns in (1, 2):
        lines = CsvLines(text.encode(), ord(","), columns)
        assert not lines.regular
        assert lines.rows == text.count("\n")


ROWS = [f"{i},{i / 8},w{i},{'' if i % 7 == 3 else i * i}" for i in range(120)]
FILES = {
    "plain": "\n".join(ROWS) + "\n",
    "no last newline": "\n".join(ROWS),
    "carriage returns": "\r\n".join(ROWS) + "\r\n",
    "empty lines": "\n\n".join(ROWS),
    "quotes": "\n".join([*ROWS[:70], '1,"2.5","a ""b"",\nc",3', *ROWS[70:]]),
    "one line": ROWS[0],
    "nothing": "",
}
BAD = {
    "a word": "\n".join([*ROWS[:50], "1,x,w,2", *ROWS[50:90], "y,1,w,2", *ROWS[90:]]),
    "fields": "\n".join([*ROWS[:50], "1,2", *ROWS[50:]]),
    "too large": "\n".join([*ROWS[:50], "99999999999,2,w,1", *ROWS[50:]]),
}
DEFAULTS = ["int32", "float32", "string", np.int64(-5)]


def values(dataset):
    """The elements, and the texts of errors at their places."""
    iterator, found = dataset.as_numpy_iterator(), []
    while (found or [None])[-1] is not STOP:
        found.append(value_of(iterator))
    return found[:-1]


STOP = object()


def value_of(iterator):
    try:
        return next(iterator, STOP)
    except InvalidArgumentError as error:
        return str(error)


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("name", [*FILES, *BAD])
def test_blocks_have_the_rows_of_the_csv_module(name, header, tmp_path):
    (tmp_path / "a.csv").write_bytes(((FILES | BAD)[name]).encode())
    for select in (None, [0, 2]):
        kept = DEFAULTS if select is None else [DEFAULTS[i] for i in select]
        data = CsvDataset(str(tmp_path / "a.csv"), kept, header=header, select_cols=select)
        one_by_one = values(data)
        with changed(csv_files, _BLOCK=300):
            batched = values(data.batch(7))
            again = values(data.batch(7).unbatch()) if name in FILES else None
        found = []
        for each in batched:
            found += [each] if isinstance(each, str) else list(zip(*each))
        assert [e for e in found if isinstance(e, str)] == [
            e for e in one_by_one if isinstance(e, str)
        ]
        rows = [e for e in one_by_one if not isinstance(e, str)]
        assert [e for e in found if not isinstance(e, str)] == rows
        assert again is None or again == rows
        if name in BAD and (select is None or name != "a word"):
            assert len(rows) < len(one_by_one)
