"""Lookup tables as an op: a NumPy function of the keys, without a derivative."""

from framework.core.op import Op, no_derivative

# Returns `table(keys)`. For symbolic keys the table declares its result: a NumPy `table.dtype` and
# `table.shape(keys_shape)`, in which None is an unknown size.
look_up = Op(
    "look_up", lambda keys, *, table: table(keys), no_derivative,
    infer=lambda keys, *, table: (table.shape(tuple(keys.shape)), table.dtype), raises=True,
)  # fmt: skip

# The same for a table of several keys, whose shapes it gets.
look_up_all = Op(
    "look_up_all", lambda *keys, table: table(*keys), no_derivative,
    infer=lambda *keys, table: (table.shape(*(tuple(k.shape) for k in keys)), table.dtype),
    raises=True,
)  # fmt: skip

# The same for a table with several results, whose sizes follow from the values of the keys. For
# symbolic keys it declares a list of (shape, dtype): `table.specs(*keys)`.
look_up_rows = Op(
    "look_up_rows", lambda *keys, table: tuple(table(*keys)), no_derivative, outputs=None,
    infer=lambda *keys, table: table.specs(*keys), sized_by_values=True, raises=True,
)  # fmt: skip
