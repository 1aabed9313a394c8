"""Samples and references of convolution and pooling; the references go cell by cell."""

import itertools

import numpy as np

from tests.samples.ops.arguments import call, fixed_size, real


def _window(strides=None, padding=None, dilations=None, n=2):
    return {
        "strides": strides or (1,) * n, "padding": padding or ((0, 0),) * n,
        "dilations": dilations or (1,) * n,
    }  # fmt: skip


_PLAIN = _window(), _window((2, 1), ((1, 0), (0, 1))), _window((1, 2), None, (2, 1))
_BEYOND = _window((1, 2), ((0, 3), (2, 0)))  # places that see padding only
_SAME = _window((2, 2), "SAME")
_ODD = _window((2,), "SAME", (2,), n=1)
_3D = _window((1, 2, 1), "SAME", n=3)

CONV = [
    *(call(real(2, 5, 4, 2), real(3, 2, 2, 3), **w, groups=1, any_batch=(0,)) for w in _PLAIN),
    call(real(2, 4, 5, 2), real(3, 2, 2, 3), **_SAME, groups=1, any_batch=(0,)),
    call(real(2, 4, 5, 2), real(3, 2, 2, 3), **_BEYOND, groups=1, any_batch=(0,)),
    call(real(1, 4, 4, 4), real(2, 2, 2, 6), **_window(), groups=2, any_batch=(0,)),
    call(real(2, 4, 5, 3), real(2, 3, 1, 6), **_SAME, groups=3, any_batch=(0,)),
    call(real(2, 7, 3), real(3, 3, 2), **_ODD, groups=1, any_batch=(0,)),
    call(real(1, 3, 4, 3, 2), real(2, 3, 2, 2, 2), **_3D, groups=1, any_batch=(0,)),
    call(real(2, 3, 3, 2), real(1, 1, 2, 4), **_window(), groups=1, any_batch=(0,)),
    call(real(0, 4, 4, 2), real(2, 2, 2, 3), **_window(), groups=1, any_batch=(0,)),
    call(real(2, 1, 4, 2), real(2, 2, 2, 3), **_window(), groups=1, any_batch=(0,)),
]


