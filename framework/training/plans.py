"""A model's work on a batch, by compiled plans where that can be."""

import numpy as np

from framework.compiler.arguments import Arguments, describe, named, replaced
from framework.compiler.compiled import Compiled, compiles
from framework.core import dtypes
from framework.core.changes import changes
from framework.core.recorders import thread
from framework.core.tensor import Tensor, masks
from framework.layers.tracking import structure
from framework.training.inputs import as_tensors

BATCH = ("x", "y", "sample_weight")
_CHANGES = 8  # of settings without a plan between them, until that is told


class Plans:
    """The plans of one function of a model and a batch.

    A plan holds for one kind of batch (dtypes, shapes, structure), and for what the model is like:
    which of its variables and layers train, how its layers and its optimizer are configured.

    Args:
        model: whose `run_eagerly` is respected.
        name: of the function in the source.
    """

    def __init__(self, model, name):
        self._model, self.compiled = model, Compiled(name)
        self._facts = None  # the counts of changes when the model was looked at, and what it is
        self._in_vain = 0  # how often in a row settings changed before there was a plan

    def possible(self):
        """Whether this call may run by a plan."""
        return not self._model.run_eagerly and compiles()

    def __call__(self, run, batch, held=(), extra=(), names=BATCH):
        """`run(*batch, *held)` by a plan.

        Args:
            run: the work in Python, which is recorded.
            batch: a list of nests of tensors and arrays; None, where there is nothing.
            held: further arguments, nests of tensors, arrays and texts, taken as they are.
            extra: what else the run depends on.
            names: of the arguments, for the source.
        """
        arrays = []
        key = [self._taken_for_granted(), *extra]
        for i, part in enumerate(batch):
            kind = type(part)
            ready = kind is np.ndarray and part.dtype in dtypes.by_array
            if ready or (kind is Tensor and not masks.in_use):
                array = part if ready else part.array
                arrays.append(array)
                key.append(array.dtype)
                key.append(array.shape)
                if not array.flags.c_contiguous:
                    key.append(array.strides)
            elif part is None:
                key += kind, None  # as `describe` has it
            else:
                batch[i] = as_tensors(part)
                describe(batch[i], key, arrays, id)
        if held:
            for part in held:
                describe(part, key, arrays, id)
            batch = [*batch, *held]
        return self.compiled(tuple(key), arrays, _Body(run, batch, names))

    def _taken_for_granted(self):
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
            self.compiled.tell(f"runs in Python: {changes.latest} changes from call to call")
        self.compiled.forget_all()


class _Body(Arguments):
    """Work on a batch as a function of the batch's tensors: what is recorded."""

    __slots__ = ("_names", "_run")

    def __init__(self, run, batch, names):
        self.values, self._leaves = batch, None  # as the base does it, without the call
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
