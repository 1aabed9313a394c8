from framework.activations import (
    celu as celu, deserialize as deserialize, elu as elu, exponential as exponential, gelu as gelu,
    get as get, glu as glu, hard_shrink as hard_shrink, hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu, hard_tanh as hard_tanh, leaky_relu as leaky_relu, linear as linear,
    log_sigmoid as log_sigmoid, log_softmax as log_softmax, mish as mish, relu as relu,
    relu6 as relu6, selu as selu, serialize as serialize, sigmoid as sigmoid, silu as silu,
    soft_shrink as soft_shrink, softmax as softmax, softplus as softplus, softsign as softsign,
    sparse_plus as sparse_plus, sparse_sigmoid as sparse_sigmoid, sparsemax as sparsemax,
    squareplus as squareplus, tanh as tanh, tanh_shrink as tanh_shrink, threshold as threshold,
)  # fmt: skip

hard_swish = hard_silu
swish = silu
