import inspect
import json

import numpy as np
import pytest

import framework as tf
from framework import losses, metrics
from framework.core import recorders
from framework.core.configurable import fields_of
from framework.core.symbolic import KerasTensor, calling
from framework.core.variable import KerasVariable
from tests.looped import Properties
from tests.metrics.reductions import IGNORING, MASKED, REDUCED, ROOT, VALUE_WEIGHTS, VALUES
from tests.samples.counts import calls
from tests.samples.metrics import CLASSES, SAMPLES, WEIGHTS, P, Y

metrics.metrics.load_all()
CASES = [(name, s.arguments, s.data, s.values) for name in SAMPLES for s in SAMPLES[name]]
IDS = [f"{name}-{i}" for name in SAMPLES for i in range(len(SAMPLES[name]))]
IN_KERAS = [(name, s) for name in SAMPLES for s in SAMPLES[name] if s.keras]
every_case = Properties()


@pytest.mark.parametrize(("name", "arguments", "data", "values"), CASES, ids=IDS)
def test_a_metric(name, arguments, data, values):
    every_case.hold(name, arguments, data, values)


def make(name, /, **arguments):
    return getattr(metrics, name)(**arguments)


def half(data, which):
    return [np.asarray(x)[which] for x in data]


def test_every_metric_has_a_sample():
    others = {"Mean", "Sum", "MeanMetricWrapper", "RootMeanSquaredError"}
    assert set(SAMPLES) | {name for name, *_ in calls()} | others == set(metrics.metrics.by_name)


@every_case
def results_are_means_of_the_samples_values(name, arguments, data, values):
    metric = make(name, **arguments, dtype="float64")
    assert float(metric(*data)) == pytest.approx(np.mean(values), rel=2e-6)
    metric.reset_state()
    found = metric(*data, sample_weight=WEIGHTS)
    assert (found.dtype, found.shape) == ("float64", ())
    assert float(found) == pytest.approx((WEIGHTS * values).sum() / WEIGHTS.sum(), rel=2e-6)


@pytest.mark.parametrize(
    "cls", [c for c in metrics.metrics.classes.values() if hasattr(c._framework, "formula")]
)
def test_fields_are_the_parameters_of_the_formula(cls):
    formula = getattr(cls._framework, "formula", lambda y_true, y_pred: None)
    parameters = list(inspect.signature(formula).parameters.values())[2:]
    fields = fields_of(cls).items()
    own = [(n, f.default) for n, f in fields if n not in fields_of(metrics.Metric)]
    assert own == [(p.name, p.default) for p in parameters][: len(own)]


@pytest.mark.parametrize(("name", "sample"), IN_KERAS)
def test_numbers_are_keras(name, sample):
    plain, weighted, both = sample.keras
    metric, data = make(name, **sample.arguments), sample.data
    assert float(metric(*data)) == pytest.approx(plain, rel=2e-6)
    assert float(metric(*data, sample_weight=WEIGHTS)) == pytest.approx(both, rel=2e-6)
    metric.reset_state()
    assert float(metric(*data, WEIGHTS)) == pytest.approx(weighted, rel=2e-6)


