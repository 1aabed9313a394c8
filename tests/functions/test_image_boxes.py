"""tf.image: boxes, against suppression written out; numbers stand in tests/surface/image.py."""

import numpy as np
import pytest

import framework as tf
from tests.surface.image import BOXES, CORNERS, SCORES, X

image = tf.image
RNG = np.random.default_rng(4)


def iou(a, b):
    a, b = (np.concatenate([np.minimum(x[:2], x[2:]), np.maximum(x[:2], x[2:])]) for x in (a, b))
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)
    shared = sides[0] * sides[1]
    area = sum((x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)) - shared
    return shared / area if area > 0 else 0


def kept(boxes, scores, count, threshold, least=-np.inf):
    found = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        free = all(iou(boxes[i], boxes[k]) <= threshold for k in found)
        if scores[i] > least and free and len(found) < count:
            found.append(i)
    return found


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("least", [-np.inf, 0.3])
def test_suppression(threshold, least):
    boxes = np.float32(RNG.uniform(0, 1, (20, 4)))
    scores = np.float32(RNG.uniform(0, 1, 20).round(1))  # with ties: the first box counts
    expected = kept(boxes, scores, 7, threshold, least)
    found = image.non_max_suppression(boxes, scores, 7, threshold, least)
    assert (found.dtype, found.numpy().tolist()) == ("int32", expected)
    compiled = tf.function(lambda b, s: image.non_max_suppression(b, s, 7, threshold, least))
    for shift in (0, 0, 0, 1):  # how many boxes are kept may change
        moved = np.roll(scores, shift)
        assert compiled(boxes, moved).numpy().tolist() == kept(boxes, moved, 7, threshold, least)
    matrix = np.float32([[iou(a, b) for b in boxes] for a in boxes])
    found = image.non_max_suppression_overlaps(matrix, scores, 7, threshold, least)
    assert found.numpy().tolist() == expected
    places, counts = image.non_max_suppression_padded(
        np.sort(boxes.reshape(20, 2, 2), 1).reshape(20, 4), scores, 7, threshold, least
    )
    assert int(counts) == len(places)


def test_batches_and_classes():
    two = np.stack([CORNERS, CORNERS[::-1]]), np.stack([SCORES, SCORES[::-1]])
    places, counts = image.non_max_suppression_padded(*two, 6, 0.3, pad_to_max_output_size=True)
    expected = kept(CORNERS, SCORES, 6, 0.3)
    assert counts.numpy().tolist() == [len(expected)] * 2
    assert places.numpy()[0, : len(expected)].tolist() == expected
    assert (places.numpy()[:, len(expected) :] == 0).all()
    scores = RNG.uniform(0, 1, (1, 9, 3)).astype(np.float32)
    boxes, values, classes, count = image.combined_non_max_suppression(
        CORNERS[None, :, None], scores, 3, 20, 0.3, pad_per_class=True
    )
    rows = [(-scores[0, i, c], c) for c in range(3) for i in kept(CORNERS, scores[0, :, c], 3, 0.3)]
    assert int(count[0]) == len(rows) and boxes.shape == (1, 9, 4)  # noqa: PT018 (one result)
    np.testing.assert_allclose(values.numpy()[0, : len(rows)], [-v for v, _ in sorted(rows)])
    assert classes.numpy()[0, : len(rows)].tolist() == [c for _, c in sorted(rows)]


def test_soft_suppression_lowers_scores():
    places, values = image.non_max_suppression_with_scores(CORNERS, SCORES, 9, 0.5, 0.0, 0.5)
    assert (np.diff(values.numpy()) <= 0).all()
    assert (values.numpy() <= SCORES[places.numpy()] + 1e-6).all()
    assert len(places) > len(kept(CORNERS, SCORES, 9, 0.1))


def test_drawn_boxes():
    y = image.draw_bounding_boxes(X, np.zeros((2, 0, 4), np.float32), None)
    np.testing.assert_array_equal(y.numpy(), X)
    box = np.float32([[[0.25, 0.5, 0.75, 2.0]]] * 2)
    y = image.draw_bounding_boxes(X, box, [[0.1, 0.2, 0.3]]).numpy()
    drawn = (y == np.float32([0.1, 0.2, 0.3])).all(-1)[0]
    expected = np.zeros((5, 7), bool)
    expected[[1, 3], 3:] = expected[1:4, 3] = True  # the right edge lies beyond the image
    np.testing.assert_array_equal(drawn, expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.non_max_suppression(CORNERS, SCORES[:3], 5), "a score for each"),
        (lambda: image.non_max_suppression(CORNERS, SCORES, 5, 1.5), "from 0 to 1"),
        (lambda: image.non_max_suppression(CORNERS[None], SCORES[None], 5), r"boxes \(boxes, 4\)"),
        (lambda: image.non_max_suppression_overlaps(CORNERS, SCORES, 5), r"\(boxes, boxes\)"),
        (lambda: image.non_max_suppression_padded(CORNERS[None], SCORES[None], 5), "for batches"),
        (lambda: image.combined_non_max_suppression(CORNERS, SCORES, 5, 5), "1 or classes, 4"),
        (lambda: image.draw_bounding_boxes(X, BOXES, None), r"boxes \(batch, boxes, 4\)"),
        (lambda: image.draw_bounding_boxes(X, BOXES[None].repeat(2, 0), [[1.0]]), "`colors`"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
