"""Progbar shows the means that Keras's shows."""

import re

import pytest

from framework import keras


def shown(capsys):
    return re.sub(r".*/step", "", capsys.readouterr().out).strip()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # loss: the mean of 4, 1, 1 over three steps; rate: the last value
        ({"stateful_metrics": ["rate"]}, "- loss: 2.0000 - rate: 0.5000"),
        ({"stateless_metrics": ["loss"]}, "- loss: 2.0000 - rate: 0.5000"),
        ({}, "- loss: 2.0000 - rate: 0.6667"),
    ],
)
def test_means_over_steps(capsys, arguments, expected):
    bar = keras.utils.Progbar(3, **arguments)
    bar.update(1, [("loss", 4.0), ("rate", 1.0)])
    assert not capsys.readouterr().out
    bar.add(2, [("loss", 1.0), ("rate", 0.5)])
    assert shown(capsys) == expected


def test_an_unknown_number_of_steps_ends_when_said(capsys):
    bar = keras.utils.Progbar(None, verbose=2)
    bar.update(5, [("state", keras.ops.ones(()))])
    bar.update(6, finalize=True)
    assert shown(capsys) == "- state: 1.0000"
    silent = keras.utils.Progbar(1, verbose=0)
    silent.update(1, [("loss", 1.0)])
    assert not capsys.readouterr().out


def test_names_are_of_one_kind():
    with pytest.raises(ValueError, match="got both"):
        keras.utils.Progbar(1, stateful_metrics=[], stateless_metrics=[])
