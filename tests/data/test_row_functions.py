"""Mapped functions called once for the rows of a batch: the same bits, effects and errors."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.data import Dataset
from framework.data.row_functions import ChainReader
from framework.kernels import row_chains
from tests import kernel_forms

RNG = np.random.default_rng(0)
X = RNG.integers(0, 256, (23, 4, 3), dtype=np.uint8)
Y = RNG.integers(0, 5, 23)
W = np.float32([0.1, 0.2, 0.7])

TOGETHER = {
    "normalise": lambda x, y: (tf.cast(x, "float32") / 255.0, y),
    "dict": lambda x, y: {"x": tf.expand_dims(x, -1), "y": tf.one_hot(y, 5)},
    "elementwise": lambda x, y: tf.exp(tf.cast(x, "float32") * 0.01) - tf.cast(y, "float32"),
    "movement": lambda x, y: (tf.transpose(x), tf.reshape(x, [-1])[2:9], x[::-1]),
    "constant": lambda x, y: (tf.constant([1.0, 2.0]), y),
    "largest": lambda x, y: tf.reduce_max(x, axis=0) + tf.cast(tf.argmax(x[0]), "uint8"),
    "layer": lambda x, y: (RESCALED(x), y),
}
RESCALED = keras.layers.Rescaling(1 / 3, 0.25)
ALONE = {
    "sum": lambda x, y: tf.reduce_sum(tf.cast(x, "float32") * 0.1),
    "product": lambda x, y: tf.linalg.matvec(tf.cast(x, "float32"), W),
    "value": lambda x, y: x if y > 2 else 255 - x,
    "draw": lambda x, y: tf.cast(y, "float32") + tf.random.uniform(()),
}
PIPELINES = {
    "map, batch": lambda d, f: d.map(f).batch(4),
    "shuffle, map, batch": lambda d, f: d.shuffle(23, seed=1).map(f).batch(5, True),
    "map, shuffle, repeat, batch": lambda d, f: d.map(f).shuffle(23, seed=1).repeat(2).batch(7),
    "repeat, map, batch": lambda d, f: d.repeat(2).map(f).batch(6),
    "map, cache, shuffle, batch": lambda d, f: d.map(f).cache().shuffle(9, seed=1).batch(4),
    "threads": lambda d, f: d.map(f, num_parallel_calls=3).batch(4).prefetch(2),
    "two maps": lambda d, f: d.map(f).map(lambda *e: e).take(11).batch(3),
    "elements": lambda d, f: d.map(f).skip(2),
    "enumerate, zip": lambda d, f: Dataset.zip(d.map(f), d).enumerate().batch(3),
}


def data():
    return Dataset.from_tensor_slices((X, Y))


def plain(element):
    return [(a.numpy().tobytes(), a.shape, a.dtype) for a in tf.nest.flatten(element)]


def alone(function):
    """The function with an effect, so that it runs for each element."""
    seen = []
    return lambda *element: seen.append(1) or function(*element)


def together(dataset):
    stages, found = [dataset._framework], []
    while stages:
        stage = stages.pop()
        stages += stage.parents
        found += [stage.maps_rows] if type(stage).__name__ == "Map" else []
    return found


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", TOGETHER)
def test_batches_have_the_bits_of_single_calls(name, pipeline):
    make, function = PIPELINES[pipeline], TOGETHER[name]
    one, other = make(data(), function), make(data(), alone(function))
    for _ in range(2):
        assert [plain(e) for e in one] == [plain(e) for e in other]
    assert together(one)[-1]
    assert not together(other)[-1]


@pytest.mark.parametrize("name", ALONE)
def test_functions_whose_bits_may_differ_run_for_each_element(name):
    assert together(data().map(ALONE[name]).batch(4)) == [False]


def test_the_function_is_called_once_for_many_batches():
    calls = []

    def spied(leaf, _):
        calls.append(leaf)
        return leaf

    dataset = data().map(TOGETHER["normalise"]).batch(2)
    function = dataset._framework.parent.by_rows
    inner = function._function
    function._function = lambda *parts: spied(inner(*parts), 0)
    assert len(list(dataset)) == 12
    assert len(calls) <= 3 + 1  # a sample, two traces, one for the smaller last batch


CHAINS = {
    "a tuple": lambda x, y: (tf.cast(x, "float32") / 255.0, y),
    "one": lambda x, y: 1.0 - tf.cast(x, "float32") * 2.0,
    "shapes": lambda x, y: (tf.expand_dims(tf.cast(x, "float32") / 3.0 - 1.0, -1), y),
    "casts": lambda x, y: {"y": tf.cast(y, "int32"), "x": tf.cast(x, "float32")},
    "twice": lambda x, y: (tf.cast(x, "float32") / 2.0, tf.cast(x, "float32") / 3.0),
}
ORDERS = {
    "in order": lambda d, f: d.map(f).batch(5),
    "shuffled": lambda d, f: d.shuffle(23, seed=1).map(f).batch(4, drop_remainder=True),
    "shuffled later": lambda d, f: d.map(f).shuffle(23, seed=1).repeat(2).batch(5),
    "every second": lambda d, f: d.shard(2, 1).map(f).batch(2),
}


@pytest.fixture
def one_pass(change):
    """Use the kernel that reads and computes rows in one pass, and list its results."""
    kernel_forms.use("numba", row_chains, change)
    results, call = [], ChainReader.__call__
    change(ChainReader, __call__=lambda *args: results.append(call(*args)) or results[-1])
    return results


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CHAINS)
def test_rows_that_are_read_and_scaled_in_one_pass(one_pass, name, order):
    make, function = ORDERS[order], CHAINS[name]
    one, other = make(data(), function), make(data(), alone(function))
    for _ in range(3):
        assert [plain(e) for e in one] == [plain(e) for e in other]
    assert one_pass
    assert None not in one_pass


def test_one_pass_keeps_the_parts_of_a_dict_apart(one_pass):
    parts = {"z": X, "a": X[::-1].copy(), "m": Y}
    function = lambda d: {"a": tf.cast(d["a"], "float32") / 9.0, "b": tf.cast(d["z"], "float32")}
    dataset = Dataset.from_tensor_slices(parts)
    one, other = dataset.map(function).batch(4), dataset.map(alone(function)).batch(4)
    for _ in range(2):
        assert [plain(e) for e in one] == [plain(e) for e in other]
    assert one_pass
    assert None not in one_pass


@pytest.mark.parametrize("what", ["global", "variable"])
def test_one_pass_sees_what_changes(one_pass, what):
    global scale
    scale = 1.0 if what == "global" else tf.Variable(1.0)
    batches = iter(
        Dataset.from_tensor_slices(np.arange(12, dtype=np.uint8))
        .map(lambda x: tf.cast(x, "float32") * scale)
        .batch(2)
    )
    found = []
    for step in range(6):
        if step > 3 and what == "global":
            scale = float(step)
        elif step > 3:
            scale.assign(float(step))
        found += next(batches).tolist()
    assert found == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 32.0, 36.0, 50.0, 55.0]


def test_files_and_sparse_rows_take_the_usual_way(one_pass, tmp_path):
    np.save(tmp_path / "x.npy", X)
    stored = tf.data.NumpyDataset(tmp_path / "x.npy")
    function = lambda x: tf.cast(x, "float32") / 255.0
    found = [plain(e) for e in stored.map(function).batch(4)]
    assert found == [plain(e) for e in stored.map(alone(function)).batch(4)]
    assert not one_pass


def fails_at_seven(x, y):
    return tf.gather(tf.constant([1.0, 2.0, 3.0]), y) + tf.cast(x, "float32")


def test_an_error_is_that_of_its_element_and_iteration_goes_on():
    y = np.arange(20) % 3
    y[7] = 3
    expected, notes = [], []
    for function in (fails_at_seven, alone(fails_at_seven)):
        dataset = Dataset.from_tensor_slices((np.zeros(20, np.uint8), y)).map(function).batch(3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="indices") as caught:
            list(dataset)
        notes.append(str([*caught.value.args, *getattr(caught.value, "__notes__", ())]))
        expected.append([plain(e) for e in dataset.ignore_errors()])
    assert expected[0] == expected[1]
    assert "element 7 (the first is 0) of stage 2" in notes[0]
    assert notes[0] == notes[1]


def test_a_variable_that_the_function_reads_may_change():
    scale = tf.Variable(1.0)
    batches = iter(Dataset.range(12).map(lambda x: tf.cast(x, "float32") * scale).batch(2))
    found = []
    for step in range(6):
        scale.assign(float(step))
        found += next(batches).tolist()
    assert found == [0.0, 0.0, 2.0, 3.0, 8.0, 10.0, 18.0, 21.0, 32.0, 36.0, 50.0, 55.0]
