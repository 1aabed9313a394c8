"""tf.random: draws from the global generator, from a Generator, or from a seed alone."""

from framework.functions.sampling import (
    Generator as Generator, categorical as categorical,
    get_global_generator as get_global_generator, normal as normal,
    set_global_generator as set_global_generator, set_seed as set_seed, shuffle as shuffle,
    stateless_categorical as stateless_categorical, stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform, truncated_normal as truncated_normal,
    uniform as uniform,
)  # fmt: skip
