"""What the tests of the compiler share."""

import pytest

from framework.kernels import tier
from tests.compiler import interpreted


@pytest.fixture(params=["numpy", "loops"])
def kind(request, monkeypatch):
    """Plans of NumPy calls, then plans whose loops Python runs from their own text."""
    tier.set_tier("numpy")
    if request.param == "loops":
        interpreted.install(monkeypatch)
        monkeypatch.setattr(tier, "without_numba", lambda: False)  # as where there are loops
    yield request.param
    monkeypatch.undo()
    tier.set_tier(None)
