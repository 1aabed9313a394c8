"""Loop kernels: a sequence of elementwise ops compiled to one Numba loop over the arrays.

    program = LoopProgram(
        operands=[full("x", "float32", 2), row("b", "float32", 1), number("k", "float32")],
        steps=[("s", "add", ("x", "b")), ("y", "tanh", ("s",)), ("z", "multiply", ("y", "k"))],
        stores={"z": None},
        sums={"z": "leading"},
    )
    loop = build(program)
    print(loop.source)
    loop(x, b, k, z, z_sum)  # compiled at the first call, or loaded from the disk

A call takes the operands in order, then an array for each store that does not overwrite an operand,
then one for each sum. All arrays are contiguous and have the declared number of dimensions; only
sizes are checked. A written array must not overlap others; in-place results are declared
(`stores={"z": "x"}`).

Numba is imported when a loop is first compiled. Results have the same bits as NumPy's, with two
exceptions: exp, log, tanh and similar functions are the package's own (a few units in the last
place), and sums are computed block by block, adding the block sums in float64.
"""

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
    """A compiled loop, called with arrays (see `LoopProgram`); `source` is its Python source."""

    def __init__(self, source, kind):
        # Building models needs no machine code, and its cache loads `hashlib` and `tempfile`.
        from framework.compiler.loop_cache import LoopMachineCode

        self.source, self.kind = source, kind
        self._file = LoopMachineCode(source, kind)
        self._native = None

    @property
    def cached(self):
        """Whether the machine code is in memory or on disk."""
        return self._native is not None or self._file.is_compiled()

    def native(self):
        """Return the machine code, compiled if necessary, which takes a second or more.

        Raises:
            RuntimeError: Numba is not installed, or the backend does not use it.
        """
        if self._native is None:
            library = tier.library("elementwise")
            if library is None:
                raise RuntimeError("loop kernel: expected Numba and the tier 'auto' or 'numba'.")
            self._native = self._file.compile(library)
        return self._native

    def compiled(self):
        """Return the compiled kernel as a callable that takes arrays; see `native`."""
        return self.native().call

    def address(self):
        """Return the address of the compiled kernel, by which a thread team calls it."""
        return self.native().address

    def __call__(self, *arrays):
        self.compiled()(*arrays)


_built = {}


def build(program):
    """Return the loop of a program; programs that differ only in names share a loop.

    Raises:
        InvalidArgumentError: a loop does not support an op, dtype or layout, or a name is unknown
            or used twice.
    """
    key = LoopCodegen(program).text()
    return _built.get(key) or _built.setdefault(key, LoopKernel(*key))


gives = scalar_code.gives  # (op name, dtypes, attributes) -> dtype of the result in a loop


is_slow = scalar_code.is_slow  # (op name, exponent of a power) -> whether NumPy is probably faster
