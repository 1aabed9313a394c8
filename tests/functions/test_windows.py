"""tf.nn's convolutions and poolings against TensorFlow 2.21's numbers, gradients included."""

import numpy as np
import pytest

import framework as tf
from tests.samples.windows import CASES, EXPLICIT, numbers

# name: shape of the result, weighted sums of the result and of its gradients
EXPECTED = {
    "conv1d": ((2, 4, 2), 0.848948044534, -1.07096475637, 10.7098357584),
    "conv1d dilated": ((2, 3, 2), -3.96222460192),
    "conv1d batches": ((2, 2, 7, 2), -5.85333497639, 0.274654945153, 4.99889038555),
    "conv2d": ((2, 3, 5, 3), -25.2811486292, 34.8749863753, -17.7609453351),
    "conv2d same": ((2, 3, 6, 3), -3.50993101224, -26.8202490917, 3.07930672968),
    "conv2d explicit": ((2, 2, 8, 3), -27.7822191067, 0.829800656235, -0.60372320466),
    "conv2d dilated": ((2, 5, 6, 3), 37.6788095777),
    "conv2d even": ((2, 2, 2, 1), 10.9238380908, 1.11812658725, 0.110753590232),
    "conv2d batches": ((2, 1, 5, 6, 3), -16.1733105548, -33.0495574268, 3.8715605555),
    "conv3d": ((1, 2, 3, 3, 2), 3.24104011187, 5.49457023732, 0.203601912946),
    "conv3d valid": ((1, 3, 1, 4, 2), 3.14900455853, 0.599561867126, 5.36648524847),
    "convolution": ((2, 5, 3, 3), 11.2017894502, -61.1120624253, 0.311233507818),
    "convolution plain": ((2, 5, 2), -6.0097314588, 0.36189197176, -3.5141444095),
    "conv1d_transpose": ((2, 7, 3), -2.71762092091, 0.881797438986, -0.391141311466),
    "conv2d_transpose": ((2, 5, 6, 2), -6.58466233077, 2.34008742911, -1.63717164104),
    "conv2d_transpose valid": ((2, 5, 6, 2), -39.1541990414, 2.83610017152, -0.367324529881),
    "conv3d_transpose": ((1, 4, 3, 5, 2), 3.50560170388, -41.3134544784, 9.49821389908),
    "depthwise_conv2d": ((2, 5, 6, 6), 13.648247927, -1.65149339525, -0.587489970575),
    "depthwise_conv2d strides": ((2, 2, 3, 6), 24.658989882, 8.93140971738, -1.88418667499),
    "depthwise_conv2d dilated": ((2, 5, 6, 6), 7.78639231185, 14.6743300003, 7.41733132087),
    "separable_conv2d": ((2, 3, 3, 2), 2.49736230514, 15.3641878335, 0.0277980192358,
                         1.08893652533),
    "max_pool": ((2, 3, 3, 2), 1.59724300474, -3.01886647626),
    "max_pool explicit": ((2, 2, 7, 2), -1.39271313665, -1.42748517299),
    "max_pool1d": ((2, 4, 3), -0.732926498257, 4.30021614717),
    "max_pool2d": ((2, 3, 3, 2), 1.72987775781, -1.3847070798),
    "max_pool3d": ((1, 2, 2, 3, 2), 4.27741411691, 3.94630856894),
    "max_pool_with_argmax": ((2, 4, 5, 2), 0.824391941963, -0.157756466602),
    "avg_pool": ((2, 3, 3, 2), -0.208525587341, 0.799617370998),
    "avg_pool1d": ((2, 4, 3), -1.32603250799, -0.0109113497862),
    "avg_pool2d": ((2, 3, 3, 2), 0.156403784829, 0.698005213118),
    "avg_pool3d": ((1, 2, 2, 3, 2), 0.3502319246, -0.123142344534),
    "pool": ((2, 2, 4, 2), -0.00175879359082, 2.73481066054),
    "pool avg": ((2, 3, 6, 2), 0.525377689884, 1.78630271453),
    "pool dilated": ((2, 3, 5, 2), -0.138585377993, -3.62503014684),
    "pool dilated avg": ((2, 3, 3, 2), 0.0897484532045, 0.697387644039),
    "space_to_depth": ((2, 2, 3, 12), -1.85493882826, 0.57998412788),
    "depth_to_space": ((2, 4, 6, 3), -2.37283968712, 2.32189087614),
    "space_to_batch": ((12, 2, 2, 3), 1.60356964054, -6.04991021315),
    "space_to_batch 1": ((4, 3, 5, 3), -11.7183166603, 0.372497451629),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_tensorflows(name):
    shape, *sums = CASES[name].run(tf)
    expected_shape, *expected = EXPECTED[name]
    assert shape == expected_shape
    close = {"rtol": 1e-9} if CASES[name].dtype == "float64" else {"rtol": 1e-5}
    np.testing.assert_allclose(sums, expected, **close)


# ---- channels first ------------------------------------------------------------------------------


def to_first(x):
    return np.moveaxis(x, -1, 1)


FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
NUMBERED = {
    name: case
    for name, case in CASES.items()
    if "data_format" not in case.arguments and "batches" not in name
    and case.name not in ("max_pool_with_argmax", "space_to_batch")
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERED)
def test_channels_first_is_the_same_with_axes_moved(name):
    case = CASES[name]
    x, *rest = (numbers(*shape) for shape in case.shapes)
    n = x.ndim - 2
    moved = dict(case.arguments, data_format=FIRST[n])
    for key in ("strides", "dilations", "padding", "output_shape", "ksize"):
        value = moved.get(key)
        if isinstance(value, (list, tuple)) and len(value) == n + 2:
            moved[key] = [value[0], value[-1], *value[1:-1]]
    function = getattr(tf.nn, case.name)
    expected = function(x, *rest, **case.arguments)
    found = function(to_first(x), *rest, **moved)
    np.testing.assert_allclose(found.numpy(), to_first(expected.numpy()), rtol=1e-12)


# ---- what else they take -------------------------------------------------------------------------


def test_filters_with_fewer_channels_see_groups():
    x, w = numbers(2, 4, 4, 6), numbers(2, 2, 3, 4)
    found = tf.nn.conv2d(x, w, 1, "VALID").numpy()
    halves = [tf.nn.conv2d(x[..., 3 * i : 3 * i + 3], w[..., 2 * i : 2 * i + 2], 1, "VALID")
              for i in (0, 1)]  # fmt: skip
    np.testing.assert_allclose(found, np.concatenate(halves, -1), rtol=1e-12)


def test_dilated_filters_are_filters_with_holes():
    x, w = numbers(2, 7, 8, 2), numbers(3, 2, 2, 3)
    holes = np.zeros((5, 4, 2, 3))
    holes[::2, ::3] = w
    for padding in ("SAME", "VALID"):
        dilated = tf.nn.conv2d(x, w, 2, padding, dilations=(2, 3))
        np.testing.assert_allclose(
            dilated.numpy(), tf.nn.conv2d(x, holes, 2, padding).numpy(), rtol=1e-12
        )


def test_numbers_stay_in_their_dtype():
    x = np.ones((1, 5, 5, 2))
    for dtype in (tf.float16, tf.float32, tf.float64, tf.int32):
        y = tf.nn.conv2d(tf.cast(x, dtype), tf.ones([3, 3, 2, 3], dtype), 1, "SAME")
        assert y.dtype == dtype
        assert y.numpy()[0, 0, 0].tolist() == [8, 8, 8]
        assert tf.nn.max_pool2d(tf.cast(x, dtype), 2, 2, "SAME").dtype == dtype
    assert tf.nn.avg_pool2d(tf.cast(x, tf.float16), 2, 2, "SAME").dtype == tf.float16


def test_output_shape_may_be_spatial_sizes_or_a_tensor():
    x, w = numbers(2, 3, 3, 3), numbers(3, 2, 2, 3)
    expected = tf.nn.conv2d_transpose(x, w, [2, 5, 6, 2], 2).numpy()
    for shape in ((5, 6), tf.constant([2, 5, 6, 2])):
        np.testing.assert_array_equal(tf.nn.conv2d_transpose(x, w, shape, 2).numpy(), expected)


def test_positions_of_the_largest():
    x = np.float32(numbers(2, 4, 6, 3))
    y, at = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")
    assert at.dtype == tf.int64
    for image in (0, 1):
        np.testing.assert_array_equal(x[image].ravel()[at.numpy()[image]], y.numpy()[image])
    y, at = tf.nn.max_pool_with_argmax(
        x, 3, 2, "VALID", output_dtype=tf.int32, include_batch_in_index=True
    )
    assert at.dtype == tf.int32
    np.testing.assert_array_equal(x.ravel()[at.numpy()], y.numpy())


def test_of_equal_cells_the_first_gets_the_gradient():
    x = tf.Variable(np.zeros((1, 4, 4, 1)))
    with tf.GradientTape() as tape:
        y = tf.nn.max_pool2d(x, 2, 2, "VALID")
    expected = np.zeros((4, 4))
    expected[::2, ::2] = 1
    np.testing.assert_array_equal(tape.gradient(y, x).numpy()[0, :, :, 0], expected)


def test_a_mean_does_not_count_padding():
    y = tf.nn.avg_pool2d(tf.ones([1, 3, 3, 1]), 2, 2, "SAME")
    np.testing.assert_array_equal(y.numpy(), np.ones((1, 2, 2, 1)))
    padded = tf.nn.avg_pool2d(tf.ones([1, 3, 3, 1]), 3, 2, [[0, 0], [1, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(padded.numpy(), np.ones((1, 1, 1, 1)))


def test_infinities_in_the_largest():
    x = np.full((1, 3, 3, 1), -np.inf)
    y, at = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")
    assert np.all(y.numpy() == -np.inf)
    assert at.numpy().ravel().tolist() == [0, 2, 6, 8]


def test_blocks_come_back():
    x = numbers(2, 4, 6, 3)
    np.testing.assert_array_equal(tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2), 2).numpy(), x)


Y, W = np.ones((1, 4, 4, 2), np.float32), np.ones((3, 3, 2, 5), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: tf.nn.conv2d(Y, W, 1, "FULL"), ValueError, "'SAME', 'VALID' or 4 pairs.*'FULL'"),
        (lambda: tf.nn.conv2d(Y, W, 1, EXPLICIT[:3]), ValueError, "conv2d: `padding` must be"),
        (lambda: tf.nn.conv2d(Y, W, [2, 1, 1, 1], "SAME"), ValueError,
         "`strides` must be 1 for the batch and the channels"),
        (lambda: tf.nn.conv2d(Y, W, 0, "SAME"), ValueError, "`strides` must be an int, or 1, 2 or"),
        (lambda: tf.nn.conv2d(Y, W[..., :1, :], 1, "SAME"), ValueError, "expect 1 input channels"),
        (lambda: tf.nn.conv2d(Y, np.ones((3, 3, 3, 5), "f4"), 1, "SAME"), ValueError,
         "expect 3 input channels.*the input has 2"),
        (lambda: tf.nn.conv2d(Y, W[0], 1, "SAME"), ValueError, "`filters` must have 4 axes"),
        (lambda: tf.nn.conv2d(Y[0], W, 1, "SAME"), ValueError, r"\(batch, 2 spatial axes"),
        (lambda: tf.nn.conv2d(Y[:, :2], W, 1, "VALID"), ValueError,
         "extent 3 does not fit into spatial axis 0 of size 2"),
        (lambda: tf.nn.conv2d(Y, W, 1, "SAME", data_format="NCW"), ValueError, "NHWC.*'NCW'"),
        (lambda: tf.nn.conv2d(tf.constant(Y), tf.constant(W, tf.float64), 1, "SAME"), TypeError,
         "float32 and float64"),
        (lambda: tf.nn.convolution(Y, W[0, 0]), ValueError, "one to three sizes"),
        (lambda: tf.nn.depthwise_conv2d(Y[..., :1], W, 1, "SAME"), ValueError, "for 2 channels"),
        (lambda: tf.nn.separable_conv2d(Y, W, W, 1, "SAME"), ValueError, r"\(1, 1, channels, out"),
        (lambda: tf.nn.conv2d_transpose(Y, W, [1, 8, 8, 2], 2), ValueError, "expect 5 channels"),
        (lambda: tf.nn.conv2d_transpose(np.ones((1, 4, 4, 5), "f4"), W, [1, 9, 8, 2], 2),
         ValueError, r"to spatial sizes \(5, 4\), but the input has \(4, 4\)"),
        (lambda: tf.nn.conv2d_transpose(np.ones((1, 4, 4, 5), "f4"), W, [8], 2), ValueError,
         "2 spatial sizes, or all 4 with the 2 output channels"),
        (lambda: tf.nn.max_pool2d(Y, 2, 2, [[0, 0], [2, 0], [0, 0], [0, 0]]), ValueError,
         "smaller than the window"),
        (lambda: tf.nn.max_pool1d(Y, 2, 2, "SAME"), ValueError, r"\(batch, 1 spatial axes"),
        (lambda: tf.nn.avg_pool([1.0, 2.0], 2, 2, "SAME"), ValueError, "one to three spatial"),
        (lambda: tf.nn.pool(Y, [2, 2], "SUM"), ValueError, "must be 'MAX' or 'AVG', got 'SUM'"),
        (lambda: tf.nn.max_pool_with_argmax(Y, 2, 2, "SAME", "NCHW"), ValueError, "'NHWC'"),
        (lambda: tf.nn.space_to_depth(Y, 3), ValueError, "block_size=3 does not divide height 4"),
        (lambda: tf.nn.space_to_depth(Y, 1), ValueError, "at least 2"),
        (lambda: tf.nn.space_to_depth(Y[0], 2), ValueError, "height, width, channels"),
        (lambda: tf.nn.depth_to_space(Y, 2), ValueError, "multiple of block_size² = 4, got 2"),
        (lambda: tf.nn.space_to_batch(Y, [3], [[0, 0]]), ValueError, "does not divide the padded"),
        (lambda: tf.nn.space_to_batch(Y, [2, 2], [[0, 0]]), ValueError, "expected 2 spatial axes"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()
