"""Further calls of functions of keras.ops: their options, other ranks, and special values.

`{"name: variant": (args, kwargs)}`, beside `keras_calls.py`, which has one call of each function.
"""

import numpy as np

from tests.surface.keras_calls import HEADS, IMAGES, KERNEL, RNG, SQUARE, B, C, I, P, X
from tests.surface.symbolic_calls import words

FIRST = np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2))
LINE = np.float32(RNG.normal(size=(2, 9, 3)))
CUBE = np.float32(RNG.normal(size=(1, 4, 5, 4, 2)))
STACK = np.float32(RNG.normal(size=(3, 2, 2)) + 3 * np.eye(2))
TALL = np.float32(RNG.normal(size=(4, 2)))
FOURS = np.float32(RNG.normal(size=(2, 4, 6)))
HOLES = np.float32([[1.0, np.nan, 3.0], [np.nan, -2.0, 0.5]])
SPECIAL = np.float32([-np.inf, -3.0, -0.0, 0.0, 1e-30, 2.5, 1e30, np.inf, np.nan])
ONE_HOT = np.float32([[0, 1, 0], [1, 0, 0]])
MASK = np.array([True, False, True, True, False]).reshape(1, 1, 1, 5)

REDUCTIONS = words("""
    all any amax amin average count_nonzero logsumexp max mean median min prod std sum var ptp
    argmax argmin nanmax nanmean nanmin nansum nanprod nanstd nanvar nanmedian
""")
WITHOUT_KEEPDIMS = {"average", "count_nonzero"}
WITHOUT_AXES = {"argmax", "argmin"}  # take one axis only


def _reductions():
    for name in REDUCTIONS:
        yield f"{name}: axis=1", ((C,), {"axis": 1})
        if name not in WITHOUT_AXES:
            yield f"{name}: axis=(0, -1)", ((C,), {"axis": (0, -1)})
        if name not in WITHOUT_KEEPDIMS:
            yield f"{name}: keepdims", ((C,), {"axis": -1, "keepdims": True})
        if name.startswith("nan"):
            yield f"{name}: NaN", ((HOLES,), {"axis": 0})
    for name in words("cumprod cumsum nancumprod nancumsum sort argsort softmax log_softmax flip"):
        yield f"{name}: axis=1", ((C,), {"axis": 1})
    for name in words("quantile nanquantile"):
        for method in words("linear lower higher midpoint nearest"):
            yield f"{name}: {method}", ((C, [0.2, 0.75]), {"axis": 1, "method": method})
        yield f"{name}: keepdims", ((C, 0.3), {"axis": (0, 2), "keepdims": True})


ELEMENTWISE = words("""
    abs arctan cbrt ceil cos cosh elu erf exp exp2 expm1 floor gelu hard_sigmoid hard_silu hard_tanh
    isfinite isinf isnan isneginf isposinf leaky_relu log log10 log1p log2 log_sigmoid nan_to_num
    negative reciprocal relu relu6 round rsqrt selu sigmoid sign signbit silu sin sinc sinh softplus
    softsign sqrt square squareplus tan tanh tanh_shrink trunc arcsinh erfc
""")  # softmax and sparsemax of infinities are NaN on one side or the other
PAIRS = words("""
    add subtract multiply divide divide_no_nan maximum minimum arctan2 equal not_equal less
    less_equal greater greater_equal logaddexp fmax fmin hypot
""")
EDGES = np.float32([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan])


def _special():
    for name in ELEMENTWISE:
        yield f"{name}: special values", ((SPECIAL,), {})
    for name in PAIRS:
        yield f"{name}: special values", ((EDGES[:, None], EDGES), {})
        yield f"{name}: broadcast", ((C, X[:, :1, None]), {})
        yield f"{name}: a number", ((X, 2), {})
        yield f"{name}: of a number", ((0.5, X), {})
        yield f"{name}: int and float", ((I, X), {})
        yield f"{name}: bool and int", ((B, I), {})


