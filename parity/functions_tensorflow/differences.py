"""Accepted differences from TensorFlow, each with its reason; docs/fuzzing.md shows them."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Accepted:
    """What a reason lets pass.

    Args:
        names: a regular expression of the function's whole name.
        aspect: "error", "dtype", "shape", "value" or "gradient"; or a regular expression of them.
        said: a regular expression of what differs: TensorFlow's outcome first, ours second.
        variant: a regular expression of the variant.
    """

    names: str
    aspect: str
    said: str = ""
    variant: str = ""

    def explains(self, call, aspect, said):
        return bool(
            re.fullmatch(self.names, call.name)
            and re.fullmatch(self.aspect, aspect)
            and re.search(self.said, said)
            and re.search(self.variant, call.variant)
        )


_MISSING = (
    r"^(NotFoundError: Could not find device|InvalidArgumentError: (Value for attr|cannot compute|"
    r"No OpKernel)|LookupError: gradient registry|UnimplementedError|ValueError: (y: )?Tensor "
    r"conversion requested dtype|AttributeError: ('numpy|image dtype)|"
    r"TypeError: .*(dtype|expected|type|DataType)).*, ours no error$"
)
_OTHER_CLASS = r"^(InvalidArgument|Type|Value)Error.*ours (Value|Type|Attribute)Error"
_NOT_STRINGS = (
    r"image\.(combined_non_max_suppression|crop_and_resize|non_max_suppression\w*|resize\w*)|"
    r"nn\.isotonic_regression|linalg\.trace|math\.reduce_euclidean_norm|clip_by_norm|"
    "histogram_fixed_width"
)
_NOT_EMPTY = (
    r"image\.(extract_patches|sobel_edges|ssim_multiscale)|nn\.(\w*conv\w*_transpose|ctc_\w+_decoder|"
    r"max_pool_with_argmax)|signal\.(i?dct|(inverse_)?mdct|mfccs_from_log_mel_spectrograms)"
)
_SHAPES = r"image\.(per_image_standardization|non_max_suppression_padded)"
DIFFERENCES = {
    "Functions accept dtypes for which TensorFlow has no kernel": Accepted(
        ".*", "error|gradient", _MISSING
    ),
    "Some functions without a gradient in TensorFlow have one": Accepted(
        ".*", "gradient", r"^(LookupError|None, ours)"
    ),
    "`image.resize`, boxes in `tf.image`, `isotonic_regression`, `trace`, "
    "`clip_by_norm`, `reduce_euclidean_norm` and `histogram_fixed_width` raise another class of "
    "error for strings": Accepted(_NOT_STRINGS, "error", _OTHER_CLASS, "strings"),
    "The gradient of a depthwise convolution of no images is 0 for the filters; TensorFlow returns "
    "memory that it has not filled": Accepted(
        r"nn\.(depthwise|separable)_conv2d", "gradient", "ours 0$", "empty"
    ),
    "Functions of empty arrays return empty arrays; TensorFlow raises an error in cosine "
    "transforms, transposed convolutions, `sobel_edges`, `ssim_multiscale`, CTC decoders, "
    "`max_pool_with_argmax` and the gradient of `extract_patches`": Accepted(
        _NOT_EMPTY, "error|gradient", "Error.*ours no error$", "empty"
    ),
    "Pillow encodes and decodes JPEG files with an exact transform; TensorFlow's pixels differ "
    "by up to 4 of 255": Accepted(
        r"image\.(adjust_jpeg_quality|decode.*jpeg|encode_jpeg)", "value"
    ),
    "`decode_and_crop_jpeg` also accepts other image formats": Accepted(
        r"image\.decode_and_crop_jpeg", "error", "^InvalidArgumentError.*ours no error"
    ),
    "PNG files have the same pixels but other bytes, because Pillow compresses them": Accepted(
        r"image\.encode_png", "value"
    ),
    "`encode_jpeg` and `encode_png` raise an error for other integer dtypes; TensorFlow casts "
    "them": Accepted(r"image\.encode_(jpeg|png)", "error", "^no error, ours"),
    "`per_image_standardization` requires rank 3 or 4, `non_max_suppression_padded` one score "
    "per box": Accepted(_SHAPES, "error", "^no error, ours ShapeError"),
    "`ssim` near 0 loses digits in float32, here and in TensorFlow": Accepted(
        r"image\.ssim.*", "value|gradient", r"e?-?0?\.00|NaN|nan|\[.*ours"
    ),
    "`rgb_to_hsv` of gray float16 pixels has derivatives; NaN in TensorFlow": Accepted(
        r"image\.rgb_to_hsv", "gradient", "^nan", "float16"
    ),
    "For integer images, the error messages of `yiq_to_rgb` and similar functions name the "
    "dtype; TensorFlow's name a list of dtypes": Accepted(
        r"image\.(rgb|yiq|yuv)_to_(rgb|yiq|yuv)", "error"
    ),
    "Operands broadcast where TensorFlow requires equal shapes or equal leading axes": Accepted(
        r"(nn\.(\w*conv\w*|log_poisson_loss|weighted_cross_entropy_with_logits)|math\.betainc|"
        r"nn\.compute_accidental_hits|linalg\.(lu_solve|lu_matrix_inverse|solve|tridiagonal_\w+|tensor_diag))",
        "error",
        "ours no error$",
        "rank",
    ),
    "`softmax_cross_entropy_with_logits` requires labels of the logits' rank; its derivatives "
    "are right for labels with any sum": Accepted(
        r"nn\.softmax_cross_entropy_with_logits", "error|gradient"
    ),
    "`weighted_moments` requires weights that broadcast to the input": Accepted(
        r"nn\.weighted_moments", "error", "^no error", "rank less"
    ),
    "Gradients of `isotonic_regression` have the shape of the input; TensorFlow's have two axes": (
        Accepted(r"nn\.isotonic_regression", "gradient", "", "rank")
    ),
    "`sufficient_statistics`, `reduce_euclidean_norm` and `lu_reconstruct` raise an error for "
    "integers; TensorFlow truncates the results": Accepted(
        r"(nn\.sufficient_statistics|math\.reduce_euclidean_norm|linalg\.lu_reconstruct)",
        "error",
        "^no error, ours DTypeError",
        "int32",
    ),
    "Factorizations and solutions of linear systems require 32 bits or more, "
    "as LAPACK does": Accepted(r"linalg\.\w+", "error", "32 bits or more", "float16"),
    "Eigenvectors can have another sign or phase, eigenvalues another order": Accepted(
        r"linalg\.(eig|eigh|eigvals)", "value|gradient"
    ),
    "`ctc_beam_search_decoder` adds probabilities in float64; TensorFlow in float32": Accepted(
        r"nn\.ctc_beam_search_decoder", "value", r"^-0\.00"
    ),
    "Functions that return a function return another object than TensorFlow": Accepted(
        r"signal\.inverse_stft_window_fn", "value"
    ),
    "`sampled_softmax_loss` and `nce_loss` remove both draws of a class that "
    "is sampled twice": Accepted(r"nn\.compute_accidental_hits", "value|shape"),
}


def accepted(call, aspect, said):
    """The reason why a difference is accepted; None if there is none."""
    return next(
        (why for why, rule in DIFFERENCES.items() if rule.explains(call, aspect, said)), None
    )
