"""Loop kernels: every op against NumPy, layouts, sums, in-place results, cache on disk."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from framework.compiler import loop_kernels
from framework.compiler.loop_codegen import LoopCodegen
from framework.compiler.loop_kernels import (
    COLUMN,
    FULL,
    ROW,
    LoopConstant,
    LoopProgram,
    build,
    column,
    full,
    layout_of,
    number,
    row,
    sum_of,
)  # fmt: skip
from framework.core.errors import InvalidArgumentError
from framework.core.op import table
from framework.kernels import scalar_code, sealed
from framework.ops import losses, special  # noqa: F401 (the whole op table)
from framework.ops.elementwise import power
from framework.ops.rows import gelu  # noqa: F401 (the rest of the op table)

pytest.importorskip("numba")


pytestmark = pytest.mark.usefixtures("numba_tier")


X = full("x", "float32", 1)

# ---- every op ------------------------------------------------------------------------------------

INF, NAN = np.inf, np.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, INF, -INF, NAN, 1e-30, -1e-30, 3.5, -2.5, 90.0]
SPECIAL += [-90.0, 1e-42, 1e30, -1e30, 0.9999, -0.9999, 20.0, -20.0]
# op -> units in the last place by which a loop may differ from NumPy; others are equal
ULP = {
    "exp": 3, "expm1": 4, "log": 3, "log1p": 4, "tanh": 8, "sigmoid": 6, "softplus": 6, "erf": 6,
    "sigmoid_cross_entropy": 4, "xlogy": 4, "xlog1py": 5, "power": 3,
}  # fmt: skip
LIBRARY_ULP = 4  # functions of the C library and of NumPy
# Terms that can cancel: units in the last place are counted relative to their sizes
TERMS = {
    "sigmoid_cross_entropy": lambda logits, labels: 1 + np.abs(logits) + np.abs(logits * labels),
}


def values(dtype, seed):
    rng = np.random.default_rng(seed)
    ordinary = np.concatenate([
        rng.normal(size=300), 10 * rng.normal(size=100), 1e-4 * rng.normal(size=50)
    ])  # fmt: skip
    a, b = (side.ravel() for side in np.meshgrid(SPECIAL, SPECIAL))
    return np.concatenate([ordinary, a if seed % 2 else b]).astype(dtype)


def operands_of(name, dtype):
    """Return arrays for an op: ordinary values, then all pairs of special values."""
    count = len(table[name].inputs)
    code = scalar_code.CODES[name]
    arrays = [values(dtype, seed) for seed in range(count)]
    if count == 3 and name == "clip":
        arrays[1:] = [np.full_like(arrays[0], -0.7), np.full_like(arrays[0], 0.7)]
    return [a > 0 if i in code.conditions else a for i, a in enumerate(arrays)]


def close(found, expected, ulp, terms=0):
    assert found.dtype == expected.dtype
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    tiny = np.finfo(expected.dtype).tiny
    eps = np.finfo(expected.dtype).eps
    room = np.where(np.isfinite(terms), terms, 0) * eps + tiny
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= ulp * room
    found = np.where(near, expected, found) if ulp else found
    np.testing.assert_allclose(found, expected, rtol=ulp * eps, atol=0)


def in_loops(names_and_arrays):
    """Return the results of several ops from one loop, which compiles faster than several loops."""
    operands, steps, arrays = [], [], []
    for op, given in names_and_arrays:
        names = []
        for array in given:
            names.append(f"{op}{len(operands)}")
            operands.append(full(names[-1], array.dtype, 1))
            arrays.append(array)
        steps.append((op, op, tuple(names)))
    loop = build(LoopProgram(operands, steps, {op: None for op, *_ in steps}))
    results = [
        np.empty(arrays[0].size, scalar_code.resolve(op, [a.dtype for a in given], {})[1])
        for op, given in names_and_arrays
    ]
    loop(*arrays, *results)
    return dict(zip([op for op, _ in names_and_arrays], results))


FLOATING = [name for name, code in scalar_code.CODES.items() if "f" in code.kinds]
OTHERS = [name for name, code in scalar_code.CODES.items() if "f" not in code.kinds]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("part", range(6))
def test_ops_equal_numpy(part, dtype):
    names = FLOATING[part::6]
    given = [(name, operands_of(name, dtype)) for name in names]
    found = in_loops(given)
    with np.errstate(all="ignore"):
        for name, arrays in given:
            expected = np.asarray(table[name].forward(*arrays))
            exact = not scalar_code.CODES[name].slow
            try:
                terms = TERMS[name](*arrays) if name in TERMS else 0
                close(found[name], expected, ULP.get(name, 0 if exact else LIBRARY_ULP), terms)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", ["flat", "in rows"])
def test_ops_with_attributes_equal_their_kernels(dtype, layout):
    rng = np.random.default_rng(0)
    g, x = (np.concatenate([6 * rng.normal(size=2483), SPECIAL[:-6]]).astype(dtype) for _ in "gx")
    steps = [
        (f"{name}{i}", name, ("g", "shifted")[2 - len(table[name].inputs) :], dict(attributes))
        for name, codes in scalar_code.CODES_BY_ATTRIBUTE.items()
        for i, attributes in enumerate(codes)
    ]
    shape, zero = {
        "flat": ((2500,), number("zero", dtype)),
        "in rows": ((50, 50), row("zero", dtype, 1)),
    }[layout]
    operands = [full("g", dtype, len(shape)), full("x", dtype, len(shape)), zero]
    zeros = np.zeros(shape[1:], dtype)
    first = ("shifted", "add", ("x", "zero"))
    stores = {name: None for name, *_ in steps}
    found = [np.empty(shape, dtype) for _ in steps]
    loop = build(LoopProgram(operands, [first, *steps], stores, ndim=len(shape)))
    loop(g.reshape(shape), x.reshape(shape), zeros, *found)
    with np.errstate(all="ignore"):
        for (_, op, args, attributes), result in zip(steps, found, strict=True):
            given = [{"g": g, "shifted": x}[name] for name in args]
            expected = table[op].forward(*given, **attributes)
            precise = op == "gelu" and dtype == "float32" and not attributes["approximate"]
            terms = 0 if precise else np.prod([1 + np.abs(a) for a in given], axis=0)
            close(result.reshape(-1), expected, 8, terms)


def test_small_values_of_a_sigmoid():
    x = np.linspace(-744, -700, 100)
    (y,) = in_loops([("sigmoid", [x])]).values()
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-15, atol=np.finfo(y.dtype).smallest_subnormal)


@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_ops_on_integers_and_booleans(dtype):
    names = [n for n, code in scalar_code.CODES.items() if dtype[0] in code.kinds]
    rng = np.random.default_rng(0)
    given = []
    for name in names:
        arrays = [rng.integers(0, 200, 300).astype(dtype) for _ in table[name].inputs]
        conditions = scalar_code.CODES[name].conditions
        given.append((name, [a > 100 if i in conditions else a for i, a in enumerate(arrays)]))
    found = {}
    for start in range(0, len(given), 12):  # a loop has 40 arrays at most
        found.update(in_loops(given[start : start + 12]))
    for name, arrays in given:
        expected = np.asarray(table[name].forward(*arrays))
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
        assert found[name].dtype == expected.dtype or name == "masked"


@pytest.mark.parametrize("of", ["float32", "float64", "int32", "int16", "uint8", "bool"])
def test_casts(of):
    to = ["float32", "float64", "bool"] + (["int64", "uint8"] if of in ("int32", "bool") else [])
    x = np.array([0, 1, 2, 3, 250]).astype(of)
    steps = [(d, "cast", ("x",), {"dtype": d}) for d in to]
    results = [np.empty(5, d) for d in to]
    build(LoopProgram([full("x", of, 1)], steps, dict.fromkeys(to)))(x, *results)
    for d, result in zip(to, results):
        np.testing.assert_array_equal(result, x.astype(d))


def test_numbers_adopt_the_dtype_of_other_operands():
    x = np.array([0.1, -3, 7], np.float32)
    steps = [
        ("a", "multiply", ("x", 0.1)), ("b", "add", (1, "a")), ("c", "power", ("x", 3)),
        ("d", "minimum", ("b", float("inf"))), ("e", "greater", ("x", 0)),
        ("f", "select", ("e", "d", float("nan"))), ("g", "gated", ("c", "e")),
    ]  # fmt: skip
    f, g = np.empty_like(x), np.empty_like(x)
    build(LoopProgram([full("x", "float32", 1)], steps, {"f": None, "g": None}))(x, f, g)
    np.testing.assert_allclose(f, np.where(x > 0, 1 + x * 0.1, np.nan), rtol=1e-6)
    np.testing.assert_allclose(g, x**3 * (x > 0), rtol=1e-6)


# ---- layouts and sums ----------------------------------------------------------------------------

SHAPES = [  # of the result, of an operand beside it, its layout
    ((5, 7), (7,), "row"),
    ((5, 7), (1, 7), "row"),
    ((5, 7), (5, 1), "column"),
    ((2, 3, 4), (4,), "row"),
    ((2, 3, 4), (3, 4), "row"),
    ((2, 3, 4), (2, 3, 1), "column"),
    ((2, 3, 4), (2, 1, 1), "column"),
    ((2, 3, 4), (2, 3, 4), "full"),
    ((2, 3, 4), (), "number"),
    ((2, 3, 4), (2, 1, 4), None),
    ((2, 3, 4), (1, 3, 1), None),
    ((0, 3), (3,), "row"),
    ((1, 3), (3,), "full"),
]


@pytest.mark.parametrize(("result", "shape", "layout"), SHAPES)
def test_layouts(result, shape, layout):
    found = layout_of(shape, result)
    assert found == layout
    if layout is None:
        return
    rng = np.random.default_rng(0)
    x, b = (np.asarray(rng.normal(size=s), np.float32) for s in (result, shape))
    operands = [full("x", "float32", x.ndim), loop_kernels.LoopOperand("b", b.dtype, found, b.ndim)]
    y = np.empty_like(x)
    steps = [("h", "multiply", ("b", 2)), ("y", "add", ("x", "h"))]
    build(LoopProgram(operands, steps, {"y": None}, ndim=x.ndim))(x, b, y)
    np.testing.assert_allclose(y, x + 2 * b, rtol=1e-6)


def test_a_row_and_a_column_make_a_matrix_and_columns_can_be_stored():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(33, 1)), rng.normal(size=17)
    y, half = np.empty((33, 17)), np.empty((33, 1))
    steps = [("half", "multiply", ("a", 0.5)), ("y", "subtract", ("half", "b"))]
    operands = [column("a", "float64", 2), row("b", "float64", 1)]
    build(LoopProgram(operands, steps, {"y": None, "half": None}, ndim=2))(a, b, y, half)
    np.testing.assert_allclose(y, a / 2 - b)
    np.testing.assert_array_equal(half, a / 2)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (67, 129), (5000, 3), (2, 9001)])
@pytest.mark.parametrize("stored", [False, True])
def test_sums(shape, stored):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(np.float32) + np.float32(0.5)
    steps = [("y", "square", ("x",)), ("z", "multiply", ("x", 1)), ("w", "abs", ("x",))]
    sums = {"y": "all", "z": "leading", "w": "last"}
    program = LoopProgram([full("x", "float32", 2)], steps, {"y": None} if stored else {}, sums)
    outputs = [np.empty_like(x)] if stored else []
    program = program._replace(ndim=[2, 0, 1, 1] if stored else [0, 1, 1])
    results = [np.empty((), "f"), np.empty(shape[1], "f"), np.empty(shape[0], "f")]
    build(program)(x, *outputs, *results)
    wide = x.astype(np.float64)
    for found, expected in zip(results, [(wide**2).sum(), wide.sum(0), abs(wide).sum(1)]):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)
    if stored:
        np.testing.assert_array_equal(outputs[0], x * x)


def test_a_long_sum_is_accurate():
    """One by one in float32 the error would be 1e-2."""
    x = np.random.default_rng(0).random(1_000_003, np.float32)
    total = np.empty(1, np.float32)
    build(LoopProgram([full("x", "float32", 1)], [("y", "add", ("x", 1.0))], {}, {"y": "all"}))(
        x, total
    )
    np.testing.assert_allclose(total[0], x.sum(dtype=np.float64) + x.size, rtol=2e-7)


# ---- in-place results, chunks --------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1000])
def test_values_can_overwrite_operands(size):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, size))
    before = x.copy(), y.copy()
    steps = [("s", "add", ("x", "y")), ("d", "subtract", ("x", "y"))]
    operands = [full("x", "float64", 1), full("y", "float64", 1)]
    build(LoopProgram(operands, steps, {"d": "x", "s": "y"}))(x, y)
    np.testing.assert_array_equal(x, before[0] - before[1])
    np.testing.assert_array_equal(y, before[0] + before[1])


def performed(program, arrays, sizes, first, last):
    """Run a chunk of a program's loop as a task."""
    numbers = np.array([*(a.ctypes.data for a in arrays), *sizes], np.int64)
    tasks = pytest.importorskip("framework.kernels.fast.tasks")
    task = build(program._replace(task=True)).native()
    ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(task.address)(numbers.ctypes.data, first, last, 0)
    assert isinstance(task, tasks.CompiledTask)


