"""Every pipeline against the same pipeline in plain Python, on the fast path and off it."""

import sys
import weakref

import numpy as np
import pytest

from framework.core import random
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset

N = 10
X = np.arange(N * 3, dtype=np.float32).reshape(N, 3)
Y = np.arange(N) * 10


def plain(value):
    """An element as plain Python: tensors as nested lists."""
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return tuple(map(plain, value))


def elements(dataset):
    return [plain(element) for element in dataset]


def chunks(rows, size, drop=False):
    found = [rows[i : i + size] for i in range(0, len(rows), size)]
    return [c for c in found if len(c) == size or not drop]


def together(rows):
    """A batch of (x, y) rows."""
    return [r[0] for r in rows], [r[1] for r in rows]


ROWS = [(x, y) for x, y in zip(X.tolist(), Y.tolist())]

# name: (the pipeline behind (x, y) rows, the same on a list of rows)
PIPELINES = {
    "itself": (lambda d: d, lambda r: r),
    "take": (lambda d: d.take(4), lambda r: r[:4]),
    "take more than there is": (lambda d: d.take(99), lambda r: r),
    "take all": (lambda d: d.take(-1), lambda r: r),
    "take none": (lambda d: d.take(0), lambda r: []),
    "skip": (lambda d: d.skip(3), lambda r: r[3:]),
    "skip more than there is": (lambda d: d.skip(99), lambda r: []),
    "skip all": (lambda d: d.skip(-1), lambda r: []),
    "take of skip": (lambda d: d.skip(2).take(5).skip(1), lambda r: r[3:7]),
    "shard": (lambda d: d.shard(3, 1), lambda r: r[1::3]),
    "take of shard": (lambda d: d.shard(2, 1).skip(1).take(2), lambda r: r[3:7:2]),
    "shard of shard": (lambda d: d.shard(2, 1).shard(2, 1), lambda r: r[3::4]),
    "repeat": (lambda d: d.repeat(3), lambda r: r * 3),
    "repeat none": (lambda d: d.repeat(0), lambda r: []),
    "repeat without end": (lambda d: d.repeat().take(25), lambda r: (r * 3)[:25]),
    "repeat of repeat": (lambda d: d.repeat(2).repeat(2), lambda r: r * 4),
    "repeat of nothing": (lambda d: d.take(0).repeat(), lambda r: []),
    "concatenate": (lambda d: d.take(2).concatenate(d.skip(8)), lambda r: r[:2] + r[8:]),
    "cache": (lambda d: d.cache().repeat(2), lambda r: r * 2),
    "prefetch": (lambda d: d.prefetch(2), lambda r: r),
    "map": (lambda d: d.map(lambda x, y: (y, x + 1)),
            lambda r: [(y, [v + 1 for v in x]) for x, y in r]),
    "map to one": (lambda d: d.map(lambda x, y: y), lambda r: [y for _, y in r]),
    "map to a dict": (lambda d: d.map(lambda x, y: {"y": y}), lambda r: [{"y": y} for _, y in r]),
    "map to a list": (lambda d: d.map(lambda x, y: [y, x]), lambda r: [(y, x) for x, y in r]),
    "map of map": (lambda d: d.map(lambda x, y: y).map(lambda y: y + 1, num_parallel_calls=-1),
                   lambda r: [y + 1 for _, y in r]),
    "filter": (lambda d: d.filter(lambda x, y: y >= 50), lambda r: [e for e in r if e[1] >= 50]),
    "take while": (lambda d: d.take_while(lambda x, y: y != 50), lambda r: r[:5]),
    "flat map": (lambda d: d.flat_map(lambda x, y: Dataset.from_tensor_slices(x)),
                 lambda r: [v for x, _ in r for v in x]),
    "enumerate": (lambda d: d.enumerate(5), lambda r: list(enumerate(r, 5))),
    "enumerate of skip": (lambda d: d.skip(2).enumerate(), lambda r: list(enumerate(r[2:]))),
    "batch": (lambda d: d.batch(4), lambda r: [together(c) for c in chunks(r, 4)]),
    "even batches": (lambda d: d.batch(5), lambda r: [together(c) for c in chunks(r, 5)]),
    "one batch": (lambda d: d.batch(99), lambda r: [together(r)]),
    "batch, drop": (lambda d: d.batch(4, drop_remainder=True),
                    lambda r: [together(c) for c in chunks(r, 4, True)]),
    "one batch, drop": (lambda d: d.batch(99, drop_remainder=True), lambda r: []),
    "batch of repeat runs on": (lambda d: d.repeat(3).batch(4),
                                lambda r: [together(c) for c in chunks(r * 3, 4)]),
    "batch of endless": (lambda d: d.repeat().batch(4).take(6),
                         lambda r: [together(c) for c in chunks(r * 3, 4)][:6]),
    "batch of shard": (lambda d: d.shard(3, 0).batch(3),
                       lambda r: [together(c) for c in chunks(r[::3], 3)]),
    "batch of nothing": (lambda d: d.take(0).batch(3), lambda r: []),
    "batch of endless nothing": (lambda d: d.take(0).repeat().batch(2), lambda r: []),
    "repeat of batch": (lambda d: d.batch(4).repeat(2),
                        lambda r: [together(c) for c in chunks(r, 4)] * 2),
    "skip of batch": (lambda d: d.batch(4).skip(1).take(1), lambda r: [together(r[4:8])]),
    "map of batch": (lambda d: d.batch(4).map(lambda x, y: y),
                     lambda r: [together(c)[1] for c in chunks(r, 4)]),
    "batch of map": (lambda d: d.map(lambda x, y: (x, y + 1)).batch(4),
                     lambda r: [(x, [v + 1 for v in y]) for x, y in map(together, chunks(r, 4))]),
    "batch of cache of map": (lambda d: d.map(lambda x, y: (x, y)).cache().batch(4).repeat(2),
                              lambda r: [together(c) for c in chunks(r, 4)] * 2),
    "batch of prefetch of repeat": (lambda d: d.repeat(2).prefetch(1).batch(3),
                                    lambda r: [together(c) for c in chunks(r * 2, 3)]),
    "batch of batch": (lambda d: d.map(lambda x, y: y).batch(2).batch(3, drop_remainder=True),
                       lambda r: [[[e[1] for e in p] for p in chunks(r[:6], 2)]]),
    "unbatch": (lambda d: d.batch(4).unbatch(), lambda r: r),
    "unbatch of rows": (lambda d: d.map(lambda x, y: x).unbatch(),
                        lambda r: [v for x, _ in r for v in x]),
    "apply": (lambda d: d.apply(lambda e: e.take(2)), lambda r: r[:2]),
}  # fmt: skip


