from framework.core.argument_types import TensorLike
from framework.core.tensor import Tensor
from framework.keras.ops.linalg import *
from framework.keras.ops.nn import *
from framework.keras.ops.numpy import *
from framework.autodiff.custom_gradients import custom_gradient as custom_gradient
from framework.keras.ops import image as image, linalg as linalg, nn as nn, numpy as numpy
from framework.keras.ops.arrays import (
    convert_to_numpy as convert_to_numpy, convert_to_tensor as convert_to_tensor, dtype as dtype,
    is_tensor as is_tensor, shape as shape, slice as slice, stop_gradient as stop_gradient,
    top_k as top_k, unstack as unstack,
)  # fmt: skip
from framework.keras.ops.derivatives import vectorized_map as vectorized_map
from framework.keras.ops.elementwise import cast as cast, saturate_cast as saturate_cast
from framework.keras.ops.reduction import logsumexp as logsumexp
from framework.keras.ops.numerics import (
    view_as_complex as view_as_complex, view_as_real as view_as_real,
)  # fmt: skip
from framework.keras.ops.counting import in_top_k as in_top_k
from framework.keras.ops.rearrangement import (
    cdist as cdist, extract_sequences as extract_sequences, rearrange as rearrange,
)  # fmt: skip
from framework.keras.ops.control import (
    associative_scan as associative_scan, cond as cond, fori_loop as fori_loop, map as map,
    scan as scan, switch as switch, while_loop as while_loop,
)  # fmt: skip
from framework.keras.ops.fourier_transforms import (
    fft as fft, fft2 as fft2, ifft2 as ifft2, irfft as irfft, istft as istft, rfft as rfft,
    stft as stft,
)  # fmt: skip
from framework.keras.ops.linear_algebra import logdet as logdet
from framework.keras.ops.updates import (
    scatter as scatter, scatter_update as scatter_update, segment_max as segment_max,
    segment_min as segment_min, segment_prod as segment_prod, segment_sum as segment_sum,
    slice_update as slice_update,
)  # fmt: skip

def erf(x: TensorLike) -> Tensor: ...
def erfc(x: TensorLike) -> Tensor: ...
def erfinv(x: TensorLike) -> Tensor: ...
def rsqrt(x: TensorLike) -> Tensor: ...
