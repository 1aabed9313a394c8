"""Plans: runs a function of a model and a batch by compiled plans."""

import numpy as np

from framework.compiler.call_arguments import CallArguments, describe, named, replaced
from framework.compiler.compiled import Compiled, compiles
from framework.core import dtypes
from framework.core.change_counters import changes
from framework.core.recorders import thread
from framework.core.tensor import Tensor, masks
from framework.layers.tracking import structure
from framework.training.inputs import as_tensors

BATCH = ("x", "y", "sample_weight")
_CHANGES = 8  # changes of settings in a row without a plan, after which `explain` reports them


class Plans:
    """The plans of one function of a model and a batch.

    A plan is valid for one batch signature (dtypes, shapes, structure) and for one state of the
    model: which variables and layers train, and the settings of its layers and its optimizer.

    Args:
        model: the model; its `run_eagerly` switches plans off.
        name: the name of the function in the source.
    """

    def __init__(self, model, name):
        self._model, self.compiled = model, Compiled(name)
        self._facts = None  # (change counters, hash of the model's state at these counters)
        self._in_vain = 0  # changes of settings in a row without a plan between them

    def possible(self):
        """Return whether this call may run by a plan."""
        return not self._model.run_eagerly and compiles()

    def __call__(self, run, batch, held=(), extra=(), names=BATCH):
        """Return `run(*batch, *held)`, run by a plan.

        Args:
            run: the Python function to trace.
            batch: a list of nests of tensors and arrays, or None.
            held: further arguments: nests of tensors, arrays and strings, not converted.
            extra: further parts of the plan's key.
            names: the arguments' names in the source.
        """
        arrays = []
        key = [self._model_state(), *extra]
        for i, part in enumerate(batch):
            cls = type(part)
            ready = cls is np.ndarray and part.dtype in dtypes.by_array
            if ready or (cls is Tensor and not masks.in_use):
                array = part if ready else part.array
                arrays.append(array)
                key.append(array.dtype)
                key.append(array.shape)
                if not array.flags.c_contiguous:
                    key.append(array.strides)
            elif part is None:
                key += cls, None  # the form that `describe` gives
            else:
                batch[i] = as_tensors(part)
                describe(batch[i], key, arrays, id)
        if held:
            for part in held:
                describe(part, key, arrays, id)
            batch = [*batch, *held]
        return self.compiled(tuple(key), arrays, _BatchFunction(run, batch, names))

    def _model_state(self):
        counts = changes.trainable, changes.configured, structure[0]
        if self._facts is None or self._facts[0] != counts:
            if self._facts is not None and self._facts[0][1] != counts[1]:
                self._forget()
            model = self._model
            layers = tuple([layer.trainable for layer in model._flatten_layers()])
            variables = tuple([(v.serial, v.trainable) for v in model.variables])
            self._facts = counts, hash((counts[1], layers, variables))
        return self._facts[1]

    def _forget(self):
        self._in_vain = 0 if self.compiled.plans else self._in_vain + 1
        if self._in_vain == _CHANGES:
            self.compiled.tell(f"runs eagerly: {changes.latest} changes from call to call")
        self.compiled.forget_all()


class _BatchFunction(CallArguments):
    """A function of a batch as a function of the batch's tensors, for tracing."""

    __slots__ = ("_names", "_run")

    def __init__(self, run, batch, names):
        self.values, self._leaves = batch, None  # as in the base class, without a call
        self._run, self._names = run, names

    def __call__(self, tensors):
        tensors = iter(tensors)
        outer, thread.working = thread.working, True
        try:
            return self._run(*[replaced(part, tensors) for part in self.values])
        finally:
            thread.working = outer

    @property
    def names(self):
        parts = self.values
        if len(parts) == 1 and isinstance(parts[0], tuple) and len(parts[0]) <= 3:
            (parts,) = parts  # the `data` of a train_step
        return named(self._names, parts)
