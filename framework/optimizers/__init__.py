"""Optimizers: fields and one pure `update` each; the base owns slots, clipping and decay."""

from framework.optimizers.adaptive import Adam
from framework.optimizers.base import Optimizer, deserialize, get, optimizers, serialize
from framework.optimizers.sgd import SGD

__all__ = ["SGD", "Adam", "Optimizer", "deserialize", "get", "optimizers", "serialize"]
