"""tf.linalg: products of matrices and vectors, norms."""

from framework.functions.contraction import (
    global_norm as global_norm, matmul as matmul, matrix_transpose as matrix_transpose,
    matvec as matvec, norm as norm, tensordot as tensordot,
)  # fmt: skip
from framework.functions.creation import eye as eye
from framework.functions.neural import l2_normalize as l2_normalize
