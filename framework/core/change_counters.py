"""What compiled plans take for granted about models and optimizers, counted as it changes."""

from framework.core.recorders import thread


class Changes:
    """Counters for the whole process: a plan made under other counts is looked at again."""

    __slots__ = ("configured", "latest", "trainable")

    def __init__(self):
        self.configured = 0  # a setting: of a layer, a loss, an optimizer in use, ...
        self.latest = "a setting"  # which of them was the last
        self.trainable = 0  # `trainable` of a layer or a variable

    def note(self, owner, name, old, new):
        """Count that an attribute is another now.

        What a layer's call or a training step sets as it works is its own affair: no setting.
        """
        if old is new or thread.call is not None or thread.working:
            return
        if type(old) is type(new) and type(old) in _COMPARED and old == new:
            return
        self.configured += 1
        self.latest = f"{type(owner).__name__}.{name}"


_COMPARED = frozenset((bool, int, float, str))
changes = Changes()
