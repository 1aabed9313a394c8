from framework.initializers import (
    Constant as Constant, GlorotNormal as GlorotNormal, GlorotUniform as GlorotUniform,
    HeNormal as HeNormal, HeUniform as HeUniform, Identity as Identity, Initializer as Initializer,
    LecunNormal as LecunNormal, LecunUniform as LecunUniform, Ones as Ones,
    Orthogonal as Orthogonal, RandomNormal as RandomNormal, RandomUniform as RandomUniform,
    STFT as STFT, TruncatedNormal as TruncatedNormal, VarianceScaling as VarianceScaling,
    Zeros as Zeros, deserialize as deserialize, get as get, serialize as serialize,
)  # fmt: skip

IdentityInitializer = Identity
OrthogonalInitializer = Orthogonal
STFTInitializer = STFT
constant = Constant
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform
he_normal = HeNormal
he_uniform = HeUniform
identity = Identity
lecun_normal = LecunNormal
lecun_uniform = LecunUniform
ones = Ones
orthogonal = Orthogonal
random_normal = RandomNormal
random_uniform = RandomUniform
stft = STFT
truncated_normal = TruncatedNormal
variance_scaling = VarianceScaling
zeros = Zeros
