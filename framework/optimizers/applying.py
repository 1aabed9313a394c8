"""Applying gradients: checks, options, clipping, and the update of each variable by its plan."""

import re

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.own import builtin
from framework.core.quiet import quiet
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.optimizers import averaging, clipping
from framework.optimizers.forms import Arrays, Tensors, is_multiple
from framework.optimizers.incoming import as_gradient, misfit, present
from framework.optimizers.protocol import member, protocol_of
from framework.optimizers.rates import Rates, rate_now
from framework.optimizers.updating import (
    Plan,
    Updating,
    make_shared,
    program_of,
    share,
    slot_of,
    towards_loops,
    update_arrays,
    update_as_written,
    update_by_hook,
    update_in_place,
)

COUNT = np.dtype(np.int64)
"""The dtype of `iterations`."""


class Applying(Rates, Updating):
    """The part of an optimizer between `apply_gradients` and the update of one variable."""

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        cls._framework.protocol = protocol_of(cls)
        cls._framework.hooked = cls.update_step is not Updating.update_step

    def apply_gradients(self, grads_and_vars):
        """Update variables by their gradients.

        Args:
            grads_and_vars: pairs (gradient, variable). A gradient is a tensor of the variable's
                shape and dtype, or a variable holding one, or IndexedSlices of one; None is passed
                over with a warning.

        Returns:
            The number of updates so far, a variable.

        Raises:
            ValueError: no gradient at all, or one of another shape than its variable.
        """
        grads, variables, missing = [], [], False
        for grad, variable in grads_and_vars:
            grads.append(grad)
            variables.append(variable)
            if grad is None:
                missing = True
        if not grads:
            raise InvalidArgumentError("apply_gradients: no (gradient, variable) pairs were given.")
        if missing:
            grads, variables = present(grads, variables)
        self.apply(grads, variables)
        own = self._framework
        return self.iterations if own.optional else own.iterations

    def apply(self, grads, trainable_variables=None):
        """Update variables by their gradients, given as two lists of equal length.

        Args:
            grads: as in `apply_gradients`.
            trainable_variables: where None, those that the optimizer was built for.
        """
        variables = trainable_variables
        if variables is None:
            variables = self._framework.built_for
            if not variables:
                raise InvalidArgumentError(
                    "apply: pass trainable_variables=[...] beside the gradients, or call "
                    "optimizer.build(variables) first."
                )
        grads = grads if type(grads) is list else list(grads)
        variables = variables if type(variables) is list else list(variables)
        if len(grads) != len(variables):
            raise InvalidArgumentError(
                f"apply: got {len(grads)} gradients for {len(variables)} variables."
            )
        arrays = []
        for grad, variable in zip(grads, variables):
            if type(grad) is not Tensor:
                _apply_unusual(self, grads, variables)
                return
            array = grad.array  # the other one gets no name: updates in place count them
            if array.shape != variable._array.shape or array.dtype != variable._array.dtype:
                raise misfit(grad, variable)
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


def _clip(grad, way, limit):
    return way(grad, limit) if limit else grad


def _apply_unusual(optimizer, grads, variables):
    if any(g is None for g in grads):
        grads, variables = present(grads, variables)
    optimizer.apply([g if type(g) is Tensor else as_gradient(g) for g in grads], variables)


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
    """Move the averages of all variables met so far; overwrite the variables where due."""
    variables = list(optimizer._framework.known.values())
    averages = [slot_of(optimizer, v, "average", _zeros) for v in variables]
    averaging.update_averages(variables, averages, optimizer.ema_momentum, updates, form)
    if overwrites:
        for variable, average in zip(variables, averages):
            form.write(variable, form.read(average))


def _clipped(optimizer, grads, plans):
    if optimizer._framework.groups is not None and any(plan.clip for plan in plans):
        shared = [g for g, plan in zip(grads, plans) if plan.clip is None]
        rest = iter(_clipped_alike(optimizer, shared))
        return [
            next(rest) if plan.clip is None else _clip(g, *plan.clip)
            for g, plan in zip(grads, plans)
        ]
    return _clipped_alike(optimizer, grads)


