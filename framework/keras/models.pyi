from framework.models.cloning import clone_model as clone_model
from framework.models.model import Model as Model
from framework.models.sequential import Sequential as Sequential
from framework.saving.model_file import (
    load_model as load_model, model_from_json as model_from_json, save_model as save_model,
)  # fmt: skip
