"""Models: Model (for subclassing), Functional, Sequential, clone_model."""

from framework.models.cloning import clone_model
from framework.models.functional import Functional
from framework.models.model import Model
from framework.models.sequential import Sequential

__all__ = ["Functional", "Model", "Sequential", "clone_model"]
