"""Samples of layers of signals."""

import numpy as np

RNG = np.random.default_rng(21)


def signals(*shape):
    return RNG.normal(size=shape)


BUILT_BY_CALL = {"MelSpectrogram", "STFTSpectrogram"}
STOPS_MASKS = {"STFTSpectrogram", "MelSpectrogram"}
SAMPLES = {
    "STFTSpectrogram": [
        ({"frame_length": 4}, signals(2, 9, 1)),
        ({"frame_length": 4, "frame_step": 3, "mode": "psd", "padding": "same"}, signals(2, 8, 2)),
        (
            {"frame_length": 3, "mode": "stft", "data_format": "channels_first", "window": None},
            signals(2, 2, 7),
        ),
        ({"frame_length": 4, "mode": "real", "expand_dims": True}, signals(2, 6, 2)),
        ({"frame_length": 4, "mode": "imag", "scaling": "spectrum"}, signals(2, 6, 1)),
    ],
    "MelSpectrogram": [
        ({"fft_length": 8, "sequence_stride": 4, "num_mel_bins": 2, "min_freq": 0.0},
         signals(2, 20)),
        ({"fft_length": 8, "sequence_length": 6, "sequence_stride": 3, "num_mel_bins": 2,
          "power_to_db": False, "mag_exp": 1.0, "window": "hamming"}, signals(2, 2, 11)),
    ],
}  # fmt: skip
