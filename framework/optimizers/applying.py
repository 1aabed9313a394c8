"""Apply gradients: check and clip them, apply options, run the update of each variable."""

import re
from typing import Any

import numpy as np

from framework.core import deferred
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import builtin, in_package
from framework.core.numpy_warnings import no_warnings
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.optimizers import averaging, clipping
from framework.optimizers.forms import Arrays, Tensors, is_multiple
from framework.optimizers.incoming import as_gradient, mismatch_error, without_missing
from framework.optimizers.protocol import member, protocol_of
from framework.optimizers.rates import Rates, rate_now
from framework.optimizers.updating import (
    Updating,
    VariablePlan,
    make_shared,
    program_of,
    share,
    slot_of,
    switch_when_due,
    update_arrays,
    update_as_written,
    update_by_hook,
    update_in_place,
)

COUNT = np.dtype(np.int64)
"""The dtype of `iterations`."""


class Applying(Rates, Updating):
    """The part of an optimizer that applies gradients to all variables."""

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        cls._framework.protocol = protocol_of(cls)
        cls._framework.hooked = cls.update_step is not Updating.update_step

    def apply_gradients(self, grads_and_vars: Any):
        """Update variables by their gradients.

        Args:
            grads_and_vars: pairs (gradient, variable). A gradient is a tensor of the variable's
                shape and dtype, a variable holding such a tensor, or IndexedSlices; None is
                skipped with a warning.

        Returns:
            The number of updates so far, a variable.

        Raises:
            ValueError: all gradients are missing, or the shape of a gradient differs from the
                shape of its variable.
        """
        grads, variables, missing = [], [], False
        for grad, variable in grads_and_vars:
            grads.append(grad)
            variables.append(variable)
            if grad is None:
                missing = True
        if not grads:
            raise InvalidArgumentError(
                "apply_gradients: expected (gradient, variable) pairs, got none."
            )
        if missing:
            grads, variables = _present(self, grads, variables)
        self.apply(grads, variables)
        own = self._framework
        return self.iterations if own.optional else own.iterations

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """Update variables by their gradients, passed as two lists of equal length.

        Args:
            grads: as in `apply_gradients`.
            trainable_variables: the variables; None for those that the optimizer was built for.
        """
        variables = trainable_variables
        if variables is None:
            variables = self._framework.built_for
            if not variables:
                raise InvalidArgumentError(
                    "apply: expected trainable_variables=[...], got None, but the optimizer is not "
                    "built. Pass the variables, or call optimizer.build(variables) first."
                )
        grads = grads if type(grads) is list else list(grads)
        variables = variables if type(variables) is list else list(variables)
        if len(grads) != len(variables):
            raise InvalidArgumentError(
                f"apply: expected one gradient per variable, got {len(grads)} gradients for "
                f"{len(variables)} variables."
            )
        arrays = []
        for grad, variable in zip(grads, variables):
            if type(grad) is not Tensor:
                _apply_converted(self, grads, variables)
                return
            # `variable._array` gets no local name, because another reference to the array would
            # prevent an in-place update.
            array = grad.array
            if array.shape != variable._array.shape or array.dtype != variable._array.dtype:
                raise mismatch_error(grad, variable)
            arrays.append(array)
        if not arrays:
            return
        if thread.stack and replaying():
            builtin(self)._apply(self, grads, variables, Tensors)
        else:
            builtin(self)._apply(self, arrays, variables, Arrays)

    def _apply(self, grads, variables, form):
        own = self._framework
        count, known = form.count(own.iterations), own.plans
        try:
            plans = [known[v.serial] for v in variables]
        except KeyError:
            plans = plans_of(self, variables)
        if not (own.optional or own.clips):
            _update_all(self, grads, variables, plans, count, form)
        else:
            with np.errstate(all="ignore"):
                _apply_with_options(self, grads, variables, plans, count, form)
        for variable in variables:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable.read()))
        form.write(own.iterations, form.number(count + 1, COUNT))


def _zeros(_name, value):
    return np.zeros(value.shape, value.dtype)


def _clip(grad, clip, limit):
    return clip(grad, limit) if limit else grad


def _apply_converted(optimizer, grads, variables):
    if any(g is None for g in grads):
        grads, variables = _present(optimizer, grads, variables)
    optimizer.apply([g if type(g) is Tensor else as_gradient(g) for g in grads], variables)


