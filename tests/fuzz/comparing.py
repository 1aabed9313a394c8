"""Compare what two runs of a program gave: bit for bit, or within rounding.

Rounding: plans with loops compute `exp` and its kin to a few units in the last place, and add up in
another order (docs/compiler.md). How much of that a program's results may show depends on the
program: `1 / (x - y)` shows all of it. So a program that differs is run op by op again with noise
of a few units in the last place on the result of every such op. A result may differ by
`NOISE_FACTOR` times the deviation that this noise causes. Where the noise changes a branch, an
int, an exception or what is finite, the result counts as undecided.
"""

import contextlib
import functools

import numpy as np

from framework.core.recorders import Recorder, push, remove

NOISE_FACTOR = 64
UNITS = 8  # in the last place, of the largest element of an array: taken as equal at once
TINY = 0.0  # numbers that differ by less are the same; of float16 by 4 denormal units
_RUNS, _MORE = 6, 30  # with noise; more where these explain nothing: some miss by chance
_EXACT = frozenset(
    """abs assign cast ceil clip concat conj copy equal floor getitem greater greater_equal identity
    isfinite isinf isnan less less_equal maximum minimum negative not_equal one_hot ones pad put
    reduce_max reduce_min relu reshape rint round select sign stop_gradient transpose trunc where
    zeros""".split()  # noqa: SIM905
)

_SUMS = frozenset(
    """sum_to scatter_add linear_scan softmax cholesky inv inverse solve triangular_solve
    det slogdet pinv expm sqrtm""".split()  # noqa: SIM905
)


def difference(ours, theirs, noisy=None):
    """A sentence on the first difference of two outcomes, None where there is none.

    Args:
        ours, theirs: `Outcome`s; `theirs` is the reference.
        noisy: `noisy(count)` gives outcomes of runs with noise; None compares bit for bit.

    Raises:
        UndecidedError: noise decides which of them it is.
    """
    if ours.complaints:
        return ours.complaints[0]
    if ours.error != theirs.error and (ours.error or (0,))[0] != (theirs.error or (0,))[0]:
        return _decide(noisy, f"ends with {ours.error} instead of {theirs.error}")
    if len(ours.kept) != len(theirs.kept):
        for (line, a), (other, b) in zip(ours.kept, theirs.kept, strict=False):
            if line != other or _raised(a) != _raised(b):
                return _decide(noisy, f"line {line}: {_brief(a)} instead of {_brief(b)}")
        return _decide(noisy, f"keeps {len(ours.kept)} values instead of {len(theirs.kept)}")
    for place, ((line, a), (_, b)) in enumerate(zip(ours.kept, theirs.kept, strict=True)):
        what = _trees(a, b, noisy is None)
        if what is None:
            continue
        if noisy is not None:
            what = _explained(place, a, b, noisy()) and _explained(place, a, b, noisy(_MORE))
        if what is not None:
            return f"line {line}: {what}"
    return None


class UndecidedError(Exception):
    """What differs hangs on the last bits of what is computed on the way."""


def _decide(noisy, sentence):
    if noisy is None:
        return sentence
    runs = noisy()
    if any(run.error != runs[0].error or len(run.kept) != len(runs[0].kept) for run in runs):
        raise UndecidedError(sentence)
    return sentence


