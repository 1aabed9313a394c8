"""Generation of LLVM code for micro-kernels of any block shape: see `micro`."""

import functools

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from framework.kernels.fast.routine import data_of
from framework.kernels.fast.target import FUSED, LANES, MASKED

INTO_L1, _INTO_L2 = 3, 2  # values of the argument `locality` of the intrinsic llvm.prefetch
LINE = 16  # A cache line has this many float32 elements.
# Blocks of at least LEAST_UNROLLED rows compute UNROLLED steps per iteration.
UNROLLED, LEAST_UNROLLED = 4, 4

_float = ir.FloatType()
_int, _byte = ir.IntType(64), ir.IntType(8)
_mask_of_lane = ir.IntType(32)
# AVX masks a load or store by the sign bits of a vector of integers. If masks were vectors of
# single bits, LLVM would compute these integers again for each use.
_AVX = MASKED and LANES == 8


def make(rows, vectors, any_columns=False, fetching=False):
    """Return a micro-kernel of `rows` × (`vectors` · LANES) as a function for use in kernels.

    Args:
        rows, vectors: the size of the block; rows · vectors accumulators must leave registers for
            B's row.
        any_columns: whether the last argument is the number of columns (1 to all); other columns
            are neither read nor written.
        fetching: whether the kernel also prefetches; its last arguments are then an address, and
            the bytes that it advances with each step and with each run.
    """

    def signature(a, b, c):
        place = types.intp
        return types.void(
            c, place, place, a, place, place, place, b, place, place, place, place, place, place,
            place, *([place] if any_columns else []), *([place] * 3 if fetching else []),
        )  # fmt: skip

    def generate(context, builder, signature, arguments):
        kind = _PrefetchingMicroKernel if fetching else _MicroKernel

        def block(count, masked=0):
            micro_kernel = kind(context, builder, signature, arguments, rows, count, masked)
            micro_kernel.generate(vectors * LANES)

        if any_columns:
            _by_columns(builder, arguments[-1], vectors, block)
        else:
            block(vectors)
        return context.get_dummy_value()

    if any_columns:

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


def _by_columns(builder, columns, vectors, block):
    """Emit `block(vectors, masked)` and branches for three cases of the number of columns.

    The cases are all columns, more than half of the vectors, and at most half. Masked loads and
    stores are slow, so each case has as few of them as possible.
    """
    half = (vectors + 1) // 2
    whole = builder.icmp_signed("==", columns, ir.Constant(_int, vectors * LANES))
    with builder.if_else(whole) as (all_columns, some):
        with all_columns:
            block(vectors)
        with some:
            narrow = builder.icmp_signed("<=", columns, ir.Constant(_int, half * LANES))
            with builder.if_else(narrow) as (few, many):
                with few:
                    block(half, half)
                with many:
                    block(vectors, vectors - half)


def emit_prefetch(builder, address, writes, locality):
    """Emit a prefetch of an address; an invalid address causes no fault."""
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [_byte.as_pointer(), number, number, number])
    fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    address = builder.bitcast(address, _byte.as_pointer())
    builder.call(fetch, [address, number(writes), number(locality), number(1)])


def _as_it_is(module, branch):
    """Forbid LLVM to unroll the loop whose back edge is `branch`."""
    way = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    loop = module.add_metadata([ir.MetaDataString(module, f"loop {branch.parent.name}"), way])
    loop.operands = (loop, way)  # LLVM requires loop metadata to refer to itself.
    branch.set_metadata("llvm.loop", loop)