def _present(optimizer, grads, variables):
    """Return the gradients that are not None, and their variables.

    Variables without a gradient get slots too, as in Keras: saved files number the slots, and a new
    model has slots for all its variables.
    """
    present = without_missing(grads, variables)
    if not optimizer.built:
        optimizer.build(variables)
    return present


def plans_of(optimizer, variables):
    if type(optimizer)._framework.hooked and not optimizer.built:
        optimizer.build(variables)
    if optimizer._framework.groups is not None:
        optimizer._framework.groups.meet(variables)
    return [optimizer._framework.plans.get(v.serial) or plan_of(optimizer, v) for v in variables]


def _apply_with_options(optimizer, grads, variables, plans, count, form):
    if not all(plan.trainable for plan in plans):
        chosen = [i for i, plan in enumerate(plans) if plan.trainable]
        grads, variables, plans = ([xs[i] for i in chosen] for xs in (grads, variables, plans))
    if optimizer.loss_scale_factor:
        grads = [g / optimizer.loss_scale_factor for g in grads]
    due, updates, steps = True, count, optimizer.gradient_accumulation_steps
    if steps:
        due, updates = is_multiple(count + 1, steps), count // steps
        sums = [slot_of(optimizer, v, "gradient_accumulator", _zeros) for v in variables]
        if due:
            grads = averaging.means(grads, sums, steps, form)
        else:
            averaging.accumulate(grads, sums, form)
    every = optimizer.ema_overwrite_frequency
    overwrites = optimizer.use_ema and every and is_multiple(updates + 1, every)
    if due and grads:
        _update_all(optimizer, _clipped(optimizer, grads, plans), variables, plans, updates, form)
    if optimizer.use_ema:
        _average(optimizer, updates, overwrites, form)


def _average(optimizer, updates, overwrites, form):
    """Update the moving averages of all variables; if `overwrites`, also set the variables."""
    variables = list(optimizer._framework.known.values())
    averages = [slot_of(optimizer, v, "average", _zeros) for v in variables]
    averaging.update_averages(variables, averages, optimizer.ema_momentum, updates, form)
    if overwrites:
        for variable, average in zip(variables, averages):
            form.write(variable, form.read(average))


def _clipped(optimizer, grads, plans):
    if optimizer._framework.groups is not None and any(plan.clip for plan in plans):
        shared = [g for g, plan in zip(grads, plans) if plan.clip is None]
        rest = iter(_clipped_by_options(optimizer, shared))
        return [
            next(rest) if plan.clip is None else _clip(g, *plan.clip)
            for g, plan in zip(grads, plans)
        ]
    return _clipped_by_options(optimizer, grads)


def _clipped_by_options(optimizer, grads):
    if optimizer.clipnorm:
        return [clipping.by_norm(g, optimizer.clipnorm) for g in grads]
    if optimizer.clipvalue:
        return [clipping.by_value(g, optimizer.clipvalue) for g in grads]
    if optimizer.global_clipnorm and grads:
        return clipping.by_global_norm(grads, optimizer.global_clipnorm)
    return grads


def _update_all(optimizer, grads, variables, plans, updates, form):
    step, own, cls = updates + 1, optimizer._framework, type(optimizer)._framework
    if cls.protocol.shared:
        with np.errstate(all="ignore"):
            share(optimizer, step, form)
    if form is Arrays and own.updates_left != -1:
        switch_when_due(optimizer, plans)
    numbers = {}  # maps the index of a rate to (lr, step, *shared state), in the variables' dtype
    for plan in plans:
        index = plan.rate_index
        if index not in numbers:
            numbers[index] = _numbers(optimizer, index, step, form)
    block = _block(optimizer, grads, plans, numbers) if form is Tensors else None
    if block is None:
        _update_each(optimizer, grads, variables, plans, numbers, form)
        return
    recorder, known = block
    if known:
        grads = [grad.array for grad in grads]
        numbers = {index: [n.array[()] for n in each] for index, each in numbers.items()}
    _update_each(optimizer, grads, variables, plans, numbers, Arrays if known else Tensors)
    recorder.end_block()


