"""Translation rules for normalizations and of softmax."""

import numpy as np

from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.operands import promoted


@rule("layer_norm")
def layer_norm(b, x, gamma, beta, *, epsilon):
    return b("LayerNormalization", x, gamma, beta, axis=-len(gamma.shape), epsilon=float(epsilon))


@rule("softmax")
def softmax(b, x, *, axis):
    return b("Softmax", x, axis=axis)


@rule("log_softmax")
def log_softmax(b, x, *, axis):
    return b("LogSoftmax", x, axis=axis)


@rule("softmax_back")
def softmax_back(b, g, p, *, axis):
    g, p = promoted(b, g, p)
    return b("Mul", p, b("Sub", g, _sum(b, b("Mul", g, p), axis)))


@rule("log_softmax_back")
def log_softmax_back(b, g, p, *, axis):
    g, p = promoted(b, g, p)
    return b("Sub", g, b("Mul", b("Exp", p), _sum(b, g, axis)))


def _sum(b, x, axis):
    return b("ReduceSum", x, b.constant(np.array([axis])), keepdims=1)
