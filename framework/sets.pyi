from framework.functions.sets import (
    difference as difference, intersection as intersection, size as size, union as union,
)  # fmt: skip
