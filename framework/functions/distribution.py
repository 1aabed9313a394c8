"""tf.distribute with one replica, like TensorFlow's strategies on a machine with one device.

Programs written for several devices run unchanged: `run` calls the function once, a reduction of
one value is the value, and a distributed dataset is the dataset.
"""

import contextlib
import enum
import json
import os
import threading
from types import SimpleNamespace
from typing import Any, NamedTuple

from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.operations import operation
from framework.functions.devices import device as _device
from framework.functions.elementwise import divide_no_nan
from framework.functions.movement import reshape
from framework.functions.reduction import reduce_mean, reduce_sum

_thread = threading.local()


class ReduceOp(enum.Enum):
    """The ways to combine the values of replicas."""

    SUM = "SUM"
    MEAN = "MEAN"


class InputContext(NamedTuple):
    """The argument of the function passed to `distribute_datasets_from_function`.

    >>> InputContext(num_replicas_in_sync=1).get_per_replica_batch_size(64)
    64
    """

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: Any) -> Any:
        """Return the batch size per replica, which is the global batch size."""
        return global_batch_size


class ValueContext(NamedTuple):
    """The argument of the function passed to `experimental_distribute_values_from_function`."""

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1


class InputOptions:
    """Options of distributed datasets, accepted without effect."""

    def __init__(
        self, experimental_fetch_to_device: Any = None, experimental_replication_mode: Any = None,
        experimental_place_dataset_on_device: bool = False,
        experimental_per_replica_buffer_size: int = 1,
    ):  # fmt: skip
        given = dict(locals())
        self.__dict__.update({name: v for name, v in given.items() if name != "self"})


class _Accepted:
    """Base class of settings for communication between devices, which have no effect."""

    def __init__(self, *args: Any, **kwargs: Any):
        self.args, self.kwargs = args, kwargs


class CrossDeviceOps(_Accepted):
    """A way to exchange values between devices, accepted without effect."""


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Hierarchical all-reduce between devices, accepted without effect."""


class NcclAllReduce(CrossDeviceOps):
    """All-reduce between devices by NCCL, accepted without effect."""


class ReductionToOneDevice(CrossDeviceOps):
    """Reduction of all values on one device, accepted without effect."""


class CommunicationOptions(_Accepted):
    """Options of collective communication, accepted without effect."""


class CommunicationImplementation(enum.Enum):
    """Implementations of collective communication, accepted without effect."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class ReplicaContext:
    """The context of a function that a strategy runs."""

    replica_id_in_sync_group = 0
    num_replicas_in_sync = 1

    def __init__(self, strategy: Any):
        self._strategy = strategy

    @property
    def strategy(self):
        """The strategy that runs the function."""
        return self._strategy

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Return the value: there is one replica."""
        _reduce_op(reduce_op)
        return value

    def all_gather(self, value: Any, axis: Any, options: Any = None) -> Any:
        """Return the value: there is one replica."""
        return value

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return `merge_fn(strategy, *args, **kwargs)`, called outside the replica."""
        with _as_replica(None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))


class Strategy:
    """Computation on the devices of a machine: one replica on the CPU.

    >>> import framework as tf
    >>> strategy = tf.distribute.MirroredStrategy()
    >>> strategy.num_replicas_in_sync
    1
    >>> with strategy.scope():
    ...     v = tf.Variable(1.0)
    >>> strategy.reduce("SUM", strategy.run(lambda x: x + v, args=(2.0,)), axis=None).numpy()
    np.float32(3.0)
    """

    def __init__(self, extended: Any = None):
        self._extended = extended

    num_replicas_in_sync = 1
    cluster_resolver = None

    @property
    def extended(self):
        """The strategy itself."""
        return self

    @contextlib.contextmanager
    def scope(self):
        """Return a context in which `get_strategy()` is this strategy."""
        before = getattr(_thread, "strategy", None)
        _thread.strategy = self
        try:
            with _as_replica(None):
                yield self
        finally:
            _thread.strategy = before

    def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Return `fn(*args, **kwargs)`: the result of the one replica."""
        before = getattr(_thread, "strategy", None)
        _thread.strategy = self
        try:
            with _as_replica(ReplicaContext(self)):
                return fn(*args, **(kwargs or {}))
        finally:
            _thread.strategy = before

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Return the value of the only replica, reduced along `axis` unless this is None."""
        operation = _reduce_op(reduce_op)
        if axis is None:
            return value
        return (reduce_sum if operation is ReduceOp.SUM else reduce_mean)(value, axis=axis)

    def gather(self, value: Any, axis: Any) -> Any:
        """Return the value: there is one replica."""
        return value

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Return the dataset, because the only replica takes all batches."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """Return `dataset_fn(InputContext())`."""
        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        """Return `value_fn(ValueContext())`."""
        return value_fn(ValueContext())

    def experimental_local_results(self, value: Any) -> tuple:
        """Return a tuple with the value of the only replica."""
        return (value,)


class MirroredStrategy(Strategy):
    """A strategy with a copy of the model per device; here it has one copy, on the CPU.

    Args:
        devices: names of devices, which are checked and all mean the CPU.
        cross_device_ops: accepted without effect.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        super().__init__()
        for name in devices or ():
            _device(getattr(name, "name", name))


