"""Compiled: the plans of one Python function, recorded as it is called, and why each exists.

A run is recorded twice, and becomes a plan if both did the same.
"""

import threading
from functools import partial

import numpy as np

from framework.compiler.arguments import mask_of, text_of
from framework.compiler.graph import Recording
from framework.compiler.plan import Plan
from framework.compiler.sameness import difference
from framework.compiler.telling import brief, tell
from framework.core import nest
from framework.core.recorders import thread
from framework.core.tensor import Tensor, masks
from framework.kernels import tier

_new = object.__new__
_PATHS = 8  # plans for one signature: ways through Python's conditions
SIGNATURES = 32  # signatures that get plans
_ATTEMPTS = 3  # runs of which no two are the same, before it is given up


class Entry:
    """A plan, the places of the arguments that it shares, and how its arrays are handed out."""

    __slots__ = ("pack", "plan", "shared")

    def __init__(self, plan, pack):
        self.plan, self.pack, self.shared = plan, pack, plan.shared


class Compiled:
    """Runs a body by plans, one for each signature and path, and in Python where it must be.

    Args:
        name: of the function, for the source and for messages.
        losses_stay: whether nobody asks layers for their losses after the function.
    """

    def __init__(self, name, losses_stay=True):
        self.name, self._losses_stay = name, losses_stay
        self.plans = {}  # key of a signature -> [Entry]
        self.refused = {}  # key -> why it runs in Python
        self.seen = {}  # key -> graphs recorded once
        self.attempts = {}  # key without its numbers -> what `Numbered` knows of it
        self.lock = threading.RLock()  # who has it may change what is known
        self._told = set()  # kinds of sentences

    def __reduce__(self):
        return Compiled, (self.name, self._losses_stay)  # a copy makes plans of its own

    def __call__(self, key, arrays, body):
        """The result of `body(tensors)`, by a plan where there is one.

        Args:
            key: all that the run depends on besides the values of `arrays`.
            arrays: NumPy arrays, never changed.
            body: the `Arguments`; called with a tensor for each array, while it is recorded.
        """
        entries = self.plans.get(key)
        if entries is not None:
            for entry in entries:
                given = body.own(arrays, entry.shared) if entry.shared else arrays
                found = entry.plan(given)
                if found is not None:
                    return entry.pack(found)
            if (error := self.failure(key)) is not None:
                return self.without(key, error, lambda: body(body.tensors(arrays)))
            self.drop_outdated(key)
        return self.recorded(key, arrays, body)[0]

    def recorded(self, key, arrays, body):
        """(the result of `body`, run in Python; its graph, None where it has none)"""
        tensors = body.tensors(arrays)
        if self.refuses(key):
            return body(tensors), None
        with Recording(tensors) as recording:
            result = body(tensors)
            leaves, pack = packing(result)
        if (reason := self.why_not(recording, result, leaves)) is not None:
            self.refuse(key, reason)
            return result, None
        return result, self._considered(key, recording, leaves, pack, body, len(arrays))

    def why_not(self, recording, result, leaves):
        """Why a recorded run that gave `result` cannot be repeated by a plan; None if it can be."""
        if recording.refusal is not None:
            return str(recording.refusal)
        if leaves is None:
            return f"it returns {type(result).__name__}, which is not made of tensors"
        layer = None if self._losses_stay else recording.left_in(leaves)
        return None if layer is None else f"{layer} adds a loss that it does not use itself"

    def refuses(self, key):
        """Whether what has this key runs in Python for good, or has all the plans that it may."""
        if key in self.refused:
            return True
        entries = self.plans.get(key, ())
        if len(entries) < _PATHS and (key in self.plans or key in self.seen or not self._many()):
            return False
        self._tell_reason(self._why_full(entries))
        return True

    def _considered(self, key, recording, leaves, pack, body, count):
        """The run's graph, and its plan made where that is due; None where that goes wrong."""
        try:
            graph = recording.graph(leaves)
            names = getattr(body, "names", None) or [f"x{i}" for i in range(count)]
            make = lambda: Entry(Plan(graph, self.name, names, self.tell), pack)
            with self.lock:
                self.consider(key, graph, make, recording.made_variables)
        except Exception as error:  # the body's own have come through before
            self.refuse(key, f"writing its plan failed ({brief(error)})", error)
            return None
        return graph

    def consider(self, key, graph, make, made_variables):
        """Have `make()` give the entry of a graph that was recorded twice, the same."""
        seen = self.seen.setdefault(key, [])
        differences = [difference(old, graph) for old in seen]
        if None in differences and not made_variables:
            entry = make()
            self.plans.setdefault(key, []).append(entry)
            seen.pop(differences.index(None))
            if not seen:
                del self.seen[key]
            return
        seen.append(graph)
        if len(seen) > _ATTEMPTS:
            changed = next((d for d in differences if d), None)
            if made_variables:
                self.refuse(key, "it makes variables at every call")
            elif changed:
                self.refuse(key, f"{changed} changes from call to call")
            elif len(seen) > _PATHS:
                self.refuse(key, "it takes another way at every call")

    def _many(self):
        return len(self.plans) + len(self.seen) >= SIGNATURES

    def _why_full(self, entries):
        if entries:
            return f"it took another way through its conditions in each of {_PATHS} runs"
        return f"it was called with {SIGNATURES} signatures, as many as get plans"

    def refuse(self, key, reason, error=None):
        """Run what has this key in Python from now on."""
        self.seen.pop(key, None)
        if len(self.refused) < SIGNATURES:
            self.refused[key] = reason
        self._tell_reason(reason, error)

    def failure(self, key):
        """The error of a plan's first run, where one has just failed."""
        found = [e.plan.failure for e in self.plans.get(key, ()) if e.plan.failure is not None]
        return found[0] if found else None

    def without(self, key, error, run):
        """The result of `run()`, where a plan raised `error`; it is refused if that does not."""
        result = run()
        self.plans.pop(key, None)
        self.refuse(key, f"running its plan failed ({brief(error)})", error)
        return result

    def drop_outdated(self, key):
        """Let go of the plans that draw from generators which `set_seed` has replaced."""
        with self.lock:
            entries = self.plans.get(key, ())
            kept = [entry for entry in entries if entry.plan.current()]
            if not kept:
                self.plans.pop(key, None)
            elif len(kept) < len(entries):
                self.plans[key] = kept

    def forget(self, token):
        """Drop the plans whose key holds `token`."""
        for known in (self.plans, self.refused, self.seen, self.attempts):
            for key in [key for key in list(known) if token in key]:
                known.pop(key, None)

    def forget_all(self):
        """Drop all plans: what they took for granted has changed."""
        for known in (self.plans, self.refused, self.seen, self.attempts):
            known.clear()

    def explain(self):
        """A line for each signature: its plans, or why it runs in Python."""
        lines = []
        for key, entries in self.plans.items():
            reads = sorted({how for e in entries for how in e.plan.reads})
            guards = f", one for each way through what Python reads ({', '.join(reads)})"
            count = f"{len(entries)} plan{'' if len(entries) == 1 else 's'}"
            troubles = sorted({e.plan.trouble for e in entries if e.plan.trouble is not None})
            troubles = [f" It stays with NumPy calls: {t}." for t in troubles]
            guards = guards if reads else ""
            memory = _memory([e.plan.nbytes for e in entries])
            lines.append(f"({text_of(key)}): {count}{guards}.{memory}{''.join(troubles)}")
        lines += [f"({text_of(key)}): in Python: {why}." for key, why in self.refused.items()]
        return "\n".join(lines)

    def _tell_reason(self, reason, error=None):
        self.tell(f"runs in Python: {reason}", error)

    def tell(self, sentence, error=None):
        """Say what it does, once for each kind of sentence (what is before the colon)."""
        kind = sentence.partition(":")[0]
        if kind not in self._told:
            self._told.add(kind)
            tell(f"{self.name} {sentence}.", error)

    @property
    def source(self):
        """The Python source of the plans, in the order in which they were recorded."""
        entries = [e for found in self.plans.values() for e in found]
        return "\n".join(e.plan.source for e in entries)


