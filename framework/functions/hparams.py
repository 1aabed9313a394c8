"""Hyperparameters of runs for TensorBoard's HParams page, without TensorFlow.

`HParam`, `Metric` and the domains are the classes of `tensorboard.plugins.hparams.summary_v2`,
which imports no TensorFlow; the functions that write are here, because TensorBoard's need
TensorFlow.
"""

import os
import time
from functools import partial
from typing import Any

from framework.core.errors import DTypeError
from framework.functions.summaries import write_raw_pb
from framework.training.callbacks.base import Callback
from framework.training.summaries.event_file import messages
from framework.training.summaries.writers import SummaryWriter, create_file_writer

_CLASSES = ("Discrete", "Domain", "HParam", "IntInterval", "Metric", "RealInterval")


def __getattr__(name):
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_plugin(), name)


def _plugin():
    return messages("plugins.hparams.summary_v2")


def hparams_pb(hparams: Any, trial_id: Any = None, start_time_secs: Any = None) -> Any:
    """Return the `Summary` message of the hyperparameters of one run; see `hparams`.

    >>> hparams_pb({"units": 16}).value[0].metadata.plugin_data.plugin_name
    'hparams'
    """
    return _plugin().hparams_pb(hparams, trial_id, start_time_secs)


def hparams_config_pb(hparams: Any, metrics: Any, time_created_secs: Any = None) -> Any:
    """Return the `Summary` message that describes an experiment; see `hparams_config`.

    >>> import framework as tf
    >>> hp = tf.summary.hparams
    >>> hparams_config_pb([hp.HParam("units")], []).value[0].tag
    '_hparams_/experiment'
    """
    return _plugin().hparams_config_pb(hparams, metrics, time_created_secs)


def hparams(hparams: Any, trial_id: Any = None, start_time_secs: Any = None) -> bool:
    """Write the hyperparameters of one run to the default writer; return whether this was done.

    Args:
        hparams: {name or `HParam`: bool, int, float or str}.
        trial_id: a name of the run; a hash of the values if None.
        start_time_secs: when the run began, in seconds since 1970; now if None.

    >>> hparams({"units": 16, "rate": 0.1})
    False
    """
    return _write(hparams_pb(hparams, trial_id, start_time_secs))


def hparams_config(hparams: Any, metrics: Any, time_created_secs: Any = None) -> bool:
    """Write which hyperparameters and metrics an experiment has; return whether this was done.

    Args:
        hparams: a list of `HParam` objects.
        metrics: a list of `Metric` objects, such as `Metric("epoch_loss", group="validation")`.
        time_created_secs: when the experiment began, in seconds since 1970; now if None.

    >>> import framework as tf
    >>> hp = tf.summary.hparams
    >>> units = hp.HParam("units", hp.Discrete([16, 32]))
    >>> hparams_config([units], [hp.Metric("epoch_loss", group="validation")])
    False
    """
    return _write(hparams_config_pb(hparams, metrics, time_created_secs))


def _write(message):
    return write_raw_pb(message.SerializeToString(), step=0)


class KerasCallback(Callback):
    """Writes a run's hyperparameters when `fit` begins, and success or failure when it ends.

    Args:
        writer: a folder, the `log_dir` of the `TensorBoard` callback; or a `SummaryWriter`.
        hparams, trial_id: as in `hparams`.

    Example:
        >>> import tempfile
        >>> from framework import keras
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     callback = KerasCallback(folder, {"units": 1})
        ...     _ = model.fit([[1.0]], [[2.0]], verbose=0, callbacks=[callback])
    """

    def __init__(self, writer: Any, hparams: Any, trial_id: Any = None):
        if not isinstance(writer, (str, os.PathLike, SummaryWriter)):
            raise DTypeError(
                f"KerasCallback: writer: expected a folder or a SummaryWriter, got {writer!r}."
            )
        # checks the hyperparameters, so that errors are raised here and not in `fit`
        hparams_pb(hparams, trial_id)
        record = self._framework
        record.hparams, record.trial_id = dict(hparams), trial_id
        record.target, record.writer = writer, None
        record.release = partial(_end, self, "STATUS_FAILURE")

    def on_train_begin(self, logs: Any = None) -> None:
        record = self._framework
        own = not isinstance(record.target, SummaryWriter)
        record.writer = create_file_writer(record.target) if own else record.target
        with record.writer.as_default():
            hparams(record.hparams, record.trial_id)

    def on_train_end(self, logs: Any = None) -> None:
        _end(self, "STATUS_SUCCESS")


def _end(callback, status):
    """Write the end status of a run, unless it is already written."""
    record = callback._framework
    writer, record.writer = record.writer, None
    if writer is None:
        return
    with writer.as_default():
        _write(_session_end_pb(status))
    if writer is not record.target:
        writer.close()


def _session_end_pb(status):
    """Return the `Summary` message of a run that ends now."""
    data = messages("plugins.hparams.plugin_data_pb2")
    metadata = messages("plugins.hparams.metadata")
    code = messages("plugins.hparams.api_pb2").Status.Value(status)
    end = data.SessionEndInfo(status=code, end_time_secs=time.time())
    summary = messages("compat.proto.summary_pb2").Summary
    value = summary.Value(
        tag=metadata.SESSION_END_INFO_TAG, tensor=metadata.NULL_TENSOR,
        metadata=metadata.create_summary_metadata(data.HParamsPluginData(session_end_info=end)),
    )  # fmt: skip
    return summary(value=[value])
