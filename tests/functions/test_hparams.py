"""Hyperparameters: what TensorBoard's plugin reads from files."""

import numpy as np
import pytest
from tensorboard.plugins.hparams import metadata

import framework as tf
from framework import keras
from tests.training.event_files import events

hp = tf.summary.hparams


def messages(folder):
    """Return {tag: the plugin's message} of a folder."""
    return {
        value.tag: value.metadata.plugin_data.content
        for event in events(folder) for value in event.summary.value
    }  # fmt: skip


def started(folder):
    found = messages(folder)[metadata.SESSION_START_INFO_TAG]
    return metadata.parse_session_start_info_plugin_data(found)


def test_an_experiment_and_a_run(tmp_path):
    units = hp.HParam("units", hp.Discrete([16, 32]), display_name="Units")
    rate = hp.HParam("rate", hp.RealInterval(0.1, 0.4))
    with tf.summary.create_file_writer(tmp_path).as_default():
        assert hp.hparams_config([units, rate], [hp.Metric("epoch_loss", group="validation")])
        assert hp.hparams({units: 16, rate: np.float32(0.5), "name": "a", "bias": True}, "first")
    experiment = metadata.parse_experiment_plugin_data(messages(tmp_path)[metadata.EXPERIMENT_TAG])
    assert [info.name for info in experiment.hparam_infos] == ["units", "rate"]
    assert experiment.metric_infos[0].name.tag == "epoch_loss"
    run = started(tmp_path)
    assert run.group_name == "first"
    assert run.hparams["units"].number_value == 16
    assert run.hparams["rate"].number_value == 0.5
    assert run.hparams["name"].string_value == "a"
    assert run.hparams["bias"].bool_value is True


class Fails(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise KeyboardInterrupt


@pytest.mark.parametrize("fails", [False, True])
def test_the_callback_writes_the_run_and_how_it_ended(fails, tmp_path):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callbacks = [hp.KerasCallback(tmp_path, {"units": 1}), *([Fails()] if fails else [])]
    try:
        model.fit([[1.0]], [[2.0]], verbose=0, callbacks=callbacks)
    except KeyboardInterrupt:
        assert fails
    assert started(tmp_path).hparams["units"].number_value == 1
    found = metadata.parse_session_end_info_plugin_data(
        messages(tmp_path)[metadata.SESSION_END_INFO_TAG]
    )
    assert found.status == (2 if fails else 1)  # STATUS_FAILURE, STATUS_SUCCESS


def test_the_callback_writes_to_a_writer_of_the_user(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit([[1.0]], [[2.0]], verbose=0, callbacks=hp.KerasCallback(writer, {"units": 1}))
    with writer.as_default():
        assert tf.summary.scalar("after", 1.0, step=0)  # it is still open
    writer.close()
    assert len(list(tmp_path.iterdir())) == 1
    assert "after" in messages(tmp_path)


def test_bad_arguments():
    with pytest.raises(TypeError, match="writer: expected"):
        hp.KerasCallback(None, {"units": 1})
    with pytest.raises(TypeError, match="unsupported type"):
        hp.KerasCallback("logs", {"units": [1, 2]})
    with pytest.raises(AttributeError, match="no attribute 'Session'"):
        hp.Session  # noqa: B018
