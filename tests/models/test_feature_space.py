"""FeatureSpace: Keras's numbers for a table, saving, datasets, models, mistakes."""

import numpy as np
import pytest

import framework as tf
from framework import keras

Space = keras.utils.FeatureSpace
TABLE = {
    "size": [1.0, 3.0, 2.0, 6.0],
    "width": [-1.0, 0.5, 0.25, 2.0],
    "rooms": [1, 3, 1, 2],
    "color": ["red", "blue", "red", "green"],
    "town": ["a b", "c", "", "a b"],
}
FEATURES = {
    "size": "float_normalized",
    "width": "float",
    "rooms": "integer_categorical",
    "color": "string_categorical",
    "town": "string_hashed",
}
# by Keras on TensorFlow, each row's numbers that are not 0, by place
ENCODED = [
    {1: 1, 5: 1, 8: -1.069045, 10: 1, 13: -1, 17: 1},
    {3: 1, 6: 1, 9: 1, 13: 0.5, 15: 1},
    {1: 1, 5: 1, 8: -0.534522, 12: 1, 13: 0.25, 17: 1},
    {2: 1, 7: 1, 8: 1.603567, 10: 1, 13: 2, 16: 1},
]


def adapted(**arguments):
    space = Space(FEATURES, crosses=[("color", "rooms")], crossing_dim=6, hashing_dim=4,
                  **arguments)  # fmt: skip
    space.adapt(TABLE)
    return space


def test_values_of_keras():
    found = adapted()(TABLE).numpy()
    assert found.dtype == "float32"
    assert found.shape == (4, 20)
    expected = np.zeros((4, 20))
    for row, numbers in zip(expected, ENCODED, strict=True):
        row[list(numbers)] = list(numbers.values())
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_dicts_have_a_tensor_each():
    found = adapted(output_mode="dict")(TABLE)
    assert list(found) == [*sorted(FEATURES), "color_X_rooms"]
    together = np.concatenate([np.asarray(x) for x in found.values()], -1)
    np.testing.assert_array_equal(together, adapted()(TABLE))


