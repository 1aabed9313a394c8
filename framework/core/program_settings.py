"""Global settings, which programs read and set through `keras.config`."""

import os
from typing import Any

from framework.core.errors import InvalidArgumentError

DATA_FORMATS = ("channels_last", "channels_first")


def _limit(variable):
    """Return the limit in an environment variable, None if it is not set."""
    value = os.environ.get(variable)
    return int(value) if value else None


class _Settings:
    """The current values of the program's settings."""

    image_data_format = "channels_last"
    flash_attention = None
    interactive = True
    max_epochs = _limit("KERAS_MAX_EPOCHS")
    max_steps = _limit("KERAS_MAX_STEPS_PER_EPOCH")


def image_data_format() -> str:
    """Return the default of `data_format` arguments: "channels_last" or "channels_first".

    >>> image_data_format()
    'channels_last'
    """
    return _Settings.image_data_format


def set_image_data_format(data_format: Any) -> None:
    """Set the default of `data_format` arguments, for layers and calls from now on.

    Args:
        data_format: "channels_last" or "channels_first".

    Raises:
        ValueError: it is neither.
    """
    _Settings.image_data_format = data_format_of(str(data_format))


def data_format_of(value, what=""):
    """Return a `data_format` argument in lower case; the default if it is None."""
    if value is None:
        return _Settings.image_data_format
    found = str(value).lower()
    if found not in DATA_FORMATS:
        raise InvalidArgumentError(
            f"{what}The `data_format` argument must be one of 'channels_first', 'channels_last', "
            f"got {value!r}."
        )
    return found


def enable_flash_attention() -> None:
    """Allow flash attention. This is a hint, which does not change how attention is computed."""
    _Settings.flash_attention = None


def disable_flash_attention() -> None:
    """Forbid flash attention. This is a hint, which does not change how attention is computed."""
    _Settings.flash_attention = False


def is_flash_attention_enabled() -> Any:
    """Return False if flash attention was disabled; otherwise None, as Keras does."""
    return _Settings.flash_attention


def enable_interactive_logging() -> None:
    """Show progress and summaries on the standard output; this is the default."""
    _Settings.interactive = True


def disable_interactive_logging() -> None:
    """Send progress and summaries to the logger "framework", level INFO, a line at a time."""
    _Settings.interactive = False


def is_interactive_logging_enabled() -> bool:
    """Return whether progress and summaries go to the standard output.

    >>> is_interactive_logging_enabled()
    True
    """
    return _Settings.interactive


def print_message(text):
    """Print a text, or log it if interactive logging is disabled."""
    if _Settings.interactive:
        print(text, flush=True)
        return
    # The import is here because `import framework` does not need it.
    import logging

    logging.getLogger("framework").info("%s", text)


def max_epochs() -> Any:
    """Return the limit on the epochs of `fit`; None: no limit.

    The environment variable KERAS_MAX_EPOCHS sets it at the start.
    """
    return _Settings.max_epochs


def set_max_epochs(max_epochs: Any) -> None:
    """Limit the epochs of each call of `fit`, to try a program quickly; None: no limit."""
    _Settings.max_epochs = max_epochs


def max_steps_per_epoch() -> Any:
    """Return the limit on the steps of an epoch of `fit`, `evaluate` and `predict`, or None.

    The environment variable KERAS_MAX_STEPS_PER_EPOCH sets it at the start.
    """
    return _Settings.max_steps


def set_max_steps_per_epoch(max_steps_per_epoch: Any) -> None:
    """Limit the steps of each epoch of `fit`, `evaluate` and `predict`; None: no limit."""
    _Settings.max_steps = max_steps_per_epoch


def enable_unsafe_deserialization() -> None:
    """Do nothing: files are never allowed to run code, so there is no unsafe mode to enable."""
