"""Saving and restoring the global random generators, those that do not belong to a model."""

import random as python_random

import numpy as np

from framework.core import random


def random_state():
    """Return the states of the framework's, NumPy's and Python's generators as JSON values."""
    generator = random.global_generator()
    kind, keys, at, has_gauss, gauss = np.random.get_state()  # noqa: NPY002 (users draw from it)
    return {
        "global": [generator._initial_seed, *generator.state.array.tolist()],
        "seeded": [[s, g.state.array.tolist()] for s, g in random.seeded_by().items()],
        "numpy": [kind, keys.tolist(), at, has_gauss, gauss],
        "python": _listed(python_random.getstate()),
    }


def set_random_state(state):
    """Restore the states that `random_state` returned."""
    seed, *now = state["global"]
    generator = random.global_generator()
    generator._initial_seed = seed
    generator.state.assign(np.array(now, np.uint32))
    for own_seed, counter in state["seeded"]:
        random.seeded(own_seed).state.assign(np.array(counter, np.uint32))
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, np.array(keys, np.uint32), *rest))  # noqa: NPY002
    version, keys, gauss = state["python"]
    python_random.setstate((version, tuple(keys), gauss))


def _listed(state):
    version, keys, gauss = state
    return [version, list(keys), gauss]
