"""What fit trains on: arrays, datasets, generators and batches by index as one kind of object."""

import collections
import itertools
import types

import numpy as np
import pytest

from framework.core import dtypes, random
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.data import Dataset
from framework.data.batches import as_batches

N = 10
X = np.arange(N * 3, dtype=np.float32).reshape(N, 3)
Y = np.arange(N)
W = np.linspace(0, 1, N, dtype=np.float32)


def plain(value):
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return type(value)(map(plain, value)) if isinstance(value, (tuple, list)) else value


def epoch(batches, number=0):
    return [plain(batch) for batch in batches.epoch(number)]


def reference(order=range(N), size=4):
    blocks = [list(order)[i : i + size] for i in range(0, len(order), size)]
    return [(X[b].tolist(), Y[b].tolist(), W[b].tolist()) for b in blocks]


# ---- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 4, 5, 10, 99])
def test_arrays_in_order_the_last_batch_smaller(size):
    batches = as_batches(X, Y, W, batch_size=size, shuffle=False)
    assert epoch(batches) == epoch(batches, 1) == reference(size=size)
    assert batches.num_batches == len(reference(size=size))


def test_the_default_batch_is_of_32_rows():
    x = np.zeros((70, 2))
    assert [len(x) for x, _, _ in as_batches(x).epoch(0)] == [32, 32, 6]


@pytest.mark.parametrize("number", [0, 3])
def test_the_order_is_the_permutation_of_seed_and_epoch(number):
    batches = as_batches(X, Y, W, 4, shuffle=True, seed=5)
    assert epoch(batches, number) == reference(random.permutation(5, number, N))


def test_the_order_is_the_datasets():
    batches = as_batches(X, Y, W, 4, seed=5)
    data = Dataset.from_tensor_slices((X, Y, W)).shuffle(N, seed=5).batch(4)
    for number in range(3):
        assert epoch(batches, number) == [plain(batch) for batch in data]


def test_a_seed_of_the_global_generator():
    random.set_seed(1)
    first, second = (epoch(as_batches(X, Y, W, 4)) for _ in range(2))
    random.set_seed(1)
    assert epoch(as_batches(X, Y, W, 4)) == first != second


def test_shuffling_whole_batches():
    batches = as_batches(X, Y, W, 4, shuffle="batch", seed=0)
    epochs = [epoch(batches, number) for number in range(20)]
    first, second, last = reference()
    assert all(e in ([first, second, last], [second, first, last]) for e in epochs)
    assert len({str(e) for e in epochs}) == 2


