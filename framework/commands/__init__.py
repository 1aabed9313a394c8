"""Implementations of the command-line commands, which `framework/__main__.py` lists."""