def _numbers(x_sizes, size, strides, padding, dilations):
    """Places along each axis and the padding before, from the definition of SAME and of VALID."""
    places, before = [], []
    for i, (n, k) in enumerate(zip(x_sizes, size, strict=True)):
        reach = dilations[i] * (k - 1) + 1
        if padding == "SAME":
            places.append(int(np.ceil(n / strides[i])))
            before.append(max((places[-1] - 1) * strides[i] + reach - n, 0) // 2)
        else:
            room = n + sum(padding[i]) - reach
            places.append(room // strides[i] + 1 if room >= 0 else 0)
            before.append(padding[i][0])
    return places, before


def _visits(x_sizes, size, strides, padding, dilations):
    """(place, cell, position in x) of every cell that lies on the input."""
    places, before = _numbers(x_sizes, size, strides, padding, dilations)
    for place in itertools.product(*map(range, places)):
        for cell in itertools.product(*map(range, size)):
            at = tuple(
                p * s + c * d - b
                for p, s, c, d, b in zip(place, strides, cell, dilations, before, strict=True)
            )
            if all(0 <= a < n for a, n in zip(at, x_sizes, strict=True)):
                yield place, cell, at


def _triples(sizes, size, inner, filters, groups, window):
    """Every product of one input with one weight: indices without the batch, in x, w and y."""
    for place, cell, at in _visits(sizes, size, **window):
        for f, c in itertools.product(range(filters), range(inner)):
            channel = f // (filters // groups) * inner + c
            yield (*at, channel), (*cell, c, f), (*place, f)


def _conv(x, w, *, groups, **window):
    places, _ = _numbers(x.shape[1:-1], w.shape[:-2], **window)
    y = np.zeros((len(x), *places, w.shape[-1]))
    for i, j, k in _triples(x.shape[1:-1], w.shape[:-2], *w.shape[-2:], groups, window):
        y[(slice(None), *k)] += x[(slice(None), *i)] * w[j]
    return y


def _conv_input(g, w, *, sizes, groups, **window):
    x = np.zeros((len(g), *sizes, w.shape[-2] * groups))
    for i, j, k in _triples(sizes, w.shape[:-2], *w.shape[-2:], groups, window):
        x[(slice(None), *i)] += g[(slice(None), *k)] * w[j]
    return x


def _conv_kernel(x, g, *, size, groups, **window):
    w = np.zeros((*size, x.shape[-1] // groups, g.shape[-1]))
    for i, j, k in _triples(x.shape[1:-1], size, *w.shape[-2:], groups, window):
        w[j] += np.sum(x[(slice(None), *i)] * g[(slice(None), *k)])
    return w


def _pooled(x, size, window, function):
    """`function` of the list of cells, each (batch, channels), and of their flat positions."""
    spatial = x.shape[1:-1]
    places, _ = _numbers(spatial, size, **window)
    y = np.zeros((len(x), *places, x.shape[-1]))
    seen = {}
    for place, _, at in _visits(spatial, size, **window):
        seen.setdefault(place, []).append(at)
    for place, positions in seen.items():
        cells = np.stack([x[(slice(None), *at)] for at in positions])
        flat = np.array([np.ravel_multi_index(at, spatial) for at in positions])
        y[(slice(None), *place)] = function(cells, flat)
    return y


def _max_index(x, size, **window):
    found = _pooled(x, size, window, lambda cells, flat: flat[np.argmax(cells, 0)])
    return found.reshape(len(x), int(np.prod(found.shape[1:-1])), x.shape[-1]).astype(int)


def _max_cell(x, size, **window):
    """The cell by its number in the window, from the visits of each place."""
    places, _ = _numbers(x.shape[1:-1], size, **window)
    chosen = np.zeros((len(x), *places, x.shape[-1]), np.uint8)
    best = np.full(chosen.shape, -np.inf)
    for place, cell, at in _visits(x.shape[1:-1], size, **window):
        here, there = (slice(None), *at), (slice(None), *place)
        better = x[here] > best[there]
        best[there] = np.where(better, x[here], best[there])
        chosen[there] = np.where(better, np.ravel_multi_index(cell, size), chosen[there])
    return chosen


def _cell_take(x, chosen, size, **window):
    y = np.zeros(chosen.shape)
    for place, cell, at in _visits(x.shape[1:-1], size, **window):
        there = (slice(None), *place)
        is_it = chosen[there] == np.ravel_multi_index(cell, size)
        y[there] += is_it * x[(slice(None), *at)]
    return y


def _cell_put(g, chosen, sizes, size, **window):
    x = np.zeros((len(g), *sizes, g.shape[-1]))
    for place, cell, at in _visits(sizes, size, **window):
        there = (slice(None), *place)
        is_it = chosen[there] == np.ravel_multi_index(cell, size)
        x[(slice(None), *at)] += is_it * g[there]
    return x


def _window_spread(g, sizes, size, **window):
    x = np.zeros((len(g), *sizes, g.shape[-1]))
    for place, _, at in _visits(sizes, size, **window):
        x[(slice(None), *at)] += g[(slice(None), *place)]
    return x


def _of_conv(make):
    """The samples of the two derivatives: the same windows, with a cotangent of y's shape."""
    found = []
    for s in CONV:
        x, w = s.args
        found.append(make(x, w, real(*_conv(x, w, **s.attrs).shape), s.attrs))
    return found


POOL = [
    *(call(real(2, 5, 4, 3), size=(3, 2), **w) for w in _PLAIN),
    call(real(2, 5, 4, 3), size=(3, 2), **_SAME), call(real(2, 7, 2), size=(3,), **_ODD),
    call(real(1, 3, 4, 3, 2), size=(2, 3, 2), **_3D), call(real(0, 4, 4, 2), size=(2, 2), **_SAME),
]  # fmt: skip


def _conv_bias(x, w, b, relu, **window):
    y = _conv(x, w, **window) + b
    return np.maximum(y, 0) if relu else y


def _conv_bias_back(g, x, w, y, relu, needed, **window):
    g = g * (y > 0) if relu else g
    found = (
        _conv_input(g, w, sizes=x.shape[1:-1], **window),
        _conv_kernel(x, g, size=w.shape[:-2], **window), g.reshape(-1, g.shape[-1]).sum(0),
    )  # fmt: skip
    return tuple(v for v, wanted in zip(found, needed, strict=True) if wanted)


_BIASED = [
    call(*s.args, real(s.args[1].shape[-1]), **s.attrs, relu=relu, any_batch=(0,))
    for s in CONV for relu in (False, True)
]  # fmt: skip

SAMPLES = {
    "conv": CONV,
    "conv_bias": _BIASED,
    "conv_bias_back": [
        call(real(*y.shape), x, w, y, **s.attrs, needed=needed, any_batch=False)
        for s in _BIASED
        for needed in ((True, True, True), (False, True, True), (True, False, True))
        for x, w, b in [s.args] for y in [_conv_bias(x, w, b, **s.attrs)]
    ],
    "conv_input": _of_conv(
        lambda x, w, g, attrs: call(g, w, sizes=x.shape[1:-1], **attrs, any_batch=(0,))
    ),
    "conv_kernel": _of_conv(
        lambda x, w, g, attrs: call(x, g, size=w.shape[:-2], **attrs)
    ),
    "max_pool": POOL, "max_index": POOL, "max_cell": POOL, "window_sum": POOL,
    "cell_take": [call(s.args[0], _max_cell(*s.args, **s.attrs), **s.attrs) for s in POOL],
    "cell_put": [
        call(real(*chosen.shape), chosen, sizes=s.args[0].shape[1:-1], **s.attrs)
        for s in POOL for chosen in [_max_cell(*s.args, **s.attrs)]
    ],
    "window_count": [s for s in POOL if len(s.args[0])] + [fixed_size(
        real(1, 4, 0, 1), size=(1, 1), **_window())],
    "window_spread": [
        call(real(len(s.args[0]), *_numbers(s.args[0].shape[1:-1], **s.attrs)[0], 2),
            sizes=s.args[0].shape[1:-1], **s.attrs)
        for s in POOL
    ],
}  # fmt: skip

REFERENCES = {
    "conv": _conv, "conv_bias": _conv_bias, "conv_bias_back": _conv_bias_back,
    "conv_input": _conv_input, "conv_kernel": _conv_kernel,
    "cell_take": _cell_take, "cell_put": _cell_put, "max_cell": _max_cell, "max_index": _max_index,
    "max_pool": lambda x, size, **window: _pooled(x, size, window, lambda c, _: c.max(0)),
    "window_count": lambda x, size, **window: _pooled(
        np.ones((1, *x.shape[1:-1], 1)), size, window, lambda c, _: len(c)
    ),
    "window_spread": _window_spread,
    "window_sum": lambda x, size, **window: _pooled(x, size, window, lambda c, _: c.sum(0)),
}  # fmt: skip