PARTS = {
    "x alone": ((X,), lambda x, y, w: isinstance(x, Tensor) and y is w is None),
    "x and y": ((X, Y), lambda x, y, w: y.dtype == "int64" and w is None),
    "x and w": ((X, None, W), lambda x, y, w: y is None and w.shape == (N,)),
    "two inputs": (([X, Y], Y), lambda x, y, w: type(x) is list and x[1].shape == (N,)),
    "a tuple": (((X, Y), Y), lambda x, y, w: type(x) is tuple and x[1].shape == (N,)),
    "dicts": (({"b": X, "a": Y}, {"out": Y}),
              lambda x, y, w: x["b"].shape == (N, 3) and x["a"].shape == y["out"].shape == (N,)),
    "nests": (([{"a": X}, X],), lambda x, y, w: x[0]["a"].shape == x[1].shape == (N, 3)),
    "rows of numbers": ((X.tolist(), Y.tolist()),
                        lambda x, y, w: (x.dtype, y.dtype, len(x)) == ("float32", "int32", N)),
    "rows as tuples": (([(1, 2), (3, 4)],), lambda x, y, w: x.shape == (2, 2)),
    "numbers": (([np.float32(1), 2.0], [1, 2]), lambda x, y, w: x.shape == y.shape == (2,)),
    "tensors": ((Tensor(X), Tensor(Y)), lambda x, y, w: x.shape == (N, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    arguments, expected = PARTS[name]
    for shuffle in (False, True):
        (batch,) = as_batches(*arguments, batch_size=N, shuffle=shuffle).epoch(0)
        assert type(batch) is tuple
        assert len(batch) == 3
        assert expected(*batch)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [("float64", "float32"), ("float16", "float32"), ("float32", "float32"), ("int64", "int64"),
     ("uint8", "uint8"), ("bool", "bool"), ("complex64", "complex64")],
)  # fmt: skip
def test_floats_become_floatx_and_nothing_else_changes(given, dtype):
    for array in (np.ones((3, 2), given), Tensor(np.ones((3, 2), given))):
        ((x, y, _),) = as_batches(array, array).epoch(0)
        assert x.dtype == y.dtype == dtype


def test_floatx_of_the_day():
    dtypes.set_floatx("float64")
    try:
        ((x, _, _),) = as_batches(X).epoch(0)
    finally:
        dtypes.set_floatx("float32")
    assert x.dtype == "float64"


def test_arrays_are_not_copied():
    for x, _, _ in as_batches(X, shuffle=False).epoch(0):
        assert np.shares_memory(x.array, X)


def test_batches_kept_by_the_user_are_not_overwritten():
    kept = list(as_batches(X, Y, W, 2, seed=3).epoch(0))
    assert [plain(batch) for batch in kept] == reference(random.permutation(3, 0, N), 2)


# ---- batches that come as such -------------------------------------------------------------------

BATCHES = reference()


def arrays(batches=BATCHES):
    return [tuple(np.array(part, dtype) for part, dtype in zip(b, ("f4", "i8", "f4")))
            for b in batches]  # fmt: skip


class Loader:
    """An iterable with a length, as torch's DataLoader."""

    def __len__(self):
        return 3

    def __iter__(self):
        return iter(arrays())


class Indexed:
    """Batches by index, as a PyDataset."""

    def __init__(self):
        self.calls = []

    def __len__(self):
        return 3

    def __getitem__(self, index):
        self.calls.append(index)
        return arrays()[index]

    def on_epoch_begin(self):
        self.calls.append("begin")

    def on_epoch_end(self):
        self.calls.append("end")


class Generated:
    def __iter__(self):
        return iter(arrays())


SOURCES = {
    "Dataset": (lambda: Dataset.from_tensor_slices((X, Y, W)).batch(4), 3),
    "mapped Dataset": (
        lambda: Dataset.from_tensor_slices((X, Y, W)).batch(4).filter(lambda x, y, w: True),
        None,
    ),
    "by index": (Indexed, 3),
    "loader": (Loader, 3),
    "iterable": (Generated, None),
    "deque": (lambda: collections.deque(arrays()), 3),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name):
    make, count = SOURCES[name]
    batches = as_batches(make(), shuffle=False)
    assert batches.num_batches == count
    assert epoch(batches) == epoch(batches, 1) == BATCHES


def test_an_iterator_goes_on_from_epoch_to_epoch():
    """As fit with steps_per_epoch takes it: what one epoch leaves, the next one has."""
    batches = as_batches(b for b in arrays())
    assert batches.num_batches is None
    assert [plain(b) for b in itertools.islice(batches.epoch(0), 2)] == BATCHES[:2]
    assert epoch(batches, 1) == BATCHES[2:]
    assert epoch(batches, 2) == []


def test_an_endless_dataset_goes_on_and_begins_anew_with_epoch_0():
    batches = as_batches(Dataset.range(3).batch(1).repeat())
    assert batches.num_batches is None

    def two(number):
        return [x.item() for x, _, _ in itertools.islice(batches.epoch(number), 2)]

    assert [two(0), two(1), two(2), two(0), two(1)] == [[0, 1], [2, 0], [1, 2], [0, 1], [2, 0]]


def test_a_dataset_that_shuffles_does_so_each_epoch():
    batches = as_batches(Dataset.range(20).shuffle(20, seed=1).batch(20))
    assert epoch(batches, 0) != epoch(batches, 1)


def test_batches_by_index_are_shuffled_and_notified_of_epochs():
    source = Indexed()
    batches = as_batches(source, shuffle=True, seed=2)
    batches.begin()
    found = epoch(batches, 0)
    batches.end()
    order = random.permutation(2, 0, 3).tolist()
    assert found == [BATCHES[i] for i in order]
    assert source.calls == ["begin", *order, "end"]
    assert len({tuple(map(str, epoch(batches, number))) for number in range(9)}) > 1

    source.calls.clear()
    next(cut_short := batches.epoch(0))
    cut_short.close()
    assert source.calls == [order[0]]


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (X, (X.tolist(), None, None)),
        ((X,), (X.tolist(), None, None)),
        ((X, Y), (X.tolist(), Y.tolist(), None)),
        ([X, Y], (X.tolist(), Y.tolist(), None)),
        ((X, None, W), (X.tolist(), None, W.tolist())),
        (([X, X], {"a": Y}), ([X.tolist()] * 2, {"a": Y.tolist()}, None)),
        ({"a": X}, ({"a": X.tolist()}, None, None)),
        ((X.astype("f8"), Y.tolist()), (X.tolist(), Y.tolist(), None)),
    ],
    ids=str,
)
def test_what_a_batch_may_be(batch, expected):
    (found,) = as_batches(iter([batch])).epoch(0)
    assert plain(found) == expected
    assert all(not isinstance(t, Tensor) or t.dtype != "float64" for t in found)


