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
