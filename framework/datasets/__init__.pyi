from framework.datasets import (
    alice as alice, boston_housing as boston_housing, breast_cancer as breast_cancer,
    california_housing as california_housing, cifar10 as cifar10, cifar100 as cifar100,
    diabetes as diabetes, digits as digits, fashion_mnist as fashion_mnist, imdb as imdb,
    mnist as mnist, passengers as passengers, reuters as reuters, wine as wine,
)  # fmt: skip