# ---- errors --------------------------------------------------------------------------------------

ERRORS = {
    "lengths": (lambda: as_batches(X, Y[:9]), ShapeError, "x has 10, y has 9"),
    "lengths in a nest": (lambda: as_batches({"a": X, "b": X[:3]}, Y), ShapeError,
                          r"x\['a'\] has 10, x\['b'\] has 3, y has 10"),
    "lengths of weights": (lambda: as_batches(X, Y, W[:2]), ShapeError, "sample_weight has 2"),
    "no rows": (lambda: as_batches(X[:0], Y[:0]), InvalidArgumentError, r"no rows: .*\(0, 3\)"),
    "an empty list": (lambda: as_batches([]), InvalidArgumentError, "no rows"),
    "a number": (lambda: as_batches(np.float32(3)), ShapeError, "x: .* got a scalar"),
    "a number in a tuple": (lambda: as_batches((1, 2)), ShapeError, r"x\[0\]: .* got a scalar"),
    "None": (lambda: as_batches(None), DTypeError, "x must be arrays.*None"),
    "a string": (lambda: as_batches("data"), DTypeError, "x must be arrays.*'data'"),
    "objects": (lambda: as_batches(np.array([{}, 1], object)), DTypeError, "x: .*dtype object"),
    "ragged": (lambda: as_batches([[1], [2, 3]]), InvalidArgumentError, "x: .*ragged"),
    "batch of 0": (lambda: as_batches(X, batch_size=0), InvalidArgumentError, "batch_size"),
    "batch of 2.5": (lambda: as_batches(X, batch_size=2.5), InvalidArgumentError, "got 2.5"),
    "shuffle": (lambda: as_batches(X, shuffle="rows"), InvalidArgumentError, "got 'rows'"),
    "Dataset and y": (lambda: as_batches(Dataset.range(3), Y), InvalidArgumentError,
                      "y must be None if x is a Dataset"),
    "generator and weights": (lambda: as_batches(iter([]), None, W), InvalidArgumentError,
                              "sample_weight must be None"),
    "by index and y": (lambda: as_batches(Indexed(), Y), InvalidArgumentError, "Indexed"),
    "no batches by index": (lambda: as_batches(types.MappingProxyType({})), InvalidArgumentError,
                            "no batches"),
    "an empty generator": (lambda: list(as_batches(iter([])).epoch(0)), InvalidArgumentError,
                           "has no batch"),
    "an empty Dataset": (lambda: list(as_batches(Dataset.range(0)).epoch(0)),
                         InvalidArgumentError, "x .Dataset. has no batch"),
    "four parts": (lambda: list(as_batches(iter([(X, Y, W, W)])).epoch(0)),
                   InvalidArgumentError, "got 4 parts"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    make, kind, told = ERRORS[name]
    with pytest.raises(kind, match=told):
        make()
