"""Families of comparisons of single calls: `comparisons()` yields titles and functions.

The tables are those of the tests where there are such; see `parity/values.py`.
"""
