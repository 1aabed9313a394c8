"""Pipelines compared with themselves do not differ, and differences that are there are found."""

import random

import framework as tf
from tests.fuzz.pipelines import difference, files, outcome, text


def test_pipelines_give_the_same_twice():
    rng, folder = random.Random(1), files(tf)
    for serial in range(25):
        program = text(rng, serial)
        ours, again = (outcome(program, tf, folder) for _ in range(2))
        assert difference(ours, again) is None, program


def test_differences_are_found():
    folder = files(tf)
    one = outcome("D.range(3)", tf, folder)
    for program, what in {
        "D.range(4)": "elements",
        "D.range(3).take(3).batch(0)": "elements", "D.range(3, output_type=tf.int32)": "elements",
    }.items():  # fmt: skip
        assert difference(one, outcome(program, tf, folder)).startswith(what)
    unknown = outcome("D.range(3).filter(lambda x: x >= 0)", tf, folder)
    assert difference(unknown, one).startswith("length")
    assert difference(one, unknown) is None  # TensorFlow does not know a length that is known here
