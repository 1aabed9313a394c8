"""keras.random: random numbers from the global generator, a SeedGenerator or an int seed."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
