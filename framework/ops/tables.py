"""Looking things up by functions of NumPy arrays that no derivative goes through."""

from framework.core.op import Op, no_derivative

# What `table(keys)` makes of an array. The table says what comes out: `table.dtype` (NumPy's), and
# `table.shape(shape)` for keys of a shape, None in it where a size is unknown.
look_up = Op(
    "look_up", lambda keys, *, table: table(keys), no_derivative,
    infer=lambda keys, *, table: (table.shape(tuple(keys.shape)), table.dtype), raises=True,
)  # fmt: skip
