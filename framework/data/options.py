"""Options of a dataset. They have tf.data's names, are stored and merged, and have no effect."""

import enum
from typing import Any

from framework.core.errors import DTypeError


class _Option:
    """A descriptor for one option: None until it is set, or a group of options."""

    def __init__(self, group=None, stands_for=None):
        self.group, self.name = group, stands_for

    def __set_name__(self, owner, name):
        self.name = self.name or name

    def __get__(self, options, owner=None):
        if options is None:
            return self
        if self.group is not None:
            return options._framework.setdefault(self.name, self.group())
        return options._framework.get(self.name)

    def __set__(self, options, value):
        options._framework[self.name] = value


class _Options:
    """The base class of options; unknown names raise an error."""

    __slots__ = ("_framework",)

    def __init__(self):
        object.__setattr__(self, "_framework", {})

    def __setattr__(self, name, value):
        if not isinstance(getattr(type(self), name, None), _Option):
            known = [n for n in dir(type(self)) if isinstance(getattr(type(self), n), _Option)]
            raise AttributeError(
                f"{type(self).__name__} has no option {name!r}; expected one of {', '.join(known)}."
            )
        super().__setattr__(name, value)

    def __eq__(self, other):
        return type(other) is type(self) and _given(other) == _given(self)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(type(self).__name__)

    def __repr__(self):
        given = ", ".join(f"{name}={value!r}" for name, value in _given(self).items())
        return f"{type(self).__name__}({given})"


def _given(options):
    """Return {name: value} of the options that are set."""
    found = {name: value for name, value in options._framework.items() if value is not None}
    return {n: v for n, v in found.items() if not isinstance(v, _Options) or _given(v)}


class AutotuneOptions(_Options):
    """Options for tuning buffer sizes and parallelism; accepted, without effect."""

    autotune_algorithm = _Option()
    cpu_budget = _Option()
    enabled = _Option()
    initial_parallelism = _Option()
    min_parallelism = _Option()
    ram_budget = _Option()


class DistributeOptions(_Options):
    """Options of distributed datasets; accepted, without effect."""

    auto_shard_policy = _Option()
    num_devices = _Option()


class OptimizationOptions(_Options):
    """Options for rewriting (optimizing) pipelines; accepted, without effect."""

    apply_default_optimizations = _Option()
    filter_fusion = _Option()
    filter_parallelization = _Option()
    inject_prefetch = _Option()
    map_and_batch_fusion = _Option()
    map_and_filter_fusion = _Option()
    map_fusion = _Option()
    map_parallelization = _Option()
    noop_elimination = _Option()
    parallel_batch = _Option()
    seq_interleave_prefetch = _Option()
    shuffle_and_repeat_fusion = _Option()


class ServiceOptions(_Options):
    """Options of a data service; accepted, without effect."""

    pinned = _Option()


class ThreadingOptions(_Options):
    """Options of thread pools; accepted, without effect."""

    max_intra_op_parallelism = _Option()
    private_threadpool_size = _Option()


class AutoShardPolicy(enum.IntEnum):
    """How to divide a dataset among workers; has no effect."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """How to treat state outside a pipeline; has no effect."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How buffer sizes and parallelism are tuned automatically; has no effect."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class Options(_Options):
    """Options of a dataset, for `Dataset.with_options`; accepted and kept, without effect.

    Elements keep their order even with `deterministic = False`. `map` and `batch` have an argument
    of that name, which has an effect.

    >>> options = Options()
    >>> options.deterministic = True
    >>> options.merge(Options()).deterministic
    True
    """

    autotune = _Option(AutotuneOptions)
    dataset_name = _Option()
    deterministic = _Option()
    experimental_deterministic = _Option(stands_for="deterministic")
    experimental_distribute = _Option(DistributeOptions)
    experimental_external_state_policy = _Option()
    experimental_optimization = _Option(OptimizationOptions)
    experimental_service = _Option(ServiceOptions)
    experimental_slack = _Option()
    experimental_symbolic_checkpoint = _Option()
    experimental_threading = _Option(ThreadingOptions, stands_for="threading")
    experimental_warm_start = _Option()
    framework_type = _Option()
    threading = _Option(ThreadingOptions)

    def merge(self, options: Any):
        """Return the merged options; those of `options` take precedence."""
        return merged(self, options)


def merged(a, b):
    """Return the merged options; those of `b` take precedence."""
    if type(a) is not type(b):
        raise DTypeError(f"merge: options: expected {type(a).__name__}, got {type(b).__name__}.")
    both = type(a)()
    both._framework.update(_given(a))
    for name, value in _given(b).items():
        before = both._framework.get(name)
        together = isinstance(value, _Options) and before is not None
        both._framework[name] = merged(before, value) if together else value
    return both
