"""What the tests of the compiler share."""

import contextlib

import pytest

from framework.kernels import tier
from tests.compiler import interpreted


@pytest.fixture(params=["numpy", "loops"])
def kind(request):
    """Plans of NumPy calls, then plans whose loops Python runs from their own text."""
    tier.set_tier("numpy")
    with interpreted.loops() if request.param == "loops" else contextlib.nullcontext():
        yield request.param
    tier.set_tier(None)
