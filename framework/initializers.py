"""Initializers: functions of a shape and a dtype that return the values of a new weight.

The values of a random initializer are a function of its seed. Without a seed the initializer draws
one from the global generator when it is created, so `set_seed` at the start of a program makes its
weights reproducible.
"""

import math
from typing import Annotated, Any, Literal

import numpy as np

from framework.core import dtypes, random
from framework.core.argument_types import DTypeLike, ShapeLike
from framework.core.configurable import Configurable, Resolved, one_of, serialize_value
from framework.core.conversion import array_of
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.registry import Registry
from framework.core.shared_fields import Configured
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable

initializers = Registry("initializer")


class Initializer(Configurable):
    """The base class of initializers: `initializer(shape, dtype=None)` returns a tensor.

    User initializers subclass it and define `__call__`, or are functions of a shape and a dtype.
    """

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(shape, dtype).")

    def clone(self):
        """Return a new initializer with the same configuration."""
        return self.from_config(self.get_config())


def _full(shape, value, dtype):
    dtype = dtypes.as_dtype(dtype or dtypes.floatx())
    return Tensor(np.full(tuple(shape), value, dtype.np))


@initializers.add("zero")
class Zeros(Initializer):
    """An initializer that returns zeros."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        dtype = dtypes.as_dtype(dtype or dtypes.floatx())
        # np.zeros is fast: the operating system provides zeroed pages only when they are used
        return Tensor(np.zeros(tuple(shape), dtype.np))


@initializers.add("one")
class Ones(Initializer):
    """An initializer that returns ones."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        return _full(shape, 1, dtype)


@initializers.add()
class Constant(Initializer):
    """Returns `value`, a number or an array that broadcasts to the shape."""

    value: object = 0.0

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        return _full(shape, array_of(self.value), dtype)


@initializers.add("IdentityInitializer")
class Identity(Initializer):
    """Returns `gain` times the identity matrix; the shape must have two axes."""

    gain: float = 1.0

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        if len(shape) != 2:
            raise ShapeError(
                f"Identity initializer: expected a shape of two axes, got {tuple(shape)}."
            )
        dtype = dtypes.as_dtype(dtype or dtypes.floatx())
        return Tensor((np.eye(*shape) * self.gain).astype(dtype.np))


# ---- random --------------------------------------------------------------------------------------


def _seed(value):
    if value is None or isinstance(value, random.SeedGenerator):
        return value
    if isinstance(value, dict):
        return random.SeedGenerator.from_config(value.get("config", value))
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InvalidArgumentError("expected an int, a SeedGenerator or None")
    return int(value)


Seed = Annotated[int | random.SeedGenerator | dict[str, Any] | None, Resolved("a seed", _seed)]


class RandomInitializer(Initializer):
    """The base class of random initializers.

    Each call returns the same values, unless the seed is a SeedGenerator, which advances.
    """

    def __post_init__(self):
        seed = self.seed
        if not isinstance(seed, random.SeedGenerator):
            seed = random.Stateless(random.make_seed() if seed is None else seed)
        self._framework.source = seed


def _draw(initializer, distribution, shape, dtype, a, b):
    dtype = dtypes.as_dtype(dtype or dtypes.floatx())
    return random.draw(initializer._framework.source, distribution, tuple(shape), dtype, a, b)


@initializers.add("normal")
class RandomNormal(RandomInitializer):
    """Draws normally distributed values."""

    mean: float = 0.0
    stddev: float = 0.05
    seed: Seed = None

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        return _draw(self, "normal", shape, dtype, self.mean, self.stddev)


@initializers.add("uniform")
class RandomUniform(RandomInitializer):
    """Draws uniformly distributed values between `minval` and `maxval`."""

    minval: float = -0.05
    maxval: float = 0.05
    seed: Seed = None

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        return _draw(self, "uniform", shape, dtype, self.minval, self.maxval)


@initializers.add()
class TruncatedNormal(RandomInitializer):
    """Draws normal values; those beyond two standard deviations are drawn again."""

    mean: float = 0.0
    stddev: float = 0.05
    seed: Seed = None

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        return _draw(self, "truncated_normal", shape, dtype, self.mean, self.stddev)


# This is the standard deviation of a standard normal distribution truncated to [-2, 2].
_CUT = 0.87962566103423978


def _positive(value):
    if isinstance(value, str) or not float(value) > 0:
        raise InvalidArgumentError("expected a number > 0")
    return float(value)


