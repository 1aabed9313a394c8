from framework.functions.former import (
    contrib as contrib, enable_eager_execution as enable_eager_execution,
    executing_eagerly as executing_eagerly, lin_space as lin_space,
)  # fmt: skip
