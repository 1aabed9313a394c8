"""What tensors hold, as plain Python, for comparing nests of them."""

from framework.core import nest


def values(structure):
    """Tensors and variables in a nest as numbers and lists; None stays None."""
    return nest.map_structure(
        lambda leaf: None if leaf is None else leaf.numpy().tolist(), structure
    )