def _windows():
    for padding in ("valid", "same"):
        for name in ("max_pool", "average_pool"):
            yield f"{name}: {padding} strides", ((IMAGES, 3, 2, padding), {})
            yield f"{name}: {padding} 1D", ((LINE, 2, 1, padding), {})
            yield f"{name}: {padding} 3D", ((CUBE, 2, 1, padding), {})
        yield f"conv: {padding} strides", ((IMAGES, KERNEL, 2, padding), {})
        yield f"conv: {padding} dilation", ((IMAGES, KERNEL, 1, padding), {"dilation_rate": 2})
        yield f"conv: {padding} groups", ((FOURS, np.ones((2, 3, 4), "f4"), 1, padding), {})
        yield f"depthwise_conv: {padding}", ((IMAGES, KERNEL[..., :2], 1, padding), {})
        swapped = np.swapaxes(KERNEL, 2, 3)
        yield f"conv_transpose: {padding}", ((IMAGES, swapped, 2, padding), {})
        yield f"unfold: {padding}", ((IMAGES, 2), {"padding": int(padding == "same"), "stride": 2})
        yield f"image.extract_patches: {padding}", (
            (IMAGES, (2, 3)), {"strides": 2, "padding": padding}
        )  # fmt: skip
    first = {"data_format": "channels_first"}
    for name in ("max_pool", "average_pool"):
        yield f"{name}: channels first", ((FIRST, (2, 3), 1, "valid"), first)
    yield "conv: channels first", ((FIRST, KERNEL, (1, 2), "same"), first)
    yield "conv: 1D", ((LINE, np.float32(RNG.normal(size=(3, 3, 2)))), {})
    yield "conv: 3D", ((CUBE, np.float32(RNG.normal(size=(2, 1, 2, 2, 3)))), {})
    yield "conv_transpose: channels first", ((FIRST, swapped, 2, "same"), first)
    yield "conv_transpose: output padding", ((IMAGES, swapped, 2, "valid", 1), {})
    yield "adaptive_average_pool: sizes", ((IMAGES, (2, 5)), {})
    yield "adaptive_max_pool: channels first", ((FIRST, (4, 1)), first)
    yield "adaptive_max_pool: 1D", ((LINE, 4), {})


def _images():
    for method in words("bilinear nearest bicubic lanczos3 lanczos5"):
        for antialias in (False, True):
            title = f"image.resize: {method}{' antialias' * antialias}"
            yield title, ((IMAGES, (4, 9), method), {"antialias": antialias})
        yield f"image.resize: {method} smaller", ((IMAGES, (3, 2), method), {})
    yield "image.resize: crop", ((IMAGES, (2, 5)), {"crop_to_aspect_ratio": True})
    yield "image.resize: pad", ((IMAGES, (3, 8)), {"pad_to_aspect_ratio": True, "fill_value": 2.0})
    yield "image.resize: one image", ((IMAGES[0], (3, 4)), {})
    first = {"data_format": "channels_first"}
    yield "image.resize: channels first", ((FIRST, (3, 4)), first)
    transform = np.float32(
        [[1, 0.2, 0.5, -0.1, 0.9, 1.5, 0, 0], [0.83, 0.05, 0.31, 0.11, 1.17, -1.03, 0, 0]]
    )
    for mode in words("constant nearest wrap mirror reflect"):
        for how in words("nearest bilinear"):
            yield f"image.affine_transform: {mode} {how}", (
                (IMAGES, transform), {"fill_mode": mode, "interpolation": how, "fill_value": 0.5}
            )  # fmt: skip
        yield f"image.map_coordinates: {mode}", (
            (X, np.float32([[0.2, 1.5, -1.3], [1.7, 0.1, 4.2]]), 1), {"fill_mode": mode}
        )  # fmt: skip
        yield f"image.map_coordinates: {mode} nearest", (
            (X, np.float32([[0.2, 1.4, -1.3], [1.7, 0.1, 4.2]]), 0), {"fill_mode": mode}
        )  # fmt: skip
    yield "image.affine_transform: channels first", ((FIRST, transform), first)
    ends = np.float32([[[0, 0], [0, 5], [5, 0], [5, 5]]] * 2)
    starts = np.float32(
        [
            [[1.1, 0.9], [0.2, 4.8], [5.7, 0.1], [4.1, 4.2]],
            [[0.2, 1.1], [1.3, 4.9], [5.1, 0.3], [5.2, 5.7]],
        ]
    )
    yield "image.perspective_transform: nearest", (
        (IMAGES, ends, starts), {"interpolation": "nearest", "fill_value": 0.3}
    )  # fmt: skip
    yield "image.perspective_transform: channels first", ((FIRST, ends, starts), first)
    last = {"data_format": "channels_last"}
    for name in words("rgb_to_grayscale gaussian_blur sobel_edges"):
        yield f"image.{name}: channels first", ((FIRST,), first)
        yield f"image.{name}: one image", ((IMAGES[0],), last)
    for name in words("rgb_to_hsv hsv_to_rgb"):
        yield f"image.{name}: channels first", ((np.abs(FIRST) % 1,), first)
    yield "image.gaussian_blur: wide", ((IMAGES, (5, 3), (0.7, 2.0)), last)
    yield "image.crop_images: target", ((IMAGES, 1, 2), {"target_height": 3, "target_width": 2})
    yield "image.pad_images: target", ((IMAGES, 1, 2), {"target_height": 9, "target_width": 10})
    yield "image.ssim: wide", ((IMAGES, IMAGES**2), {"filter_size": 5, "max_val": 2.0})
    for method in words("linear cubic lanczos3 lanczos5"):
        for antialias in (False, True):
            title = f"image.scale_and_translate: {method}{' antialias' * antialias}"
            scale, shift = np.float32([0.6, 1.3]), np.float32([0.43, -0.2])
            yield title, (
                (IMAGES, (2, 5, 7, 3), scale, shift, (1, 2), method), {"antialias": antialias}
            )  # fmt: skip


