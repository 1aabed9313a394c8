"""Derivatives: the tape and what is built on it."""

from framework.autodiff.tape import GradientTape

__all__ = ["GradientTape"]