def test_a_chunk_of_a_task_leaves_other_elements():
    x, y = np.arange(10.0), np.zeros(10)
    program = LoopProgram([full("x", "float64", 1)], [("y", "square", ("x",))], {"y": None})
    performed(program, [x, y], [10, 10, 2], 1, 3)
    np.testing.assert_array_equal(y, [0, 0, 4, 9, 16, 25, 0, 0, 0, 0])
    performed(program, [x, y], [10, 10, 4], 2, 3)
    np.testing.assert_array_equal(y[6:], [0, 0, 64, 81])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_task_equals_its_loop(dtype):
    rng = np.random.default_rng(0)
    x, b, flags = rng.normal(size=(6, 5)).astype(dtype), np.arange(5, dtype=dtype), np.arange(6) > 2
    program = LoopProgram(
        [full("x", dtype, 2), row("b", dtype, 1), column("c", "bool", 2), number("k", dtype)],
        [("s", "multiply", ("x", "k")), ("y", "select", ("c", "s", "b")), ("z", "add", ("y", 1))],
        {"y": None, "z": "x"}, {"z": "leading", "y": "all"}, ndim=[2, 1, 0],
    )  # fmt: skip
    given = [b, flags.reshape(6, 1), np.full((), 3, dtype)]
    results = []
    for task in (False, True):
        own, made = x.copy(), [np.zeros((6, 5), dtype), np.zeros(5, dtype), np.zeros((), dtype)]
        if task:
            performed(program, [own, *given, *made], [30, 5, 1], 0, 1)  # sums are over all elements
        else:
            build(program)(own, *given, *made)
        results.append([own, *made])
    for found, expected in zip(*results):
        np.testing.assert_array_equal(found, expected)
    rows = program._replace(sums={}, ndim=2)
    for task in (False, True):
        own, made = x.copy(), np.zeros((6, 5), dtype)
        if task:
            for part in range(3):
                performed(rows, [own, *given, made], [30, 5, 2], part, part + 1)
            np.testing.assert_array_equal(own, results[0][0])
            np.testing.assert_array_equal(made, results[0][1])


