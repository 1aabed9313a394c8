"""tf.train.ExponentialMovingAverage: moving averages of variables during training."""

from typing import Any

from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.recorders import pause_all
from framework.core.variable import CoreVariable, Variable


class ExponentialMovingAverage:
    """Keeps an average of variables: average = decay * average + (1 - decay) * value.

    Args:
        decay: a number between 0 and 1.
        num_updates: the number n of updates so far, which limits the decay to (1 + n) / (10 + n),
            so that early averages change faster.
        zero_debias: ignored: an average starts at the variable's value, which needs no correction.
        name: the suffix of the averages' names.

    Example:
        >>> import framework as tf
        >>> v, averages = tf.Variable(1.0), tf.train.ExponentialMovingAverage(0.9)
        >>> averages.apply([v])
        >>> _ = v.assign(11.0)
        >>> averages.apply([v])
        >>> averages.average(v).numpy()
        np.float32(2.0)
    """

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):  # fmt: skip
        self._decay, self._num_updates = decay, num_updates
        self._name, self._averages = name, {}

    @property
    def name(self):
        """The suffix of the averages' names."""
        return self._name

    def apply(self, var_list: Any = None) -> None:
        """Update the averages of variables; the first call for a variable creates its average.

        Args:
            var_list: a list of floating variables.

        Raises:
            DTypeError: an item is not a variable, or its dtype is not floating.
        """
        if var_list is None:
            raise InvalidArgumentError(
                "ExponentialMovingAverage.apply: expected `var_list`, got None. Give the "
                "variables, such as model.trainable_variables."
            )
        for variable in var_list:
            if not isinstance(variable, CoreVariable):
                raise DTypeError(
                    "ExponentialMovingAverage.apply: expected variables in `var_list`, got "
                    f"{type(variable).__name__}."
                )
            if not variable.dtype.is_floating:
                raise DTypeError(
                    "ExponentialMovingAverage.apply: The variables must be half, float, or "
                    f"double: {variable.name} is {variable.dtype}."
                )
        decay = float(self._decay)
        if self._num_updates is not None:
            updates = float(self._num_updates)
            decay = min(decay, (1 + updates) / (10 + updates))
        for variable in var_list:
            average = self._averages.get(variable.ref())
            if average is None:
                average = self._started(variable)
            with pause_all():
                average.assign_sub((average - variable) * (1 - decay))

    def _started(self, variable):
        made = Variable(variable.read(), trainable=False, name=self.average_name(variable))
        self._averages[variable.ref()] = made
        return made

    def average(self, var: Any) -> Any:
        """Return the variable that holds the average of `var`; None before `apply`."""
        return self._averages.get(var.ref())

    def average_name(self, var: Any) -> str:
        """Return the name of the average of `var`."""
        found = self._averages.get(var.ref())
        end = "" if found is not None else f"/{self._name}"
        return (var if found is None else found).name.split(":")[0] + end

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Return {name of the average: variable}, to load saved averages into the variables.

        Args:
            moving_avg_variables: a list of variables; by default those that have an average.
        """
        chosen = moving_avg_variables
        if chosen is None:
            chosen = [ref.deref() for ref in self._averages]
        return {self.average_name(v): v for v in chosen}
