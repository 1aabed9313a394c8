"""tf.dtypes: the element types, and casting between them."""

from framework.core import dtypes as _dtypes
from framework.core.dtypes import (
    DType as DType, as_dtype as as_dtype, bool_ as bool, complex64 as complex64,
    complex128 as complex128, float16 as float16, float16 as half, float32 as float32,
    float64 as double, float64 as float64, int8 as int8, int16 as int16, int32 as int32,
    int64 as int64, string as string, uint8 as uint8, uint16 as uint16, uint32 as uint32,
    uint64 as uint64,
)  # fmt: skip
from framework.functions.elementwise import cast as cast, saturate_cast as saturate_cast
from framework.functions.parts import complex as complex


def __getattr__(name):
    if name == "bfloat16":  # of a library that is loaded when it is asked for
        return _dtypes.bfloat16
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