def test_read_only_arrays_are_read_and_not_written():
    x = np.arange(3.0)
    x.flags.writeable = False
    loop = build(LoopProgram([full("x", "float64", 1)], [("y", "square", ("x",))], {"y": None}))
    y = np.empty(3)
    loop(x, y)
    np.testing.assert_array_equal(y, x * x)
    with pytest.raises(TypeError):
        loop(y, x)


def test_loops_over_many_arrays_are_vectorised(change):
    """With many arrays, LLVM no longer checks at run time whether they overlap."""
    change(sealed, _folder=lambda: None)  # code loaded from disk has no assembly text
    operands = [full(f"x{i}", "float32", 1) for i in range(9)]
    steps = [(f"y{i}", "multiply", (f"x{i}", f"x{i + 1}")) for i in range(8)]
    program = LoopProgram(operands, steps, {f"y{i}": None for i in range(8)})
    loop = loop_kernels.LoopKernel(*LoopCodegen(program).text())
    assert " x float>" in loop.native().compiled.inspect_llvm()


def test_scalars_before_and_after_the_sums():
    program = LoopProgram(
        [full("x", "float32", 1), number("k", "float32"), number("step", "int64")],
        [("y", "multiply", ("x", "k")), ("next", "add", ("step", 1))],
        {"mean": None, "next": None}, {"y": "all", "x": "all"}, ndim=[0, 0, 0],
        after=[("mean", "divide", (sum_of("y"), 4))], hidden=frozenset({"y"}),
    )  # fmt: skip
    x, mean, following, total = np.arange(4, dtype="f"), np.zeros((), "f"), np.zeros((), int), None
    total = np.zeros((), "f")
    build(program)(x, np.asarray(3, "f"), np.asarray(7), mean, following, total)
    assert (float(mean), int(following), float(total)) == (4.5, 8, 6.0)


