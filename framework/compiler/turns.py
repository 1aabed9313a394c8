"""Turns: plans that change the same variables, or draw from the same generators, run one at a time.

A turn is a list with one entry, which whoever runs has taken out: a tenth of the time that a lock
takes. Nobody takes a second turn while waiting for a first, so nobody waits for ever.
"""

import sys
import threading
import time
import weakref


class Turn:
    """What those who change a variable take the entry of `free` from."""

    __slots__ = ("__weakref__", "free")

    def __init__(self):
        self.free = [True]

    @property
    def each(self):
        """The lists that it is."""
        return [self.free]


class Turns:
    """Several turns, taken together; of none, at once.

    Args:
        each: their lists.
        turns: what lives as long as this.
    """

    def __init__(self, each, turns=()):
        self.each, self._turns = each, turns
        self.free = self

    def pop(self):
        """Take them; IndexError where one is taken."""
        taken = []
        try:
            for free in self.each:
                free.pop()
                taken.append(free)
        except BaseException:
            for free in taken:
                free.append(True)
            raise
        return True

    def append(self, entry):
        """Give them back."""
        for free in self.each:
            free.append(entry)


_turns = weakref.WeakValueDictionary()  # serial of a variable -> its turn, as long as plans have it
_all = weakref.WeakSet()
_choosing = threading.RLock()
_tracing = Turn()  # of runs that are traced: what they will change is not known before
_LONGEST = 60.0  # seconds that a traced run waits for others


class _Held(threading.local):
    def __init__(self):
        self.turns = []  # those that traced runs of this thread have taken, outermost first


_held = _Held()


class exclusive:
    """Context of a traced run: no plan that changes variables, and no other traced run, beside it.

    A run that waits for another thread's run would wait for ever; after a minute it goes on without
    the turns.

    Args:
        outer: the turns of the plans within which this thread runs.
    """

    def __init__(self, outer=()):
        self._outer = outer

    def __enter__(self):
        outer = [*_held.turns, *self._outer]
        while True:
            everyone = self._everyone()
            lists = list({id(each): each for turn in everyone for each in turn.each}.values())
            self._taken = taken(Turns(lists, everyone), outer, _LONGEST)
            if self._taken is None:
                return self
            if len(self._everyone()) == len(everyone):  # no plan was made meanwhile
                _held.turns.append(self._taken)
                return self
            self._taken.append(True)

    @staticmethod
    def _everyone():
        with _choosing:
            return [_tracing, *_all]

    def __exit__(self, *_):
        if self._taken is not None:
            _held.turns.pop()
            self._taken.append(True)


def held():
    """The turns that traced runs of this thread hold."""
    return list(_held.turns)


def turn_of(variables):
    """The turn of a plan that changes these; None where it changes nothing.

    Most plans need one: variables that no plan has changed yet go with the others.
    """
    if not variables:
        return None
    with _choosing:
        found = {id(t): t for v in variables if (t := _turns.get(v.serial)) is not None}
        turns = list(found.values()) or [Turn()]
        _all.update(turns)
        for variable in variables:
            _turns.setdefault(variable.serial, turns[0])
    return turns[0] if len(turns) == 1 else Turns([turn.free for turn in turns], turns)


def taken(turn, outer, longest=None):
    """Wait for a turn and take it; what is to be given back.

    Args:
        outer: the turns that this thread has already, within which it runs.
        longest: seconds after which it gives None; None waits for ever.
    """
    had = {id(each) for other in outer for each in other.each}
    wanted = Turns([each for each in turn.each if id(each) not in had])
    since = None if longest is None else time.monotonic()
    while not _takes(wanted):
        time.sleep(1e-5)
        if since is not None and time.monotonic() - since > longest:
            return None
    return wanted


def _takes(turn):
    try:
        turn.pop()
    except IndexError:
        return False
    return True


def callers(code):
    """The locals of the frames of this thread that run `code`, from the innermost on."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        if frame.f_code is code:
            found.append(frame.f_locals)
        frame = frame.f_back
    return found
