"""The measuring process of predict_latency.py: one row through `mlp_small`, microseconds.

python predict_worker.py framework|keras|torch
"""

import statistics
import sys
import time

import measure
import numpy as np

SECONDS = 0.5


def median(function) -> float:
    """Microseconds a call."""
    for _ in range(5):
        function()
    times, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times) < 10:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def main(library: str) -> None:
    """Build, warm up and measure."""
    x = np.random.default_rng(0).random((1, 784), np.float32)
    if library == "torch":
        import torch
        from torch import nn

        model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
        with torch.inference_mode():
            times = {"call": median(lambda: model(torch.from_numpy(x)).numpy())}
        version = torch.__version__
    else:
        if library == "framework":
            import framework
            from framework import keras

            version = framework.__version__
        else:
            import keras

            version = f"{keras.__version__} on {keras.backend.backend()}"
        layers = keras.layers
        model = keras.Sequential(
            [layers.Input((784,)), layers.Dense(128, activation="relu"), layers.Dense(10)]
        )
        times = {
            "call": median(lambda: np.asarray(model(x, training=False))),
            "predict": median(lambda: model.predict(x, verbose=0)),
        }
    measure.answer({"version": version, **times})


if __name__ == "__main__":
    main(sys.argv[1])
