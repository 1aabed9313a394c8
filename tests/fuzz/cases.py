"""From a seed to a program, what it is run in, and what was found; a found one is shrunk."""

import re
import warnings
from dataclasses import dataclass

from tests.fuzz.comparing import UndecidedError, difference, with_noise
from tests.fuzz.loops import loop
from tests.fuzz.networks import network
from tests.fuzz.programs import program
from tests.fuzz.running import run
from tests.fuzz.shrinking import shrink

KINDS = ("programs", "networks", "loops")
_EVERY = {"loops": 4, "numba": 200}  # each so many programs is run in this mode too


def made(seed, tf, keras, kinds=KINDS):
    """(kind, text) of a seed: 3 of 40 are networks, 2 are training loops; text None: none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _made(seed, tf, keras, kinds)


def _made(seed, tf, keras, kinds):
    turn = seed % 40
    kind = "networks" if turn in (0, 13, 26) else "loops" if turn in (7, 33) else "programs"
    if kind not in kinds:
        kind = kinds[seed % len(kinds)]
    if kind == "programs":
        return kind, program(seed, tf, keras)
    return kind, loop(seed) if kind == "loops" else network(seed, tf, keras)


def modes_of(seed, numba=True):
    """The modes beside "off" that the program of a seed is run in."""
    modes = ["numpy"]
    if seed % _EVERY["loops"] == 0:
        modes.append("loops")
    if numba and seed % _EVERY["numba"] == 1:
        modes.append("numba")
    return modes


# Plain values that functions reach, and that change.
_CHANGES = re.compile(r"^(\w+\.\w+|k0|\w+\[.*\]) = |_end\(|_begin\(", re.MULTILINE)


@dataclass
class Finding:
    """What is wrong with a program.

    Attributes:
        mode: in which it is.
        what: a sentence.
        text: of the program.
    """

    mode: str
    what: str
    text: str = ""

    @property
    def line(self):
        """Of the program, where it shows; None where it is none."""
        found = re.match(r"line (\d+): ", self.what)
        return found and int(found[1])

    @property
    def sort(self):
        """The same for failures that are the same failure."""
        what = re.sub(r"line \d+: ", "", self.what)
        if self.what.startswith(("log", "warning")):
            return self.mode, re.sub(r"\d+|0x\w+|t\d+f?", "", what)
        if _CHANGES.search(self.text):
            return self.mode, "value, in a program whose plain values change"
        for sign in ("raises", "ends with", "keeps"):
            if what.startswith(sign):
                return self.mode, sign
        return self.mode, "raised" if "'raised'" in what else "value"


def truncated(outcomes):
    """Leave out what follows an exception in a program that changes variables or draws numbers.

    An op that raises in a plan has changed nothing yet; in Python what came before it stands.
    """
    places = [
        i for i, (_, tree) in enumerate(outcomes[0].kept)
        if isinstance(tree, tuple) and tree[:1] == ("raised",)
    ]  # fmt: skip
    if places:
        for outcome in outcomes:
            outcome.kept = outcome.kept[: places[0] + 1]


def check(text, modes, seconds=120):
    """(The first `Finding` of a program or None, how many modes were undecided)"""
    base, undecided = run(text, "off", seconds), 0
    if base.complaints:
        return Finding("off", base.complaints[0]), 0
    effects = ".assign" in text or "random" in text or "keras." in text
    for mode in modes:
        if mode == "loops" and _is_large(base):
            continue
        ours = run(text, mode, seconds)
        if effects:
            truncated([base, ours])
        try:
            noisy = None if mode == "numpy" else with_noise(text, run)
            what = difference(ours, base, noisy)
        except UndecidedError:
            undecided += 1
            continue
        if what is not None:
            return Finding(mode, what, text), undecided
    return None, undecided


def _is_large(outcome):
    """Whether Python takes too long for its loops."""
    return any(_size(tree) > 20_000 for _, tree in outcome.kept)


def _size(tree):
    return sum(map(_size, tree)) if isinstance(tree, tuple) else getattr(tree, "size", 0)


def shrunk(text, finding, seconds=60):
    """The shortest text found that fails as this one does."""

    def fails(shorter):
        modes = [] if finding.mode == "off" else [finding.mode]
        found, _ = check(shorter, modes, 20)
        return found is not None and found.sort == finding.sort

    return shrink(text, fails, seconds, finding.line)


def as_test(seed, finding, text):
    """A failure as a test that can be pasted."""
    return (
        f"def test_seed_{seed}():\n"
        f"    # {finding.mode}: {finding.what[:400]}\n"
        f'    assert_same("""\n{text}""")\n'
    )


def assert_same(text, modes=("numpy", "loops")):
    """A program gives in these modes what it gives op by op."""
    found, _ = check(text, modes)
    assert found is None, f"{found.mode}: {found.what}"
