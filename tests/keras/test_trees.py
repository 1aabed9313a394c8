"""keras.tree: the results of real Keras 3 (JAX backend, optree), recorded."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest

from framework import keras

tree = keras.tree
P = namedtuple("P", "x y")  # noqa: PYI024 (a plain named tuple is what Keras's users have)
OTHER = namedtuple("P", "x y")  # noqa: PYI024 (as above)
S = {"b": [1, (2, None)], "a": P(3, {"z": 4})}


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        (S, [3, 4, 1, 2, None]),
        (OrderedDict([("b", 1), ("a", 2)]), [1, 2]),
        (defaultdict(list, {"b": 1, "a": 2}), [2, 1]),
        (deque([1, [2]]), [1, 2]),
        ({1: 2, "a": 3}, [2, 3]),
        (None, [None]),
        ([], []),
    ],
)
def test_flatten(structure, expected):
    assert tree.flatten(structure) == expected
    packed = tree.pack_sequence_as(structure, range(len(expected)))
    assert tree.flatten(packed) == list(range(len(expected)))
    assert type(packed) is type(structure) or not tree.is_nested(structure)


def test_paths():
    assert tree.flatten_with_path(S) == [
        (("a", 0), 3), (("a", 1, "z"), 4), (("b", 0), 1), (("b", 1, 0), 2), (("b", 1, 1), None)
    ]  # fmt: skip
    assert tree.flatten_with_path(3) == [((), 3)]


def test_what_is_nested():
    for structure in ([], (), {}, deque(), P(1, 2), OrderedDict()):
        assert tree.is_nested(structure)
    tensor = keras.ops.ones(2)
    for leaf in (1, None, "ab", {1}, range(3), np.ones(2), tensor, tensor.shape):
        assert not tree.is_nested(leaf)


def test_traverse_visits_parts_in_order():
    seen = []
    assert tree.traverse(seen.append, S) == S
    assert seen == [S, S["a"], 3, {"z": 4}, 4, S["b"], 1, (2, None), 2, None]
    seen.clear()
    assert tree.traverse(seen.append, S, top_down=False) == S
    assert seen == [3, 4, {"z": 4}, S["a"], 1, 2, None, (2, None), S["b"], S]


def test_traverse_replaces_parts():
    def drop(kind):
        return lambda part: tree.MAP_TO_NONE if isinstance(part, kind) else None

    assert tree.traverse(drop(tuple), S) == {"b": [1, None], "a": None}
    structure = OrderedDict([("b", deque([1], 3)), ("a", defaultdict(int, {"q": 1}))])
    made = tree.traverse(lambda p: 7 if p == 1 else None, structure, top_down=False)
    assert made == OrderedDict([("b", deque([7])), ("a", {"q": 7})])
    assert made["b"].maxlen == 3
    assert made["a"].default_factory is int


def test_map_structure():
    pairs = tree.map_structure(lambda a, b: (a, b), S, S)
    assert pairs == {"b": [(1, 1), ((2, 2), (None, None))], "a": P((3, 3), {"z": (4, 4)})}
    assert tree.map_structure(lambda a: a + 1, [1, None], none_is_leaf=False) == [2, None]
    ordered = OrderedDict([("b", 3), ("a", 4)])
    made = tree.map_structure(lambda a, b: (a, b), {"b": 1, "a": 2}, ordered)
    assert made == {"b": (1, 3), "a": (2, 4)}
    for function in (tree.map_structure, tree.pack_sequence_as):
        with pytest.raises(TypeError):
            function(3, 5)
    for structures in ((), ([1], (1,)), ([1], [1, 2]), ([1], [[1]]), ({"a": 1}, {"b": 1})):
        with pytest.raises(ValueError, match="map_structure: "):
            tree.map_structure(lambda *_: 0, *structures)
    with pytest.raises(ValueError, match=r"at \[1\], got \(None, 3\)"):
        tree.map_structure(lambda a, b: a + b, [1, None], [2, 3], none_is_leaf=False)


def test_map_structure_up_to():
    """As documented by Keras; Keras 3.15 with optree raises for the documented calls."""
    up_to = tree.map_structure_up_to
    assert up_to([None, [None, None]], str, [[1, 1], [2, 2]]) == ["[1, 1]", ["2", "2"]]
    assert up_to([0, 0], lambda a, b: (a, b), [[1], 2], [3, [4]]) == [([1], 3), (2, [4])]
    for shallow, structure in (([0, [0]], [[1], 2]), ({"a": 0}, {"a": 1, "b": 2}), ([0, 0], [1])):
        with pytest.raises(ValueError, match="map_structure_up_to: "):
            up_to(shallow, str, structure)


SAME_PATHS = "paths"
SAME = "structure"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ([1], (1,), SAME_PATHS),
        ([1], [1, 2], None),
        ({"a": 1}, {"b": 1}, None),
        ({"a": 1}, OrderedDict(a=2), SAME),
        (P(1, 2), (1, 2), SAME_PATHS),
        (P(1, 2), OTHER(1, 2), SAME_PATHS),
        (1, [1], None),
        (None, 1, SAME),
        (deque([1]), [1], SAME_PATHS),
        ({"a": 1, "b": 2}, OrderedDict([("b", 1), ("a", 1)]), SAME),
    ],
)
def test_sameness(a, b, same):
    for check, holds in (
        (tree.assert_same_structure, same == SAME),
        (tree.assert_same_paths, same is not None),
    ):
        if holds:
            check(a, b)
        else:
            with pytest.raises(ValueError, match=check.__name__):
                check(a, b)


def test_pack_needs_as_many_leaves():
    for flat in ([10], [10, 11, 12]):
        with pytest.raises(ValueError, match="expected 2 elements"):
            tree.pack_sequence_as([1, 2], flat)


def test_lists_and_shapes():
    structure = {"a": [1, [2], P([3], 4)], "b": deque([[1]])}
    assert tree.lists_to_tuples(structure) == {"a": (1, (2,), P((3,), 4)), "b": deque([(1,)])}
    shapes = {"a": (1, None), "b": [(2,), [3, 4]], "c": (), "d": None}
    mapped = tree.map_shape_structure(lambda shape: ["S", shape], shapes)
    assert mapped == {
        "a": ["S", (1, None)],
        "b": [["S", (2,)], ["S", [3, 4]]],
        "c": ["S", ()],
        "d": ["S", None],
    }