@every_case
def two_halves_make_the_whole(name, arguments, data, values):
    whole, halves = make(name, **arguments), make(name, **arguments)
    whole.update_state(*data, WEIGHTS)
    for which in (slice(None, 2), slice(2, None)):
        halves.update_state(*half(data, which), WEIGHTS[which])
    for a, b in zip(whole.variables, halves.variables, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


@every_case
def configs_make_equal_metrics(name, arguments, data, values):
    metric = make(name, **arguments, name="mine", dtype="float64")
    config = json.loads(json.dumps(metric.get_config()))
    assert {"name", "dtype", *arguments} <= set(config)
    again = type(metric).from_config(config)
    assert again.get_config() == metric.get_config()
    assert again.name == "mine"
    assert float(again(*data)) == float(metric(*data))
    assert metrics.deserialize(metrics.serialize(metric)).get_config() == metric.get_config()


# ---- reductions --------------------------------------------------------------------------------


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("weights", VALUE_WEIGHTS)
def test_weighted_means_and_sums_are_keras(values, weights):
    arguments = (VALUES[values], VALUE_WEIGHTS[weights])
    if (values, weights) not in REDUCED:  # Keras refuses, and so do we
        with pytest.raises(ValueError, match="sample_weight of shape"):
            metrics.Mean().update_state(*arguments)
        return
    mean, total = REDUCED[values, weights]
    assert float(metrics.Mean()(*arguments)) == pytest.approx(mean, rel=2e-6)
    assert float(metrics.Sum()(*arguments)) == pytest.approx(total, rel=2e-6)


def test_root_mean_squared_error_is_keras():
    metric = metrics.RootMeanSquaredError()
    assert float(metric(Y, P)) == pytest.approx(ROOT[0], rel=2e-6)
    assert float(metric(Y, P, sample_weight=WEIGHTS)) == pytest.approx(ROOT[1], rel=2e-6)


@pytest.mark.parametrize(("weights", "expected"), [(None, IGNORING[0]), (WEIGHTS, IGNORING[1])])
def test_an_ignored_class_is_as_in_keras(weights, expected):
    metric = metrics.SparseCategoricalCrossentropy(from_logits=True, ignore_class=1)
    assert float(metric(CLASSES, P, sample_weight=weights)) == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize(("weights", "expected"), [(None, MASKED[0]), (WEIGHTS, MASKED[1])])
def test_a_mask_of_the_predictions_is_as_in_keras(weights, expected):
    y_pred = tf.constant(P.astype("float32"))
    y_pred._keras_mask = tf.constant([True, False, True, True, False, True])
    found = metrics.MeanSquaredError()(Y, y_pred, sample_weight=weights)
    assert float(found) == pytest.approx(expected, rel=2e-6)


def test_nothing_seen_is_zero_and_reset_forgets_even_nan():
    metric = metrics.Mean()
    assert float(metric.result()) == 0.0
    assert np.isnan(float(metric([np.nan, 1.0])))
    metric.reset_state()
    assert float(metric([1.0, 2.0])) == 1.5


# ---- accuracy ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("true", "pred", "expected"),
    [
        ((8, 1), (8, 1), metrics.BinaryAccuracy),
        ((8,), (8, 1), metrics.BinaryAccuracy),
        ((8,), (8, 3), metrics.SparseCategoricalAccuracy),
        ((8, 1), (8, 3), metrics.SparseCategoricalAccuracy),
        ((8, 5), (8, 5, 3), metrics.SparseCategoricalAccuracy),
        ((8, 3), (8, 3), metrics.CategoricalAccuracy),
        ((None, 3), (None, 3), metrics.CategoricalAccuracy),
    ],
)
def test_accuracy_is_chosen_by_shapes(true, pred, expected):
    assert metrics.accuracy_for(true, pred) is expected


def test_accuracy_functions_give_floats_in_keras_shapes():
    scores = np.array([[0.1, 0.9], [0.8, 0.2]])
    for function, labels, expected in (
        (metrics.sparse_categorical_accuracy, [[1], [1]], [1.0, 0.0]),
        (metrics.categorical_accuracy, [[0, 1], [0, 1]], [1.0, 0.0]),
        (metrics.sparse_top_k_categorical_accuracy, [[1], [1]], [[1.0], [1.0]]),
        (metrics.top_k_categorical_accuracy, [[0, 1], [0, 1]], [1.0, 1.0]),
        (metrics.binary_accuracy, [[0, 1], [1, 1]], [[1.0, 1.0], [1.0, 0.0]]),
    ):
        found = function(np.array(labels), scores)
        assert found.dtype == "float32"
        np.testing.assert_array_equal(found.numpy(), expected)


def test_ties_with_the_last_of_the_best_count():
    scores = [[0.5, 0.5, 0.5, 0.9]]
    found = [metrics.sparse_top_k_categorical_accuracy([0], scores, k=k).numpy() for k in (1, 2, 3)]
    np.testing.assert_array_equal(found, [[0.0], [1.0], [1.0]])


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_score_that_is_nan_is_below_all_others(k):
    scores = np.array([[np.nan, 0.5, 0.2], [0.1, np.nan, 0.3], [np.nan, np.nan, 0.3]], "float32")
    hits = [k == 3, k == 3, True]
    found = metrics.sparse_top_k_categorical_accuracy([0, 1, 2], scores, k=k)
    np.testing.assert_array_equal(found, np.float32(hits))
    found = metrics.top_k_categorical_accuracy(np.eye(3)[[0, 1, 2]], scores, k=k)
    np.testing.assert_array_equal(found, np.float32(hits))


