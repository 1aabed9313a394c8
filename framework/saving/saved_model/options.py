"""Options and constants of `tf.saved_model`."""

from typing import Any

ASSETS_DIRECTORY = "assets"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
PREDICT_INPUTS, PREDICT_OUTPUTS = "inputs", "outputs"
SERVING, TRAINING = "serve", "train"


class SaveOptions:
    """Options of `saved_model.save`, accepted without effect: there is one device and one format.

    >>> import framework as tf
    >>> tf.saved_model.SaveOptions(experimental_custom_gradients=False).experimental_io_device
    """

    def __init__(
        self, namespace_whitelist: Any = None, save_debug_info: bool = False,
        function_aliases: Any = None, experimental_debug_stripper: bool = False,
        experimental_io_device: Any = None, experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True, experimental_image_format: bool = False,
        experimental_skip_saver: bool = False, experimental_sharding_callback: Any = None,
        extra_tags: Any = None,
    ):  # fmt: skip
        given = dict(locals())
        self.__dict__.update({name: v for name, v in given.items() if name != "self"})


class LoadOptions:
    """Options of `saved_model.load`, accepted without effect.

    >>> import framework as tf
    >>> tf.saved_model.LoadOptions().allow_partial_checkpoint
    False
    """

    def __init__(
        self, allow_partial_checkpoint: bool = False, experimental_io_device: Any = None,
        experimental_skip_checkpoint: bool = False, experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ):  # fmt: skip
        given = dict(locals())
        self.__dict__.update({name: v for name, v in given.items() if name != "self"})
