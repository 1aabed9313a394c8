"""Weights that sum the frequencies of a spectrogram into bands of the mel scale."""

import numpy as np


def mel(hertz):
    """Return frequencies in mels, by the formula of the HTK toolkit."""
    return 1127 * np.log1p(np.asarray(hertz, np.float64) / 700)


def mel_weights(bands, bins, rate, low, high):
    """Return float64 weights of shape (bins, bands): triangles, each overlapping the next by half.

    Args:
        bands: the number of bands.
        bins: the number of frequencies, from 0 to rate / 2.
        rate: the number of samples per second.
        low, high: the lowest and the highest frequency of the bands.

    >>> mel_weights(1, 5, 8000, 0, 4000).round(2).ravel()
    array([0.  , 0.93, 0.58, 0.25, 0.  ])
    """
    places = mel(np.linspace(0, rate / 2, bins))[:, None]
    edges = np.linspace(mel(low), mel(high), bands + 2)
    rising = (places - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - places) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rising, falling))
    weights[:1] = 0  # The frequency 0 has no weight in any band.
    return weights