def _distribution(value):
    known = ("uniform", "truncated_normal", "untruncated_normal")
    value = "truncated_normal" if value == "normal" else str(value).lower()
    return one_of(*known).resolve(value)


@initializers.add()
class VarianceScaling(RandomInitializer):
    """Draws values of variance `scale / n`; n is the fan-in, the fan-out or their mean.

    Args:
        scale: a number > 0.
        mode: "fan_in", "fan_out" or "fan_avg".
        distribution: "truncated_normal", "untruncated_normal" or "uniform".
        seed: an int, a SeedGenerator or None.
        input_axes, output_axes: the axes whose sizes multiply to the fan-in and fan-out; by
            default those of a kernel `(..., inputs, outputs)`.
    """

    scale: Annotated[float, Resolved("a number > 0", _positive)] = 1.0
    mode: Literal["fan_in", "fan_out", "fan_avg"] = "fan_in"
    distribution: Annotated[str, Resolved("a distribution", _distribution)] = "truncated_normal"
    seed: Seed = None
    input_axes: object = None
    output_axes: object = None

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        fan_in, fan_out = compute_fans(shape, self.input_axes, self.output_axes)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return _draw(self, "uniform", shape, dtype, -limit, limit)
        if self.distribution == "untruncated_normal":
            return _draw(self, "normal", shape, dtype, 0.0, math.sqrt(variance))
        return _draw(self, "truncated_normal", shape, dtype, 0.0, math.sqrt(variance) / _CUT)


def compute_fans(shape, input_axes=None, output_axes=None):
    """Return (fan-in, fan-out): how many inputs an output has, and how many outputs an input has.

    >>> compute_fans((3, 3, 4, 8)), compute_fans((5,))
    ((36, 72), (5, 5))
    """
    shape = tuple(shape)
    if input_axes is not None and output_axes is not None:
        return tuple(math.prod(shape[i] for i in axes) for axes in (input_axes, output_axes))
    if len(shape) < 2:
        return (math.prod(shape),) * 2
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class _Scaled(VarianceScaling):
    """A VarianceScaling of fixed scale, mode and distribution."""

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        if "fixed" in settings:
            cls.scale, cls.mode, cls.distribution = settings["fixed"]
        for name in ("scale", "mode", "distribution"):
            cls._framework.fields.pop(name, None)


