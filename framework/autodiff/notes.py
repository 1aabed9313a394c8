"""The kinds of notes on a tape; `explaining.py` describes the format of a note."""

CUT = "an op without derivative had live inputs"
BLOCKED = "a rule returned no cotangent"
READ = "Python read a live value"
LAYER = "a layer was called, or (subject None) the call of a layer ended"
PAUSED = "recording stopped from one serial to another"
RESET = "reset() dropped the record"
UNMET = "the backward pass had no cotangent for an edge"
WATCHED = "watch was called with a tensor"
MISSED = "a source got no gradient"


def was_missed(tape, source):
    """Return whether `tape.gradient` gave None for `source`."""
    serial = source.serial
    return serial is not None and any(
        kind is MISSED and serial in serials for kind, _, _, serials, *_ in tape._notes
    )
