from framework.wrappers import (
    SKLearnClassifier as SKLearnClassifier, SKLearnRegressor as SKLearnRegressor,
    SKLearnTransformer as SKLearnTransformer,
)  # fmt: skip
