from framework.datasets import (
    boston_housing as boston_housing, california_housing as california_housing, digits as digits,
    fashion_mnist as fashion_mnist, mnist as mnist,
)  # fmt: skip
