"""Spectrograms of signals: by convolutions with trainable sine waves, and on the mel scale."""

import math
import warnings
from typing import Any, Literal

import numpy as np

from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.dtypes import as_dtype, epsilon
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.initializers import STFT
from framework.kernels.mel_scale import mel_weights
from framework.layers.base import Layer
from framework.layers.convolution_base import DataFormat, Padding
from framework.layers.input_spec import InputSpec
from framework.ops import elementwise as e
from framework.ops import framing
from framework.ops.complex import imag, real
from framework.ops.contraction import matmul
from framework.ops.conv import conv
from framework.ops.movement import concat, expand_axes, getitem, pad, transpose
from framework.ops.reduction import reduce_max

__all__ = ["MelSpectrogram", "STFTSpectrogram"]


class STFTSpectrogram(Layer):
    """Compute a spectrogram by convolutions with windowed cosines and sines, which can be trained.

    Args:
        mode: "log" for log magnitudes, "magnitude", "psd" for the one-sided power spectral density,
            "real", "imag", "angle", or "stft" for real parts, then imaginary parts.
        frame_length: the number of samples in a frame.
        frame_step: the distance between frames, at most `frame_length`; by default half of it.
        fft_length: the length of the transform, at least `frame_length`; by default the next power
            of 2.
        window: the name of a window, its values, or None; see the initializer `STFT`.
        periodic: whether the window's period is its length; otherwise its length - 1.
        scaling: "density", "spectrum" or None; see the initializer `STFT`.
        padding: "valid" for whole frames; "same" for `ceil(samples / frame_step)` frames.
        expand_dims: whether frequencies have a separate axis.
        data_format: "channels_last", (batch, samples, channels), or "channels_first".

    Shapes: `(batch, samples, channels)` gives `(batch, frames, channels * frequencies)`, or with
    `expand_dims` `(batch, frames, frequencies, channels)`.

    >>> import numpy as np
    >>> STFTSpectrogram(frame_length=8)(np.ones((2, 20, 1))).shape
    TensorShape([2, 4, 5])
    """

    mode: Literal["log", "magnitude", "psd", "real", "imag", "angle", "stft"] = "log"
    frame_length: int = 256
    frame_step: int | None = None
    fft_length: int | None = None
    window: object = "hann"
    periodic: bool = False
    scaling: Literal["density", "spectrum"] | None = "density"
    padding: Padding = "valid"
    expand_dims: bool = False
    data_format: DataFormat = None

    def __post_init__(self):
        length, step, size = self.frame_length, self.frame_step, self.fft_length
        if step is not None and not 1 <= step <= length:
            raise InvalidArgumentError(
                "`frame_step` should be a positive integer not greater than `frame_length`. "
                f"Received frame_step={step}, frame_length={length}"
            )
        if size is not None and size < length:
            raise InvalidArgumentError(
                "`fft_length` should be not less than `frame_length`. Received "
                f"fft_length={size}, frame_length={length}"
            )
        if size is not None and size & -size != size:
            warnings.warn(
                f"`fft_length` is recommended to be a power of two. Received fft_length={size}",
                stacklevel=3,
            )
        STFT("real", self.window)((1, 1, 1))  # this call raises an error if the window is unknown
        self.input_spec = InputSpec(ndim=3)

    def build(self, input_shape: ShapeLike) -> None:
        shape = (self.frame_length, 1, _frequencies(self))
        for part, unused in (("real", "imag"), ("imag", "real")):
            if self.mode != unused:
                waves = STFT(part, self.window, self.scaling, self.periodic)
                name = f"{part}_kernel"
                setattr(self, name, self.add_weight(shape=shape, initializer=waves, name=name))

    def call(self, inputs: TensorLike) -> Any:
        if not inputs.dtype.is_floating:
            inputs = cast(inputs, dtype=self.compute_dtype.np)
        first = self.data_format == "channels_first"
        signals = inputs if first else transpose(inputs, perm=(0, 2, 1))
        signals = expand_axes(signals, (3,))
        parts = [
            _transformed(self, signals, kernel)
            for kernel in (getattr(self, f"{p}_kernel", None) for p in ("real", "imag"))
            if kernel is not None
        ]
        return _arranged(self, _by_mode(self.mode, *parts))


def _frequencies(layer):
    size = layer.fft_length or 2 ** math.ceil(math.log2(layer.frame_length))
    return size // 2 + 1


def _transformed(layer, signals, kernel):
    """Convolve signals (batch, channels, samples, 1) to (batch, channels, frames, frequencies)."""
    kernel = expand_axes(cast(kernel._as_operand(), dtype=signals.dtype.np), (0,))
    padding = "SAME" if layer.padding == "same" else ((0, 0), (0, 0))
    step = layer.frame_step or layer.frame_length // 2
    return conv(signals, kernel, strides=(1, step), padding=padding, dilations=(1, 1), groups=1)


def _by_mode(mode, *parts):
    """Return the output of the mode, computed from the real and imaginary parts."""
    if mode in ("real", "imag"):
        return parts[0]
    if mode == "stft":
        return concat(*parts, axis=3)
    if mode == "angle":
        return e.atan2(*parts[::-1])
    power = e.add(*map(e.square, parts))
    # in a one-sided spectrum, all bins but the first and the last stand for two frequencies
    if mode == "psd":
        inner = getitem(power, index=(Ellipsis, slice(1, -1)))
        return e.add(power, pad(inner, widths=(*((0, 0),) * 3, (1, 1))))
    least = np.asarray(epsilon(), power.dtype.np)
    size = e.sqrt(e.maximum(power, least))
    return size if mode == "magnitude" else e.log(e.maximum(size, least))


