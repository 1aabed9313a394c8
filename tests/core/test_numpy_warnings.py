"""Code without NumPy's warnings: nested, and what it raises."""

import numpy as np
import pytest

from framework.core.numpy_warnings import no_warnings

FUNCTIONS = {  # of one, of two, of more arguments
    1: lambda work: no_warnings(lambda x: work()),
    2: lambda work: no_warnings(lambda a, b: work()),
    3: lambda work: no_warnings(lambda a, b, c: work()),
}


@pytest.mark.parametrize("arity", FUNCTIONS)
def test_nothing_is_said_within_one_another(arity):
    call = FUNCTIONS[arity](lambda: no_warnings(lambda x: 1 / x)(np.zeros(2)))
    assert call(*range(arity)).tolist() == [np.inf] * 2


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, ValueError])
@pytest.mark.parametrize("arity", FUNCTIONS)
def test_an_error_is_raised_and_nothing_is_done_twice(arity, error):
    calls = []

    def work():
        calls.append(arity)
        raise error("its own")

    for call in (
        FUNCTIONS[arity](work),
        FUNCTIONS[arity](lambda: no_warnings(lambda x: work())(1)),
    ):
        calls.clear()
        with pytest.raises(error, match="its own"):
            call(*range(arity))
        assert calls == [arity]
