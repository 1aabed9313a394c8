"""Copies of functions with other global names or closure variables."""

from framework.compiler.rebinding import with_cells, with_names

number = 1


def added(x, y=10):
    return x + y + number


def make(b):
    cell = None

    def run(x):
        return x, b, cell

    return run


def test_global_names_are_replaced_only_in_the_copy():
    copied = with_names(added, number=5)
    assert (copied(1), copied(1, 2), added(1)) == (16, 8, 12)
    assert copied.__name__ == "added"


def test_a_copy_keeps_its_closure():
    assert with_names(make("buffer"), number=5)("x") == ("x", "buffer", None)


def test_cells_of_the_user_replace_closure_variables():
    def user():
        return count

    count = 1
    (cell,) = user.__closure__
    run = with_cells(make, {"cell": cell}, "buffer")
    assert run("x") == ("x", "buffer", 1)
    count = 2
    assert run("x") == ("x", "buffer", 2)
