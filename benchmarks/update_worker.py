"""The measuring process of update.py: `update_worker.py WAY MODEL OPTIMIZER SECONDS`.

Answers with the median CPU time of an update.
"""

import statistics
import sys
import time
from collections.abc import Callable

import measure
import numpy as np

BLOCK = [(128,), (128,), (128, 384), (384,), (128, 128), (128,)]
BLOCK += [(128,), (128,), (128, 512), (512,), (512, 128), (128,)]
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "mlp_small": [(784, 128), (128,), (128, 10), (10,)],
    "transformer": [(32, 128), (64, 128), *BLOCK, *BLOCK, (128,), (128,), (128, 10), (10,)],
    "cnn": [(3, 3, 1, 32), (32,), (3, 3, 32, 64), (64,), (9216, 128), (128,), (128, 10), (10,)],
    "mlp_wide": [(1024, 4096), (4096,), (4096, 4096), (4096,), (4096, 1000), (1000,)],
}
WARM_UP = 3
FEWEST = 10  # calls


def arrays(model: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Parameters and gradients."""
    rng = np.random.default_rng(0)
    made = [[rng.standard_normal(s, np.float32) for s in SHAPES[model]] for _ in range(2)]
    return made[0], made[1]


def ours(model: str, name: str, loops: bool) -> tuple[Callable[[], object], str]:
    """One update by an optimizer of ours, and the version."""
    import framework as tf
    from framework import keras

    values, slopes = arrays(model)
    optimizer = getattr(keras.optimizers, name)(1e-3)
    optimizer.use_loops(loops)
    variables = [keras.Variable(value) for value in values]
    pairs = list(zip(map(tf.constant, slopes), variables, strict=True))
    return lambda: optimizer.apply_gradients(pairs), tf.__version__


def torchs(model: str, way: str) -> tuple[Callable[[], object], str]:
    """One update by PyTorch's Adam, and the version."""
    import torch

    torch.set_num_threads(1)
    values, slopes = arrays(model)
    parameters = [torch.nn.Parameter(torch.from_numpy(value)) for value in values]
    for parameter, slope in zip(parameters, slopes, strict=True):
        parameter.grad = torch.from_numpy(slope)
    fused, foreach = way == "torch fused", way == "torch foreach"
    optimizer = torch.optim.Adam(parameters, 1e-3, fused=fused, foreach=foreach)
    return optimizer.step, torch.__version__


def main() -> None:
    """Prepare, warm up, measure, answer."""
    way, model, name, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    call, version = torchs(model, way) if "torch" in way else ours(model, name, way == "loops")
    for _ in range(WARM_UP):
        call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < FEWEST:
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    measure.answer({"median": statistics.median(times), "version": version})


if __name__ == "__main__":
    main()
