"""Every loss of `tests/samples/losses.py`: each reduction, weights, gradients, dtypes, configs."""

import numpy as np

from framework.core.registry import snake_case
from parity.families.configs import add_config
from parity.sides import gradients
from parity.values import Values
from tests.samples.losses import SAMPLES

REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")


class Loss:
    """A loss on the data of a sample, with its gradient with respect to `y_pred`."""

    def __init__(self, name, sample, reduction="sum_over_batch_size", weighted=False, dtype=None):
        self.name, self.reduction, self.dtype = name, reduction, dtype
        self.arguments = sample.arguments
        self.data = [a.astype("float32") if a.dtype.kind == "f" else a for a in sample.data]
        rows = len(self.data[0])
        self.weights = np.linspace(0, 2, rows).astype("float32") if weighted else None

    def __call__(self, keras):
        found = Values()
        own = {"dtype": self.dtype} if self.dtype else {}
        loss = getattr(keras.losses, self.name)(**self.arguments, reduction=self.reduction, **own)
        y, p = (keras.ops.convert_to_tensor(a) for a in self.data)
        if found.try_to("value", lambda: loss(y, p, self.weights)):
            call = lambda tensors: loss(y, tensors[0], self.weights)
            found.try_to("gradient", lambda: gradients(keras, call, [self.data[1]]))
        if self.weights is None:
            add_config(found, loss, keras.losses)
        return found


def _function(name, sample):
    def run(keras):
        found = Values()
        function = getattr(keras.losses, snake_case(name))
        y, p = (a.astype("float32") if a.dtype.kind == "f" else a for a in sample.data)
        call = lambda tensors: function(y, tensors[0], **sample.arguments)
        if found.try_to("value", lambda: call([keras.ops.convert_to_tensor(p)])):
            found.try_to("gradient", lambda: gradients(keras, call, [p]))
        found.try_to("by name", lambda: keras.losses.get(snake_case(name)).__name__)
        return found

    return run


def comparisons():
    for name, samples in SAMPLES.items():
        for number, sample in enumerate(samples):
            title = " ".join([name, *(f"{k}={v}" for k, v in sample.arguments.items())])
            title = f"{title} ({number})" if number else title
            for reduction in REDUCTIONS:
                yield f"{title} {reduction}", Loss(name, sample, reduction)
            for reduction in ("sum_over_batch_size", "mean_with_sample_weight", "none"):
                yield f"{title} {reduction} weighted", Loss(name, sample, reduction, True)
            yield f"{title} bfloat16", Loss(name, sample, dtype="bfloat16")
            yield f"function {title}", _function(name, sample)
