"""Data sets to learn with: `digits` is part of the package, `mnist` is read from a local file."""
