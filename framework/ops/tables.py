"""Lookup tables as an op: a NumPy function of the keys, without a derivative."""

from framework.core.op import Op, no_derivative

# Returns `table(keys)`. For symbolic keys the table declares its result: a NumPy `table.dtype` and
# `table.shape(keys_shape)`, in which None is an unknown size.
look_up = Op(
    "look_up", lambda keys, *, table: table(keys), no_derivative,
    infer=lambda keys, *, table: (table.shape(tuple(keys.shape)), table.dtype), raises=True,
)  # fmt: skip

# The same for a table of several keys, which have one shape.
look_up_all = Op(
    "look_up_all", lambda *keys, table: table(*keys), no_derivative,
    infer=lambda *keys, table: (table.shape(tuple(keys[0].shape)), table.dtype), raises=True,
)  # fmt: skip
