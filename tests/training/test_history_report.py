"""History as text, table and plot; objects as HTML for notebooks."""

import subprocess
import sys

import numpy as np
import pytest

import framework as tf
from framework import keras


@pytest.fixture(scope="module")
def trained():
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = np.ones((8, 3)), np.ones((8, 1))
    history = model.fit(x, y, epochs=6, validation_data=(x, y), validation_freq=2, verbose=0)
    return model, history


def test_text_has_a_line_for_each_log(trained):
    lines = str(trained[1]).splitlines()
    assert lines[0].startswith("<History: 6 epochs of loss, mae, val_loss")
    first, last = (f"{trained[1].history['loss'][i]:.4f}" for i in (0, -1))
    assert lines[1] == f"loss      {first} -> {last}  " + lines[1][-6:]
    assert lines[1].endswith("▁")
    assert "█" in lines[1]
    assert len(lines) == 5


def test_text_can_be_printed_without_unicode():
    code = (
        "from framework.keras.callbacks import History; h = History(); h.on_train_begin()\n"
        "h.on_epoch_end(0, {'loss': 2.0}); h.on_epoch_end(1, {'loss': float('nan')}); print(h)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": "."},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout.splitlines()[1] == "loss  2.0000 -> nan  _x"


def test_plot_pairs_a_log_and_its_validation(trained):
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot as plt

    axes = trained[1].plot()
    assert [line.get_label() for line in axes[0].lines] == ["loss", "val_loss"]
    np.testing.assert_array_equal(axes[0].lines[1].get_xdata(), [2, 4, 6])
    np.testing.assert_array_equal(axes[1].lines[1].get_ydata(), trained[1].history["val_mae"])
    assert trained[1].plot("mae", axes[0]) == [axes[0]]
    with pytest.raises(ValueError, match="no log is called 'los'; did you mean 'loss'"):
        trained[1].plot("los")
    with pytest.raises(ValueError, match="expected 2 axes"):
        trained[1].plot(ax=axes[0])
    plt.close("all")


def test_objects_have_html(trained):
    model, history = trained
    with tf.GradientTape() as tape:
        x = tf.Variable([[1.0, 2.0]], name="<x>")
        tf.reduce_sum(x * x)
    found = {
        "curves": history, "model": model, "tensor": x + 1.0, "variable": x, "tape": tape,
        "scalar": tf.constant(3.5), "words": tf.constant(["<b>"]),
        "dataset": tf.data.Dataset.from_tensor_slices(np.ones((5, 2))).batch(2),
        "unknown": tf.data.Dataset.range(3).filter(lambda x: x > 1),
        "profile": model.profile(np.ones((2, 3)), np.ones((2, 1))),
    }  # fmt: skip
    html = {name: value._repr_html_() for name, value in found.items()}
    assert html["curves"].count("<svg") == 4
    assert "dense" in html["model"]
    assert "Trainable params: 4" in html["model"]
    assert '<td style="text-align: right">3</td>' in html["tensor"]
    assert "&lt;x&gt;" in html["variable"]
    assert "<b>'" not in html["words"]
    assert "<b><b>" not in html["words"]
    assert html["tape"].startswith("<svg")
    assert "<pre>3.5</pre>" in html["scalar"]
    assert "of 3 elements" in html["dataset"]
    assert "an unknown number of elements" in html["unknown"]
    assert "forward ms" in html["profile"]
