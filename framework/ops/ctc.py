"""Connectionist temporal classification: a loss for label sequences without a known alignment.

The states of n labels are the labels and the n + 1 blanks before, between and after them. At each
step a path stays in its state, moves to the next one, or skips the blank between two different
labels. The loss is minus the logarithm of the sum of all paths' probabilities. Graves et al. 2006,
"Connectionist Temporal Classification", section 4.1.
"""

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, first_order_only
from framework.core.shape_checks import expect
from framework.kernels import choose
from framework.ops.elementwise import less, minimum, negative, select
from framework.ops.losses import class_indices, shape_of
from framework.ops.movement import expand_axes, getitem, stack, take_along_axis
from framework.ops.reduction import cumsum, reduce_logsumexp, shifted
from framework.ops.rows import log_softmax

# The log-probability of an impossible path is finite, as in Keras: labels that need more steps than
# the input has give a large, finite loss, which has a gradient.
_IMPOSSIBLE = -1e5


def _states(labels, blank):
    """Return each state's class, and the log-weight of entering the state by skipping a blank."""
    batch, count = labels.shape
    classes = np.full((batch, 2 * count + 1), blank, np.int64)
    classes[:, 1::2] = labels
    skip = np.full(classes.shape, -np.inf)
    skip[:, 3::2] = np.where(labels[:, 1:] == labels[:, :-1], _IMPOSSIBLE, 0.0)
    return classes, skip


def _before(alpha, skip):
    """Return log-probabilities of the three transitions into each state of alpha's last axis."""
    one, two = np.full((2, *alpha.shape), -np.inf)
    one[..., 1:], two[..., 2:] = alpha[..., :-1], alpha[..., :-2]
    return np.stack([alpha, one, two + skip])


def _top(paths):
    """Return the largest log-probability of the three transitions, or 0 where it is infinite."""
    top = paths.max(0)
    return choose.masked(top, np.isfinite(top))


def _start(classes):
    alpha = np.full(classes.shape, _IMPOSSIBLE)
    alpha[:, 0] = 0.0
    return alpha


@no_warnings
def _ctc_loss(log_probs, labels, label_length, length, *, blank):
    classes, skip = _states(labels, blank)
    emitted = np.take_along_axis(log_probs, classes[:, None], 2).transpose(1, 0, 2)
    alphas = np.empty((len(emitted) + 1, *classes.shape))
    alphas[0] = _start(classes)
    for t, of_step in enumerate(emitted):
        paths = _before(alphas[t], skip)
        top = _top(paths)
        total = top + np.log(np.exp(paths - top).sum(0)) + of_step
        alphas[t + 1] = np.where((t < length)[:, None], total, alphas[t])
    ends = np.take_along_axis(alphas[-1], _ends(label_length), 1)
    ends[label_length == 0, 1] = -np.inf
    return -np.logaddexp(ends[:, 0], ends[:, 1]).astype(log_probs.dtype), (alphas,)


def _ends(label_length):
    """Return the indices of the two states in which a path can end: the last blank and label."""
    return np.stack([2 * label_length, np.maximum(2 * label_length - 1, 0)], axis=1)


@no_warnings
def _ctc_back(g, log_probs, labels, label_length, length, alphas, *, blank):
    """Return the cotangent of `log_probs`, computed from the last step to the first."""
    classes, skip = _states(labels, blank)
    steps, rows = len(alphas) - 1, np.arange(len(classes))
    # `shares` are the fractions of a state's probability that its three incoming transitions
    # contribute.
    paths = _before(alphas[:-1], skip)
    shares = np.exp(paths - _top(paths))
    shares /= shares.sum(0)
    ends = np.take_along_axis(alphas[-1], _ends(label_length), 1)
    ends[label_length == 0, 1] = -np.inf
    parts = np.exp(ends - np.logaddexp(ends[:, :1], ends[:, 1:])) * -g[:, None]
    back = np.zeros(classes.shape)
    for end, part in zip(_ends(label_length).T, parts.T, strict=True):
        back[rows, end] += part
    of_states = np.zeros((steps, *classes.shape))
    for t in reversed(range(steps)):
        running = (t < length)[:, None]
        of_states[t] = np.where(running, back, 0.0)
        stay, one, two = shares[:, t] * back
        stay[:, :-1] += one[:, 1:]
        stay[:, :-2] += two[:, 2:]
        back = np.where(running, stay, back)
    of_states = of_states.transpose(1, 0, 2)
    cotangent = np.zeros(log_probs.shape)
    cotangent[:, :, blank] = of_states[:, :, ::2].sum(2)
    times = np.arange(steps)
    # Several states can have the same class; the class gets the sum of their cotangents.
    for state in range(1, classes.shape[1], 2):
        cotangent[rows[:, None], times, classes[:, state, None]] += of_states[:, :, state]
    return cotangent.astype(log_probs.dtype)


