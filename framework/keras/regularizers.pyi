from framework.regularizers import (
    L1 as L1, L1L2 as L1L2, L2 as L2, OrthogonalRegularizer as OrthogonalRegularizer,
    Regularizer as Regularizer, deserialize as deserialize, get as get, serialize as serialize,
)  # fmt: skip

l1 = L1
l1_l2 = L1L2
l2 = L2
orthogonal_regularizer = OrthogonalRegularizer
