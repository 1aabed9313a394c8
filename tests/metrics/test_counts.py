"""Metrics of counts and sums: confusion, AUC, F-scores, overlap, correlation."""

import inspect
import json

import numpy as np
import pytest

import framework as tf
from framework import keras, metrics
from framework.core.symbolic import KerasTensor, calling
from tests.looped import Properties
from tests.samples.counts import DATA, ROWS, WEIGHTS

each_row = Properties()


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}-{i}" for i, row in enumerate(ROWS)])
def test_a_row(row):
    each_row.hold(*row)


def make(name, /, **arguments):
    return getattr(metrics, name)(**arguments)


@each_row
def numbers_are_keras(name, arguments, data, plain, weighted):
    metric = make(name, **arguments)
    np.testing.assert_allclose(metric(*DATA[data]), plain, rtol=5e-6, atol=1e-7)
    metric.reset_state()
    assert all((v.numpy() == 0).all() for v in metric.variables)
    found = metric(*DATA[data], sample_weight=WEIGHTS)
    np.testing.assert_allclose(found, weighted, rtol=5e-6, atol=1e-7)
    assert found.dtype == "float32"


@each_row
def merged_halves_are_the_whole(name, arguments, data, plain, weighted):
    first, second, merged = (make(name, **arguments) for _ in range(3))
    for metric, part in ((first, slice(None, 3)), (second, slice(3, None))):
        metric.update_state(*(x[part] for x in DATA[data]), sample_weight=WEIGHTS[part])
    merged.merge_state([first, second])
    np.testing.assert_allclose(merged.result(), weighted, rtol=5e-6, atol=1e-7)
    with pytest.raises(ValueError, match="is not compatible with"):
        merged.merge_state([metrics.Sum()])


@each_row
def configs_make_equal_metrics(name, arguments, data, plain, weighted):
    metric = make(name, **arguments, **({} if "dtype" in arguments else {"dtype": "float64"}))
    again = type(metric).from_config(json.loads(json.dumps(metric.get_config())))
    assert again.get_config() == metric.get_config()
    np.testing.assert_array_equal(again(*DATA[data]), metric(*DATA[data]))
    assert metrics.deserialize(metrics.serialize(metric)).get_config() == metric.get_config()
    assert type(metrics.get(metrics.serialize(metric))) is type(metric)


@each_row
def a_symbolic_call_changes_nothing(name, arguments, data, plain, weighted):
    metric = make(name, **arguments)
    symbols = [KerasTensor((None, *x.shape[1:]), x.dtype) for x in DATA[data]]
    with calling("model"):
        metric.update_state(*symbols)
    assert all((v.numpy() == 0).all() for v in metric.variables)


@each_row
def compiled_updates_are_the_eager_ones(name, arguments, data, plain, weighted):
    metric, eager = make(name, **arguments), make(name, **arguments)
    eager.update_state(*DATA[data], sample_weight=WEIGHTS)  # AUC and others create variables
    metric.merge_state([eager])
    metric.reset_state()

    @tf.function
    def update(y_true, y_pred, weights):
        metric.update_state(y_true, y_pred, weights)

    batch = [tf.constant(x) for x in (*DATA[data], WEIGHTS)]
    for _ in range(4):
        update(*batch)
    for _ in range(3):
        eager.update_state(*DATA[data], sample_weight=WEIGHTS)
    for a, b in zip(metric.variables, eager.variables, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_in_fit():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, "sigmoid")])
    names = ["AUC", "precision", "Recall", "f1_score", "TruePositives", "R2Score"]
    model.compile("sgd", "mse", metrics=[*names, metrics.AUC(multi_label=True, name="each")])
    y, p = DATA["values"]
    found = model.fit(p, y, epochs=4, batch_size=4, verbose=0).history
    assert {"each", "loss"} < set(found)
    assert len(found) == 8
    assert all(np.isfinite(values).all() for values in found.values())
    later = model.evaluate(p, y, verbose=0, return_dict=True)
    for name, cls in (("each", metrics.AUC(multi_label=True)), ("Recall", metrics.Recall())):
        assert later[name] == pytest.approx(float(cls(y, model.predict(p, verbose=0))))


def test_nan_is_positive_at_no_threshold():
    assert float(metrics.TruePositives()([1, 1], [np.nan, 0.9])) == 1.0
    assert float(metrics.FalseNegatives()([1, 1], [np.nan, 0.9])) == 1.0


def test_counts_have_at_least_32_bits():
    metric = metrics.TruePositives(dtype="float16")
    ones = np.ones(3000, "float16")
    assert float(metric(ones, ones)) == 3000.0
    assert metrics.AUC(dtype="float64")(*DATA["values"]).dtype == "float64"


