"""The matrices of Winograd's F(2 × 2, 3 × 3) and F(4 × 4, 3 × 3).

Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016 (arXiv:1509.09308): for
a patch X of side m + 2, the m × m outputs of a 3 × 3 window W are A [(G W Gᵀ) ⊙ (B X Bᵀ)] Aᵀ.
"""

import math

B2 = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
G2 = ((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1))
A2 = ((1, 1, 1, 0), (0, 1, -1, -1))


def _toom_cook(*points):
    """Return (B, G, A) of F(m × m, 3 × 3) for m + 1 interpolation points and infinity."""
    n, size = len(points), len(points) - 1
    b, g, a = [], [], [[] for _ in range(size)]
    for i, point in enumerate(points):
        others = points[:i] + points[i + 1 :]
        b.append((*_with_roots(others), 0.0))
        scale = math.prod(point - other for other in others)
        g.append(tuple(point**k / scale for k in range(3)))
        for k in range(size):
            a[k].append(point**k)
    b.append(_with_roots(points))
    g.append((0.0, 0.0, 1.0))
    for k in range(size):
        a[k].append(float(k == n - 2))
    return tuple(b), tuple(g), tuple(map(tuple, a))


def _with_roots(roots):
    """Return the coefficients of the polynomial with these roots, the constant term first."""
    p = [1.0]
    for root in roots:
        p = [low - root * high for low, high in zip([0.0, *p], [*p, 0.0], strict=True)]
    return tuple(0.0 if abs(c) < 1e-12 else c for c in p)


# The interpolation points are 0, ±c and ±1/c, see Alam et al., Winograd Convolution for Deep Neural
# Networks: Efficient Point Selection, 2022. With the points 0, ±1, ±2 the largest error of F(4 × 4)
# is five times as large.
B4, G4, A4 = _toom_cook(0.0, 2**-0.5, -(2**-0.5), 2**0.5, -(2**0.5))
