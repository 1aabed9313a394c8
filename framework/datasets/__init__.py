"""Example data sets: `digits` is part of the package, `mnist` is read from a local file."""
