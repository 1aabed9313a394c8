from framework.models.cloning import clone_model as clone_model
from framework.models.model import Model as Model
from framework.models.sequential import Sequential as Sequential