@pytest.mark.parametrize("path", ["rows", "elements", "ahead"])
@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline(name, path):
    pipeline, reference = PIPELINES[name]
    source = Dataset.from_tensor_slices((X, Y))
    if path != "rows":  # the same elements, one by one out of a Python function
        source = source.map(lambda x, y: (x, y))
    if path == "ahead":
        source = source.prefetch(2)
    made = pipeline(source)
    expected = reference(ROWS)
    assert elements(made) == expected
    assert elements(made) == expected  # a dataset can be passed over again

    n = made.cardinality().item()
    assert n in (len(expected), UNKNOWN_CARDINALITY)
    if n >= 0:
        assert len(made) == n


@pytest.mark.parametrize("name", PIPELINES)
def test_element_spec_fits_all_elements(name):
    made = PIPELINES[name][0](Dataset.from_tensor_slices((X, Y)))
    spec = made.element_spec
    for element in made:
        check_fit(spec, element)


def check_fit(spec, element):
    if isinstance(spec, TensorSpec):
        assert spec.is_compatible_with(element), (spec, element)
    elif isinstance(spec, dict):
        for key in spec:
            check_fit(spec[key], element[key])
    else:
        assert len(spec) == len(element)
        for pair in zip(spec, element):
            check_fit(*pair)


