"""Let a `Deferred` kernel compute by NumPy, or by Numba from the first element on."""

import pytest

from framework.kernels import tier
from framework.kernels.deferred import Deferred

FORMS = "numpy", "numba"


def use(form, module, change):
    """Change the form of a module's kernel until the test ends; skip it where Numba is not used.

    Args:
        form: one of FORMS.
        module: a module with a `_kernel`.
        change: the fixture.
    """
    name = module._kernel._name
    if form == "numpy":
        change(module, _kernel=Deferred(name, 0))
        change(module._kernel, library=lambda count: None)
        return
    pytest.importorskip("numba")
    if tier.library(name) is None:
        pytest.skip("the tier is without Numba")
    change(module, _kernel=Deferred(name, 0))
