"""The methods that call functions, choose and regroup: against plain Python, on any threads."""

import threading

import numpy as np
import pytest

import framework as tf
from framework.core import random
from framework.core.errors import InvalidArgumentError
from framework.core.tensor_spec import TensorSpec
from framework.data import Dataset, Options, experimental
from tests.data.test_dataset import elements

RANGE, UNKNOWN, INFINITE = Dataset.range, -2, -1


def interleaved(n, cycle, block):
    """What `interleave` gives of n datasets [i] * 3, by the rule of its documentation."""
    waiting = [[i] * 3 for i in range(n)]
    slots, found = [None] * cycle, []
    while waiting or any(slots):
        for slot in range(cycle):
            if not slots[slot] and waiting:
                slots[slot] = waiting.pop(0)
            found += (slots[slot] or [])[:block]
            slots[slot] = (slots[slot] or [])[block:]
    return found


# by name: a pipeline, its elements, its cardinality
METHODS = {
    "scan": (lambda: RANGE(4).scan(np.int64(1), lambda s, x: (s + x, (s, x))),
             [(1, 0), (1, 1), (2, 2), (4, 3)], 4),
    "unique": (lambda: Dataset.from_tensor_slices([3, 1, 3, 2, 1]).unique(), [3, 1, 2], UNKNOWN),
    "unique strings": (lambda: Dataset.from_tensor_slices(["a", "b", "a"]).unique(),
                       [b"a", b"b"], UNKNOWN),
    "ignore errors": (lambda: RANGE(4).map(lambda x: 6 // x.item()).ignore_errors(),
                      [6, 3, 2], UNKNOWN),
    "strings padded": (lambda: Dataset.from_tensor_slices(["a", "bc"]).padded_batch(3).map(
        tf.strings.length), [[1, 2]], 1),
    "ignore errors of batches": (
        lambda: RANGE(5).map(lambda x: 12 // (x.item() - 3)).batch(2).ignore_errors(),
        [[-4, -6], [12]], UNKNOWN),
    "ragged batch": (lambda: RANGE(3).map(lambda n: np.full(n.item(), 7)).ragged_batch(2),
                     [[[0], [7]], [[7, 7]]], 2),
    "rebatch": (lambda: RANGE(7).batch(3).rebatch(2), [[0, 1], [2, 3], [4, 5], [6]], UNKNOWN),
    "rebatch in turn": (lambda: RANGE(7).batch(4).rebatch([1, 2], True),
                        [[0], [1, 2], [3], [4, 5], [6]], UNKNOWN),
    "groups": (lambda: RANGE(7).group_by_window(
        lambda x: x % 3, lambda key, group: group.batch(5), window_size=2),
        [[0, 3], [1, 4], [2, 5], [6]], UNKNOWN),
    "groups by size": (lambda: RANGE(8).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(5), window_size_func=lambda k: k + 1),
        [[0], [2], [1, 3], [4], [6], [5, 7]], UNKNOWN),
    "buckets": (lambda: lengths().bucket_by_sequence_length(len, [3, 5], [2, 2, 1]),
                [[[1, 0], [2, 2]], [[3] * 3 + [0], [4] * 4], [[5] * 5], [[6] * 6]], UNKNOWN),
    "buckets to the boundary": (lambda: lengths().take(4).bucket_by_sequence_length(
        len, [4, 7], [9, 9, 1], pad_to_bucket_boundary=True),
        [[[1, 0, 0], [2, 2, 0], [3, 3, 3]], [[4] * 4 + [0] * 2]], UNKNOWN),
    "buckets of symbolic sizes": (lambda: RANGE(1, 3).map(tf.range).bucket_by_sequence_length(
        tf.size, [4], [9, 9], pad_to_bucket_boundary=True), [[[0, 0, 0], [0, 1, 0]]], UNKNOWN),
    "choose": (lambda: Dataset.choose_from_datasets(
        [RANGE(2), RANGE(10, 15)], Dataset.from_tensor_slices(np.array([1, 0, 1, 0, 0, 1]))),
        [10, 0, 11, 1], UNKNOWN),
    "choose on": (lambda: Dataset.choose_from_datasets(
        [RANGE(2), RANGE(10, 15)], Dataset.from_tensor_slices(np.array([1, 0, 1, 0, 0, 1])),
        stop_on_empty_dataset=False), [10, 0, 11, 1, 12], UNKNOWN),
    "from list": (lambda: experimental.from_list([(1, "a"), (2, "b")]), [(1, b"a"), (2, b"b")], 2),
    "stated": (lambda: RANGE(4).filter(lambda x: x > 1).apply(experimental.assert_cardinality(2)),
               [2, 3], 2),
}  # fmt: skip


def lengths():
    return RANGE(1, 7).map(lambda n: np.full(n.item(), n.item()))


@pytest.mark.parametrize("name", METHODS)
def test_method(name):
    make, expected, length = METHODS[name]
    data = make()
    assert elements(data) == elements(data) == expected
    assert data.cardinality().item() == length


@pytest.mark.parametrize("threads", [None, 2, -1])
@pytest.mark.parametrize(("cycle", "block"), [(1, 1), (2, 1), (2, 2), (3, 2), (4, 5), (9, 1)])
def test_interleave(cycle, block, threads):
    made = RANGE(5).interleave(lambda x: Dataset.from_tensors(x).repeat(3), cycle, block, threads)
    assert elements(made) == interleaved(5, cycle, block)


# ---- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5, -1])
def test_threads_change_neither_order_nor_draws(threads):
    def drawn(x):
        return x, tf.random.uniform(()), tf.random.uniform((), seed=5)

    def two_epochs(count):
        random.set_seed(3)
        data = RANGE(12).shuffle(5).map(drawn, num_parallel_calls=count).batch(5, False, count)
        return elements(data), elements(data)

    first, second = two_epochs(threads)
    assert (first, second) == two_epochs(3)
    numbers = [u for epoch in (first, second) for batch in epoch for u in batch[1]]
    assert len(set(numbers)) == 24


def test_a_thread_ahead_draws_its_own_numbers():
    def epochs():
        random.set_seed(3)
        data = RANGE(6).map(lambda x: tf.random.uniform(())).prefetch(2)
        found = []
        for number in data:
            tf.random.uniform(())
            found.append(number.item())
        return found

    assert epochs() == epochs()


def test_calls_run_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    assert elements(RANGE(3).map(lambda x: together.wait() * 0 + x, 3)) == [0, 1, 2]
    late = threading.Event()

    def first_waits(x):
        return late.wait(10) * x if x.item() == 0 else late.set() or x

    made = RANGE(3).map(first_waits, num_parallel_calls=3, deterministic=False)
    assert sorted(elements(made)) == [0, 1, 2]


def test_an_error_says_where():
    def fail(x):
        if x.item() == 4:
            raise ValueError("no fours")
        return x

    for threads in (None, 2):
        data = RANGE(2, 9).map(fail, threads).batch(2)
        with pytest.raises(ValueError, match="no fours") as caught:
            elements(data)
        note = "map_func at element 2 (the first is 0) of stage 2 of the dataset: Slices -> Map."
        assert note in getattr(caught.value, "__notes__", [note])[0]
    with pytest.raises(InvalidArgumentError) as caught:
        elements(RANGE(3).filter(lambda x: tf.reshape(x, (2,))))
    assert "predicate at element 0" in getattr(caught.value, "__notes__", [str(caught.value)])[0]


# ---- choices at random ---------------------------------------------------------------------------


def test_sample_from_datasets():
    def made(**more):
        sources = [Dataset.from_tensors(i).repeat() for i in range(3)]
        return Dataset.sample_from_datasets(sources, [0.5, 0.0, 1.5], seed=1, **more).take(400)

    data = made()
    first, second = elements(data), elements(data)
    assert first != second
    assert elements(made()) == first
    assert set(first) == {0, 2}
    assert 70 < first.count(0) < 130  # 100 is expected, 8.7 the standard deviation
    fixed = made(rerandomize_each_iteration=False)
    assert elements(fixed) == elements(fixed) == first
    ends = Dataset.sample_from_datasets([RANGE(3), RANGE(10, 13)], seed=2)
    assert sorted(elements(ends)) == [0, 1, 2, 10, 11, 12]
    weights = Dataset.from_tensor_slices([[1.0, 0], [0, 1.0], [0, 1.0]])
    assert elements(Dataset.sample_from_datasets([RANGE(3), RANGE(10, 13)], weights)) == [0, 10, 11]


@pytest.mark.parametrize("initial", [None, [0.75, 0.25]])
def test_rejection_resample(initial):
    data = RANGE(2000).rejection_resample(
        lambda x: tf.cast(x % 4 == 0, "int32"), [0.5, 0.5], initial, seed=0
    )
    pairs = elements(data)
    assert all((x % 4 == 0) == label for label, x in pairs)
    assert abs(np.mean([label for label, _ in pairs]) - 0.5) < 0.05
    assert 900 < len(pairs) < 1100  # all of the rare class, as many of the other


def test_random():
    data = Dataset.random(seed=4).take(5)
    assert elements(data) == elements(data) == elements(Dataset.random(seed=4).take(5))
    assert all(0 <= n < 2**32 for n in elements(data))
    other = Dataset.random(seed=4, rerandomize_each_iteration=True).take(5)
    assert elements(other) != elements(other)


# ---- specs and options ---------------------------------------------------------------------------


def test_unknown_sizes_stay_unknown():
    rows = Dataset.from_generator(
        lambda: [[1.0]], output_signature=tf.TensorSpec((None,), tf.float32)
    )
    assert rows.map(lambda x: x * 2).element_spec == tf.TensorSpec((None,))
    assert RANGE(0).map(lambda x: (x, x + 1)).element_spec[1] == tf.TensorSpec((), "int64")
    some = RANGE(4).map(lambda x: 6 // x.item()).ignore_errors()  # not of the first element
    assert some.element_spec == tf.TensorSpec((), "int32")
    assert RANGE(3).map(tf.range).element_spec == tf.TensorSpec((None,), "int64")
    assert RANGE(3).map(lambda x: x == 1).element_spec == tf.TensorSpec((), "bool")


def test_options():
    options = Options()
    options.threading.private_threadpool_size = 2
    options.experimental_deterministic = True
    data = RANGE(3).with_options(options).map(lambda x: x)
    assert data.options() == options
    assert data.options().deterministic is True
    more = Options()
    more.threading.max_intra_op_parallelism = 1
    both = data.with_options(more).options().threading
    assert (both.private_threadpool_size, both.max_intra_op_parallelism) == (2, 1)
    with pytest.raises(AttributeError, match="no option 'thread'"):
        options.thread = 3


def test_former_functions():
    for name, args in {
        "unbatch": (),
        "unique": (),
        "enumerate_dataset": (),
        "ignore_errors": (),
        "take_while": (lambda x: True,),
        "prefetch_to_device": ("/gpu:0",),
    }.items():
        data = Dataset.from_tensor_slices([1, 2])
        data = data.batch(1) if name == "unbatch" else data
        assert len(elements(data.apply(getattr(experimental, name)(*args)))) == 2
    assert experimental.at(RANGE(5), 3).item() == 3
    with pytest.raises(InvalidArgumentError, match="expected 3 elements, got 2"):
        elements(RANGE(2).apply(experimental.assert_cardinality(3)))


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_unknown_lengths_train(method):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.arange(10, dtype="float32").reshape(5, 2)
    data = Dataset.from_tensor_slices((x, x[:, :1])).filter(lambda x, y: y[0] > 1).batch(3)
    if method == "predict":
        assert model.predict(data.map(lambda x, y: x), verbose=0).shape == (4, 1)
    else:
        found = getattr(model, method)(data, verbose=0)
        losses = found.history["loss"] if method == "fit" else [found]
        assert np.isfinite(losses).all()


SHAPES = Dataset.from_generator(
    lambda: (np.full(n % 5 + 1, n + 1, np.int32) for n in range(23)),
    output_signature=TensorSpec((None,), "int32"),
)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("value", [None, -1, 2.0])
@pytest.mark.parametrize("dtype", ["int32", "float64", "bool"])
def test_buckets_of_a_generator_are_those_of_other_datasets(dtype, value, drop):
    reused = np.zeros(9, dtype)

    def rows():  # one array that is written again and again, and lists
        for n in range(40):
            reused[:] = n + 1
            yield reused[: n % 7] if n % 3 else [n % 2] * (n % 5)

    spec = TensorSpec((None,), dtype)
    data = Dataset.from_generator(rows, output_signature=spec)
    how = [2, 4], [3, 2, 5], None, value, False, False, drop
    one = data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], *how)
    other = data.map(lambda x: x).bucket_by_sequence_length(lambda x: tf.shape(x)[0], *how)
    assert type(one._framework) is not type(other._framework)
    found = [(b.numpy().tolist(), b.shape, b.dtype) for b in one]
    assert found == [(b.numpy().tolist(), b.shape, b.dtype) for b in other]
    assert all(b.numpy().flags.writeable == c.numpy().flags.writeable for b, c in zip(one, other))
    assert one.element_spec == other.element_spec