def _memory(sizes):
    """Sentences on the memory of plans, `nbytes` of each, where it is worth them."""
    planned, allocated = (max(found) / 1e6 for found in zip(*sizes, strict=True))
    found = []
    if planned >= 1:
        works = "It works in" if len(sizes) == 1 else "They work in up to"
        found.append(f" {works} {planned:.1f} MB.")
    if allocated >= 1:
        beside = " beside it" if found else ""
        found.append(f" What ops return or keep in new arrays takes {allocated:.1f} MB{beside}.")
    return "".join(found)


def packing(result):
    """The tensors in a result, and the function that puts new arrays in their places.

    The masks of tensors come after them. (None, None) where something in the result is neither a
    tensor nor None nor a plain value.
    """
    tensors, pack = _packing(result)
    if not masks.in_use or tensors is None:
        return tensors, pack
    masks_of = [mask_of(t) for t in tensors]
    places = [i for i, mask in enumerate(masks_of) if mask is not None]
    if not places:
        return tensors, pack
    count = len(tensors)

    def pack_masked(arrays):
        made = pack(arrays[:count])
        parts = [v for v in nest.flatten(made) if type(v) is Tensor]
        for place, array in zip(places, arrays[count:], strict=True):
            parts[place]._keras_mask = Tensor(array)
        return made

    return [*tensors, *(_as_mask(masks_of[i]) for i in places)], pack_masked


