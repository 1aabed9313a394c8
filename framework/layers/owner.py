"""The lists of variables, weights and metrics that a layer and its inner layers own."""

from framework.core.change_counters import changes
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import Shown
from framework.core.weight_values import set_values
from framework.layers.tracking import Tracked, structure


class Owner(Tracked):
    """An object that lists the variables, layers and metrics it owns."""

    # Keras's names, which programs read
    _layers, _metrics, _seed_generators = map(Shown, ("layers", "metrics", "seed_generators"))
    _trainable_variables = Shown("trainable_variables")
    _non_trainable_variables = Shown("non_trainable_variables")

    @property
    def variables(self):
        """The weights and seed generator states of the layer and its inner layers."""
        return list(_every_variable(self))

    @property
    def trainable_variables(self):
        """The variables that training changes; [] if the layer is not trainable."""
        return (
            [v for v in _every_variable(self) if v.trainable] if self._framework.trainable else []
        )

    @property
    def non_trainable_variables(self):
        """The variables that training does not change."""
        if not self._framework.trainable:
            return self.variables
        return [v for v in _every_variable(self) if not v.trainable]

    @property
    def weights(self):
        """`variables` without the states of seed generators."""
        own = self._framework
        weights = [*own.trainable_variables, *own.non_trainable_variables]
        for layer in own.layers:
            weights += layer.weights
        for module in own.modules:
            weights += module.variables
        return distinct(weights)

    @property
    def trainable_weights(self):
        """The weights that training changes."""
        return [v for v in self.weights if v.trainable] if self._framework.trainable else []

    @property
    def non_trainable_weights(self):
        """The weights that training does not change."""
        weights = self.weights
        return [v for v in weights if not v.trainable] if self._framework.trainable else weights

    @property
    def metrics(self):
        """The metrics of the layer and its inner layers."""
        return [m for layer in self._flatten_layers() for m in layer._framework.metrics]

    @property
    def metrics_variables(self):
        """The variables of `metrics`."""
        return [v for metric in self.metrics for v in metric.variables]

    @property
    def trainable(self):
        """Whether training changes the variables; setting it also sets all inner layers."""
        return self._framework.trainable

    @trainable.setter
    def trainable(self, value):
        value = bool(value)
        self._framework.trainable = value
        changes.trainable += 1
        for variable in self._framework.trainable_variables:
            variable.trainable = value
        for layer in self._framework.layers:
            layer.trainable = value

    def _flatten_layers(self, include_self=True, recursive=True):
        """Return the layer and all inner layers without repetition, outer layers first."""
        layers, seen, waiting = [], set(), [self]
        while waiting:
            layer = waiting.pop()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if include_self or layer is not self:
                layers.append(layer)
            if recursive or layer is self:
                waiting.extend(reversed(layer._framework.layers))
        return layers

    def get_weights(self):
        """Return the values of `weights` as NumPy arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights):
        """Set the values of `weights` from a list of arrays of the same shapes."""
        set_values(self.weights, weights, "layer", self.name)

    def count_params(self):
        """Return the number of elements in all weights."""
        if not self.built:
            raise InvalidArgumentError(
                f"You tried to call `count_params` on layer {self.name!r}, but the layer isn't "
                "built. You can build it manually via: `layer.build(input_shape)`."
            )
        return sum(v.size for v in self.weights)


def distinct(variables):
    """Return the variables in order, without repetition."""
    return list({id(v): v for v in variables}.values())


def _every_variable(owner):
    """Return the list of `variables`, cached until any layer gains or loses one."""
    own = owner._framework
    cached = own.variables_cache
    if cached is None or cached[0] != structure[0]:
        variables = [*own.trainable_variables, *own.non_trainable_variables]
        variables += [generator.state for generator in own.seed_generators]
        for part in (*own.layers, *own.modules):
            variables += part.variables
        cached = own.variables_cache = (structure[0], distinct(variables))
    return cached[1]
