"""The micro-kernel: a small block of a matrix product, kept in the CPU's vector registers.

Everything that multiplies (matmul, convolution, LSTM, attention) is loops around one function,

    tile(c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add)

which computes, for m < ROWS and n < WIDTH,

    C[m, n] = (C[m, n] if add else 0) + sum over r < runs, s < steps of A[r, s, m] B[r, s, n]

    C[m, n]    is  c[c_at + m c_row + n]
    A[r, s, m] is  a[a_at + r a_run + m a_row + s a_step]
    B[r, s, n] is  b[b_at + r b_run + s b_step + n]

on float32 arrays, of which it sees the memory only: places and strides count elements from the
array's first, and *nothing is checked*. Rows of B and C are contiguous, A has any strides. A matrix
product has one run (runs = 1, a_run = b_run = 0); a convolution uses runs for the rows of its
window, its gradient for the rows of the image. `add` is 0 or 1; with no steps or no runs the sum
is 0.

    tile    exactly ROWS × WIDTH
    panel   any number of rows, 1 to WIDTH columns: the same arguments, then rows and columns.
            It loops over tiles, takes the rest by smaller ones, and touches nothing outside.
    pack    lays a matrix out so that its columns are panels: (panels, steps, WIDTH), with zeros
    turn    lays a part of a matrix out as its transpose
    make    other blocks, for callers with a shape of their own

`tile` compiles into the calling loop; `panel` is a call (some 10 ns) of code that all callers have.

The block follows the CPU that Numba compiles for (NUMBA_CPU_NAME and NUMBA_CPU_FEATURES included):
8 × 32 with AVX-512, 6 × 16 with AVX2 and with NEON, 6 × 8 with SSE.

Example:
    >>> import numpy as np
    >>> from framework.kernels.fast.jit import kernel
    >>> @kernel(cache=False)
    ... def matmul(a, b, c):  # (rows, depth) (depth, columns) (rows, columns), contiguous
    ...     rows, depth = a.shape
    ...     columns = b.shape[1]
    ...     a, b, c = a.reshape(-1), b.reshape(-1), c.reshape(-1)
    ...     for j in range(0, columns, WIDTH):
    ...         panel(
    ...             c, j, columns, a, 0, depth, 1, b, j, columns, depth, 1, 0, 0, 0,
    ...             rows, min(WIDTH, columns - j),
    ...         )
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.random((5, 7), np.float32), rng.random((7, 50), np.float32)
    >>> c = np.empty((5, 50), np.float32)
    >>> matmul(a, b, c)
    >>> bool(np.allclose(c, a @ b))
    True
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.fast.routine import data_of, routine
from framework.kernels.fast.target import FUSED, LANES, MASKED, REGISTERS

# Accumulators plus one row of B and a broadcast element of A fill the registers, without spilling.
ROWS, _VECTORS = (8 if LANES == 16 else 6), (4 if LANES == 4 and REGISTERS == 32 else 2)
WIDTH = _VECTORS * LANES
_MORE = 9 if REGISTERS == 32 and LANES == 16 else ROWS  # the cells of a 3 × 3 window at once

_INTO_L2 = 2  # the locality of a prefetch: what comes to L1 now would drive out what is there

_float = ir.FloatType()
_int = ir.IntType(64)
_bit = ir.IntType(1)


def make(rows, vectors, masked=False, fetching=False):
    """A micro-kernel of `rows` × (`vectors` · LANES) as a function for use inside kernels.

    Args:
        rows, vectors: the block; rows · vectors accumulators must leave registers for B's row.
        masked: whether it takes, as a last argument, how many columns there are (1 to all): the
            rest is neither read nor written.
        fetching: whether it takes, as last arguments, an address and how many bytes to go on from
            there with each step, and with each run: the cache is asked for what lies there, so that
            it is near when it is needed.
    """

    def signature(a, b, c):
        place = types.intp
        return types.void(
            c, place, place, a, place, place, place, b, place, place, place, place, place, place,
            place, *([place] if masked else []), *([place] * 3 if fetching else []),
        )  # fmt: skip

    def generate(context, builder, signature, arguments):
        kind = _Fetching if fetching else _Block
        block = kind(context, builder, signature, arguments, rows, vectors)
        block.generate()
        return context.get_dummy_value()

    if masked:

        @intrinsic
        def edge(
            _, c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run,
            add, columns,
        ):  # fmt: skip
            return signature(a, b, c), generate

        return edge

    if fetching:

        @intrinsic
        def ahead(
            _, c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run,
            add, following, following_step, following_run,
        ):  # fmt: skip
            return signature(a, b, c), generate

        return ahead

    @intrinsic
    def full(
        _, c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add
    ):
        return signature(a, b, c), generate

    return full


def _copier(count):
    """move(target, target_at, source, source_at): copy `count` numbers between flat arrays."""
    vector = ir.VectorType(_float, count)

    @intrinsic
    def move(_, target, target_at, source, source_at):
        def generate(context, builder, signature, arguments):
            def pointer(place):
                kind, array = signature.args[place], arguments[place]
                data = context.make_array(kind)(context, builder, array).data
                address = builder.bitcast(data, _float.as_pointer())
                address = builder.gep(address, [arguments[place + 1]])
                return builder.bitcast(address, vector.as_pointer())

            value = builder.load(pointer(2))
            value.align = 4
            builder.store(value, pointer(0)).align = 4
            return context.get_dummy_value()

        return types.void(target, types.intp, source, types.intp), generate

    return move


move_width = _copier(WIDTH)
move_rows = _copier(ROWS)
move_lanes = _copier(LANES)


@intrinsic
def _turn_square(_, target, target_at, target_row, source, source_at, source_row):
    """`turn` for LANES rows and columns."""
    vector = ir.VectorType(_float, LANES)

    def generate(context, builder, signature, arguments):
        def row(place, m):
            data = data_of(context, builder, signature.args[place], arguments[place])
            data = builder.bitcast(data, _float.as_pointer())
            at = builder.add(
                arguments[place + 1], builder.mul(ir.Constant(_int, m), arguments[place + 2])
            )
            return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())

        rows = []
        for m in range(LANES):
            rows.append(builder.load(row(3, m)))
            rows[-1].align = 4
        # Each round deals row m and row m + LANES / 2 into one another, as cards are shuffled: it
        # turns the digits of (row, column) by one place, and after log2(LANES) rounds by half.
        for _ in range(LANES.bit_length() - 1):
            rows = [
                builder.shuffle_vector(rows[m], rows[m + LANES // 2], dealt)
                for m in range(LANES // 2)
                for dealt in _DEALT
            ]
        for m in range(LANES):
            builder.store(rows[m], row(0, m)).align = 4
        return context.get_dummy_value()

    place = types.intp
    return types.void(target, place, place, source, place, place), generate


def _dealt(first):
    """The places of two vectors' lanes, one after the other, from lane `first` on."""
    places = [first + i // 2 + i % 2 * LANES for i in range(LANES)]
    return ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)


