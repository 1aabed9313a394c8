from framework.training.callbacks.backup_and_restore import BackupAndRestore as BackupAndRestore
from framework.training.callbacks.base import Callback as Callback
from framework.training.callbacks.callback_list import CallbackList as CallbackList
from framework.training.callbacks.csv_log import CSVLogger as CSVLogger
from framework.training.callbacks.early_stopping import EarlyStopping as EarlyStopping
from framework.training.callbacks.swap_ema_weights import SwapEMAWeights as SwapEMAWeights
from framework.training.callbacks.model_checkpoint import ModelCheckpoint as ModelCheckpoint
from framework.training.callbacks.lambda_callback import LambdaCallback as LambdaCallback
from framework.training.callbacks.history import History as History
from framework.training.callbacks.learning_rate import (
    LearningRateScheduler as LearningRateScheduler, ReduceLROnPlateau as ReduceLROnPlateau,
)  # fmt: skip
from framework.training.callbacks.tensorboard import TensorBoard as TensorBoard
from framework.training.callbacks.terminate_on_nan import TerminateOnNaN as TerminateOnNaN
from framework.training.callbacks.progbar import ProgbarLogger as ProgbarLogger