def test_element_spec_is_tensorflows():
    data = Dataset.from_tensor_slices((X, {"y": Y}))
    assert data.element_spec == (TensorSpec((3,)), {"y": TensorSpec((), "int64")})
    assert data.batch(4).element_spec == (
        TensorSpec((None, 3)),
        {"y": TensorSpec((None,), "int64")},
    )
    assert data.batch(4, drop_remainder=True).element_spec[0] == TensorSpec((4, 3))
    assert data.batch(4).map(lambda x, y: x).element_spec == TensorSpec((None, 3))
    assert data.map(lambda x, y: x).batch(4).element_spec == TensorSpec((None, 3))
    assert data.batch(4).unbatch().element_spec == data.element_spec
    assert Dataset.range(3).window(2).element_spec.element_spec == TensorSpec((), "int64")
    two = Dataset.from_tensors(X).concatenate(Dataset.from_tensors(X[:2]))
    assert two.element_spec == TensorSpec((None, 3))


def test_looking_at_the_spec_is_no_pass():
    a, b = (Dataset.range(20).shuffle(20, seed=1).map(lambda x: x) for _ in range(2))
    assert a.element_spec == TensorSpec((), "int64")
    assert elements(a) == elements(b)


# ---- sources -------------------------------------------------------------------------------------


def test_nests_keep_their_structure():
    data = Dataset.from_tensor_slices({"b": X, "a": (Y, {"c": Y + 1})})
    for row, element in enumerate(data.batch(1)):
        assert list(element) == ["b", "a"]
        assert plain(element) == {"b": [X[row].tolist()], "a": ([Y[row]], {"c": [Y[row] + 1]})}
    assert elements(data.map(lambda element: element["b"])) == X.tolist()  # a dict is one argument


def test_lists_are_arrays_and_python_floats_float32():
    first = next(iter(Dataset.from_tensor_slices(([1, 2], [[0.5, 1], [2, 3]], ["a", "b"]))))
    assert [t.dtype for t in first] == ["int32", "float32", "string"]
    assert plain(first) == (1, [0.5, 1], b"a")


def test_from_tensor_slices_copies_nothing():
    x = X.copy()
    for dataset in (Dataset.from_tensor_slices(x), Dataset.from_tensor_slices(x).batch(4),
                    Dataset.from_tensors(x)):  # fmt: skip
        assert all(np.shares_memory(element.array, x) for element in dataset)


def test_from_tensors_is_one_element():
    (element,) = Dataset.from_tensors((X, 3))
    assert plain(element) == (X.tolist(), 3)


@pytest.mark.parametrize("args", [(5,), (2, 7), (1, 10, 3), (5, 0, -2), (0,)])
def test_range(args):
    data = Dataset.range(*args)
    assert elements(data) == list(range(*args))
    assert data.element_spec == TensorSpec((), "int64")
    assert Dataset.range(*args, output_type="int32").element_spec.dtype == "int32"


def test_counter_and_enumerate_without_end():
    assert elements(Dataset.counter(3, 2).take(3)) == [3, 5, 7]
    assert elements(Dataset.counter().enumerate(1).take(2)) == [(1, 0), (2, 1)]
    assert Dataset.counter().cardinality().item() == INFINITE_CARDINALITY


@pytest.mark.parametrize("shuffled", [False, True])
def test_zip(shuffled):
    x, y = Dataset.from_tensor_slices(X), Dataset.range(100, 107)
    if shuffled:
        x = x.shuffle(N, seed=3, reshuffle_each_iteration=False)
    rows = elements(x)
    assert elements(Dataset.zip(x, y)) == list(zip(rows, range(100, 107)))
    assert elements(Dataset.zip((x, y))) == elements(Dataset.zip(datasets=(x, y)))
    assert elements(Dataset.zip({"x": x, "n": (y, y)}))[1] == {"x": rows[1], "n": (101, 101)}
    batches = elements(Dataset.zip((x, y)).batch(4))
    assert batches == [(rows[:4], [100, 101, 102, 103]), (rows[4:7], [104, 105, 106])]
    mapped = Dataset.zip(x.map(lambda v: v), Dataset.counter())
    assert elements(mapped) == list(zip(rows, range(N)))
    assert (len(Dataset.zip(x, y)), len(mapped)) == (7, N)