_DEALT = _dealt(0), _dealt(LANES // 2)


@routine(pointers=True, python=True)
def turn(target, target_at, target_row, source, source_at, source_row, rows, columns):
    """target[target_at + n target_row + m] = source[source_at + m source_row + n].

    m < rows, n < columns; squares of LANES in registers, the rest number by number.
    """
    whole = rows // LANES * LANES, columns // LANES * LANES
    for n in range(0, whole[1], LANES):
        for m in range(0, whole[0], LANES):
            _turn_square(
                target, target_at + n * target_row + m, target_row, source,
                source_at + m * source_row + n, source_row,
            )  # fmt: skip
    for m in range(rows):
        for n in range(whole[1] if m < whole[0] else 0, columns):
            target[target_at + n * target_row + m] = source[source_at + m * source_row + n]


def _as_it_is(module, branch):
    """Tell LLVM not to unroll the loop that a branch closes."""
    way = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    loop = module.add_metadata([ir.MetaDataString(module, f"loop {branch.parent.name}"), way])
    loop.operands = (loop, way)  # a loop's name is itself
    branch.set_metadata("llvm.loop", loop)


class _Block:
    """The LLVM code of one micro-kernel."""

    def __init__(self, context, builder, signature, arguments, rows, vectors):
        self.builder, self.rows, self.vectors = builder, rows, vectors
        self.vector = ir.VectorType(_float, LANES)
        (
            c, c_at, self.c_row, a, a_at, self.a_row, self.a_step, b, b_at, self.b_step, self.steps,
            self.runs, self.a_run, self.b_run, self.add, *columns,
        ) = arguments  # fmt: skip

        def pointer(place, array, at):
            data = data_of(context, builder, signature.args[place], array)
            return builder.gep(builder.bitcast(data, _float.as_pointer()), [at])

        self.c, self.a, self.b = pointer(0, c, c_at), pointer(3, a, a_at), pointer(7, b, b_at)
        self.a_rows = [self._distance(m) for m in range(rows)]
        self.masks = self._masks(columns[0]) if columns else None
        self.places = self._places(columns[0]) if columns and not MASKED else None

    def _distance(self, m):
        """From row 0 of A to row m, as a number of which LLVM knows nothing.

        It would step from row to row otherwise, and each step of the loop wait for them all.
        """
        if m == 0:
            return ir.Constant(_int, 0)
        distance = self.builder.mul(ir.Constant(_int, m), self.a_row)
        kind = ir.FunctionType(_int, [_int])
        return self.builder.asm(kind, "", "=r,0", [distance], False)

    def _masks(self, columns):
        """For each vector of a row, which of its lanes are columns."""
        integers = ir.VectorType(_int, LANES)
        limit = self._splat(columns, integers)
        numbers = [range(n * LANES, (n + 1) * LANES) for n in range(self.vectors)]
        lanes = [ir.Constant(integers, list(row)) for row in numbers]
        return [self.builder.icmp_signed("<", lane, limit) for lane in lanes]

    def _places(self, columns):
        """For each lane of a row, where it is read: what is no column reads the last one."""
        last = self.builder.sub(columns, ir.Constant(_int, 1))
        lanes = [ir.Constant(_int, n) for n in range(self.vectors * LANES)]
        lower = [self.builder.icmp_signed("<", lane, last) for lane in lanes]
        return [self.builder.select(low, lane, last) for low, lane in zip(lower, lanes)]

    def _splat(self, value, vector):
        builder, undefined = self.builder, ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, undefined, zeros)

    def _function(self, name, result, arguments):
        kind = ir.FunctionType(result, arguments)
        return cgutils.get_or_insert_function(self.builder.module, kind, name)

    def _pointer(self, row, n):
        address = self.builder.gep(row, [ir.Constant(_int, n * LANES)])
        return self.builder.bitcast(address, self.vector.as_pointer())

    def _mask_arguments(self, n):
        return ir.Constant(ir.IntType(32), 4), self.masks[n]  # aligned to 4 bytes

    def load(self, row, n):
        """Vector n of a row."""
        builder = self.builder
        if self.places:  # without masked loads: lane by lane, never past the last column
            value = ir.Constant(self.vector, ir.Undefined)
            for lane, place in enumerate(self.places[n * LANES : (n + 1) * LANES]):
                element = builder.load(builder.gep(row, [place]))
                value = builder.insert_element(value, element, ir.Constant(ir.IntType(32), lane))
            return value
        pointer = self._pointer(row, n)
        if self.masks is None:
            value = builder.load(pointer)
            value.align = 4
            return value
        zeros = ir.Constant(self.vector, [0.0] * LANES)
        arguments = [pointer, *self._mask_arguments(n), zeros]
        name = f"llvm.masked.load.v{LANES}f32.p0"
        return builder.call(
            self._function(name, self.vector, [a.type for a in arguments]), arguments
        )

    def store(self, value, row, n):
        """Put vector n of a row."""
        builder, pointer = self.builder, self._pointer(row, n)
        if self.masks is None:
            builder.store(value, pointer).align = 4
            return
        arguments = [value, pointer, *self._mask_arguments(n)]
        name = f"llvm.masked.store.v{LANES}f32.p0"
        nothing = ir.VoidType()
        builder.call(self._function(name, nothing, [a.type for a in arguments]), arguments)

    def multiply_add(self, x, y, z):
        """x y + z, in one rounding where the CPU can: elsewhere `fma` is a library's function."""
        if not FUSED:
            return self.builder.fadd(self.builder.fmul(x, y), z)
        name = f"llvm.fma.v{LANES}f32"
        return self.builder.call(self._function(name, self.vector, [self.vector] * 3), [x, y, z])

    def _row_of_c(self, m):
        return self.builder.gep(self.c, [self.builder.mul(ir.Constant(_int, m), self.c_row)])

    def _loop(self, number, values, pointers, strides, body):
        """`values`, changed by body(values, pointers) for so many steps of the pointers.

        Returned as phi nodes of the block after the loop, which runs no step if number <= 0.
        """
        builder, before = self.builder, self.builder.block
        head, after = (builder.append_basic_block(name) for name in ("steps", "after"))
        zero = ir.Constant(_int, 0)
        builder.cbranch(builder.icmp_signed(">", number, zero), head, after)
        builder.position_at_end(head)
        starts = [zero, *pointers, *values]
        nodes = [builder.phi(start.type) for start in starts]
        for node, start in zip(nodes, starts):
            node.add_incoming(start, before)
        index, at, inside = nodes[0], nodes[1 : 1 + len(pointers)], nodes[1 + len(pointers) :]
        inside = body(inside, at)
        following = builder.add(index, ir.Constant(_int, 1))
        moved = [builder.gep(p, [s]) for p, s in zip(at, strides)]
        for node, value in zip(nodes, [following, *moved, *inside]):
            node.add_incoming(value, builder.block)
        last = builder.block
        again = builder.cbranch(builder.icmp_signed("<", following, number), head, after)
        _as_it_is(builder.module, again)
        builder.position_at_end(after)
        results = [builder.phi(value.type) for value in values]
        for node, start, value in zip(results, values, inside):
            node.add_incoming(start, before)
            node.add_incoming(value, last)
        return results

    def _step(self, sums, pointers):
        """One row of B times one column of A."""
        builder, (a, b) = self.builder, pointers
        row = [self.load(b, n) for n in range(self.vectors)]
        result = []
        for m in range(self.rows):
            element = self._splat(builder.load(builder.gep(a, [self.a_rows[m]])), self.vector)
            own = sums[m * self.vectors : (m + 1) * self.vectors]
            result += [self.multiply_add(element, b, total) for b, total in zip(row, own)]
        return result

    def _walks(self):
        """The pointers that move, and by how much with each run and with each step of it."""
        return (self.a, self.b), (self.a_run, self.b_run), (self.a_step, self.b_step)

    def generate(self):
        builder = self.builder
        places = [(m, n) for m in range(self.rows) for n in range(self.vectors)]
        begin, adding, start = (builder.block, *(builder.append_basic_block() for _ in range(2)))
        builder.cbranch(builder.icmp_signed("!=", self.add, ir.Constant(_int, 0)), adding, start)
        builder.position_at_end(adding)
        present = [self.load(self._row_of_c(m), n) for m, n in places]
        adding = builder.block
        builder.branch(start)
        builder.position_at_end(start)
        sums = []
        for value in present:
            node = builder.phi(self.vector)
            node.add_incoming(ir.Constant(self.vector, [0.0] * LANES), begin)
            node.add_incoming(value, adding)
            sums.append(node)
        pointers, of_runs, of_steps = self._walks()

        def steps(sums, pointers):
            return self._loop(self.steps, sums, pointers, of_steps, self._step)

        sums = self._loop(self.runs, sums, pointers, of_runs, steps)
        for (m, n), value in zip(places, sums):
            self.store(value, self._row_of_c(m), n)