def test_a_loop_of_scalars():
    k, out = np.asarray(3, "f"), np.zeros((), "f")
    build(LoopProgram([number("k", "float32")], [("y", "square", ("k",))], {"y": None}, ndim=0))(
        k, out
    )
    assert float(out) == 9.0


# ---- errors --------------------------------------------------------------------------------------

WRONG = {
    "cannot compute cholesky": LoopProgram([X], [("y", "cholesky", ("x",))], {"y": None}),
    "cannot compute floor_divide": LoopProgram([X], [("y", "floor_divide", ("x", 2))], {"y": None}),
    "dtype float16": LoopProgram([full("x", "float16", 1)], [], {"x": None}),
    "named 'z'": LoopProgram([X], [("y", "add", ("x", "z"))], {"y": None}),
    "neither a name nor a number": LoopProgram([X], [("y", "add", ("x", None))], {"y": None}),
    "two values": LoopProgram([X], [("x", "add", ("x", 1))], {"x": None}),
    "two operands": LoopProgram([X, X], [], {"x": None}),
    "no value is named": LoopProgram([X], [], {"y": None}),
    "expected equal dtypes": LoopProgram([X], [("y", "greater", ("x", 0))], {"y": "x"}),
    "which is not an operand": LoopProgram([X], [("y", "add", ("x", 0))], {"y": "z"}),
    "over 'rows'": LoopProgram([X], [("y", "add", ("x", 0))], {}, {"y": "rows"}),
    "cannot sum bool": LoopProgram([X], [("y", "greater", ("x", 0))], {}, {"y": "all"}),
    "full shape": LoopProgram([row("b", "float32", 1)], [("y", "add", ("b", 0))], {}),
    "or one per row": LoopProgram(
        [X, row("b", "float32", 1)], [("y", "add", ("b", 0))], {"y": None}
    ),
    "only scalars": LoopProgram(
        [X], [], {}, {"x": "all"}, after=[("y", "add", ("x", sum_of("x")))]
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_errors_of_programs(message):
    with pytest.raises(InvalidArgumentError, match=message):
        build(WRONG[message])


def test_sizes_are_checked():
    loop = build(LoopProgram([X], [("y", "square", ("x",))], {"y": None}))
    with pytest.raises(ValueError, match="sizes"):
        loop(np.zeros(3, "f"), np.zeros(4, "f"))


def test_gives_and_is_slow():
    f, b = np.dtype(np.float32), np.dtype(np.bool_)
    assert loop_kernels.gives("add", [f, float]) == f
    assert loop_kernels.gives("less", [f, float]) == b
    assert loop_kernels.gives("cast", [f], {"dtype": np.dtype(np.float64)}) == np.float64
    assert loop_kernels.gives("add", [np.dtype(np.float16), float]) is None
    assert loop_kernels.gives("matmul", [f, f]) is None
    assert loop_kernels.is_slow("sin")
    assert not loop_kernels.is_slow("tanh")
    assert loop_kernels.is_slow("power", 2.5)
    assert not loop_kernels.is_slow("power", 2)


@pytest.mark.parametrize("op", ["select", "masked", "gated"])
def test_constants_keep_their_dtype(op):
    """With bool arrays, a constant determines the dtype of a computation."""
    b, one = np.arange(77) % 3 == 0, LoopConstant(1.0, np.dtype(np.float32), FULL)
    args = {"select": ("b", one, one._replace(number=-2.0))}.get(op, (one, "b"))
    made = np.full(77, 9, np.float32)
    build(LoopProgram([full("b", "bool", 1)], [("y", op, args)], {"y": None}))(b, made)
    np.testing.assert_array_equal(made, np.where(b, 1, -2 if op == "select" else 0))


@pytest.mark.parametrize(
    "operand",
    [number("k", "float32"), row("k", "float32", 1), column("k", "float32", 2)],
    ids=["number", "row", "column"],
)
def test_constants_keep_their_layout(operand):
    """A constant array combined with a smaller operand determines the shape of the result."""
    shape = {ROW: (5,), COLUMN: (7, 1)}.get(operand.layout, ())
    k = np.asarray(np.random.default_rng(3).random(shape), np.float32)
    two = LoopConstant(2.0, np.dtype(np.float32), FULL)
    made = np.zeros((7, 5), np.float32)
    build(LoopProgram([operand], [("y", "multiply", (two, "k"))], {"y": None}, ndim=2))(k, made)
    np.testing.assert_array_equal(made, np.broadcast_to(2 * k, (7, 5)))


def test_programs_that_differ_in_names_share_a_loop():
    one = build(LoopProgram([X], [("y", "square", ("x",))], {"y": None}))
    other = LoopProgram([full("image", "float32", 1)], [("z", "square", ("image",))], {"z": None})
    assert build(other) is one


# ---- files ---------------------------------------------------------------------------------------

PROGRAM = """
import sys, numpy as np
from framework.compiler import loop_kernels
program = loop_kernels.LoopProgram(
    [loop_kernels.full("x", "float32", 1)], [("y", "multiply", ("x", 3.25))], {"y": None})
loop = loop_kernels.build(program)
was_cached = loop.cached
assert "numba" not in sys.modules
x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
loop(x, y)
assert loop.cached and (y == 3.25).all()
hits = loop.native().compiled.cache_hits
print(was_cached, hits)
"""


def in_a_process(folder):
    environment = {**os.environ, "FRAMEWORK_CACHE_DIR": str(folder), "FRAMEWORK_COMPILE": "auto"}
    environment.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, env=environment, capture_output=True, text=True
    )
    return run.stdout.split()


def test_another_process_finds_the_machine_code(tmp_path):
    assert in_a_process(tmp_path) == ["False", "0"]
    assert in_a_process(tmp_path) == ["True", "1"]


def test_without_a_folder_loops_are_compiled_in_memory(change):
    change(sealed, _folder=lambda: None)
    program = LoopProgram([X], [("y", "abs", ("x",))], {"y": None})
    loop = loop_kernels.LoopKernel(*LoopCodegen(program).text())
    assert not loop.cached
    y = np.empty(1, np.float32)
    loop(np.array([-2], np.float32), y)
    assert y[0] == 2
    assert loop.cached


def test_without_numba_there_is_one_clear_error(change):
    change(loop_kernels.tier, library=lambda name: None)
    program = LoopProgram([X], [("y", "abs", ("x",))], {"y": None})
    with pytest.raises(RuntimeError, match="Numba"):
        loop_kernels.LoopKernel(*LoopCodegen(program).text()).compiled()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_numbers_have_the_bits_of_the_op(dtype):
    rng = np.random.default_rng(0)
    a = np.concatenate([rng.uniform(0.8, 1, 400), rng.uniform(0, 5, 400), [0, -2]]).astype(dtype)
    b = np.concatenate([np.arange(400), rng.uniform(-5, 5, 400), [0, 3]]).astype(dtype)
    program = LoopProgram(
        [full("a", dtype, 1), full("b", dtype, 1)], [("s", "power", ("a", "b"))], {"s": None}
    )
    found = np.empty_like(a)
    build(program)(a, b, found)
    numbers = [np.asarray(power(np.asarray(x), np.asarray(y))) for x, y in zip(a, b, strict=True)]
    assert {n.dtype for n in numbers} == {np.dtype(dtype)}
    np.testing.assert_array_equal(found, np.array(numbers))


@pytest.mark.parametrize("exponent", [-0.8, 1.7, -1, 0, 0.5, 1, 2])
def test_powers_by_a_python_number_have_the_bits_of_the_op(exponent):
    a = np.random.default_rng(0).uniform(0, 50, 200).astype("float32")
    for x in a:
        found, operands = np.empty((), np.float32), [number("x", "float32")]
        build(LoopProgram(operands, [("s", "power", ("x", exponent))], {"s": None}))(
            np.asarray(x), found
        )
        assert found == power(np.asarray(x), exponent) == power(x, exponent)
