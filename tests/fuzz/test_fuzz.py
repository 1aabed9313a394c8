"""Random programs of a fixed seed, and the fuzzer's own parts: it has to find what is wrong."""

import re
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler import plan_cache
from framework.core.op import table
from parity.functions_tensorflow import differences as functions
from tests.fuzz import cases, expressions, networks
from tests.fuzz.comparing import UndecidedError, difference, noise, with_noise
from tests.fuzz.programs import program
from tests.fuzz.running import run
from tests.fuzz.shrinking import shrink
from tests.fuzz.tensorflow_differences import DIFFERENCES

# As many programs as take about a minute on one core.
SEED = 1_000_000
PARTS, PROGRAMS = 10, 80


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_give_the_same_in_every_mode(part):
    first = SEED + part * PROGRAMS
    for seed in range(first, first + PROGRAMS):
        _, text = cases.made(seed, tf, keras)
        if text is None:
            continue
        found, _ = cases.check(text, cases.modes_of(seed, numba=False))
        if found is not None:
            pytest.fail(cases.as_test(seed, found, cases.shrunk(text, found)))


# ---- what the fuzzer is to find: each is put in by hand ----

ADDING = """
@tf.function
def f(a, b):
    t1 = tf.sin(a)
    t2 = t1 * b
    if tf.reduce_sum(a) > 100.0:
        t2 = t2 + 1.0
    t3 = tf.tanh(t2) + tf.exp(t1)
    t4 = tf.reduce_sum(t3, axis=0)
    return t4, t2
x0 = data((3, 2), "float32", 1), data((3, 2), "float32", 2)
for x in (x0, x0, x0, x0):
    call(f, *x)
for x in (x0, x0, x0, x0):
    grads(f, x, [x[0]])
"""


def test_a_wrong_plan_is_found_and_shrunk(change):
    """Graphs are taken for the same, as if nothing compared their constants."""
    change(plan_cache, difference=lambda old, graph: None)
    text = "calls = []\n" + ADDING.replace(
        "t1 = tf.sin(a)", "calls.append(1)\n    t1 = tf.sin(a) * float(len(calls))"
    )
    found, _ = cases.check(text, ["numpy"])
    assert found.mode == "numpy"
    short = cases.shrunk(text, found)
    assert len(short.strip().splitlines()) <= 12, short
    assert cases.check(short, ["numpy"])[0].sort == found.sort


def test_shrinking_ends_and_tries_no_text_twice():
    tried = []

    def fails(text):
        tried.append(text)
        return "exp" in text

    text = "def f(x):\n    if x:\n        pass\n    return tf.exp(x)\nx0 = 1\ncall(f, x0)\nout(5)\n"
    assert shrink(text, fails, seconds=5, line=6) == "def f(x):\n    return tf.exp(x)\n"
    assert len(tried) == len(set(tried)) < 60


def test_a_wrong_kernel_is_found(change):
    relu = table["relu"]
    text = "@tf.function\ndef f(x):\n    return tf.nn.relu(x)\nfor i in range(4):\n"
    text += "    call(f, data((3, 2)))\n"
    assert cases.check(text, ["numpy", "loops"]) == (None, 0)
    forward = relu.forward

    def wrong(x):
        return forward(x) + np.float32(run.__name__ == "run" and _mode() != "off") * 1e-6

    def _mode():
        from framework.kernels import tier

        return tier.tier()

    change(relu, forward=wrong)
    found, _ = cases.check(text, ["numpy"])
    assert "instead of" in found.what


def test_a_result_or_argument_written_to_is_found():
    found, _ = cases.check("x = data((2,))\nx.array[0] = 5.0\nout(x)\n", [])
    assert "was written to" in found.what


def test_an_internal_error_in_the_log_is_found(change, no_failures_of_the_compiler):
    def fail(*_, **__):
        raise RuntimeError("made up")

    change(plan_cache.Plan, __init__=fail)
    found, _ = cases.check(ADDING, ["numpy"])
    assert "failed (RuntimeError: made up)" in found.what
    no_failures_of_the_compiler.clear()