class OneDeviceStrategy(Strategy):
    """A strategy that runs everything on one device, which is the CPU.

    Args:
        device: its name.
    """

    def __init__(self, device: Any):
        super().__init__()
        _device(device)


class CentralStorageStrategy(Strategy):
    """A strategy that keeps the variables on the CPU.

    Args:
        compute_devices, parameter_device: names of devices, which all mean the CPU.
    """

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None):
        super().__init__()


class MultiWorkerMirroredStrategy(Strategy):
    """A strategy for several machines, which accepts only one: training runs in one process.

    Args:
        cluster_resolver, communication_options: accepted without effect.

    Raises:
        InvalidArgumentError: TF_CONFIG has several workers.
    """

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None):
        super().__init__()
        cluster = json.loads(os.environ.get("TF_CONFIG", "{}") or "{}").get("cluster", {})
        workers = [*cluster.get("worker", ()), *cluster.get("chief", ())]
        if len(workers) > 1:
            raise InvalidArgumentError(
                f"MultiWorkerMirroredStrategy: TF_CONFIG has {len(workers)} workers, but training "
                "runs in one process. Remove TF_CONFIG; use accumulate=n for larger batches."
            )


_DEFAULT = Strategy()


def get_strategy() -> Any:
    """Return the strategy whose `scope()` or `run` is active, else the default strategy."""
    return getattr(_thread, "strategy", None) or _DEFAULT


def has_strategy() -> bool:
    """Return whether the scope of a strategy is active."""
    return getattr(_thread, "strategy", None) not in (None, _DEFAULT)


def in_cross_replica_context() -> bool:
    """Return whether the caller is in a strategy's scope, but not in a function run by it."""
    return has_strategy() and getattr(_thread, "replica", None) is None


def get_replica_context() -> Any:
    """Return the replica context; None in a strategy's scope outside of functions run by it."""
    found = getattr(_thread, "replica", None)
    if found is None and not has_strategy():
        return ReplicaContext(_DEFAULT)
    return found


@contextlib.contextmanager
def _as_replica(context):
    before = getattr(_thread, "replica", None)
    _thread.replica = context
    try:
        yield
    finally:
        _thread.replica = before


def _reduce_op(value):
    found = value.name if isinstance(value, ReduceOp) else str(value).upper()
    if found not in ReduceOp.__members__:
        raise InvalidArgumentError(f"reduce: expected a reduce_op 'SUM' or 'MEAN', got {value!r}.")
    return ReduceOp[found]


experimental = SimpleNamespace(
    CentralStorageStrategy=CentralStorageStrategy,
    CommunicationImplementation=CommunicationImplementation,
    CommunicationOptions=CommunicationOptions,
    MultiWorkerMirroredStrategy=MultiWorkerMirroredStrategy,
    ValueContext=ValueContext,
)


# ---- losses per replica --------------------------------------------------------------------------


@operation
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """Return the sum of the losses divided by the size of the whole batch.

    Args:
        per_example_loss: a tensor with the samples along the first axis.
        sample_weight: weights of the samples.
        global_batch_size: the size of the batch; by default the number of samples. The result is 0
            if the size is 0.

    >>> import framework as tf
    >>> tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4).numpy()
    np.float32(0.75)
    """
    losses = tensor(per_example_loss)
    if losses.ndim == 0:
        raise InvalidArgumentError(
            "compute_average_loss: expected a loss for each sample, got a scalar."
        )
    if sample_weight is not None:
        weight = cast(tensor(sample_weight), dtype=losses.dtype.np)
        ones = (1,) * (losses.ndim - weight.ndim)
        losses = losses * reshape(weight, (*weight.shape, *ones))
    size = losses.shape[0] if global_batch_size is None else global_batch_size
    return divide_no_nan(reduce_sum(losses), cast(tensor(size), dtype=losses.dtype.np))


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """Return the sum of the losses divided by the number of replicas, which is 1.

    >>> import framework as tf
    >>> tf.nn.scale_regularization_loss([1.0, 2.0]).numpy()
    np.float32(3.0)
    """
    return reduce_sum(regularization_loss) / 1  # `/ 1` converts integers to float64
