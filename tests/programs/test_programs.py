"""Programs of the kind that Keras's site shows, written anew: each beats its baseline."""

import pytest

from framework import keras
from tests.programs import registry, tables, texts, vision  # noqa: F401 (they register programs)


@pytest.mark.parametrize("name", registry.PROGRAMS)
def test_program(name):
    run, share = registry.PROGRAMS[name]
    keras.utils.set_random_seed(1)
    error, baseline = run()
    assert error < share * baseline, f"{error:.4g} of {baseline:.4g}"