def test_sequences():
    scores = np.random.default_rng(0).normal(size=(2, 5, 3))
    labels = scores.argmax(-1)
    labels[0, 0] = (labels[0, 0] + 1) % 3
    assert float(metrics.SparseCategoricalAccuracy()(labels, scores)) == pytest.approx(0.9)
    assert float(metrics.SparseCategoricalAccuracy()(labels[..., None], scores)) == pytest.approx(
        0.9
    )
    assert float(metrics.SparseTopKCategoricalAccuracy(k=3)(labels, scores)) == 1.0
    hot = np.eye(3)[labels]
    assert float(metrics.TopKCategoricalAccuracy(k=1)(hot, scores)) == pytest.approx(0.9)


@pytest.mark.parametrize(("name", "true", "pred", "message"), [
    ("Accuracy", (4,), (4, 3), r"y_true of shape \(4,\)"),
    ("CategoricalAccuracy", (4,), (4, 3), "with the prefix sparse_"),
    ("SparseCategoricalAccuracy", (5,), (4, 3), r"shape \(4,\)"),
    ("SparseTopKCategoricalAccuracy", (4, 3), (4, 3), r"shape \(4,\)"),
    ("MeanSquaredError", (4,), (4, 3), r"y_true of shape \(4,\)"),
    ("RootMeanSquaredError", (4,), (4, 3), r"y_true of shape \(4,\)"),
])  # fmt: skip
def test_shapes_that_do_not_fit(name, true, pred, message):
    with pytest.raises(ValueError, match=message):
        make(name).update_state(np.zeros(true), np.zeros(pred))


def test_labels_out_of_range_are_named():
    with pytest.raises(tf.errors.OutOfRangeError, match=r"the label 3.*3 classes"):
        metrics.SparseTopKCategoricalAccuracy(k=1).update_state([3], [[0.1, 0.2, 0.7]])


# ---- names -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SAMPLES, "Mean", "Sum", "RootMeanSquaredError"])
def test_names_find_classes(name):
    metric = make(name)
    assert type(metrics.get(name)) is type(metric)
    if name != "LogCoshError":  # whose name is "logcosh"
        assert type(metrics.get(metric.name)) is type(metric)


@pytest.mark.parametrize(("short", "long"), [
    ("mse", "MeanSquaredError"), ("MSE", "MeanSquaredError"), ("mae", "MeanAbsoluteError"),
    ("mape", "MeanAbsolutePercentageError"), ("msle", "MeanSquaredLogarithmicError"),
    ("bce", "BinaryCrossentropy"), ("accuracy", "Accuracy"), ("acc", "Accuracy"),
])  # fmt: skip
def test_short_names(short, long):
    assert type(metrics.get(short)).__name__ == long


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match="Unknown metric: 'acuracy'; did you mean 'Accuracy'"):
        metrics.get("acuracy")
    with pytest.raises(ValueError, match="Unknown metric: 'xyz'; known: AUC"):
        metrics.get("xyz")


# ---- own metrics -------------------------------------------------------------------------------