def test_what_rounding_explains_passes_and_what_it_does_not_is_found():
    text = "x = data((50,))\nout(tf.exp(x) - tf.exp(x * 1.0000001))\n"
    base = run(text, "off")
    other = run(text.replace("tf.exp(x) -", "(tf.exp(x) * (1 + 2e-7)) -"), "off")
    assert difference(other, base, None) is not None
    assert difference(other, base, with_noise(text, run)) is None
    other = run(text.replace("tf.exp(x) -", "(tf.exp(x) * 1.001) -"), "off")
    assert difference(other, base, with_noise(text, run)) is not None


@pytest.mark.parametrize("name", ["exp", "erf", "digamma", "reduce_logsumexp"])
def test_noise_reaches_functions_that_keep_their_op(name):
    function, x = getattr(tf.math, name), tf.linspace(1.6, 2.8, 9)
    exact = function(x).numpy()
    with noise(1):
        shaken = function(x).numpy()
    assert (shaken != exact).any()
    np.testing.assert_allclose(shaken, exact, rtol=3e-6)


def test_noise_reaches_derivatives():
    """A backward pass on arrays calls NumPy, not ops."""
    text = "x = data((50,))\ngrads(lambda: tf.math.atan(x), (), [x])\n"
    (_, exact), (_, shaken) = run(text, "off").kept[0], with_noise(text, run)(1)[0].kept[0]
    assert (exact[2][1] != shaken[2][1]).any()


def test_what_hangs_on_the_last_bits_is_undecided():
    text = "x = data((50,))\nout(tf.cast(tf.exp(x) > tf.exp(x * 1.0000001), tf.int32))\n"
    base = run(text, "off")
    other = run(text.replace("tf.exp(x) >", "tf.exp(x) * (1 + 2e-7) >"), "off")
    with pytest.raises(UndecidedError):
        difference(other, base, with_noise(text, run))


def test_a_program_that_does_not_end_is_found():
    found = run("while True:\n    pass\n", "off", seconds=1)
    assert found.error[0] == "TooLongError"
    found = run("import time\ntime.sleep(30)\n", "off", seconds=0.2)
    assert found.error[0] == "TooLongError"


def test_a_program_that_another_process_slows_down_is_not():
    """What counts is CPU time: here the program waits, as it does on a busy machine."""
    found = run("import time\ntime.sleep(1.5)\n", "off", seconds=1)
    assert found.error is None


# ---- the generators ----


def test_the_docs_show_the_table_of_differences():
    docs = (Path(__file__).parents[2] / "docs" / "fuzzing.md").read_text()
    shown = re.findall(r"^\| (.*) \|$", docs.split("| difference |")[1], re.MULTILINE)
    assert shown == [*DIFFERENCES, *functions.DIFFERENCES]


def test_a_seed_is_a_program():
    assert program(5, tf, keras) == program(5, tf, keras)
    assert networks.network(5, tf, keras) == networks.network(5, tf, keras)
    assert len({program(seed, tf, keras) for seed in range(40)}) == 40


def test_most_expressions_are_used():
    """An expression with a mistake in it never runs, and would go unseen."""
    texts = "".join(program(seed, tf, keras, states=False) for seed in range(400))
    heads = {
        line.split("(")[0] for group, _ in expressions.GROUPS[:4] for line in group if "(" in line
    }
    unused = sorted(head for head in heads if head.startswith("tf.") and f"{head}(" not in texts)
    assert len(unused) < len(heads) / 10, unused


def test_every_layer_of_the_generator_is_made():
    made = set()
    for seed in range(300):
        made.update(re_layers(networks.network(seed, tf, keras) or ""))
    wanted = {
        line.split("(")[0]
        for kind in (networks.DENSE, networks.FLAT, networks.SEQUENCE, networks.IMAGE)
        for line in kind
    }
    assert len(wanted - made) <= 3, wanted - made


def re_layers(text):
    return {part.split("(")[0] for part in text.split("keras.layers.")[1:]}
