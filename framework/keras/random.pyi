from framework.core.random import SeedGenerator as SeedGenerator
from framework.keras.functions.distributions import (
    beta as beta, binomial as binomial, gamma as gamma,
)  # fmt: skip
from framework.keras.functions.drawing import (
    categorical as categorical, dropout as dropout, normal as normal, randint as randint,
    shuffle as shuffle, truncated_normal as truncated_normal, uniform as uniform,
)  # fmt: skip
