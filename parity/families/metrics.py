"""Every metric: updates with and without weights, merged and reset states, variables, configs."""

import numpy as np

from parity.families.configs import add_config
from parity.values import Values
from tests.metrics.reductions import VALUE_WEIGHTS, VALUES
from tests.samples import counts, metrics

_REAL = (metrics.Y.astype("float32"), metrics.P.astype("float32"))
OTHERS = [  # of no table of the tests
    ("RootMeanSquaredError", {}, _REAL),
    ("MeanMetricWrapper", {"fn": "mean_squared_error"}, _REAL),
]  # fmt: skip


class Metric:
    """Updates of a metric; the batches are halves of the data."""

    def __init__(self, name, arguments, data, weights=None, dtype=None):
        self.name, self.data, self.weights = name, [np.asarray(d) for d in data], weights
        self.arguments = {**arguments, **({"dtype": dtype} if dtype else {})}

    def created(self, keras):
        arguments = dict(self.arguments)
        if isinstance(arguments.get("fn"), str):
            arguments["fn"] = getattr(keras.losses, arguments["fn"])
        return getattr(keras.metrics, self.name)(**arguments)

    def __call__(self, keras):
        found, metric = Values(), self.created(keras)
        half = len(self.data[0]) // 2
        parts = [self._part(slice(half)), self._part(slice(half, None))]
        for number, (batch, weights) in enumerate(parts):
            key = f"update {number}"
            if not found.try_to(key, lambda b=batch, w=weights: _update(metric, b, w)):
                return found
        found.try_to("variables", lambda: [v.value for v in metric.variables])
        found.try_to("names", lambda: "; ".join(f"{v.name} {v.shape}" for v in metric.variables))
        found.try_to("merged", lambda: self._merged(keras, parts))
        metric.reset_state()
        found.try_to("reset", metric.result)
        add_config(found, metric, None if "fn" in self.arguments else keras.metrics)
        return found

    def _part(self, rows):
        weights = None if self.weights is None else np.asarray(self.weights)[rows]
        return [_narrow(d[rows]) for d in self.data], weights

    def _merged(self, keras, parts):
        """The result of two metrics together: that of one which saw both parts."""
        if keras.backend.backend() != "framework":  # Keras 3 has no merge_state
            metric = self.created(keras)
            return [_update(metric, batch, weights) for batch, weights in parts][-1]
        each = [self.created(keras) for _ in parts]
        for metric, (batch, weights) in zip(each, parts, strict=True):
            _update(metric, batch, weights)
        each[0].merge_state(each[1:])
        return each[0].result()


def _update(metric, batch, weights):
    metric.update_state(*batch, sample_weight=weights)
    return metric.result()


def _narrow(array):
    return array.astype("float32") if array.dtype == "float64" else array


def _reduced(name, values, weights):
    def run(keras):
        found, metric = Values(), getattr(keras.metrics, name)()
        values_, weights_ = VALUES[values], VALUE_WEIGHTS[weights]
        found.try_to("value", lambda: _update(metric, [np.float32(values_)], weights_))
        found.try_to("again", lambda: _update(metric, [np.float32(values_)], None))
        return found

    return run


def _titled(name, arguments):
    return " ".join([name, *(f"{k}={v}" for k, v in arguments.items())])


def _rows():
    for name, samples in metrics.SAMPLES.items():
        for sample in samples:
            yield name, sample.arguments, sample.data, metrics.WEIGHTS
    for name, arguments, data in OTHERS:
        yield name, arguments, data, metrics.WEIGHTS
    for name, arguments, data in counts.calls():
        yield name, arguments, counts.DATA[data], counts.WEIGHTS


def comparisons():
    taken = set()
    for name, arguments, data, weights in _rows():
        title = _titled(name, arguments)
        while title in taken:
            title += "'"
        taken.add(title)
        yield title, Metric(name, arguments, data)
        yield f"{title} weighted", Metric(name, arguments, data, weights)
        if "dtype" not in arguments and title[-1] != "'" and name in metrics.SAMPLES:
            yield f"{title} float16", Metric(name, arguments, data, dtype="float16")
    for name in ("Mean", "Sum"):
        for values in VALUES:
            for weights in VALUE_WEIGHTS:
                yield f"{name} of {values} by {weights}", _reduced(name, values, weights)
