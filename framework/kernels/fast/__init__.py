"""Numba's forms of the kernels, reached through `kernels.tier.library` only.

Every module here may import Numba at its top, makes its functions by `jit.kernel`, and has a
function `warm()` that calls them on tiny inputs, so that they can be compiled ahead.
"""