def _trees(a, b, exact):
    """What is not the same of two trees, as a sentence."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return _arrays(a, b, exact)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if _raised(a) and _raised(b):
            return None if a[1] == b[1] else f"raises {a[1:]} instead of {b[1:]}"
        if len(a) != len(b) or _raised(a) != _raised(b):
            return f"{_brief(a)} instead of {_brief(b)}"
        return next((w for x, y in zip(a, b, strict=True) if (w := _trees(x, y, exact))), None)
    same = type(a) is type(b) and not isinstance(a, np.ndarray) and a == b
    return None if same else f"{_brief(a)} instead of {_brief(b)}"


def _arrays(a, b, exact):
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
    if a.tobytes() == b.tobytes():
        return None
    if _inexact(a):
        dtype, near = a.dtype, _near(a.dtype)
        a, b = _wide(a), _wide(b)
        nan = np.isnan(a) & np.isnan(b)
        same = nan | ((a == b) & (_signs(a) == _signs(b)))
        if not exact and not same.all():
            finite = np.isfinite(a) & np.isfinite(b)
            largest = np.max(np.abs(b), where=np.isfinite(b), initial=0.0)
            with np.errstate(all="ignore"):
                same |= finite & (np.abs(a - b) <= near * largest + _tiny(dtype))
            same |= a == b  # zeros
        if same.all():
            return None
        where = tuple(int(i) for i in np.argwhere(~same)[0])
        return f"{a[where]!r} instead of {b[where]!r} at {where}"
    where = np.argwhere(a != b)
    return None if not len(where) else f"{a.tolist()!r:.200} instead of {b.tolist()!r:.200}"


_EPS = {np.dtype(d): float(np.finfo(d).eps) for d in ("float16", "float32", "float64")}
_EPS.update({np.dtype("complex64"): 1.2e-7, np.dtype("complex128"): 2.3e-16})


@functools.cache
def _eps(dtype):
    """The last place of numbers near 1; None for a dtype that is exact."""
    return 2.0**-7 if dtype.name == "bfloat16" else _EPS.get(dtype)


def _near(dtype):
    """How far equal numbers may lie apart, relative to the largest of an array.

    `UNITS` may be raised for comparing with others; of so many a 16-bit float has no digits left.
    """
    eps = _eps(dtype) or 1e-7
    return (UNITS if eps < 1e-4 else 4) * eps


def _tiny(dtype):
    """How far small numbers may lie apart: 3 units of noise are nothing to a denormal float16."""
    return max(TINY, 4 * 2.0**-24) if dtype.name == "float16" else TINY


def _inexact(array):
    return array.dtype.kind in "fc" or array.dtype.name == "bfloat16"


def _wide(array):
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _signs(array):
    return np.signbit(array.real if array.dtype.kind == "c" else array)


def _explained(place, a, b, runs):
    """None where noise explains how two trees differ; else a sentence."""
    others = [run.kept[place][1] for run in runs if len(run.kept) > place]
    if len(others) < len(runs):
        raise UndecidedError("noise ends it earlier")
    for path, x, y in _leaves(a, b):
        mates = [_at(other, path) for other in others]
        what = _leaf(x, y, mates)
        if what is not None:
            return what
    return None


def _leaves(a, b, path=()):
    if (
        isinstance(a, tuple)
        and isinstance(b, tuple)
        and len(a) == len(b)
        and not _raised(a)
        and not _raised(b)
    ):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _leaves(x, y, (*path, i))
    else:
        yield path, a, b


def _at(tree, path):
    for i in path:
        if not isinstance(tree, tuple) or i >= len(tree):
            return None
        tree = tree[i]
    return tree


def _leaf(x, y, mates):
    what = _trees(x, y, exact=False)
    if what is None:
        return None
    if any(_kind(mate) != _kind(y) for mate in mates):
        raise UndecidedError(what)
    if _kind(x) != _kind(y) or not isinstance(y, np.ndarray):
        return what
    if not _inexact(y):
        if any((mate != y).any() for mate in mates):
            raise UndecidedError(what)
        return what
    return _within_noise(_wide(x), _wide(y), [_wide(mate) for mate in mates], y.dtype)


def _within_noise(x, y, mates, dtype):
    near, tiny = _near(dtype), _tiny(dtype)
    finite = np.isfinite(y)
    unsure = np.zeros(y.shape, bool)
    deviation = np.zeros(y.shape)
    with np.errstate(all="ignore"):
        for mate in mates:
            unsure |= np.isfinite(mate) != finite
            unsure |= ~finite & (np.isnan(mate) != np.isnan(y))
            deviation = np.fmax(deviation, np.abs(mate - y))
        close = np.abs(x - y) <= NOISE_FACTOR * deviation + near * np.abs(y) + tiny
        same = close | (x == y) | (np.isnan(x) & np.isnan(y))
        # Overflow: what is near the largest number is as good as infinity.
        unsure |= np.abs(y) > 1e-2 * np.finfo(y.dtype).max
    wrong = ~same & ~unsure
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = f"{x[where]!r} instead of {y[where]!r} at {where}"
        return f"{text}, where noise makes {np.broadcast_to(deviation, y.shape)[where]:.2g}"
    if (unsure & ~same).any():
        raise UndecidedError("what is finite hangs on the last bits")
    return None


def _raised(tree):
    return isinstance(tree, tuple) and tree[:1] == ("raised",)


def _kind(leaf):
    if isinstance(leaf, np.ndarray):
        return f"{leaf.dtype}{leaf.shape}"
    return f"{leaf[:2]}" if isinstance(leaf, tuple) else repr(leaf)


def _brief(tree):
    if isinstance(tree, np.ndarray):
        return f"{tree.dtype}{list(tree.shape)} {tree.ravel()[:4].tolist()}"
    if isinstance(tree, tuple) and tree[:1] != ("raised",):
        return f"{tree[0]}({', '.join(_brief(t) for t in tree[1:])})"[:300]
    return repr(tree)[:300]


# ---- noise ----


@contextlib.contextmanager
def noise(seed):
    """What ops round comes out a few units in the last place beside what it is."""
    from framework.core.op import table

    rng = np.random.default_rng(seed)

    def shaken(value):
        if isinstance(value, tuple):
            return tuple(shaken(v) for v in value)
        array = np.asarray(value)
        eps = _eps(array.dtype)
        if eps is None:
            return value
        by = (rng.random(array.shape) * 6 - 3) * eps
        with np.errstate(all="ignore"):
            return np.asarray(array * (1 + by)).astype(array.dtype)

    def with_noise(op):
        forward, saves = op.forward, op.saves
        adds_up = op.kind in ("reduction", "contraction") or op.name in _SUMS

        def run(*args, **attrs):
            if adds_up:  # the error of a sum is in proportion to what is added up
                args = [shaken(a) if isinstance(a, np.ndarray) else a for a in args]
            value = forward(*args, **attrs)
            return (shaken(value[0]), value[1]) if saves else shaken(value)

        return run

    ops = [op for op in table.values() if _rounds(op)]
    noisy = {op.name: with_noise(op) for op in ops}
    before = [(op, "forward", op.forward, noisy[op.name]) for op in ops]
    for op, cell in _in_line():
        if op.name in noisy:
            before.append((cell, "cell_contents", cell.cell_contents, noisy[op.name]))
    for where, name, _, new in before:
        setattr(where, name, new)
    recorder = _Replaying()
    push(recorder)
    try:
        yield
    finally:
        remove(recorder)
        for where, name, old, _ in before:
            setattr(where, name, old)


class _Replaying(Recorder):
    """Makes the arithmetic of derivatives run as ops, so that noise reaches it."""

    replays = True


def _rounds(op):
    return op.name in _SUMS or not (op.kind == "movement" or op.name in _EXACT)


@functools.cache
def _in_line():
    """(op, cell) of the functions that keep an op's forward for themselves.

    Their modules are imported here: an import while there is noise would keep it.
    """
    from framework.functions import declared, elementwise  # noqa: F401 (it has declarations)
    from framework.functions.wrappers import declarations
    from framework.ops.public import TENSORFLOW

    for name in TENSORFLOW:
        getattr(declared, name)
    found = []
    for function in declarations:
        code = getattr(function, "__code__", None)
        if code is not None and {"op", "forward"} <= set(code.co_freevars):
            cells = dict(zip(code.co_freevars, function.__closure__, strict=True))
            found.append((cells["op"].cell_contents, cells["forward"]))
    return found


def with_noise(text, run, most=_MORE):
    """A function that gives up to `most` outcomes of a program with noise, each computed once."""
    found = []

    def outcomes(count=_RUNS):
        count = min(count, most)
        while len(found) < count:
            with noise(len(found)):
                found.append(run(text, "off"))
        return found

    return outcomes
