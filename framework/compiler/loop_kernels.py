"""Source of loops over elements: a run of elementwise ops becomes one pass over its arrays.

    program = LoopProgram(
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

Numba is imported when a loop is compiled, not before. Results have the bits of the NumPy forwards
but for exp, log, tanh and their kin, which are the library's own (a few units in the last place),
and for sums: those of all elements are added up by blocks, the blocks' sums in float64.
"""

from framework.compiler.loop_cache import LoopMachineCode
from framework.compiler.loop_codegen import LoopCodegen
from framework.compiler.loop_ir import (
    COLUMN,
    FULL,
    NUMBER,
    ROW,
    LoopConstant,
    LoopOperand,
    LoopProgram,
    column,
    full,
    layout_of,
    number,
    row,
    sum_of,
)
from framework.kernels import scalar_code, tier

__all__ = [
    "COLUMN", "FULL", "NUMBER", "ROW", "LoopConstant", "LoopKernel", "LoopOperand", "LoopProgram",
    "build", "column", "full", "gives", "is_slow", "layout_of", "number", "row", "sum_of",
]  # fmt: skip


class LoopKernel:
    """One compiled loop, to be called with arrays (see `LoopProgram`).

    `source` is its text.
    """

    def __init__(self, source, kind):
        self.source, self.kind = source, kind
        self._file = LoopMachineCode(source, kind)
        self._native = None

    @property
    def cached(self):
        """Whether the machine code is there already, in this process or on the disk."""
        return self._native is not None or self._file.is_compiled()

    def native(self):
        """The machine code; made now if need be, which takes a second or more.

        Raises:
            RuntimeError: Numba is not there, or not to be used.
        """
        if self._native is None:
            library = tier.library("elementwise")
            if library is None:
                raise RuntimeError("Loops need Numba, and a tier that uses it.")
            self._native = self._file.compile(library)
        return self._native

    def compiled(self):
        """The machine code as a function of arrays, made as by `native`."""
        return self.native().call

    def address(self):
        """Where the machine code of a task is."""
        return self.native().address

    def __call__(self, *arrays):
        self.compiled()(*arrays)


_built = {}


def build(program):
    """The loop of a program; the same one for programs that differ in their names only.

    Raises:
        InvalidArgumentError: an op, dtype or layout has no form here, or names do not fit.
    """
    key = LoopCodegen(program).text()
    return _built.get(key) or _built.setdefault(key, LoopKernel(*key))


gives = scalar_code.gives  # (op's name, dtypes, attributes): the dtype of what a loop computes


is_slow = scalar_code.is_slow  # (op's name, exponent of a power): does NumPy's own loop likely win?
