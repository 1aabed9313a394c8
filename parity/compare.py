"""The two sides' results as a table, and the verdict.

The rule: two values are equal when |ours − theirs| ≤ 2e-4 + 2e-4·|theirs|, and 1e-5 for models
that were exchanged by files. It holds for every
point of every curve in History, for every weight before and after, and for what a scenario keeps
beside these; curves, weights and their shapes have to be the same ones. A scenario in which real
Keras's loss does not fall, or none of its weights moves, by more than 10 times that shows
nothing: it fails as void. So does one that raises an error on either side.

Values of single calls (`parity/values.py`) are equal when |ours − theirs| ≤ 1e-5·max(|theirs|, m),
where m is the largest magnitude in the array, but at most 1: relative, with the array's scale
where digits cancel. It is 2e-3 in float16 and 1.6e-2 in bfloat16, two units of the last place, also
for derivatives of values of these dtypes.
Shapes, dtypes and texts must be the same. `parity/excused.py` has the known differences.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from parity.excused import EXCUSED
from parity.values import REFUSED, same_config

TOLERANCE = 2e-4
TOLERANCES = {"files": 1e-5}  # of modules whose numbers do not pass through many steps
RELATIVE = {"float16": 2e-3, "complex64": 1e-5, "bfloat16": 1.6e-2}  # of values, else 1e-5


@dataclass(frozen=True)
class Verdict:
    """What came of one scenario; differences and movements in units of the tolerance."""

    name: str
    problem: str = ""
    curves: float = 0.0
    weights: float = 0.0
    fell: float = 0.0
    moved: float = 0.0
    excuse: str = ""
    of_values: bool = False
    refused: bool = False

    def __str__(self):
        if self.problem:
            return f"FAILED {self.name}: {self.problem}"
        if self.excuse:
            return f"known  {self.name}: {self.excuse}"
        return (
            f"ok     {self.name:<58} {self.curves:8.4f} {self.weights:8.4f} "
            f"{self.fell:8.0f} {self.moved:8.0f}"
        )


def tolerance_of(name):
    """The tolerance of a scenario, by the module that its name begins with."""
    return TOLERANCES.get(name.partition(":")[0], TOLERANCE)


def distance(ours, theirs, tolerance=TOLERANCE):
    """The largest difference, in units of the tolerance; infinite where shapes differ."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return np.inf
    if not ours.size:
        return 0.0
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours - theirs) / (tolerance * (1 + np.abs(theirs)))
    return float(np.max(np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))))


def by_scenario(results):
    """{scenario: {(kind, key): array}}"""
    found = {}
    for path, value in results.items():
        name, kind, *key = path.split("|")
        found.setdefault(name, {})[(kind, *key)] = value
    return found


def verdict(name, ours, theirs):
    """Compare the two sides of one scenario."""
    for side, found in (("framework", ours), ("Keras", theirs)):
        if ("error",) in found:
            return Verdict(name, f"{side}: {found[('error',)]}")
    if any(key[0] == "value" for key in (*ours, *theirs)):
        return values_verdict(name, ours, theirs)
    known = [key for key in theirs if key != ("seconds",)]
    if set(known) != {key for key in ours if key != ("seconds",)}:
        differing = sorted("/".join(key) for key in set(ours) ^ set(theirs))
        return Verdict(name, f"only one side has {', '.join(differing)}")
    tolerance = tolerance_of(name)
    apart = {key: distance(ours[key], theirs[key], tolerance) for key in known}
    far = {key: value for key, value in apart.items() if not value <= 1}
    if far:
        return Verdict(name, "; ".join(_difference(k, ours[k], theirs[k]) for k in list(far)[:3]))
    loss = theirs[("history", "loss")]
    movements = [
        distance(theirs[("after", key)], theirs[(kind, key)])
        for kind, key in (k for k in known if k[0] == "before")
    ]
    fell = float((loss[0] - loss[-1]) / (TOLERANCE * (1 + abs(loss[0]))))
    moved = max(movements, default=0.0)
    if not (fell > 10 and 10 < moved < np.inf):
        return Verdict(
            name, f"void: the loss fell {fell:.1f} tolerances, weights moved {moved:.1f}"
        )
    curves = max(value for key, value in apart.items() if key[0] in ("history", "extra"))
    weights = max(value for key, value in apart.items() if key[0] in ("before", "after"))
    return Verdict(name, "", curves, weights, fell, moved)


def values_verdict(name, ours, theirs):
    """Compare the results of one call; differences that are known are excused."""
    own, real = ({k[1]: v for k, v in side.items() if k[0] == "value"} for side in (ours, theirs))
    apart = {
        key: problem
        for key in sorted(own.keys() | real.keys())
        if (problem := value_difference(key, own, real))
    }
    for key in apart:  # the error of the side that refuses
        for side, results in (("framework", ours), ("Keras", theirs)):
            if ("note", key) in results:
                apart[key] += f" ({side}: {results[('note', key)]})"
    excuses = {key: excuse_of(name, key) for key in apart}
    unexcused = [key for key in apart if not excuses[key]]
    refused = all(v.dtype.kind == "U" and v == REFUSED for v in real.values())
    if unexcused:
        problem = "; ".join(f"{key}: {apart[key]}" for key in unexcused[:3])
        return Verdict(name, problem, of_values=True)
    excuse = "; ".join(dict.fromkeys(excuses.values()))
    return Verdict(name, excuse=excuse, of_values=True, refused=refused and not excuse)