def _arranged(layer, y):
    """Bring `y`, (batch, channels, frames, frequencies), into the shape of the layer's outputs."""
    first = layer.data_format == "channels_first"
    if layer.expand_dims:
        return y if first else transpose(y, perm=(0, 2, 3, 1))
    channels = [getitem(y, index=(slice(None), c)) for c in range(y.shape[1])]
    y = concat(*channels, axis=2)
    return transpose(y, perm=(0, 2, 1)) if first else y


class MelSpectrogram(Layer, takes_lists=True):
    """Compute the mel spectrogram of signals: the power of their frequencies in bands.

    Args:
        fft_length: the length of the Fourier transform.
        sequence_stride: the distance between frames.
        sequence_length: the length of a frame, at most `fft_length`, which is the default.
        window: "hann", "hamming", a vector of `sequence_length`, or None.
        sampling_rate: samples per second.
        num_mel_bins: the number of bands.
        min_freq: the lowest frequency.
        max_freq: the highest frequency; half the sampling rate if None.
        power_to_db: whether to return decibels.
        top_db: values more than `top_db` below the largest are raised to this limit.
        mag_exp: the exponent of the magnitudes: 1 for amplitudes, 2 for powers.
        min_power: the lower bound of the power in the logarithm.
        ref_power: the power that is 0 decibels.

    Shapes: `(batch, samples)` gives `(batch, num_mel_bins, frames)`; the batch axis may be missing.

    >>> import numpy as np
    >>> MelSpectrogram(fft_length=64, sequence_stride=16, num_mel_bins=8)(np.ones((2, 160))).shape
    TensorShape([2, 8, 11])
    """

    fft_length: int = 2048
    sequence_stride: int = 512
    sequence_length: int | None = None
    window: object = "hann"
    sampling_rate: int | float = 16000
    num_mel_bins: int = 128
    min_freq: float = 20.0
    max_freq: float | None = None
    power_to_db: bool = True
    top_db: float = 80.0
    mag_exp: float = 2.0
    min_power: float = 1e-10
    ref_power: float = 1.0

    def __post_init__(self):
        self.sequence_length = self.sequence_length or self.fft_length
        self.max_freq = self.max_freq or int(self.sampling_rate / 2)
        if self.fft_length < self.sequence_length:
            raise InvalidArgumentError(
                "`fft_length` must be greater than or equal to `sequence_length`. Received: "
                f"`sequence_length`={self.sequence_length}, `fft_length`={self.fft_length}."
            )

    def call(self, inputs: TensorLike) -> Any:
        x = inputs
        if not x.dtype.is_floating or x.dtype.size < 4:
            dtype = self.compute_dtype if self.compute_dtype == "float64" else as_dtype("float32")
            x = cast(x, dtype=dtype.np)
        z = framing.short_time_transform(
            x, _window(self, x.dtype), self.sequence_stride, self.fft_length, center=True
        )
        # `root` is the square root with derivative 0 at 0, so the gradient of silence is finite.
        size = e.root(e.add(e.square(real(z)), e.square(imag(z))))
        y = e.power(size, np.asarray(self.mag_exp, x.dtype.np))
        weights = self.linear_to_mel_weight_matrix(
            self.num_mel_bins, self.fft_length // 2 + 1, self.sampling_rate, self.min_freq,
            self.max_freq,
        )  # fmt: skip
        y = matmul(y, cast(weights, dtype=x.dtype.np))
        y = _decibels(self, y) if self.power_to_db else y
        last = y.ndim - 1
        y = transpose(y, perm=(*range(last - 1), last, last - 1))
        return cast(y, dtype=self.compute_dtype.np) if y.dtype != self.compute_dtype else y

    def linear_to_mel_weight_matrix(
        self, num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sampling_rate: Any = 8000,
        lower_edge_hertz: Any = 125.0, upper_edge_hertz: Any = 3800.0,
        dtype: DTypeLike = "float32",
    ) -> Tensor:  # fmt: skip
        """Return the weight of each frequency in each mel band, of shape (frequencies, bands).

        Args:
            num_mel_bins: the number of bands.
            num_spectrogram_bins: the number of frequencies, from 0 to half the sampling rate.
            sampling_rate: samples per second.
            lower_edge_hertz, upper_edge_hertz: the lowest and the highest frequency of the bands.
            dtype: a floating dtype.
        """
        weights = mel_weights(
            num_mel_bins, num_spectrogram_bins, sampling_rate, lower_edge_hertz, upper_edge_hertz
        )
        return Tensor(weights.astype(as_dtype(dtype).np))


def _window(layer, dtype):
    """Return the window padded on both sides to `fft_length` elements, or None."""
    window = layer.window
    if window is None:
        return None
    if isinstance(window, str):
        window = framing.periodic_window(window, layer.sequence_length, "MelSpectrogram")
    window = np.asarray(window, dtype.np)
    if window.shape != (layer.sequence_length,):
        raise ShapeError(
            f"MelSpectrogram: expected a window of shape ({layer.sequence_length},), got "
            f"{window.shape}."
        )
    return framing.centered(window, layer.fft_length)


def _decibels(layer, power):
    def scaled(x):
        least = np.asarray(layer.min_power, power.dtype.np)
        return e.log(e.maximum(x, least)) * (10 / math.log(10))

    y = scaled(power) - 10 * math.log10(max(abs(layer.ref_power), layer.min_power))
    top = reduce_max(y, axis=tuple(range(y.ndim)), keepdims=False)
    return e.maximum(y, top - layer.top_db)