def _block(optimizer, grads, plans, numbers):
    """Call the recorder's `begin_block`; return (recorder, whether it needs no ops of this update).

    Return None unless exactly one recorder is active and the optimizer class is built-in.
    """
    if len(thread.stack) != 1 or not in_package(type(optimizer)):
        return None
    if type(optimizer)._framework.hooked:
        return None
    (recorder,) = thread.stack
    inputs = [*grads, *[number for each in numbers.values() for number in each]]
    held = [variable for plan in plans for variable in plan.held]
    return recorder, recorder.begin_block(tuple(plans), inputs, held)


def _update_each(optimizer, grads, variables, plans, numbers, form):
    hooked = type(optimizer)._framework.hooked
    batches = {}  # maps (compiled update, index of a rate) to {id(plan): (gradient, plan)}
    for grad, variable, plan in zip(grads, variables, plans):
        index, program = plan.rate_index, plan.program
        if hooked:
            update_by_hook(optimizer, variable, grad, plan, numbers[index], form)
        elif form is Tensors:
            update_as_written(optimizer, variable, grad, plan, numbers[index], form)
        elif program is not None and program.form is not None:
            batch = batches.setdefault((program.form.alike, index), {})
            if id(plan) in batch:  # for a variable that occurs twice, apply the first gradient now
                update_in_place(optimizer, batch.values(), numbers[index])
                batch.clear()
            batch[id(plan)] = grad, plan
        elif plan.bare is not None:
            variable.hold(plan.bare(variable._array[()], grad[()], None, *numbers[index]))
        else:
            update_arrays(optimizer, variable, grad, plan, numbers[index])
    for (_, index), batch in batches.items():
        update_in_place(optimizer, batch.values(), numbers[index])


def _numbers(optimizer, index, step, form):
    own = optimizer._framework
    rate, dtype = own.rates[index]
    numbers = form.cast(rate_now(optimizer, rate, form), dtype), form.number(step, dtype)
    return (*numbers, *_shared_numbers(own, dtype, form)) if own.shared else numbers


def _shared_numbers(own, dtype, form):
    return [form.cast(form.read(v), dtype) for v in own.shared.values()]


def _rate_index(optimizer, rate, dtype):
    rates = optimizer._framework.rates
    for index, (known, known_dtype) in enumerate(rates):
        if known_dtype == dtype and type(known) is type(rate) and known == rate:
            return index
    rates.append((rate, dtype))
    return len(rates) - 1


def plan_of(optimizer, variable):
    """Create, store and return the VariablePlan of a variable."""
    own, cls = optimizer._framework, type(optimizer)._framework
    names, dtype = tuple(member(optimizer, "slots_of")(variable)), variable.array.dtype
    rules = {} if own.groups is None else own.groups.settings(variable)
    decay = rules.get("weight_decay", cls.builtin._decay_of(optimizer, variable))
    decay = decay if decay and decays(optimizer, variable) else None
    clips = (("clipnorm", clipping.by_norm), ("clipvalue", clipping.by_value))
    clip = next(((by, rules[name]) for name, by in clips if name in rules), None)
    if cls.hooked or not variable.array.ndim:  # a plain NumPy update is faster for a 0-d array
        program = None
    else:
        program = program_of(optimizer, dtype, decay, names, variable.array.ndim)
    held = (variable, *[slot_of(optimizer, variable, name) for name in names])
    if optimizer.use_ema:
        slot_of(optimizer, variable, "average", _zeros)
    if optimizer.gradient_accumulation_steps:
        slot_of(optimizer, variable, "gradient_accumulator", _zeros)
    make_shared(optimizer, dtype)
    index = _rate_index(optimizer, rules.get("learning_rate"), dtype)
    # Without slots, weight decay and hooks, `update` alone computes the new value of a scalar.
    bare = None if names or decay or cls.hooked else no_warnings(member(optimizer, "update"))
    trainable = rules.get("trainable", True)
    plan = VariablePlan(names, decay, index, program, clip, trainable, held, bare)
    own.known[variable.serial] = variable
    own.plans[variable.serial] = plan
    if deferred.waiting:
        deferred.fill()
    return plan


def decays(optimizer, variable):
    if variable.serial in optimizer._framework.no_decay:
        return False
    return not any(re.search(name, variable.name) for name in optimizer._framework.no_decay_names)