def _neural():
    for logits in (False, True):
        data = X if logits else P
        own = {"from_logits": logits}
        title = " logits" * logits
        yield f"binary_crossentropy: values{title}", ((np.float32(B), data), own)
        yield f"categorical_crossentropy: values{title}", ((ONE_HOT, data), own)
        yield f"categorical_crossentropy: axis{title}", ((ONE_HOT, data), {**own, "axis": 0})
        yield f"sparse_categorical_crossentropy: values{title}", ((np.int32([0, 2]), data), own)
    yield "batch_normalization: scale", ((X, X[0], P[0], -1), {"offset": P[1], "scale": X[1]})
    yield "batch_normalization: axis", (
        (C, C[0, :, 0], np.abs(C[0, :, 1]), 1), {"epsilon": 0.1}
    )  # fmt: skip
    yield "layer_normalization: scale", ((X, P[0], P[1]), {"epsilon": 0.1})
    yield "layer_normalization: axes", ((C,), {"axis": (1, 2)})
    yield "rms_normalization: scale", ((X, P[0]), {"epsilon": 0.01})
    for order in (1, 2, 3, np.inf):
        yield f"normalize: order={order}", ((X,), {"order": order, "axis": 0})
    yield "moments: keepdims", ((C, (0, 2)), {"keepdims": True})
    for name, value in {"celu": 0.5, "elu": 2.0, "leaky_relu": 0.4, "squareplus": 1.0,
                        "hard_shrink": 0.8, "soft_shrink": 0.8}.items():  # fmt: skip
        yield f"{name}: {value}", ((X, value), {})
    yield "gelu: exact", ((X,), {"approximate": False})
    for name in words("sparsemax glu softmax log_softmax"):
        yield f"{name}: axis", ((FOURS,), {"axis": 1})
    yield "softmax: axes", ((C,), {"axis": (1, 2)})
    yield "log_softmax: axes", ((C,), {"axis": (0, 2)})
    yield "one_hot: axis", ((I, 6), {"axis": 0, "dtype": "int32"})
    yield "one_hot: outside", ((np.int32([-1, 2, 7]), 4), {})
    yield "multi_hot: axis", ((I, 6), {"axis": 1, "dtype": "int32"})
    yield "dot_product_attention: causal", ((HEADS, HEADS, HEADS), {"is_causal": True})
    yield "dot_product_attention: mask", ((HEADS, HEADS, HEADS), {"mask": MASK})
    yield "dot_product_attention: scale", ((HEADS, HEADS, HEADS), {"scale": 0.3})
    bias = np.float32(RNG.normal(size=(2, 2, 5, 5)))
    yield "dot_product_attention: bias", ((HEADS, HEADS, HEADS), {"bias": bias})
    cap = {"attn_logits_soft_cap": 1.5}
    yield "dot_product_attention: soft cap", ((HEADS, HEADS, HEADS), cap)
    scores = np.float32(RNG.normal(size=(2, 5, 4)))
    yield "ctc_loss: other blank", (
        (np.int32([[1, 2], [2, 0]]), scores, np.int32([2, 1]), np.int32([4, 5])), {"mask_index": 3}
    )  # fmt: skip
    yield "ctc_decode: beams", (
        (scores, np.int32([5, 3])), {"strategy": "beam_search", "beam_width": 3, "top_paths": 2}
    )  # fmt: skip
    yield "ctc_decode: repeated", ((scores, np.int32([5, 3])), {"merge_repeated": False})


