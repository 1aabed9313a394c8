from framework.keras.ops.arrays import (
    append as append, arange as arange, argsort as argsort, array as array,
    broadcast_to as broadcast_to, concatenate as concatenate, copy as copy, dot as dot,
    empty as empty, empty_like as empty_like, expand_dims as expand_dims, eye as eye, flip as flip,
    full as full, full_like as full_like, get_item as get_item, hstack as hstack,
    identity as identity, inner as inner, linspace as linspace, matmul as matmul,
    meshgrid as meshgrid, moveaxis as moveaxis, ndim as ndim, nonzero as nonzero, ones as ones,
    ones_like as ones_like, outer as outer, ravel as ravel, repeat as repeat,
    reshape as reshape, roll as roll, size as size, sort as sort, split as split,
    squeeze as squeeze, stack as stack, swapaxes as swapaxes, take as take,
    take_along_axis as take_along_axis, tensordot as tensordot, tile as tile,
    transpose as transpose, tri as tri, tril as tril, triu as triu, vdot as vdot, vstack as vstack,
    where as where, zeros as zeros, zeros_like as zeros_like,
)  # fmt: skip
from framework.keras.ops.elementwise import (
    absolute as absolute, add as add, arccos as arccos, arccosh as arccosh, arcsin as arcsin,
    arcsinh as arcsinh, arctan as arctan, arctan2 as arctan2, arctanh as arctanh,
    bitwise_and as bitwise_and, bitwise_not as bitwise_not, bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor, ceil as ceil, clip as clip, cos as cos, cosh as cosh,
    divide as divide, divide_no_nan as divide_no_nan, equal as equal, exp as exp, exp2 as exp2,
    expm1 as expm1, floor as floor, floor_divide as floor_divide, greater as greater,
    greater_equal as greater_equal, isclose as isclose, isfinite as isfinite, isinf as isinf,
    isnan as isnan, less as less, less_equal as less_equal, log as log, log10 as log10,
    log1p as log1p, log2 as log2, logaddexp as logaddexp, logical_and as logical_and,
    logical_not as logical_not, logical_or as logical_or, logical_xor as logical_xor,
    maximum as maximum, minimum as minimum, mod as mod, multiply as multiply, negative as negative,
    not_equal as not_equal, power as power, reciprocal as reciprocal, round as round, sign as sign,
    sin as sin, sinh as sinh, sqrt as sqrt, square as square, subtract as subtract, tan as tan,
    tanh as tanh, true_divide as true_divide, trunc as trunc,
)  # fmt: skip
from framework.keras.ops.reduction import (
    all as all, amax as amax, amin as amin, any as any, argmax as argmax, argmin as argmin,
    average as average, count_nonzero as count_nonzero, cumsum as cumsum, max as max, mean as mean,
    min as min, prod as prod, ptp as ptp, std as std, sum as sum, var as var,
)  # fmt: skip
from framework.keras.ops.counting import (
    argpartition as argpartition, bincount as bincount, digitize as digitize,
    histogram as histogram, isin as isin, searchsorted as searchsorted, select as select,
    unique as unique, unravel_index as unravel_index,
)  # fmt: skip
from framework.keras.ops.matrices import (
    array_split as array_split, corrcoef as corrcoef, cross as cross, diag as diag,
    diagflat as diagflat, diagonal as diagonal, dsplit as dsplit, dstack as dstack,
    einsum as einsum, fliplr as fliplr, flipud as flipud, hsplit as hsplit, kron as kron,
    rot90 as rot90, slogdet as slogdet, trace as trace, vander as vander, vsplit as vsplit,
)  # fmt: skip
from framework.keras.ops.nan_reduction import (
    cumprod as cumprod, median as median, nanargmax as nanargmax, nanargmin as nanargmin,
    nancumprod as nancumprod, nancumsum as nancumsum, nanmax as nanmax, nanmean as nanmean,
    nanmedian as nanmedian, nanmin as nanmin, nanpercentile as nanpercentile, nanprod as nanprod,
    nanquantile as nanquantile, nanstd as nanstd, nansum as nansum, nanvar as nanvar,
    percentile as percentile, quantile as quantile,
)  # fmt: skip
from framework.keras.ops.numerics import (
    allclose as allclose, angle as angle, bitwise_left_shift as bitwise_left_shift,
    bitwise_right_shift as bitwise_right_shift, cbrt as cbrt, conjugate as conjugate,
    deg2rad as deg2rad, fabs as fabs, fmax as fmax, fmin as fmin, fmod as fmod, gcd as gcd,
    heaviside as heaviside, hypot as hypot, i0 as i0, imag as imag, isneginf as isneginf,
    isposinf as isposinf, isreal as isreal, lcm as lcm, ldexp as ldexp, left_shift as left_shift,
    logaddexp2 as logaddexp2, nan_to_num as nan_to_num, nextafter as nextafter, rad2deg as rad2deg,
    real as real, right_shift as right_shift, signbit as signbit, sinc as sinc, view as view,
)  # fmt: skip
from framework.keras.ops.rearrangement import (
    pad as pad, vectorize as vectorize,
)  # fmt: skip
from framework.keras.ops.signals import (
    bartlett as bartlett, blackman as blackman, correlate as correlate, diff as diff,
    geomspace as geomspace, hamming as hamming, hanning as hanning, kaiser as kaiser,
    logspace as logspace, trapezoid as trapezoid,
)  # fmt: skip

abs = absolute
bitwise_invert = bitwise_not
conj = conjugate
