"""PyTorch with its own modules and optimizers: eager, tuned for the CPU, and compiled."""

from functools import partial

import numpy as np
import torch
from networks import NETWORKS, of_prediction
from torch import nn
from torch.nn import functional
from workloads import ADAM, Problem

from peers import Library, Step, torch_networks


def library(mode: str) -> Library:
    """Torch's own choice of threads, or one; every step is done when it returns.

    "tuned": images with channels last and the fused Adam; "compile": these, and `torch.compile` of
    forward, loss and backward.
    """
    if mode == "one thread":
        torch.set_num_threads(1)
    tuned = mode in ("tuned", "compile")
    return Library(torch.__version__, partial(tensor, tuned=tuned), tuple, partial(step, mode=mode))


def step(name: str, problem: Problem, mode: str) -> Step:
    """The step of a workload."""
    if name in MAKERS:
        return MAKERS[name](problem, mode)
    network = of_prediction(name)
    if network:
        return prediction(torch_networks.network(network, problem.weights), mode)
    if name in NETWORKS:
        return classifier(torch_networks.network(name, problem.weights), mode)
    model = MODELS.get(name, mlp)(problem.weights)
    load(model, problem.weights)
    return classifier(model, mode)


def tensor(array: np.ndarray, tuned: bool) -> torch.Tensor:
    """A batch as torch wants it: images with their channels first."""
    found = torch.tensor(array)
    if found.ndim != 4:
        return found
    layout = torch.channels_last if tuned else torch.contiguous_format
    return found.permute(0, 3, 1, 2).contiguous(memory_format=layout)


def adam(model: nn.Module, mode: str) -> torch.optim.Optimizer:
    fused = True if mode in ("tuned", "compile") else None
    trained = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.Adam(trained, ADAM["rate"], eps=ADAM["epsilon"], fused=fused)


def maybe_compiled(function, mode: str):
    return torch.compile(function) if mode == "compile" else function


def linreg(problem: Problem, mode: str) -> Step:
    w, b = (nn.Parameter(torch.tensor(problem.weights[name])) for name in "wb")
    optimizer = torch.optim.SGD([w, b], lr=0.1)
    loss_of = maybe_compiled(lambda x, y: torch.mean(torch.square(w * x + b - y)), mode)

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def ops(problem: Problem, mode: str) -> Step:
    x = nn.Parameter(torch.tensor(problem.weights["x"]))

    def step(scale, up, down):
        x.grad = None
        h = x
        for _ in range(50):
            h = torch.tanh(h * scale + up) - down
        loss = torch.sum(h)
        loss.backward()
        return loss, x.grad

    return step


def pinn(problem: Problem, mode: str) -> Step:
    layers = [nn.Linear(1, 64), nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 1)]
    tanh = [nn.Tanh() for _ in layers]
    model = nn.Sequential(*[part for pair in zip(layers, tanh, strict=True) for part in pair][:-1])
    load(model, problem.weights)
    optimizer = adam(model, mode)

    def eager_loss(x):
        x = x.detach().requires_grad_()
        u = model(x)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        return torch.mean(torch.square(bend + u))

    def function_loss(x):  # torch.compile takes derivatives of functions only
        slope = torch.func.grad(lambda x: model(x).sum())
        bend = torch.func.grad(lambda x: slope(x).sum())(x)
        return torch.mean(torch.square(bend + model(x)))

    loss_of = torch.compile(function_loss) if mode == "compile" else eager_loss

    def step(x):
        optimizer.zero_grad()
        loss = loss_of(x)
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


MAKERS = {"linreg": linreg, "ops": ops, "pinn": pinn}


# ---- classifiers ---------------------------------------------------------------------------------


def classifier(model: nn.Module, mode: str) -> Step:
    if mode in ("tuned", "compile"):
        model = model.to(memory_format=torch.channels_last)
    cross_entropy = nn.CrossEntropyLoss()
    optimizer = adam(model, mode)
    loss_of = maybe_compiled(lambda x, labels: cross_entropy(model(x), labels), mode)

    def step(x, labels):
        optimizer.zero_grad()
        loss = loss_of(x, labels)
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def prediction(model: nn.Module, mode: str) -> Step:
    """The scores of a batch, as predict gives them; returns the largest of each image."""
    model.eval()
    if mode in ("tuned", "compile"):
        model = model.to(memory_format=torch.channels_last)
    scores_of = maybe_compiled(model, mode)

    @torch.inference_mode()
    def step(x, labels):
        return (scores_of(x).numpy().max(1),)

    return step


