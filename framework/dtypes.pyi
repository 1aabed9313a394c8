from framework.core.dtypes import (
    DType as DType, as_dtype as as_dtype, bfloat16 as bfloat16, bool_, complex128 as complex128,
    complex64 as complex64, float16 as float16, float32 as float32, float64 as float64,
    int16 as int16, int32 as int32, int64 as int64, int8 as int8, string as string,
    uint16 as uint16, uint32 as uint32, uint64 as uint64, uint8 as uint8,
)  # fmt: skip
from framework.functions.elementwise import cast as cast, saturate_cast as saturate_cast
from framework.functions.parts import complex as complex

bool = bool_
double = float64
half = float16
