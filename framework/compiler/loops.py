"""Source of loops over elements: a run of elementwise ops becomes one pass over its arrays.

    program = Program(
        operands=[full("x", "float32", 2), row("b", "float32", 1), number("k", "float32")],
        steps=[("s", "add", ("x", "b")), ("y", "tanh", ("s",)), ("z", "multiply", ("y", "k"))],
        stores={"z": None},
        sums={"z": "leading"},
    )
    loop = build(program)
    print(loop.source)
    loop(x, b, k, z, z_sum)  # compiled at the first call, or loaded from the disk

The call takes the operands in their order, then an array for each store that is not put into an
operand, then one for each sum. All arrays are contiguous, of the number of dimensions that was
said; sizes are checked, nothing else is. Distinct arrays that are written must not overlap others:
what is computed in place is said so (`stores={"z": "x"}`).

Numba is imported when a loop is compiled, not before. Results equal those of the NumPy forwards
within a few units in the last place: products and sums are contracted (fused multiply-add), exp and
its kin are the library's own. Sums of all elements are added up in float32 or float64 by blocks,
the blocks' sums in float64.
"""

import re
from typing import NamedTuple

import numpy as np

from framework.compiler import loop_files
from framework.core.errors import InvalidArgumentError
from framework.kernels import scalars, tier

FULL, ROW, COLUMN, NUMBER = "full", "row", "column", "number"
BLOCK = 4096  # elements, of which a sum is added up in their own precision
MOST_ARRAYS = 40  # `kernels/fast/elementwise.py` tells so many apart


class Operand(NamedTuple):
    """What a loop reads.

    name: of the value.
    dtype: NumPy's.
    layout: FULL: of the results' shape. ROW: missing, or of size 1 in, the leading axes, so that
        the same values go with every row. COLUMN: of size 1 in the last axes: a value for each row.
        NUMBER: a 0-d array.
    ndim: how many dimensions the array has that is given.
    """

    name: str
    dtype: np.dtype
    layout: str
    ndim: int


def full(name, dtype, ndim):
    """An operand of the results' shape."""
    return Operand(name, np.dtype(dtype), FULL, ndim)


def row(name, dtype, ndim):
    """An operand that is the same in every row: of shape (c,), (1, c) ... beside (..., c)."""
    return Operand(name, np.dtype(dtype), ROW, ndim)


def column(name, dtype, ndim):
    """An operand with a value for each row: of shape (r, 1) ... beside (r, ...)."""
    return Operand(name, np.dtype(dtype), COLUMN, ndim)


def number(name, dtype):
    """An operand that is a 0-d array."""
    return Operand(name, np.dtype(dtype), NUMBER, 0)


def layout_of(shape, result):
    """The layout of an operand of shape `shape` beside a result of shape `result`; None: no such.

    Example:
        >>> layout_of((3, 4), (3, 4)), layout_of((4,), (3, 4)), layout_of((3, 1), (3, 4))
        ('full', 'row', 'column')
        >>> layout_of((2, 1, 4), (2, 3, 4)) is None
        True
    """
    if shape == ():
        return NUMBER
    padded = (1,) * (len(result) - len(shape)) + shape
    if padded == result:
        return FULL
    for at in range(len(result) + 1):
        if padded[at:] == result[at:] and all(n == 1 for n in padded[:at]):
            return ROW
        if padded[:at] == result[:at] and all(n == 1 for n in padded[at:]):
            return COLUMN
    return None


class Program(NamedTuple):
    """A run of elementwise ops.

    operands: a list of `Operand`.
    steps: a list of (name, op's name, arguments, attrs); an argument is the name of an operand or
        of an earlier step, or a Python number; `attrs` may be left out where there are none.
    stores: the steps whose values are kept, by name: None for a new array of `ndim` dimensions, or
        the operand whose array they are written into. A value that is the same along the rows
        (COLUMN) is stored to an array of a value for each row.
    sums: the values that are summed, by name: over "all", "leading" (one sum for each place in a
        row) or "last" (one for each row). The arrays for them have the dtype of the value.
    ndim: of the arrays of stores and, in this order, sums; one number for all, or a list.
    part: the call takes two more ints at its end, and works on the elements (or, with ROW or
        COLUMN operands, rows) from the first to before the second. Only without sums.
    """

    operands: list
    steps: list
    stores: dict
    sums: dict = {}  # noqa: RUF012 (never changed)
    ndim: int | list = 1
    part: bool = False


