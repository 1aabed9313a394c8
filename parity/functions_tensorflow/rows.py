"""Further calls, beside those of tests/surface; and functions that are not compared, and why."""

import numpy as np

words = str.split

NOT_COMPARED = {
    **dict.fromkeys(
        words("""
        random.normal random_normal_initializer image.random_brightness image.random_contrast
        image.random_crop image.random_flip_left_right image.random_flip_up_down image.random_hue
        image.random_jpeg_quality image.random_saturation image.stateless_random_brightness
        image.stateless_random_contrast image.stateless_random_crop
        image.stateless_random_flip_left_right image.stateless_random_flip_up_down
        image.stateless_random_hue image.stateless_random_jpeg_quality
        image.stateless_random_saturation image.sample_distorted_bounding_box
        image.stateless_sample_distorted_bounding_box nn.dropout
        nn.fixed_unigram_candidate_sampler nn.learned_unigram_candidate_sampler
    """),
        "draws other random numbers",
    ),
    **dict.fromkeys(
        words("""
        device executing_eagerly enable_eager_execution lin_space show_config print function
        custom_gradient grad_pass_through recompute_grad gradients hessians init_scope py_function
        numpy_function vectorized_map
    """),
        "takes or gives no tensors",
    ),
}

_X = np.linspace(-2, 2, 12).reshape(3, 4)
CALLS = {}