class TruePositives(metrics.Metric):
    """Written the usual Keras way."""

    def __init__(self, name="true_positives", **kwargs):
        super().__init__(name=name, **kwargs)
        self.hits = self.add_weight(name="hits", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        hits = tf.cast(tf.cast(y_true, "bool") & (tf.convert_to_tensor(y_pred) > 0.5), "float32")
        self.hits.assign_add(tf.reduce_sum(hits))

    def result(self):
        return self.hits.value


def test_a_class_of_ones_own():
    metric = TruePositives()
    assert (metric.name, metric.dtype) == ("true_positives", "float32")
    assert [(v.path, v.trainable) for v in metric.variables] == [("true_positives/hits", False)]
    metric.update_state([1, 0, 1], [0.9, 0.9, 0.1])
    assert float(metric([1, 0, 1], [0.9, 0.9, 0.9])) == 3.0
    metric.reset_state()
    assert float(metric.result()) == 0.0
    assert TruePositives.from_config(metric.get_config()).name == "true_positives"


def test_dtype_and_name_by_position_as_keras():
    class Own(TruePositives):
        def __init__(self):
            metrics.Metric.__init__(self, "float64", "own")

    assert (Own().name, Own().dtype) == ("own", "float64")
    assert list(inspect.signature(metrics.Metric).parameters) == ["dtype", "name"]


def test_variables_and_metrics_held_as_attributes_are_found():
    class Pair(metrics.Metric):
        def __init__(self):
            super().__init__()
            self.a = self.add_variable((2,), "ones", name="a")
            self.b = KerasVariable([1.0], name="b")
            self.means = [metrics.Mean(), metrics.Mean()]
            self.again = self.a

        def update_state(self, x):
            self.means[0].update_state(x)

        def result(self):
            return {"mean": self.means[0].result()}

    pair = Pair()
    assert [v.name for v in pair.variables] == ["a", "b", "total", "count", "total", "count"]
    assert float(pair([1.0, 2.0])["mean"]) == 1.5
    pair.reset_state()
    assert all((v.numpy() == 0).all() for v in pair.variables)


def test_forgetting_super_is_one_clear_error():
    class Forgetful(metrics.Metric):
        def __init__(self):
            self.total = self.add_weight(name="total")

    with pytest.raises(RuntimeError, match=r"Forgetful: call super\(\).__init__\(\) first"):
        Forgetful()


def test_unnamed_metrics_are_numbered():
    class SomeMetric(metrics.Metric):
        pass

    assert [SomeMetric().name, SomeMetric().name] == ["some_metric", "some_metric_1"]
    with pytest.raises(NotImplementedError, match="SomeMetric must define update_state"):
        SomeMetric()(1)


def test_a_function_of_ones_own():
    def distance(y_true, y_pred, power=1):
        assert isinstance(y_pred, tf.Tensor)
        return abs(y_true - y_pred) ** power

    metric = metrics.MeanMetricWrapper(distance, name="distance", power=2)
    assert float(metric(Y, P)) == pytest.approx(((Y - P) ** 2).mean(), rel=1e-6)
    config = metric.get_config()
    assert (config["fn"]["config"], config["power"]) == ("distance", 2)
    again = metrics.MeanMetricWrapper.from_config({**config, "fn": distance})
    assert float(again(Y, P)) == float(metric.result())
    wrapped = metrics.MeanMetricWrapper(losses.mean_squared_error)
    assert float(wrapped(Y, P)) == pytest.approx(float(metric.result()))
    for config in (wrapped.get_config(), {"fn": "mean_squared_error"}):  # Keras's record, a name
        again = metrics.MeanMetricWrapper.from_config(config)
        assert float(again(Y, P)) == float(wrapped.result())
    assert wrapped.get_config()["fn"]["class_name"] == "function"
    with pytest.raises(ValueError, match="expected a function"):
        metrics.MeanMetricWrapper("mse")


def test_state_from_outside():
    metric = metrics.Mean()
    metric.update_state([1.0])
    state = metric.stateless_reset_state()
    assert [float(v) for v in state] == [0.0, 0.0]
    state = metric.stateless_update_state(state, [3.0, 5.0])
    assert float(metric.stateless_result(state)) == 4.0
    assert float(metric.result()) == 1.0
    with pytest.raises(ValueError, match=r"one value per variable.*2 in all \(total, count\)"):
        metric.stateless_result(state[:1])


def test_parameters_are_keras():
    def parameters(name):
        return list(inspect.signature(getattr(metrics, name)).parameters)

    assert parameters("BinaryAccuracy") == ["name", "dtype", "threshold"]
    assert parameters("TopKCategoricalAccuracy") == ["k", "name", "dtype"]
    assert parameters("MeanMetricWrapper") == ["fn", "name", "dtype", "kwargs"]


# ---- tapes, traces, symbolic calls --------------------------------------------------------------


class Trace(recorders.Recorder):
    """Keeps what happens, to do it again on other inputs."""

    replays = True

    def __init__(self):
        self.events = []

    def __enter__(self):
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)

    def op(self, op, args, attrs, outputs, saved):
        self.events.append(("op", op, args, attrs, outputs))

    def variable_read(self, variable, tensor):
        self.events.append(("read", variable, tensor))

    def variable_assigned(self, variable, value):
        self.events.append(("assign", variable, value))

    def value_read(self, tensor, how):
        raise AssertionError(f"an update must not read values ({how})")

    def replay(self, inputs):
        values = {id(old): new for old, new in inputs}
        for kind, *event in self.events:
            if kind == "read":
                values[id(event[1])] = event[0].read()
            elif kind == "assign":
                event[0].assign(values.get(id(event[1]), event[1]))
            else:
                op, args, attrs, outputs = event
                found = op(*[values.get(id(a), a) for a in args], **attrs)
                found = found if isinstance(found, tuple) else (found,)
                values.update((id(o), f) for o, f in zip(outputs, found, strict=True))


