"""One call of a public function on KerasTensors: the model it makes, beside the call on arrays."""

import functools
import inspect

import numpy as np

import framework as tf
from framework import keras
from framework.core import nest
from framework.layers.base import Layer

words = str.split

TENSORS = set(words("""
    a abs_ angle args arr array b bias bounding_boxes boxes choicelist chol condition condlist
    coordinates counts data depthwise_filter depthwise_kernel diagonal elements elems end_points
    features filter filters ids imag image image1 image2 images img1 img2 indices input input_
    input_tensor inputs kernel key labels lengths log_mel_spectrograms logits lower_upper mask
    matrix mdcts mean mean_ss offset operands output overlaps params partitions per_example_loss
    pointwise_filter pointwise_kernel predictions query real regularization_loss rhs
    sampled_candidates scale
    segment_ids seq_lengths sequences true_classes
    signal signals sorted_sequence start_points stfts t t_list target targets tensor transform
    updates value values var variable variance variance_ss volumes weights x x1 x2 xs y y_pred
    y_true
"""))  # fmt: skip
"""Parameters that take tensors: their arrays become inputs of a model."""

WEIGHTS = set(words("""
    depthwise_filter depthwise_kernel filter filters kernel pointwise_filter pointwise_kernel
    coordinates end_points start_points transform
"""))  # fmt: skip
"""Tensors among these whose sizes are known in every program."""

LISTS = set(words("""
    add_n clip_by_global_norm concat concatenate dstack dynamic_stitch einsum fft fft2 global_norm
    format hstack identity_n ifft2 irfft istft join meshgrid select stack vstack
"""))  # fmt: skip
"""Functions of a list of tensors."""

SIZES = set(words("""
    M N batch_shape depth dims limit maxlen maxlength minlength multiples n num num_classes
    num_cols num_columns num_partitions num_rows num_samples num_segments repeats shape size
    start stop newshape
"""))  # fmt: skip
"""Parameters that take sizes: their numbers become sizes of an input."""


class Call:
    """A call whose tensors, or sizes, are replaced.

    Args:
        f: a public function.
        name: its name.
        args, kwargs: what it is called with.
    """

    def __init__(self, f, name, args, kwargs):
        self.f, self.listed = f, name.rpartition(".")[2] in LISTS
        bound = inspect.signature(f).bind(*args, **kwargs)
        self.kinds = {p.name: p.kind for p in bound.signature.parameters.values()}
        self.wide = any(getattr(v, "dtype", None) == "float64" for v in nest.flatten(args))
        self.arrays, self.sizes = [], []
        self.known = set()  # places of arrays whose sizes are always known
        self.arguments = {k: self._marked(k, v) for k, v in bound.arguments.items()}

    def _marked(self, name, value):
        if name in WEIGHTS:
            self.known.add(len(self.arrays))
        if name in TENSORS:
            if self.kinds[name] is inspect.Parameter.VAR_POSITIONAL or (
                self.listed and isinstance(value, (list, tuple))
            ):
                return [self._tensor(v) for v in value]
            return self._tensor(value)
        return self._sized(value) if name in SIZES else value

    def _tensor(self, value):
        if isinstance(value, (list, tuple)) and not (_numbers(value) or _texts(value)):
            return value
        if not isinstance(value, (np.ndarray, list, tuple, tf.Tensor)) or not np.ndim(value):
            return value
        array = np.asarray(tf.convert_to_tensor(value))
        if self.wide and array.dtype == "float32" and not hasattr(value, "dtype"):
            array = array.astype("float64")  # as a list beside an array would be
        self.arrays.append(array)
        return Mark(self.arrays, len(self.arrays) - 1)

    def _sized(self, value):
        if isinstance(value, (list, tuple)):
            return [self._sized(v) for v in value]
        if not isinstance(value, (int, np.integer)) or value < 1:
            return value
        self.sizes.append(int(value))
        return Mark(self.sizes, len(self.sizes) - 1)

    def on(self, tensors, sizes):
        """The call on these tensors and sizes."""

        def given(leaf):
            if type(leaf) is not Mark:
                return leaf
            return (tensors if leaf.of is self.arrays else sizes)[leaf.place]

        args, kwargs = [], {}
        for name, value in self.arguments.items():
            filled = nest.map_structure(given, value)
            if self.kinds[name] is inspect.Parameter.VAR_POSITIONAL:
                args += filled
            elif self.kinds[name] is inspect.Parameter.VAR_KEYWORD:
                kwargs |= filled
            elif self.kinds[name] is inspect.Parameter.KEYWORD_ONLY or _after_gap(self, name):
                kwargs[name] = filled
            else:
                args.append(filled)
        return self.f(*args, **kwargs)

    @functools.cached_property
    def expected(self):
        """The results on arrays, in a list."""
        tf.random.set_seed(3)
        return leaves(self.on([tf.constant(a) for a in self.arrays], self.sizes))

    def inputs(self, unknown):
        """KerasTensors for the arrays, the first `unknown` sizes of each unknown."""
        return [
            _input(a.shape, a.dtype.name, 0 if i in self.known else unknown)
            for i, a in enumerate(self.arrays)
        ]


