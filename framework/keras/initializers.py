"""keras.initializers: the first values of weights."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.initializers": """
        Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity IdentityInitializer=Identity
        Initializer LecunNormal LecunUniform Ones Orthogonal OrthogonalInitializer=Orthogonal
        RandomNormal RandomUniform TruncatedNormal VarianceScaling Zeros constant=Constant
        deserialize get glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal=HeNormal
        he_uniform=HeUniform identity=Identity lecun_normal=LecunNormal lecun_uniform=LecunUniform
        ones=Ones orthogonal=Orthogonal random_normal=RandomNormal random_uniform=RandomUniform
        serialize truncated_normal=TruncatedNormal variance_scaling=VarianceScaling zeros=Zeros""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.initializers import (
        Constant as Constant, Constant as constant, GlorotNormal as GlorotNormal,
        GlorotNormal as glorot_normal, GlorotUniform as GlorotUniform,
        GlorotUniform as glorot_uniform, HeNormal as HeNormal, HeNormal as he_normal,
        HeUniform as HeUniform, HeUniform as he_uniform, Identity as Identity,
        Identity as IdentityInitializer, Identity as identity, Initializer as Initializer,
        LecunNormal as LecunNormal, LecunNormal as lecun_normal, LecunUniform as LecunUniform,
        LecunUniform as lecun_uniform, Ones as Ones, Ones as ones, Orthogonal as Orthogonal,
        Orthogonal as OrthogonalInitializer, Orthogonal as orthogonal, RandomNormal as RandomNormal,
        RandomNormal as random_normal, RandomUniform as RandomUniform,
        RandomUniform as random_uniform, TruncatedNormal as TruncatedNormal,
        TruncatedNormal as truncated_normal, VarianceScaling as VarianceScaling,
        VarianceScaling as variance_scaling, Zeros as Zeros, Zeros as zeros,
        deserialize as deserialize, get as get, serialize as serialize,
    )  # fmt: skip
