"""Calls of tf.nn's convolutions and poolings; `run(tf)` gives what is compared with TensorFlow.

What is compared: the result's shape, and the sums of the result and of the gradients, each element
weighted by a number of its own, so that no two can be exchanged unnoticed.
"""

import numpy as np


def numbers(*shape):
    """Fixed, distinct, without symmetry."""
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 1.7 + 0.3 * n) + np.arange(n) % 7 * 0.1).reshape(shape)


def weighted(x):
    x = np.asarray(x, np.float64)
    return float(np.sum(x * np.cos(np.arange(x.size) * 0.9 + 0.1).reshape(x.shape)))


class Case:
    """A function of tf.nn, the shapes of its tensors, and the arguments after them."""

    def __init__(self, name, *shapes, dtype="float64", gradients=True, **arguments):
        self.name, self.shapes, self.arguments = name, shapes, arguments
        self.dtype, self.gradients = dtype, gradients

    def run(self, tf):
        """(shape, weighted sum, a weighted sum for each gradient)."""
        inputs = [tf.constant(numbers(*s), self.dtype) for s in self.shapes]
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = getattr(tf.nn, self.name)(*inputs, **self.arguments)
            y = y[0] if isinstance(y, tuple) else y
        if not self.gradients:  # where TensorFlow has none without a GPU
            return tuple(y.shape), weighted(y)
        seed = np.cos(np.arange(int(np.prod(y.shape))) * 1.3).reshape(y.shape)
        grads = tape.gradient(y, inputs, output_gradients=tf.constant(seed, self.dtype))
        return tuple(y.shape), weighted(y), *map(weighted, grads)


IMAGE, FILTERS = (2, 5, 6, 2), (3, 2, 2, 3)
EXPLICIT = [[0, 0], [1, 0], [2, 1], [0, 0]]

CASES = {
    "conv1d": Case("conv1d", (2, 7, 3), (3, 3, 2), stride=2, padding="SAME"),
    "conv1d dilated": Case("conv1d", (2, 7, 3), (3, 3, 2), stride=1, padding="VALID", dilations=2,
                           gradients=False),
    "conv1d batches": Case("conv1d", (2, 2, 7, 3), (3, 3, 2), stride=1, padding="SAME"),
    "conv2d": Case("conv2d", IMAGE, FILTERS, strides=1, padding="VALID"),
    "conv2d same": Case("conv2d", IMAGE, FILTERS, strides=[1, 2, 1, 1], padding="SAME"),
    "conv2d explicit": Case("conv2d", IMAGE, FILTERS, strides=[2, 1], padding=EXPLICIT),
    "conv2d dilated": Case("conv2d", IMAGE, FILTERS, strides=1, padding="SAME", dilations=[2, 1],
                           gradients=False),
    "conv2d even": Case("conv2d", IMAGE, (2, 4, 2, 1), strides=3, padding="SAME"),
    "conv2d batches": Case("conv2d", (2, 1, 5, 6, 2), FILTERS, strides=1, padding="SAME"),
    "conv3d": Case("conv3d", (1, 4, 3, 5, 2), (2, 3, 2, 2, 2), strides=[1, 2, 1, 2, 1],
                   padding="SAME"),
    "conv3d valid": Case("conv3d", (1, 4, 3, 5, 2), (2, 3, 2, 2, 2), strides=[1] * 5,
                         padding="VALID"),
    "convolution": Case("convolution", IMAGE, FILTERS, strides=[1, 2], padding="SAME"),
    "convolution plain": Case("convolution", (2, 7, 3), (3, 3, 2)),
    "conv1d_transpose": Case("conv1d_transpose", (2, 4, 2), (3, 3, 2), output_shape=[2, 7, 3],
                             strides=2),
    "conv2d_transpose": Case("conv2d_transpose", (2, 3, 3, 3), FILTERS, output_shape=IMAGE,
                             strides=2),
    "conv2d_transpose valid": Case("conv2d_transpose", (2, 2, 3, 3), FILTERS,
                                   output_shape=[2, 5, 6, 2], strides=2, padding="VALID"),
    "conv3d_transpose": Case("conv3d_transpose", (1, 4, 2, 3, 2), (2, 3, 2, 2, 2),
                             output_shape=[1, 4, 3, 5, 2], strides=[1, 1, 2, 2, 1]),
    "depthwise_conv2d": Case("depthwise_conv2d", IMAGE, FILTERS, strides=[1, 1, 1, 1],
                             padding="SAME"),
    "depthwise_conv2d strides": Case("depthwise_conv2d", IMAGE, FILTERS, strides=[1, 2, 2, 1],
                                     padding="VALID"),
    "depthwise_conv2d dilated": Case("depthwise_conv2d", IMAGE, FILTERS, strides=[1, 1, 1, 1],
                                     padding="SAME", dilations=[2, 2]),
    "separable_conv2d": Case("separable_conv2d", IMAGE, FILTERS, (1, 1, 6, 2),
                             strides=[1, 2, 2, 1], padding="SAME"),
    "max_pool": Case("max_pool", IMAGE, ksize=2, strides=2, padding="SAME"),
    "max_pool explicit": Case("max_pool", IMAGE, ksize=[1, 3, 3, 1], strides=[2, 1],
                              padding=EXPLICIT),
    "max_pool1d": Case("max_pool1d", (2, 7, 3), ksize=3, strides=2, padding="SAME"),
    "max_pool2d": Case("max_pool2d", IMAGE, ksize=(3, 2), strides=(1, 2), padding="VALID"),
    "max_pool3d": Case("max_pool3d", (1, 4, 3, 5, 2), ksize=2, strides=2, padding="SAME",
                       dtype="float32"),
    "max_pool_with_argmax": Case("max_pool_with_argmax", IMAGE, ksize=2, strides=1,
                                 padding="VALID"),
    "avg_pool": Case("avg_pool", IMAGE, ksize=3, strides=2, padding="SAME"),
    "avg_pool1d": Case("avg_pool1d", (2, 7, 3), ksize=4, strides=2, padding="SAME"),
    "avg_pool2d": Case("avg_pool2d", IMAGE, ksize=(3, 2), strides=(1, 2), padding="VALID"),
    "avg_pool3d": Case("avg_pool3d", (1, 4, 3, 5, 2), ksize=3, strides=2, padding="SAME",
                       dtype="float32"),
    "pool": Case("pool", IMAGE, window_shape=[2, 3], pooling_type="MAX", strides=[2, 1]),
    "pool avg": Case("pool", IMAGE, window_shape=[2, 3], pooling_type="AVG", strides=[2, 1],
                     padding="SAME"),
    "pool dilated": Case("pool", IMAGE, window_shape=[2, 2], pooling_type="MAX",
                         dilations=[2, 1]),
    "pool dilated avg": Case("pool", IMAGE, window_shape=[2, 2], pooling_type="AVG",
                             dilations=[2, 3]),
    "space_to_depth": Case("space_to_depth", (2, 4, 6, 3), block_size=2),
    "depth_to_space": Case("depth_to_space", (2, 2, 3, 12), block_size=2),
    "space_to_batch": Case("space_to_batch", (2, 4, 5, 3), block_shape=[2, 3],
                           paddings=[[0, 0], [1, 0]]),
    "space_to_batch 1": Case("space_to_batch", (2, 4, 5, 3), block_shape=[2], paddings=[[1, 1]]),
}  # fmt: skip
