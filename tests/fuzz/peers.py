"""Compare with real TensorFlow: the same program op by op here, and there.

Run by a Python that has TensorFlow: `make fuzz-tf`. Programs have no draws and no plain values that
change. Numbers may differ by `NEAR` of an array's largest element or by what noise explains
(`comparing.py`); dtypes, shapes, what is None and what raises have to be the same. What differs by
design stands in `DIFFERENCES`, with the reason.
"""

import gc
import os
import re
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras as their_keras
import tensorflow as theirs  # noqa: ICN001 (`tf` is either)

import framework as ours
from framework import keras as our_keras
from tests.fuzz import comparing
from tests.fuzz.cases import Finding, as_test
from tests.fuzz.comparing import _RUNS, UndecidedError, difference, with_noise
from tests.fuzz.programs import program
from tests.fuzz.running import Outcome, Runner, at_most, execute, within
from tests.fuzz.shrinking import shrink
from tests.fuzz.tensorflow_differences import reason_by_message, reason_of

theirs.config.threading.set_intra_op_parallelism_threads(1)
theirs.config.threading.set_inter_op_parallelism_threads(1)
theirs.config.run_functions_eagerly(True)
gc.freeze()  # TensorFlow's million objects: each full collection would visit them
theirs.get_logger().setLevel("ERROR")
NEAR = 1e-5


def run_ours(text, mode="off"):
    outcome = Outcome()
    with within(mode), warnings.catch_warnings(), at_most(60):
        warnings.simplefilter("ignore")
        execute(text, Runner(ours, our_keras, outcome, dense=True).names, outcome)
    return outcome


def run_theirs(text):
    outcome = Outcome()
    theirs.config.run_functions_eagerly(True)  # a program that was too long may have left it off
    with warnings.catch_warnings(), at_most(60, waiting=8):
        warnings.simplefilter("ignore")
        execute(text, Runner(theirs, their_keras, outcome, dense=True).names, outcome)
    if outcome.error is not None and outcome.error[0] == "TooLongError":
        # If the first call of a `tf.function` raises an error, other threads wait for it for ever.
        raise UndecidedError("TensorFlow does not end")
    return outcome


def alike(outcome):
    """An outcome with errors that all have one name: which one it is differs."""
    outcome.kept = [(line, _one_error(tree)) for line, tree in outcome.kept]
    outcome.error = outcome.error and ("Error", outcome.error[1])
    outcome.complaints = []
    return outcome


def _one_error(tree):
    if not isinstance(tree, tuple):
        return tree
    if tree[:1] == ("raised",):
        return ("raised", "Error", tree[2])
    return tuple(_one_error(t) for t in tree)


def check(text, worth_it=None, **noise):
    """A `Finding` of a program, None where both sides agree.

    Args:
        worth_it: tells of our outcome whether TensorFlow has to run the program too.
        noise: arguments of `with_noise`.
    """
    mine = alike(run_ours(text))
    if worth_it is not None and not worth_it(mine):
        return None
    other = alike(run_theirs(text))
    noisy = with_noise(text, lambda text, mode: alike(run_ours(text, mode)), **noise)
    what = difference(other, mine, noisy)  # theirs instead of ours: noise is about ours
    return None if what is None else Finding("tensorflow", what, text)


def one(seed, kept):
    """What the fuzzer tells of a seed."""
    text = program(seed, ours, our_keras, draws=False, states=False, peers=True)
    told = {"ran": "programs", "modes": ["tensorflow"], "undecided": 0, "more": {}}
    try:
        finding = check(text)
    except UndecidedError:
        told["undecided"] = 1
        return told
    if finding is None:
        return told
    if (reason := reason_by_message(finding.what)) is not None:
        told["more"][f"documented: {reason}"] = 1
        return told
    text = shrink(text, lambda shorter: _fails(shorter, finding), 60, finding.line)
    try:
        latest = check(text) or finding
    except UndecidedError:
        latest = finding
    if (reason := reason_of(text, latest.what)) is not None:
        told["more"][f"documented: {reason}"] = 1
        return told
    call = re.findall(r"(?:tf|keras)\.[\w.]+", text)
    told["sort"] = ["tensorflow", latest.sort[1], " ".join(sorted(set(call)))]
    kept[tuple(told["sort"])] += 1
    if kept[tuple(told["sort"])] <= 3:
        told["test"] = as_test(seed, latest, text)
    return told


def _fails(text, finding):
    """Whether a shorter text shows the same; a few runs with noise are enough for the search."""
    try:
        found = check(text, _has_its_names, most=_RUNS)
    except UndecidedError:
        return False
    if found is None or found.sort != finding.sort or _SPOILT.search(found.what):
        return False
    return _gist(found.what) == _gist(finding.what)


def _has_its_names(outcome):
    """Whether the program has lost no name that it needs."""
    raised = [tree for _, tree in outcome.kept if isinstance(tree, tuple) and tree[0] == "raised"]
    said = [text for *_, text in raised] + [outcome.error[1] if outcome.error else ""]
    return not any("is not defined" in text for text in said)


# What comes of a statement that is missing, in either library.
_SPOILT = re.compile(r"is not defined|required positional|missing a required|'DType' instead")


def _gist(what):
    """What differs, whatever the numbers, the line and the place are."""
    what = re.sub(r"^line \d+: | at \(.*|, where noise.*", "", what)
    return re.sub(r"-?[1-9][\d.]*(e[-+]?\d+)?|-?0\.0*[1-9][\d.]*(e[-+]?\d+)?", "n", what)


comparing.UNITS = NEAR / 1.2e-7
comparing.TINY = 1e-37  # TensorFlow takes smaller numbers for zeros
