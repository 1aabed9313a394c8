from framework.saving.saved_model.loading import (
    contains_saved_model as contains_saved_model, load as load,
)  # fmt: skip
from framework.saving.saved_model.objects import Asset as Asset
from framework.saving.saved_model.options import (
    ASSETS_DIRECTORY as ASSETS_DIRECTORY,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    LoadOptions as LoadOptions, PREDICT_INPUTS as PREDICT_INPUTS,
    PREDICT_OUTPUTS as PREDICT_OUTPUTS, SERVING as SERVING, SaveOptions as SaveOptions,
    TRAINING as TRAINING,
)  # fmt: skip
from framework.saving.saved_model.saving import save as save
