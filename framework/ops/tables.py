"""Lookup tables as ops: they apply a NumPy function to the keys, and have no derivative."""

from framework.core.op import Op, no_derivative

# `look_up` returns `table(keys)`. For symbolic keys, `table.dtype` (a NumPy dtype) and
# `table.shape(keys_shape)` describe the result; None in the shape stands for an unknown size.
look_up = Op(
    "look_up", lambda keys, *, table: table(keys), no_derivative,
    infer=lambda keys, *, table: (table.shape(tuple(keys.shape)), table.dtype), raises=True,
)  # fmt: skip

# `look_up_all` is `look_up` for tables with several arrays of keys; `table.shape` receives the
# shapes of all keys.
look_up_all = Op(
    "look_up_all", lambda *keys, table: table(*keys), no_derivative,
    infer=lambda *keys, table: (table.shape(*(tuple(k.shape) for k in keys)), table.dtype),
    raises=True,
)  # fmt: skip

# `look_up_rows` is `look_up_all` for tables that return several arrays, whose sizes depend on the
# values of the keys. For symbolic keys, `table.specs(*keys)` returns a list of (shape, dtype).
look_up_rows = Op(
    "look_up_rows", lambda *keys, table: tuple(table(*keys)), no_derivative, outputs=None,
    infer=lambda *keys, table: table.specs(*keys), sized_by_values=True, raises=True,
)  # fmt: skip
