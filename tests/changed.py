"""Change private names of the package while a test runs.

Kernels and plans choose by private thresholds and settings: from which size on Numba computes, how
large a block is, how many threads there are. A test that needs another choice states it:

    with changed(attention, _FAST=0, _BLOCK=1 << 12):
        ...

or, until the test ends, by the fixture `change`:

    def test_one_block(change):
        change(attention, _FAST=0, _BLOCK=1 << 12)

The same replaces a function, to observe its calls or to let them fail. A name that does not exist
is an error, so a renamed threshold breaks the tests that depend on it.
"""

import contextlib

_INHERITED = object()  # the owner has the name from its class


@contextlib.contextmanager
def changed(owner, **values):
    """Set attributes of a module, class or object; restore them at the end."""
    if missing := [name for name in values if not hasattr(owner, name)]:
        raise AttributeError(f"{owner!r} has no {', '.join(missing)} to change")
    own = getattr(owner, "__dict__", None)
    before = {n: getattr(owner, n) if own is None else own.get(n, _INHERITED) for n in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            if value is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


@contextlib.contextmanager
def without_items(table, *keys):
    """Take items out of a dict; put them back at the end."""
    taken = {key: table.pop(key) for key in keys}
    try:
        yield
    finally:
        table.update(taken)
