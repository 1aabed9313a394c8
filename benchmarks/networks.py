"""The networks of applications.py as functions of a builder: ResNet50, MobileNetV2, ...

A builder has one method for each kind of layer, called with an input and the layer's name in Keras.
`Weights` here computes shapes and makes initial weights; `peers/torch_networks.py` builds PyTorch's
modules from the same functions. For us and for Keras the networks are those of keras.applications.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from workloads import BATCHES, Problem, Workload

SIZE, BATCH, CLASSES = 96, 16, 1000
SAME_STRIDED = (0, 1, 0, 1)  # TensorFlow's "same" padding of 3 x 3 windows, stride 2, even sizes


# ---- the networks --------------------------------------------------------------------------------


def resnet50(net, x):
    """Bottleneck blocks with residual connections."""
    epsilon = 1.001e-5

    def norm(x, name):
        return net.norm(x, name, epsilon)

    x = net.conv(x, "conv1_conv", 64, 7, 2, pad=(3, 3, 3, 3), bias=True)
    x = net.relu(norm(x, "conv1_bn"))
    x = net.max_pool(x)
    for i, (filters, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for j in range(count):
            name, shortcut = f"conv{i + 2}_block{j + 1}", x
            stride = 2 if i and not j else 1
            if not j:
                shortcut = net.conv(x, f"{name}_0_conv", 4 * filters, 1, stride, bias=True)
                shortcut = norm(shortcut, f"{name}_0_bn")
            x = net.conv(x, f"{name}_1_conv", filters, 1, stride, bias=True)
            x = net.relu(norm(x, f"{name}_1_bn"))
            x = net.conv(x, f"{name}_2_conv", filters, 3, pad=(1, 1, 1, 1), bias=True)
            x = net.relu(norm(x, f"{name}_2_bn"))
            x = norm(net.conv(x, f"{name}_3_conv", 4 * filters, bias=True), f"{name}_3_bn")
            x = net.relu(net.add(x, shortcut))
    return net.dense(net.mean(x), "predictions", CLASSES)


def mobilenet_v2(net, x):
    """Inverted residual blocks with depthwise 3 x 3 convolutions."""

    def norm(x, name, momentum=0.999):
        return net.norm(x, name, 1e-3, momentum)

    x = net.relu6(norm(net.conv(x, "Conv1", 32, 3, 2, pad=SAME_STRIDED), "bn_Conv1"))
    stages = (16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)
    block = 0
    for filters, count, strides in stages:
        for i in range(count):
            name = f"block_{block}" if block else "expanded_conv"
            stride, channels, shortcut = 1 if i else strides, net.channels(x), x
            if block:
                x = net.conv(x, f"{name}_expand", 6 * channels)
                x = net.relu6(norm(x, f"{name}_expand_BN"))
            pad = SAME_STRIDED if stride == 2 else (1, 1, 1, 1)
            x = net.depthwise(x, f"{name}_depthwise", 3, stride, pad)
            x = net.relu6(norm(x, f"{name}_depthwise_BN"))
            x = norm(net.conv(x, f"{name}_project", filters), f"{name}_project_BN")
            if stride == 1 and channels == filters:
                x = net.add(x, shortcut)
            block += 1
    x = net.relu6(norm(net.conv(x, "Conv_1", 1280), "Conv_1_bn"))
    return net.dense(net.mean(x), "predictions", CLASSES)


def efficientnet_b0(net, x):
    """Inverted residual blocks with squeeze and excite, SiLU, 3 x 3 and 5 x 5 windows."""

    def norm_silu(x, name):
        return net.silu(net.norm(x, f"{name}bn", 1e-3))

    x = net.affine(x, 0.0, 255.0)
    x = norm_silu(net.conv(x, "stem_conv", 32, 3, 2, pad=SAME_STRIDED), "stem_")
    stages = (
        (3, 1, 16, 1, 1), (3, 2, 24, 6, 2), (5, 2, 40, 6, 2), (3, 3, 80, 6, 2), (5, 3, 112, 6, 1),
        (5, 4, 192, 6, 2), (3, 1, 320, 6, 1),
    )  # fmt: skip
    for number, (window, count, filters, expansion, strides) in enumerate(stages, 1):
        for i in range(count):
            name, channels, shortcut = f"block{number}{'abcd'[i]}_", net.channels(x), x
            stride, half = 1 if i else strides, window // 2
            if expansion > 1:
                x = net.conv(x, f"{name}expand_conv", expansion * channels)
                x = norm_silu(x, f"{name}expand_")
            before = half - 1 if stride == 2 and net.height(x) % 2 == 0 else half
            x = net.depthwise(x, f"{name}dwconv", window, stride, (before, half, before, half))
            x = norm_silu(x, name)
            y = net.mean(x, keep=True)
            y = net.silu(net.conv(y, f"{name}se_reduce", max(1, channels // 4), bias=True))
            y = net.conv(y, f"{name}se_expand", net.channels(x), bias=True)
            x = net.multiply(x, net.sigmoid(y))
            x = net.norm(net.conv(x, f"{name}project_conv", filters), f"{name}project_bn", 1e-3)
            if stride == 1 and channels == filters:
                x = net.add(x, shortcut)
    x = norm_silu(net.conv(x, "top_conv", 1280), "top_")
    return net.dense(net.mean(x), "predictions", CLASSES)


def convnext_tiny(net, x):
    """Depthwise 7 x 7 convolutions and dense layers with GELU, between layer normalizations."""
    prefix = "convnext_tiny"
    x = net.affine(
        x, np.float32([0.485, 0.456, 0.406]) * 255, np.float32([0.229, 0.224, 0.225]) * 255
    )
    for stage, (count, width) in enumerate(((3, 96), (3, 192), (9, 384), (3, 768))):
        if stage:
            name = f"{prefix}_downsampling"
            x = net.layer_norm(x, f"{name}_layernorm_{stage - 1}")
            x = net.conv(x, f"{name}_conv_{stage - 1}", width, 2, 2, bias=True)
        else:
            x = net.conv(x, f"{prefix}_stem_conv", width, 4, 4, bias=True)
            x = net.layer_norm(x, f"{prefix}_stem_layernorm")
        for i in range(count):
            name = f"{prefix}_stage_{stage}_block_{i}"
            y = net.depthwise(x, f"{name}_depthwise_conv", 7, 1, (3, 3, 3, 3), grouped=True)
            y = net.layer_norm(y, f"{name}_layernorm")
            y = net.gelu(net.dense(y, f"{name}_pointwise_conv_1", 4 * width))
            y = net.dense(y, f"{name}_pointwise_conv_2", width)
            x = net.add(x, net.scale(y, f"{name}_layer_scale"))
    x = net.layer_norm(net.mean(x), f"{prefix}_head_layernorm")
    return net.dense(x, f"{prefix}_head_dense", CLASSES)


# ---- their weights -------------------------------------------------------------------------------


class Weights:
    """Computes shapes, without the batch, and collects initial weights in Keras's layouts."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator, self.found = generator, {}

    def _kernel(self, name, *shape, inputs):
        kernel = self.generator.normal(scale=(2 / inputs) ** 0.5, size=shape)
        self.found[f"{name}/kernel"] = kernel.astype(np.float32)

    def _ones_zeros(self, name, channels, *kinds):
        for kind in kinds:
            value = np.ones if kind in ("gamma", "variance") else np.zeros
            self.found[f"{name}/{kind}"] = value(channels, np.float32)

    def _moved(self, x, size, stride, pad, channels):
        return *[(n + sum(pad[:2]) - size) // stride + 1 for n in x[:2]], channels

    def conv(self, x, name, filters, size=1, stride=1, pad=(0, 0, 0, 0), bias=False):
        self._kernel(name, size, size, x[2], filters, inputs=size * size * x[2])
        self._ones_zeros(name, filters, *(["bias"] if bias else []))
        return self._moved(x, size, stride, pad, filters)

    def depthwise(self, x, name, size, stride, pad, grouped=False):
        shape = (1, x[2]) if grouped else (x[2], 1)
        self._kernel(name, size, size, *shape, inputs=size * size)
        self._ones_zeros(name, x[2], *(["bias"] if grouped else []))
        return self._moved(x, size, stride, pad, x[2])

    def dense(self, x, name, units):
        self._kernel(name, x[-1], units, inputs=x[-1])
        self._ones_zeros(name, units, "bias")
        return *x[:-1], units

    def norm(self, x, name, epsilon, momentum=0.99):
        self._ones_zeros(name, x[2], "gamma", "beta", "mean", "variance")
        return x

    def layer_norm(self, x, name):
        self._ones_zeros(name, x[-1], "gamma", "beta")
        return x

    def scale(self, x, name):
        self.found[f"{name}/gamma"] = np.full(x[-1], 0.1, np.float32)
        return x

    def mean(self, x, keep=False):
        return (1, 1, x[2]) if keep else x[2:]

    def max_pool(self, x):
        return self._moved(x, 3, 2, (1, 1, 1, 1), x[2])

    def relu(self, x, *others):
        return x

    relu6 = silu = gelu = sigmoid = add = multiply = affine = relu

    def channels(self, x):
        return x[2]

    def height(self, x):
        return x[0]


@dataclass(frozen=True)
class Network:
    """A network: its function in keras.applications, that in this file, the range of its pixels."""

    keras: str
    build: Callable
    pixels: tuple[float, float]

    def problem(self, generator: np.random.Generator) -> Problem:
        """Random weights, images and labels."""
        weights = Weights(generator)
        self.build(weights, (SIZE, SIZE, 3))
        batches = []
        for _ in range(BATCHES):
            x = generator.uniform(*self.pixels, (BATCH, SIZE, SIZE, 3)).astype(np.float32)
            batches.append((x, generator.integers(0, CLASSES, BATCH)))
        return Problem(weights.found, batches)


NETWORKS = {
    "resnet50": Network("ResNet50", resnet50, (-1, 1)),
    "mobilenet_v2": Network("MobileNetV2", mobilenet_v2, (-1, 1)),
    "efficientnet_b0": Network("EfficientNetB0", efficientnet_b0, (0, 255)),
    "convnext_tiny": Network("ConvNeXtTiny", convnext_tiny, (0, 255)),
}


def of_prediction(name: str) -> str:
    """The network of a workload that predicts, "NETWORK predict"; else the empty string."""
    network, _, what = name.partition(" ")
    return network if what == "predict" else ""


def workload(name: str) -> Workload:
    """The training step of a network, or its predict of a batch: "NETWORK predict"."""
    network = NETWORKS[of_prediction(name) or name]
    told = f"{network.keras}, {BATCH} images of {SIZE} x {SIZE}, without dropout, Adam 1e-3"
    # Two memory layouts of torch differ by 1e-2 after 3 steps of ResNet50: rounding errors grow.
    agreement = 3e-2 if name == "resnet50" else 1e-2
    return Workload(
        network.problem, told, 1.0, 0.7, plain=math.inf, compared=3, agreement=agreement
    )
