"""Reads found in bytecode, on every supported Python."""

import pytest

from framework.compiler.bytecode import ATTRIBUTE, CLOSURE, GLOBAL, ITEM, LOCAL, paths_of

table, count = {}, 0


def reads(function):
    """Paths without arguments whose attributes are not read."""
    return {path for path in paths_of(function.__code__) if path[0] != LOCAL or path[2]}


def attributes(*names):
    return tuple((ATTRIBUTE, name) for name in names)


def test_globals_and_their_attributes():
    def f(x):
        return table.first.second(x)

    assert reads(f) == {(GLOBAL, "table", attributes("first", "second"))}


def test_constant_items():
    def f(x):
        return x * table["scale"][0].size

    steps = ((ITEM, "scale"), (ITEM, 0), (ATTRIBUTE, "size"))
    assert reads(f) == {(GLOBAL, "table", steps)}


def test_an_adjacent_argument_is_not_an_item():
    def f():
        return max(table, "a")

    assert (GLOBAL, "table", ()) in reads(f)


def test_closures_and_arguments():
    free = 1

    def f(self, other):
        other = other.copy()
        return self.scale * free, other.size

    assert reads(f) == {(LOCAL, "self", attributes("scale")), (CLOSURE, "free", ())}


def test_arguments_that_inner_functions_use():
    def f(self):
        return (lambda: self.inner), self.scale

    assert (LOCAL, "self", attributes("scale")) in reads(f)


def global_count():
    global count
    count += 1


def attribute_count(self):
    self.count += 1


def closure_count():
    n = 0

    def f():
        nonlocal n
        n += 1

    return f


@pytest.mark.parametrize("function", [global_count, attribute_count, closure_count()])
def test_a_count_of_calls_is_not_a_read(function):
    assert reads(function) == set()


def test_counting_and_reading():
    def f(self):
        self.count += 1
        return self.count

    assert reads(f) == {(LOCAL, "self", attributes("count"))}
