"""Losses: subclasses compute one value per sample; the base class masks, weights and reduces."""

from framework.losses import classification, focal, overlap, regression, sequence, similarity
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
from framework.losses.focal import *
from framework.losses.overlap import *
from framework.losses.regression import *
from framework.losses.sequence import *
from framework.losses.similarity import *

__all__ = ["Loss", "LossFunctionWrapper", "as_loss", "deserialize", "get", "losses", "serialize"]
__all__ += classification.__all__
__all__ += focal.__all__
__all__ += overlap.__all__
__all__ += regression.__all__
__all__ += sequence.__all__
__all__ += similarity.__all__
