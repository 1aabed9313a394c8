"""A class name means one thing in the package, except for the names that Keras uses twice."""

import ast
from collections import defaultdict
from pathlib import Path

import framework

KERAS_DOUBLES = {
    # a loss and a metric
    "BinaryCrossentropy", "CategoricalCrossentropy", "CategoricalHinge", "CosineSimilarity",
    "Hinge", "KLDivergence", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson",
    "SparseCategoricalCrossentropy", "SquaredHinge",
    "Identity",  # an initializer and a layer
    "Feature",  # of tf.train.Example and of FeatureSpace
}  # fmt: skip


def test_a_class_name_means_one_thing():
    places = defaultdict(list)
    package = Path(framework.__file__).parent
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(package)}:{node.lineno}")
    doubles = {name: found for name, found in places.items() if len(found) > 1}
    others = {name: found for name, found in doubles.items() if name not in KERAS_DOUBLES}
    assert not others
    assert set(doubles) == KERAS_DOUBLES
    assert all(len(doubles[name]) == 2 for name in KERAS_DOUBLES)
