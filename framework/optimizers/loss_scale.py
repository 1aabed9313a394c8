"""LossScaleOptimizer: scale the loss so that float16 gradients do not underflow."""

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import readable
from framework.core.stored import load_variables, store_variables
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable
from framework.ops.elementwise import is_finite, less, logical_and
from framework.ops.reduction import reduce_all
from framework.ops.slices import IndexedSlices, sliced
from framework.optimizers.asking import bind, group_of, scale_rates, state_of
from framework.optimizers.base import Optimizer, get, optimizers
from framework.optimizers.updating import OptimizerRecord


def _optimizer(value):
    optimizer = get(value)
    if not isinstance(optimizer, Optimizer):
        raise InvalidArgumentError("expected an optimizer or its name")
    if isinstance(optimizer, LossScaleOptimizer):
        raise InvalidArgumentError(
            "expected an optimizer without loss scaling, got a LossScaleOptimizer"
        )
    return optimizer


InnerOptimizer = Annotated[Any, Resolved("an optimizer", _optimizer, serialize=serialize_value)]

_INNER_FIELDS = (
    "learning_rate", "groups", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm",
    "use_ema", "ema_momentum", "ema_overwrite_frequency", "loss_scale_factor",
    "gradient_accumulation_steps",
)  # fmt: skip


_FORMER_FIELDS = {
    name: f"pass it to the inner optimizer, as in Adam({name}=...)" for name in _INNER_FIELDS
}


class _LossScaleRecord(OptimizerRecord):
    """The internal state of a `LossScaleOptimizer`.

    Attributes:
        stage: the state of the current step. None: the loss has not been scaled. "scaled":
            `scale_loss` scaled it, and `apply` unscales the gradients. "to be unscaled":
            `get_scaled_loss` scaled it, and the caller must unscale the gradients. "unscaled": the
            gradients are unscaled.
    """

    stage = None