def test_labels_far_from_zero_keep_their_variance():
    y, p = DATA["real"]
    found = metrics.R2Score()(y.astype("float64") + 1e5, p.astype("float64") + 1e5)
    assert float(found) == pytest.approx(float(metrics.R2Score()(y, p)), rel=1e-5)


def test_one_weight_per_image():
    y, p = np.array([[[0, 1], [1, 1]], [[1, 0], [0, 1]]]), np.array([[[0, 1], [0, 1]]] * 2)
    kept = metrics.MeanIoU(2)(y[:1], p[:1])
    assert float(metrics.MeanIoU(2)(y, p, sample_weight=[1, 0])) == float(kept)
    assert float(metrics.Precision()(y, p, sample_weight=[1, 0])) == 1.0


def test_channels_first():
    y, p = np.eye(3)[[[0, 1], [2, 1]]], np.eye(3)[[[0, 1], [1, 1]]]
    moved = [np.moveaxis(x, -1, 1) for x in (y, p)]
    found = metrics.OneHotMeanIoU(3, axis=1)(*moved)
    assert float(found) == float(metrics.OneHotMeanIoU(3)(y, p))


def test_adjusted_scores():
    y, p = DATA["real"]
    plain = float(metrics.R2Score()(y[:, :1], p[:, :1]))
    adjusted = float(metrics.R2Score(num_regressors=2)(y[:, :1], p[:, :1]))
    assert adjusted == pytest.approx(1 - (1 - plain) * 7 / 5, rel=1e-5)
    with pytest.warns(UserWarning, match="needs more than num_regressors"):
        assert float(metrics.R2Score(num_regressors=9)(y[:, :1], p[:, :1])) == plain


@pytest.mark.parametrize(("name", "arguments", "message"), [
    ("Precision", {"thresholds": [0.5, 1.5]}, "Threshold values must be in"),
    ("TruePositives", {"thresholds": -0.5}, "Threshold values must be in"),
    ("AUC", {"num_thresholds": 1}, "expected an integer > 1"),
    ("AUC", {"curve": "RO"}, "expected one of 'ROC', 'PR', 'PRGAIN'"),
    ("AUC", {"num_labels": 2}, "needs multi_label=True"),
    ("RecallAtPrecision", {"precision": 1.2}, r"precision=1\.2: expected a number in the range"),
    ("PrecisionAtRecall", {"recall": 0.5, "num_thresholds": 0}, "expected an integer > 0"),
    ("FBetaScore", {"beta": 0.0}, "expected a Python float > 0"),
    ("F1Score", {"threshold": 2.0}, r"expected a Python float in \(0, 1\]"),
    ("F1Score", {"average": "mean"}, "expected one of None, 'micro'"),
    ("IoU", {"num_classes": 2, "target_class_ids": [2]}, "Target class id 2 is out of range"),
    ("R2Score", {"class_aggregation": "mean"}, "expected one of None, 'uniform_average'"),
    ("R2Score", {"num_regressors": -1}, "expected an integer >= 0"),
])  # fmt: skip
def test_wrong_arguments(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(name, **arguments)


@pytest.mark.parametrize(("name", "arguments", "true", "pred", "message"), [
    ("Precision", {}, (4,), (4, 3), "must have the same shape"),
    ("Precision", {"class_id": 3}, (4, 3), (4, 3), "class_id=3 does not fit"),
    ("AUC", {"multi_label": True}, (4,), (4,), "expected rank 2 when multi_label=True"),
    ("F1Score", {}, (4,), (4,), "expects 2D inputs"),
    ("R2Score", {}, (4,), (4,), "expects 2D inputs"),
    ("MeanIoU", {"num_classes": 2}, (4,), (5,), "expected one label per prediction"),
])  # fmt: skip
def test_shapes_that_do_not_fit(name, arguments, true, pred, message):
    with pytest.raises(ValueError, match=message):
        make(name, **arguments).update_state(np.zeros(true), np.zeros(pred))


def test_parameters_are_keras():
    def parameters(name):
        return list(inspect.signature(getattr(metrics, name)).parameters)

    assert parameters("F1Score") == ["average", "threshold", "name", "dtype"]
    assert parameters("BinaryIoU") == ["target_class_ids", "threshold", "name", "dtype"]
    assert parameters("RecallAtPrecision")[:3] == ["precision", "num_thresholds", "class_id"]


def test_thresholds_instead_of_their_number():
    assert metrics.AUC(num_thresholds=None, thresholds=[0.5]).num_thresholds == 3
    with pytest.raises(ValueError, match="num_thresholds=None: expected an integer > 1"):
        metrics.AUC(num_thresholds=None)
