"""Tables in fit, evaluate and predict; batches of PyTorch's DataLoader and of tf.data."""

import numpy as np
import pytest

from framework import keras
from framework.core import tables

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
RNG = np.random.default_rng(0)
NUMBERS = {"a": RNG.normal(size=40), "b": RNG.normal(size=40)}
WORDS = [("red", "blue")[i % 2] for i in range(40)]
MAKERS = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}
layers = keras.layers
ORDER = {"shuffle": False, "verbose": 0}


def made(model):
    model.compile("sgd", "mse")
    return model


def dense():
    keras.utils.set_random_seed(1)
    return made(keras.Sequential([layers.Dense(1)]))


def by_column():
    """A functional model with a number and a word."""
    keras.utils.set_random_seed(1)
    number = keras.Input((1,), name="b")
    word = keras.Input((1,), name="word", dtype="string")
    code = layers.StringLookup(vocabulary=["red", "blue"], output_mode="one_hot")(word)
    return made(keras.Model([number, word], layers.Dense(1)(layers.Concatenate()([number, code]))))


@pytest.mark.parametrize("kind", MAKERS)
def test_a_table_of_numbers_is_a_matrix(kind):
    table, target = MAKERS[kind](NUMBERS), MAKERS[kind]({"y": NUMBERS["a"]})
    matrix, y = np.stack(list(NUMBERS.values()), 1), NUMBERS["a"][:, None]
    model, other = dense(), dense()
    given = model.fit(table, target, validation_data=(table, target), epochs=2, **ORDER).history
    assert given == other.fit(matrix, y, validation_data=(matrix, y), epochs=2, **ORDER).history
    np.testing.assert_array_equal(model.predict(table, verbose=0), other.predict(matrix, verbose=0))
    assert model.evaluate(table, target, verbose=0) == other.evaluate(matrix, y, verbose=0)
    split = model.fit(table, target, validation_split=0.25, **ORDER).history
    assert split == other.fit(matrix, y, validation_split=0.25, **ORDER).history


@pytest.mark.parametrize("kind", MAKERS)
def test_each_input_gets_the_column_of_its_name(kind):
    table = MAKERS[kind]({**NUMBERS, "word": WORDS})
    y = NUMBERS["b"]
    model, other = by_column(), by_column()
    arrays = {"b": NUMBERS["b"][:, None], "word": np.array(WORDS)[:, None]}
    given = model.fit(table, y, **ORDER).history
    assert given == other.fit(arrays, y, **ORDER).history
    np.testing.assert_array_equal(model.predict(table, verbose=0), other.predict(arrays, verbose=0))


def test_feature_space_takes_tables():
    table = polars.DataFrame({**NUMBERS, "word": WORDS})
    space = keras.utils.FeatureSpace({"a": "float_normalized", "word": "string_categorical"})
    space.adapt(table)
    columns = tables.columns_of(table)
    np.testing.assert_array_equal(space(table), space(columns))


def test_errors():
    table = pandas.DataFrame({**NUMBERS, "word": WORDS})
    with pytest.raises(ValueError, match=r"no column for the input 'word'.*'a', 'b'; the inputs"):
        by_column().fit(pandas.DataFrame(NUMBERS), NUMBERS["a"], verbose=0)
    model = made(keras.Sequential([keras.Input((3,)), layers.Dense(1)]))
    with pytest.raises((ValueError, TypeError), match=r"'word'|3 inputs|dict"):
        model.fit(table, NUMBERS["a"], verbose=0)


# ---- batches of other libraries ------------------------------------------------------------------


class TorchTensor:
    """The part of torch.Tensor's interface that matters: it is no NumPy array, and converts."""

    def __init__(self, array):
        self._array = array
        self.shape, self.requires_grad = array.shape, False

    def __array__(self, dtype=None, copy=None):
        return self._array if dtype is None else self._array.astype(dtype)

    def __len__(self):
        return len(self._array)


class DataLoader:
    """Batches as a list [x, y], anew in each epoch; no `__getitem__`, as torch's DataLoader."""

    def __init__(self, x, y, batch_size, length=True):
        self.x, self.y, self.batch_size, self.length = x, y, batch_size, length
        self.epochs = 0

    def __iter__(self):
        self.epochs += 1
        for i in range(0, len(self.x), self.batch_size):
            rows = slice(i, i + self.batch_size)
            yield [TorchTensor(self.x[rows]), TorchTensor(self.y[rows])]

    def __len__(self):
        if not self.length:  # an IterableDataset inside; tf.data raises the same
            raise TypeError("object of type 'IterableDataset' has no len()")
        return (len(self.x) + self.batch_size - 1) // self.batch_size


@pytest.mark.parametrize("length", [True, False])
def test_batches_of_a_data_loader(length):
    x = np.stack(list(NUMBERS.values()), 1).astype("float32")
    y = x[:, :1] * 2
    loader = DataLoader(x, y, 16, length)
    model, other = dense(), dense()
    history = model.fit(loader, validation_data=loader, epochs=2, verbose=0).history
    expected = other.fit(
        x, y, batch_size=16, shuffle=False, validation_data=(x, y), validation_batch_size=16,
        epochs=2, verbose=0,
    ).history  # fmt: skip
    assert history == expected
    assert loader.epochs == 4
    np.testing.assert_array_equal(
        model.predict(loader, verbose=0), other.predict(x, batch_size=16, verbose=0)
    )
