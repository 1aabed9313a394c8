"""Calls of every public function of keras.ops and keras.random, for their symbolic counterparts.

A function that an op declares has the op's first sample, unless it has a call here.
"""

import numpy as np

from tests.surface import declared
from tests.surface.symbolic_calls import words

RNG = np.random.default_rng(7)
X = np.float32([[-2.0, -0.5, 0.5], [1.5, 2.0, 3.0]])
P = np.float32([[0.2, 0.5, 0.9], [0.15, 0.25, 0.35]])  # between 0 and 1
I = np.int32([[3, 1, 2], [0, 5, 4]])  # noqa: E741
B = np.array([[True, False, True], [False, True, True]])
C = np.float32(RNG.normal(size=(2, 3, 4)))
IMAGES = np.float32(RNG.normal(size=(2, 6, 6, 3)))
KERNEL = np.float32(RNG.normal(size=(2, 2, 3, 4)))
HEADS = np.float32(RNG.normal(size=(2, 5, 2, 4)))
SQUARE = np.float32([[4.0, 1.0], [1.0, 3.0]])

ONE = {  # functions of one tensor
    **dict.fromkeys(words("""
        abs absolute arccosh arcsinh arctan cbrt conj conjugate copy cos cosh deg2rad elu erf
        exp exp2 expm1 floor ceil gelu hard_sigmoid hard_silu hard_swish hard_tanh imag isfinite
        isinf isnan isneginf isposinf leaky_relu log_sigmoid log_softmax mish nan_to_num
        negative rad2deg ravel real relu relu6 rint selu sigmoid sign signbit silu sin sinc sinh
        softmax softplus softsign sparse_plus sparsemax sparse_sigmoid square squareplus swish
        tan tanh tanh_shrink transpose trunc fliplr flipud angle fix i0 size shape ndim
        zeros_like ones_like empty_like stop_gradient array convert_to_tensor all any amax amin
        argmax argmin argsort average count_nonzero cumprod cumsum diff flip logsumexp max mean
        median min nanmax nanmean nanmin nansum normalize prod ptp sort std sum var nonzero tril
        triu diag diagonal trace layer_normalization rms_normalization unstack
    """), (X,)),
    **dict.fromkeys(words("""
        arccos arcsin arctanh log log10 log1p log2 reciprocal rsqrt sqrt erfinv
    """), (P,)),
    **dict.fromkeys(words("bitwise_invert bitwise_not bitwise_count"), (I,)),
    "logical_not": (B,),
    **dict.fromkeys(words("""
        cholesky det eig eigh inv lu_factor pinv slogdet svd qr matrix_rank
    """), (SQUARE,)),
}  # fmt: skip

TWO = {  # functions of two tensors
    **dict.fromkeys(words("""
        add subtract multiply divide true_divide divide_no_nan floor_divide mod maximum minimum
        arctan2 equal not_equal less less_equal greater greater_equal logaddexp logaddexp2
        isclose allclose outer inner vdot append fmax fmin fmod hypot nextafter copysign
        heaviside squared_difference kron
    """), (X, P)),
    **dict.fromkeys(words("logical_and logical_or logical_xor"), (B, ~B)),
    **dict.fromkeys(words("""
        bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift
        bitwise_right_shift gcd lcm
    """), (I, I % 3)),
    "power": (P, X), "matmul": (X, P.T), "dot": (X, P.T), "tensordot": (X, P.T, 1),
    "cross": (X, P), "solve": (SQUARE, SQUARE), "correlate": (X[0], P[0]),
    "cholesky_inverse": (SQUARE,), "solve_triangular": (SQUARE, SQUARE),
    "lstsq": (SQUARE, SQUARE),
}  # fmt: skip

