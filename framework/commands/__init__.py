"""The functions of the command line's commands; `framework/__main__.py` has their table."""
