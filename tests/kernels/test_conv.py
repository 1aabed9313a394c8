"""Every convolution algorithm against im2col in NumPy, for many sizes."""

import numpy as np
import pytest

from framework import keras
from framework.core.errors import InvalidArgumentError
from framework.kernels import conv as kernels
from framework.kernels import conv_pool, im2col, pool, threads, tier, windows

pytest.importorskip("numba")

rng = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _as_before():
    algorithm = kernels.set_conv_algorithm("auto")
    tier.set_tier("numba")
    yield
    kernels.set_conv_algorithm(algorithm)
    tier.set_tier(None)


@pytest.fixture(params=[1, 2])
def thread_count(request, change):
    change(threads, _count=request.param)
    if request.param > 1:  # share the smallest parts too
        change(tier.library("conv"), _ALONE=0)
    return request.param


def real(*shape):
    return rng.standard_normal(shape, np.float32)


def close(found, expected, tolerance):
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    error = np.abs(found - expected).max(initial=0) / max(np.abs(expected).max(initial=0), 1e-30)
    assert error < tolerance


def all_three(x, w, tolerance, **window):
    """Compare y and both gradients of the set algorithm with im2col in float64."""
    y = im2col.conv(x.astype("f8"), w.astype("f8"), **window)
    g = real(*y.shape)
    close(kernels.conv(x, w, **window), y, tolerance)
    sizes = x.shape[1:-1]
    expected = im2col.conv_input(g.astype("f8"), w.astype("f8"), sizes=sizes, **window)
    close(kernels.conv_input(g, w, sizes=sizes, **window), expected, tolerance)
    size = w.shape[:-2]
    expected = im2col.conv_kernel(x.astype("f8"), g.astype("f8"), size=size, **window)[0]
    close(kernels.conv_kernel(x, g, size=size, **window), expected, tolerance)


SHAPES = [  # batch, height, width, channels, filters
    (2, 7, 9, 1, 5), (3, 6, 5, 3, 33), (2, 8, 8, 17, 32), (1, 12, 11, 20, 70),
]  # fmt: skip
SIZES = [(1, 1), (2, 3), (3, 3), (5, 4)]
MOVES = [  # strides, dilations
    ((1, 1), (1, 1)), ((2, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 1)), ((1, 1), (1, 2)),
    ((3, 3), (1, 1)),
]  # fmt: skip
PADDINGS = ["SAME", ((0, 0), (0, 0)), ((1, 2), (0, 3)), ((3, 0), (1, 1))]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("algorithm", ["direct", "im2col"])
def test_windows_of_any_size_stride_and_dilation(algorithm, shape, size, thread_count):
    kernels.set_conv_algorithm(algorithm)
    *shape, filters = shape
    x, w = real(*shape), real(*size, shape[-1], filters)
    for strides, dilations in MOVES:
        for padding in PADDINGS:
            places = windows.output_sizes(x.shape[1:-1], size, strides, padding, dilations)
            if 0 not in places:
                window = {"strides": strides, "dilations": dilations, "padding": padding}
                all_three(x, w, 1e-5, **window, groups=1)


@pytest.mark.parametrize("shape", [*SHAPES, (9, 3, 3, 48, 16), (1, 4, 14, 1, 1), (5, 1, 2, 16, 64)])
@pytest.mark.parametrize(("algorithm", "tolerance"), [("winograd2", 1e-5), ("winograd4", 1e-5)])
def test_winograd(algorithm, tolerance, shape, thread_count):
    kernels.set_conv_algorithm(algorithm)
    *shape, filters = shape
    x, w = real(*shape), real(3, 3, shape[-1], filters)
    once = {"strides": (1, 1), "dilations": (1, 1), "groups": 1}
    for padding in ["SAME", ((1, 2), (0, 2)), ((2, 0), (1, 1)), ((2, 2), (2, 2)), ((0, 0), (0, 0))]:
        if padding != ((0, 0), (0, 0)) or min(x.shape[1:3]) >= 3:
            all_three(x, w, tolerance, padding=padding, **once)


