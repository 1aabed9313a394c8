"""Doctests are looked for in every file of the package; those of Numba's kernels need Numba."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("numba") else ["framework/kernels/fast/*.py"]
