"""The two sides' results as a table, and the verdict.

The rule: two values are equal when |ours − theirs| ≤ 2e-4 + 2e-4·|theirs|, and 1e-5 for models
that were exchanged by files. It holds for every
point of every curve in History, for every weight before and after, and for what a scenario keeps
beside these; curves, weights and their shapes have to be the same ones. A scenario in which real
Keras's loss does not fall, or none of its weights moves, by more than 10 times that shows
nothing: it fails as void. So does one that raises an error on either side.
"""

from dataclasses import dataclass

import numpy as np

TOLERANCE = 2e-4
TOLERANCES = {"files": 1e-5}  # of modules whose numbers do not pass through many steps


@dataclass(frozen=True)
class Verdict:
    """What came of one scenario; differences and movements in units of the tolerance."""

    name: str
    problem: str = ""
    curves: float = 0.0
    weights: float = 0.0
    fell: float = 0.0
    moved: float = 0.0

    def __str__(self):
        if self.problem:
            return f"FAILED {self.name}: {self.problem}"
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
    """Print the table; returns how many scenarios failed."""
    print(f"differences in units of the tolerance, movements of {TOLERANCE:g} × (1 + |value|)")
    print(f"{'':65} {'curves':>8} {'weights':>8} {'fell':>8} {'moved':>8}")
    for found in verdicts:
        print(found)
    failed = sum(bool(found.problem) for found in verdicts)
    print(f"{len(verdicts)} scenarios, {len(verdicts) - failed} equal, {failed} failed")
    return failed
