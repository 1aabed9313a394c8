from framework.datasets import *