def _as_mask(mask):
    return mask if type(mask) is Tensor else Tensor(np.asarray(mask))


def _packing(result):
    if type(result) is Tensor:
        return [result], _one
    if result is None:
        return [], _none
    leaves = [_tensor(v) for v in nest.flatten(result)]
    if not all(type(v) is Tensor or v is None or isinstance(v, (str, bytes)) for v in leaves):
        return None, None
    tensors = [v for v in leaves if type(v) is Tensor]
    firsts = first_places(tensors)
    several = _several if len(firsts) == len(set(firsts)) else partial(_several_alike, firsts)

    if several is _several and type(result) in _FLAT and all(type(v) is Tensor for v in result):
        return tensors, _FLAT[type(result)]
    # The tensors of this run may go.
    leaves = [_TENSOR if type(v) is Tensor else v for v in leaves]
    structure = nest.map_structure(lambda _: None, result)

    def pack(arrays):
        found = iter(several(arrays))
        new = [next(found) if v is _TENSOR else v for v in leaves]
        return nest.pack_sequence_as(structure, new)

    return tensors, pack


def _tensor(leaf):
    """A number as a tensor; others as they are."""
    return Tensor(np.asarray(leaf)) if isinstance(leaf, (int, float, np.generic)) else leaf


def _several(arrays):
    """A list of tensors."""
    found = []
    for array in arrays:  # as Tensor(array) does it, without the call
        tensor = _new(Tensor)
        tensor.array, tensor.serial = array, None
        found.append(tensor)
    return found


def _several_alike(firsts, arrays):
    """The same, a tensor that stands at several places once."""
    found = _several(arrays)
    return [found[place] for place in firsts]


def first_places(tensors):
    """For each of these tensors the first place where it stands."""
    known = {}
    return [known.setdefault(id(tensor), place) for place, tensor in enumerate(tensors)]


def _in_tuple(arrays):
    if len(arrays) != 1:
        return tuple(_several(arrays))
    tensor = _new(Tensor)
    tensor.array, tensor.serial = arrays[0], None
    return (tensor,)


_TENSOR = object()  # stands for one
_FLAT = {list: _several, tuple: _in_tuple}  # by type of the result


def _one(arrays):
    tensor = _new(Tensor)
    tensor.array, tensor.serial = arrays[0], None
    return tensor


def _none(_arrays):
    return None


def compiles():
    """Whether a call may run by a plan here: nobody listens, and nothing is symbolic."""
    here = thread.__dict__  # this thread's, fetched once
    return (
        not here["stack"]
        and here["symbolic"] is None
        and here["numerics"] is None
        and (tier._tier or tier.tier()) != "off"  # without a call, but for the first time
    )