@initializers.add()
class GlorotUniform(_Scaled, fixed=(1.0, "fan_avg", "uniform")):
    """Draws uniform values within ±sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""


@initializers.add()
class GlorotNormal(_Scaled, fixed=(1.0, "fan_avg", "truncated_normal")):
    """Draws truncated normal values of variance 2 / (fan_in + fan_out) (Glorot & Bengio 2010)."""


@initializers.add()
class HeUniform(_Scaled, fixed=(2.0, "fan_in", "uniform")):
    """Draws uniform values within ±sqrt(6 / fan_in) (He et al. 2015, arXiv:1502.01852)."""


@initializers.add()
class HeNormal(_Scaled, fixed=(2.0, "fan_in", "truncated_normal")):
    """Draws truncated normal values of variance 2 / fan_in (He et al. 2015, arXiv:1502.01852)."""


@initializers.add()
class LecunUniform(_Scaled, fixed=(1.0, "fan_in", "uniform")):
    """Draws uniform values within ±sqrt(3 / fan_in) (LeCun et al. 1998)."""


@initializers.add()
class LecunNormal(_Scaled, fixed=(1.0, "fan_in", "truncated_normal")):
    """Draws truncated normal values of variance 1 / fan_in (LeCun et al. 1998)."""


@initializers.add("OrthogonalInitializer")
class Orthogonal(RandomInitializer):
    """A matrix with orthonormal columns (rows if it has fewer rows than columns), times `gain`.

    All axes but the last are merged into one (Saxe et al. 2014).
    """

    gain: float = 1.0
    seed: Seed = None

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        if len(shape) < 2:
            raise ShapeError(
                f"Orthogonal initializer: expected a shape of two or more axes, got {tuple(shape)}."
            )
        dtype = dtypes.as_dtype(dtype or dtypes.floatx())
        rows, columns = math.prod(shape[:-1]), shape[-1]
        tall = (max(rows, columns), min(rows, columns))
        wide = "float64" if dtype == "float64" else "float32"
        q, r = np.linalg.qr(_draw(self, "normal", tall, wide, 0.0, 1.0).array)
        # with these signs, q is uniformly distributed among the orthogonal matrices (Haar measure)
        q *= np.sign(np.diagonal(r))
        q = q.T if rows < columns else q
        return Tensor((self.gain * q).reshape(shape).astype(dtype.np))


@initializers.add("STFTInitializer")
class STFT(Initializer):
    """Cosines or sines times a window: the kernel of a short-time Fourier transform.

    The shape of the weight is (length of the window, 1, frequencies); frequency k has k periods in
    2 (frequencies - 1) steps.

    Args:
        side: "real" for cosines, "imag" for sines of the negative angle.
        window: "hann", "hamming", "blackman", "bartlett" or "boxcar", the name of another window
            of SciPy, its values, or None.
        scaling: "density" to divide by the root of the window's sum of squares, "spectrum" to
            divide by its sum, None for neither.
        periodic: whether the window's period is its length; otherwise its length - 1.
    """

    side: Literal["real", "imag"] = "real"
    window: object = "hann"
    scaling: Literal["density", "spectrum"] | None = "density"
    periodic: bool = False

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None) -> Any:
        if len(shape) != 3:
            raise ShapeError(
                f"STFT initializer: expected shape (length, 1, frequencies), got {tuple(shape)}."
            )
        length, _, count = shape
        angles = (
            np.arange(length)[:, None, None] * np.arange(count) * (-math.pi / max(count - 1, 1))
        )
        kernel = np.cos(angles) if self.side == "real" else np.sin(angles)
        if self.window is not None:
            window = _window_values(self.window, length, self.periodic)
            sums = {"density": np.sqrt(np.sum(window**2)), "spectrum": np.sum(np.abs(window))}
            kernel = kernel * window[:, None, None] / sums.get(self.scaling, 1.0)
        return Tensor(kernel.astype(dtypes.as_dtype(dtype or dtypes.floatx()).np))


_WINDOWS = {
    "hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman, "bartlett": np.bartlett,
    "boxcar": np.ones,
}  # fmt: skip


def _window_values(window, length, periodic):
    """Return the values of a window, given by its name or values."""
    if not isinstance(window, str):
        values = np.asarray(window, np.float64)
        if values.shape != (length,):
            raise ShapeError(
                f"STFT initializer: expected a window of shape ({length},), got {values.shape}."
            )
        return values
    if window in _WINDOWS:
        return _WINDOWS[window](length + periodic)[:length]
    try:
        from scipy import signal
    except ImportError:
        raise InvalidArgumentError(
            f"STFT initializer: the window {window!r} needs SciPy: pip install scipy. Without it "
            f"there are {', '.join(_WINDOWS)}."
        ) from None
    return signal.get_window(window, length, periodic)


# ---- names ---------------------------------------------------------------------------------------


class _Given:
    """An initializer that returns the values of an array."""

    __name__ = "given"

    def __init__(self, array):
        self.array = array

    def __call__(self, shape, dtype=None):
        if tuple(shape) != self.array.shape:
            raise ShapeError(
                f"initializer: the array given has shape {self.array.shape}, the weight has shape "
                f"{tuple(shape)}."
            )
        return Tensor(np.array(self.array, dtypes.as_dtype(dtype or dtypes.floatx()).np))


def get(identifier):
    """Return the initializer for a name, class, instance, function, config or array, or None."""
    if isinstance(identifier, (Tensor, CoreVariable, np.ndarray, np.generic)):
        return _Given(np.array(identifier))
    return initializers.get(identifier)


def serialize(initializer):
    """Return the config of an initializer, for `deserialize`."""
    return serialize_value(initializer)


def deserialize(config, custom_objects=None):
    """Return the initializer that `serialize` described."""
    return initializers.deserialize(config, custom_objects)


InitializerField = Annotated[Configured, Resolved("an initializer", get)]

# TensorFlow's names of these classes, such as `tf.initializers.zeros`
constant, identity, ones, orthogonal, stft, zeros = (
    Constant, Identity, Ones, Orthogonal, STFT, Zeros,
)  # fmt: skip
glorot_normal, glorot_uniform = GlorotNormal, GlorotUniform
he_normal, he_uniform = HeNormal, HeUniform
lecun_normal, lecun_uniform = LecunNormal, LecunUniform
random_normal, random_uniform = RandomNormal, RandomUniform
truncated_normal, variance_scaling = TruncatedNormal, VarianceScaling
