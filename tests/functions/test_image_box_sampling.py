"""tf.image.sample_distorted_bounding_box: every part keeps to the limits it was asked for."""

import numpy as np
import pytest

import framework as tf

sample = tf.image.sample_distorted_bounding_box
repeated = tf.image.stateless_sample_distorted_bounding_box
BOXES = np.float32([[[0.2, 0.3, 0.6, 0.9], [0.7, 0.0, 0.9, 0.1]]])


def covered(part, box):
    sides = np.maximum(np.minimum(part[2:], box[2:]) - np.maximum(part[:2], box[:2]), 0)
    return sides.prod() / (box[2:] - box[:2]).prod()


@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_limits(share):
    tf.random.set_seed(4)
    found = [sample([50, 80, 3], BOXES, 0, share, (0.8, 1.2), (0.1, 0.9)) for _ in range(40)]
    assert len({tuple(begin.numpy()) for begin, _, _ in found}) > 20
    for begin, size, box in found:
        (top, left, _), (height, width, all_channels) = begin.numpy(), size.numpy()
        assert (begin.dtype, box.shape.as_list(), all_channels) == ("int32", [1, 1, 4], -1)
        assert 0 <= top <= top + height <= 50 and 0 <= left <= left + width <= 80  # noqa: PT018
        assert 0.1 <= height * width / 4000 <= 0.9
        assert abs(width - np.clip(width / height, 0.8, 1.2) * height) <= 1  # within rounding
        edges = box.numpy()[0, 0]
        np.testing.assert_allclose(
            edges * [50, 80, 50, 80], [top, left, top + height, left + width]
        )
        assert max(covered(edges, b) for b in BOXES[0]) >= share - 1e-6


def test_the_whole_image_if_nothing_fits():
    for given in ({"aspect_ratio_range": (30, 40)}, {"max_attempts": 0}):
        begin, size, box = sample([50, 80, 3], BOXES, **given)
        assert [x.numpy().tolist() for x in (begin, size)] == [[0, 0, 0], [50, 80, -1]]
        assert box.numpy().ravel().tolist() == [0, 0, 1, 1]
    none = np.zeros((1, 0, 4))
    _, size, _ = sample([50, 80, 3], none, use_image_if_no_bounding_boxes=True)
    assert 0 < size.numpy()[0] <= 50


def test_seeds_and_functions():
    first, again = (repeated([50, 80, 3], BOXES, (3, 4))[1].numpy() for _ in range(2))
    np.testing.assert_array_equal(first, again)
    part = tf.function(lambda: sample([50, 80, 3], BOXES)[0])
    assert len({tuple(part().numpy()) for _ in range(8)}) > 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sample([50, 80], BOXES), "`image_size` must be three integers"),
        (lambda: sample([50, 80, 3], BOXES[0]), "`bounding_boxes` must have shape"),
        (lambda: sample([50, 80, 3], BOXES[:, :0]), "use_image_if_no_bounding_boxes=True"),
        (lambda: sample([50, 80, 3], BOXES, area_range=(0.5, 2.0)), "areas of at most 1"),
        (lambda: sample([50, 80, 3], BOXES, min_object_covered=2), "from 0 to 1"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
