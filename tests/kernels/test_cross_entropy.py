"""Sparse cross-entropy in NumPy and Numba against float64; NaN and infinities; memory orders."""

import numpy as np
import pytest

from framework.core.errors import OutOfRangeError
from framework.kernels import cross_entropy, kernel_task, threads, tier

_rng = np.random.default_rng(8)
SHAPES = [(64, 10), (1, 1), (3, 1000), (700, 3), (2, 5, 17), (0, 4)]


@pytest.fixture(params=["numpy", "numba", "two threads"])
def form(request, change):
    name = "numpy" if request.param == "numpy" else "numba"
    if name == "numba":
        pytest.importorskip("numba")
    change(threads, count=lambda: 1 + (request.param == "two threads"))
    change(kernel_task, _LEAST=1e-9)
    kernel_task._template.cache_clear()
    tier.set_tier(name)
    yield name
    kernel_task._template.cache_clear()
    tier.set_tier()


def expected(x, labels, g):
    """Return the losses and the cotangent of the logits in float64."""
    x = x.astype("float64")
    p = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    total = p.sum(-1, keepdims=True)
    one_hot = np.arange(x.shape[-1]) == labels[..., None]
    shifted = x - x.max(-1, keepdims=True, initial=-np.inf)
    losses = np.log(total[..., 0]) - np.where(one_hot, shifted, 0).sum(-1)
    return losses, g[..., None] * (p / total - one_hot)


def computed(x, labels, g):
    losses, saved = cross_entropy.sparse(x, labels)
    return losses, cross_entropy.sparse_back(g, labels, *saved)


def given(shape):
    x = (4 * _rng.normal(size=shape)).astype("float32")
    return x, _rng.integers(0, shape[-1], shape[:-1]), _rng.normal(size=shape[:-1]).astype("f")


@pytest.mark.parametrize("shape", SHAPES)
def test_losses_and_gradients(form, shape):
    x, labels, g = given(shape)
    for found, right in zip(computed(x, labels, g), expected(x, labels, g), strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, right, rtol=3e-6, atol=3e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_labels_of_any_integers(form, dtype):
    x, labels, g = given((40, 7))
    for found, right in zip(
        computed(x, labels.astype(dtype), g), expected(x, labels, g), strict=True
    ):
        np.testing.assert_allclose(found, right, rtol=3e-6, atol=3e-6)


def test_any_layout(form):
    x, labels, g = given((40, 7))
    plain = computed(x, labels, g)
    turned = np.asfortranarray(x), np.repeat(labels, 2)[::2], np.repeat(g, 3)[::3]
    for found, right in zip(computed(*turned), plain, strict=True):
        np.testing.assert_allclose(found, right, rtol=3e-6, atol=3e-6)


def test_float64_keeps_its_digits(form):
    x, labels, g = given((40, 7))
    x, g = x.astype("float64"), g.astype("float64")
    for found, right in zip(computed(x, labels, g), expected(x, labels, g), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-13, atol=1e-14)


def test_nan_and_infinities(form):
    inf = np.inf
    x = np.array([[0, -inf, 1], [0, np.nan, 1], [0, -inf, 1], [1e30, 0, -1e30]], "float32")
    losses, saved = cross_entropy.sparse(x, np.array([2, 0, 1, 0]))
    np.testing.assert_allclose(losses, [np.log1p(np.exp(-1)), np.nan, inf, 0], rtol=1e-6)
    d = cross_entropy.sparse_back(np.ones(4, "float32"), np.array([2, 0, 1, 0]), *saved)
    assert np.isnan(d).any(1).tolist() == [False, True, False, False]


def test_invalid_labels_access_no_memory(form):
    """Callers check labels, but the machine code is safe without that."""
    if form == "numpy":
        with pytest.raises(IndexError):
            cross_entropy.sparse(np.zeros((2, 3), "f"), np.array([0, 10**12]))
        return
    losses, saved = cross_entropy.sparse(np.zeros((2, 3), "f"), np.array([-1, 10**12]))
    assert np.isnan(losses).all()
    d = cross_entropy.sparse_back(np.ones(2, "f"), np.array([-1, 10**12]), *saved)
    np.testing.assert_allclose(d, np.full((2, 3), 1 / 3), rtol=1e-6)


def test_the_op_refuses_invalid_labels(form):
    import framework as tf

    with pytest.raises(OutOfRangeError, match="label 3"):
        tf.keras.losses.sparse_categorical_crossentropy(
            tf.constant([0, 3]), tf.zeros((2, 3)), from_logits=True
        )
