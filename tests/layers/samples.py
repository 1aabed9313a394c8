"""For every built-in layer: constructor arguments and inputs, away from kinks and ties."""

import numpy as np

_rng = np.random.default_rng(7)


def real(*shape):
    """Distinct numbers, none nearer to zero than 0.1."""
    n = int(np.prod(shape))
    values = _rng.permutation(np.linspace(-2, 2, n)).reshape(shape)
    return values + np.where(values < 0, -0.1, 0.1)


SAMPLES = {
    "Dense": [
        (dict(units=3, activation="tanh", bias_initializer="random_normal"), real(4, 5)),
        (dict(units=2, use_bias=False, kernel_regularizer="l2"), real(2, 3, 2, 4)),
        (dict(units=2, kernel_constraint="non_neg", bias_regularizer="l1"), real(2, 3, 4)),
    ],
    "Activation": [(dict(activation="silu"), real(2, 3))],
    "ReLU": [
        (dict(), real(2, 3)),
        (dict(max_value=1.05, negative_slope=0.2, threshold=0.3), real(3, 4)),
    ],
    "LeakyReLU": [(dict(negative_slope=0.2), real(2, 3))],
    "ELU": [(dict(alpha=0.7), real(2, 3))],
    "Softmax": [(dict(), real(2, 3)), (dict(axis=(1, 2)), real(2, 3, 4))],
    "Dropout": [(dict(rate=0.4, seed=3), real(2, 3)), (dict(rate=0.0), real(2, 3))],
    "Flatten": [
        (dict(), real(2, 3, 4)),
        (dict(), real(2)),
        (dict(data_format="channels_first"), real(2, 3, 4)),
    ],
    "Reshape": [(dict(target_shape=(4, 3)), real(2, 12)), (dict(target_shape=(-1, 2)), real(2, 8))],
    "Permute": [(dict(dims=(3, 1, 2)), real(2, 3, 4, 5))],
    "RepeatVector": [(dict(n=3), real(2, 4))],
    "Rescaling": [(dict(scale=2.0, offset=-1.0), real(2, 3)), (dict(scale=[1.0, 3.0]), real(3, 2))],
    "Identity": [(dict(), real(2, 3))],
    "Lambda": [(dict(function=np.tanh), real(2, 3))],
    "Add": [(dict(), [real(2, 3), real(2, 3), real(2, 3)]), (dict(), [real(2, 3), real(2, 4, 3)])],
    "Subtract": [(dict(), [real(2, 3), real(2, 1)])],
    "Multiply": [(dict(), [real(2, 3), real(2, 3)])],
    "Average": [(dict(), [real(2, 3), real(2, 3), real(2, 3)])],
    "Maximum": [(dict(), [real(2, 3), real(2, 3)])],
    "Minimum": [(dict(), [real(2, 3), real(2, 3)])],
    "Concatenate": [(dict(), [real(2, 3), real(2, 4)]), (dict(axis=1), [real(2, 3, 4), real(2, 1, 4)])],
}
