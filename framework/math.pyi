from framework.functions.counting import (
    bincount as bincount, confusion_matrix as confusion_matrix,
    invert_permutation as invert_permutation, is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
)  # fmt: skip
from framework.functions.elementwise import (
    abs as abs, acos as acos, acosh as acosh, add as add, add_n as add_n, asin as asin,
    asinh as asinh, atan as atan, atan2 as atan2, atanh as atanh, ceil as ceil, cos as cos,
    cosh as cosh, divide as divide, divide_no_nan as divide_no_nan, equal as equal, erf as erf,
    exp as exp, expm1 as expm1, floor as floor, floordiv as floordiv, floormod as floormod,
    greater as greater, greater_equal as greater_equal, is_finite as is_finite, is_inf as is_inf,
    is_nan as is_nan, less as less, less_equal as less_equal, log as log, log1p as log1p,
    log_sigmoid as log_sigmoid, logical_and as logical_and, logical_not as logical_not,
    logical_or as logical_or, logical_xor as logical_xor, maximum as maximum, minimum as minimum,
    mod as mod, multiply as multiply, multiply_no_nan as multiply_no_nan, negative as negative,
    not_equal as not_equal, polyval as polyval, pow as pow, reciprocal as reciprocal,
    reciprocal_no_nan as reciprocal_no_nan, rint as rint, round as round, rsqrt as rsqrt,
    scalar_mul as scalar_mul, sigmoid as sigmoid, sign as sign, sin as sin, sinh as sinh,
    sqrt as sqrt, square as square, squared_difference as squared_difference, subtract as subtract,
    tan as tan, tanh as tanh, truediv as truediv, xdivy as xdivy, xlog1py as xlog1py,
    xlogy as xlogy,
)  # fmt: skip
from framework.functions.neural import (
    in_top_k as in_top_k, l2_normalize as l2_normalize, log_softmax as log_softmax,
    softmax as softmax, softplus as softplus, softsign as softsign, top_k as top_k,
)  # fmt: skip
from framework.functions.parts import angle as angle, conj as conj, imag as imag, real as real
from framework.functions.reduction import (
    argmax as argmax, argmin as argmin, count_nonzero as count_nonzero, cumprod as cumprod,
    cumsum as cumsum, cumulative_logsumexp as cumulative_logsumexp, reduce_all as reduce_all,
    reduce_any as reduce_any, reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_logsumexp as reduce_logsumexp, reduce_max as reduce_max, reduce_mean as reduce_mean,
    reduce_min as reduce_min, reduce_prod as reduce_prod, reduce_std as reduce_std,
    reduce_sum as reduce_sum, reduce_variance as reduce_variance, zero_fraction as zero_fraction,
)  # fmt: skip
from framework.functions.segments import (
    segment_max as segment_max, segment_mean as segment_mean, segment_min as segment_min,
    segment_prod as segment_prod, segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max, unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min, unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)  # fmt: skip
from framework.functions.special import (
    bessel_i0 as bessel_i0, bessel_i0e as bessel_i0e, bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e, betainc as betainc, digamma as digamma, erfc as erfc,
    erfcinv as erfcinv, erfinv as erfinv, igamma as igamma, igammac as igammac, lbeta as lbeta,
    lgamma as lgamma, ndtri as ndtri, nextafter as nextafter, polygamma as polygamma, zeta as zeta,
)  # fmt: skip
