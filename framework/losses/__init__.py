"""Losses: subclasses compute one value per sample; the base class masks, weights and reduces."""

from framework.losses import classification, regression
from framework.losses.base import (
    Loss,
    LossFunctionWrapper,
    as_loss,
    deserialize,
    get,
    losses,
    serialize,
)
from framework.losses.classification import *
from framework.losses.regression import *

__all__ = ["Loss", "LossFunctionWrapper", "as_loss", "deserialize", "get", "losses", "serialize"]
__all__ += classification.__all__
__all__ += regression.__all__