def _clipped_alike(optimizer, grads):
    if optimizer.clipnorm:
        return [clipping.by_norm(g, optimizer.clipnorm) for g in grads]
    if optimizer.clipvalue:
        return [clipping.by_value(g, optimizer.clipvalue) for g in grads]
    if optimizer.global_clipnorm and grads:
        return clipping.by_global_norm(grads, optimizer.global_clipnorm)
    return grads


def _update_all(optimizer, grads, variables, plans, updates, form):
    step, own, facts = updates + 1, optimizer._framework, type(optimizer)._framework
    hooked = facts.hooked
    if facts.protocol.shared:
        with np.errstate(all="ignore"):
            share(optimizer, step, form)
    if form is Arrays and own.updates_left != -1:
        towards_loops(optimizer, plans)
    numbers = {}  # kind -> lr, step and what is shared, in the kind's dtype
    alike = {}  # (what does it, kind) -> {a plan's id: (its gradient, it)}
    for grad, variable, plan in zip(grads, variables, plans):
        kind = plan.kind
        if kind not in numbers:
            numbers[kind] = _numbers(optimizer, kind, step, form)
        if hooked:
            update_by_hook(optimizer, variable, grad, plan, numbers[kind], form)
        elif form is Tensors:
            update_as_written(optimizer, variable, grad, plan, numbers[kind], form)
        elif plan.program is not None and plan.program.form is not None:
            updates = alike.setdefault((plan.program.form.alike, kind), {})
            if id(plan) in updates:  # one variable twice: one after the other
                update_in_place(optimizer, updates.values(), numbers[kind])
                updates.clear()
            updates[id(plan)] = grad, plan
        elif plan.bare is not None:
            variable.hold(plan.bare(variable._array[()], grad[()], None, *numbers[kind]))
        else:
            update_arrays(optimizer, variable, grad, plan, numbers[kind])
    for (_, kind), updates in alike.items():
        update_in_place(optimizer, updates.values(), numbers[kind])


def _numbers(optimizer, kind, step, form):
    own = optimizer._framework
    rate, dtype = own.kinds[kind]
    if not own.shared:
        return form.cast(rate_now(optimizer, rate, form), dtype), form.number(step, dtype)
    shared = [form.cast(form.read(v), dtype) for v in own.shared.values()]
    return [form.cast(rate_now(optimizer, rate, form), dtype), form.number(step, dtype), *shared]


def _kind(optimizer, rate, dtype):
    for place, (known, of) in enumerate(optimizer._framework.kinds):
        if of == dtype and type(known) is type(rate) and known == rate:
            return place
    optimizer._framework.kinds.append((rate, dtype))
    return len(optimizer._framework.kinds) - 1


def plan_of(optimizer, variable):
    """What is done with a variable, found out at its first update."""
    own, facts = optimizer._framework, type(optimizer)._framework
    names, dtype = tuple(member(optimizer, "slots_of")(variable)), variable.array.dtype
    rules = {} if own.groups is None else own.groups.settings(variable)
    decay = rules.get("weight_decay", facts.builtin._decay_of(optimizer, variable))
    decay = decay if decay and decays(optimizer, variable) else None
    ways = (("clipnorm", clipping.by_norm), ("clipvalue", clipping.by_value))
    clip = next(((way, rules[name]) for name, way in ways if name in rules), None)
    if facts.hooked or not variable.array.ndim:  # 0-d: as written is faster
        program = None
    else:
        program = program_of(optimizer, dtype, decay, names, variable.array.ndim)
    held = (variable, *[slot_of(optimizer, variable, name) for name in names])
    if optimizer.use_ema:
        slot_of(optimizer, variable, "average", _zeros)
    if optimizer.gradient_accumulation_steps:
        slot_of(optimizer, variable, "gradient_accumulator", _zeros)
    make_shared(optimizer, dtype)
    kind = _kind(optimizer, rules.get("learning_rate"), dtype)
    # Plain descent on a number: nothing to do but `update`.
    bare = None if names or decay or facts.hooked else quiet(member(optimizer, "update"))
    plan = Plan(names, decay, kind, program, clip, rules.get("trainable", True), held, bare)
    own.known[variable.serial] = variable
    own.plans[variable.serial] = plan
    return plan


def decays(optimizer, variable):
    if variable.serial in optimizer._framework.no_decay:
        return False
    return not any(re.search(name, variable.name) for name in optimizer._framework.no_decay_names)
