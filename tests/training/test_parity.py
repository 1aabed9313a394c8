"""Training runs equal to real Keras's, by numbers pinned from it."""

import numpy as np
import pytest

from framework import keras
from tests.training.keras_values import VALUES
from tests.training.scenarios import SCENARIOS


@pytest.mark.parametrize("name", SCENARIOS)
def test_as_keras(name):
    found, expected = SCENARIOS[name](keras), VALUES[name]
    assert set(found) == set(expected)
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, rtol=2e-4, atol=1e-6, err_msg=key)


def test_the_runs_train():
    """A run that changes nothing would be equal too."""
    for name, values in VALUES.items():
        losses = values.get("loss", ())
        if len(losses) > 1 and "baseline" not in name:
            assert abs(losses[0] - losses[-1]) > 2e-3 * losses[0], name
