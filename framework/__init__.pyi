from framework.math import (
    abs as abs, acos as acos, acosh as acosh, add as add, asin as asin, asinh as asinh,
    atan as atan, atanh as atanh, cos as cos, cosh as cosh, equal as equal, exp as exp,
    floor as floor, greater as greater, greater_equal as greater_equal, less as less,
    less_equal as less_equal, logical_and as logical_and, logical_not as logical_not,
    logical_or as logical_or, maximum as maximum, minimum as minimum, multiply as multiply,
    negative as negative, not_equal as not_equal, pow as pow, sigmoid as sigmoid, sign as sign,
    sin as sin, sinh as sinh, sqrt as sqrt, square as square, subtract as subtract, tan as tan,
    tanh as tanh,
)  # fmt: skip
from framework.core.argument_types import TensorLike
from framework import (
    audio as audio, autodiff as autodiff, bitwise as bitwise, compat as compat, config as config,
    data as data, debugging as debugging, distribute as distribute, dtypes as dtypes,
    errors as errors, experimental as experimental, image as image, initializers as initializers,
    io as io, keras as keras, linalg as linalg, lookup as lookup,
    losses as losses, math as math, metrics as metrics, nest as nest, nn as nn,
    optimizers as optimizers, ragged as ragged, random as random, saved_model as saved_model,
    sets as sets, signal as signal, sparse as sparse, strings as strings, summary as summary,
    train as train, wrappers as wrappers,
)  # fmt: skip
from framework.autodiff.custom_gradients import (
    custom_gradient as custom_gradient, grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad, stop_gradient as stop_gradient,
)  # fmt: skip
from framework.autodiff.tape import (
    GradientTape as GradientTape, UnconnectedGradients as UnconnectedGradients,
)  # fmt: skip
from framework.autodiff.vectorized_map import vectorized_map as vectorized_map
from framework.compiler.function import function as function
from framework.core.dtypes import (
    DType as DType, Shape, as_dtype as as_dtype, bfloat16 as bfloat16, bool_,
    complex128 as complex128, complex64 as complex64, float16 as float16, float32 as float32,
    float64 as float64, int16 as int16, int32 as int32, int64 as int64, int8 as int8,
    string as string, uint16 as uint16, uint32 as uint32, uint64 as uint64, uint8 as uint8,
)  # fmt: skip
from framework.core.module import Module as Module, NameScope
from framework.core.tensor_spec import TensorSpec as TensorSpec
from framework.core.tensor import Tensor as Tensor
from framework.core.variable import Variable as Variable
from framework.functions.array import TensorArray as TensorArray
from framework.functions.assertions import (
    assert_equal as assert_equal, assert_greater as assert_greater, assert_less as assert_less,
    assert_rank as assert_rank,
)  # fmt: skip
from framework.functions.bits import bitcast as bitcast
from framework.functions.contraction import (
    clip_by_global_norm as clip_by_global_norm, clip_by_norm as clip_by_norm,
    clip_by_value as clip_by_value, matmul as matmul, norm as norm, tensordot as tensordot,
)  # fmt: skip
from framework.functions.control import (
    case as case, cond as cond, foldl as foldl, foldr as foldr, map_fn as map_fn, scan as scan,
    switch_case as switch_case, while_loop as while_loop,
)  # fmt: skip
from framework.functions.counting import (
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
    searchsorted as searchsorted, unique as unique, unique_with_counts as unique_with_counts,
)  # fmt: skip
from framework.functions.creation import (
    constant as constant, convert_to_tensor as convert_to_tensor, eye as eye, fill as fill,
    is_tensor as is_tensor, linspace as linspace, one_hot as one_hot, ones as ones,
    ones_like as ones_like, range as range, zeros as zeros, zeros_like as zeros_like,
)  # fmt: skip
from framework.functions.ctc import edit_distance as edit_distance
from framework.functions.devices import device as device
from framework.functions.settings import version as version
from framework.functions.elementwise import (
    add_n as add_n, atan2 as atan2, cast as cast, divide as divide, round as round,
    saturate_cast as saturate_cast, scalar_mul as scalar_mul, truediv as truediv,
    truncatediv as truncatediv, truncatemod as truncatemod,
)  # fmt: skip
from framework.functions.former import (
    contrib as contrib, enable_eager_execution as enable_eager_execution,
    executing_eagerly as executing_eagerly, lin_space as lin_space,
)  # fmt: skip
from framework.functions.indexing import (
    argsort as argsort, boolean_mask as boolean_mask, gather as gather,
    sequence_mask as sequence_mask, slice as slice, sort as sort, where as where,
)  # fmt: skip
from framework.functions.initializers import constant_initializer as constant_initializer
from framework.functions.linalg import eig as eig, eigvals as eigvals, einsum as einsum, sqrtm
from framework.functions.local_windows import extract_volume_patches as extract_volume_patches
from framework.functions.movement import (
    broadcast_to as broadcast_to, concat as concat, ensure_shape as ensure_shape,
    expand_dims as expand_dims, identity as identity, identity_n as identity_n,
    meshgrid as meshgrid, pad as pad, rank as rank, repeat as repeat, reshape as reshape,
    reverse as reverse, reverse_sequence as reverse_sequence, roll as roll,
    shape as shape, size as size, split as split,
    squeeze as squeeze, stack as stack, tile as tile, transpose as transpose, unstack as unstack,
)  # fmt: skip
from framework.functions.ordering import (
    control_dependencies as control_dependencies, get_static_value as get_static_value,
    group as group, no_op as no_op,
)  # fmt: skip
from framework.functions.parts import complex as complex
from framework.functions.pooling import (
    batch_to_space as batch_to_space, space_to_batch as space_to_batch,
)  # fmt: skip
from framework.functions.printing import print as print
from framework.functions.python import (
    gradients as gradients, hessians as hessians, init_scope as init_scope,
    numpy_function as numpy_function, py_function as py_function,
)  # fmt: skip
from framework.functions.reduction import (
    argmax as argmax, argmin as argmin, cumsum as cumsum, reduce_all as reduce_all,
    reduce_any as reduce_any, reduce_logsumexp as reduce_logsumexp, reduce_max as reduce_max,
    reduce_mean as reduce_mean, reduce_min as reduce_min, reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)  # fmt: skip
from framework.functions.scattering import (
    dynamic_partition as dynamic_partition, dynamic_stitch as dynamic_stitch,
    gather_nd as gather_nd, scatter_nd as scatter_nd, strided_slice as strided_slice,
    tensor_scatter_nd_add as tensor_scatter_nd_add, tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min, tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update, unravel_index as unravel_index,
)  # fmt: skip
from framework.functions.strings import as_string as as_string
from framework.initializers import Ones, RandomNormal, RandomUniform, Zeros
from framework.kernels.report import show_config as show_config
from framework.ops.ragged_spec import RaggedTensorSpec as RaggedTensorSpec
from framework.ops.ragged_tensor import RaggedTensor as RaggedTensor
from framework.ops.slices import IndexedSlices as IndexedSlices
from framework.ops.sparse_tensor import (
    SparseTensor as SparseTensor, SparseTensorSpec as SparseTensorSpec,
)  # fmt: skip

def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor: ...

TensorShape = Shape
bool = bool_
double = float64
half = float16
matrix_square_root = sqrtm
name_scope = NameScope
ones_initializer = Ones
random_normal_initializer = RandomNormal
random_uniform_initializer = RandomUniform
space_to_batch_nd = space_to_batch
zeros_initializer = Zeros

__version__: str
newaxis: None
