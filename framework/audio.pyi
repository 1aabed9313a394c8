from framework.functions.audio import *
