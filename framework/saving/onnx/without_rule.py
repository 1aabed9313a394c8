"""The reason why an op of the op table has no ONNX rule, for error messages."""

_DERIVATIVE = "it occurs in derivatives only; export the forward pass"
_COMPLEX = "ONNX has no complex numbers; compute spectra before the model"
_VALUES = "the sizes of its results depend on values; pad them to fixed sizes before the model"
_LINALG = "ONNX has no such decomposition; compute it before the model"
_SPECIAL = "ONNX has no such special function"
_STATE = "it computes the new value of a variable, and a graph has no state"
_DECODING = "ONNX has no such search; run it on the outputs of the exported model"

_GROUPS = {
    _DERIVATIVE: """
        attention_back batch_norm_back cell_put cell_take conv_bias_back conv_kernel
        cross_entropy_back ctc_back gelu_back gelu_slope gru_back layer_norm_back lstm_back
        lstm_cell_back max_cell rms_norm_back simple_rnn_back
        sparse_cross_entropy_back stays window_spread""",
    _COMPLEX: "complex fft ifft irfft rfft",
    _VALUES: "distinct look_up_all look_up_rows partition_places stitch_places unique",
    _LINALG: """
        banded_solve cholesky eig eigh eigvals eigvalsh expm inverse logm lu matrix_rank pinv qr
        singular_values slogdet solve sqrtm svd triangular_solve tridiagonal_solve""",
    _SPECIAL: """
        bessel_i0 bessel_i0e bessel_i1 bessel_i1e beta_density betainc digamma erfcinv erfinv
        gamma_density igamma igammac lgamma ndtri nextafter polygamma polygamma_of zeta""",
    _STATE: "scatter_into slice_into",
    _DECODING: "beam_search greedy_search",
    "a loss over all alignments is for training; export the model without it": "ctc_loss",
    "ONNX cannot read the bits of a number as another number": "bitcast",
    "ONNX has no loop that ends by values; compute it before the model": "gcd isotonic lcm",
}

WITHOUT_RULE = {name: why for why, names in _GROUPS.items() for name in names.split()}
"""{name of an op: why it has no rule}."""


def reason(name):
    """Return why an op has no rule; an op that is not in the table is user-defined."""
    return WITHOUT_RULE.get(name, "it calls a Python function. Write it with ops on tensors")
