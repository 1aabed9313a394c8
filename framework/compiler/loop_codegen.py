"""Code generation of loop kernels: the source of a `LoopProgram` for Numba."""

from typing import NamedTuple

import numpy as np

from framework.compiler.loop_ir import COLUMN, FULL, NUMBER, ROW, SIZES, LoopConstant, sum_of
from framework.core.errors import InvalidArgumentError
from framework.kernels import scalar_code

BLOCK = 4096  # Sums are computed in blocks of this many elements; block sums are added in float64.
TASK = "numbers, first, last, memory"
ENTRY = "kind, things, count"
# A loop has at most this many arrays, the same as in `kernels/fast/elementwise.py`.
MOST_ARRAYS = 40


class _LoopValue(NamedTuple):
    text: str  # the expression that computes the value
    dtype: np.dtype
    layout: str


class LoopCodegen:
    """Generates the source of the loop of a program."""

    def __init__(self, program):
        self.program = program
        self.values = {}  # name of a value in the loop program -> _LoopValue
        self.parameters, self.kinds, self.checks = [], [], []
        # source lines before the loops, inside the loop over rows, and inside the loop over
        # elements
        self.once, self.each_row, self.each = [], [], []
        self.after = []  # source lines after the loops
        self.places = {}  # parameter -> its index among the array parameters
        # name of a value that is stored in place -> parameter of the operand that it overwrites
        self.targets = {}
        # for each layout, the first array parameter that has it: the loop takes its sizes from it
        self._full = self._row = self._column = None
        for operand in program.operands:
            self._operand(operand)
        for step in program.steps:
            self._step(*step)
        self._sums()
        numbers = self.after
        for step in program.after:
            self._step(*step, numbers=numbers)
        self._outputs()
        if len(self.places) > MOST_ARRAYS:
            raise InvalidArgumentError(
                f"loop kernel: expected at most {MOST_ARRAYS} arrays, got {len(self.places)}."
            )

    # ---- operands of the loop ----

    def _parameter(self, name, dtype, ndim, written):
        self.parameters.append(name)
        self.places[name] = len(self.places)
        self.kinds.append((np.dtype(dtype).name, ndim, written))
        return name

    def _operand(self, operand):
        name, dtype, layout, ndim = operand
        if name in self.values:
            raise InvalidArgumentError(
                f"loop kernel: expected distinct operand names, got two operands {name!r}."
            )
        if dtype not in (*scalar_code.FLOATS, *scalar_code.INTEGERS, scalar_code.BOOL):
            raise InvalidArgumentError(f"loop kernel: {name!r} has unsupported dtype {dtype.name}.")
        into = [v for v, target in self.program.stores.items() if target == name]
        if len(into) > 1 or (into and layout != FULL):
            raise InvalidArgumentError(
                f"loop kernel: operand {name!r}: expected the full shape and one value to store, "
                f"got {into}."
            )
        place = len(self.places)
        parameter = self._parameter(f"a{place}", dtype, ndim, bool(into))
        value = f"x{place}"
        self.values[name] = _LoopValue(value, dtype, layout)
        if layout == NUMBER:
            self.once.append(f"{value} = load({parameter}, 0, {place})")
            return
        self._size(layout, parameter)
        lines, index = {
            FULL: (self.each, "i"), ROW: (self.each, "j"), COLUMN: (self.each_row, "r"),
        }[layout]  # fmt: skip
        lines.append(f"{value} = load({parameter}, {index}, {place})")
        if into:
            self.targets[into[0]] = parameter

    @property
    def _sized(self):
        """Whether the array parameters determine the number of elements."""
        return self._full is not None or None not in (self._row, self._column)

    def _size(self, layout, parameter):
        """Take the sizes of a layout from its first array; check those of its other arrays."""
        slot = {FULL: "_full", ROW: "_row", COLUMN: "_column"}[layout]
        if getattr(self, slot) is None:
            setattr(self, slot, parameter)
        else:
            self.checks.append((parameter, getattr(self, slot)))

    # ---- steps of the loop ----

    def _step(self, name, op, args, attrs=None, numbers=None):
        given = [self._given(op, a) for a in args]
        try:
            computes, gives, code = scalar_code.resolve(
                op, [g.dtype if isinstance(g, _LoopValue) else g for g in given], attrs or {}
            )
            conditions = code.conditions
        except (KeyError, TypeError):
            kinds = ", ".join(str(getattr(g, "dtype", g)) for g in given)
            raise InvalidArgumentError(f"loop kernel: cannot compute {op}({kinds}).") from None
        texts = [
            _as_condition(g) if i in conditions else _in(g, computes) for i, g in enumerate(given)
        ]
        kind = computes.name
        text = code.template.format(*texts, t=kind, w=8 * computes.itemsize)
        if op == "cast":
            text = _in(given[0], gives) if gives.kind != "b" else _as_condition(given[0])
        # Numba computes integers in 64 bits, so convert the result to the op's dtype
        elif gives.kind in "iu":
            text = f"{gives.name}({text})"
        layout = _joined([g.layout for g in given if isinstance(g, _LoopValue)])
        value = _LoopValue(f"v{len(self.values) - len(self.program.operands)}", gives, layout)
        if numbers is not None and layout != NUMBER:
            raise InvalidArgumentError(
                f"loop kernel: {name!r}: expected scalar arguments, because only scalars can be "
                "computed after the sums."
            )
        numbers = self.once if numbers is None else numbers
        lines = {NUMBER: numbers, COLUMN: self.each_row}.get(layout, self.each)
        lines.append(f"{value.text} = {text}")
        if name in self.values:
            raise InvalidArgumentError(
                f"loop kernel: expected distinct step names, got two values {name!r}."
            )
        self.values[name] = value

    def _given(self, op, argument):
        if isinstance(argument, str):
            if argument not in self.values:
                raise InvalidArgumentError(f"loop kernel: {op}: no value is named {argument!r}.")
            return self.values[argument]
        if type(argument) is LoopConstant:
            number, dtype, layout = argument
            return _LoopValue(_literal(number, dtype), dtype, layout)
        if type(argument) not in (int, float, bool):
            raise InvalidArgumentError(
                f"loop kernel: {op}: the argument {argument!r} is neither a name nor a number."
            )
        return argument

    # ---- stores and sums ----

    def _sums(self):
        """Give each sum a name in the source, by which the steps after the loop can read it."""
        self.sums = []  # (name in the source, value, summed axes: "all", "leading" or "last")
        for name, over in self.program.sums.items():
            value = self._named(name)
            if over not in ("all", "leading", "last") or value.dtype.kind != "f":
                raise InvalidArgumentError(
                    f"loop kernel: cannot sum {value.dtype.name} {name!r} over {over!r}; expected "
                    "a float dtype and 'all', 'leading' or 'last'."
                )
            if value.layout != FULL:
                raise InvalidArgumentError(
                    f"loop kernel: expected a value of full shape to sum, got {name!r} of layout "
                    f"{value.layout!r}."
                )
            label = f"s{len(self.sums)}"
            self.sums.append((label, value, over))
            if over == "all":
                self.values[sum_of(name)] = _LoopValue(f"{label}_total", value.dtype, NUMBER)

    def _outputs(self):
        stores, sums = self.program.stores, self.program.sums
        ndim = self.program.ndim
        count = sum(into is None for into in stores.values()) + len(sums)
        dimensions = iter([ndim] * count if isinstance(ndim, int) else ndim)
        for name, into in stores.items():
            value = self._named(name)
            if value.layout == NUMBER and into is None and value.text[0] == "v":
                target = self._parameter(f"y{len(self.places)}", value.dtype, 0, True)
                next(dimensions)
                self.after.append(f"store({target}, 0, {value.text}, {self.places[target]})")
                continue
            if value.layout not in (FULL, COLUMN):
                raise InvalidArgumentError(
                    "loop kernel: expected a value of full shape, or one per row, to store, got "
                    f"{name!r} of layout {value.layout!r}."
                )
            if into is None:
                target = self._parameter(
                    f"y{len(self.places)}", value.dtype, next(dimensions), True
                )
                self._size(value.layout, target)
            else:
                target = self._in_place(name, into, value)
            self._store(target, value)
        self.sum_targets = {}  # name of a sum in the source -> parameter of its array
        for (name, over), (label, value, _) in zip(sums.items(), self.sums, strict=True):
            if over == "all" and name in self.program.hidden:
                continue
            target = self._parameter(f"y{len(self.places)}", value.dtype, next(dimensions), True)
            self.sum_targets[label] = target
            if over != "all":
                self._size(ROW if over == "leading" else COLUMN, target)
        if not self._sized and (self.each or self.each_row):
            raise InvalidArgumentError(
                "loop kernel: expected an operand or a store of full shape, or a row and a column, "
                "which determine the number of elements."
            )

    def _named(self, name):
        if name not in self.values:
            raise InvalidArgumentError(f"loop kernel: no value is named {name!r}.")
        return self.values[name]

    def _in_place(self, name, into, value):
        if self.targets.get(name) is None:
            raise InvalidArgumentError(
                f"loop kernel: {name!r} cannot be stored to {into!r}, which is not an operand."
            )
        if self.values[into].dtype != value.dtype or value.layout != FULL:
            raise InvalidArgumentError(
                f"loop kernel: {name!r} cannot be stored to {into!r}: expected equal dtypes and "
                "shapes."
            )
        return self.targets[name]

    def _store(self, target, value):
        lines, index = (self.each, "i") if value.layout == FULL else (self.each_row, "r")
        lines.append(f"store({target}, {index}, {value.text}, {self.places[target]})")

    # ---- source text ----

    def text(self):
        """Return the source, and what it defines: a "task" or an "entry" point."""
        two_levels = self._row or self._column
        body = self._rows() if two_levels else self._flat()
        task = self.program.task
        lines = [
            f"def loop({TASK if task else ENTRY}):",
            *self._indented((self._task_header if task else self._entry_header)(two_levels)),
            *self._indented(self.once),
            *self._indented(body if self._sized else []),
            *self._indented(self.after),
            *self._indented([] if task else self._returned()),
            "",
        ]
        return "\n".join(lines), "task" if task else "entry"

    @staticmethod
    def _indented(lines, by=1):
        return ["    " * by + line for line in lines]

    def _task_header(self, two_levels):
        """Return the lines of a task that unpack addresses, sizes and the range of its chunk."""
        arrays = zip(self.parameters, self.kinds, strict=True)
        lines = [
            f"{name} = {kind}_at(numbers[{i}])" for i, (name, (kind, _, _)) in enumerate(arrays)
        ]
        count = len(self.parameters)
        lines += [f"{name} = numbers[{count + i}]" for i, name in enumerate(SIZES)]
        if two_levels:
            lines.append("rows = n // columns if columns else 0")
        by_columns = by_columns_alone(self.program.sums)
        if by_columns or not self.sums:
            end = "columns" if by_columns else "rows" if two_levels else "n"
            lines.append(f"start, stop = first * unit, min(last * unit, {end})")
        return lines

    def _entry_header(self, two_levels):
        """Return the lines of an entry point that check and unpack its arrays and sizes."""
        looks = [f"count == {len(self.parameters)}"]
        for i, (dtype, ndim, written) in enumerate(self.kinds):
            expected = f"{dtype}_letters, {np.dtype(dtype).itemsize}, {ndim}, {int(written)}"
            looks.append(f"and is_array(kind, things[{i}], {expected})")
        lines = ["if not (", *self._indented(looks), "):", "    return wrong_arrays()"]
        lines += [
            f"{name} = {dtype}_of(things[{i}])"
            for i, (name, (dtype, _, _)) in enumerate(zip(self.parameters, self.kinds, strict=True))
        ]
        lines += self._sizes(two_levels)
        return [*lines, "state = release_gil(n)"] if self._sized else lines

    def _returned(self):
        return ["take_gil(state)", "return done()"] if self._sized else ["return done()"]

    def _size_of(self, parameter):
        return f"size(things[{self.places[parameter]}])"

    def _sizes(self, two_levels):
        size = self._size_of
        lines = [f"n = {size(self._full)}"] if self._full else []
        told = {self._full: "n", self._row: "columns", self._column: "rows"}
        checks = [f"{size(one)} != {told[other]}" for one, other in self.checks]
        if self._row:
            lines.append(f"columns = {size(self._row)}")
            if self._column:
                lines.append(f"rows = {size(self._column)}")
            else:
                lines.append("rows = n // columns if columns else 0")
        elif self._column:
            lines.append(f"rows = {size(self._column)}")
            lines.append("columns = n // rows if rows else 0")
        if self._sized and not self._full:
            lines.append("n = rows * columns")
        elif two_levels:
            checks.append("rows * columns != n")
        if checks:
            lines += [f"if {' or '.join(checks)}:", "    return wrong_sizes()"]
        return lines

    def _flat(self):
        if not self.sums:
            bounds = "start, stop" if self.program.task else "n"
            return [f"for i in range({bounds}):", *self._indented(self.each)]
        return [
            *(f"{label}_all = float64(0)" for label, *_ in self.sums),
            f"for first in range(0, n, {BLOCK}):",
            *(f"    {label}_sum = {value.dtype.name}(0)" for label, value, _ in self.sums),
            f"    for i in range(first, min(first + {BLOCK}, n)):",
            *self._indented(self.each, 2),
            *(
                f"        {label}_sum = plus({label}_sum, {value.text})"
                for label, value, _ in self.sums
            ),
            *(f"    {label}_all += float64({label}_sum)" for label, *_ in self.sums),
            *self._totals(),
        ]

    def _totals(self):
        lines = []
        for label, value, over in self.sums:
            if over == "all":
                lines.append(f"{label}_total = {value.dtype.name}({label}_all)")
                if (target := self.sum_targets.get(label)) is not None:
                    lines.append(f"store({target}, 0, {label}_total, {self.places[target]})")
        return lines

    def _rows(self):
        before, row_start, inner, row_end = [], [], [], []
        task = self.program.task
        each = "start, stop" if task and by_columns_alone(self.program.sums) else "columns"
        for label, value, over in self.sums:
            target, kind = self.sum_targets.get(label), value.dtype.name
            place = self.places.get(target)
            if over == "leading":
                before.append(f"for j in range({each}):")
                before.append(f"    store({target}, j, {kind}(0), {place})")
                inner.append(
                    f"store({target}, j, load({target}, j, {place}) + {value.text}, {place})"
                )
                continue
            row_start.append(f"{label}_sum = {kind}(0)")
            inner.append(f"{label}_sum = plus({label}_sum, {value.text})")
            if over == "last":
                row_end.append(f"store({target}, r, {label}_sum, {place})")
            else:
                before.append(f"{label}_all = float64(0)")
                row_end.append(f"{label}_all += float64({label}_sum)")
        bounds = "start, stop" if task and not self.sums else "rows"
        return [
            *before,
            f"for r in range({bounds}):",
            *self._indented([*self.each_row, *row_start, "base = r * columns"]),
            f"    for j in range({each}):",
            "        i = base + j",
            *self._indented([*self.each, *inner], 2),
            *self._indented(row_end),
            *self._totals(),
        ]


def by_columns_alone(sums):
    """Return whether chunks of a task are columns: all its sums are over the leading axes."""
    return bool(sums) and set(sums.values()) == {"leading"}


def _joined(layouts):
    """Return the layout of an op's result, given the layouts of its operands."""
    kinds = set(layouts) - {NUMBER}
    if len(kinds) == 1:
        return kinds.pop()
    return FULL if kinds else NUMBER


def _literal(x, dtype):
    """Return the source of a number in a dtype."""
    text = repr(x) if dtype.kind != "f" else repr(float(x))
    text = {"inf": "np.inf", "-inf": "-np.inf", "nan": "np.nan"}.get(text, text)
    return f"{dtype.name}({text})"


def _in(given, dtype):
    """Return the source of an operand converted to the dtype in which the op computes."""
    if not isinstance(given, _LoopValue):
        return _literal(given, dtype) if dtype.kind != "b" else repr(bool(given))
    return given.text if given.dtype == dtype else f"{dtype.name}({given.text})"


def _as_condition(given):
    if not isinstance(given, _LoopValue):
        return repr(bool(given))
    if given.dtype.kind == "b":
        return given.text
    return f"({given.text} != {given.dtype.name}(0))"