class Mark:
    """Stands in arguments for a tensor or size to be put there."""

    def __init__(self, of, place):
        self.of, self.place = of, place


def _after_gap(call, name):
    """Whether a parameter before this one was not given, so that it goes by keyword."""
    before = list(call.kinds)[: list(call.kinds).index(name)]
    return any(
        b not in call.arguments and call.kinds[b] is not inspect.Parameter.VAR_POSITIONAL
        for b in before
    )


def _numbers(value):
    return np.asarray(value).dtype.kind in "fiubc" if _even(value) else False


def _texts(value):
    return _even(value) and np.asarray(value).dtype.kind in "SU"


def _even(value):
    try:
        np.asarray(value)
    except ValueError:
        return False
    return True


def _input(shape, dtype, unknown):
    shape = tuple(None if i < unknown else n for i, n in enumerate(shape))
    return keras.Input(batch_shape=shape, dtype=dtype)


class Within(Layer):
    """A layer whose `call` makes the call."""

    def __init__(self, call, sizes_of):
        super().__init__(autocast=False)
        self.made, self.sizes_of = call, sizes_of

    def call(self, inputs):
        count = len(self.made.arrays)
        return self.made.on(inputs[:count], self.sizes_of(inputs[count:]))


def leaves(results):
    return [x for x in nest.flatten(results) if x is not None]


def check(call, unknown, sizes_of=None, within=False):
    """The model of the call gives what the call gives; its KerasTensors say so before.

    Args:
        call: a Call.
        unknown: how many sizes of each input are not known.
        sizes_of: makes symbolic sizes of a list of one KerasTensor; plain ones where None.
        within: whether the call is in a layer.
    """
    expected = call.expected
    inputs, data = call.inputs(unknown), [tf.constant(a) for a in call.arrays]
    if sizes_of:
        inputs = [*inputs, _input(call.sizes, "float32", len(call.sizes))]
        data = [*data, tf.ones(call.sizes)]
    tf.random.set_seed(3)
    plain = sizes_of or (lambda _: call.sizes)
    if within:
        found = leaves(Within(call, plain)(inputs))
    else:
        found = leaves(call.on(inputs[: len(call.arrays)], plain(inputs[len(call.arrays) :])))
    assert len(found) == len(expected)
    kept = [i for i, f in enumerate(found) if isinstance(f, keras.KerasTensor)]
    for f, e in zip(found, expected, strict=True):
        if isinstance(f, keras.KerasTensor):
            _fits(f, e)
        else:
            np.testing.assert_array_equal(np.asarray(f), np.asarray(e))
    if not kept:
        return
    model = keras.Model(inputs, {str(i): found[i] for i in kept})
    results = model(data)
    for i in kept:
        f = results[str(i)]
        f, e = np.asarray(f), np.asarray(expected[i])
        if e.dtype == object:  # strings
            np.testing.assert_array_equal(f, e)
        else:
            np.testing.assert_allclose(f, e, rtol=1e-6, atol=1e-9, equal_nan=True)


def _fits(symbolic, eager):
    """Shape and dtype of a KerasTensor are those of the tensor, None where unknown."""
    shape = np.shape(eager)
    assert len(symbolic.shape) == len(shape)
    assert all(m in (None, n) for m, n in zip(symbolic.shape, shape)), (symbolic.shape, shape)
    if hasattr(eager, "dtype"):
        assert symbolic.dtype == eager.dtype
