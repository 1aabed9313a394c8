from framework.experimental import numpy as numpy