def value_difference(key, ours, theirs):
    """How the result of this key differs; "" if it does not."""
    if key not in ours or key not in theirs:
        return "only one side has it" if not _follows(key, ours, theirs) else ""
    a, b = ours[key], theirs[key]
    if a.dtype.kind == "U" or b.dtype.kind == "U":
        if a.dtype.kind == b.dtype.kind and (a == b or same_config(str(a), str(b))):
            return ""
        return f"{_short(a)}, with Keras {_short(b)}"
    if a.shape != b.shape:
        return f"shape {a.shape}, with Keras {b.shape}"
    tolerance = max([1e-5, *(RELATIVE.get(n, 1e-5) for n in _dtypes(key, ours, theirs))])
    worst = relative_distance(a, b)
    if worst <= tolerance:
        return ""
    return f"differs by {worst:.2g} of {tolerance:g}: {_short(a)}, with Keras {_short(b)}"


def _dtypes(key, ours, theirs):
    """The dtypes that limit the precision of a result.

    A derivative passes through the values: where these have 16 bits, so has the derivative, though
    a cast to the dtype of the argument, float32, ends it.
    """
    keys = [f"{key} dtype"]
    if key.startswith("gradient"):
        keys += [k for k in (*ours, *theirs) if k.startswith("value") and k.endswith(" dtype")]
    return [str(side[k]) for side in (ours, theirs) for k in keys if k in side]


def _follows(key, ours, theirs):
    """Whether a side lacks a key because it refuses the call, or what the key belongs to."""
    lacking = ours if key not in ours else theirs
    parents = {"call", "value", key.removesuffix(" dtype"), key.partition(" ")[0].partition(".")[0]}
    found = [lacking[p] for p in parents - {key} if p in lacking]
    return any(v.dtype.kind == "U" and v == REFUSED for v in found)


def relative_distance(ours, theirs):
    """The largest difference, relative to the element or, if larger, the array's scale."""
    ours, theirs = (np.asarray(x) for x in (ours, theirs))
    ours, theirs = (x.astype(np.result_type(x, "float64")) for x in (ours, theirs))
    if not ours.size:
        return 0.0
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    size = np.abs(theirs)
    scale = min(1.0, float(np.max(size, initial=0.0, where=np.isfinite(size))))
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(ours - theirs) / np.maximum(size, max(scale, 1e-30))
    return float(np.max(np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart))))


def _short(value):
    if value.dtype.kind == "U":
        return str(value)[:300]
    text = np.array2string(value.ravel()[:4], precision=7)
    return text if value.size <= 4 else f"{text}... of {value.shape}"


def excuse_of(name, key):
    """The reason that a known difference has in the table; "" if it has none."""
    for names, keys, reason in EXCUSED:
        if _is_named(name, names) and fnmatchcase(key, keys):
            return reason
    return ""


def _difference(key, ours, theirs):
    where = "/".join(key)
    if ours.shape != theirs.shape:
        return f"{where} has shape {ours.shape}, with Keras {theirs.shape}"
    worst = np.unravel_index(np.argmax(np.abs(ours - theirs)), ours.shape)
    at = f"[{', '.join(map(str, worst))}]" if worst else ""
    return f"{where}{at} = {ours[worst]:.6g}, with Keras {theirs[worst]:.6g}"


def read(paths):
    """by_scenario() of npz files of `parity.run` together."""
    found = {}
    for path in paths:
        with np.load(path) as results:
            found.update(by_scenario(results))
    return dict(sorted(found.items()))


def compare(ours, theirs):
    """The verdicts over what `read` gave of both sides."""
    missing = [name for name in ours.keys() | theirs.keys() if (name in ours) != (name in theirs)]
    return [
        *(Verdict(name, "only one side ran it") for name in sorted(missing)),
        *(verdict(name, ours[name], theirs[name]) for name in theirs if name in ours),
    ]


def report(verdicts):
    """Print the tables; returns how many scenarios failed."""
    training = [found for found in verdicts if not found.of_values]
    values = [found for found in verdicts if found.of_values]
    if training:
        print(f"differences in units of the tolerance, movements of {TOLERANCE:g} × (1 + |value|)")
        print(f"{'':65} {'curves':>8} {'weights':>8} {'fell':>8} {'moved':>8}")
    for found in training:
        print(found)
    for found in values:
        if found.problem or found.excuse:
            print(found)
    _summary("training runs and files", training)
    for family in dict.fromkeys(found.name.partition(":")[0] for found in values):
        _summary(family, [v for v in values if v.name.partition(":")[0] == family])
    if values and training:
        _summary("all", verdicts)
    for excuse in unused_excuses(values):
        print(f"FAILED no comparison needs the excuse {excuse}")
    return sum(bool(found.problem) for found in verdicts) + len(unused_excuses(values))


def _summary(title, verdicts):
    if not verdicts:
        return
    failed = sum(bool(found.problem) for found in verdicts)
    known = sum(bool(found.excuse) for found in verdicts)
    refused = sum(found.refused for found in verdicts)
    compared = len(verdicts) - refused
    text = f"{title}: {compared} compared, {compared - failed - known} equal, {failed} failed"
    more = {f"{known} differ for a known reason": known, f"{refused} refused by both": refused}
    print(", ".join([text, *(words for words, count in more.items() if count)]))


def unused_excuses(verdicts):
    """The excuses of the table that match comparisons in vain."""
    used = {reason for found in verdicts for _, _, reason in EXCUSED if reason in found.excuse}
    return [
        f"{names!r}"
        for names, _, reason in EXCUSED
        if reason not in used
        and (matching := [v for v in verdicts if _is_named(v.name, names)])
        and not any(v.problem for v in matching)
    ]


def _is_named(name, patterns):
    return any(fnmatchcase(name, pattern) for pattern in patterns.split(" | "))