class _MicroKernel:
    """Generates the LLVM code of a micro-kernel; the last `masked` vectors of a row use masks."""

    def __init__(self, context, builder, signature, arguments, rows, vectors, masked):
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
        whole = vectors - masked
        self.masks = [None] * whole + (self._masks(columns[0], whole) if masked else [])
        self.places = self._places(columns[0]) if masked and not MASKED else None

    def _distance(self, m):
        """Return the distance from row 0 of A to row m, as a value that LLVM cannot analyze.

        Otherwise LLVM would compute each row's address from the previous row's, a chain of
        additions.
        """
        if m == 0:
            return ir.Constant(_int, 0)
        distance = self.builder.mul(ir.Constant(_int, m), self.a_row)
        kind = ir.FunctionType(_int, [_int])
        return self.builder.asm(kind, "", "=r,0", [distance], False)

    def _masks(self, columns, whole):
        """Return the lane masks of a row's vectors, from vector `whole` on."""
        builder, integers = self.builder, ir.VectorType(_mask_of_lane, LANES)
        limit = self._splat(builder.trunc(columns, _mask_of_lane), integers)
        numbers = [range(n * LANES, (n + 1) * LANES) for n in range(whole, self.vectors)]
        lanes = [ir.Constant(integers, list(row)) for row in numbers]
        masks = [builder.icmp_signed("<", lane, limit) for lane in lanes]
        return [builder.sext(mask, integers) for mask in masks] if _AVX else masks

    def _places(self, columns):
        """Return the column that each lane of a row reads; surplus lanes read the last column."""
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

    def _masked(self, way, n, pointer, *value):
        """Load or store vector n of a row where its mask is set; masked lanes load 0."""
        if _AVX:
            name = f"llvm.x86.avx.mask{way}.ps.256"
            place = self.builder.bitcast(pointer, _byte.as_pointer())
            arguments = [place, self.masks[n], *value]
        else:
            zeros = () if value else (ir.Constant(self.vector, [0.0] * LANES),)
            aligned = ir.Constant(ir.IntType(32), 4)  # The pointer is aligned to 4 bytes only.
            name = f"llvm.masked.{way}.v{LANES}f32.p0"
            arguments = [*value, pointer, aligned, self.masks[n], *zeros]
        result = ir.VoidType() if value else self.vector
        function = self._function(name, result, [a.type for a in arguments])
        return self.builder.call(function, arguments)

    def load(self, row, n):
        """Load vector n of a row."""
        builder = self.builder
        # This CPU has no masked loads, so load lane by lane.
        if self.places and self.masks[n]:
            value = ir.Constant(self.vector, ir.Undefined)
            for lane, place in enumerate(self.places[n * LANES : (n + 1) * LANES]):
                element = builder.load(builder.gep(row, [place]))
                value = builder.insert_element(value, element, ir.Constant(ir.IntType(32), lane))
            return value
        pointer = self._pointer(row, n)
        if self.masks[n] is None:
            value = builder.load(pointer)
            value.align = 4
            return value
        return self._masked("load", n, pointer)

    def store(self, value, row, n):
        """Store vector n of a row."""
        builder, pointer = self.builder, self._pointer(row, n)
        if self.masks[n] is None:
            builder.store(value, pointer).align = 4
        else:
            self._masked("store", n, pointer, value)

    def multiply_add(self, x, y, z):
        """Return x y + z, fused if the CPU can: elsewhere llvm.fma would be a library call."""
        if not FUSED:
            return self.builder.fadd(self.builder.fmul(x, y), z)
        name = f"llvm.fma.v{LANES}f32"
        return self.builder.call(self._function(name, self.vector, [self.vector] * 3), [x, y, z])

    def _row_of_c(self, m):
        return self.builder.gep(self.c, [self.builder.mul(ir.Constant(_int, m), self.c_row)])

    def _loop(self, number, values, pointers, strides, body):
        """Emit a loop of `number` steps: values = body(values, pointers); pointers += strides.

        Return the values as phi nodes of the block after the loop; no step runs if number <= 0.
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

    def _step(self, sums, pointers, distances):
        """Emit one step: a column of A, at `distances` from its first row, times a row of B."""
        builder, (a, b) = self.builder, pointers
        row = [self.load(b, n) for n in range(self.vectors)]
        result = []
        for m, distance in enumerate(distances):
            element = self._splat(builder.load(builder.gep(a, [distance])), self.vector)
            own = sums[m * self.vectors : (m + 1) * self.vectors]
            result += [self.multiply_add(element, b, total) for b, total in zip(row, own)]
        return result

    def _walks(self):
        """Return the pointers that the loops advance, and their strides per run and per step."""
        return (self.a, self.b), (self.a_run, self.b_run), (self.a_step, self.b_step)

    def generate(self, width):
        """Emit the kernel, with faster code for rows of B that are `width` elements apart."""
        builder = self.builder
        places = [(m, n) for m in range(self.rows) for n in range(self.vectors)]
        begin, adding, start = (builder.block, *(builder.append_basic_block() for _ in range(2)))
        builder.cbranch(builder.icmp_signed("!=", self.add, ir.Constant(_int, 0)), adding, start)
        builder.position_at_end(adding)
        present = [self.load(self._row_of_c(m), n) for m, n in places]
        # Prefetch the rows of C that the next block writes.
        for m in range(self.rows, 2 * self.rows):
            for n in range(0, self.vectors * LANES, LINE):
                at = builder.gep(self._row_of_c(m), [ir.Constant(_int, n)])
                emit_prefetch(builder, at, 1, INTO_L1)
        adding = builder.block
        builder.branch(start)
        builder.position_at_end(start)
        sums = []
        for value in present:
            node = builder.phi(self.vector)
            node.add_incoming(ir.Constant(self.vector, [0.0] * LANES), begin)
            node.add_incoming(value, adding)
            sums.append(node)
        sums = self._in_runs(sums, self._ways(width))
        for (m, n), value in zip(places, sums):
            self.store(value, self._row_of_c(m), n)

    def _ways(self, width):
        """Return cases with faster code: (condition, constant strides of A and B, A's offsets)."""
        if self.rows < LEAST_UNROLLED:
            return []
        one, width = ir.Constant(_int, 1), ir.Constant(_int, width)
        rows = ir.Constant(_int, self.rows)

        def equal(*pairs):
            bits = [self.builder.icmp_signed("==", a, b) for a, b in pairs]
            return functools.reduce(self.builder.and_, bits)

        beside, turned = (self.b_step, width), (self.a_row, one)
        in_line = [ir.Constant(_int, m) for m in range(self.rows)]
        return [
            (equal(beside, turned, (self.a_step, rows)), (rows, width), in_line),
            (equal(beside, (self.a_step, one)), (one, width), self.a_rows),
            (equal(beside, turned), (self.a_step, width), in_line),
        ]

    def _in_runs(self, sums, ways):
        """Emit the loop over runs, with code for the first of `ways` whose condition holds."""
        builder = self.builder
        pointers, of_runs, of_steps = self._walks()

        def plainly(sums, pointers):
            body = lambda sums, pointers: self._step(sums, pointers, self.a_rows)
            return self._loop(self.steps, sums, pointers, of_steps, body)

        if not ways:
            return self._loop(self.runs, sums, pointers, of_runs, plainly)
        (condition, strides, distances), *others = ways

        def by_several(sums, pointers):
            return self._several(sums, pointers, strides, distances)

        first, other, end = (builder.append_basic_block() for _ in range(3))
        builder.cbranch(condition, first, other)
        ends = []
        for block, make in (
            (first, lambda: self._loop(self.runs, sums, pointers, of_runs, by_several)),
            (other, lambda: self._in_runs(sums, others)),
        ):
            builder.position_at_end(block)
            ends.append((make(), builder.block))
            builder.branch(end)
        builder.position_at_end(end)
        results = [builder.phi(self.vector) for _ in sums]
        for values, block in ends:
            for node, value in zip(results, values):
                node.add_incoming(value, block)
        return results

    def _several(self, sums, pointers, strides, distances):
        """Emit all steps of a run, UNROLLED at a time.

        Constant strides need no instructions for addresses, and the loop has less overhead.
        """
        builder, (a, b, *others) = self.builder, pointers
        count = ir.Constant(_int, UNROLLED)
        strides = [[builder.mul(n, ir.Constant(_int, u)) for n in strides] for u in range(UNROLLED)]
        at_once = [builder.mul(n, count) for n in (*strides[1], *self._walks()[2][2:])]

        def step(sums, pointers):
            return _MicroKernel._step(self, sums, pointers, distances)

        def together(sums, pointers):
            a, b, *others = pointers
            self._meanwhile(*others)
            for moved in strides:
                sums = step(sums, [builder.gep(p, [n]) for p, n in zip((a, b), moved)])
            return sums

        number, rest = builder.udiv(self.steps, count), builder.urem(self.steps, count)
        sums = self._loop(number, sums, (a, b, *others), at_once, together)
        after = [builder.gep(p, [builder.mul(number, n)]) for p, n in zip((a, b), at_once)]
        return self._loop(rest, sums, after, strides[1], step)

    def _meanwhile(self):
        """Emit extra code once per UNROLLED steps: none here; a subclass overrides this."""


class _PrefetchingMicroKernel(_MicroKernel):
    """A micro-kernel that prefetches a cache line with each step, or once per UNROLLED
    steps if these advance the address by at most one line."""

    def __init__(self, context, builder, signature, arguments, *block):
        *arguments, following, self.following_step, self.following_run = arguments
        super().__init__(context, builder, signature, arguments, *block)
        self.following = builder.inttoptr(following, _byte.as_pointer())

    def _step(self, sums, pointers, distances):
        *pointers, following = pointers
        self._meanwhile(following)
        return super()._step(sums, pointers, distances)

    def _meanwhile(self, following):
        # A prefetch into L1 would evict data in use.
        emit_prefetch(self.builder, following, 0, _INTO_L2)

    def _walks(self):
        pointers, runs, steps = super()._walks()
        return (
            (*pointers, self.following),
            (*runs, self.following_run),
            (*steps, self.following_step),
        )

    def _ways(self, width):
        most = ir.Constant(_int, 4 * LINE // UNROLLED)
        slowly = self.builder.icmp_signed("<=", self.following_step, most)
        return [
            (self.builder.and_(condition, slowly), *others)
            for condition, *others in super()._ways(width)
        ]
