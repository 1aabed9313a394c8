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
_REFUSED_BY_DTYPE = (
    r"^(InvalidArgument|Type|Value|Attribute)Error.*ours (Value|Type|Index|Attribute)Error"
)
_SHAPES = r"image\.(per_image_standardization|non_max_suppression_padded)"
DIFFERENCES = {
    "Functions of dtypes for which TensorFlow has no code are computed": Accepted(
        ".*", "error|gradient", _MISSING
    ),
    "Functions that have no gradient in TensorFlow have one": Accepted(
        ".*", "gradient", r"^(LookupError|None, ours)"
    ),
    "Strings are refused by another class of error in a few functions": Accepted(
        ".*", "error", _REFUSED_BY_DTYPE, "strings"
    ),
    "Functions of no elements give no elements; TensorFlow refuses in transforms, convolutions, "
    "`add_n`, `pad` and gradients of windows, or gives numbers from nowhere": Accepted(
        ".*", "error|gradient", "", "empty"
    ),
    "JPEG files are encoded and decoded by Pillow, with an exact transform; TensorFlow's pixels "
    "differ by up to 4 of 255": Accepted(
        r"image\.(adjust_jpeg_quality|decode.*jpeg|encode_jpeg)", "value"
    ),
    "`decode_and_crop_jpeg` crops other formats too": Accepted(
        r"image\.decode_and_crop_jpeg", "error", "^InvalidArgumentError.*ours no error"
    ),
    "PNG files have the same pixels, compressed by another program": Accepted(
        r"image\.encode_png", "value"
    ),
    "`encode_jpeg`, `encode_png` refuse integers of other dtypes; TensorFlow casts them": Accepted(
        r"image\.encode_(jpeg|png)", "error", "^no error, ours"
    ),
    "`per_image_standardization` takes rank 3 and 4, `non_max_suppression_padded` a score for "
    "each box": Accepted(_SHAPES, "error", "^no error, ours ShapeError"),
    "`ssim` near 0 loses digits in float32, in both": Accepted(
        r"image\.ssim.*", "value|gradient", r"e?-?0?\.00|NaN|nan|\[.*ours"
    ),
    "`rgb_to_hsv` of gray float16 pixels has derivatives; NaN in TensorFlow": Accepted(
        r"image\.rgb_to_hsv", "gradient", "^nan", "float16"
    ),
    "`yiq_to_rgb` and its kin name the dtype of integer images; TensorFlow a list": Accepted(
        r"image\.(rgb|yiq|yuv)_to_(rgb|yiq|yuv)", "error"
    ),
    "Operands broadcast where TensorFlow wants one shape, or leading axes": Accepted(
        r"(nn\.(\w*conv\w*|log_poisson_loss|weighted_cross_entropy_with_logits)|math\.betainc|"
        r"nn\.compute_accidental_hits|linalg\.(lu_solve|lu_matrix_inverse|solve|tridiagonal_\w+|tensor_diag))",
        "error",
        "ours no error$",
        "rank",
    ),
    "`softmax_cross_entropy_with_logits` wants labels of the rank of the logits; its derivatives "
    "are those of the labels' sum": Accepted(
        r"nn\.softmax_cross_entropy_with_logits", "error|gradient"
    ),
    "`weighted_moments` wants weights that broadcast to the input": Accepted(
        r"nn\.weighted_moments", "error", "^no error", "rank less"
    ),
    "`isotonic_regression` of any rank has gradients of its shape; TensorFlow's have two axes": (
        Accepted(r"nn\.isotonic_regression", "gradient", "", "rank")
    ),
    "`sufficient_statistics`, `reduce_euclidean_norm`, `lu_reconstruct` refuse integers, whose "
    "results TensorFlow truncates": Accepted(
        r"(nn\.sufficient_statistics|math\.reduce_euclidean_norm|linalg\.lu_reconstruct)",
        "error",
        "^no error, ours DTypeError",
        "int32",
    ),
    "Factorizations and solutions want 32 bits or more, as LAPACK has": Accepted(
        r"linalg\.\w+", "error", "32 bits or more", "float16"
    ),
    "Eigenvectors have another sign or phase, eigenvalues another order": Accepted(
        r"linalg\.eig\w*", "value|gradient"
    ),
    "`ctc_beam_search_decoder` adds probabilities in float64; TensorFlow in float32": Accepted(
        r"nn\.ctc_beam_search_decoder", "value", r"^-0\.00"
    ),
    "A function that is returned is another function": Accepted(
        r"signal\.inverse_stft_window_fn", "value"
    ),
    "`sampled_softmax_loss`, `nce_loss`: a class that is sampled twice is removed twice": Accepted(
        r"nn\.compute_accidental_hits", "value|shape"
    ),
}


def accepted(call, aspect, said):
    """The reason why a difference is accepted; None if there is none."""
    return next(
        (why for why, rule in DIFFERENCES.items() if rule.explains(call, aspect, said)), None
    )
