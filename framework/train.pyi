from framework.data.examples import (
    BytesList as BytesList, Example as Example, Feature as Feature, FeatureList as FeatureList,
    FeatureLists as FeatureLists, Features as Features, FloatList as FloatList,
    Int64List as Int64List, SequenceExample as SequenceExample,
)  # fmt: skip
from framework.functions.moving_average import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)  # fmt: skip
from framework.saving.checkpoint import (
    Checkpoint as Checkpoint, CheckpointLoadStatus as CheckpointLoadStatus,
)  # fmt: skip
from framework.saving.checkpoint_manager import (
    CheckpointManager as CheckpointManager, CheckpointOptions as CheckpointOptions,
    checkpoints_iterator as checkpoints_iterator, get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint, list_variables as list_variables,
    load_checkpoint as load_checkpoint, load_variable as load_variable,
)  # fmt: skip