FEATURE_KINDS = {
    "rescaled": (Space.float_rescaled(2.0, 1.0), [0.0, 1.5], [[1.0], [4.0]]),
    "bins": (Space.float_discretized(2), [1.0, 2.0, 3.0, 4.0], [[1, 0], [0, 1], [0, 1], [0, 1]]),
    "given bins": (
        Space.float_discretized(None, [2.0], output_mode="one_hot"), [1.0, 2.0], [[1, 0], [0, 1]]
    ),
    "integers": (Space.integer_categorical(num_oov_indices=2), [7, 7, 8], [[0, 0, 1, 0]] * 2
                 + [[0, 0, 0, 1]]),
    "limited": (Space.string_categorical(max_tokens=2), ["b", "b", "a"], [[0, 1], [0, 1], [1, 0]]),
    "hashed": (Space.integer_hashed(3), [1, 2], [[1, 0, 0], [0, 1, 0]]),
    "own layer": (
        Space.feature("string", keras.layers.StringLookup(vocabulary=["x"]), "one_hot"),
        ["x", "y"], [[0, 1], [1, 0]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FEATURE_KINDS)
def test_kinds_of_features(name):
    feature, column, expected = FEATURE_KINDS[name]
    space = Space({"x": feature})
    space.adapt({"x": column})
    found = space({"x": column}).numpy()
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("mode", ["concat", "dict"])
def test_rows_batches_and_datasets(mode):
    space = adapted(output_mode=mode)
    whole = space(TABLE)
    rows = tf.data.Dataset.from_tensor_slices(TABLE)
    for batches in (rows.map(space).batch(3), rows.batch(3).map(space)):
        first, second = batches
        tf.nest.map_structure(
            lambda a, b, c: np.testing.assert_array_equal(np.concatenate([a, b]), c),
            first, second, whole,
        )  # fmt: skip
    row = space({name: column[2] for name, column in TABLE.items()})
    tf.nest.map_structure(lambda a, b: np.testing.assert_array_equal(a, b[2]), row, whole)
    for data in (rows, rows.batch(2)):
        again = Space(FEATURES, output_mode=mode, crosses=space.crosses, hashing_dim=4)
        again.adapt(data)
        tf.nest.map_structure(
            lambda a, b: np.testing.assert_allclose(a, b, atol=1e-6), again(TABLE), whole
        )


def test_files(tmp_path):
    space = adapted()
    space.save(tmp_path / "space.keras")
    again = keras.models.load_model(tmp_path / "space.keras")
    assert type(again) is Space
    assert again.get_config() == space.get_config()
    np.testing.assert_array_equal(again(TABLE), space(TABLE))
    assert [cross.name for cross in again.crosses] == ["color_X_rooms"]
    fresh = Space.from_config(space.get_config())
    with pytest.raises(ValueError, match="adapt"):
        fresh(TABLE)


def test_a_model_of_raw_features():
    """One model trains on encoded features; another, of the same layers, takes raw ones."""
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(30, 80, 64), "pressure": rng.normal(130, 15, 64),
        "kind": rng.choice(["normal", "fixed", "reversible"], 64), "sex": rng.integers(0, 2, 64),
    }  # fmt: skip
    labels = (table["age"] > 55).astype("int64")
    rows = tf.data.Dataset.from_tensor_slices((table, labels)).batch(16)
    space = Space(
        {"age": "float_discretized", "pressure": "float_normalized", "kind": "string_categorical",
         "sex": "integer_categorical"},
        crosses=[("sex", "age")], crossing_dim=16, num_discretization_bins=8,
    )  # fmt: skip
    space.adapt(rows.map(lambda x, y: x))
    inputs, encoded = space.get_inputs(), space.get_encoded_features()
    outputs = keras.layers.Dense(8, activation="relu")(encoded)
    outputs = keras.layers.Dense(1, activation="sigmoid")(outputs)
    training, inference = keras.Model(encoded, outputs), keras.Model(inputs, outputs)
    training.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    history = training.fit(rows.map(lambda x, y: (space(x), y)), epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
    found = inference.predict(table, verbose=0)
    np.testing.assert_allclose(found, training.predict(space(table), verbose=0), atol=1e-6)
    one = {name: keras.ops.convert_to_tensor([column[0]]) for name, column in table.items()}
    np.testing.assert_allclose(inference.predict(one, verbose=0), found[:1], atol=1e-6)


MISTAKES = {
    "no features": (lambda: Space({}), "cannot be None or empty"),
    "an unknown kind": (lambda: Space({"a": "flaot"}), "Invalid feature type: 'flaot'"),
    "an unknown name": (lambda: Space({"a": "float"}, crosses=[("a", "b")]), "unknown features"),
    "no dimension": (
        lambda: Space({"a": "float"}, crosses=[("a", "a")], crossing_dim=None), "crossing_dim"
    ),
    "a mode": (lambda: Space({"a": "float"}, output_mode="list"), "output_mode"),
    "another mode": (lambda: Space.feature("int32", None, "multi_hot"), "output_mode"),
    "not adapted": (lambda: Space({"a": "float_normalized"})({"a": [1.0]}), "adapt"),
    "no dict": (lambda: Space({"a": "float"})([1.0]), "with a dict"),
    "a missing column": (lambda: Space({"a": "float"})({"b": [1.0]}), "without"),
    "data": (lambda: Space({"a": "float"}).adapt([1.0]), "tf.data.Dataset or a dict"),
    "numbers as classes": (
        lambda: Space({"a": Space.feature("float32", keras.layers.Rescaling(1.0), "one_hot")})(
            {"a": [1.0]}
        ), "integer dtype",
    ),
    "indices in a vector": (
        lambda: Space({"a": Space.integer_hashed(3, output_mode="int")})({"a": [1]}),
        "has not been encoded",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, words = MISTAKES[name]
    with pytest.raises(ValueError, match=words):
        call()