def _linear_algebra():
    for order in (None, "fro", "nuc", 1, 2, -1, -2, np.inf, -np.inf):
        yield f"norm: matrix {order}", ((C,), {"ord": order, "axis": (1, 2)})
    for order in (0, 1, 2, 3, -1, np.inf, -np.inf):
        yield f"norm: vector {order}", ((C,), {"ord": order, "axis": 1, "keepdims": True})
    positive = np.float32(STACK @ STACK.transpose(0, 2, 1))
    for name in words("cholesky inv det slogdet logdet eigh"):
        yield f"{name}: stack", ((positive,), {})
    yield "cholesky: upper", ((positive,), {"upper": True})
    yield "cholesky_inverse: upper", ((positive,), {"upper": True})
    yield "solve: stack", ((STACK, np.float32(RNG.normal(size=(3, 2, 3)))), {})
    yield "solve: vector", ((SQUARE, X[0, :2]), {})
    yield "solve_triangular: lower", ((SQUARE, SQUARE), {"lower": True})
    yield "lstsq: tall", ((TALL, TALL[:, 0]), {})
    yield "pinv: tall", ((TALL,), {})
    yield "qr: complete", ((TALL,), {"mode": "complete"})
    yield "qr: tall", ((TALL,), {})
    yield "svd: thin", ((TALL,), {"full_matrices": False})
    yield "svd: values", ((TALL,), {"compute_uv": False})
    yield "matrix_rank: stack", ((STACK,), {})
    yield "trace: offset", ((C,), {"offset": 1, "axis1": 1, "axis2": 2})
    yield "einsum: trace", (("ii->i", SQUARE), {})
    yield "einsum: batch", (("bij,bkj->bik", C, C), {})
    yield "einsum: dots", (("...j,kj->...k", C, FOURS[0, :, :4]), {})
    yield "einsum: inner", (("ij,ij", X, P), {})
    yield "tensordot: axes", ((C, C), {"axes": ((0, 2), (0, 2))})
    yield "tensordot: two", ((C, C[0]), {"axes": 2})
    for title, a, b in (
        ("vectors", X[0], X[1]), ("stack", C, C.transpose(0, 2, 1)), ("broadcast", C, TALL),
        ("vector", C, C[0, 0]), ("ints", I, I.T),
    ):  # fmt: skip
        yield f"matmul: {title}", ((a, b), {})
        yield f"dot: {title}", ((a, b), {})
    yield "cross: two", ((X[:, :2], P[:, :2]), {})
    yield "cross: axis", ((X.T, P.T), {"axis": 0})
    yield "outer: stack", ((C, X), {})
    yield "inner: vectors", ((X[0], P[0]), {})
    yield "kron: squares", ((SQUARE, X), {})
    yield "vander: increasing", ((X[0],), {"increasing": True})
    yield "cdist: rows", ((TALL, X[:, :2]), {})


