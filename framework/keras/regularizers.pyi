from framework.regularizers import (
    L1 as L1, L1L2 as L1L2, L2 as L2, OrthogonalRegularizer as OrthogonalRegularizer,
    Regularizer as Regularizer, deserialize as deserialize, get as get, L1 as l1, L1L2 as l1_l2,
    L2 as l2, OrthogonalRegularizer as orthogonal_regularizer, serialize as serialize,
)  # fmt: skip
