"""TensorFlow's control flow functions, implemented by Python's control flow; differentiable."""

import math
from typing import Any

import numpy as np

from framework.core import nest
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype
from framework.core.errors import (
    DTypeError,
    InvalidArgumentError,
    ShapeError,
    SymbolicValueError,
)  # fmt: skip
from framework.core.operations import FunctionOperation, operation
from framework.core.recorders import pause_all, thread
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.functions import ragged
from framework.functions.array import TensorArray
from framework.ops import movement
from framework.ops.ragged_spec import RaggedTensorSpec
from framework.ops.ragged_tensor import RaggedTensor

# ---- branches ------------------------------------------------------------------------------------


def _callable(function, what, name):
    if not callable(function):
        raise DTypeError(f"{what}: '{name}' must be callable, got {function!r}.")
    return function


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Return `true_fn()` if `pred` is true, else `false_fn()`.

    If `pred` is a KerasTensor (in a functional model), both branches are computed, and the result
    of one is selected.

    >>> import framework as tf
    >>> tf.cond(tf.constant(2) > 1, lambda: "larger", lambda: "smaller")
    'larger'
    """
    _callable(true_fn, "cond", "true_fn")
    _callable(false_fn, "cond", "false_fn")
    try:
        chosen = bool(pred)
    except SymbolicValueError:
        return _like_both(true_fn(), false_fn(), FunctionOperation(_chosen), (pred,))
    return true_fn() if chosen else false_fn()


def _chosen(pred, a, b):
    return a if pred else b


def _like_both(a, b, operation=None, args=()):
    """Return KerasTensors for the result of either branch; sizes that differ become None.

    Args:
        a, b: the results of the two branches, structures of tensors.
        operation, args: the model's operation that selects `a` or `b`; it is called with `args`,
            `a` and `b`.
    """
    nest.assert_same_structure(a, b)
    a, b = (nest.map_structure(tensor, x) for x in (a, b))
    kwargs, made = {}, []
    for i, (x, y) in enumerate(zip(nest.flatten(a), nest.flatten(b))):
        if x.ndim != y.ndim or x.dtype != y.dtype:
            raise ShapeError(
                "cond or while_loop: expected branches, or loop steps, whose results have the same "
                f"rank and dtype, got {x} and {y}."
            )
        shape = [m if m == n else None for m, n in zip(x.shape, y.shape)]
        made.append(KerasTensor(shape, x.dtype))
        if operation is not None:
            index = i if nest.is_nested(a) else None
            made[-1].origin = (operation, (*args, a, b), kwargs, index)
    return nest.pack_sequence_as(a, made)


def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False,
    name: str | None = "case",
) -> Any:  # fmt: skip
    """Call the function paired with the first true predicate, and return its result.

    Args:
        pred_fn_pairs: pairs (boolean, function without arguments).
        default: the function to call if no predicate is true.
        exclusive: whether more than one true predicate is an error.
        strict: ignored.

    Raises:
        InvalidArgumentError: no predicate is true and there is no default; or, with `exclusive`,
            two predicates are true.

    >>> import framework as tf
    >>> x = tf.constant(3)
    >>> tf.case([(x < 2, lambda: "small"), (x < 5, lambda: "middle")], default=lambda: "large")
    'middle'
    """
    pairs = list(pred_fn_pairs.items() if hasattr(pred_fn_pairs, "items") else pred_fn_pairs)
    for _, function in pairs:
        _callable(function, "case", "fn")
    preds = [p.deref() if hasattr(p, "deref") else p for p, _ in pairs]
    if exclusive and sum(map(bool, preds)) > 1:
        raise InvalidArgumentError(
            "case: more than one predicate is true, with exclusive=True: "
            f"{[bool(p) for p in preds]}."
        )
    for pred, (_, function) in zip(preds, pairs):
        if pred:
            return function()
    if default is None:
        raise InvalidArgumentError("case: none of the predicates is true, and default is None.")
    return _callable(default, "case", "default")()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str | None = "switch_case",
) -> Any:  # fmt: skip
    """Call the function number `branch_index`, and return its result.

    Args:
        branch_index: an integer.
        branch_fns: a list of functions, a dict {number: function}, or pairs (number, function);
            numbers count from 0.
        default: the function for any other number; by default the last branch.

    >>> import framework as tf
    >>> tf.switch_case(tf.constant(1), [lambda: "zero", lambda: "one"])
    'one'
    """
    branches = _numbered(branch_fns)
    index = branch_index if isinstance(branch_index, int) else tensor(branch_index)
    if not isinstance(index, int) and not index.dtype.is_integer:
        raise DTypeError(f"switch_case: 'branch_index' must be an integer, got {index.dtype}.")
    chosen = branches.get(int(index), default or branches[len(branches) - 1])
    return _callable(chosen, "switch_case", "branch_fns")()


def _numbered(branch_fns):
    if hasattr(branch_fns, "items"):
        pairs = list(branch_fns.items())
    else:
        pairs = [f if isinstance(f, tuple) else (i, f) for i, f in enumerate(branch_fns)]
    branches = {int(key): function for key, function in pairs}
    if not branches or sorted(branches) != list(range(len(pairs))):
        raise InvalidArgumentError(
            f"switch_case: branches must be numbered from 0 to {len(pairs) - 1}, got "
            f"{sorted(branches)}."
        )
    for function in branches.values():
        _callable(function, "switch_case", "branch_fns")
    return branches


# ---- loops ---------------------------------------------------------------------------------------


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: Any = 10, back_prop: bool = True, swap_memory: bool = False,
    maximum_iterations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true; return `loop_vars`.

    Args:
        cond: a function of the loop variables that returns a boolean.
        body: a function of the loop variables that returns their next values, equally structured.
        loop_vars: a list or tuple of tensors, or nests of them.
        maximum_iterations: the largest number of iterations; None for no limit.
        shape_invariants, parallel_iterations, back_prop, swap_memory: ignored; Python's loop
            needs none of them.

    >>> import framework as tf
    >>> i, power = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * 2), [0, 1])
    >>> int(power)
    8
    """
    _callable(cond, "while_loop", "cond")
    _callable(body, "while_loop", "body")
    if not isinstance(loop_vars, (list, tuple)) or not len(loop_vars):
        raise InvalidArgumentError(
            f"while_loop: 'loop_vars' must be a list or tuple of tensors, got {loop_vars!r}."
        )
    first, most = list(loop_vars), math.inf if maximum_iterations is None else maximum_iterations
    count = 0
    while count < most:
        try:
            if not cond(*loop_vars):
                break
        except SymbolicValueError:
            if thread.symbolic is None:
                raise
            return _like_both(loop_vars, type(loop_vars)(_listed(body(*loop_vars))))
        loop_vars = body(*loop_vars)
        if not isinstance(loop_vars, (list, tuple)):
            loop_vars = (loop_vars,)
        nest.assert_same_structure(first, list(loop_vars))
        count += 1
    return nest.map_structure(_tensor_or_array, loop_vars)