def _indexing():
    yield "take: flat", ((X, I % 3), {})
    yield "take: negative", ((X, np.int32([-1, 0])), {"axis": 1})
    yield "take: scalar", ((C, np.int32(1)), {"axis": 1})
    yield "take_along_axis: flat", ((X, np.int32([5, 0, 2])), {})
    yield "get_item: slices", ((C, (slice(None), slice(0, 3, 2), -1)), {})
    yield "get_item: new axis", ((C, (None, Ellipsis, 2)), {})
    for reduction in (None, "add", "mul", "max", "min"):
        yield (
            f"scatter_update: {reduction}",
            (
                (X, np.int32([[0, 1], [1, 2], [0, 1]]), np.float32([0.5, -2.0, 3.0])),
                {"reduction": reduction},
            ),
        )
    yield "slice_update: block", ((C, (0, 1, 2), np.ones((2, 2, 1), "f4")), {})
    yield "top_k: unsorted", ((C, 1), {"sorted": False})
    yield "searchsorted: right", ((np.sort(X[0]), np.append(X[0], P[0])), {"side": "right"})
    yield "digitize: ints", ((I, np.int32([1, 3, 4])), {})
    for name in words("return_index return_inverse return_counts"):
        yield f"unique: {name}", ((I[:, ::-1] % 3,), {name: True})
    yield "unique: size", ((I % 3,), {"size": 5, "fill_value": -1})
    yield "unique: axis", ((np.int32([[1, 2], [0, 3], [1, 2]]),), {"axis": 0})
    yield "nonzero: zeros", ((X * (X > 0),), {})
    yield "where: broadcast", ((B[0], X, 0.0), {})
    yield "where: ints", ((B, I, X), {})
    yield "select: default", (([B, B[::-1]], [X, P]), {"default": 7.0})
    yield "bincount: weights", ((I[0],), {"weights": X[0], "minlength": 6})
    yield "bincount: matrix", ((I,), {"minlength": 7})
    yield "isin: inverted", ((I, I[0]), {"invert": True})
    yield "histogram: range", ((X,), {"bins": 4, "range": (-1.0, 2.0)})
    yield "in_top_k: ties", ((np.int32([0, 1]), np.float32([[1, 1, 0], [0, 1, 1]]), 1), {})
    for name in words("segment_sum segment_max segment_min segment_prod"):
        ids = np.int32([2, 0, 2, 0])
        yield f"{name}: unsorted", ((TALL, ids), {"num_segments": 4})
        yield f"{name}: sorted", ((TALL, np.sort(ids)), {"num_segments": 3, "sorted": True})


def _arrangement():
    for k in (-1, 0, 2):
        yield f"tril: k={k}", ((C,), {"k": k})
        yield f"triu: k={k}", ((C,), {"k": k})
        yield f"diag: k={k}", ((X,), {"k": k})
        yield f"diagonal: offset={k}", ((C,), {"offset": k, "axis1": 2, "axis2": 1})
        yield f"diagflat: k={k}", ((X,), {"k": k})
        yield f"eye: k={k}", ((3, 4, k), {"dtype": "int32"})
        yield f"tri: k={k}", ((3, 4, k), {})
        yield f"rot90: k={k}", ((C,), {"k": k, "axes": (1, 2)})
        yield f"roll: {k}", ((C, k), {"axis": 1})
    yield "diag: vector", ((X[0],), {"k": 1})
    yield "roll: axes", ((C, (1, 2)), {"axis": (0, 2)})


