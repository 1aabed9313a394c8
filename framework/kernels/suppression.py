"""Non-maximum suppression: of boxes that overlap, only the one with the best score is kept.

Boxes are rows (y1, x1, y2, x2), two opposite corners in any order.
"""

import heapq

import numpy as np


def overlaps(boxes, others):
    """Return the intersection over union of each box with each of the others, float32."""
    a, b = _ordered(boxes)[:, None], _ordered(others)[None]
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    shared = np.maximum(high - low, 0).prod(axis=-1)
    areas = [(x[..., 2:] - x[..., :2]).prod(axis=-1) for x in (a, b)]
    union = areas[0] + areas[1] - shared
    empty = (areas[0] <= 0) | (areas[1] <= 0)
    return np.where(empty, 0, shared / np.where(empty, 1, union))


def _ordered(boxes):
    corners = boxes.reshape(-1, 2, 2)
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def kept(similarity, scores, count, threshold, least, sigma=0.0):
    """Return the positions that are kept, best first, and their scores.

    Args:
        similarity: called with a position and an array of positions, returns their overlaps.
        scores: (boxes,).
        count: the maximum number of positions.
        threshold: a box is dropped if it overlaps a better one by more than this.
        least: boxes with this score or less are dropped.
        sigma: if not 0, overlaps of any size lower the score by a Gaussian of this deviation
            (Bodla et al. 2017, "Soft-NMS"), and only `least` drops boxes.
    """
    queue = [(-float(s), i, 0) for i, s in enumerate(scores) if s > least]
    heapq.heapify(queue)
    chosen, values = [], []
    scale = np.float32(-0.5 / sigma) if sigma else None
    while queue and len(chosen) < count:
        score, i, seen = heapq.heappop(queue)
        score, before = -score, -score
        for overlap in similarity(i, chosen[seen:])[::-1]:
            if sigma:
                score = float(np.float32(score) * np.exp(scale * np.float32(overlap) ** 2))
            elif overlap > threshold:
                score = None
            if score is None or score <= least:
                break
        if score == before:
            chosen.append(i)
            values.append(score)
        elif score is not None and score > least:
            heapq.heappush(queue, (-score, i, len(chosen)))
    return np.array(chosen, np.int32), np.array(values, np.float32)


def kept_of_boxes(boxes, scores, count, threshold, least, sigma=0.0):
    """Return the result of `kept` for an array of boxes (boxes, 4)."""
    boxes = boxes.astype(np.float32)

    def similarity(i, others):
        return overlaps(boxes[i : i + 1], boxes[others])[0] if others else np.zeros(0)

    return kept(similarity, scores, count, threshold, least, sigma)


def kept_in_order(boxes, scores, count, threshold, least, ordered, canonical):
    """Return the positions that TensorFlow's tiled algorithm keeps, (count,), and their number.

    The positions are padded with 0. A box that overlaps a better one by `threshold` or more is
    dropped, and so are boxes without a positive coordinate. Boxes are sorted by score already if
    `ordered`. Unless `canonical`, the first box determines for all boxes which corner comes first.
    """
    alive = scores > least
    boxes = np.where(alive[:, None], boxes, 0).astype(np.float32)
    scores = np.where(alive, scores, 0)
    if not canonical and len(boxes):
        order = [0 if boxes[0, k] <= boxes[0, k + 2] else 2 for k in (0, 1)]
        boxes = boxes[:, [order[0], 1 + order[1], 2 - order[0], 3 - order[1]]]
    places = np.arange(len(boxes)) if ordered else np.argsort(-scores, kind="stable")
    chosen = []
    for i in places:
        if len(chosen) == count or not (boxes[i] > 0).any():
            continue
        if not chosen or (overlaps(boxes[i : i + 1], boxes[chosen]) < threshold).all():
            chosen.append(i)
    positions = np.zeros(count, np.int32)
    positions[: len(chosen)] = chosen
    return positions, np.int32(len(chosen))


def kept_by_class(boxes, scores, *, each, total, threshold, least, pad, clip):
    """Return the boxes, scores and classes to keep for one image, and their number.

    Args:
        boxes: (boxes, 1 or classes, 4).
        scores: (boxes, classes).
        each, total: the maximum number of boxes per class, and in all classes together.
        threshold, least: as in `kept`.
        pad: whether to return at most each * classes rows.
        clip: whether to clip boxes to [0, 1].
    """
    found = []
    for label in range(scores.shape[1]):
        of_class = boxes[:, label if boxes.shape[1] > 1 else 0]
        chosen, values = kept_of_boxes(of_class, scores[:, label], each, threshold, least)
        found += [(-v, label, i, of_class[i]) for i, v in zip(chosen, values)]
    found.sort(key=lambda row: row[0])
    size = min(total, each * scores.shape[1]) if pad else total
    found = found[:size]
    kept_boxes, rest = np.zeros((size, 4), np.float32), np.zeros((2, size), np.float32)
    for row, (value, label, _, box) in enumerate(found):
        kept_boxes[row] = np.clip(box, 0, 1) if clip else box
        rest[:, row] = -value, label
    return kept_boxes, rest[0], rest[1], np.int32(len(found))
