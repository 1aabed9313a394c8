"""keras.random: draws from the global generator or a SeedGenerator; with an int always the same."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