@pytest.mark.parametrize(
    ("length", "calls"),
    [
        (lambda x: tf.shape(x)[0], 5),
        (lambda x: len(x), 5),
        (lambda x: tf.cast(tf.reduce_sum(x) // x[0], "int64"), 23),
        (lambda x: x.numpy().size, 23),
    ],
    ids=["tf.shape", "len", "an op", "the value"],
)
def test_a_key_of_shapes_alone_is_computed_once_for_each(length, calls):
    data = SHAPES.bucket_by_sequence_length(length, [3, 5], [2, 3, 4])
    stage, seen = data._framework, []
    key = stage.key
    stage.key = lambda x: seen.append(1) or key(x)
    stage.pure = True
    found = [batch.tolist() for batch in data]
    assert len(seen) == calls
    stage.pure = False
    assert [batch.tolist() for batch in data] == found
    assert len(seen) == calls + 23


def test_a_function_that_fails_for_all_elements_has_a_spec():
    checked = lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "x")
    data = Dataset.from_generator(lambda: [0, 0], tf.int64).map(checked).ignore_errors()
    assert data.element_spec.dtype == tf.float32
    assert list(data) == []
    broken = Dataset.from_generator(lambda: [0], tf.int64).map(lambda x: x.item() // 0)
    with pytest.raises(ZeroDivisionError):
        broken.element_spec  # noqa: B018 (a property that computes)
