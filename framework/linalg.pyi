from framework.functions.banded import (
    banded_triangular_solve as banded_triangular_solve, tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)  # fmt: skip
from framework.functions.contraction import (
    global_norm as global_norm, matmul as matmul, matrix_transpose as matrix_transpose,
    matvec as matvec, norm as norm, tensordot as tensordot,
)  # fmt: skip
from framework.functions.creation import eye as eye
from framework.functions.diagonals import (
    band_part as band_part, diag as diag, diag_part as diag_part, set_diag as set_diag,
    tensor_diag as tensor_diag, tensor_diag_part as tensor_diag_part,
)  # fmt: skip
from framework.functions.linalg import (
    adjoint as adjoint, cholesky as cholesky, cholesky_solve as cholesky_solve, cross as cross,
    det as det, eig as eig, eigh as eigh, eigvals as eigvals, eigvalsh as eigvalsh,
    einsum as einsum, expm as expm, inv as inv, logdet as logdet, logm as logm, lstsq as lstsq,
    lu as lu,
    lu_matrix_inverse as lu_matrix_inverse, lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve, matrix_rank as matrix_rank, normalize as normalize, pinv as pinv,
    qr as qr, slogdet as slogdet, solve as solve, sqrtm as sqrtm, svd as svd, trace as trace,
    triangular_solve as triangular_solve,
)  # fmt: skip
from framework.functions.neural import l2_normalize as l2_normalize
