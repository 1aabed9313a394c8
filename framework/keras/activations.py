"""keras.activations: activation functions."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.activations": """
        celu deserialize elu exponential gelu get glu hard_shrink hard_sigmoid hard_silu
        hard_swish=hard_silu hard_tanh leaky_relu linear log_sigmoid log_softmax mish relu relu6
        selu serialize sigmoid silu soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid
        sparsemax squareplus swish=silu tanh tanh_shrink threshold""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.activations import (
        celu as celu, deserialize as deserialize, elu as elu, exponential as exponential,
        gelu as gelu, get as get, glu as glu, hard_shrink as hard_shrink,
        hard_sigmoid as hard_sigmoid, hard_silu as hard_silu, hard_silu as hard_swish,
        hard_tanh as hard_tanh, leaky_relu as leaky_relu, linear as linear,
        log_sigmoid as log_sigmoid, log_softmax as log_softmax, mish as mish, relu as relu,
        relu6 as relu6, selu as selu, serialize as serialize, sigmoid as sigmoid, silu as silu,
        silu as swish, soft_shrink as soft_shrink, softmax as softmax, softplus as softplus,
        softsign as softsign, sparse_plus as sparse_plus, sparse_sigmoid as sparse_sigmoid,
        sparsemax as sparsemax, squareplus as squareplus, tanh as tanh, tanh_shrink as tanh_shrink,
        threshold as threshold,
    )  # fmt: skip