BIASED = [  # x, w, strides, padding
    ((3, 7, 9, 16), (3, 3, 16, 35), (1, 1), "SAME"),
    ((5, 8, 6, 20), (3, 3, 20, 32), (1, 1), ((0, 0), (0, 0))),
    ((3, 9, 7, 3), (2, 3, 3, 5), (2, 1), "SAME"),
    ((2, 9, 4), (4, 4, 6), (1,), ((0, 0),)),
]


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("algorithm", kernels.ALGORITHMS)
@pytest.mark.parametrize(("x", "w", "strides", "padding"), BIASED)
def test_bias_and_relu(algorithm, x, w, strides, padding, relu, thread_count):
    kernels.set_conv_algorithm(algorithm)
    window = {"strides": strides, "padding": padding, "dilations": (1,) * len(strides), "groups": 1}
    x, w, b = real(*x), real(*w), real(w[-1])
    plain = im2col.conv(x.astype("f8"), w.astype("f8"), **window) + b
    y = kernels.conv_bias(x, w, b, **window, relu=relu)
    close(y, np.maximum(plain, 0) if relu else plain, 1e-5)
    g = real(*y.shape)
    d = (g * (y > 0) if relu else g).astype("f8")
    expected = (
        im2col.conv_input(d, w.astype("f8"), sizes=x.shape[1:-1], **window),
        im2col.conv_kernel(x.astype("f8"), d, size=w.shape[:-2], **window)[0],
        d.sum(tuple(range(d.ndim - 1))),
    )
    for needed in [(True, True, True), (False, True, False), (True, False, True)]:
        found = kernels.conv_bias_back(g, x, w, y, **window, relu=relu, needed=needed)
        wanted = [e for e, n in zip(expected, needed, strict=True) if n]
        for a, e in zip(found, wanted, strict=True):
            close(a, e, 1e-5)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("algorithm", kernels.ALGORITHMS)
@pytest.mark.parametrize(("x", "w", "strides", "padding"), BIASED[:3])
def test_convolution_with_pooling(algorithm, x, w, strides, padding, relu, thread_count):
    """One kernel (Winograd's) or two in sequence give the same bits."""
    kernels.set_conv_algorithm(algorithm)
    window = {"strides": strides, "padding": padding, "dilations": (1, 1), "groups": 1}
    x, w, b = np.tile(real(*x), (1, 3, 3, 1)), real(*w), real(w[-1])
    one = strides == (1, 1) and algorithm not in ("direct", "im2col")
    assert conv_pool.takes(x, w, **window) is one
    all_y = kernels.conv_bias(x, w, b, **window, relu=relu)
    expected, (cells,) = pool.max_pool(all_y, **conv_pool.PAIRS)
    y, (chosen,) = conv_pool.conv_max_pool(x, w, b, **window, relu=relu)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(chosen, cells)
    g = real(*y.shape)
    d = pool.cell_put(g, cells, sizes=all_y.shape[1:-1], **conv_pool.PAIRS)
    for needed in [(True, True, True), (False, True, False), (True, False, True)]:
        attrs = {**window, "relu": relu, "needed": needed}
        expected = kernels.conv_bias_back(d, x, w, all_y, **attrs)
        found = conv_pool.conv_max_pool_back(g, x, w, y, chosen, **attrs)
        for a, e in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("places", [(1, 6), (6, 1)])
