"""From one seed, in another process: the four faces of the step end with the same bits."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.kernels import tier
from tests.training import test_training_step as steps
from tests.training.test_training_step import OwnStep, by_fit, by_tape, by_training_step

ROOT = Path(__file__).parents[2]
FACES = {
    "fit": lambda: by_fit()[0],
    "an overridden train_step": lambda: by_fit(OwnStep)[0],
    "training_step": lambda: by_training_step()[0],
    "a tape": lambda: by_tape()[0],
}
EPOCHS = 10  # of 5 batches


def hashes():
    """Of the weights after 50 steps, dropout and a smaller last batch of each epoch among them."""
    return [
        hashlib.sha256(b"".join(w.tobytes() for w in face().get_weights())).hexdigest()
        for face in FACES.values()
    ]


PROGRAM = """
import tests.training.test_training_step as steps
from tests.training.test_second_process import EPOCHS, hashes
steps.EPOCHS = EPOCHS
print(*hashes())
"""


@pytest.mark.parametrize("name", ["off", "numpy", "numba"])
def test_the_same_bits_in_another_process(name, change):
    if name == "numba":
        pytest.importorskip("numba")
    change(steps, EPOCHS=EPOCHS)
    tier.set_tier(name)
    try:
        here = hashes()
    finally:
        tier.set_tier()
    assert len(set(here)) == 1, dict(zip(FACES, here, strict=True))
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, tier.VARIABLE: name},
    )  # fmt: skip
    assert there.stdout.split() == here
