from framework.keras.ops.nn import *
from framework.keras.ops.numpy import *
from framework.autodiff.custom_gradients import custom_gradient as custom_gradient
from framework.autodiff.derivatives import jvp as jvp
from framework.keras.ops import nn as nn, numpy as numpy
from framework.keras.ops.arrays import (
    convert_to_numpy as convert_to_numpy, convert_to_tensor as convert_to_tensor, dtype as dtype,
    is_tensor as is_tensor, shape as shape, slice as slice, stop_gradient as stop_gradient,
    top_k as top_k, unstack as unstack,
)  # fmt: skip
from framework.keras.ops.derivatives import vectorized_map as vectorized_map
from framework.keras.ops.elementwise import (
    cast as cast, erf as erf, rsqrt as rsqrt, saturate_cast as saturate_cast,
)  # fmt: skip
from framework.keras.ops.reduction import logsumexp as logsumexp
from framework.keras.ops.numerics import (
    erfc as erfc, erfinv as erfinv, polar as polar, view_as_complex as view_as_complex,
    view_as_real as view_as_real,
)  # fmt: skip
from framework.keras.ops.counting import in_top_k as in_top_k
from framework.keras.ops.rearrangement import (
    cdist as cdist, depth_to_space as depth_to_space, extract_sequences as extract_sequences,
    fold as fold, multi_hot as multi_hot, psnr as psnr, rearrange as rearrange,
    space_to_depth as space_to_depth, sparsemax as sparsemax, unfold as unfold,
    ctc_decode as ctc_decode,
)  # fmt: skip
