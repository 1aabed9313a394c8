from framework.datasets import digits as digits, mnist as mnist