def mlp(weights):
    shapes = [value.shape for name, value in weights.items() if name.endswith("kernel")]
    parts = [part for shape in shapes for part in (nn.Linear(*shape), nn.ReLU())]
    return nn.Sequential(*parts[:-1])


def cnn(weights):
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(12 * 12 * 64, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def cnn_deep(weights):
    parts, channels = [], 3
    for filters in (64, 128, 256):
        if filters > 64:
            parts.append(nn.MaxPool2d(2))
        for _ in range(2):
            conv = nn.Conv2d(channels, filters, 3, padding=1, bias=False)
            parts += [conv, nn.BatchNorm2d(filters, eps=1e-3, momentum=0.01), nn.ReLU()]
            channels = filters
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))


class Lstm(nn.Module):
    """LSTM(128) and a dense layer on its last output."""

    def __init__(self):
        super().__init__()
        self.lstm, self.logits = nn.LSTM(32, 128, batch_first=True), nn.Linear(128, 10)
        # The second of torch's two biases would double the step of their sum.
        self.lstm.bias_hh_l0.requires_grad_(False)

    def forward(self, x):
        return self.logits(self.lstm(x)[0][:, -1])


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self):
        super().__init__()
        self.norm_0 = nn.LayerNorm(128, eps=1e-3)
        self.joint, self.out = nn.Linear(128, 3 * 128), nn.Linear(128, 128)
        self.norm_1 = nn.LayerNorm(128, eps=1e-3)
        self.up, self.down = nn.Linear(128, 512), nn.Linear(512, 128)

    def forward(self, x):
        rows, tokens, width = x.shape
        joint = self.joint(self.norm_0(x)).view(rows, tokens, 3, 4, 32)
        query, key, value = joint.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm_1(x))))


class Transformer(nn.Module):
    """Two blocks, the mean over the tokens, and a dense layer."""

    def __init__(self):
        super().__init__()
        self.blocks, self.logits = nn.Sequential(Block(), Block()), nn.Linear(128, 10)

    def forward(self, x):
        return self.logits(self.blocks(x).mean(1))


MODELS = {
    "cnn": cnn,
    "cnn_deep": cnn_deep,
    "lstm": lambda weights: Lstm(),
    "transformer": lambda weights: Transformer(),
}


# ---- weights -------------------------------------------------------------------------------------


def load(model: nn.Module, weights) -> None:
    """Give the modules, in their order, the weights, in theirs and in torch's layouts."""
    values = [torch.tensor(value) for value in in_torch_order(weights).values()]
    own = [part for module in model.modules() for part in state_of(module)]
    with torch.no_grad():
        for part, value in zip(own, values, strict=True):
            part.copy_(in_layout(value).reshape(part.shape))
        for name, part in model.named_parameters():
            if name.endswith("bias_hh_l0"):
                part.zero_()


def state_of(module: nn.Module):
    """A module's own parameters and statistics, in Keras's order."""
    names = ("weight", "weight_ih_l0", "weight_hh_l0", "bias", "bias_ih_l0",
             "running_mean", "running_var")  # fmt: skip
    found = (getattr(module, name, None) for name in names)
    return [part for part in found if isinstance(part, torch.Tensor)]


def in_layout(value: torch.Tensor) -> torch.Tensor:
    """Outputs first, as torch's kernels are."""
    if value.ndim == 4:
        return value.permute(3, 2, 0, 1)
    return value.T if value.ndim == 2 else value


def in_torch_order(weights):
    """Query, key and value in one matrix; rows after a convolution with its channels first."""
    found = {}
    for name, value in weights.items():
        if name.endswith("/query/kernel"):
            block = name.removesuffix("/query/kernel")
            parts = [f"{block}/{part}" for part in ("query", "key", "value")]
            kernels = [weights[f"{part}/kernel"].reshape(128, 128) for part in parts]
            found[f"{block}/joint/kernel"] = np.concatenate(kernels, axis=1)
            biases = [weights[f"{part}/bias"].reshape(128) for part in parts]
            found[f"{block}/joint/bias"] = np.concatenate(biases)
        elif name.endswith("/output/kernel"):
            found[name] = value.reshape(128, 128)
        elif name == "hidden/kernel":
            images = value.reshape(12, 12, 64, 128).transpose(2, 0, 1, 3)
            found[name] = images.reshape(value.shape)
        elif not name.endswith(("/query/bias", "/key/kernel", "/key/bias", "/value/kernel",
                                "/value/bias")):  # fmt: skip
            found[name] = value
    return found
