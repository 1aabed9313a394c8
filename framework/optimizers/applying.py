"""Applying gradients: checks, options, clipping, and the update of each variable by its plan."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.quiet import quiet
from framework.core.recorders import replaying, thread
from framework.core.tensor import Tensor
from framework.optimizers import averaging, clipping
from framework.optimizers.forms import Arrays, Tensors, is_multiple
from framework.optimizers.incoming import as_gradient, misfit, present
from framework.optimizers.rates import Rates
from framework.optimizers.updating import Plan, Updating

COUNT = np.dtype(np.int64)
"""The dtype of `iterations`."""


class Applying(Rates, Updating):
    """The part of an optimizer between `apply_gradients` and the update of one variable."""

    _plans: dict  # serial of a variable -> Plan
    _kinds: list  # the (rate, dtype) of the plans
    _known: dict  # serial -> a variable met so far
    _optional: bool  # whether a call takes more than clipping and updating
    _clips: bool
    _groups = None
    _hooked = False  # whether a subclass has an `update_step` of its own

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._hooked = cls.update_step is not Updating.update_step

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
        return self._iterations if not self._optional else self.iterations

    def apply(self, grads, trainable_variables=None):
        """Update variables by their gradients, given as two lists of equal length.

        Args:
            grads: as in `apply_gradients`.
            trainable_variables: where None, those that the optimizer was built for.
        """
        variables = trainable_variables
        if variables is None:
            variables = self._built_for
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
                self._apply_unusual(grads, variables)
                return
            array = grad.array  # the other one gets no name: updates in place count them
            if array.shape != variable._array.shape or array.dtype != variable._array.dtype:
                raise misfit(grad, variable)
            arrays.append(array)
        if not arrays:
            return
        if thread.stack and replaying():
            self._apply(grads, variables, Tensors)
        else:
            self._apply(arrays, variables, Arrays)

    def _apply_unusual(self, grads, variables):
        if any(g is None for g in grads):
            grads, variables = present(grads, variables)
        self.apply([g if type(g) is Tensor else as_gradient(g) for g in grads], variables)

    def _apply(self, grads, variables, form):
        count = form.count(self._iterations)
        known = self._plans
        try:
            plans = [known[v.serial] for v in variables]
        except KeyError:
            plans = self._plans_of(variables)
        if not (self._optional or self._clips):
            self._update_all(grads, variables, plans, count, form)
        else:
            with np.errstate(all="ignore"):
                self._apply_with_options(grads, variables, plans, count, form)
        for variable in variables:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable.read()))
        form.write(self._iterations, form.number(count + 1, COUNT))

    def _plans_of(self, variables):
        if self._hooked and not self.built:
            self.build(variables)
        if self._groups is not None:
            self._groups.meet(variables)
        return [self._plans.get(v.serial) or self._plan(v) for v in variables]

    def _apply_with_options(self, grads, variables, plans, count, form):
        if not all(plan.trainable for plan in plans):
            chosen = [i for i, plan in enumerate(plans) if plan.trainable]
            grads, variables, plans = ([xs[i] for i in chosen] for xs in (grads, variables, plans))
        if self.loss_scale_factor:
            grads = [g / self.loss_scale_factor for g in grads]
        due, updates, steps = True, count, self.gradient_accumulation_steps
        if steps:
            due, updates = is_multiple(count + 1, steps), count // steps
            sums = [self._slot(v, "gradient_accumulator", _zeros) for v in variables]
            if due:
                grads = averaging.means(grads, sums, steps, form)
            else:
                averaging.accumulate(grads, sums, form)
        every = self.ema_overwrite_frequency
        overwrites = self.use_ema and every and is_multiple(updates + 1, every)
        if due and grads:
            self._update_all(self._clipped(grads, plans), variables, plans, updates, form)
        if self.use_ema:
            self._average(updates, overwrites, form)

    def _average(self, updates, overwrites, form):
        """Move the averages of all variables met so far; overwrite the variables where due."""
        variables = list(self._known.values())
        averages = [self._slot(v, "average", _zeros) for v in variables]
        averaging.update_averages(variables, averages, self.ema_momentum, updates, form)
        if overwrites:
            for variable, average in zip(variables, averages):
                form.write(variable, form.read(average))

    def _clipped(self, grads, plans):
        if self._groups is not None and any(plan.clip for plan in plans):
            shared = [g for g, plan in zip(grads, plans) if plan.clip is None]
            rest = iter(self._clipped_alike(shared))
            return [
                next(rest) if plan.clip is None else _clip(g, *plan.clip)
                for g, plan in zip(grads, plans)
            ]
        return self._clipped_alike(grads)

    def _clipped_alike(self, grads):
        if self.clipnorm:
            return [clipping.by_norm(g, self.clipnorm) for g in grads]
        if self.clipvalue:
            return [clipping.by_value(g, self.clipvalue) for g in grads]
        if self.global_clipnorm and grads:
            return clipping.by_global_norm(grads, self.global_clipnorm)
        return grads

    def _update_all(self, grads, variables, plans, updates, form):
        step = updates + 1
        if self.shared:
            with np.errstate(all="ignore"):
                self._share(step, form)
        if form is Arrays and self._updates_left != -1:
            self._towards_loops(plans)
        numbers = {}  # kind -> lr, step and what is shared, in the kind's dtype
        alike = {}  # (what does it, kind) -> {a plan's id: (its gradient, it)}
        for grad, variable, plan in zip(grads, variables, plans):
            kind = plan.kind
            if kind not in numbers:
                numbers[kind] = self._numbers(kind, step, form)
            if self._hooked:
                self._update_by_hook(variable, grad, plan, numbers[kind], form)
            elif form is Tensors:
                self._update_as_written(variable, grad, plan, numbers[kind], form)
            elif plan.program is not None and plan.program.form is not None:
                updates = alike.setdefault((plan.program.form.alike, kind), {})
                if id(plan) in updates:  # one variable twice: one after the other
                    self._update_in_place(updates.values(), numbers[kind])
                    updates.clear()
                updates[id(plan)] = grad, plan
            elif plan.bare is not None:
                variable.hold(plan.bare(variable._array[()], grad[()], None, *numbers[kind]))
            else:
                self._update_arrays(variable, grad, plan, numbers[kind])
        for (_, kind), updates in alike.items():
            self._update_in_place(updates.values(), numbers[kind])

    def _numbers(self, kind, step, form):
        rate, dtype = self._kinds[kind]
        if not self.shared:
            return form.cast(self._rate_now(rate, form), dtype), form.number(step, dtype)
        shared = [form.cast(form.read(v), dtype) for v in self._shared.values()]
        return [form.cast(self._rate_now(rate, form), dtype), form.number(step, dtype), *shared]

    def _kind(self, rate, dtype):
        for place, (known, of) in enumerate(self._kinds):
            if of == dtype and type(known) is type(rate) and known == rate:
                return place
        self._kinds.append((rate, dtype))
        return len(self._kinds) - 1

    def _plan(self, variable):
        """What is done with a variable, found out at its first update."""
        names, dtype = tuple(self.slots_of(variable)), variable.array.dtype
        rules = {} if self._groups is None else self._groups.settings(variable)
        decay = rules.get("weight_decay", self._decay_of(variable))
        decay = decay if decay and self._decays(variable) else None
        ways = (("clipnorm", clipping.by_norm), ("clipvalue", clipping.by_value))
        clip = next(((way, rules[name]) for name, way in ways if name in rules), None)
        if self._hooked or not variable.array.ndim:  # 0-d: as written is faster
            program = None
        else:
            program = self._program(dtype, decay, names, variable.array.ndim)
        held = (variable, *[self._slot(variable, name) for name in names])
        if self.use_ema:
            self._slot(variable, "average", _zeros)
        if self.gradient_accumulation_steps:
            self._slot(variable, "gradient_accumulator", _zeros)
        self._make_shared(dtype)
        kind = self._kind(rules.get("learning_rate"), dtype)
        # Plain descent on a number: nothing to do but `update`.
        bare = quiet(self.update) if not (names or decay or self._hooked) else None
        plan = Plan(names, decay, kind, program, clip, rules.get("trainable", True), held, bare)
        self._known[variable.serial] = variable
        self._plans[variable.serial] = plan
        return plan


def _zeros(_name, value):
    return np.zeros(value.shape, value.dtype)


def _clip(grad, way, limit):
    return way(grad, limit) if limit else grad
