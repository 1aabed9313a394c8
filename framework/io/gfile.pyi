from framework.data.gfile import *