@pytest.mark.parametrize(
    ("array", "note"),
    [
        (np.asfortranarray(X), "columns in line"),
        (X[:, ::2], "gaps in the rows"),
        (X[::-1], "rows backwards"),
        (X.astype(">f4"), "another byte order"),
        (np.array(["a", "bc"] * 5), "strings"),
        (np.zeros((N, 0)), "empty rows"),
        (Y > 40, "booleans"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("shuffled", [False, True])
def test_every_kind_of_array(array, note, shuffled):
    order = np.arange(N)
    data = Dataset.from_tensor_slices((array, order))
    if shuffled:
        data = data.shuffle(N, seed=0, reshuffle_each_iteration=False)
        order = np.array(elements(data.map(lambda x, i: i)))
    for batch, numbers in zip(data.batch(4), chunks(order, 4)):
        expected = np.char.encode(array) if array.dtype.kind == "U" else array
        assert batch[0].tolist() == expected[numbers].tolist()


@pytest.mark.parametrize("value", ["é", np.array(["é"], object), [["a", "b"]], (b"x",)])
def test_strings_from_a_generator_are_bytes(value):
    array = np.array(value, object)
    for data in (
        Dataset.from_generator(lambda: [value, value], "string"),
        Dataset.from_generator(lambda: [(value, 1)], ("string", "int32")).map(lambda s, _: s),
    ):
        for element in data:
            expected = [v if type(v) is bytes else v.encode() for v in array.flat]
            assert np.array(element.numpy(), object).reshape(-1).tolist() == expected


def test_from_generator():
    def rows(n, start):
        for i in range(start, start + n):
            yield [i, i + 1], float(i)

    signature = (TensorSpec((2,), "int32"), TensorSpec((), "float64"))
    expected = [([3, 4], 3.0), ([4, 5], 4.0)]
    for data in (
        Dataset.from_generator(rows, output_signature=signature, args=(2, 3)),
        Dataset.from_generator(rows, ("int32", "float64"), ((2,), ()), args=(2, 3)),
        Dataset.from_generator(rows, ("int32", "float64"), args=(2, 3)),
        Dataset.from_generator(lambda: ((np.array(x), y) for x, y in rows(2, 3))),
    ):
        assert elements(data) == elements(data) == expected
        assert data.cardinality().item() == UNKNOWN_CARDINALITY
    assert data.element_spec == (TensorSpec((2,), "int64"), TensorSpec(()))
    assert Dataset.from_generator(rows, output_signature=signature).element_spec == signature
    named = Dataset.from_generator(
        lambda: [{"a": 1, "b": 2.5}],
        output_signature={"b": TensorSpec(()), "a": TensorSpec((), "int64")},
    )
    assert elements(named) == [{"b": 2.5, "a": 1}]


def test_a_generator_is_given_numpy_scalars_and_bytes():
    """As TensorFlow's: `np.int32`, `np.float32`, `bytes`, arrays."""
    given = []

    def keep(*args):
        given.extend(args)
        return range(args[0])

    data = Dataset.from_generator(keep, "int32", (), args=(3, "text", 0.5, [1, 2]))
    assert elements(data) == [0, 1, 2]
    assert [type(arg) for arg in given[:4]] == [np.int32, bytes, np.float32, np.ndarray]
    assert given[1] == b"text"


# ---- shuffling -----------------------------------------------------------------------------------


def shuffles(data, passes=2):
    return [elements(data) for _ in range(passes)]


@pytest.mark.parametrize("buffer_size", [1, 3, 20, 1000, UNKNOWN_CARDINALITY])
@pytest.mark.parametrize("path", ["rows", "elements"])
def test_shuffle_by_seed(path, buffer_size):
    source = Dataset.range(20)
    if path == "elements":
        source = source.map(lambda x: x)
    once, again = (shuffles(source.shuffle(buffer_size, seed=7), 3) for _ in range(2))
    assert once == again
    assert all(sorted(order) == list(range(20)) for order in once)
    if buffer_size != 1:
        assert once[0] != list(range(20))
        assert len({tuple(order) for order in once}) == 3  # another order each pass
        assert once != shuffles(source.shuffle(buffer_size, seed=8), 3)
    fixed = shuffles(source.shuffle(buffer_size, seed=7, reshuffle_each_iteration=False))
    assert fixed == [once[0]] * 2


@pytest.mark.parametrize("buffer_size", [1, 3, 19, 20, 21])
def test_the_order_does_not_depend_on_the_path(buffer_size):
    rows = Dataset.range(20).shuffle(buffer_size, seed=7)
    one_by_one = Dataset.range(20).map(lambda x: x).shuffle(buffer_size, seed=7)
    assert shuffles(rows) == shuffles(one_by_one)


@pytest.mark.parametrize("buffer_size", [1, 3, 10])
def test_a_buffer_is_a_buffer(buffer_size):
    """Element i cannot come before it has been read: not earlier than place i - buffer + 1."""
    order = elements(Dataset.range(5000).shuffle(buffer_size, seed=1))
    assert sorted(order) == list(range(5000))
    early = [number - place for place, number in enumerate(order)]
    assert max(early) == buffer_size - 1


@pytest.mark.parametrize("buffer_size", [3, 99])
def test_shuffle_of_chosen_rows(buffer_size):
    for chosen, expected in (
        (Dataset.range(20).skip(15), range(15, 20)),
        (Dataset.range(20).shard(4, 3), range(3, 20, 4)),
        (Dataset.range(20).shard(2, 1).skip(2).take(5), range(5, 15, 2)),
    ):
        shuffled = chosen.shuffle(buffer_size, seed=1)
        assert sorted(elements(shuffled)) == list(expected)
        assert sorted(i for batch in elements(shuffled.batch(2)) for i in batch) == list(expected)
        again = shuffled.shuffle(buffer_size, seed=2).skip(1)
        assert len(set(elements(again)) & set(expected)) == len(expected) - 1


def test_orders_are_pinned():
    """The same in every release, on every machine: results of others can be repeated."""
    assert elements(Dataset.range(8).shuffle(8, seed=1)) == [2, 3, 6, 7, 1, 4, 0, 5]
    assert elements(Dataset.range(8).shuffle(3, seed=1)) == [1, 2, 4, 0, 6, 5, 7, 3]


def test_the_full_shuffle_is_the_permutation_of_seed_and_epoch():
    data = Dataset.range(50).shuffle(50, seed=4)
    for epoch in range(3):
        assert elements(data) == random.permutation(4, epoch, 50).tolist()


def test_without_a_seed_the_global_one_decides():
    def orders():
        return shuffles(Dataset.range(30).shuffle(30)) + shuffles(Dataset.range(30).shuffle(5))

    random.set_seed(1)
    first = orders()
    assert first[0] != elements(Dataset.range(30).shuffle(30))  # each dataset has its own
    random.set_seed(1)
    assert orders() == first
    random.set_seed(2)
    assert orders() != first


@pytest.mark.parametrize("path", ["rows", "elements"])
def test_pairs_stay_pairs_and_epochs_go_on(path):
    source = Dataset.from_tensor_slices((X, Y))
    if path == "elements":
        source = source.map(lambda x, y: (x, y))
    seen = elements(source.shuffle(N, seed=2).repeat(3).batch(4))
    pairs = [pair for x, y in seen for pair in zip(x, y)]
    epochs = chunks(pairs, N)
    assert all(sorted(epoch) == sorted(ROWS) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_cache_behind_shuffle_keeps_the_first_order():
    for source in (Dataset.range(20), Dataset.range(20).map(lambda x: x)):
        first, second = shuffles(source.shuffle(20, seed=1).cache())
        assert first == second
        first, second = shuffles(source.cache().shuffle(20, seed=1))
        assert first != second


def test_cache_runs_functions_once_and_keeps_only_complete_passes():
    calls = []
    data = Dataset.range(3).map(lambda x: calls.append(1) or x).cache()
    next(iter(data))
    assert elements(data) == elements(data) == [0, 1, 2]
    assert len(calls) == 1 + 3


# ---- who owns a batch ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keep", [lambda t: t, lambda t: t.array, np.asarray, lambda t: t.array[1:]]
)
@pytest.mark.parametrize("width", [10, 2500])
def test_a_batch_that_is_kept_is_never_overwritten(keep, width):
    x = np.arange(400 * width, dtype=np.float32).reshape(400, width)
    kept, copies = [], []
    for i, batch in enumerate(Dataset.from_tensor_slices(x).shuffle(400, seed=0).batch(8)):
        if i % 3 == 0:
            kept.append(keep(batch))
            copies.append(np.array(kept[-1]))
    for held, copy in zip(kept, copies):
        np.testing.assert_array_equal(np.asarray(held), copy)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="references are not counted")
def test_a_batch_without_other_references_is_reused():
    x = np.zeros((400, 2500), np.float32)  # batches of 80 kB: each is taken alone
    data = Dataset.from_tensor_slices(x).shuffle(400, seed=0).batch(8)
    buffers = [weakref.ref(batch.array) for batch in data]  # `batch` holds the last one
    assert buffers[0] is not buffers[1]
    assert all(a is b for a, b in zip(buffers, buffers[2:]))


@pytest.mark.parametrize("columns", [1, 700, 5000])  # several batches at once, two, one
@pytest.mark.parametrize("drop", [False, True])
def test_batches_have_the_rows_of_the_order(columns, drop):
    x = np.arange(101 * columns, dtype=np.float32).reshape(101, columns)
    data = Dataset.from_tensor_slices((x, x[:, 0]))
    data = data.shuffle(101, seed=3, reshuffle_each_iteration=False)
    rows = np.concatenate([row[None] for row, _ in data])
    batches = list(data.batch(7, drop))
    assert [len(a) for a, _ in batches] == [7] * 14 + [3] * (not drop)
    for number, (a, b) in enumerate(batches):
        np.testing.assert_array_equal(a, rows[7 * number : 7 * number + 7])
        np.testing.assert_array_equal(b, a[:, 0])


def test_numpy_elements_are_copies():
    x = X.copy()
    for batch in Dataset.from_tensor_slices(x).batch(4).as_numpy_iterator():
        batch[:] = -1
    np.testing.assert_array_equal(x, X)


# ---- windows and padding -------------------------------------------------------------------------


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize(("size", "shift", "stride"), [
    (3, None, 1), (3, 1, 1), (2, 1, 3), (2, 5, 1), (3, 2, 2), (1, 1, 1), (20, 3, 1),
])  # fmt: skip
def test_window(size, shift, stride, drop):
    expected = []
    for start in range(0, N, shift or size):
        window = list(range(start, N, stride))[:size]
        if len(window) == size or not drop:
            expected.append(window)
    data = Dataset.range(N).window(size, shift, stride, drop)
    assert [elements(window) for window in data] == expected
    assert len(data) == len(expected)


def test_window_of_tuples_is_a_tuple_of_datasets():
    data = Dataset.from_tensor_slices((X, Y)).window(4)
    pairs = data.flat_map(lambda x, y: Dataset.zip(x.batch(4), y.batch(4)))
    assert elements(pairs) == [together(c) for c in chunks(ROWS, 4)]


def ragged():
    return Dataset.range(1, 5).map(lambda n: (np.full(n.item(), n.item()), n))


def test_padded_batch():
    assert elements(ragged().padded_batch(2)) == [
        ([[1, 0], [2, 2]], [1, 2]),
        ([[3, 3, 3, 0], [4, 4, 4, 4]], [3, 4]),
    ]
    wide = ragged().padded_batch(3, ([5], []), (np.int64(-1), np.int64(0)), drop_remainder=True)
    assert elements(wide) == [
        ([[1, -1, -1, -1, -1], [2, 2, -1, -1, -1], [3, 3, 3, -1, -1]], [1, 2, 3])
    ]
    assert wide.element_spec == (TensorSpec((3, 5), "int64"), TensorSpec((3,), "int64"))
    named = ragged().map(lambda x, n: {"x": x, "n": n}).padded_batch(2, {"x": [None], "n": []})
    assert elements(named)[0] == {"x": [[1, 0], [2, 2]], "n": [1, 2]}
    assert named.element_spec["x"] == TensorSpec((None, None), "int64")


def test_reduce_and_single_element():
    total, n = Dataset.from_tensor_slices((X, Y)).reduce(
        (np.float32(0), 0), lambda state, row: (state[0] + row[0].array.sum(), state[1] + 1)
    )
    assert (total.item(), n.item()) == (X.sum(), N)
    assert Dataset.range(5, 6).get_single_element().item() == 5


def test_as_text():
    assert repr(Dataset.range(3).batch(2)) == (
        "<BatchDataset element_spec=TensorSpec(shape=(None,), dtype=tf.int64, name=None)>"
    )
    assert repr(Dataset.range(3).map(lambda x: 1 / 0)) == "<MapDataset>"
    assert Dataset.range(0)  # a dataset is true, whatever is in it


UNKNOWN, INFINITE = UNKNOWN_CARDINALITY, INFINITE_CARDINALITY
ROWS_ALONE = Dataset.range(10)
SOME = ROWS_ALONE.filter(lambda x: True)

CARDINALITIES = [
    (Dataset.zip(ROWS_ALONE, SOME), UNKNOWN),
    (Dataset.zip(ROWS_ALONE, Dataset.counter()), 10),
    (Dataset.zip(Dataset.counter(), Dataset.counter()), INFINITE),
    (ROWS_ALONE.concatenate(SOME), UNKNOWN),
    (SOME.concatenate(ROWS_ALONE.repeat()), INFINITE),
    (ROWS_ALONE.repeat(), INFINITE),
    (SOME.repeat(), INFINITE),
    (SOME.repeat(2), UNKNOWN),
    (SOME.batch(3), UNKNOWN),
    (ROWS_ALONE.repeat().batch(3), INFINITE),
    (ROWS_ALONE.repeat().take(25).batch(10), 3),
    (ROWS_ALONE.repeat().skip(3), INFINITE),
    (SOME.take(3), UNKNOWN),
    (ROWS_ALONE.batch(5, drop_remainder=True).unbatch(), 10),
    (ROWS_ALONE.batch(5).unbatch(), UNKNOWN),
    (ROWS_ALONE.shuffle(3).cache().prefetch(1).map(lambda x: x).enumerate(), 10),
]


@pytest.mark.parametrize("number", range(len(CARDINALITIES)))
def test_cardinality_is_tensorflows(number):
    made, expected = CARDINALITIES[number]
    assert made.cardinality().dtype == "int64"
    assert made.cardinality().item() == expected


def test_elements_by_number():
    data = Dataset.from_tensor_slices((X, Y)).skip(1).map(lambda x, y: (y, x.numpy())).batch(4)
    expected = [plain(element) for element in data]
    assert [plain(data[i]) for i in range(len(data))] == expected
    assert plain(data[-1]) == expected[-1]
    with pytest.raises(IndexError, match="below 3"):
        data[3]
    for other in (data.shuffle(2), data.unbatch(), Dataset.range(4).shuffle(4).batch(2)):
        with pytest.raises(InvalidArgumentError, match="random access"):
            other[0]


def test_results_that_lie_in_bytes_are_not_copied():
    image = np.ndarray((2, 3), np.uint8, b"abcdef")
    own = np.arange(6.0)
    data = Dataset.range(2).map(lambda i: (image, own, i.numpy()))
    first, second, _ = next(iter(data))
    assert np.shares_memory(first.array, image)
    assert not np.shares_memory(second.array, own)
    assert first.tolist() == image.tolist()
