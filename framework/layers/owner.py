"""The lists of what a layer and the layers inside it own: variables, weights, metrics."""

from framework.core.assigning import set_values
from framework.core.changes import changes
from framework.core.errors import InvalidArgumentError
from framework.core.own import Shown
from framework.layers.tracking import Tracked, structure


class Owner(Tracked):
    """Reports what it tracks."""

    # Keras's names, which public code reads
    _layers, _metrics, _seed_generators = map(Shown, ("layers", "metrics", "seed_generators"))
    _trainable_variables = Shown("trainable_variables")
    _non_trainable_variables = Shown("non_trainable_variables")

    @property
    def variables(self):
        """Weights and the states of seed generators, of the layer and the layers inside."""
        return list(_every_variable(self))

    @property
    def trainable_variables(self):
        """The variables that training changes; none where the layer is not trainable."""
        return (
            [v for v in _every_variable(self) if v.trainable] if self._framework.trainable else []
        )

    @property
    def non_trainable_variables(self):
        """The others among `variables`."""
        if not self._framework.trainable:
            return self.variables
        return [v for v in _every_variable(self) if not v.trainable]

    @property
    def weights(self):
        """`variables` without the states of seed generators."""
        found = [*self._framework.trainable_variables, *self._framework.non_trainable_variables]
        for layer in self._framework.layers:
            found += layer.weights
        for module in self._framework.modules:
            found += module.variables
        return distinct(found)

    @property
    def trainable_weights(self):
        """The weights that training changes."""
        return [v for v in self.weights if v.trainable] if self._framework.trainable else []

    @property
    def non_trainable_weights(self):
        """The other weights."""
        weights = self.weights
        return [v for v in weights if not v.trainable] if self._framework.trainable else weights

    @property
    def metrics(self):
        """Metrics held by the layer and the layers inside."""
        return [m for layer in self._flatten_layers() for m in layer._framework.metrics]

    @property
    def metrics_variables(self):
        """The variables of `metrics`."""
        return [v for metric in self.metrics for v in metric.variables]

    @property
    def trainable(self):
        """Whether training changes its variables; setting it sets all layers inside too."""
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
        """The layer and those inside it, each once, each before those inside it."""
        found, seen, waiting = [], set(), [self]
        while waiting:
            layer = waiting.pop()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if include_self or layer is not self:
                found.append(layer)
            if recursive or layer is self:
                waiting.extend(reversed(layer._framework.layers))
        return found

    def get_weights(self):
        """The values of `weights` as NumPy arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights):
        """Set the values of `weights`, from as many arrays of the same shapes."""
        set_values(self.weights, weights, "layer", self.name)

    def count_params(self):
        """How many numbers the weights hold."""
        if not self.built:
            raise InvalidArgumentError(
                f"You tried to call `count_params` on layer {self.name!r}, but the layer isn't "
                "built. You can build it manually via: `layer.build(input_shape)`."
            )
        return sum(v.size for v in self.weights)


def distinct(variables):
    """Each variable once, in order."""
    return list({id(v): v for v in variables}.values())


def _every_variable(owner):
    """The list behind `variables`, kept until what any layer owns changes."""
    own = owner._framework
    cached = own.variables_now
    if cached is None or cached[0] != structure[0]:
        found = [*own.trainable_variables, *own.non_trainable_variables]
        found += [generator.state for generator in own.seed_generators]
        for part in (*own.layers, *own.modules):
            found += part.variables
        cached = own.variables_now = (structure[0], distinct(found))
    return cached[1]
