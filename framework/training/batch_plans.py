"""Compiled plans for functions of a model and a batch; conversion of batches to tensors."""

import numpy as np

from framework.compiler.call_arguments import CallArguments, describe, named, replaced
from framework.compiler.plan_cache import PlanCache, compiles
from framework.core import dtypes, nest
from framework.core.change_counters import changes
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import thread
from framework.core.tensor import Tensor, masks
from framework.data.batches import is_leaf
from framework.data.structure import map_named
from framework.layers.tracking import structure

BATCH = ("x", "y", "sample_weight")
# After settings changed this many times in a row, `explain` reports that the step runs eagerly.
_CHANGES = 8


class Plans:
    """Traces one function of a model and a batch, and runs it by compiled plans.

    A plan is valid for one batch signature (dtypes, shapes, structure) and for one state of the
    model: which variables and layers train, and the settings of its layers and its optimizer.

    Args:
        model: the model; its `run_eagerly` switches plans off.
        name: the name of the function in the generated source.
    """

    def __init__(self, model, name):
        self._model, self.plan_cache = model, PlanCache(name)
        self._facts = None  # the change counters and the hash of the model's state at the last call
        # the number of consecutive changes of settings, each before a plan could be reused
        self._in_vain = 0

    def possible(self):
        """Return whether plans may be used: compilation is on and `run_eagerly` is not set."""
        return not self._model.run_eagerly and compiles()

    def __call__(self, run, batch, held=(), extra=(), names=BATCH):
        """Return the result of `run(*batch, *held)`, computed by a compiled plan.

        Args:
            run: the Python function to trace.
            batch: a list; each item is None or a nest of tensors and arrays.
            held: further arguments, passed without conversion, such as accumulated gradients:
                nests of tensors, arrays and strings.
            extra: additional parts of the key under which the plan is cached.
            names: the arguments' names in the generated source.
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
                key += cls, None  # the same two entries that `describe` adds to the key for None
            else:
                batch[i] = as_tensors(part)
                describe(batch[i], key, arrays, id)
        if held:
            for part in held:
                describe(part, key, arrays, id)
            batch = [*batch, *held]
        return self.plan_cache(tuple(key), arrays, _BatchFunction(run, batch, names))

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
        self._in_vain = 0 if self.plan_cache.plans else self._in_vain + 1
        if self._in_vain == _CHANGES:
            self.plan_cache.tell(f"runs eagerly: {changes.latest} changes from call to call")
        self.plan_cache.forget_all()


class _BatchFunction(CallArguments):
    """Wraps a function of a batch as a function of the batch's tensors, which can be traced."""

    __slots__ = ("_names", "_run")

    def __init__(self, run, batch, names):
        self.values, self._leaves = (
            batch,
            None,
        )  # the attributes that the base class's __init__ sets
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
            # the only argument of `train_step(data)` is a tuple (x, y, sample_weight)
            (parts,) = parts
        return named(self._names, parts)


def as_tensors(structure):
    """Return the nest with arrays and numbers converted to tensors; None stays None.

    A list of numbers, or of such lists, is one array, as in `fit`.
    """
    if structure is None or type(structure) is Tensor:
        return structure
    if isinstance(structure, np.ndarray):
        return tensor(structure)
    return map_named(lambda leaf, _: None if leaf is None else tensor(leaf), structure, "", is_leaf)


def unpack(data):
    """Return (x, y, sample_weight) of a batch: x alone, or a tuple of one to three elements."""
    if not isinstance(data, (tuple, list)):
        return data, None, None
    if len(data) > 3:
        raise InvalidArgumentError(
            f"A batch must be x, (x, y) or (x, y, sample_weight), got a tuple of {len(data)}."
        )
    return (*data, None, None)[:3] if len(data) < 3 else tuple(data)


def pack(x, y=None, sample_weight=None):
    """Return the batch in the form that `train_step` takes: without trailing None."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, (tuple, list)) else x


def rows_of(x):
    """Return the number of rows of a batch, 1 for a scalar or an empty nest."""
    if type(x) is not Tensor:
        leaves = [leaf for leaf in nest.flatten(x) if leaf is not None]
        if not leaves:
            return 1
        x = leaves[0]
    shape = x.shape
    return shape[0] if shape else 1
