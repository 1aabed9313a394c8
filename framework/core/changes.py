"""What compiled plans take for granted about models and optimizers, counted as it changes."""


class Changes:
    """Counters for the whole process: a plan made under other counts is looked at again."""

    __slots__ = ("configured", "trainable")

    def __init__(self):
        self.configured = 0  # a field of a built layer, of an optimizer in use, or a new sublayer
        self.trainable = 0  # `trainable` of a layer or a variable


changes = Changes()
