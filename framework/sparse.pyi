from framework.functions.sparse import (
    concat as concat, eye as eye, expand_dims as expand_dims, fill_empty_rows as fill_empty_rows,
    from_dense as from_dense, mask as mask, reorder as reorder, reset_shape as reset_shape,
    reshape as reshape, retain as retain, slice as slice, split as split, to_dense as to_dense,
    to_indicator as to_indicator, transpose as transpose,
)  # fmt: skip
from framework.functions.sparse_arithmetic import (
    add as add, bincount as bincount, cross as cross, map_values as map_values, maximum as maximum,
    minimum as minimum, reduce_max as reduce_max, reduce_sum as reduce_sum,
    sampled_addmm as sampled_addmm, segment_mean as segment_mean, segment_sqrt_n as segment_sqrt_n,
    segment_sum as segment_sum, softmax as softmax, sparse_dense_matmul as sparse_dense_matmul,
)  # fmt: skip
from framework.ops.sparse_tensor import SparseTensor as SparseTensor