class Loop:
    """One compiled loop, to be called with arrays (see `Program`).

    `source` is its text.
    """

    def __init__(self, source, signature):
        self.source, self.signature = source, signature
        self._file = loop_files.LoopFile(source)
        self._function = None

    @property
    def cached(self):
        """Whether the machine code is there already, in this process or on the disk."""
        return self._function is not None or self._file.is_compiled()

    def compiled(self):
        """The machine code as a function; made now if need be, which takes a second or more.

        Raises:
            RuntimeError: Numba is not there, or not to be used.
        """
        if self._function is None:
            library = tier.library("elementwise")
            if library is None:
                raise RuntimeError("Loops need Numba, and a tier that uses it.")
            self._function = self._file.compile(library, self.signature)
        return self._function

    def __call__(self, *arrays):
        (self._function or self.compiled())(*arrays)


_built = {}


def build(program):
    """The loop of a program; the same one for programs that differ in their names only.

    Raises:
        InvalidArgumentError: an op, dtype or layout has no form here, or names do not fit.
    """
    source, signature = _Writer(program).text()
    key = source, signature
    return _built.get(key) or _built.setdefault(key, Loop(source, signature))


def supports(op, dtypes, attrs=None):
    """Whether a loop may contain an op on operands of these dtypes (`float`, `int` for numbers)."""
    return scalars.supported(op, dtypes, attrs)


is_slow = scalars.is_slow  # (op's name, exponent of a power): does NumPy's own loop likely win?


class _Value(NamedTuple):
    text: str  # its name in the source
    dtype: np.dtype
    layout: str


