from framework.functions.distribution import (
    CrossDeviceOps as CrossDeviceOps, HierarchicalCopyAllReduce as HierarchicalCopyAllReduce,
    InputContext as InputContext, InputOptions as InputOptions,
    MirroredStrategy as MirroredStrategy,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy, NcclAllReduce as NcclAllReduce,
    OneDeviceStrategy as OneDeviceStrategy, ReduceOp as ReduceOp,
    ReductionToOneDevice as ReductionToOneDevice, ReplicaContext as ReplicaContext,
    Strategy as Strategy, experimental as experimental, get_replica_context as get_replica_context,
    get_strategy as get_strategy, has_strategy as has_strategy,
    in_cross_replica_context as in_cross_replica_context,
)  # fmt: skip
