"""Audits: at some calls of a plan the Python body runs too, to see whether it still does the same.

A trace cannot see everything that Python code depends on. An audit finds what it missed.
"""

_FIRST = 10  # the call of a plan that is audited first; then 20, 40, 80, ...


class _Setting:
    wanted = True


def set_audit(wanted=True):
    """Choose whether plans are audited.

    At calls 10, 20, 40, 80, ... of a plan the Python body runs too. Where it did something else
    than the plan would have done, the plan ends with a warning that names the line, and the call
    returns what the body returned.

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
    """Whether plans are audited; see `set_audit`."""
    return _Setting.wanted


class Audits:
    """When a plan is audited: the number of the next such call, None for never."""

    __slots__ = ("_spacing", "at", "due")

    def __init__(self, never=False):
        self.at, self._spacing, self.due = None if never else _FIRST, _FIRST, False

    def reached(self, call):
        """Whether the call of this number is to be audited."""
        if self.at is None or call < self.at:
            return False
        if not _Setting.wanted:
            self.done(call)
            return False
        self.due = True
        return True

    def done(self, call):
        """Plan the next audit after one in this call."""
        self.at, self._spacing, self.due = call + self._spacing, 2 * self._spacing, False

    def postpone(self, call):
        """Plan the audit anew: this call took another way through the code."""
        self.at, self.due = call + self._spacing, False
