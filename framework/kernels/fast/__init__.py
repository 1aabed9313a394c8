"""The Numba backend of the kernels; only `kernels.tier.library` imports these modules.

A module here may import Numba at its top. It compiles functions by `jit.kernel`, and `warm()`
calls each of them on tiny inputs, so that they can be compiled ahead of time.
"""
