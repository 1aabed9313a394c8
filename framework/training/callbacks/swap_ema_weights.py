"""SwapEMAWeights: evaluates with the moving average of the weights."""

from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.optimizers.asking import inside
from framework.training.callbacks.base import Callback


class SwapEMAWeights(Callback):
    """Swaps the weights with their moving averages (`use_ema=True`) during each evaluation.

    Args:
        swap_on_epoch: also swap at the end of each epoch, for callbacks that save the model at this
            time; the start of the next epoch swaps back.

    Example:
        >>> SwapEMAWeights(swap_on_epoch=True).swap_on_epoch
        True
    """

    def __init__(self, swap_on_epoch: bool = False):
        self.swap_on_epoch = swap_on_epoch
        self._framework.swapped = False
        self._framework.saves = ("_framework.swapped",)

    def on_train_begin(self, logs: Any = None) -> None:
        # raises an error now, before the first epoch, if the optimizer has no moving averages
        _averages(self)
        self._framework.swapped = False

    def on_epoch_begin(self, epoch: Any, logs: Any = None) -> None:
        if self.swap_on_epoch:
            _swap(self, False)

    def on_test_begin(self, logs: Any = None) -> None:
        _swap(self, True)

    def on_test_end(self, logs: Any = None) -> None:
        _swap(self, False)

    def on_epoch_end(self, epoch: Any, logs: Any = None) -> None:
        if not self.swap_on_epoch:
            return
        _swap(self, True)
        if epoch == (self.params or {}).get("epochs", 0) - 1:
            # at its end, `fit` itself copies the averages to the weights
            for variable, average in _averages(self):
                average.assign(variable.array.copy())
            self._framework.swapped = False

    def on_predict_begin(self, logs: Any = None) -> None:
        _swap(self, True)

    def on_predict_end(self, logs: Any = None) -> None:
        _swap(self, False)

    def on_train_end(self, logs: Any = None) -> None:
        _swap(self, False)


def _averages(callback):
    """Return [(variable, the variable of its moving average)]."""
    optimizer = getattr(callback.model, "optimizer", None)
    optimizer = inside(optimizer)
    if optimizer is None or not getattr(optimizer, "use_ema", False):
        raise InvalidArgumentError(
            "SwapEMAWeights needs an optimizer with use_ema=True, such as Adam(use_ema=True)."
        )
    pairs = [
        (v, optimizer._framework.slots.get(v.serial, {}).get("average"))
        for v in callback.model.trainable_variables
    ]
    return [(variable, average) for variable, average in pairs if average is not None]


def _swap(callback, into_averages):
    if callback._framework.swapped == into_averages:
        return
    for variable, average in _averages(callback):
        value = variable.array.copy()
        variable.assign(average.array.copy())
        average.assign(value)
    callback._framework.swapped = into_averages