@every_case
def a_trace_can_redo_an_update(name, arguments, data, values):
    traced, eager = make(name, **arguments), make(name, **arguments)
    dtypes = ["int64" if np.asarray(data[0]).dtype.kind == "i" else "float32", "float32"]
    first, second = (
        [tf.constant(x.astype(d)) for x, d in zip(half(data, which), dtypes, strict=True)]
        + [tf.constant(WEIGHTS[which].astype("float32"))]
        for which in (slice(None, 3), slice(3, None))
    )
    with Trace() as trace:
        traced.update_state(*first)
    trace.replay(zip(first, second, strict=True))
    eager.update_state(*first)
    eager.update_state(*second)
    for a, b in zip(traced.variables, eager.variables, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-7)


class Counter(recorders.Recorder):
    def __init__(self):
        self.ops = 0

    def op(self, op, args, attrs, outputs, saved):
        self.ops += 1


@every_case
def a_tape_records_nothing_of_an_update(name, arguments, data, values):
    metric, counter = make(name, **arguments), Counter()
    wrapper = metrics.MeanMetricWrapper(lambda y, p: p * 2.0)
    ignoring = metrics.SparseCategoricalCrossentropy(from_logits=True, ignore_class=1)
    y_true, y_pred = data[0], tf.constant(np.asarray(data[1], "float32"))
    recorders.push(counter)
    try:
        metric.update_state(y_true, y_pred, WEIGHTS)
        wrapper.update_state(y_true, y_pred)
        ignoring.update_state(CLASSES, tf.constant(P))
    finally:
        recorders.remove(counter)
    assert counter.ops == 0


@every_case
def a_symbolic_call_changes_nothing(name, arguments, data, values):
    metric = make(name, **arguments)
    symbols = [KerasTensor((None, *np.shape(x)[1:]), np.asarray(x).dtype) for x in data]
    with calling("model"):
        metric.update_state(*symbols)
    metric.update_state(*(KerasTensor(np.shape(x), np.asarray(x).dtype) for x in data))
    assert [float(v) for v in metric.variables] == [0.0, 0.0]


def test_state_in_keras_2_s_order():
    class Count(metrics.Metric):
        def __init__(self, name="count", **kwargs):
            super().__init__(name=name, **kwargs)
            self.rows = self.add_weight("rows", initializer="zeros")
            self.columns = self.add_weight("columns", (2,), None, None, "ones", "float64")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.rows.assign_add(len(y_true))

        def result(self):
            return self.rows

    metric = Count()
    metric.update_state([1, 2], [1, 2])
    assert (metric.rows.name, float(metric.result())) == ("rows", 2.0)
    assert (metric.columns.dtype, metric.columns.numpy().tolist()) == ("float64", [1, 1])


def test_weights_of_unknown_size():
    values, weights = KerasTensor((None, 2)), KerasTensor((None, 2))
    with calling("test"):
        metrics.Mean().update_state(values, sample_weight=weights)
        metrics.MeanSquaredError().update_state(values, values, sample_weight=weights)
