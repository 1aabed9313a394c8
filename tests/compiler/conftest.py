"""Fixtures for tests of the compiler."""

import contextlib

import pytest

from framework.kernels import tier
from tests.compiler import interpreted


@pytest.fixture(params=["numpy", "loops"])
def kind(request):
    """Run a test with NumPy plans, then with plans whose loops are interpreted by Python."""
    tier.set_tier("numpy")
    with interpreted.loops() if request.param == "loops" else contextlib.nullcontext():
        yield request.param
    tier.set_tier(None)
