"""pad_sequences and windows of a time series: the results of real Keras 3, recorded."""

import numpy as np
import pytest

from framework import keras

pad = keras.utils.pad_sequences
windows = keras.utils.timeseries_dataset_from_array
SERIES = np.arange(20.0)


@pytest.mark.parametrize(
    ("sequences", "arguments", "expected"),
    [
        ([[1, 2.7], [3]], {"padding": "post"}, [[1, 2], [3, 0]]),
        ([["a", "bb"], ["c"]], {"dtype": object, "value": "pad"}, [["a", "bb"], ["pad", "c"]]),
        ([[[1, 2]], [[3, 4], [5, 6]]], {}, [[[0, 0], [1, 2]], [[3, 4], [5, 6]]]),
        ([[1, 2]], {"dtype": "float32", "value": 0.5, "maxlen": 3}, [[0.5, 1.0, 2.0]]),
        ([[], [1]], {}, [[0], [1]]),
        (np.arange(6).reshape(2, 3), {"maxlen": 2, "truncating": "post"}, [[0, 1], [3, 4]]),
        ([[1, 2, 3], [4]], {"maxlen": 2}, [[2, 3], [0, 4]]),
        # Keras cuts these strings to one letter and raises for the last two
        ([["a", "bb"], ["c"]], {"dtype": "str", "value": "pad"}, [["a", "bb"], ["pad", "c"]]),
        ([[1, 2, 3], [3]], {"maxlen": 0}, [[], []]),
        ([], {}, []),
    ],
)
def test_pad_sequences(sequences, arguments, expected):
    padded = pad(sequences, **arguments)
    assert padded.tolist() == expected
    assert "dtype" in arguments or padded.dtype == "int32"


@pytest.mark.parametrize(
    ("sequences", "arguments", "told"),
    [
        ([["a"]], {"value": "pad"}, "'pad' is a string, but the dtype is int32"),
        ([[[1, 2]], [[3], [5]]], {}, r"sequences\[1\]: expected elements of shape \(2,\)"),
        ([1, 2], {}, r"sequences\[0\] must be a list or array, got 1"),
        (3, {}, "must be a list of sequences, got 3"),
        ([[1]], {"padding": "x"}, "padding: expected 'pre' or 'post', got 'x'"),
        ([[1]], {"truncating": "x"}, "truncating: expected"),
        ([[1]], {"maxlen": -1}, "maxlen must be at least 0"),
    ],
)
def test_pad_sequences_says_what_is_wrong(sequences, arguments, told):
    with pytest.raises(ValueError, match=told):
        pad(sequences, **arguments)


def listed(dataset):
    def values(element):
        return tuple(map(values, element)) if isinstance(element, tuple) else element.tolist()

    return [values(element) for element in dataset]


def test_windows():
    part = windows(SERIES, SERIES, 3, batch_size=None, start_index=4, end_index=9)
    assert listed(part) == [
        ([4.0, 5.0, 6.0], 4.0), ([5.0, 6.0, 7.0], 5.0), ([6.0, 7.0, 8.0], 6.0)
    ]  # fmt: skip
    strided = windows(SERIES, None, 3, sequence_stride=4, sampling_rate=2, batch_size=2)
    assert listed(strided) == [
        [[0.0, 2.0, 4.0], [4.0, 6.0, 8.0]], [[8.0, 10.0, 12.0], [12.0, 14.0, 16.0]]
    ]  # fmt: skip
    assert listed(windows(SERIES, SERIES[2:5], 3, batch_size=None)) == [
        ([0.0, 1.0, 2.0], 2.0), ([1.0, 2.0, 3.0], 3.0), ([2.0, 3.0, 4.0], 4.0)
    ]  # fmt: skip
    assert listed(windows(SERIES, None, 30)) == []


def test_fewer_targets_than_windows():
    """Keras raises while it iterates; here the windows with a target remain."""
    part = windows(SERIES, SERIES[:6], 3, batch_size=None, start_index=4, end_index=10)
    assert listed(part) == [([4.0, 5.0, 6.0], 4.0), ([5.0, 6.0, 7.0], 5.0)]


def test_shuffled_windows_are_the_same_windows_in_an_order_of_the_seed():
    made = [windows(SERIES, SERIES, 3, batch_size=4, shuffle=True, seed=s) for s in (1, 1, 2)]
    first, second, third = map(listed, made)
    assert first == second != third
    assert first != listed(made[0])  # each epoch has its own order
    starts = [y for _, batch in first for y in batch]
    assert starts != sorted(starts)
    assert sorted(starts) == SERIES[:18].tolist()
    assert [x[0] for batch, _ in first for x in batch] == starts


def test_windows_train_a_model():
    data = windows(SERIES[:, None].astype("float32"), SERIES[4:], 4, batch_size=8)
    spec, _ = data.element_spec
    assert (spec.shape.as_list(), spec.dtype.name) == ([None, 4, 1], "float32")
    assert len(data) == 2
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    assert np.isfinite(model.fit(data, verbose=0).history["loss"]).all()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"start_index": -1}, "start_index: expected 0 to 19, got -1"),
        ({"start_index": 20}, "start_index: expected 0 to 19, got 20"),
        ({"start_index": 4, "end_index": 4}, "end_index: expected 5 to 19, got 4"),
        ({"end_index": 20}, "end_index: expected 1 to 19, got 20"),
        ({"end_index": -3}, "end_index"),
        ({"sampling_rate": 0}, "sampling_rate: expected 1 to 19"),
        ({"sequence_stride": 20}, "sequence_stride: expected 1 to 19"),
        ({"sequence_length": 0}, "sequence_length must be at least 1"),
        ({"format": "grain"}, "format: expected 'tf'"),
    ],
)
def test_windows_say_what_is_wrong(arguments, told):
    with pytest.raises(ValueError, match=told):
        windows(SERIES, None, **{"sequence_length": 3, **arguments})