class _Fetching(_Block):
    """One that asks the cache for a line with each step."""

    def __init__(self, context, builder, signature, arguments, rows, vectors):
        *arguments, following, self.following_step, self.following_run = arguments
        super().__init__(context, builder, signature, arguments, rows, vectors)
        self.following = builder.inttoptr(following, ir.IntType(8).as_pointer())

    def _step(self, sums, pointers):
        *pointers, following = pointers
        number = ir.IntType(32)
        kinds = [following.type, number, number, number]
        fetch = self._function("llvm.prefetch.p0", ir.VoidType(), kinds)
        self.builder.call(fetch, [following, number(0), number(_INTO_L2), number(1)])
        return super()._step(sums, pointers)

    def _walks(self):
        pointers, runs, steps = super()._walks()
        return (
            (*pointers, self.following),
            (*runs, self.following_run),
            (*steps, self.following_step),
        )


tile = make(ROWS, _VECTORS)
fetching_tile = make(ROWS, _VECTORS, fetching=True)
_edge = make(ROWS, _VECTORS, masked=True)
_narrow = make(ROWS, (_VECTORS + 1) // 2, masked=True)
_NARROW = (_VECTORS + 1) // 2 * LANES
_more = make(_MORE, _VECTORS, masked=True)
_edge_4 = make(4, _VECTORS, masked=True)
_edge_3 = make(3, _VECTORS, masked=True)
_edge_2 = make(2, _VECTORS, masked=True)
_edge_1 = make(1, _VECTORS, masked=True)


@routine(pointers=True, python=True)
def panel(
    c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add, rows,
    columns,
):  # fmt: skip
    """`tile` for any number of rows and 1 to WIDTH columns; see the module."""
    if rows == _MORE and _MORE > ROWS:
        _more(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        return
    while rows >= ROWS:
        if columns == WIDTH:
            tile(
                c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run,
                add,
            )  # fmt: skip
        elif columns <= _NARROW:
            _narrow(
                c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run,
                add, columns,
            )  # fmt: skip
        else:
            _edge(
                c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run,
                add, columns,
            )  # fmt: skip
        c_at, a_at, rows = c_at + ROWS * c_row, a_at + ROWS * a_row, rows - ROWS
    if rows >= 4:
        _edge_4(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        c_at, a_at, rows = c_at + 4 * c_row, a_at + 4 * a_row, rows - 4
    if rows == 3:
        _edge_3(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        return
    if rows >= 2:
        _edge_2(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip
        c_at, a_at, rows = c_at + 2 * c_row, a_at + 2 * a_row, rows - 2
    if rows:
        _edge_1(
            c, c_at, c_row, a, a_at, a_row, a_step, b, b_at, b_step, steps, runs, a_run, b_run, add,
            columns,
        )  # fmt: skip


@routine(python=True)
def pack(b, b_at, b_step, b_column, steps, columns, packed):
    """Lay B[s, n] = b[b_at + s b_step + n b_column] out in panels for `tile`.

    Args:
        b: any flat float32 array; b_column = 1 for a matrix as it is, b_step = 1 for its transpose.
        packed: (ceil(columns / WIDTH), steps, WIDTH), contiguous; what is no column is set to 0.
            Panel j serves as `b` of `tile` with b_at = j steps WIDTH and b_step = WIDTH.
    """
    flat = packed.reshape(-1)
    for j in range(packed.shape[0]):
        first, at = j * WIDTH, j * steps * WIDTH
        here = min(WIDTH, columns - first)
        start = b_at + first * b_column
        if b_column == 1:
            for s in range(steps):
                row, source = packed[j, s], b[start + s * b_step : start + s * b_step + here]
                for n in range(here):
                    row[n] = source[n]
        else:
            turn(flat, at, WIDTH, b, start, b_column, here, steps)
        for s in range(steps):
            for n in range(here, WIDTH):
                packed[j, s, n] = np.float32(0)


def warm():
    """Compile `panel` and `pack` for flat arrays."""
    x = np.zeros(WIDTH, np.float32)
    pack(x, 0, WIDTH, 1, 1, WIDTH, np.empty((1, 1, WIDTH), np.float32))
    panel(np.empty_like(x), 0, WIDTH, x, 0, 1, 1, x, 0, WIDTH, 1, 1, 0, 0, 0, 1, WIDTH)
