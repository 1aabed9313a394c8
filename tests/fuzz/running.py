"""Run a program, a text, in one mode, and keep what it gave.

A program is Python with these names: `tf`, `keras`, `np`, and

    data((2, 3), "float32", 5)  a tensor of random numbers by a seed; special=True adds NaN and such
    out(value)                  keep a value
    call(f, *args)              keep what f gives, or the type of what it raises
    grads(f, args, sources)     keep f's result and gradients, by a tape outside
    second(f, args, source)     keep the gradient of a gradient's sum of squares, by two tapes
    threads(f, *calls)          keep what f gives in threads of their own that begin together
    Box(k=1.5)                  an object with attributes

What a program kept is compared by `comparing.py`. Modes:

    off      op by op
    numpy    plans of NumPy calls
    loops    plans whose loops Python runs from their own text: no machine code is made
    numba    plans with Numba's loops and kernels from the first one on
"""

import contextlib
import functools
import logging
import signal
import sys
import threading
import traceback
import types
import warnings

import numpy as np

from framework.core.numpy_warnings import _OPS

MODES = ("off", "numpy", "loops", "numba")
SECONDS = 120  # more is a program that hangs
_INTERNAL = (" failed (", "stays with NumPy calls", "Traceback")  # in the compiler's own log


class Outcome:
    """What a run of a program gave.

    Attributes:
        kept: (line, tree) of each value; a tree is made of tuples, and of arrays at its leaves.
        complaints: what must never be: internal errors in the log, warnings, arguments written to.
        error: the type of what ended it before its end, and the text; None where nothing did.
    """

    def __init__(self):
        self.kept, self.complaints, self.error = [], [], None
        self._watched = []  # (what, an array, its copy when it was seen)
        self.inexact_from = None  # the first entry after an exception in a function with effects

    def keep(self, line, tree):
        self.kept.append((line, tree))

    def watch(self, what, array):
        self._watched.append((what, array, array.copy()))

    def finish(self):
        for what, array, before in self._watched:
            if array.tobytes() != before.tobytes():
                self.complaints.append(f"{what} was written to")
        self._watched.clear()


class TooLongError(Exception):
    """A program that does not end."""


class Box(types.SimpleNamespace):
    """Attributes; equal to itself only, as objects are."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


def data(tf, shape, dtype="float32", seed=0, special=False, least=1e-41):
    """A tensor of random numbers; `special` strews NaN, infinities, -0.0, small and large ones."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return tf.constant(rng.random(shape) < 0.5)
    if "int" in dtype:
        low, high = (0, 5) if dtype.startswith("u") else (-4, 5)
        return tf.constant(rng.integers(low, high, shape), dtype)
    array = np.round(np.asarray(rng.normal(size=shape)) * 2, 2)
    if dtype.startswith("complex"):
        return tf.constant(array + 1j * np.round(rng.normal(size=shape), 2), dtype)
    if special and array.size:
        odd = [np.nan, np.inf, -np.inf, -0.0, 0.0, least, 3e38, -1.0, 1.0]
        if dtype in ("float16", "bfloat16"):
            odd[5:7] = 6e-8, 6e4
        where = rng.random(shape) < 0.4
        array = np.where(where, rng.choice(odd, size=shape), array)
    return tf.constant(array, dtype)


class Runner:
    """The names that a program has, and what it keeps.

    Args:
        tf, keras: the packages it uses.
        outcome: an `Outcome`.
        dense: whether sparse gradients are kept as dense ones, as where TensorFlow runs.
    """

    def __init__(self, tf, keras, outcome, dense=False):
        self.tf, self.keras, self.outcome, self.dense = tf, keras, outcome, dense
        self.names = {
            "tf": tf, "keras": keras, "np": np, "data": self.data, "out": self.out,
            "call": self.call, "grads": self.grads, "second": self.second, "probe": self.probe,
            "threads": self.threads, "Box": Box, "__name__": "program",
        }  # fmt: skip

    def data(self, shape, dtype="float32", seed=0, special=False):
        least = 1e-36 if self.dense else 1e-41  # TensorFlow takes subnormal numbers for zeros
        tensor = data(self.tf, shape, dtype, seed, special, least)
        if hasattr(tensor, "array"):
            self.outcome.watch("an argument", tensor.array)
        return tensor

    def tree(self, value):
        """A value as tuples and arrays."""
        if value is None or isinstance(value, (str, bytes)):
            return value
        if isinstance(value, dict):
            return ("dict", *[(k, self.tree(v)) for k, v in value.items()])
        if isinstance(value, (list, tuple)):
            return (type(value).__name__, *[self.tree(v) for v in value])
        if hasattr(value, "indices") and hasattr(value, "values"):
            if self.dense:
                return self.tree(self.tf.convert_to_tensor(value))
            return ("IndexedSlices", self.tree(value.values), self.tree(value.indices))
        if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
            return np.array(value)
        if hasattr(value, "numpy"):
            array = value.numpy()
            if isinstance(array, np.ndarray):
                self.outcome.watch("a result", array)
                return array.copy()
            return array if isinstance(array, bytes) else np.asarray(array)
        return type(value).__name__

    def out(self, value):
        self.outcome.keep(_line(), self.tree(value))

    def attempt(self, work):
        """The tree of what `work()` gives or raises."""
        try:
            return self.tree(work())
        except TooLongError:
            raise
        except Exception as error:
            return ("raised", type(error).__name__, str(error).partition("\n")[0][:200])

    def call(self, f, *args, **kwargs):
        self.outcome.keep(_line(), self.attempt(lambda: f(*args, **kwargs)))

    def probe(self, f):
        self.outcome.keep(_line(), self.attempt(f))

    def grads(self, f, args, sources):
        def work():
            with self.tf.GradientTape() as tape:
                for source in sources:
                    tape.watch(source)
                y = f(*args)
                target = self.loss(y)
            return y, tape.gradient(target, sources)

        self.outcome.keep(_line(), self.attempt(work))

    def second(self, f, args, source):
        def work():
            with self.tf.GradientTape() as outer:
                outer.watch(source)
                with self.tf.GradientTape() as tape:
                    tape.watch(source)
                    target = self.loss(f(*args))
                g = tape.gradient(target, source)
                square = None if g is None else self.tf.reduce_sum(self.tf.square(g))
            return g, None if g is None else outer.gradient(square, source)

        self.outcome.keep(_line(), self.attempt(work))

    def loss(self, result):
        """The floats of a result."""
        leaves = result if isinstance(result, (list, tuple)) else [result]
        leaves = list(result.values()) if isinstance(result, dict) else leaves
        return [v for v in leaves if hasattr(v, "dtype") and v.dtype.is_floating]

    def threads(self, f, *calls):
        gate, found = threading.Barrier(len(calls)), [None] * len(calls)

        def work(i):
            gate.wait()
            found[i] = self.attempt(lambda: f(*calls[i]))

        # TensorFlow's threads may wait for each other for ever: then the process ends without them.
        workers = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(calls))]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.outcome.keep(_line(), ("threads", *found))