def _listed(value):
    return value if isinstance(value, (list, tuple)) else [value]


def _tensor_or_array(value):
    return value if isinstance(value, TensorArray) else tensor(value)


def _rows(elems, what):
    """Return the rows of `elems`, each a nest like `elems`, and the leaves of `elems`."""
    leaves = [_tensor_or_ragged(e) for e in nest.flatten(elems)]
    if not leaves or any(not x.ndim for x in leaves):
        raise InvalidArgumentError(
            f"{what}: `elems` must be tensors of at least one axis, got shapes "
            f"{[tuple(x.shape) for x in leaves]}."
        )
    if len({x.shape[0] for x in leaves}) > 1:
        raise ShapeError(
            f"{what}: the tensors in `elems` must have the same size along the first axis, got "
            f"sizes {[x.shape[0] for x in leaves]}."
        )
    if leaves[0].shape[0] is None:
        raise SymbolicValueError(f"{what}: the number of rows of `elems` is not known yet.")
    if not leaves[0].shape[0]:
        return [], leaves
    columns = [
        list(x) if isinstance(x, RaggedTensor) else movement.unstack(x, axis=0) for x in leaves
    ]
    return [nest.pack_sequence_as(elems, row) for row in zip(*columns)], leaves


def _tensor_or_ragged(value, dtype=None):
    return value if isinstance(value, RaggedTensor) else tensor(value, dtype)


def _stacked(results, are_ragged=()):
    """Stack the results, structures of tensors, along a new first axis.

    Args:
        results: one for each row.
        are_ragged: for each leaf, whether its rows may differ in length.
    """
    for other in results[1:]:
        nest.assert_same_structure(results[0], other)
    columns = list(zip(*(nest.flatten(r) for r in results)))
    made = [
        _stacked_rows(column) if is_ragged else movement.stack(*map(tensor, column), axis=0)
        for column, is_ragged in zip(columns, are_ragged or [False] * len(columns), strict=True)
    ]
    return nest.pack_sequence_as(results[0], made)


def _stacked_rows(rows):
    if any(not row.ndim for row in rows):
        raise InvalidArgumentError(
            "map_fn: expected rows for a ragged tensor, got numbers. Pass the dtype of the "
            "numbers as `fn_output_signature`, such as tf.int32."
        )
    return ragged.stack(rows)


