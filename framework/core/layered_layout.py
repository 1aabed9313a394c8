"""Layout of a graph drawing: assigns each node a row and a horizontal position.

A node is in the row below its lowest input. Within a row, nodes are ordered by the mean position of
their neighbors (Sugiyama, Tagawa, Toda 1981, without dummy nodes).
"""

from itertools import pairwise

GAP = 24


def laid_out(nodes, edges):
    """Set `row` and `x` of each node, and return the rows.

    Args:
        nodes: objects with `key`, `width`, `row`, `x` (the middle) and `is_source`; a source is
            placed one row above the first node that uses it.
        edges: pairs of keys, without a cycle.
    """
    before = {n.key: [] for n in nodes}
    after = {n.key: [] for n in nodes}
    by_key = {n.key: n for n in nodes}
    for a, b in edges:
        before[b].append(by_key[a])
        after[a].append(by_key[b])
    rows = _rows(nodes, before, after)
    for neighbours in (before, after, before, after, before):
        for row in rows:
            for node in row:
                near = neighbours[node.key]
                node.x = sum(n.x for n in near) / len(near) if near else node.x
            row.sort(key=lambda n: n.x)
            _spread(row)
    left = min([n.x - n.width / 2 for n in nodes], default=0)
    for node in nodes:
        node.x -= left
    return rows


def _rows(nodes, before, after):
    """Put each node into the row below its lowest input, and sources just above their first use."""
    changed = True
    while changed:
        changed = False
        for node in nodes:
            row = max([n.row + 1 for n in before[node.key]], default=0)
            changed, node.row = changed or row != node.row, row
    for node in nodes:
        if node.is_source and after[node.key]:
            node.row = min(n.row for n in after[node.key]) - 1
    rows = [[] for _ in range(max([n.row for n in nodes], default=-1) + 1)]
    for node in nodes:
        rows[node.row].append(node)
    rows = [row for row in rows if row]
    for i, row in enumerate(rows):
        for node in row:
            node.row = i
        _place(row)
    return rows


def _place(row):
    x = 0
    for node in row:
        node.x = x + node.width / 2
        x += node.width + GAP


def _spread(row):
    """Move overlapping nodes of a row apart, keeping the row's mean position."""
    middle = sum(n.x for n in row) / len(row)
    for left, right in pairwise(row):
        right.x = max(right.x, left.x + (left.width + right.width) / 2 + GAP)
    shift = middle - sum(n.x for n in row) / len(row)
    for node in row:
        node.x += shift
