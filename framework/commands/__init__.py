"""The commands of the command line; the table of them is in `framework/__main__.py`."""
