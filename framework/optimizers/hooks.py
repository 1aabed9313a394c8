"""Methods of Keras's optimizers that user-defined optimizers written for Keras use."""

import warnings
from typing import Any

import numpy as np

from framework import initializers
from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.stored import load_variables, store_variables
from framework.core.variable import KerasVariable
from framework.core.weight_values import set_values


class KerasHooks:
    """Methods for subclasses that create variables in `build` and override `update_step`."""

    def add_variable(
        self, shape: ShapeLike, initializer: Any = "zeros", dtype: DTypeLike = None,
        aggregation: Any = "none", layout: Any = None, name: str | None = None,
    ):  # fmt: skip
        """Return a new variable of the optimizer.

        Args:
            shape: a tuple of ints.
            initializer: a name or a `keras.initializers.Initializer`.
            dtype: floatx if None.
            aggregation, layout: ignored: there is one process.
            name: a string without "/".
        """
        variable = KerasVariable(
            initializers.get(initializer), shape=tuple(shape), dtype=dtype or dtypes.floatx(),
            trainable=False, name=name,
        )  # fmt: skip
        variable.path = f"{self.name}/{variable.name}"
        self._framework.own_variables.append(variable)
        return variable

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros",
    ):  # fmt: skip
        """Return a new variable of the optimizer with another variable's shape and dtype."""
        return self.add_variable(
            reference_variable.shape, initializer, reference_variable.dtype,
            name=slot_name(reference_variable, name or "var"),
        )  # fmt: skip

    def add_optimizer_variables(
        self, trainable_variables: Any, name: str | None, initializer: Any = "zeros",
    ):  # fmt: skip
        """Return a list of one new variable per trainable variable; for several names, lists."""
        names = [name] if isinstance(name, str) else list(name)
        several = isinstance(initializer, (list, tuple))
        per_name = list(initializer) if several else [initializer] * len(names)
        if len(per_name) != len(names):
            raise InvalidArgumentError(
                f"add_optimizer_variables: expected as many initializers as names, got "
                f"{len(per_name)} and {len(names)}."
            )
        rows = [
            [self.add_variable_from_reference(v, n, init) for n, init in zip(names, per_name)]
            for v in trainable_variables
        ]
        columns = [[row[i] for row in rows] for i in range(len(names))]
        return columns[0] if isinstance(name, str) else tuple(columns)

    def assign(self, variable: Any, value: TensorLike) -> None:
        """Call `variable.assign(value)`."""
        variable.assign(value)

    def assign_add(self, variable: Any, value: TensorLike) -> None:
        """Call `variable.assign_add(value)`."""
        variable.assign_add(value)

    def assign_sub(self, variable: Any, value: TensorLike) -> None:
        """Call `variable.assign_sub(value)`."""
        variable.assign_sub(value)

    def _get_variable_index(self, variable):
        """Return the index of a variable in the list that the optimizer was built for."""
        for index, known in enumerate(self._framework.built_for):
            if known is variable:
                return index
        raise InvalidArgumentError(
            f"Unknown variable: {variable}. This optimizer was built for other variables; call "
            "optimizer.build(variables) with all of them."
        )

    # ---- values in and out ----

    def set_weights(self, weights: TensorLike) -> None:
        """Set the values of `variables` from a list of arrays of the same shapes."""
        remedy = " Call optimizer.build(variables) first."
        set_values(self.variables, weights, "optimizer", self.name, remedy)

    def save_own_variables(self, store: Any) -> None:
        """Put the values of `variables` into a store: a mapping with the keys "0", "1", ..."""
        store_variables(self.variables, store)

    def load_own_variables(self, store: Any) -> None:
        """Set the values of `variables` to those that `save_own_variables` stored.

        If the numbers of variables differ, as before `build`, the method warns and loads nothing.
        """
        if len(store.keys()) != len(self.variables):
            warnings.warn(
                f"Skipping variable loading for optimizer {self.name!r}, because it has "
                f"{len(self.variables)} variables whereas the saved optimizer has "
                f"{len(store.keys())} variables. Call optimizer.build(variables) before loading.",
                stacklevel=2,
            )
            return
        load_variables(in_order_of(store, self), store, f"Optimizer {self.name!r}")

    def stateless_apply(self, optimizer_variables: Any, grads: Any, trainable_variables: Any):
        """Return the new values of all variables after an update, without changing the variables.

        Args:
            optimizer_variables: values for `variables`.
            grads: a list of gradients.
            trainable_variables: values for the variables that the optimizer was built for.

        Returns:
            Two lists: the new values of the trainable variables, and of the optimizer's variables.
        """
        held = [*self._framework.built_for, *self.variables]
        values = [*trainable_variables, *optimizer_variables]
        if len(held) != len(values) or not self._framework.built_for:
            raise InvalidArgumentError(
                f"stateless_apply: expected {len(self._framework.built_for)} trainable and "
                f"{len(self.variables)} optimizer variables, got {len(trainable_variables)} and "
                f"{len(optimizer_variables)}. Call optimizer.build(variables) first."
            )
        before = [v.array for v in held]
        try:
            for variable, value in zip(held, values):
                variable.assign(value)
            self.apply(grads, self._framework.built_for)
            after = [v.read() for v in held]
        finally:
            for variable, array in zip(held, before):
                variable.hold(array)
        return after[: len(self._framework.built_for)], after[len(self._framework.built_for) :]


def slot_name(variable, name):
    """Return the name of the slot variable `name` of a variable."""
    path = getattr(variable, "path", None) or variable.name
    return f"{path.replace('/', '_').replace(':', '_')}_{name}"


def in_order_of(store, optimizer):
    """Return the variables of an optimizer in the order of a store.

    Keras 3.0 puts shared state (`u_product` of Nadam) before the slots, later versions after them.
    """
    variables, shared = optimizer.variables, list(optimizer._framework.shared.values())
    keys = [str(number) for number in range(len(variables))]
    if not shared or sorted(keys) != sorted(store.keys()):
        return variables
    shape_of = getattr(store, "shape", lambda key: np.shape(store[key]))
    shapes = [tuple(shape_of(key)) for key in keys]
    others = [v for v in variables if not any(v is s for s in shared)]
    scalars = next((i for i, v in enumerate(others) if tuple(v.shape)), len(others))
    old = [*others[:scalars], *shared, *others[scalars:]]
    fits = lambda order: [tuple(v.shape) for v in order] == shapes
    return old if fits(old) and not fits(variables) else variables
