from framework.layers.categorical import (
    CategoryEncoding as CategoryEncoding, Discretization as Discretization,
)  # fmt: skip
from framework.layers.hashing import HashedCrossing as HashedCrossing, Hashing as Hashing
from framework.layers.images.colors import RandomContrast as RandomContrast
from framework.layers.images.former import (
    RandomHeight as RandomHeight, RandomWidth as RandomWidth,
)  # fmt: skip
from framework.layers.images.geometry import (
    RandomFlip as RandomFlip, RandomRotation as RandomRotation,
    RandomTranslation as RandomTranslation, RandomZoom as RandomZoom,
)  # fmt: skip
from framework.layers.images.sizes import (
    CenterCrop as CenterCrop, RandomCrop as RandomCrop, Resizing as Resizing,
)  # fmt: skip
from framework.layers.lookup import IntegerLookup as IntegerLookup, StringLookup as StringLookup
from framework.layers.preprocessing import Normalization as Normalization, Rescaling as Rescaling
from framework.layers.text import TextVectorization as TextVectorization
