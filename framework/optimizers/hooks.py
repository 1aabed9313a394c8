"""The methods that optimizers written for Keras call and override."""

from framework import initializers
from framework.core import dtypes
from framework.core.assigning import set_values
from framework.core.errors import InvalidArgumentError
from framework.core.variable import KerasVariable


class KerasHooks:
    """For subclasses that make variables in `build` and override `update_step`."""

    _own_variables: list  # made by add_variable
    _built_for: list  # the variables given to build

    def add_variable(
        self, shape, initializer="zeros", dtype=None, aggregation="none", layout=None, name=None
    ):
        """A new variable of the optimizer.

        Args:
            shape: a tuple of ints.
            initializer: a name or a `keras.initializers.Initializer`.
            dtype: floatx where None.
            aggregation, layout: accepted; there is one process.
            name: a string without "/".
        """
        made = KerasVariable(
            initializers.get(initializer), shape=tuple(shape), dtype=dtype or dtypes.floatx(),
            trainable=False, name=name,
        )  # fmt: skip
        self._framework.own_variables.append(made)
        return made

    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        """A new variable of the optimizer, of another variable's shape and dtype."""
        return self.add_variable(
            reference_variable.shape, initializer, reference_variable.dtype,
            name=slot_name(reference_variable, name or "var"),
        )  # fmt: skip

    def add_optimizer_variables(self, trainable_variables, name, initializer="zeros"):
        """New variables for each of `trainable_variables`: a list, or with several names lists."""
        names = [name] if isinstance(name, str) else list(name)
        several = isinstance(initializer, (list, tuple))
        kinds = list(initializer) if several else [initializer] * len(names)
        if len(kinds) != len(names):
            raise InvalidArgumentError(
                f"add_optimizer_variables: expected as many initializers as names, got "
                f"{len(kinds)} and {len(names)}."
            )
        rows = [
            [self.add_variable_from_reference(v, n, kind) for n, kind in zip(names, kinds)]
            for v in trainable_variables
        ]
        columns = [[row[i] for row in rows] for i in range(len(names))]
        return columns[0] if isinstance(name, str) else tuple(columns)

    def assign(self, variable, value):
        """`variable.assign(value)`."""
        variable.assign(value)

    def assign_add(self, variable, value):
        """`variable.assign_add(value)`."""
        variable.assign_add(value)

    def assign_sub(self, variable, value):
        """`variable.assign_sub(value)`."""
        variable.assign_sub(value)

    def _get_variable_index(self, variable):
        """The place of a variable in the list that the optimizer was built for."""
        for index, known in enumerate(self._framework.built_for):
            if known is variable:
                return index
        raise InvalidArgumentError(
            f"Unknown variable: {variable}. This optimizer was built for other variables; call "
            "optimizer.build(variables) with all of them."
        )

    # ---- values in and out ----

    def set_weights(self, weights):
        """Set the values of `variables`, from as many arrays of the same shapes."""
        remedy = " Call optimizer.build(variables) first."
        set_values(self.variables, weights, "optimizer", self.name, remedy)

    def save_own_variables(self, store):
        """Put the values of `variables` into `store` under "0", "1", ..."""
        for index, variable in enumerate(self.variables):
            store[str(index)] = variable.numpy()

    def load_own_variables(self, store):
        """Take the values of `variables` from where `save_own_variables` put them."""
        self.set_weights([store[str(index)] for index in range(len(store.keys()))])

    def stateless_apply(self, optimizer_variables, grads, trainable_variables):
        """The update as a function: new values of both, with no variable changed.

        Args:
            optimizer_variables: values for `variables`.
            grads: a list of gradients.
            trainable_variables: values for the variables that the optimizer was built for.

        Returns:
            The new values of the trainable variables, and of the optimizer's, as two lists.
        """
        held = [*self._framework.built_for, *self.variables]
        given = [*trainable_variables, *optimizer_variables]
        if len(held) != len(given) or not self._framework.built_for:
            raise InvalidArgumentError(
                f"stateless_apply: expected {len(self._framework.built_for)} trainable and "
                f"{len(self.variables)} optimizer variables, got {len(trainable_variables)} and "
                f"{len(optimizer_variables)}. Call optimizer.build(variables) first."
            )
        before = [v.array for v in held]
        try:
            for variable, value in zip(held, given):
                variable.assign(value)
            self.apply(grads, self._framework.built_for)
            after = [v.read() for v in held]
        finally:
            for variable, array in zip(held, before):
                variable.hold(array)
        return after[: len(self._framework.built_for)], after[len(self._framework.built_for) :]


def slot_name(variable, name):
    """What an optimizer calls the variable that it keeps for another one."""
    path = getattr(variable, "path", None) or variable.name
    return f"{path.replace('/', '_').replace(':', '_')}_{name}"