@operation
def map_fn(
    fn: Any, elems: TensorLike, dtype: DTypeLike = None, parallel_iterations: Any = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    name: str | None = None, fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """Apply `fn` to each row of `elems`, and stack the results.

    Args:
        fn: a function of a row of `elems` (a structure of rows, if `elems` is a structure).
        elems: a tensor, ragged or not, or a nest of tensors whose first axes have equal sizes.
        dtype: the older name of `fn_output_signature`.
        fn_output_signature: dtypes, TensorSpecs or RaggedTensorSpecs, in the structure of the
            result of `fn`; by default the structure and dtypes of `elems`.
        parallel_iterations, back_prop, swap_memory, infer_shape: ignored.

    >>> import framework as tf
    >>> tf.map_fn(lambda row: tf.reduce_sum(row), tf.constant([[1, 2], [3, 4]])).numpy()
    array([3, 7], dtype=int32)
    """
    _callable(fn, "map_fn", "fn")
    rows, leaves = _rows(elems, "map_fn")
    signature = dtype if fn_output_signature is None else fn_output_signature
    wanted = elems if signature is None else signature
    wanted_leaves = leaves if signature is None else nest.flatten(signature)
    dtypes = [_dtype_of(w) for w in wanted_leaves]
    are_ragged = [isinstance(w, (RaggedTensor, RaggedTensorSpec)) for w in wanted_leaves]
    if not rows:
        return _of_no_rows(fn, elems, leaves, wanted, dtypes, are_ragged)
    return _stacked([_checked(fn(row), wanted, dtypes) for row in rows], are_ragged)


def _dtype_of(wanted):
    return as_dtype(getattr(wanted, "dtype", wanted))


def _checked(result, wanted, dtypes):
    """Convert `result` to tensors of `dtypes`; raise an error if its structure is not `wanted`."""
    if nest.is_nested(result) or nest.is_nested(wanted):
        nest.assert_same_structure(wanted, result)
    leaves = nest.flatten(result)
    return nest.pack_sequence_as(
        result, [_tensor_or_ragged(leaf, dtype) for leaf, dtype in zip(leaves, dtypes, strict=True)]
    )


def _of_no_rows(fn, elems, leaves, wanted, dtypes, are_ragged):
    """Return an empty result for `elems` without rows; `fn` is called on zeros to get its shape."""
    zeros = [
        x.values if isinstance(x, RaggedTensor) else Tensor(np.zeros(x.shape[1:], x.dtype.np))
        for x in leaves
    ]
    with pause_all():
        row = _checked(fn(nest.pack_sequence_as(elems, zeros)), wanted, dtypes)
    made = [
        RaggedTensor(y[:0], [0]) if is_ragged else Tensor(np.zeros((0, *y.shape), y.dtype.np))
        for y, is_ragged in zip(nest.flatten(row), are_ragged, strict=True)
    ]
    return nest.pack_sequence_as(row, made)


def _folded(fn, elems, initializer, backwards, what):
    """Fold `fn` over the rows; return the last accumulated value, and a list of all of them."""
    _callable(fn, what, "fn")
    rows, _ = _rows(elems, what)
    rows = rows[::-1] if backwards else rows
    if initializer is None:
        if not rows:
            raise InvalidArgumentError(f"{what}: `elems` has no rows, and `initializer` is None.")
        values = [rows.pop(0)]
    else:
        values = []
    state = values[0] if values else nest.map_structure(tensor, initializer)
    for row in rows:
        state = nest.map_structure(tensor, fn(state, row))
        values.append(state)
    return state, values


@operation
def foldl(
    fn: Any, elems: TensorLike, initializer: Any = None, parallel_iterations: Any = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Repeat `a = fn(a, row)` for each row of `elems`, from the first; return the last `a`.

    Args:
        fn: a function of the accumulated value and a row of `elems`.
        elems: a tensor, or a nest of tensors whose first axes have equal sizes.
        initializer: the initial `a`; None means the first row.
        parallel_iterations, back_prop, swap_memory: ignored.

    >>> import framework as tf
    >>> int(tf.foldl(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
    123
    """
    return _folded(fn, elems, initializer, False, "foldl")[0]


@operation
def foldr(
    fn: Any, elems: TensorLike, initializer: Any = None, parallel_iterations: Any = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Apply `foldl` from the last row back to the first.

    >>> import framework as tf
    >>> int(tf.foldr(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
    321
    """
    return _folded(fn, elems, initializer, True, "foldr")[0]


@operation
def scan(
    fn: Any, elems: TensorLike, initializer: Any = None, parallel_iterations: Any = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Apply `foldl`, and return all accumulated values, stacked.

    Args:
        fn, elems, initializer: as in `foldl`.
        reverse: go from the last row to the first; entry i of the result still belongs to row i.
        parallel_iterations, back_prop, swap_memory, infer_shape: ignored.

    >>> import framework as tf
    >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy()
    array([1, 3, 6], dtype=int32)
    """
    state, values = _folded(fn, elems, initializer, reverse, "scan")
    if not values:
        return nest.map_structure(lambda y: Tensor(np.zeros((0, *y.shape), y.dtype.np)), state)
    return _stacked(values[::-1] if reverse else values)
