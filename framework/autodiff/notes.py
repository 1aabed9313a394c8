"""The kinds of notes that a tape keeps beside its edges; `explaining` says what a note is."""

CUT = "an op without derivative met live inputs"
BLOCKED = "a rule gave no cotangent"
READ = "Python read a live value"
LAYER = "a layer was called, or None: a call of a layer ended"
PAUSED = "recording stopped from one serial to another"
RESET = "the record was forgotten"
UNMET = "a walk back found no cotangent for an edge"
WATCHED = "watch was called with a tensor"
MISSED = "a source got no gradient"


def was_missed(tape, source):
    """Whether a `gradient` of the tape found nothing for `source`."""
    serial = source.serial
    return serial is not None and any(
        kind is MISSED and serial in serials for kind, _, _, serials, *_ in tape._notes
    )