class _Writer:
    """The text of a program's loop."""

    def __init__(self, program):
        self.program = program
        self.values = {}  # name in the program -> _Value
        self.parameters, self.kinds, self.checks = [], [], []
        self.once, self.each_row, self.each = [], [], []  # lines before the loops, and in them
        self.places = {}  # parameter -> its place among the arrays
        self.targets = {}  # stored name -> parameter
        self._full = self._row = self._column = None  # parameters that tell the sizes
        for operand in program.operands:
            self._operand(operand)
        for step in program.steps:
            self._step(*step)
        self._outputs()
        if len(self.places) > MOST_ARRAYS:
            raise InvalidArgumentError(f"A loop has at most {MOST_ARRAYS} arrays.")

    # ---- operands ----

    def _parameter(self, name, dtype, ndim, written):
        self.parameters.append(name)
        self.places[name] = len(self.places)
        self.kinds.append((np.dtype(dtype).name, ndim, written))
        return name

    def _operand(self, operand):
        name, dtype, layout, ndim = operand
        if name in self.values:
            raise InvalidArgumentError(f"Two operands are named {name!r}.")
        if dtype not in (*scalars.FLOATS, *scalars.INTEGERS, scalars.BOOL):
            raise InvalidArgumentError(f"A loop has no {dtype.name} operands.")
        into = [v for v, target in self.program.stores.items() if target == name]
        if len(into) > 1 or (into and layout != FULL):
            raise InvalidArgumentError(f"One value of full shape may go into {name!r}, not {into}.")
        place = len(self.places)
        parameter = self._parameter(f"a{place}", dtype, ndim, bool(into))
        value = f"x{place}"
        self.values[name] = _Value(value, dtype, layout)
        if layout == NUMBER:
            self.once.append(f"{value} = {parameter}[()]")
            return
        self._size(layout, parameter)
        lines, index = {
            FULL: (self.each, "i"), ROW: (self.each, "j"), COLUMN: (self.each_row, "r"),
        }[layout]  # fmt: skip
        lines.append(f"{value} = load({parameter}, {index}, {place})")
        if into:
            self.targets[into[0]] = parameter

    def _size(self, layout, parameter):
        """The first array of a layout gives the size, others are compared with it."""
        slot = {FULL: "_full", ROW: "_row", COLUMN: "_column"}[layout]
        if getattr(self, slot) is None:
            setattr(self, slot, parameter)
        else:
            self.checks.append(f"{parameter}.size != {getattr(self, slot)}.size")

    # ---- steps ----

    def _step(self, name, op, args, attrs=None):
        given = [self._given(op, a) for a in args]
        try:
            computes, gives, code = scalars.resolve(
                op, [g.dtype if isinstance(g, _Value) else g for g in given], attrs or {}
            )
            conditions = code.conditions
        except (KeyError, TypeError):
            kinds = ", ".join(str(getattr(g, "dtype", g)) for g in given)
            raise InvalidArgumentError(f"A loop has no form of {op}({kinds}).") from None
        texts = [
            _as_condition(g) if i in conditions else _in(g, computes) for i, g in enumerate(given)
        ]
        kind = computes.name
        text = code.template.format(*texts, t=kind, w=8 * computes.itemsize)
        if op == "cast":
            text = _in(given[0], gives) if gives.kind != "b" else _as_condition(given[0])
        elif gives.kind in "iu":  # Numba computes integers in 64 bits
            text = f"{gives.name}({text})"
        layout = _joined([g.layout for g in given if isinstance(g, _Value)])
        value = _Value(f"v{len(self.values) - len(self.program.operands)}", gives, layout)
        lines = {NUMBER: self.once, COLUMN: self.each_row}.get(layout, self.each)
        lines.append(f"{value.text} = {text}")
        if name in self.values:
            raise InvalidArgumentError(f"Two values are named {name!r}.")
        self.values[name] = value

    def _given(self, op, argument):
        if isinstance(argument, str):
            if argument not in self.values:
                raise InvalidArgumentError(f"{op}: no value is named {argument!r}.")
            return self.values[argument]
        if type(argument) not in (int, float, bool):
            raise InvalidArgumentError(f"{op}: {argument!r} is neither a name nor a number.")
        return argument

    # ---- outputs ----

    def _outputs(self):
        stores, sums = self.program.stores, self.program.sums
        ndim = self.program.ndim
        count = sum(into is None for into in stores.values()) + len(sums)
        dimensions = iter([ndim] * count if isinstance(ndim, int) else ndim)
        for name, into in stores.items():
            value = self._named(name)
            if value.layout not in (FULL, COLUMN):
                raise InvalidArgumentError(f"{name!r} does not have the results' shape.")
            if into is None:
                target = self._parameter(
                    f"y{len(self.places)}", value.dtype, next(dimensions), True
                )
                self._size(value.layout, target)
            else:
                target = self._in_place(name, into, value)
            self._store(target, value)
        self.sums = []  # (parameter, value, over)
        for name, over in sums.items():
            value = self._named(name)
            if over not in ("all", "leading", "last") or value.dtype.kind != "f":
                raise InvalidArgumentError(f"No sum of {value.dtype.name} {name!r} over {over!r}.")
            if value.layout != FULL:
                raise InvalidArgumentError(f"{name!r} does not have the results' shape.")
            target = self._parameter(f"y{len(self.places)}", value.dtype, next(dimensions), True)
            if over != "all":
                self._size(ROW if over == "leading" else COLUMN, target)
            self.sums.append((target, value, over))
        if self.program.part and self.sums:
            raise InvalidArgumentError("A loop over a part has no sums.")
        if self._full is None:
            raise InvalidArgumentError("A loop needs an operand or a store of full shape.")

    def _named(self, name):
        if name not in self.values:
            raise InvalidArgumentError(f"No value is named {name!r}.")
        return self.values[name]

    def _in_place(self, name, into, value):
        if self.targets.get(name) is None:
            raise InvalidArgumentError(f"{name!r} cannot go into {into!r}, which is no operand.")
        if self.values[into].dtype != value.dtype or value.layout != FULL:
            raise InvalidArgumentError(f"{name!r} and {into!r} differ in dtype or shape.")
        return self.targets[name]

    def _store(self, target, value):
        lines, index = (self.each, "i") if value.layout == FULL else (self.each_row, "r")
        lines.append(f"store({target}, {index}, {value.text}, {self.places[target]})")

    # ---- text ----

    def text(self):
        part = ["start", "stop"] if self.program.part else []
        two_levels = self._row or self._column
        body = self._rows() if two_levels else self._flat()
        lines = [
            f"def loop({', '.join(self.parameters + part)}):",
            *self._indented(self._sizes(two_levels)),
            *self._indented(self.once),
            *self._indented(body),
            "",
        ]
        return "\n".join(lines), self._signature(len(part))

    def _signature(self, ints):
        kinds = [f"{kind}:{ndim}:{'w' if written else 'r'}" for kind, ndim, written in self.kinds]
        return " ".join([*kinds, *["int"] * ints])

    @staticmethod
    def _indented(lines, by=1):
        return ["    " * by + line for line in lines]

    def _sizes(self, two_levels):
        lines, checks = [f"n = {self._full}.size"], list(self.checks)
        if self._row:
            lines.append(f"columns = {self._row}.size")
            if self._column:
                lines.append(f"rows = {self._column}.size")
            else:
                lines.append("rows = n // columns if columns else 0")
        elif self._column:
            lines.append(f"rows = {self._column}.size")
            lines.append("columns = n // rows if rows else 0")
        if two_levels:
            checks.append("rows * columns != n")
        if checks:
            lines.append(f"if {' or '.join(checks)}:")
            lines.append("    raise ValueError('the sizes of the arrays do not fit together')")
        return lines

    def _flat(self):
        if not self.sums:
            bounds = "start, stop" if self.program.part else "n"
            return [f"for i in range({bounds}):", *self._indented(self.each)]
        return [
            *(f"{target}_all = float64(0)" for target, *_ in self.sums),
            f"for first in range(0, n, {BLOCK}):",
            *(f"    {target}_sum = {value.dtype.name}(0)" for target, value, _ in self.sums),
            f"    for i in range(first, min(first + {BLOCK}, n)):",
            *self._indented(self.each, 2),
            *(
                f"        {target}_sum = plus({target}_sum, {value.text})"
                for target, value, _ in self.sums
            ),
            *(f"    {target}_all += float64({target}_sum)" for target, *_ in self.sums),
            *self._totals(),
        ]

    def _totals(self):
        return [
            f"store({target}, 0, {value.dtype.name}({target}_all), {self.places[target]})"
            for target, value, over in self.sums
            if over == "all"
        ]

    def _rows(self):
        before, row_start, inner, row_end = [], [], [], []
        for target, value, over in self.sums:
            place, kind = self.places[target], value.dtype.name
            if over == "leading":
                before.append("for j in range(columns):")
                before.append(f"    store({target}, j, {kind}(0), {place})")
                inner.append(
                    f"store({target}, j, load({target}, j, {place}) + {value.text}, {place})"
                )
                continue
            row_start.append(f"{target}_sum = {kind}(0)")
            inner.append(f"{target}_sum = plus({target}_sum, {value.text})")
            if over == "last":
                row_end.append(f"store({target}, r, {target}_sum, {place})")
            else:
                before.append(f"{target}_all = float64(0)")
                row_end.append(f"{target}_all += float64({target}_sum)")
        bounds = "start, stop" if self.program.part else "rows"
        return [
            *before,
            f"for r in range({bounds}):",
            *self._indented([*self.each_row, *row_start, "base = r * columns"]),
            "    for j in range(columns):",
            "        i = base + j",
            *self._indented([*self.each, *inner], 2),
            *self._indented(row_end),
            *self._totals(),
        ]


def _joined(layouts):
    """The layout of a result of operands of these layouts."""
    kinds = set(layouts) - {NUMBER}
    if len(kinds) == 1:
        return kinds.pop()
    return FULL if kinds else NUMBER


_PLAIN = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


def _literal(x, dtype):
    """A Python number as a literal of a dtype."""
    text = repr(x) if dtype.kind != "f" else repr(float(x))
    text = {"inf": "np.inf", "-inf": "-np.inf", "nan": "np.nan"}.get(text, text)
    return f"{dtype.name}({text})"


def _in(given, dtype):
    """An operand in the type in which the op computes."""
    if not isinstance(given, _Value):
        return _literal(given, dtype) if dtype.kind != "b" else repr(bool(given))
    return given.text if given.dtype == dtype else f"{dtype.name}({given.text})"


def _as_condition(given):
    if not isinstance(given, _Value):
        return repr(bool(given))
    if given.dtype.kind == "b":
        return given.text
    return f"({given.text} != {given.dtype.name}(0))"