@pytest.mark.parametrize("m", [2, 4])
def test_pooling_of_too_few_outputs_is_empty(places, m, numba_tier):
    x, w = real(2, *(n + 2 for n in places), 16), real(3, 3, 16, 16)
    behind = np.full(1000, 7, np.float32)
    out = behind[:0].reshape(2, places[0] // 2, places[1] // 2, 16)
    fast = tier.library("winograd")
    y, chosen = fast.conv(x, w, (0, 0), places, m, bias=real(16), pairs=True, out=out)
    assert y.size == chosen.size == 0
    assert (behind == 7).all()


def test_many_weights_give_the_same_bits_with_separate_passes(change):
    """Both gradients have the same bits, computed together or separately."""
    x, w, b = real(3, 9, 12, 32), real(3, 3, 32, 48), real(48)
    window = {"strides": (1, 1), "padding": "SAME", "dilations": (1, 1), "groups": 1}
    y, (chosen,) = conv_pool.conv_max_pool(x, w, b, **window, relu=True)
    attrs = {**window, "relu": True, "needed": (True, True, True)}
    expected = conv_pool.conv_max_pool_back(y, x, w, y, chosen, **attrs)
    change(tier.library("winograd_back"), _APART=0)
    found = conv_pool.conv_max_pool_back(y, x, w, y, chosen, **attrs)
    for a, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize("algorithm", kernels.ALGORITHMS)
def test_sequences_and_volumes(algorithm):
    kernels.set_conv_algorithm(algorithm)
    x, w = real(3, 21, 5), real(4, 5, 7)
    all_three(x, w, 1e-5, strides=(2,), dilations=(1,), padding="SAME", groups=1)
    all_three(x, w, 1e-5, strides=(1,), dilations=(3,), padding=((9, 0),), groups=1)
    x, w = real(2, 4, 5, 6, 3), real(2, 3, 2, 3, 4)
    all_three(x, w, 1e-5, strides=(1, 2, 1), dilations=(1,) * 3, padding="SAME", groups=1)


@pytest.mark.parametrize("algorithm", ["auto", "im2col"])
@pytest.mark.parametrize(
    ("x", "w", "strides", "dilations", "padding"),
    [
        # strides and dilations at once, three axes, runs longer than a block of windows
        ((3, 11, 12, 5), (3, 2, 5, 9), (2, 3), (2, 2), "SAME"),
        ((2, 5, 6, 7, 4), (3, 2, 3, 4, 6), (2, 1, 2), (1, 2, 1), "SAME"),
        ((2, 5, 4, 6, 3), (2, 2, 2, 3, 2), (1, 1, 1), (1, 1, 1), ((1, 0), (0, 1), (1, 1))),
        ((1, 6, 7, 300), (3, 3, 300, 34), (2, 2), (1, 1), "SAME"),
        ((1, 4, 5, 700), (2, 3, 700, 3), (1, 2), (1, 1), "SAME"),
        # few filters use the opposite convolution, unless the padding is larger than the window
        ((3, 9, 40, 24), (3, 3, 24, 1), (1, 1), (1, 1), "SAME"),
        ((3, 9, 10, 24), (3, 2, 24, 3), (1, 1), (2, 3), ((4, 0), (1, 3))),
        ((3, 9, 10, 24), (3, 2, 24, 3), (1, 1), (1, 1), ((3, 3), (1, 0))),
        # many images at a time, places in several blocks, the last of them short
        ((37, 3, 3, 8), (2, 2, 8, 40), (2, 2), (1, 1), "SAME"),
        ((2, 31, 29, 7), (4, 5, 7, 33), (2, 2), (1, 1), "SAME"),
        ((3, 13, 17, 40), (1, 1, 40, 36), (1, 1), (1, 1), "SAME"),
        ((2, 1000, 6), (9, 6, 10), (4,), (1,), "SAME"),
    ],
)
def test_windows_as_rows(algorithm, x, w, strides, dilations, padding, thread_count):
    kernels.set_conv_algorithm(algorithm)
    window = {"strides": strides, "dilations": dilations, "padding": padding}
    all_three(real(*x), real(*w), 1e-5, **window, groups=1)


@pytest.mark.parametrize("algorithm", ["auto", "im2col"])
def test_few_filters_with_bias_and_gate(algorithm):
    kernels.set_conv_algorithm(algorithm)
    window = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
    x, w, b = real(4, 12, 13, 24), real(3, 3, 24, 2), real(2)
    y = kernels.conv_bias(x, w, b, **window, relu=True)
    plain = im2col.conv(x.astype("f8"), w.astype("f8"), **window) + b
    close(y, np.maximum(plain, 0), 1e-5)
    g = real(*y.shape)
    d = (g * (y > 0)).astype("f8")
    found = kernels.conv_bias_back(g, x, w, y, **window, relu=True, needed=(True,) * 3)
    close(found[0], im2col.conv_input(d, w.astype("f8"), sizes=(12, 13), **window), 1e-5)
    close(found[1], im2col.conv_kernel(x.astype("f8"), d, size=(3, 3), **window)[0], 1e-5)
    close(found[2], d.sum((0, 1, 2)), 1e-5)


@pytest.mark.parametrize("algorithm", kernels.ALGORITHMS)
def test_groups_and_other_dtypes_use_numpy(algorithm):
    kernels.set_conv_algorithm(algorithm)
    once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME"}
    all_three(real(2, 8, 8, 4), real(3, 3, 2, 6), 1e-5, **once, groups=2)
    x, w = real(2, 8, 8, 16).astype("f8"), real(3, 3, 16, 16).astype("f8")
    expected = im2col.conv(x, w, **once, groups=1)
    np.testing.assert_array_equal(kernels.conv(x, w, **once, groups=1), expected)


def test_the_fastest_algorithm_is_chosen(change):
    once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
    called = []
    direct, winograd, columns = map(tier.library, ("conv", "winograd", "im2col"))
    for module in (direct, winograd, columns):
        whole = module.conv

        def conv(*args, whole=whole, module=module, **kwargs):
            called.append(module)
            return whole(*args, **kwargs)

        change(module, conv=conv)
    kernels.conv(real(1, 3, 3, 1), real(3, 3, 1, 2), **once)
    assert called == []
    kernels.conv(real(8, 16, 16, 16), real(3, 3, 16, 32), **once)
    kernels.conv(real(8, 8, 32, 32), real(5, 5, 32, 32), **once)
    kernels.conv(real(8, 8, 32, 3), real(3, 3, 3, 32), **once)
    assert called == [winograd, direct, direct]
    called.clear()
    kernels.conv(real(8, 8, 32, 64), real(3, 3, 64, 3), **once)
    kernels.conv(real(8, 16, 16, 16), real(5, 5, 16, 32), **once)
    kernels.conv(real(8, 16, 32, 32), real(3, 3, 32, 32), **once | {"strides": (1, 2)})
    kernels.conv(real(64, 1, 1, 64), real(3, 3, 64, 64), **once)
    kernels.conv(real(8, 8, 32, 64), real(1, 1, 64, 64), **once)
    kernels.conv(real(2, 4, 4, 32, 8), real(3, 3, 3, 8, 8), **once | {
        "strides": (1,) * 3, "dilations": (1,) * 3})  # fmt: skip
    assert called == [columns] * 6


@pytest.mark.parametrize("algorithm", kernels.ALGORITHMS)
def test_inputs_are_not_changed_and_results_are_not_reused(algorithm):
    kernels.set_conv_algorithm(algorithm)
    once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
    x, w = real(4, 9, 9, 16), real(3, 3, 16, 16)
    x_before, w_before = x.copy(), w.copy()
    y = kernels.conv(x, w, **once)
    dx = kernels.conv_input(y, w, sizes=(9, 9), **once)
    dw = kernels.conv_kernel(x, y, size=(3, 3), **once)
    kept = [a.copy() for a in (y, dx, dw)]
    other = real(4, 9, 9, 16)
    kernels.conv(other, w, **once)
    kernels.conv_input(other, w, sizes=(9, 9), **once)
    kernels.conv_kernel(other, other, size=(3, 3), **once)
    for a, b in zip((x, w, y, dx, dw), (x_before, w_before, *kept), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("algorithm", ["direct", "winograd2", "winograd4", "im2col"])
def test_arrays_of_any_layout(algorithm):
    kernels.set_conv_algorithm(algorithm)
    once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
    x, w = real(2, 16, 8, 8), real(16, 16, 3, 3)
    turned, weights = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)
    weights.flags.writeable = False
    all_three(turned, weights, 1e-5, **once)
    g = np.broadcast_to(np.float32(1), (2, 8, 8, 16))
    expected = im2col.conv_kernel(turned, g, size=(3, 3), **once)[0]
    close(kernels.conv_kernel(turned, g, size=(3, 3), **once), expected, 1e-5)


@pytest.mark.parametrize("algorithm", ["direct", "winograd4", "im2col"])
def test_nan_and_infinity_propagate(algorithm):
    kernels.set_conv_algorithm(algorithm)
    once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
    x, w = real(1, 9, 9, 16), real(3, 3, 16, 16)
    x[0, 4, 4, 2] = np.nan
    y = kernels.conv(x, w, **once)
    assert np.isnan(y[0, 3:6, 3:6]).all()
    assert np.isfinite(kernels.conv(real(1, 9, 9, 16), w, **once)).all()  # scratch is clean again


def test_empty_batches():
    for algorithm in kernels.ALGORITHMS:
        kernels.set_conv_algorithm(algorithm)
        x, w = np.empty((0, 8, 8, 16), np.float32), real(3, 3, 16, 16)
        once = {"strides": (1, 1), "dilations": (1, 1), "padding": "SAME", "groups": 1}
        assert kernels.conv(x, w, **once).shape == (0, 8, 8, 16)
        assert kernels.conv_input(x, w, sizes=(8, 8), **once).shape == (0, 8, 8, 16)
        assert not kernels.conv_kernel(x, x, size=(3, 3), **once).any()


def test_an_unknown_algorithm():
    with pytest.raises(InvalidArgumentError, match="winograd4"):
        kernels.set_conv_algorithm("winograd")


@pytest.mark.parametrize("algorithm", ["im2col", "winograd2", "winograd4"])
def test_twelve_steps_of_training_stay_near_direct_ones(algorithm):
    """A small version of benchmarks/conv_accuracy.py."""

    def losses(algorithm):
        kernels.set_conv_algorithm(algorithm)
        keras.utils.set_random_seed(1)
        layers, data = keras.layers, np.random.default_rng(1)
        model = keras.Sequential([layers.Input((14, 14, 3))])
        for filters in (16, 32):
            for _ in range(2):
                model.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
            model.add(layers.MaxPooling2D(2))
        model.add(layers.Flatten())
        model.add(layers.Dense(10))
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        step = model.training_step(loss=loss, optimizer=keras.optimizers.Adam(1e-3))
        batches = [(data.random((16, 14, 14, 3)), data.integers(0, 10, 16)) for _ in range(12)]
        return [float(step(x, y)) for x, y in batches]

    np.testing.assert_allclose(losses(algorithm), losses("direct"), rtol=2e-4)


def test_pooling_of_one_row_of_outputs():
    """One row of outputs has no 2 × 2 windows: nothing is written."""
    x, w = real(2, 3, 8, 16), real(3, 3, 16, 16)
    y, chosen = tier.library("winograd").conv(x, w, (0, 0), (1, 6), 4, pairs=True)
    assert y.shape == chosen.shape == (2, 0, 3, 16)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spatial", [(1, 1), (3, 5), (4,), (2, 2, 2)])
@pytest.mark.parametrize(("channels", "filters"), [(5, 3), (96, 4), (40, 960)])
def test_few_pixels_are_a_product(channels, filters, spatial, dtype, backend):
    tier.set_tier(backend)
    x, w = real(6, *spatial, channels).astype(dtype), real(channels, filters).astype(dtype)
    b, kernel = real(filters).astype(dtype), w.reshape(*(1 for _ in spatial), channels, filters)
    one = (1,) * len(spatial)
    window = {"strides": one, "padding": "SAME", "dilations": one, "groups": 1}
    out = np.empty((6, *spatial, filters), dtype)
    y = kernels.conv_bias(x, kernel, b, **window, relu=True, out=out)
    wide = x.astype("f8").reshape(-1, channels)
    expected = np.maximum(wide @ w + b, 0)
    assert y.shape == out.shape
    assert np.shares_memory(y, out)
    np.testing.assert_allclose(y.reshape(-1, filters), expected, 1e-5, 1e-5)
    g = real(*y.shape).astype(dtype)
    gated = (g * (y > 0)).reshape(-1, filters)
    by_x, by_w, by_b = kernels.conv_bias_back(
        g, x, kernel, y, **window, relu=True, needed=(True, True, True)
    )
    assert by_x.dtype == by_w.dtype == by_b.dtype == dtype
    assert (by_x.shape, by_w.shape) == (x.shape, kernel.shape)
    tolerance = {"rtol": 1e-4, "atol": 1e-4}
    np.testing.assert_allclose(by_x.reshape(wide.shape), gated @ w.T, **tolerance)
    np.testing.assert_allclose(by_w.reshape(w.shape), wide.T @ gated, **tolerance)
    np.testing.assert_allclose(by_b, gated.sum(0), **tolerance)


def test_a_product_is_for_windows_of_one_pixel_without_padding():
    x, w = real(2, 4, 4, 3), real(1, 1, 3, 5)
    plain = {"strides": (1, 1), "dilations": (1, 1), "groups": 1}
    for window in (
        {**plain, "padding": ((1, 0), (0, 2))},
        {**plain, "padding": "SAME", "strides": (2, 2)},
    ):
        all_three(x, w, 1e-5, **window)