CALLS = {
    **declared.CALLS,
    **{name: (args, {}) for name, args in {**ONE, **TWO}.items()},
    "adaptive_average_pool": ((IMAGES, 3), {}), "adaptive_max_pool": ((IMAGES, 3), {}),
    "arange": ((5,), {}), "average_pool": ((IMAGES, 2), {}), "max_pool": ((IMAGES, 2), {}),
    "batch_normalization": ((X, X[0], P[0], -1), {}),
    "binary_crossentropy": ((np.float32(B), P), {}),
    "categorical_crossentropy": ((P, P), {}),
    "sparse_categorical_crossentropy": ((np.int32([0, 2]), P), {}),
    "bincount": ((I[0],), {}), "broadcast_to": ((X, (4, 2, 3)), {}), "cast": ((X, "float16"), {}),
    "saturate_cast": ((X, "uint8"), {}), "clip": ((X, -1.0, 1.0), {}),
    "concatenate": (([X, P],), {"axis": -1}), "hstack": (([X, P],), {}), "vstack": (([X, P],), {}),
    "dstack": (([X, P],), {}), "stack": (([X, P],), {}), "column_stack": (([X, P],), {}),
    "conv": ((IMAGES, KERNEL), {}), "conv_transpose": ((IMAGES, np.swapaxes(KERNEL, 2, 3)), {}),
    "depthwise_conv": ((IMAGES, KERNEL[..., :1]), {}),
    "separable_conv": ((IMAGES, KERNEL[..., :1], RNG.normal(size=(1, 1, 3, 2)).astype("f4")), {}),
    "dot_product_attention": ((HEADS, HEADS, HEADS), {}),
    "dropout": ((X, 0.5), {}), "einsum": (("ij,kj->ik", X, P), {}), "empty": (((2, 3),), {}),
    "expand_dims": ((X, 1), {}), "eye": ((3,), {}), "identity": ((3,), {}), "tri": ((3,), {}),
    "full": (((2, 3), 2.0), {}), "full_like": ((X, 3.0), {}), "get_item": ((C, 1), {}),
    "zeros": (((2, 3),), {}), "ones": (((2, 3),), {}),
    "linspace": ((0.0, 1.0), {"num": 5}), "logspace": ((0.0, 1.0), {"num": 5}),
    "geomspace": ((1.0, 8.0), {"num": 4}),
    "meshgrid": ((X[0], P[1]), {}), "moveaxis": ((C, 0, -1), {}),
    "multi_hot": ((I, 6), {}), "one_hot": ((I, 6), {}), "norm": ((X,), {}),
    "pad": ((X, ((1, 0), (0, 2))), {}), "quantile": ((X, 0.5), {}), "percentile": ((X, 50.0), {}),
    "repeat": ((X, 2), {"axis": 0}), "reshape": ((C, (2, 12)), {}), "round": ((X, 1), {}),
    "searchsorted": ((np.sort(X[0]), P[0]), {}), "select": (([B, ~B], [X, P]), {}),
    "slice": ((C, (0, 1, 0), (2, 1, 3)), {}),
    "slice_update": ((X, (0, 1), P[:, :1]), {}),
    "scatter": ((np.int32([[0], [2]]), X, (4, 3)), {}),
    "scatter_update": ((X, np.int32([[0, 1]]), np.float32([9.0])), {}),
    "segment_sum": ((X, np.int32([0, 1])), {"num_segments": 3}),
    **dict.fromkeys(words("segment_max segment_min segment_prod"),
                    ((X, np.int32([0, 1])), {"num_segments": 3})),
    "split": ((C, 2), {"axis": -1}), "array_split": ((C, 2), {"axis": -1}),
    "take": ((X, I[0] % 3), {"axis": 1}), "take_along_axis": ((X, I % 3), {"axis": 1}),
    "tile": ((X, (2, 3)), {}), "top_k": ((X, 2), {}), "in_top_k": ((np.int32([0, 2]), P, 2), {}),
    "unravel_index": ((np.int32([5, 2]), (2, 3)), {}),
    "where": ((B, X, P), {}), "where.one": ((B,), {}),
    "rot90": ((C,), {}), "vander": ((X[0], 3), {}),
    "ctc_loss": ((np.int32([[1, 2], [2, 1]]), np.float32(RNG.normal(size=(2, 5, 4))),
                  np.int32([2, 2]), np.int32([5, 5])), {}),
    "psnr": ((X, P, 3.0), {}), "polar": ((X, P), {}), "view_as_complex": ((X[:, :2],), {}),
    "extract_sequences": ((X[0], 2, 1), {}), "rfft": ((X,), {}),
    **dict.fromkeys(words("fft fft2 ifft2 irfft"), (([X, P],), {})),
    "stft": ((C.reshape(2, 12), 4, 2, 4), {}), "istft": (([C[..., :3], C[..., 1:]], 4, 2, 4), {}),
    "random.normal": (((2, 3),), {"seed": 1}), "random.uniform": (((2, 3),), {"seed": 1}),
    "random.truncated_normal": (((2, 3),), {"seed": 1}),
    "random.randint": (((2, 3), 0, 9), {"seed": 1}), "random.gamma": (((2, 3), 2.0), {"seed": 1}),
    "random.beta": (((2, 3), 2.0, 1.0), {"seed": 1}),
    "random.binomial": (((2, 3), 4.0, 0.5), {"seed": 1}),
    "random.categorical": ((X, 4), {"seed": 1}), "random.shuffle": ((X,), {"seed": 1}),
    "random.dropout": ((X, 0.5), {"seed": 1}),
    "vectorized_map": ((lambda row: row * 2.0, X), {}),
    "moments": ((X, (0,)), {}), "logdet": ((SQUARE,), {}), "squeeze": ((X[:, None], 1), {}),
    "swapaxes": ((C, 0, 2), {}), "celu": ((X, 1.0), {}), "soft_shrink": ((X, 0.5), {}),
    "hard_shrink": ((X, 0.5), {}), "threshold": ((X, 0.5, 0.0), {}), "roll": ((X, 1), {}),
    "glu": ((C,), {}),
    "digitize": ((X, P[0]), {}), "argpartition": ((X, 1), {}), "cdist": ((X, P), {}),
    "corrcoef": ((X,), {}), "ctc_decode": ((np.float32(RNG.normal(size=(2, 5, 4))),
                                            np.int32([5, 3])), {}),
    "depth_to_space": ((np.float32(RNG.normal(size=(2, 3, 3, 8))), 2), {}),
    "space_to_depth": ((IMAGES, 2), {}), "diagflat": ((X[0],), {}), "dsplit": ((C, 2), {}),
    "hsplit": ((C, 3), {}), "vsplit": ((C, 2), {}), "erfc": ((X,), {}), "fabs": ((X,), {}),
    "unfold": ((IMAGES, 2), {}),
    "fold": ((np.float32(RNG.normal(size=(2, 8, 9))), (4, 4), 2), {}),
    "histogram": ((X[0],), {}), "isin": ((I, I[0]), {}), "isreal": ((X,), {}),
    "ldexp": ((X, I), {}), "trapezoid": ((X,), {}), "unique": ((I[0],), {}),
    **dict.fromkeys(words("""
        nanargmax nanargmin nancumprod nancumsum nanmedian nanprod nanstd nanvar view
    """), ((X,), {})),
    **dict.fromkeys(words("nanquantile nanpercentile"), ((X, 0.5), {})),
    "rearrange": ((C, "a b c -> (c a) b"), {}),
    "image.resize": ((IMAGES, (4, 9), "bicubic"), {}),
    "image.crop_images": ((IMAGES, 1, 2, 3, 1), {}),
    "image.pad_images": ((IMAGES, 1, 2, 3, 1), {}),
    **dict.fromkeys(words("""
        image.rgb_to_grayscale image.sobel_edges image.gaussian_blur
    """), ((IMAGES,), {})),
    **dict.fromkeys(words("image.rgb_to_hsv image.hsv_to_rgb"), ((np.abs(IMAGES) % 1,), {})),
    "image.ssim": ((IMAGES, IMAGES * 0.5), {"filter_size": 3}),
    "image.extract_patches": ((IMAGES, 2), {}),
    "image.extract_patches_3d": ((np.float32(RNG.normal(size=(2, 4, 4, 4, 2))), 2), {}),
    "image.scale_and_translate": (
        (IMAGES, (2, 4, 9, 3), np.float32([0.5, 1.2]), np.float32([0.13, 0.37]), (1, 2), "linear"),
        {},
    ),
    "image.perspective_transform": (
        (IMAGES, np.float32([[0, 0], [0, 5], [5, 0], [5, 5]]),
         np.float32([[1, 1], [0, 5], [6, 0], [4, 4]])), {}
    ),
    "image.map_coordinates": ((X, np.float32([[0.2, 0.5], [1.7, 0.1]]), 1), {}),
    "image.elastic_transform": ((IMAGES,), {"sigma": 1.0, "seed": 1}),
    "image.affine_transform": ((IMAGES, np.float32([1, 0.2, 0.5, -0.1, 0.9, 1.5, 0, 0])), {}),
    "view_as_real": ((np.complex64([[1 + 2j, 3], [4, 5j]]),), {}),
}  # fmt: skip
