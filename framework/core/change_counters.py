"""Counters of changed settings; a compiled plan is valid while they stay the same."""

from framework.core.recorders import thread


class Changes:
    """Process-wide counters; compiled plans recheck their guards when a counter has changed."""

    __slots__ = ("configured", "latest", "trainable")

    def __init__(self):
        # number of changes to settings of layers, losses, optimizers and similar objects
        self.configured = 0
        self.latest = "a setting"  # the name of the setting that changed last
        self.trainable = 0  # number of changes to `trainable` of layers and variables

    def note(self, owner, name, old, new):
        """Count the change of a setting from `old` to `new`.

        Attributes that a layer's call or a training step sets while it runs are not counted.
        """
        if old is new or thread.call is not None or thread.working:
            return
        if type(old) is type(new) and type(old) in _COMPARED and old == new:
            return
        self.configured += 1
        self.latest = f"{type(owner).__name__}.{name}"


_COMPARED = frozenset((bool, int, float, str))
changes = Changes()
