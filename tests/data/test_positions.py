"""A position saved in the middle of an iteration continues with the same elements, for all stages.

The rest of the iteration is compared with that of a pipeline that never stopped, also through the
epochs that follow, because shuffles continue with theirs.
"""

import json

import numpy as np
import pytest

from framework.core import random
from framework.core.errors import InvalidArgumentError
from framework.data import Dataset
from tests.data.test_dataset import PIPELINES, X, Y, plain

RANGE = Dataset.range


def drawn(x):
    """A function that draws: on threads its numbers belong to the element."""
    return x + random.draw(random.global_generator(), "integers", (), "int64", 0, 100)


PIPELINES = PIPELINES | {
    name: (make, None)
    for name, make in {
        "shuffle": lambda d: d.shuffle(4),
        "shuffle of all, batch": lambda d: d.shuffle(10).batch(3),
        "shuffle, repeat, batch": lambda d: d.shuffle(5).repeat(3).batch(4),
        "same order": lambda d: d.shuffle(5, reshuffle_each_iteration=False).repeat(2),
        "parallel map": lambda d: d.shuffle(3).map(lambda x, y: (y, x), 3).batch(2),
        "parallel batch": lambda d: d.map(lambda x, y: y).batch(3, num_parallel_calls=2),
        "draws on threads": lambda d: d.map(lambda x, y: drawn(y), 3),
        "interleave": lambda d: d.interleave(lambda x, y: RANGE(3), 2, 2),
        "interleave ahead": lambda d: d.interleave(lambda x, y: RANGE(3), 3, 1, -1),
        "padded batch": lambda d: d.map(lambda x, y: y).padded_batch(4),
        "ragged batch": lambda d: d.map(lambda x, y: x).ragged_batch(4),
        "rebatch": lambda d: d.map(lambda x, y: y).batch(4).rebatch([1, 3]),
        "scan": lambda d: d.map(lambda x, y: y).scan(Y[0], lambda s, y: (s + y, s + y)),
        "groups": lambda d: d.map(lambda x, y: y).group_by_window(
            lambda y: y % 3, lambda key, group: group.batch(4), 3),
        "buckets": lambda d: d.map(lambda x, y: y).bucket_by_sequence_length(
            lambda y: y, [20, 50], [2, 3, 1]),
        "windows": lambda d: d.map(lambda x, y: y).window(3, 2).flat_map(lambda w: w.batch(3)),
        "unique": lambda d: d.map(lambda x, y: y % 40).unique(),
        "ignore errors": lambda d: d.map(lambda x, y: 90 // y).ignore_errors(),
        "choose": lambda d: Dataset.choose_from_datasets(
            [d, d.skip(2)], RANGE(8).map(lambda i: i % 2)),
        "sample": lambda d: Dataset.sample_from_datasets([d, d.shuffle(3)], [1.0, 3.0]),
        "resample": lambda d: d.rejection_resample(lambda x, y: y // 50, [0.9, 0.1]),
        "random": lambda d: Dataset.zip(d, Dataset.random(rerandomize_each_iteration=True)),
        "counter": lambda d: Dataset.counter(3, 2).take(9),
        "options": lambda d: d.with_options(Dataset.range(1).options()).batch(3),
        "generator": lambda d: Dataset.from_generator(lambda: range(9), "int32"),
        "concatenate of shuffles": lambda d: d.shuffle(3).concatenate(d.shuffle(4)).repeat(2),
        "zip of shuffles": lambda d: Dataset.zip(d.shuffle(9), d.map(lambda x, y: y).shuffle(3)),
    }.items()
}  # fmt: skip


def made(name, seed):
    random.set_seed(seed)
    return PIPELINES[name][0](Dataset.from_tensor_slices((X, Y)))


def rest(iterator):
    return [plain(element) for element in iterator]


@pytest.mark.parametrize("epoch", [0, 2])
@pytest.mark.parametrize("name", PIPELINES)
def test_a_restored_position_continues(name, epoch):
    whole, other = made(name, 1), made(name, 2)
    for _ in range(epoch):
        rest(whole)
    iterator = iter(whole)
    begun = [plain(e) for e, _ in zip(iterator, range(3))]
    state = json.loads(json.dumps(iterator.state()))
    expected = rest(iterator), rest(whole)

    restored = iter(other)
    restored.restore(state)
    assert restored.state() == state
    assert (rest(restored), rest(other)) == expected
    if len(begun) == 3:  # a second position, from a restored iterator
        again = iter(other)
        again.restore({**state, "taken": 1})
        assert rest(again)[:2] == begun[1:]


def test_restoring_computes_no_element_again():
    calls = []
    data = Dataset.range(100).map(lambda x: calls.append(x.item()) or x).batch(10).prefetch(1)
    iterator = iter(data)
    iterator.restore({"taken": 8, "random": iterator.state()["random"]})
    assert next(iterator).tolist() == list(range(80, 90))
    assert min(calls) == 80
    iterator.close()


@pytest.mark.parametrize("state", [{}, 3, {"taken": 1, "random": []}])
def test_a_position_of_another_pipeline_is_refused(state):
    with pytest.raises(InvalidArgumentError, match="state: expected"):
        iter(Dataset.range(3).shuffle(3)).restore(state)


def test_the_names_of_tensorflow():
    iterator = iter(Dataset.range(2))
    assert iterator.element_spec == Dataset.range(2).element_spec
    assert iterator.get_next().item() == 0
    value = iterator.get_next_as_optional()
    assert value.has_value()
    assert value.get_value().item() == 1
    assert not iterator.get_next_as_optional().has_value()
    with pytest.raises(IndexError, match="no more"):
        iterator.get_next()
    assert isinstance(next(Dataset.range(2).as_numpy_iterator()), np.int64)
