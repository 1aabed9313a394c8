from framework.losses.base import (
    Loss as Loss, LossFunctionWrapper as LossFunctionWrapper, as_loss as as_loss,
    deserialize as deserialize, get as get, losses as losses, serialize as serialize,
)  # fmt: skip
from framework.losses.classification import *
from framework.losses.focal import *
from framework.losses.overlap import *
from framework.losses.regression import *
from framework.losses.sequence import *
from framework.losses.similarity import *