def _joining():
    for mode in words("constant reflect symmetric edge wrap"):
        yield f"pad: {mode}", ((X, ((1, 1), (0, 2))), {"mode": mode})
    yield "pad: value", ((X, 1), {"constant_values": 3.0})
    yield "repeat: flat", ((X, 2), {})
    yield "repeat: each", ((X, np.int32([1, 3])), {"axis": 0})
    yield "tile: more axes", ((X, (2, 1, 2)), {})
    yield "transpose: axes", ((C,), {"axes": (1, 2, 0)})
    yield "reshape: unknown", ((C, (-1, 6)), {})
    yield "expand_dims: axes", ((X, (0, -1)), {})
    yield "squeeze: all", ((X[:, None, :, None],), {})
    yield "split: places", ((C, [1, 3]), {"axis": -1})
    yield "array_split: uneven", ((C, 3), {"axis": -1})
    yield "stack: axis", (([X, P],), {"axis": -1})
    yield "concatenate: three", (([X, P, X],), {"axis": 0})
    yield "append: axis", ((X, P), {"axis": 1})
    yield "moveaxis: several", ((C, (0, 1), (-1, 0)), {})
    yield "flip: axes", ((C,), {"axis": (0, 2)})
    yield "meshgrid: ij", ((X[0], P[1]), {"indexing": "ij"})
    yield "unstack: axis", ((C,), {"axis": -1})
    yield "diff: n", ((C,), {"n": 2, "axis": 1})
    yield "trapezoid: dx", ((C,), {"dx": 0.5, "axis": 1})
    yield "trapezoid: x", ((X,), {"x": np.float32([0.0, 1.0, 3.0])})
    yield "correlate: full", ((X[0], P[0]), {"mode": "full"})
    yield "correlate: same", ((X[0], P[0]), {"mode": "same"})
    yield "nan_to_num: values", ((SPECIAL,), {"nan": 1.0, "posinf": 2.0, "neginf": -2.0})
    yield "average: weights", ((X,), {"axis": 1, "weights": P})
    yield "round: tens", ((X * 37,), {"decimals": -1})
    yield "clip: arrays", ((X, -P, P), {})
    yield "max: initial", ((X,), {"initial": 5.0})
    yield "min: initial", ((X,), {"initial": -5.0})
    yield "argpartition: axis", ((C, 1), {"axis": 1})
    yield "median: odd", ((C,), {"axis": 1})
    yield "median: whole", ((C,), {})
    for dtype in words("int32 float16 bool uint8"):
        yield f"cast: {dtype}", ((X, dtype), {})
        yield f"saturate_cast: {dtype}", ((X * 200, dtype), {})
    for dtype in words("int32 float32 float16"):
        yield f"arange: {dtype}", ((1, 8, 2), {"dtype": dtype})
        yield f"linspace: {dtype}", ((1, 8), {"num": 4, "dtype": dtype, "endpoint": False})
        yield f"sum: of {dtype}", ((X.astype(dtype),), {})
        yield f"full: {dtype}", (((2,), 3, dtype), {})
        yield f"prod: as {dtype}", ((I,), {"dtype": dtype})
    yield "linspace: arrays", ((X[0], P[0]), {"num": 3, "axis": 1})
    yield "linspace: retstep", ((0.0, 3.0), {"num": 4, "retstep": True})
    yield "logspace: base", ((0.0, 3.0), {"num": 4, "base": 2, "endpoint": False})
    yield "arange: floats", ((0.5, 3.0, 0.5), {})
    for name in words("bartlett blackman hamming hanning"):
        yield f"{name}: 7", ((7,), {})
    yield "kaiser: 7", ((7, 4.0), {})


def _transforms():
    yield "rfft: length", ((FOURS,), {"fft_length": 8})
    yield "rfft: shorter", ((FOURS,), {"fft_length": 4})
    yield "irfft: length", (([FOURS[..., :4], FOURS[..., 1:5]],), {"fft_length": 6})
    signal = FOURS.reshape(2, 24)
    for window in ("hann", "hamming", None):
        yield f"stft: {window}", ((signal, 6, 3, 8), {"window": window, "center": False})
    yield "extract_sequences: strides", ((signal, 5, 3), {})
    for n in (1, 2):
        yield f"fft: axes {n}", (([C, -C],), {})
    yield "fft2: squares", (([FOURS, FOURS[::-1]],), {})
    yield "rearrange: split", ((FOURS, "a (b c) d -> a c (b d)"), {"b": 2})
    yield "depth_to_space: channels first", (
        (np.float32(RNG.normal(size=(2, 8, 3, 3))), 2), {"data_format": "channels_first"}
    )  # fmt: skip
    yield "space_to_depth: channels first", ((FIRST, 2), {"data_format": "channels_first"})
    yield "fold: strides", (
        (np.float32(RNG.normal(size=(2, 8, 4))), (4, 4), 2), {"stride": 2}
    )  # fmt: skip


_PARTS = (
    _reductions, _special, _windows, _images, _neural, _linear_algebra, _indexing, _arrangement,
    _joining, _transforms,
)  # fmt: skip
OPTIONS = {title: call for part in _PARTS for title, call in part()}