@optimizers.add()
class LossScaleOptimizer(
    Optimizer, record=_LossScaleRecord, left_out=_INNER_FIELDS, former_fields=_FORMER_FIELDS,
    scales=True,
):  # fmt: skip
    """An optimizer that wraps another one for float16: Micikevicius et al. 2017, arXiv:1710.03740.

    The loss is multiplied by a scale before differentiation, and the gradients are divided by the
    scale before they are applied. A step with a gradient that is not finite is skipped and the
    scale is halved (even below 1); after `dynamic_growth_steps` finite steps in a row the scale is
    doubled. `fit` and `training_step` do all of this. In a custom loop write either

        scaled = optimizer.scale_loss(loss)                   # inside the tape
        optimizer.apply_gradients(zip(tape.gradient(scaled, variables), variables))

    or, to work with the unscaled gradients,

        scaled = optimizer.get_scaled_loss(loss)              # inside the tape
        gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, variables))
        optimizer.apply_gradients(zip(gradients, variables))

    Args:
        inner_optimizer: the optimizer that updates the variables; clipping, decay and other options
            are set on it. Its `loss_scale_factor` is removed.
        initial_scale: the first scale.
        dynamic_growth_steps: finite steps in a row after which the scale is doubled.

    Raises:
        ValueError: gradients are applied although their loss was not scaled, or although the
            gradients were not unscaled after `get_scaled_loss`; or gradients are unscaled twice.
    """

    if TYPE_CHECKING:  # type checkers must reject fields that only inner optimizers have

        def __init__(
            self, inner_optimizer: Any, initial_scale: float = 2.0**15,
            dynamic_growth_steps: int = 2000, *, name: str | None = None,
        ) -> None: ...  # fmt: skip

    inner_optimizer: InnerOptimizer
    initial_scale: float = 2.0**15
    dynamic_growth_steps: int = 2000

    def __post_init__(self):
        super().__post_init__()
        if self.inner_optimizer.loss_scale_factor:
            # with this and the dynamic scale, gradients would be divided twice
            self.inner_optimizer.loss_scale_factor = None
        if self.initial_scale <= 0 or self.dynamic_growth_steps < 1:
            raise InvalidArgumentError(
                "LossScaleOptimizer: expected initial_scale > 0 and dynamic_growth_steps >= 1, got "
                f"{self.initial_scale} and {self.dynamic_growth_steps}."
            )

        def state(value, dtype, name):
            return KerasVariable(np.asarray(value, dtype), trainable=False, name=name)

        self.dynamic_scale = state(self.initial_scale, np.float32, "dynamic_scale")
        self.step_counter = state(0, np.int32, "step_counter")
        self.skipped_steps = state(0, np.int64, "skipped_steps")

    # ---- scaling ----

    def scale_loss(self, loss: Any):
        """Return the loss times the scale; `apply_gradients` divides the gradients by the scale."""
        self._framework.stage = "scaled"
        return loss * cast(self.dynamic_scale.read(), dtype=loss.array.dtype)

    def get_scaled_loss(self, loss: Any):
        """Return the loss times the scale; call `get_unscaled_gradients` on the gradients."""
        scaled = self.scale_loss(loss)
        self._framework.stage = "to be unscaled"
        return scaled

    def get_unscaled_gradients(self, grads: Any):
        """Return the gradients of a scaled loss divided by the scale; None stays None."""
        if self._framework.stage == "unscaled":
            raise InvalidArgumentError(
                "get_unscaled_gradients: these gradients are unscaled already; apply them."
            )
        _require_scaled(self, "get_unscaled_gradients")
        self._framework.stage = "unscaled"
        scale = self.dynamic_scale.read()
        return [None if g is None else _divided(g, scale) for g in grads]

    # ---- applying ----

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """Unscale the gradients if necessary; update if all of them are finite."""
        _require_scaled(self, "apply_gradients")
        if self._framework.stage == "to be unscaled":
            raise InvalidArgumentError(
                "apply_gradients: the loss was scaled by get_scaled_loss, but the gradients were "
                "not unscaled: call optimizer.get_unscaled_gradients(gradients) first."
            )
        if self._framework.stage == "scaled":
            grads = self.get_unscaled_gradients(grads)
        self._framework.stage = None
        if self.check_finite(grads):
            # `grows` is computed before the update: a compiled plan evaluates all conditions before
            # it changes any variable.
            grows = not less(self.step_counter + 1, self.dynamic_growth_steps)
            self.inner_optimizer.apply(grads, trainable_variables)
            _grow(self, grows)
        else:
            _skip(self)

    def check_finite(self, grads: Any):
        """Return whether all elements of all gradients are finite."""
        finite = True
        for g in grads:
            g = g.values if type(g) is IndexedSlices else g  # noqa: PLW2901
            all_finite = reduce_all(is_finite(g), axis=_all_axes(g), keepdims=False)
            finite = all_finite if finite is True else logical_and(finite, all_finite)
        return bool(finite)

    # ---- members of the inner optimizer ----

    @property
    def learning_rate(self):
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: TensorLike):
        self.inner_optimizer.learning_rate = value

    @property
    def iterations(self):
        """The number of updates so far, without skipped steps."""
        return self.inner_optimizer.iterations

    @property
    def variables(self):
        own = [self.dynamic_scale, self.step_counter, self.skipped_steps]
        return [*own, *self.inner_optimizer.variables]

    @readable
    def state_variables(self):
        own = [self.dynamic_scale, self.step_counter, self.skipped_steps]
        return [*own, *state_of(self.inner_optimizer)]

    def save_own_variables(self, store: Any) -> None:
        store_variables(_stored(self), store)

    def load_own_variables(self, store: Any) -> None:
        load_variables(_stored(self), store, f"Optimizer {self.name!r}")

    def build(self, var_list: Any) -> None:
        self.inner_optimizer.build(var_list)
        self._framework.built_for = self.inner_optimizer._framework.built_for

    def stateless_apply(self, optimizer_variables: Any, grads: Any, trainable_variables: Any):
        """Like `Optimizer.stateless_apply`, for gradients of the scaled loss."""
        self._framework.stage = "scaled"
        return super().stateless_apply(optimizer_variables, grads, trainable_variables)

    def bind(self, root: Any) -> None:
        bind(self.inner_optimizer, root)

    def group_of(self, variable: Any):
        return group_of(self.inner_optimizer, variable)

    def scale_learning_rate(self, factor: Any) -> None:
        scale_rates(self.inner_optimizer, factor)

    def finalize_variable_values(self, var_list: Any) -> None:
        self.inner_optimizer.finalize_variable_values(var_list)


def _stored(optimizer):
    """Return the variables to save, as in Keras, which has no counter of skipped steps."""
    own = optimizer._framework
    counters = [own.iterations, own.learning_rate, optimizer.step_counter, optimizer.dynamic_scale]
    return [*counters, *optimizer.inner_optimizer.variables]


def _divided(gradient, scale):
    if type(gradient) is IndexedSlices:
        values = _divided(gradient.values, scale)
        return sliced(values, gradient.indices, gradient.dense_shape)
    return gradient / cast(scale, dtype=gradient.array.dtype)


def _all_axes(tensor: Tensor):
    return tuple(range(tensor.array.ndim))


def _require_scaled(optimizer, method):
    if optimizer._framework.stage is None:
        raise InvalidArgumentError(
            f"{method}: the loss of this step was not scaled. Inside the tape, "
            "differentiate optimizer.scale_loss(loss) instead of the loss."
        )


def _grow(optimizer, grows):
    if grows:
        optimizer.step_counter.assign(0)
        optimizer.dynamic_scale.assign(optimizer.dynamic_scale * 2.0)
    else:
        optimizer.step_counter.assign_add(1)


def _skip(optimizer):
    optimizer.step_counter.assign(0)
    optimizer.skipped_steps.assign_add(1)
    optimizer.dynamic_scale.assign(optimizer.dynamic_scale / 2.0)
