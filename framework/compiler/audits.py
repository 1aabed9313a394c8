"""Audits: some calls of a plan also run the Python body, to check that the plan is still valid.

Guards do not cover everything that Python code depends on. Audits find the rest.
"""

_FIRST = 10  # The first audited call of a plan has this number; the next ones are 20, 40, 80, ...


class _Setting:
    wanted = True


def set_audit(wanted=True):
    """Choose whether plans, the compiled calls of a `tf.function`, are audited.

    An audit also runs the Python body, at calls 10, 20, 40, 80, ... of a plan. If the body does
    something different, the plan is dropped with a warning that names the line, and the call
    returns the result of the body.

    Args:
        wanted: a bool. True by default.

    Example:
        >>> from framework import config
        >>> config.set_audit(False)
        >>> config.get_audit()
        False
        >>> config.set_audit()
    """
    _Setting.wanted = bool(wanted)


def get_audit():
    """Return whether plans (compiled calls) are audited; see `set_audit`."""
    return _Setting.wanted


class Audits:
    """Schedule of a plan's audits; `at` is the number of the next audited call, or None."""

    __slots__ = ("_spacing", "at", "due")

    def __init__(self, never=False):
        self.at, self._spacing, self.due = None if never else _FIRST, _FIRST, False

    def reached(self, call):
        """Return whether the call with this number must be audited."""
        if self.at is None or call < self.at:
            return False
        if not _Setting.wanted:
            self.done(call)
            return False
        self.due = True
        return True

    def done(self, call):
        """Schedule the next audit after the one in this call."""
        self.at, self._spacing, self.due = call + self._spacing, 2 * self._spacing, False

    def postpone(self, call):
        """Postpone the due audit: a guard failed, so this call did not use the plan."""
        self.at, self.due = call + self._spacing, False
