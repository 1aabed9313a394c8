"""Programs of the kind that Keras's site shows, written anew: each beats its baseline.

They run with NumPy plans: Numba would compile loops for each for seconds.
"""

import pytest

from framework import keras
from framework.kernels import tier
from tests.programs import (  # noqa: F401 (they register programs)
    attention,
    augmented,
    generative,
    others,
    registry,
    tables,
    texts,
    vision,
)


@pytest.fixture(autouse=True, scope="module")
def numpy_tier():
    before = tier.tier()
    tier.set_tier("numpy")
    yield
    tier.set_tier(before)


@pytest.mark.parametrize("name", registry.PROGRAMS)
def test_program(name):
    run, share = registry.PROGRAMS[name]
    keras.utils.set_random_seed(1)
    error, baseline = run()
    assert error < share * baseline, f"{error:.4g} of {baseline:.4g}"


def test_there_are_thirty():
    assert len(registry.PROGRAMS) >= 30
