"""The networks of `networks.py` as PyTorch modules, built by hand."""

import torch
from networks import NETWORKS, SIZE, Weights
from torch import nn
from torch.nn import functional


class Network(nn.Module):
    """A network; its modules have the names of Keras's layers, and its methods call them."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.build, self.parts = NETWORKS[name].build, nn.ModuleDict()
        self.build(_Modules(self.parts), (SIZE, SIZE, 3))

    def forward(self, x):
        return self.build(self, x)

    def conv(self, x, name, filters, size=1, stride=1, pad=(0, 0, 0, 0), bias=False):
        return self.parts[name](x if len(set(pad)) == 1 else functional.pad(x, pad))

    def depthwise(self, x, name, size, stride, pad, grouped=False):
        return self.conv(x, name, None, size, stride, pad)

    def norm(self, x, name, epsilon, momentum=0.99):
        return self.parts[name](x)

    def layer_norm(self, x, name):
        return self.dense(x, name, None)

    def dense(self, x, name, units):
        if x.ndim == 4:  # without copies once the channels are last
            return self.parts[name](x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.parts[name](x)

    def scale(self, x, name):
        return x * self.parts[name].weight.view(-1, 1, 1)

    def mean(self, x, keep=False):
        return x.mean((2, 3), keepdim=keep)

    def max_pool(self, x):
        return functional.max_pool2d(x, 3, 2, 1)

    def affine(self, x, mean, deviation):
        mean, deviation = (torch.as_tensor(part).reshape(-1, 1, 1) for part in (mean, deviation))
        return (x - mean) / deviation

    def channels(self, x):
        return x.shape[1]

    def height(self, x):
        return x.shape[2]

    add, multiply = staticmethod(torch.add), staticmethod(torch.mul)
    relu, relu6 = staticmethod(functional.relu), staticmethod(functional.relu6)
    silu, gelu = staticmethod(functional.silu), staticmethod(functional.gelu)
    sigmoid = staticmethod(torch.sigmoid)


class _Modules(Weights):
    """Computes shapes, as `Weights` does, and makes the modules instead of weights."""

    def __init__(self, parts: nn.ModuleDict) -> None:
        self.parts = parts

    def conv(self, x, name, filters, size=1, stride=1, pad=(0, 0, 0, 0), bias=False, groups=1):
        padding = pad[0] if len(set(pad)) == 1 else 0
        self.parts[name] = nn.Conv2d(x[2], filters, size, stride, padding, groups=groups, bias=bias)
        return self._moved(x, size, stride, pad, filters)

    def depthwise(self, x, name, size, stride, pad, grouped=False):
        return self.conv(x, name, x[2], size, stride, pad, bias=grouped, groups=x[2])

    def dense(self, x, name, units):
        self.parts[name] = nn.Linear(x[-1], units)
        return *x[:-1], units

    def norm(self, x, name, epsilon, momentum=0.99):
        self.parts[name] = nn.BatchNorm2d(x[2], epsilon, 1 - momentum)
        return x

    def layer_norm(self, x, name):
        self.parts[name] = nn.LayerNorm(x[-1], 1e-6)
        return x

    def scale(self, x, name):
        self.parts[name] = _Scale(x[-1])
        return x


class _Scale(nn.Module):
    """A weight for each channel."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels))


def network(name: str, weights) -> Network:
    """The network with the weights, given by the names of layers and in Keras's layouts."""
    model, kinds = Network(name), {"running_mean": "mean", "running_var": "variance"}
    for part_name, value in model.state_dict().items():
        _, layer, kind = part_name.split(".")
        if kind == "num_batches_tracked":
            continue
        named = {"weight": ("kernel", "gamma"), "bias": ("bias", "beta")}.get(
            kind, (kinds.get(kind),)
        )
        array = next(weights[key] for n in named if (key := f"{layer}/{n}") in weights)
        tensor = torch.tensor(array)
        if tensor.ndim == 4:
            grouped = model.parts[layer].groups > 1
            tensor = (
                tensor.flatten(2).permute(2, 0, 1)[:, None]
                if grouped
                else tensor.permute(3, 2, 0, 1)
            )
        value.copy_(tensor.T if tensor.ndim == 2 else tensor)
    return model