ctc_back = Op("ctc_back", _ctc_back, backward=first_order_only, fresh=True, raises=True,
              infer=lambda g, log_probs, *_, **__: (log_probs.shape, log_probs.dtype))  # fmt: skip


def _rule(g, log_probs, labels, label_length, length, saved, blank):
    back = ctc_back(g, log_probs, labels, label_length, length, *saved, blank=blank)
    return back, None, None, None


def _composite(log_probs, labels, label_length, length, *, blank):
    labels, label_length, length = (getattr(x, "array", x) for x in (labels, label_length, length))
    classes, skip = _states(labels, blank)
    alpha = _start(classes).astype(log_probs.dtype.np)
    skip = skip.astype(alpha.dtype)
    steps = log_probs.shape[1]
    index = np.broadcast_to(classes[:, None], (len(classes), steps, classes.shape[1]))
    emitted = take_along_axis(log_probs, index, axis=2)
    for t in range(steps):
        one = shifted(alpha, axis=1, fill=-np.inf)
        paths = stack(alpha, one, shifted(one, axis=1, fill=-np.inf) + skip, axis=0)
        total = reduce_logsumexp(paths, axis=(0,), keepdims=False)
        total = total + getitem(emitted, index=(slice(None), t))
        alpha = select((t < length)[:, None], total, alpha)
    ends = take_along_axis(alpha, _ends(label_length), axis=1)
    possible = np.stack([label_length >= 0, label_length > 0], axis=1)
    ends = select(possible, ends, -np.inf)
    return negative(reduce_logsumexp(ends, axis=(1,), keepdims=False))


def _check(log_probs, labels, label_length, length):
    batch, steps, classes = (*log_probs.shape, None, None, None)[:3]
    what = "(batch, steps, classes)"
    expect("ctc_loss", "output", log_probs.shape, (batch, steps, classes), what)
    expect("ctc_loss", "target", labels.shape, (batch, None), "(batch, labels)")
    expect("ctc_loss", "target_length", label_length.shape, (batch,), "(batch,)")
    expect("ctc_loss", "output_length", length.shape, (batch,), "(batch,)")


ctc_loss = Op(
    "ctc_loss", _ctc_loss, backward=_rule, composite=_composite, saves=True, fresh=True,
    infer=lambda log_probs, *_, **__: (log_probs.shape[:1], log_probs.dtype), check=_check,
    raises=True,
)  # fmt: skip


def of_logits(logits, labels, label_length, length, blank):
    """Return the loss of each sequence.

    Args:
        logits: (batch, steps, classes).
        labels: integers of shape (batch, labels); those after `label_length` are ignored.
        label_length, length: the numbers of labels and of steps that count, integers (batch,).
        blank: the class of the blank.
    """
    label_length = minimum(label_length, shape_of(labels)[1])
    position = cumsum(labels * 0 + 1, axis=1, reverse=False)
    counts = less(position, expand_axes(label_length, (1,)) + 1)
    labels = class_indices(select(counts, labels, blank), classes=shape_of(logits)[2])
    return ctc_loss(
        log_softmax(logits, axis=2), labels, label_length, length, blank=blank
    )  # fmt: skip