def _line():
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != "<program>":
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


class _Log(logging.Handler):
    def __init__(self, outcome):
        super().__init__(logging.WARNING)
        self.outcome = outcome

    def emit(self, record):
        text = record.getMessage()
        if any(sign in text for sign in _INTERNAL):
            self.outcome.complaints.append(f"log: {text}")


@contextlib.contextmanager
def listening(outcome, allowed=()):
    """Log and warnings become complaints."""
    logger, handler = logging.getLogger("framework"), _Log(outcome)
    before = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            # as `core/numpy_warnings.py` has it where filters are not set anew
            warnings.filterwarnings("ignore", category=RuntimeWarning, module=_OPS)
            yield
        for warning in found:
            text = f"{warning.category.__name__}: {warning.message}"
            if not any(sign in text for sign in allowed):
                outcome.complaints.append(f"warning: {text.partition(chr(10))[0][:200]}")
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


@contextlib.contextmanager
def within(mode):
    """The package in one of `MODES`."""
    from framework.kernels import tier
    from tests.compiler import interpreted

    before = tier._tier
    tier.set_tier({"loops": "numpy"}.get(mode, mode))
    try:
        with interpreted.loops() if mode == "loops" else contextlib.nullcontext():
            yield
    finally:
        tier.set_tier(before)


@contextlib.contextmanager
def at_most(seconds, waiting=None):
    """Raise `TooLongError` in the main thread after some seconds, where the system can.

    The seconds are CPU time, which a busy machine does not stretch; a program that waits for
    something, and so uses none, ends after `waiting` seconds: ten times as many by default.
    """

    def stop(*_):
        raise TooLongError(f"It runs for more than {seconds} s.")

    if not hasattr(signal, "SIGPROF") or threading.current_thread() is not threading.main_thread():
        yield
        return
    clocks = {
        (signal.ITIMER_PROF, signal.SIGPROF): seconds,
        (signal.ITIMER_REAL, signal.SIGALRM): waiting or 10 * seconds,
    }
    before = {number: signal.signal(number, stop) for _, number in clocks}
    for (clock, _), limit in clocks.items():
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for clock, number in clocks:
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


# What programs do that the package, rightly, warns of.
ALLOWED_WARNINGS = (
    "Gradients do not exist", "does not support masking", "has no trainable weights",
)  # fmt: skip


def run(text, mode, seconds=SECONDS):
    """The `Outcome` of a program in a mode."""
    import framework as tf
    from framework import keras
    from framework.training.usage_warnings import no_warnings  # of labels and rates drawn at random

    outcome = Outcome()
    names = Runner(tf, keras, outcome).names
    with within(mode), no_warnings(), listening(outcome, ALLOWED_WARNINGS), at_most(seconds):
        keras.utils.set_random_seed(1)
        execute(text, names, outcome)
    keras.backend.clear_session()
    return outcome


def execute(text, names, outcome):
    """Run a text with names; what ends it early stands in the outcome."""
    try:
        exec(_compiled(text), names)
    except Exception as error:
        outcome.error = (type(error).__name__, str(error).partition("\n")[0][:300])
        outcome.traceback = traceback.format_exc()
    outcome.finish()


@functools.lru_cache(16)
def _compiled(text):
    """The code of a program, which runs in several modes and with noise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(text, "<program>", "exec")
